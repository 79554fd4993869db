// Decide: the form and the answer on the home page. What it says comes from decide-words.js.
(() => {
  "use strict";

  const { decideWords } = window.Harnessmark;
  const NUMBERS = ["floor", "budget", "minutes"];
  const NOTHING = "none";

  function number(form, name) {
    const raw = form.elements[name].value.trim();
    const value = raw === "" ? NaN : Number(raw);
    return Number.isFinite(value) && value >= 0 ? value : null;
  }

  // An empty field asks for nothing.
  function sensible(raw) {
    return raw !== null && (raw === "" || (/^\d*\.?\d*$/.test(raw) && Number.isFinite(Number(raw))));
  }

  function kinds(form) {
    return [...form.querySelectorAll("input[name=hosting]")];
  }

  function wishOf(form) {
    const boxes = kinds(form);
    const checked = boxes.filter((box) => box.checked).map((box) => box.value);
    return {
      floor: number(form, "floor") ?? 0,
      budget: number(form, "budget"),
      minutes: number(form, "minutes"),
      hosting: checked.length === boxes.length ? null : checked,
      harness: form.elements.harness.value || null,
      private: form.elements.private.checked,
    };
  }

  function element(tag, text, className = "") {
    const made = document.createElement(tag);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function linked([text, href]) {
    const made = element("a", text);
    made.href = href;
    return made;
  }

  function flagged([text, href]) {
    const made = element("a", "≠", "hm-flag");
    made.href = href;
    made.title = text;
    made.append(element("span", ` ${text}`));
    return made;
  }

  // Text stays text, whatever stands in it; pairs are links.
  function fill(holder, sentence) {
    holder.replaceChildren(...sentence.map((part) => (Array.isArray(part) ? linked(part) : part)));
    return holder;
  }

  function badged([word, ...sentence]) {
    const line = fill(document.createElement("li"), sentence);
    if (word) line.prepend(element("strong", word, "hm-verdict"), " ");
    return line;
  }

  function fact([name, text, note, flag]) {
    const holder = document.createElement("div");
    const value = element("dd", text);
    if (flag) value.append(" ", flagged(flag));
    if (note) value.append(" ", element("small", note, "hm-note"));
    holder.append(element("dt", name), value);
    return holder;
  }

  function rowOf(parts, heads) {
    const row = document.createElement("tr");
    parts.forEach(([text, note, value, flag], place) => {
      if (place === 0) {
        const head = document.createElement("th");
        head.scope = "row";
        head.append(linked([text, note]), " ", element("small", value, "hm-note"));
        row.append(head);
        return;
      }
      const cell = element("td", text);
      if (heads[place].dataset.type === "number") {
        cell.className = "hm-number";
        cell.dataset.value = value ?? "";
      }
      if (flag) cell.append(flagged(flag));
      if (note) cell.append(" ", element("small", note, "hm-note"));
      row.append(cell);
    });
    return row;
  }

  class Page {
    constructor(form) {
      this.form = form;
      this.answer = document.querySelector("[data-answer]");
      this.table = document.querySelector("[data-shortlist] table");
      this.files = new Map();
      // Before anything is restored, the fields hold what the answer on the page was written for.
      this.usual = this.state().toString();
      form.addEventListener("input", () => this.update());
      form.addEventListener("submit", (event) => event.preventDefault());
      form.addEventListener("reset", () => setTimeout(() => this.update()));
      if (this.restore()) this.update();
    }

    restore() {
      const asked = new URLSearchParams(window.location.search);
      const { board, harness, private: own } = this.form.elements;
      const named = [...board.options].find((option) => option.textContent === asked.get("board"));
      if (named) board.value = named.value;
      for (const name of NUMBERS) if (sensible(asked.get(name))) this.form.elements[name].value = asked.get(name);
      if ([...harness.options].some((option) => option.value === asked.get("harness"))) harness.value = asked.get("harness");
      own.checked = asked.get("private") === "yes";
      if (asked.has("hosting")) {
        const allowed = asked.get("hosting").split(",");
        for (const box of kinds(this.form)) box.checked = allowed.includes(box.value);
      }
      return this.state().toString() !== this.usual;
    }

    // What differs from the fields as they were written.
    state() {
      const found = new URLSearchParams();
      const { board, harness, private: own } = this.form.elements;
      const wish = wishOf(this.form);
      if (board.selectedIndex > 0) found.set("board", board.selectedOptions[0].textContent);
      for (const name of NUMBERS) {
        const field = this.form.elements[name];
        if (field.value !== field.defaultValue) found.set(name, field.value);
      }
      if (wish.hosting !== null) found.set("hosting", wish.hosting.join() || NOTHING);
      if (harness.value) found.set("harness", harness.value);
      if (own.checked) found.set("private", "yes");
      return found;
    }

    async load(address) {
      if (!this.files.has(address)) {
        const response = await fetch(address);
        if (!response.ok) throw new Error("the data of this board could not be loaded");
        this.files.set(address, await response.json());
      }
      return this.files.get(address);
    }

    async update() {
      const query = this.state().toString();
      window.history.replaceState(window.history.state, "", query ? `?${query}` : window.location.pathname);
      const status = this.form.querySelector(".hm-form__status");
      try {
        const asked = this.form.elements.board.value;
        const data = await this.load(asked);
        if (this.form.elements.board.value !== asked) return;
        const view = decideWords.view(data, wishOf(this.form));
        this.show(view);
        delete status.dataset.fault;
        status.textContent = view.headline.map((part) => (Array.isArray(part) ? part[0] : part)).join("");
      } catch (error) {
        status.dataset.fault = "";
        status.textContent = `Nothing changed: ${error.message}.`;
      }
    }

    show(view) {
      const part = (name) => this.answer.querySelector(`[data-part=${name}]`);
      const list = (name, lines, made) => {
        part(name).replaceChildren(...lines.map(made));
        part(name).parentElement.hidden = lines.length === 0;
      };
      const line = (sentence) => fill(document.createElement("li"), sentence);
      fill(part("headline"), view.headline);
      part("summary").textContent = view.summary;
      part("facts").replaceChildren(...view.facts.map(fact));
      list("sure", view.sure, badged);
      list("changes", view.changes, line);
      list("run", view.run, line);
      part("commands").textContent = view.commands.join("\n\n");
      part("command").hidden = view.commands.length === 0;
      const heads = [...this.table.tHead.rows[0].cells];
      this.table.tBodies[0].replaceChildren(...view.rows.map((row) => rowOf(row, heads)));
      this.table.closest("[data-shortlist]").hidden = view.rows.length === 0;
    }
  }

  function start() {
    for (const form of document.querySelectorAll("form[data-decide]")) {
      if (form.dataset.ready) continue;
      form.dataset.ready = "true";
      new Page(form);
    }
  }

  if (window.document$) window.document$.subscribe(start);
  else start();
})();
