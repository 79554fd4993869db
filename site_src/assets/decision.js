// Decision: the cheapest cell that does what a reader asks for, by the rules of the Python code
// (generators/tables/decision.py); the same vectors are run against both. Null is unknown: it satisfies no
// limit, and an unknown cost is never the cheapest.
(() => {
  "use strict";

  const TINY = 1e-300;
  const unknown = (value) => value === null || value === undefined;

  // Logarithm of the gamma function (Lanczos 1964, g = 7, nine terms).
  const LANCZOS = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  function logGamma(x) {
    const base = x - 1;
    let sum = LANCZOS[0];
    for (let term = 1; term < LANCZOS.length; term += 1) sum += LANCZOS[term] / (base + term);
    const t = base + 7.5;
    return 0.5 * Math.log(2 * Math.PI) + (base + 0.5) * Math.log(t) - t + Math.log(sum);
  }

  // Continued fraction of the incomplete beta function, evaluated forwards (Lentz 1976).
  function betaFraction(a, b, x) {
    const kept = (value) => (Math.abs(value) < TINY ? TINY : value);
    let c = 1;
    let d = 1 / kept(1 - ((a + b) * x) / (a + 1));
    let found = d;
    for (let m = 1; m <= 10_000; m += 1) {
      for (const step of [
        (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
        (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
      ]) {
        d = 1 / kept(1 + step * d);
        c = kept(1 + step / c);
        found *= d * c;
      }
      if (Math.abs(d * c - 1) < 1e-15) break;
    }
    return found;
  }

  // The share of a beta(a, b) distribution below x.
  function betaShare(a, b, x) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
    return x < (a + 1) / (a + b + 2) ? (front * betaFraction(a, b, x)) / a : 1 - (front * betaFraction(b, a, 1 - x)) / b;
  }

  // The share of Student's t distribution below t.
  function studentShare(t, degrees) {
    const tail = 0.5 * betaShare(degrees / 2, 0.5, degrees / (degrees + t * t));
    return t > 0 ? 1 - tail : tail;
  }

  function chance(quality, floor) {
    if (!unknown(quality.passed)) {
      const share = Math.min(1, Math.max(0, floor / 100));
      return betaShare(1 + quality.tasks - quality.passed, 1 + quality.passed, 1 - share);
    }
    if (unknown(quality.error) || unknown(quality.centre)) return null;
    return studentShare((quality.centre - floor) / quality.error, quality.tasks - 1);
  }

  // It clears, or misses, where the interval over enough tasks lies on one side and open trials cannot undo it.
  function hold(quality, floor, data) {
    const probability = chance(quality, floor);
    const { lower, upper, worst, best } = quality;
    let word = "not enough data";
    if (quality.tasks >= data.fewest_tasks && !unknown(lower) && !unknown(upper)) {
      if (lower >= floor && (unknown(worst) || worst >= floor)) word = "clears it";
      else if (upper < floor && (unknown(best) || best < floor)) word = "misses it";
    }
    return { word, probability };
  }

  function allowed(wish) {
    if (!wish.private) return wish.hosting ?? null;
    return unknown(wish.hosting) ? ["self-hosted"] : wish.hosting.filter((kind) => kind === "self-hosted");
  }

  function shortcomings(cell, wish) {
    const found = [];
    const score = cell.quality.amount;
    const kinds = allowed(wish);
    if (unknown(score)) found.push("score unknown");
    else if (score < wish.floor) found.push("floor");
    if (!unknown(wish.budget)) {
      if (unknown(cell.cost)) found.push("cost unknown");
      else if (cell.cost > wish.budget) found.push("budget");
    }
    if (!unknown(wish.minutes)) {
      if (unknown(cell.minutes)) found.push("minutes unknown");
      else if (cell.minutes > wish.minutes) found.push("minutes");
    }
    if (kinds !== null && !kinds.includes(cell.hosting)) found.push("hosting");
    if (!unknown(wish.harness) && cell.harness !== wish.harness) found.push("harness");
    return found;
  }

  // Tuples in order, the first difference decides.
  function compared(one, other) {
    for (let place = 0; place < one.length; place += 1) {
      if (one[place] !== other[place]) return one[place] < other[place] ? -1 : 1;
    }
    return 0;
  }

  function least(places, key) {
    let best = null;
    for (const at of places) if (best === null || compared(key(at), key(best)) < 0) best = at;
    return best;
  }

  class Chooser {
    constructor(data, wish) {
      this.data = data;
      this.cells = data.cells;
      this.wish = wish;
      this.why = this.cells.map((cell) => shortcomings(cell, wish));
      this.cheapest = (at) => [this.cost(at), -this.score(at), at];
    }

    cost(at) {
      return this.cells[at].cost ?? Infinity;
    }

    score(at) {
      return this.cells[at].quality.amount ?? -Infinity;
    }

    known(at) {
      return !unknown(this.cells[at].cost);
    }

    with(...exactly) {
      const wanted = exactly.join();
      return this.why.flatMap((each, at) => (each.join() === wanted ? [at] : []));
    }

    cheaper(at, than) {
      return this.known(at) && (than === null || compared(this.cheapest(at), this.cheapest(than)) < 0);
    }

    decide() {
      const fits = this.with().filter((at) => this.known(at)).sort((a, b) => compared(this.cheapest(a), this.cheapest(b)));
      const answer = fits[0] ?? null;
      const holds = fits.map((at) => hold(this.cells[at].quality, this.wish.floor, this.data));
      const misses = this.with("floor").filter((at) => this.cheaper(at, answer));
      const nearMiss = least(misses, (at) => [-this.score(at), this.cost(at), at]);
      const rival = fits[1] ?? (answer === null ? null : nearMiss);
      const sure = holds.findIndex((each) => each.word === "clears it");
      return {
        answer, fits, holds, rival, nearMiss, why: this.why,
        unpriced: this.with().filter((at) => !this.known(at)),
        cheapestOfBasis: fits.filter((at, place) => fits.findIndex((other) => this.cells[other].basis === this.cells[at].basis) === place),
        surely: sure < 0 ? null : fits[sure],
        nearest: answer === null ? this.nearest() : null,
        changes: this.changes(fits, nearMiss),
        separate: this.separate(answer, rival),
        settle: this.settle(answer, holds),
      };
    }

    nearest() {
      const scored = this.cells.flatMap((cell, at) => (unknown(cell.quality.amount) ? [] : [at]));
      return least(scored, (at) => [this.why[at].length, -this.score(at), this.cost(at), at]);
    }

    // Every single limit that, moved alone, changes the answer, and the least move that does.
    changes(fits, nearMiss) {
      const found = [];
      const answer = fits[0] ?? null;
      const change = (limit, raised, at, candidate) => found.push({ limit, raised, at, candidate: candidate ?? null });
      if (nearMiss !== null) change("floor", false, this.cells[nearMiss].quality.amount, nearMiss);
      if (answer !== null) {
        const slow = this.cells[answer].minutes;
        change("floor", true, this.score(answer), fits.find((at) => this.score(at) > this.score(answer)));
        change("budget", false, this.cells[answer].cost, null);
        if (!unknown(slow)) {
          change("minutes", false, slow, fits.find((at) => !unknown(this.cells[at].minutes) && this.cells[at].minutes < slow));
        }
      }
      for (const limit of ["budget", "minutes", "hosting", "harness"]) {
        const others = this.with(limit).filter((at) => this.cheaper(at, answer));
        if (others.length === 0) continue;
        const byTime = (at) => [this.cells[at].minutes, ...this.cheapest(at)];
        const best = least(others, limit === "minutes" ? byTime : this.cheapest);
        const at = { budget: this.cells[best].cost, minutes: this.cells[best].minutes }[limit] ?? null;
        change(limit, true, at, best);
      }
      return found;
    }

    separate(answer, rival) {
      const pair = versus(this.data, answer, rival);
      if (pair === null || pair.word !== this.data.undecided) return null;
      return this.priced([answer, rival], pair.more_tasks);
    }

    settle(answer, holds) {
      if (answer === null || holds[0].word !== "not enough data") return null;
      const { centre, error, tasks } = this.cells[answer].quality;
      if (unknown(error) || unknown(centre)) return null;
      const more = moreTasks(Math.abs(centre - this.wish.floor), error * Math.sqrt(tasks), tasks, this.data);
      // Where the tasks would do but chance or open trials kept it undecided, one more is the least.
      return this.priced([answer], more === 0 ? 1 : more);
    }

    priced(candidates, more) {
      const prices = candidates.map((at) => (unknown(more) || !this.known(at) ? null : more * this.cells[at].cost));
      return { candidates, more, prices };
    }
  }

  // Tasks to add until a difference of this size would be shown with 80 % power; null where no number will do.
  function moreTasks(difference, spread, tasks, data) {
    const { fewest_tasks: fewest, most_tasks: most } = data;
    const reach = (count) => (data.reach[count - fewest] ?? data.reach_factor / Math.sqrt(count)) * spread;
    if (difference === 0 || reach(most) > difference) return null;
    let [low, high] = [fewest, most];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (reach(middle) <= difference) high = middle;
      else low = middle + 1;
    }
    return Math.max(0, low - tasks);
  }

  // What two cells say of each other; null where one has no result to compare.
  function versus(data, one, other) {
    if (one === null || other === null) return null;
    const [first, second] = [Math.min(one, other), Math.max(one, other)];
    const row = data.pairs.find((pair) => pair[0] === first && pair[1] === second);
    if (row === undefined) return null;
    const pair = Object.fromEntries(data.pair_columns.map((name, place) => [name, row[place]]));
    for (const name of ["word", "deciding", "trials_reason", "cost_number", "explanation", "what_would_decide"]) {
      pair[name] = unknown(pair[name]) ? null : data.texts[pair[name]];
    }
    return pair;
  }

  const decide = (data, wish) => new Chooser(data, wish).decide();

  window.Harnessmark = { ...window.Harnessmark, decision: { decide, hold, versus, moreTasks, studentShare, betaShare, allowed } };
})();
