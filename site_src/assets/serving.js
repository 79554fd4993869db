// Serving: the table of deployments for the task, prices and limits that a reader enters.
(() => {
  "use strict";

  const { arithmetic, amounts } = window.Harnessmark;
  const { dollars, fixed, grouped, hourlyDollars } = amounts;
  const COLUMN = { hourly: 2, concurrency: 3, perMillion: 4, blended: 5, split: 6, ttft: 7 };

  function number(form, name) {
    const raw = form.elements[name].value.trim();
    const value = raw === "" ? NaN : Number(raw);
    return Number.isFinite(value) && value >= 0 ? value : null;
  }

  function show(cell, value, text, note = "") {
    cell.dataset.value = value === null ? "" : String(value);
    const shown = document.createElement("span");
    if (value === null) shown.className = "hm-unknown";
    shown.textContent = text;
    cell.replaceChildren(shown);
    if (note) {
      const small = document.createElement("small");
      small.className = "hm-note";
      small.textContent = note;
      cell.append(" ", small);
    }
  }

  function priceOf(deployment, form) {
    const own = number(form, "hourly");
    const whole = own ?? deployment.usd_per_hour[form.elements.commitment.value] ?? null;
    return whole === null || deployment.share === null ? null : whole * deployment.share;
  }

  function fill(row, deployment, form, data) {
    const hourly = priceOf(deployment, form);
    const limits = { ttft_ms: number(form, "ttft"), tpot_ms: number(form, "tpot") };
    const best = arithmetic.cheapestLevel(deployment.levels, hourly, limits);
    const [input, output] = [number(form, "input"), number(form, "output")];
    const rates = best && arithmetic.splitRates(hourly, best.level.prompt, best.level.output, data.input_weight);
    const blended = arithmetic.blendedTaskCost(input, output, best && best.rate);
    const split = arithmetic.splitTaskCost(input, output, rates);
    const perMillion = best && best.rate * arithmetic.MILLION;
    const ttft = best && best.level.ttft_ms;
    const day = number(form, "hourly") === null ? data.as_of : "at your price of the machine";
    show(row.cells[COLUMN.hourly], hourly, hourlyDollars(hourly), hourly === null ? "" : `hardware-derived, ${day}`);
    show(row.cells[COLUMN.concurrency], best && best.level.concurrency, best ? String(best.level.concurrency) : "no level");
    show(row.cells[COLUMN.perMillion], perMillion, dollars(perMillion));
    show(row.cells[COLUMN.blended], blended, dollars(blended));
    show(row.cells[COLUMN.split], split, dollars(split));
    const ttftText = ttft === null ? "not known" : grouped(fixed(ttft, 1));
    show(row.cells[COLUMN.ttft], ttft, ttftText);
    return blended !== null;
  }

  function say(form, data, priced) {
    const own = number(form, "hourly");
    const chosen = form.elements.commitment.selectedOptions[0].textContent;
    const prices = own === null ? `${chosen} prices of ${data.as_of}` : `$${own} an hour for a whole machine`;
    form.querySelector(".hm-form__status").textContent =
      `Your figures, hardware-derived at ${prices}: ${priced} of ${data.deployments.length} deployments have a price and a level within the limits.`;
  }

  async function prepare(form) {
    if (form.dataset.ready) return;
    form.dataset.ready = "true";
    const response = await fetch(form.dataset.serving);
    if (!response.ok || !form.isConnected) return;
    const data = await response.json();
    const table = form.parentElement.querySelector(".hm-table");
    const rows = new Map([...table.tBodies[0].rows].map((row) => [row.cells[0].textContent.trim(), row]));
    const published = [...rows.values()].flatMap((row) => [...row.cells].map((cell) => [cell, [...cell.childNodes], cell.dataset.value]));
    const update = () => {
      let priced = 0;
      for (const deployment of data.deployments) {
        const row = rows.get(deployment.name);
        if (row && fill(row, deployment, form, data)) priced += 1;
      }
      say(form, data, priced);
    };
    form.addEventListener("input", update);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => {
      for (const [cell, nodes, value] of published) {
        cell.replaceChildren(...nodes);
        if (value !== undefined) cell.dataset.value = value;
      }
      form.querySelector(".hm-form__status").textContent = "";
    });
    form.hidden = false;
  }

  function start() {
    for (const form of document.querySelectorAll("form[data-serving]")) prepare(form);
  }

  if (window.document$) window.document$.subscribe(start);
  else start();
})();
