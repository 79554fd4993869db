// Frontier: some of a board's cells, chosen by harness, cost basis and hosting. Without this script all are shown.
(() => {
  "use strict";

  const { arithmetic, charts } = window.Harnessmark;
  const STATE = 6;

  const kept = (list, places) => places.map((place) => list[place]);

  function labelsOf(labels, places) {
    return Object.fromEntries(Object.entries(labels).map(([scale, found]) => [
      scale,
      Object.fromEntries(places.flatMap((place, now) => (found[place] ? [[now, found[place]]] : []))),
    ]));
  }

  function pointsOf(trace, chosen, on) {
    const places = trace.customdata.flatMap((href, place) => (chosen.has(href) ? [place] : []));
    const symbol = kept(trace.marker.symbol, places).map((name, now) =>
      name.replace("-open", "") + (on.has(trace.customdata[places[now]]) ? "" : "-open"));
    return {
      ...trace,
      ...Object.fromEntries(["x", "y", "text", "textposition", "hovertext", "customdata"].map((name) => [name, kept(trace[name], places)])),
      marker: { ...trace.marker, symbol },
      meta: { ...trace.meta, wide: labelsOf(trace.meta.wide, places), narrow: labelsOf(trace.meta.narrow, places) },
    };
  }

  function lineOf(trace, steps) {
    return {
      type: "scatter", mode: "lines", name: `frontier, ${trace.name}`, hoverinfo: "skip",
      x: steps.map((cell) => cell.cost), y: steps.map((cell) => cell.score),
      line: { shape: "hv", width: 2, dash: "solid", color: trace.marker.color }, meta: { colour: trace.meta.colour },
    };
  }

  // The published figure with the chosen points only; its lines join the frontier among these.
  function figureOf(published, chosen, fronts) {
    const points = published.data.filter((trace) => trace.customdata);
    const on = new Set(fronts.flatMap((front) => front.cells.map((cell) => cell.href)));
    const lines = points.flatMap((trace) => {
      const own = new Set(trace.customdata);
      return fronts.filter((front) => front.cells.length > 1 && own.has(front.cells[0].href)).map((front) => lineOf(trace, front.cells));
    });
    return { ...published, data: [...lines, ...points.map((trace) => pointsOf(trace, chosen, on)).filter((trace) => trace.x.length)] };
  }

  class Board {
    constructor(form) {
      this.form = form;
      this.boxes = [...form.querySelectorAll("input[type=checkbox]")];
      this.names = [...new Set(this.boxes.map((box) => box.name))];
      this.figure = document.querySelector("figure[data-chart]");
      this.rows = [...document.querySelectorAll("#hm-every-cell tbody tr")].map((row) => ({
        row, href: row.querySelector("a").href, state: row.cells[STATE].textContent,
      }));
      this.asked = 0;
      form.addEventListener("change", () => this.update());
      form.addEventListener("submit", (event) => event.preventDefault());
      form.addEventListener("reset", () => setTimeout(() => this.update()));
      this.restore();
      form.hidden = false;
      for (const note of document.querySelectorAll("[data-scriptless]")) note.hidden = true;
    }

    restore() {
      const asked = new URLSearchParams(window.location.search);
      if (!this.names.some((name) => asked.has(name))) return;
      for (const box of this.boxes) if (asked.has(box.name)) box.checked = asked.getAll(box.name).includes(box.value);
      this.update();
    }

    wishes() {
      const found = new Map();
      for (const name of this.names) {
        const own = this.boxes.filter((box) => box.name === name);
        if (own.some((box) => !box.checked)) found.set(name, new Set(own.filter((box) => box.checked).map((box) => box.value)));
      }
      return found;
    }

    remember(wishes) {
      const state = new URLSearchParams();
      for (const [name, values] of wishes) {
        if (values.size === 0) state.append(name, "");
        for (const value of values) state.append(name, value);
      }
      const query = state.toString();
      window.history.replaceState(window.history.state, "", query ? `?${query}` : window.location.pathname);
    }

    async load() {
      this.loaded ??= Promise.all([this.form.dataset.frontier, this.figure.dataset.chart].map(async (address) => {
        const response = await fetch(address);
        if (!response.ok) throw new Error("the data of this page could not be loaded");
        return response.json();
      }));
      try {
        return await this.loaded;
      } catch (error) {
        this.loaded = null;
        throw error;
      }
    }

    async update() {
      const status = this.form.querySelector(".hm-form__status");
      const wishes = this.wishes();
      const turn = ++this.asked;
      this.remember(wishes);
      if (wishes.size === 0) {
        for (const { row, state } of this.rows) this.mark(row, true, state);
        charts.restore(this.figure);
        status.textContent = "";
        return;
      }
      try {
        const [data, published] = await this.load();
        if (turn === this.asked) this.show(data, published, wishes, status);
      } catch (error) {
        status.textContent = `Nothing changed: ${error.message}.`;
      }
    }

    show(data, published, wishes, status) {
      const cells = data.cells.filter((cell) => [...wishes].every(([name, values]) => values.has(cell[name])));
      const fronts = [...new Set(cells.map((cell) => cell.basis))].map((basis) => {
        const own = cells.filter((cell) => cell.basis === basis);
        return { basis, cells: arithmetic.frontier(own).map((place) => own[place]) };
      });
      const chosen = new Set(cells.map((cell) => cell.href));
      const on = new Set(fronts.flatMap((front) => front.cells.map((cell) => cell.href)));
      // The theme writes the addresses of links out in full.
      const [inFull, onInFull] = [chosen, on].map((hrefs) => new Set([...hrefs].map((href) => new URL(href, document.baseURI).href)));
      for (const { row, href } of this.rows) {
        this.mark(row, inFull.has(href), onInFull.has(href) ? "on it, among those shown" : "not on it, among those shown");
      }
      if (cells.length > 0) charts.show(this.figure, figureOf(published, chosen, fronts));
      else charts.restore(this.figure);
      const said = fronts.map((front) => `${front.basis}: ${front.cells.map((cell) => cell.name).join(", ")}`).join("; ");
      status.textContent = cells.length > 0
        ? `${cells.length} of ${data.cells.length} points. Frontier among them, by cost basis: ${said}.`
        : "No cell is left; the chart still shows every one.";
    }

    mark(row, shown, state) {
      row.classList.toggle("hm-out", !shown);
      row.cells[STATE].textContent = state;
    }
  }

  function start() {
    for (const form of document.querySelectorAll("form[data-frontier]")) {
      if (form.dataset.ready) continue;
      form.dataset.ready = "true";
      new Board(form);
    }
  }

  if (window.document$) window.document$.subscribe(start);
  else start();
})();
