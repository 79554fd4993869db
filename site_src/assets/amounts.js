// Amounts: how a figure is written, in the very words of generators/pages/words.py; the same values are run
// against both.
(() => {
  "use strict";

  const NOT_PRICED = "not priced";

  // As many decimals as asked for; halves go to the even digit, as in Python.
  function fixed(value, decimals) {
    const doubled = value * 2 ** (decimals + 1);
    const scaled = value * 10 ** decimals;
    if (!Number.isInteger(doubled) || Math.abs(doubled % 2) !== 1) return value.toFixed(decimals);
    const below = Math.floor(scaled);
    return ((below % 2 === 0 ? below : below + 1) / 10 ** decimals).toFixed(decimals);
  }

  function grouped(text) {
    const [whole, rest] = text.split(".");
    const marked = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
    return rest === undefined ? marked : `${marked}.${rest}`;
  }

  function dollars(amount) {
    if (amount === null) return NOT_PRICED;
    if (amount === 0 || Math.abs(amount) >= 0.1) return `$${grouped(fixed(amount, 2))}`;
    const digits = Number(amount.toPrecision(3));
    if (Math.abs(digits) >= 1e-4) return `$${digits}`;
    const text = `$${amount.toFixed(8).replace(/0+$/, "")}`;
    return text.endsWith(".") ? "< $0.00000001" : text;
  }

  // To a tenth of a cent, without needless zeros.
  function hourlyDollars(amount) {
    return amount === null ? NOT_PRICED : `$${grouped(fixed(amount, 3).replace(/\.?0+$/, ""))}`;
  }

  function percent(share) {
    if (share > 0 && share <= 0.005) return "< 1 %";
    if (share >= 0.995 && share < 1) return "> 99 %";
    return `${fixed(100 * share, 0)} %`;
  }

  const number = (amount) => fixed(amount, 2).replace(/\.?0+$/, "");

  window.Harnessmark = {
    ...window.Harnessmark,
    amounts: { NOT_PRICED, fixed, grouped, dollars, hourlyDollars, percent, number },
  };
})();
