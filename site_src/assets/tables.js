// Tables: sorting by the headers and a filter box. Without this script the tables are complete, in their own order.
(() => {
  "use strict";

  const FILTER_FROM_ROWS = 6;
  const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  function key(row, column, numeric) {
    const cell = row.cells[column];
    if (!cell) return numeric ? null : "";
    const raw = cell.dataset.value ?? cell.textContent.trim();
    if (!numeric) return raw;
    const number = raw === "" ? NaN : Number(raw);
    return Number.isFinite(number) ? number : null;
  }

  // What is missing stays last in both directions.
  function compare(a, b, sign) {
    if (a === null || a === "") return b === null || b === "" ? 0 : 1;
    if (b === null || b === "") return -1;
    return sign * (typeof a === "number" ? a - b : words.compare(a, b));
  }

  function sort(table, header) {
    const column = header.cellIndex;
    const numeric = header.dataset.type === "number";
    const sign = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.querySelectorAll("th")) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    for (const body of table.tBodies) {
      const rows = [...body.rows].map((row) => [key(row, column, numeric), row]);
      rows.sort((a, b) => compare(a[0], b[0], sign));
      body.append(...rows.map(([, row]) => row));
    }
  }

  function addButtons(table) {
    for (const header of table.tHead.querySelectorAll("th[data-type]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "hm-sort";
      button.append(...header.childNodes);
      button.addEventListener("click", () => sort(table, header));
      header.append(button);
    }
  }

  function addFilter(table) {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    if (rows.length < FILTER_FROM_ROWS) return;
    const bar = document.createElement("div");
    const input = document.createElement("input");
    const count = document.createElement("span");
    bar.className = "hm-filter";
    input.type = "search";
    input.placeholder = "Filter rows";
    input.setAttribute("aria-label", `Filter rows: ${table.caption?.textContent ?? "table"}`);
    count.setAttribute("role", "status");
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        row.hidden = !wanted.every((word) => texts.get(row).includes(word));
        if (!row.hidden) shown += 1;
      }
      count.textContent = wanted.length ? `${shown} of ${rows.length} rows` : "";
    });
    bar.append(input, count);
    (table.closest(".hm-scroll") ?? table).before(bar);
  }

  function start() {
    for (const table of document.querySelectorAll("table[data-sortable]")) {
      if (table.dataset.ready || !table.tHead) continue;
      table.dataset.ready = "true";
      addButtons(table);
      addFilter(table);
    }
  }

  if (window.document$) window.document$.subscribe(start);
  else start();
})();
