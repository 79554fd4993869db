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

  const sixDecimals = (usd) => Math.round(usd * MILLION) / MILLION;

  // The row of a day; rows are stretches of days, both ends included, an open end being null.
  function priceOn(stretches, day) {
    return stretches.find((row) => row.from <= day && (row.to === null || day <= row.to)) ?? null;
  }

  // Tokens of one model times a row. With a hit rate, that share of all prompt tokens is read from the cache
  // and the rest is fresh; nothing is written to it.
  function tokenCost(share, row, hitRate) {
    if (unknown(row, share.fresh, share.output, share.read, share.write)) return null;
    let { fresh, read, write } = share;
    if (!unknown(hitRate)) {
      const prompt = fresh + read + write;
      [fresh, read, write] = [prompt * (1 - hitRate), prompt * hitRate, 0];
    }
    if ((read > 0 && unknown(row.cache_read)) || (write > 0 && unknown(row.cache_write))) return null;
    const cached = read * (row.cache_read ?? 0) + write * (row.cache_write ?? 0);
    return sixDecimals((fresh * row.input + share.output * row.output + cached) / MILLION);
  }

  function bookCost(trial, prices, lens) {
    if (trial.shares.length === 0) return null;
    const day = lens.date ?? trial.day;
    let total = 0;
    for (const share of trial.shares) {
      const cost = tokenCost(share, priceOn(prices[share.prices], day), lens.hitRate);
      if (cost === null) return null;
      total += cost;
    }
    return sixDecimals(total);
  }

  // What the deployment's part of its machine costs an hour.
  function hourlyPrice(deployment, lens) {
    if (unknown(deployment)) return null;
    if (!unknown(lens.usdPerGpuHour)) return unknown(deployment.gpus) ? null : lens.usdPerGpuHour * deployment.gpus;
    const whole = deployment.usd_per_hour[lens.commitment];
    return unknown(whole, deployment.share) ? null : whole * deployment.share;
  }

  function machineCost(trial, deployments, lens) {
    if (trial.deployment === null || unknown(trial.tokens)) return null;
    const deployment = deployments[trial.deployment];
    const best = unknown(deployment) ? null : cheapestLevel(deployment.levels, hourlyPrice(deployment, lens), {});
    return best === null ? null : trial.tokens * best.rate;
  }

  // What a credit costs at the reader's price or plan; undefined leaves the recorded dollars, null is not known.
  function creditPrice(trial, data, lens) {
    if (!unknown(lens.usdPerCredit)) return lens.usdPerCredit;
    const plan = lens.plan ?? data.credit_plan ?? null;
    const own = (data.credit_plans ?? []).filter((row) => row.name === plan && row.provider === trial.provider);
    return own.length === 0 ? undefined : priceOn(own, lens.date ?? trial.day)?.usd ?? null;
  }

  // Every way to know what a trial cost, in the order of the headline rule. A lens on the prices of tokens
  // puts the price book first, since only that can follow it. A site may be built at the prices of one day.
  function waysOf(trial, data, asked) {
    const lens = { ...asked, date: asked.date ?? data.price_date ?? null };
    const credit = creditPrice(trial, data, lens);
    const recorded = trial.ways.map((each) => {
      const rated = each.basis === "credits" && credit !== undefined;
      const usd = rated ? (unknown(each.credits, credit) ? null : each.credits * credit) : each.usd;
      return { basis: each.basis, way: each.way, usd };
    });
    const book = { basis: "price-table", way: "price book", usd: bookCost(trial, data.prices, lens) };
    const machine = { basis: "hardware-derived", way: "machine", usd: machineCost(trial, data.deployments, lens) };
    const last = recorded.filter((each) => each.way === "the agent's own list price");
    const moved = !unknown(lens.date) || !unknown(lens.hitRate);
    const first = recorded.filter((each) => !last.includes(each) && !(moved && each.way === "price book"));
    const ways = moved ? [book, ...first, ...last] : [...first, book, ...last];
    return [...ways, machine].filter((each) => each.usd !== null);
  }

  const ORDER = ["metered", "credits", "price-table", "hardware-derived"];

  // The mean cost of a cell's graded trials on the basis that most of them are known on.
  function cellCost(cell, data, lens) {
    const ways = cell.trials.map((trial) => waysOf(trial, data, lens));
    const counts = ORDER.map((basis) => ways.filter((each) => each[0]?.basis === basis).length);
    const most = Math.max(...counts);
    if (most === 0) return { basis: null, usd: null, n: 0, m: ways.length };
    const basis = ORDER[counts.indexOf(most)];
    const known = ways.map((each) => each.find((way) => way.basis === basis)?.usd).filter((usd) => usd !== undefined);
    return { basis, usd: known.reduce((sum, usd) => sum + usd, 0) / known.length, n: known.length, m: ways.length };
  }

  // Places of the points that no other beats: cost as low and score as high, one of both strictly.
  function frontier(points) {
    const order = points.map((_, place) => place).sort((a, b) =>
      points[a].cost - points[b].cost || points[b].score - points[a].score || a - b);
    const found = [];
    let best = -Infinity;
    for (const place of order) {
      const last = points[found.at(-1)];
      const same = last !== undefined && last.cost === points[place].cost && last.score === points[place].score;
      if (points[place].score > best || same) {
        found.push(place);
        best = points[place].score;
      }
    }
    return found;
  }

  window.Harnessmark = {
    ...window.Harnessmark,
    arithmetic: {
      MILLION, blendedRate, splitRates, cheapestLevel, blendedTaskCost, splitTaskCost,
      tokenCost, hourlyPrice, waysOf, cellCost, frontier,
    },
  };
})();
