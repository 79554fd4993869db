// Charts: every figure is complete as static SVG; Plotly takes over when a reader reaches for one.
(() => {
  "use strict";

  const BUNDLE = "plotly-4.1.1.min.js";
  const HOVER_DELAY_MS = 120;
  const NARROW_PX = 560;
  const base = new URL(".", document.currentScript.src);
  const live = new Map();
  const wishes = new WeakMap();
  let library = null;

  // Plotly sets text beside a marker without a gap.
  const GAPS = { "middle right": (text) => `\u00a0${text}`, "middle left": (text) => `${text}\u00a0` };

  const CONFIG = {
    displayModeBar: false,
    displaylogo: false,
    showSendToCloud: false,
    plotlyServerURL: "",
    typesetMath: false,
    responsive: false,
    doubleClick: "reset",
  };

  // The theme replaces the head from page to page, and with it the rules that Plotly wrote there once.
  function keepStyles() {
    const written = [...document.querySelectorAll("style[id^='plotly.js-style']")];
    const rules = written.flatMap((style) => [...style.sheet.cssRules].map((rule) => rule.cssText));
    const kept = new CSSStyleSheet();
    kept.replaceSync(rules.join("\n"));
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, kept];
  }

  function loadPlotly() {
    library ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL(BUNDLE, base).href;
      script.onload = () => {
        keepStyles();
        resolve(window.Plotly);
      };
      script.onerror = () => {
        library = null;
        script.remove();
        reject(new Error("the chart library could not be loaded"));
      };
      document.head.append(script);
    });
    return library;
  }

  // The theme's variables may hold any CSS colour; a probe turns them into what Plotly can read.
  function colours(figure) {
    const probe = document.createElement("span");
    figure.append(probe);
    const read = (name) => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    };
    const found = { read, ink: read("--hm-ink"), grid: read("--hm-grid"), paper: read("--hm-paper") };
    return { ...found, done: () => probe.remove() };
  }

  function paintTrace(trace, read) {
    const colour = read(trace.meta.colour);
    const painted = { ...trace };
    if (trace.line) painted.line = { ...trace.line, color: colour };
    if (trace.marker) {
      painted.marker = { ...trace.marker, color: colour };
      if (trace.marker.line) painted.marker.line = { ...trace.marker.line, color: colour };
    }
    return painted;
  }

  function labelTrace(trace, scale, narrow) {
    const labels = trace.meta[narrow ? "narrow" : "wide"]?.[scale];
    if (!labels) return trace;
    const placed = trace.x.map((_, index) => labels[index] ?? ["", "middle right"]);
    return {
      ...trace,
      text: placed.map(([text, place]) => GAPS[place]?.(text) ?? text),
      textposition: placed.map(([, place]) => place),
      cliponaxis: false,
    };
  }

  // On a logarithmic axis Plotly writes no dollar sign at 2 and 5, so the ticks are ours: beyond the range too,
  // for readers who zoom out.
  function costTicks([low, high], { scale, narrow }) {
    const wanted = narrow ? 5 : 7;
    if (scale !== "log") return { nticks: wanted };
    const ticks = (digits) => digits.flatMap((digit) =>
      Array.from({ length: 13 }, (_, index) => Number(`${digit}e${index - 6}`))).sort((a, b) => a - b);
    const fits = (digits) =>
      ticks(digits).filter((tick) => Math.log10(tick) >= low && Math.log10(tick) <= high).length <= wanted;
    const values = ticks([[1, 2, 5], [1, 3]].find(fits) ?? [1]);
    return { tickmode: "array", tickvals: values, ticktext: values.map((tick) => `$${tick.toLocaleString("en", { maximumFractionDigits: 6 })}`) };
  }

  function paintLayout(layout, shades, state) {
    const axis = { gridcolor: shades.grid, linecolor: shades.grid, tickcolor: shades.grid };
    const font = { color: shades.ink, size: state.narrow ? 12 : 13 };
    const painted = {
      ...layout,
      autosize: false,
      width: state.width,
      height: state.height,
      dragmode: state.touch ? false : "zoom",
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { ...font, family: "inherit" },
      hoverlabel: {
        bgcolor: shades.paper,
        bordercolor: shades.ink,
        font: { color: shades.ink, size: 12 },
        align: "left",
      },
    };
    if (layout.meta.kind === "pareto") {
      painted.xaxis = {
        ...layout.xaxis,
        ...axis,
        type: state.scale,
        range: [...layout.meta.ranges[state.scale]],
        title: { text: `${layout.xaxis.title.text} (${state.scale} scale)`, font, standoff: 12 },
        ...costTicks(layout.meta.ranges[state.scale], state),
        fixedrange: state.touch,
      };
      painted.yaxis = {
        ...layout.yaxis,
        ...axis,
        range: [...layout.yaxis.range],
        title: { ...layout.yaxis.title, font },
        fixedrange: state.touch,
      };
      if (state.narrow) painted.margin = { ...layout.margin, l: 40, r: 10 };
    } else if (layout.meta.kind === "lines") {
      for (const name of ["xaxis", "yaxis"]) {
        painted[name] = {
          ...layout[name],
          ...axis,
          range: [...layout[name].range],
          title: { ...layout[name].title, font },
          fixedrange: state.touch,
        };
      }
      if (state.narrow) painted.margin = { ...layout.margin, l: 54, r: 10 };
    } else {
      painted.dragmode = false;
      painted.polar = {
        ...layout.polar,
        bgcolor: "rgba(0,0,0,0)",
        angularaxis: { ...layout.polar.angularaxis, ...axis },
        radialaxis: { ...layout.polar.radialaxis, ...axis },
      };
    }
    return painted;
  }

  function drawn(figure, data) {
    const stage = figure.querySelector(".hm-chart__stage");
    const narrow = stage.clientWidth <= NARROW_PX;
    const state = {
      scale: figure.dataset.scale || data.layout.xaxis?.type,
      narrow,
      touch: !matchMedia("(hover: hover) and (pointer: fine)").matches,
      width: stage.clientWidth,
      height: stage.clientHeight,
    };
    const shades = colours(figure);
    const traces = data.data.map((trace) => paintTrace(labelTrace(trace, state.scale, narrow), shades.read));
    const layout = paintLayout(data.layout, shades, state);
    shades.done();
    return [traces, layout];
  }

  // A temporary anchor, so that the theme's instant navigation treats it as any other link.
  function open(href) {
    const target = new URL(href, document.baseURI);
    if (!/^https?:$/.test(target.protocol)) return;
    const anchor = document.createElement("a");
    anchor.href = target.href;
    document.body.append(anchor);
    anchor.click();
    anchor.remove();
  }

  function say(figure, message) {
    figure.querySelector(".hm-chart__status").textContent = message;
  }

  // Each wish for a figure takes the place of the one before: what arrives for an older one is dropped.
  function wish(figure) {
    const mine = {};
    wishes.set(figure, mine);
    return () => figure.isConnected && wishes.get(figure) === mine;
  }

  async function plot(plotly, figure, data, isWanted) {
    if (!isWanted()) return;
    const box = figure.querySelector(".hm-chart__live");
    await plotly.newPlot(box, ...drawn(figure, data), CONFIG);
    if (!isWanted()) return;
    box.on("plotly_click", (event) => {
      const href = event.points[0]?.customdata;
      if (typeof href === "string" && href !== "#") open(href);
    });
    live.set(figure, { data, box });
    setLive(figure, true);
    say(figure, "");
  }

  async function goLive(figure) {
    if (figure.dataset.state) return;
    figure.dataset.state = "loading";
    const isWanted = wish(figure);
    try {
      const [plotly, response] = await Promise.all([loadPlotly(), fetch(figure.dataset.chart)]);
      if (!response.ok) throw new Error("the chart's data could not be loaded");
      await plot(plotly, figure, await response.json(), isWanted);
    } catch (error) {
      if (!isWanted()) return;
      delete figure.dataset.state;
      say(figure, `Static view: ${error.message}.`);
    }
  }

  // Another page script has figures of its own for this chart.
  async function show(figure, data) {
    const isWanted = wish(figure);
    if (live.has(figure)) {
      live.get(figure).data = data;
      setLive(figure, true);
      redraw(figure);
      return;
    }
    figure.dataset.state = "loading";
    try {
      await plot(await loadPlotly(), figure, data, isWanted);
    } catch (error) {
      if (!isWanted()) return;
      delete figure.dataset.state;
      say(figure, `Static view of the published figures: ${error.message}.`);
    }
  }

  // Back to the figures that the page was built with.
  function restore(figure) {
    wish(figure);
    const chart = live.get(figure);
    if (chart) {
      window.Plotly.purge(chart.box);
      live.delete(figure);
    }
    setLive(figure, false);
    delete figure.dataset.state;
  }

  function setLive(figure, on) {
    figure.dataset.state = on ? "live" : "static";
    for (const svg of figure.querySelectorAll(".hm-chart__stage > .hm-svg")) svg.inert = on;
    figure.querySelector('[data-act="live"]').setAttribute("aria-pressed", String(on));
  }

  function redraw(figure) {
    const chart = live.get(figure);
    if (chart) window.Plotly.react(chart.box, ...drawn(figure, chart.data), CONFIG);
  }

  async function toggleScale(figure, button) {
    figure.dataset.scale = figure.dataset.scale === "log" ? "linear" : "log";
    button.setAttribute("aria-pressed", String(figure.dataset.scale === "log"));
    if (live.has(figure)) {
      setLive(figure, true);
      redraw(figure);
    } else {
      await goLive(figure);
    }
  }

  async function toggleLive(figure) {
    if (live.has(figure)) setLive(figure, figure.dataset.state !== "live");
    else await goLive(figure);
  }

  function prepare(figure) {
    if (figure.dataset.ready) return;
    figure.dataset.ready = "true";
    const stage = figure.querySelector(".hm-chart__stage");
    let timer = 0;
    stage.addEventListener("pointerenter", (event) => {
      // Taking over under a keyboard user's focus would lose their place.
      if (event.pointerType !== "mouse" || stage.contains(document.activeElement)) return;
      timer = setTimeout(() => goLive(figure), HOVER_DELAY_MS);
    });
    stage.addEventListener("pointerleave", () => clearTimeout(timer));
    stage.addEventListener("click", (event) => {
      if (!event.target.closest("a")) goLive(figure);
    });
    for (const button of figure.querySelectorAll(".hm-chart__bar button")) {
      button.hidden = false;
      button.addEventListener("click", () =>
        button.dataset.act === "scale" ? toggleScale(figure, button) : toggleLive(figure),
      );
    }
    sizes.observe(stage);
  }

  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries) redraw(target.closest("figure"));
  });

  function forgetRemoved() {
    for (const [figure, { box }] of live) {
      if (figure.isConnected) continue;
      window.Plotly.purge(box);
      live.delete(figure);
    }
  }

  function start() {
    forgetRemoved();
    for (const figure of document.querySelectorAll("figure[data-chart]")) prepare(figure);
  }

  new MutationObserver(() => {
    for (const figure of live.keys()) redraw(figure);
  }).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });

  window.Harnessmark = { ...window.Harnessmark, charts: { show, restore } };

  // Material publishes every page, also those of instant navigation, through document$.
  if (window.document$) window.document$.subscribe(start);
  else start();
})();
