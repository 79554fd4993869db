// Compare: the pair that a reader chooses, from the words and numbers that Python exported for every pair.
// The drawings are those of dumbbell.py and difference.py; a test holds them together.
(() => {
  "use strict";

  const { fixed } = window.Harnessmark.amounts;
  const SVG = "http://www.w3.org/2000/svg";
  const ROW = 26;
  const SIZES = { wide: { width: 720, left: 232 }, narrow: { width: 360, left: 118 } };
  const REACHES = [10, 20, 40, 60, 100];
  const RADIUS = { mark: 4.5, mean: 5 };

  function element(tag, text = "", className = "") {
    const made = document.createElement(tag);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function link(text, href) {
    const made = element("a", text);
    made.href = href;
    return made;
  }

  function signed(amount) {
    return `${amount > 0 ? "+" : amount < 0 ? "−" : "±"}${fixed(Math.abs(amount), 1)}`;
  }

  // -- drawings ----------------------------------------------------------------------------------------------

  const short = (number) => String(Math.round(number * 10) / 10 || 0);

  function shape(tag, attributes, text) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function symbol(kind, x, y, radius) {
    if (kind === "circle") {
      const arc = `a${radius} ${radius} 0 1 0 `;
      return `M${short(x - radius)} ${short(y)}${arc}${2 * radius} 0${arc}${-2 * radius} 0z`;
    }
    const corners = kind === "square" ? [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]] : [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]];
    return `M${corners.map(([dx, dy]) => `${short(x + dx * radius)} ${short(y + dy * radius)}`).join("L")}z`;
  }

  function canvas(kind, width, height, label) {
    return shape("svg", { class: `hm-svg hm-svg--${kind}`, viewBox: `0 0 ${short(width)} ${short(height)}`, role: "img", "aria-label": label });
  }

  function dumbbells(rows, kind, title, unit) {
    const { width, left } = SIZES[kind];
    const height = ROW * rows.length + 50;
    const [right, top, bottom] = [width - 18, 6, height - 44];
    const at = (value) => left + (value / 100) * (right - left);
    const svg = canvas(kind, width, height, `${title}: ${rows.length} rows of two values; the table below has the numbers`);
    const ticks = [0, 20, 40, 60, 80, 100];
    svg.append(shape("path", { class: "hm-grid", d: ticks.map((tick) => `M${short(at(tick))} ${top}V${short(bottom)}`).join("") }));
    const labels = ticks.map((tick) => shape("text", { class: "hm-x", x: short(at(tick)), y: short(bottom + 16) }, String(tick)));
    rows.forEach((row, place) => {
      const y = top + ROW * (place + 0.5);
      labels.push(shape("text", { class: "hm-y", x: short(left - 10), y: short(y + 4) }, row[kind]));
      const ends = [row.first, row.second].map((value) => (value === null ? null : at(value)));
      if (!ends.includes(null)) svg.append(shape("path", { class: "hm-neutral hm-line", d: `M${short(ends[0])} ${short(y)}H${short(ends[1])}` }));
      ends.forEach((x, index) => {
        if (x !== null) svg.append(shape("path", { class: `hm-series-${index}`, d: symbol(["circle", "square"][index], x, y, RADIUS.mark) }));
      });
    });
    svg.append(...labels, shape("text", { class: "hm-x hm-axis", x: short((left + right) / 2), y: short(height - 6) }, unit));
    return svg;
  }

  function difference(numbers, margin, kind) {
    const [width, height, y] = [SIZES[kind].width, 84, 22];
    const [left, right, top, bottom] = [24, width - 24, 6, height - 46];
    const farthest = Math.max(...[numbers.difference, numbers.lower, numbers.upper, margin].filter((value) => value !== null).map(Math.abs));
    const reach = REACHES.find((each) => each >= farthest) ?? 100;
    const at = (value) => short(left + ((value + reach) / (2 * reach)) * (right - left));
    const svg = canvas(kind, width, height, "Mean difference with its 95 % interval; the shaded stretch is a tie");
    const ticks = [-reach, -reach / 2, 0, reach / 2, reach];
    let line = "";
    if (numbers.lower !== null && numbers.upper !== null) {
      const ends = [numbers.lower, numbers.upper].map((end) => at(Math.max(-reach, Math.min(reach, end))));
      line = `${ends.map((end) => `M${end} ${y - 6}V${y + 6}`).join("")}M${ends[0]} ${y}H${ends[1]}`;
    }
    svg.append(
      shape("path", { class: "hm-band", d: `M${at(-margin)} ${top}H${at(margin)}V${bottom}H${at(-margin)}z` }),
      shape("path", { class: "hm-grid", d: ticks.map((tick) => `M${at(tick)} ${top}V${bottom}`).join("") }),
      shape("path", { class: "hm-series-2 hm-line", d: line }),
      shape("path", { class: "hm-series-2", d: symbol("diamond", Number(at(numbers.difference)), y, RADIUS.mean) }),
      ...ticks.map((tick) => shape("text", { class: "hm-x", x: at(tick), y: short(bottom + 16) }, `${tick > 0 ? "+" : tick < 0 ? "−" : ""}${Math.abs(tick)}`)),
      shape("text", { class: "hm-x hm-axis", x: short(width / 2), y: short(height - 6) }, "the first minus the second, points; shaded: a tie"),
    );
    return svg;
  }

  // -- the parts of the page ------------------------------------------------------------------------------------

  function entry(cell, [text, note]) {
    const parts = [text];
    if (note) parts.push(element("small", note, "hm-note"));
    cell.replaceChildren(...parts);
    return cell;
  }

  function part(name) {
    return document.querySelector(`[data-compare-part="${name}"]`);
  }

  function heading(text, numeric = false) {
    const made = element("th", text);
    made.scope = "col";
    made.dataset.type = numeric ? "number" : "text";
    return made;
  }

  function rowHead(content) {
    const made = element("th");
    made.scope = "row";
    made.append(content);
    return made;
  }

  function rowOf(...cells) {
    const row = document.createElement("tr");
    row.append(...cells);
    return row;
  }

  function numberCell(text, value, unknown) {
    const made = element("td", "", "hm-number");
    made.dataset.value = value === null ? "" : String(value);
    made.append(unknown ? element("span", text, "hm-unknown") : text);
    return made;
  }

  class View {
    constructor(data) {
      this.data = data;
      this.places = new Map(data.cells.map((cell, place) => [cell.id, place]));
      this.pairs = new Map(data.pairs.map((pair) => [pair.cells.join(), pair]));
    }

    find(one, other) {
      const places = [this.places.get(one), this.places.get(other)].sort((a, b) => a - b);
      return this.pairs.get(places.join()) ?? null;
    }

    words([text, note]) {
      return [this.data.texts[text], this.data.texts[note]];
    }

    show(pair) {
      const { data } = this;
      const [first, second] = pair.cells.map((place) => data.cells[place]);
      const against = element("span", "against");
      part("title").replaceChildren(link(first.name, first.href), " ", against, " ", link(second.name, second.href));
      const verdict = part("verdict");
      verdict.textContent = data.texts[pair.verdict];
      verdict.dataset.good = String(pair.good);
      this.facts(pair);
      this.measures(pair, first, second);
      const drawn = pair.numbers.difference ?? null;
      part("difference").replaceChildren(...(drawn === null ? [] : ["wide", "narrow"].map((kind) => difference(pair.numbers, data.margin, kind))));
      const unit = data.quality === "score" ? "mean score" : "resolved";
      this.chart("compare-tasks", data.tasks, [first, second], "quality", unit);
      this.tasks(pair, first, second);
      this.chart("compare-profile", data.profile, [first, second], "profile", "percent of the maximum");
    }

    facts(pair) {
      const rows = pair.facts.map((said, place) => {
        const row = document.createElement("div");
        row.append(element("dt", this.data.facts[place]), entry(element("dd"), this.words(said)));
        return row;
      });
      part("facts").querySelector("dl").replaceChildren(...rows);
    }

    measures(pair, first, second) {
      const table = part("measures").querySelector("table");
      const heads = ["Over common tasks", first.name, second.name, "First minus second", "Common tasks"];
      table.tHead.replaceChildren(rowOf(...heads.map((text) => heading(text))));
      const rows = pair.measures.map(([title, ...said]) =>
        rowOf(rowHead(this.data.texts[title]), ...said.map((each, place) => entry(element("td", "", place === 2 ? "hm-wide" : ""), this.words(each)))));
      table.tBodies[0].replaceChildren(...rows);
    }

    chart(id, rows, cells, values, unit) {
      const figure = document.getElementById(`chart-${id}`);
      if (!figure) return;
      figure.hidden = rows.length === 0;
      const drawn = rows.map((row, place) => ({ ...row, first: cells[0][values][place], second: cells[1][values][place] }));
      const title = figure.querySelector("figcaption strong").textContent;
      figure.querySelector("figcaption span").textContent = this.data.title;
      figure.querySelector(".hm-chart__stage").replaceChildren(
        ...["wide", "narrow"].map((kind) => dumbbells(drawn, kind, title, unit)), element("div", "", "hm-chart__live"));
      figure.querySelectorAll(".hm-legend li").forEach((item, place) => item.lastChild.replaceWith(cells[place].name));
      const table = figure.querySelector(".hm-chart__data table");
      const said = `${title}: ${this.data.title}`;
      table.caption.textContent = said;
      table.parentElement.setAttribute("aria-label", said);
      table.tHead.replaceChildren(rowOf(heading("What"), ...cells.map((cell) => heading(cell.name, true))));
      const shown = drawn.map((row, place) =>
        rowOf(element("td", row.name), ...["first", "second"].map((side, which) => {
          const made = element("td", cells[which][`${values}_texts`][place]);
          made.dataset.value = row[side] === null ? "" : String(row[side]);
          return made;
        })));
      table.tBodies[0].replaceChildren(...shown);
      figure.querySelector(".hm-filter")?.remove();
    }

    tasks(pair, first, second) {
      const table = part("tasks").querySelector("table");
      const rests = `Costs: ${this.data.texts[pair.priced]}.`;
      part("rests").textContent = rests;
      table.parentElement.setAttribute("aria-label", `Task by task. ${rests}`);
      const numeric = ["First", "Second", "Difference", ...["Cost", "Minutes"].flatMap((what) => [`${what}, first`, `${what}, second`])];
      table.tHead.replaceChildren(rowOf(heading("Task"), ...numeric.map((text) => heading(text, true))));
      const rows = this.data.tasks.map((task, place) => {
        const cells = [first, second].map((cell) => numberCell(cell.quality_texts[place], cell.quality[place], cell.quality[place] === null));
        const [one, two] = [first.quality[place], second.quality[place]];
        const gap = one === null || two === null ? null : one - two;
        cells.push(numberCell(gap === null ? "" : signed(gap), gap, false));
        for (const amount of ["cost", "minutes"]) {
          for (const cell of [first, second]) cells.push(numberCell(cell[`${amount}_texts`][place], null, false));
        }
        return rowOf(rowHead(link(task.name, task.href)), ...cells);
      });
      table.tBodies[0].replaceChildren(...rows);
    }
  }

  class Page {
    constructor(form) {
      this.form = form;
      this.views = new Map();
      form.elements.first.addEventListener("change", () => this.changed(true));
      form.elements.second.addEventListener("change", () => this.changed(false));
      form.addEventListener("submit", (event) => event.preventDefault());
      form.hidden = false;
      for (const note of document.querySelectorAll("[data-scriptless]")) note.hidden = true;
      this.restore();
    }

    group() {
      return this.form.elements.first.selectedOptions[0].parentElement;
    }

    // The other cell must be of the same skill and dataset, and another one.
    offer(wanted) {
      const { first, second } = this.form.elements;
      const options = [...this.group().children].filter((option) => option.value !== first.value);
      second.replaceChildren(...options.map((option) => new Option(option.textContent, option.value)));
      if (options.some((option) => option.value === wanted)) second.value = wanted;
    }

    restore() {
      const asked = new URLSearchParams(window.location.search);
      const { first, second } = this.form.elements;
      const before = second.value;
      const known = [...first.options].some((option) => option.value === asked.get("first"));
      if (known) first.value = asked.get("first");
      this.offer(known ? asked.get("second") : before);
      if (known) this.update();
      else if (asked.has("first")) this.say("The address names a cell that is not here; this is the usual pair.");
    }

    changed(moved) {
      if (moved) this.offer(this.form.elements.second.value);
      const { first, second } = this.form.elements;
      const state = new URLSearchParams({ first: first.value, second: second.value });
      window.history.replaceState(window.history.state, "", `?${state}`);
      this.update();
    }

    async load(address) {
      if (!this.views.has(address)) {
        const response = await fetch(address);
        if (!response.ok) throw new Error("the data of these cells could not be loaded");
        this.views.set(address, new View(await response.json()));
      }
      return this.views.get(address);
    }

    say(text) {
      this.form.querySelector(".hm-form__status").textContent = text;
    }

    async update() {
      const { first, second } = this.form.elements;
      const asked = [first.value, second.value];
      try {
        const view = await this.load(this.group().dataset.address);
        if (first.value !== asked[0] || second.value !== asked[1]) return;
        const pair = view.find(...asked);
        if (pair === null) throw new Error("there are no results of this pair");
        view.show(pair);
        this.say(`${view.data.title}: ${part("title").textContent}: ${part("verdict").textContent}.`);
      } catch (error) {
        this.say(`Nothing changed: ${error.message}.`);
      }
    }
  }

  function start() {
    for (const form of document.querySelectorAll("form[data-compare]")) {
      if (form.dataset.ready) continue;
      form.dataset.ready = "true";
      new Page(form);
    }
  }

  window.Harnessmark = { ...window.Harnessmark, compare: { signed } };

  if (window.document$) window.document$.subscribe(start);
  else start();
})();
