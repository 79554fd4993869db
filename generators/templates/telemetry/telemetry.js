"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const plots = [...document.querySelectorAll(".plot")];
  const button = (name) => document.querySelector(`[data-do=${name}]`);
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];
  let view = [0, data.span];

  const moment = (seconds) => {
    const whole = Math.round(seconds);
    const two = (value) => String(value).padStart(2, "0");
    if (whole < 60) return `${whole} s`;
    const [hours, minutes, left] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
    return hours ? `${hours}:${two(minutes)}:${two(left)}` : `${minutes}:${two(left)}`;
  };

  const made = (kind, parent) => {
    const found = document.createElement("div");
    found.className = kind;
    found.hidden = true;
    parent.append(found);
    return found;
  };

  const show = (begin, end) => {
    view = [begin, end];
    const width = end - begin;
    const step = steps.find((each) => width / each <= 5) || Math.ceil(width / 5 / 86400) * 86400;
    for (const plot of plots) {
      const left = (begin / data.span) * 1000;
      plot.firstElementChild.setAttribute("viewBox", `${left} 0 ${(width / data.span) * 1000} 1000`);
      const times = plot.parentElement.querySelector(".times");
      times.replaceChildren();
      for (let at = Math.ceil(begin / step) * step; at <= end; at += step) {
        const label = document.createElement("span");
        label.textContent = moment(at);
        label.style.left = `${((at - begin) / width) * 100}%`;
        times.append(label);
      }
    }
    button("reset").disabled = width >= data.span;
  };

  const nearest = (seconds) => {
    const width = data.span / data.middles.length;
    return Math.max(0, Math.min(data.middles.length - 1, Math.floor(seconds / width)));
  };

  const tools = plots.map((plot, index) => {
    const parts = { plot, cross: made("cross", plot), range: made("range", plot), tip: made("tip", plot) };
    const panel = data.panels[index];
    const shareAt = (event) => {
      const box = plot.getBoundingClientRect();
      return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    };
    const secondsAt = (share) => view[0] + share * (view[1] - view[0]);
    let begun = null;
    plot.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.pointerType === "touch") return;
      begun = shareAt(event);
      plot.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    plot.addEventListener("pointermove", (event) => {
      const share = shareAt(event);
      point(secondsAt(share));
      const at = nearest(secondsAt(share));
      const lines = panel.lines.map((line) => {
        const value = line.points[at];
        const shown = value === null ? "not told" : value.toLocaleString("en", { maximumFractionDigits: 2 });
        return `${line.name}: ${shown}${value === null ? "" : ` ${panel.unit}`}`;
      });
      parts.tip.textContent = [moment(data.middles[at]), ...lines].join("\n");
      parts.tip.hidden = false;
      parts.tip.style.left = share < 0.5 ? `calc(${share * 100}% + .5rem)` : "auto";
      parts.tip.style.right = share < 0.5 ? "auto" : `calc(${(1 - share) * 100}% + .5rem)`;
      if (begun !== null) {
        parts.range.hidden = false;
        parts.range.style.left = `${Math.min(begun, share) * 100}%`;
        parts.range.style.width = `${Math.abs(share - begun) * 100}%`;
      }
    });
    plot.addEventListener("pointerup", (event) => {
      if (begun === null) return;
      const [low, high] = [begun, shareAt(event)].sort((one, other) => one - other).map(secondsAt);
      begun = null;
      parts.range.hidden = true;
      if (high - low > (view[1] - view[0]) * 0.02) show(low, high);
    });
    plot.addEventListener("pointerleave", leave);
    plot.addEventListener("pointercancel", () => {
      begun = null;
      parts.range.hidden = true;
      leave();
    });
    plot.addEventListener("dblclick", () => show(0, data.span));
    return parts;
  });

  function point(seconds) {
    const share = (seconds - view[0]) / (view[1] - view[0]);
    for (const { cross } of tools) {
      cross.hidden = false;
      cross.style.left = `${share * 100}%`;
    }
  }

  function leave() {
    for (const { cross, tip } of tools) cross.hidden = tip.hidden = true;
  }

  button("reset").addEventListener("click", () => show(0, data.span));
  button("tables").addEventListener("click", () => {
    const on = document.body.classList.toggle("tables");
    button("tables").setAttribute("aria-pressed", String(on));
    for (const each of document.querySelectorAll("details")) each.open = on;
  });
  button("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme || (dark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });
  for (const each of document.querySelectorAll(".tools, .hint")) each.hidden = false;
})();
