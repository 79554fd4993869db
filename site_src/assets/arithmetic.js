// Arithmetic: the formulas of costs, alike those of the Python code; the same vectors are run against both.
// Null is "unknown": it is never 0, and whatever needs it is unknown, too.
(() => {
  "use strict";

  const SECONDS_PER_HOUR = 3600;
  const MILLION = 1_000_000;
  const unknown = (...values) => values.some((value) => value === null || value === undefined);

  function blendedRate(usdPerHour, promptPerSecond, outputPerSecond) {
    if (unknown(usdPerHour, promptPerSecond, outputPerSecond)) return null;
    const total = promptPerSecond + outputPerSecond;
    return total > 0 ? usdPerHour / SECONDS_PER_HOUR / total : null;
  }

  function splitRates(usdPerHour, promptPerSecond, outputPerSecond, inputWeight) {
    if (unknown(usdPerHour, promptPerSecond, outputPerSecond)) return null;
    const weighted = outputPerSecond + inputWeight * promptPerSecond;
    if (!(weighted > 0) || !(promptPerSecond + outputPerSecond > 0)) return null;
    const output = usdPerHour / SECONDS_PER_HOUR / weighted;
    return { input: inputWeight * output, output };
  }

  function keepsLimits(level, limits) {
    const kept = (value, limit) => unknown(limit) || (!unknown(value) && value <= limit);
    return kept(level.ttft_ms, limits.ttft_ms) && kept(level.tpot_ms, limits.tpot_ms);
  }

  // The level with the lowest blended rate among those that keep the limits; of equal ones the lower concurrency.
  function cheapestLevel(levels, usdPerHour, limits) {
    let best = null;
    for (const level of levels) {
      const rate = blendedRate(usdPerHour, level.prompt, level.output);
      if (rate === null || !keepsLimits(level, limits)) continue;
      if (best === null || rate < best.rate || (rate === best.rate && level.concurrency < best.level.concurrency)) {
        best = { level, rate };
      }
    }
    return best;
  }

  function blendedTaskCost(inputTokens, outputTokens, rate) {
    return unknown(inputTokens, outputTokens, rate) ? null : (inputTokens + outputTokens) * rate;
  }

  function splitTaskCost(inputTokens, outputTokens, rates) {
    if (unknown(inputTokens, outputTokens, rates)) return null;
    return inputTokens * rates.input + outputTokens * rates.output;
  }

  window.Harnessmark = {
    ...window.Harnessmark,
    arithmetic: { MILLION, blendedRate, splitRates, cheapestLevel, blendedTaskCost, splitTaskCost },
  };
})();
