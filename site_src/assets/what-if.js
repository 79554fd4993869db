// What if: a board at the prices that a reader enters. The arithmetic is that of arithmetic.js.
(() => {
  "use strict";

  const { amounts, arithmetic, charts } = window.Harnessmark;
  const { NOT_PRICED, dollars, fixed } = amounts;
  const FIELDS = ["date", "hit", "commitment", "gpu", "credit", "plan"];
  const COLUMNS = ["cell", "harness", "score", "published", "yours", "frontier"];

  function number(form, name) {
    const raw = form.elements[name].value.trim();
    const value = raw === "" ? NaN : Number(raw);
    return Number.isFinite(value) && value >= 0 ? value : null;
  }

  function lensOf(form) {
    const hit = number(form, "hit");
    return {
      date: form.elements.date.value || null,
      hitRate: hit === null ? null : Math.min(hit, 100) / 100,
      commitment: form.elements.commitment.value,
      usdPerGpuHour: number(form, "gpu"),
      usdPerCredit: number(form, "credit"),
      plan: form.elements.plan?.value || null,
    };
  }

  function counted(usd, n, m) {
    return usd === null ? NOT_PRICED : `${dollars(usd)} (${n} of ${m})`;
  }

  function priced(cells, data, costs) {
    const points = cells.map((cell, place) => ({ place, cell, basis: costs[place].basis, cost: costs[place].usd, rests: costs[place].rests, score: cell.score }))
      .filter((point) => point.cost !== null && point.score !== null && point.basis !== null);
    const on = new Set();
    for (const basis of new Set(points.map((point) => point.basis))) {
      const own = points.filter((point) => point.basis === basis);
      for (const place of arithmetic.frontier(own)) on.add(own[place].place);
    }
    return { points, on };
  }

  function element(tag, text, className = "") {
    const made = document.createElement(tag);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function fill(cell, value, text, note, unknown) {
    cell.dataset.value = value === null ? "" : String(value);
    cell.className = "hm-number";
    cell.replaceChildren(element("span", text, unknown ? "hm-unknown" : ""));
    if (note) cell.append(" ", element("small", note, "hm-note"));
  }

  // The reader's plan where it prices the credits of a cell, and the days on which it is sold so.
  function planWords(cell, lens, data) {
    return data.credit_plans.filter((row) => row.name === lens.plan && row.provider === cell.trials[0].provider).at(-1)?.words ?? null;
  }

  // What a cost at the reader's prices rests on, and the day of its prices.
  function restsOn(cost, cell, lens, data) {
    if (cost.basis === null) return "";
    const name = data.bases[cost.basis].words;
    const day = {
      "price-table": lens.date ?? data.price_date ?? (lens.hitRate === null ? null : "prices of each run's day"),
      "hardware-derived": lens.usdPerGpuHour === null ? data.machines_as_of : "at your price of a GPU",
      credits: lens.usdPerCredit === null ? planWords(cell, lens, data) : "at your price of a credit",
    }[cost.basis] ?? null;
    if (day !== null) return `${name}, ${day}`;
    return cost.basis === cell.basis ? cell.rests_on : `${name}, day of the prices not known`;
  }

  function rowOf(cell, cost, before, now) {
    const row = document.createElement("tr");
    if (now) row.className = "hm-marked";
    const head = document.createElement("th");
    head.scope = "row";
    const link = element("a", cell.name);
    link.href = cell.href;
    head.append(link);
    row.append(head, element("td", cell.harness));
    for (let column = 2; column < COLUMNS.length - 1; column += 1) row.append(document.createElement("td"));
    const [score, published, yours] = [...row.cells].slice(2);
    fill(score, cell.score, cell.score === null ? "not known" : `${fixed(cell.score, 1)} (${cell.n} of ${cell.m})`, cell.score === null ? "" : cell.sure, cell.score === null);
    fill(published, cell.cost, counted(cell.cost, cell.cost_n, cell.cost_m), cell.rests_on, cell.cost === null);
    fill(yours, cost.usd, counted(cost.usd, cost.n, cost.m), cost.rests, cost.usd === null);
    const said = (on) => (on ? "on it" : "not on it");
    row.append(element("td", before === now ? said(now) : `${said(before)} → ${said(now)}`));
    return row;
  }

  function traceOf(basis, own, on, data) {
    const colour = data.bases[basis].colour;
    const drawn = own.map((point) => on.has(point.place));
    const names = Object.fromEntries(own.flatMap((point, place) => (drawn[place] ? [[place, [point.cell.name, "middle right"]]] : [])));
    return {
      type: "scatter", mode: "markers+text", name: data.bases[basis].name,
      x: own.map((point) => point.cost), y: own.map((point) => point.score),
      hoverinfo: "text",
      hovertext: own.map((point) => [point.cell.name, `harness ${point.cell.harness}`, `score ${fixed(point.score, 1)} (${point.cell.n} of ${point.cell.m}; ${point.cell.sure})`, `${dollars(point.cost)} per task, ${point.rests}`].map(escaped).join("<br>")),
      customdata: own.map((point) => point.cell.href),
      marker: { size: 11, symbol: drawn.map((is) => (is ? "circle" : "circle-open")), color: "#000", line: { width: 2, color: "#000" } },
      meta: { colour, wide: { linear: names, log: names }, narrow: { linear: {}, log: {} } },
    };
  }

  // Plotly reads tags and references in hover text.
  function escaped(text) {
    return text.replace(/[&<>"'%]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  }

  function lineOf(basis, own, data) {
    const steps = arithmetic.frontier(own).map((place) => own[place]);
    return {
      type: "scatter", mode: "lines", name: `frontier, ${data.bases[basis].name}`, hoverinfo: "skip",
      x: steps.map((point) => point.cost), y: steps.map((point) => point.score),
      line: { shape: "hv", width: 2, color: "#000" }, meta: { colour: data.bases[basis].colour },
    };
  }

  function figureOf(points, on, data) {
    const bases = [...new Set(points.map((point) => point.basis))];
    const groups = bases.map((basis) => [basis, points.filter((point) => point.basis === basis)]);
    const costs = points.map((point) => point.cost);
    const scores = points.map((point) => point.score);
    const [low, high] = [Math.min(...costs), Math.max(...costs)];
    const log = [Math.log10(Math.max(low, 1e-6)) - 0.15, Math.log10(Math.max(high, 1e-6)) + 0.25];
    return {
      data: [...groups.map(([basis, own]) => lineOf(basis, own, data)), ...groups.map(([basis, own]) => traceOf(basis, own, on, data))],
      layout: {
        showlegend: false, hovermode: "closest", margin: { l: 50, r: 16, t: 12, b: 50 },
        xaxis: { title: { text: "Mean cost per task, USD, at your prices" }, type: "log", zeroline: false, tickprefix: "$", tickformat: "~f" },
        yaxis: { title: { text: "Mean score" }, range: [Math.min(...scores) - 3, Math.max(...scores) + 3], zeroline: false },
        meta: { kind: "pareto", ranges: { linear: [-0.02 * high, 1.12 * high], log } },
      },
    };
  }

  class Page {
    constructor(form) {
      this.form = form;
      this.figure = document.querySelector("figure[data-chart]");
      // The chart has a table of its own, folded away.
      this.table = form.parentElement.querySelector(":scope > .hm-scroll > .hm-table");
      this.published = [...this.table.tBodies[0].rows];
      this.boards = new Map();
      form.addEventListener("input", () => this.update());
      form.addEventListener("submit", (event) => event.preventDefault());
      form.addEventListener("reset", () => setTimeout(() => this.update()));
      this.restore();
      form.hidden = false;
      for (const note of document.querySelectorAll("[data-scriptless]")) note.hidden = true;
    }

    restore() {
      const asked = new URLSearchParams(window.location.search);
      const { board } = this.form.elements;
      const chosen = [...board.options].find((option) => option.textContent === asked.get("board"));
      if (chosen) board.value = chosen.value;
      for (const name of FIELDS) if (asked.has(name) && this.form.elements[name]) this.form.elements[name].value = asked.get(name);
      if ([...asked.keys()].some((name) => name === "board" || FIELDS.includes(name))) this.update();
    }

    remember(changed) {
      const state = new URLSearchParams();
      const { board } = this.form.elements;
      if (board.selectedIndex > 0) state.set("board", board.selectedOptions[0].textContent);
      for (const name of changed) state.set(name, this.form.elements[name].value);
      const query = state.toString();
      window.history.replaceState(window.history.state, "", query ? `?${query}` : window.location.pathname);
    }

    changed() {
      return FIELDS.filter((name) => {
        const field = this.form.elements[name];
        if (!field) return false;
        const usual = name === "commitment" ? [...field.options].find((option) => option.defaultSelected)?.value : "";
        return field.value !== usual;
      });
    }

    async load(address) {
      if (!this.boards.has(address)) {
        const response = await fetch(address);
        if (!response.ok) throw new Error("the data of this comparison could not be loaded");
        this.boards.set(address, await response.json());
      }
      return this.boards.get(address);
    }

    async update() {
      const { board } = this.form.elements;
      const changed = this.changed();
      this.remember(changed);
      const status = this.form.querySelector(".hm-form__status");
      if (changed.length === 0 && board.selectedIndex === 0) {
        this.table.tBodies[0].replaceChildren(...this.published);
        if (this.figure) charts.restore(this.figure);
        status.textContent = "";
        return;
      }
      try {
        const asked = board.value;
        const data = await this.load(asked);
        if (board.value === asked) this.show(data, changed);
      } catch (error) {
        status.textContent = `Nothing changed: ${error.message}.`;
      }
    }

    show(data, changed) {
      const cells = [...data.cells].sort((a, b) => (b.score ?? -1) - (a.score ?? -1));
      const lens = lensOf(this.form);
      const costs = cells.map((cell) => {
        const cost = arithmetic.cellCost(cell, data, lens);
        return { ...cost, rests: restsOn(cost, cell, lens, data) };
      });
      const before = priced(cells, data, cells.map((cell) => ({ basis: cell.basis, usd: cell.cost, rests: cell.rests_on })));
      const now = priced(cells, data, costs);
      const rows = cells.map((cell, place) => rowOf(cell, costs[place], before.on.has(place), now.on.has(place)));
      this.table.tBodies[0].replaceChildren(...rows);
      if (this.figure && now.points.length > 0) charts.show(this.figure, figureOf(now.points, now.on, data));
      const moved = cells.filter((_, place) => before.on.has(place) !== now.on.has(place)).length;
      const what = changed.length ? "Your prices" : "Published prices";
      this.form.querySelector(".hm-form__status").textContent =
        `${what}: ${now.points.length} of ${cells.length} cells are priced; ${moved} joined or left a frontier.`;
    }
  }

  function start() {
    for (const form of document.querySelectorAll("form[data-what-if]")) {
      if (form.dataset.ready) continue;
      form.dataset.ready = "true";
      new Page(form);
    }
  }

  if (window.document$) window.document$.subscribe(start);
  else start();
})();
