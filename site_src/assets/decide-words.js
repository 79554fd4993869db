// Decide words: a decision as a reader sees it, in the very words of generators/pages/decide_words.py. What they
// say is decided by decision.js.
(() => {
  "use strict";

  const { decision, amounts } = window.Harnessmark;
  const { NOT_PRICED, dollars, fixed, grouped, number, percent } = amounts;
  const unknown = (value) => value === null || value === undefined;

  const counted = (count, noun) => `${grouped(String(count))} ${noun}${count === 1 ? "" : "s"}`;

  const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

  class View {
    constructor(data, wish) {
      this.data = data;
      this.wish = wish;
      this.found = decision.decide(data, wish);
    }

    of(at) {
      return this.data.cells[at];
    }

    link(at) {
      return [this.of(at).name, this.of(at).href];
    }

    price(at, factor = 1) {
      const cell = this.of(at);
      return unknown(cell.cost) ? NOT_PRICED : `${dollars(factor * cell.cost)} (${cell.text.priced})`;
    }

    all() {
      const { found } = this;
      return {
        headline: this.headline(),
        summary: this.summary(),
        facts: found.answer === null ? [] : this.facts(),
        sure: found.answer === null ? [] : this.sure(),
        changes: found.changes.map((each) => this.change(each)),
        run: found.answer === null ? [] : this.next(),
        commands: this.commands(),
        rows: found.fits.map((at, place) => this.row(at, place)),
      };
    }

    headline() {
      const { found, wish } = this;
      if (found.answer !== null) {
        // It "reaches" a floor only where the data can show it.
        const sure = found.holds[0].word === "clears it";
        const reach = sure ? `that reaches ${number(wish.floor)}` : `seen at ${number(wish.floor)} or more`;
        return [wish.floor > 0 ? `Cheapest ${reach}: ` : "Cheapest: ", this.link(found.answer)];
      }
      if (found.unpriced.length > 0) {
        const fit = found.unpriced.length === 1 ? "1 cell does" : `${found.unpriced.length} cells do`;
        const named = found.unpriced.slice(0, 3).flatMap((at) => [this.link(at), " "]);
        return [`${fit} what you ask, but at a cost that is not known, so none is the cheapest: `, ...named];
      }
      if (found.nearest === null) return ["No cell here does all you ask, and none has a score."];
      const short = found.why[found.nearest].map((each) => this.shortfall(found.nearest, each));
      return ["No cell here does all you ask. Nearest: ", this.link(found.nearest), `: ${short.join("; ")}.`];
    }

    summary() {
      const { fits, unpriced } = this.found;
      const more = unpriced.length ? `, ${unpriced.length} more at an unknown cost` : "";
      const apart = this.data.set_apart;
      const others = ` ${counted(apart, "cell")} ${apart === 1 ? "is" : "are"} set apart: another judge, rubric or dataset version.`;
      const cells = counted(this.data.cells.length, "cell");
      return `${fits.length} of ${cells} do what you ask${more}. A cell is one model under one harness.${apart ? others : ""}`;
    }

    facts() {
      const at = this.found.answer;
      const cell = this.of(at);
      const { text } = cell;
      const took = unknown(cell.minutes) ? text.minutes : `${text.minutes} (${text.minutes_count})`;
      return [
        [this.data.measure === "score" ? "Score" : "Resolved", text.score, text.spread, null],
        [`Reaches ${number(this.wish.floor)}?`, this.found.holds[0].word, this.chance(at, this.found.holds[0]), null],
        ["Cost per task", text.cost, text.cost_note, cell.flag],
        ["Minutes per task", took, text.minutes_sure, null],
        ["On the frontier", text.membership, text.across, null],
        ["Model hosting", this.data.hosting[cell.hosting], cell.provider, null],
      ];
    }

    likely(at, held) {
      if (held.probability === null) return `no probability from ${counted(this.of(at).quality.tasks, "task")}`;
      return `probability ${percent(held.probability)}`;
    }

    chance(at, held) {
      const { fewest_tasks: fewest } = this.data;
      const alone = held.probability === null ? "" : ", for this cell alone";
      const few = this.of(at).quality.tasks < fewest ? `; ${fewest} tasks are the fewest for a claim` : "";
      return this.likely(at, held) + alone + few;
    }

    shortfall(at, why) {
      const cell = this.of(at);
      const { floor, budget, minutes } = this.wish;
      const amount = cell.quality.amount ?? 0;
      switch (why) {
        case "floor": return `${number(amount)} is ${number(floor - amount)} below the floor`;
        case "budget": return `${this.price(at)} is ${dollars(cell.cost - (budget ?? 0))} over the budget`;
        case "minutes": return `${number(cell.minutes)} minutes are ${number(cell.minutes - (minutes ?? 0))} too many`;
        case "score unknown": return "it has no score";
        case "cost unknown": return "its cost is not known";
        case "minutes unknown": return "its time is not known";
        case "hosting": return `its model ran on: ${this.data.hosting[cell.hosting]}`;
        default: return `it ran under ${cell.harness}`;
      }
    }

    sure() {
      const { answer, rival, nearMiss, surely, cheapestOfBasis } = this.found;
      const others = [...new Set([rival, nearMiss].filter((at) => at !== null))];
      const lines = this.data.caveats.map((each) => ["", ...each]);
      lines.push(...others.map((other) => this.versus(other, decision.versus(this.data, answer, other))));
      if (surely !== null && surely !== answer) {
        lines.push(["", "Cheapest that surely reaches the floor: ", this.link(surely), `, ${this.price(surely)}.`]);
      }
      if (surely === null) lines.push(["", "Of no cell on this list do the data show that it reaches the floor."]);
      if (cheapestOfBasis.length > 1) {
        const each = cheapestOfBasis.flatMap((at, place) => [place ? "; " : "", this.link(at), ` ${this.price(at)}`]);
        lines.push(["", "Costs on different bases compare in direction only. The cheapest of each: ", ...each, "."]);
      }
      return lines;
    }

    versus(other, pair) {
      if (pair === null || pair.word === null) {
        return ["", "Against ", this.link(other), `: no verdict, ${pair === null ? "no score" : pair.explanation}.`];
      }
      const favoured = pair.favoured === null ? [] : [" In favour of ", this.link(pair.favoured), "."];
      return [
        pair.word, "Against ", this.link(other), `, ${this.price(other)}: ${pair.explanation}.`, ...favoured,
        pair.word === this.data.undecided ? ` To decide: ${pair.what_would_decide}.` : ` ${capital(pair.what_would_decide)}.`,
        this.dearer(pair),
      ];
    }

    dearer(pair) {
      if (pair.cost_number === null) return " Which costs less is not tested: other bases, or a cost that is not known.";
      if (pair.costs_less === null) return ` Which costs less: ${this.data.undecided}, ${pair.cost_number}.`;
      return ` ${this.of(pair.costs_less).name} costs less: ${pair.cost_number}.`;
    }

    change({ limit, raised, at, candidate }) {
      const to = candidate === null ? ["nothing here fits."] : [this.link(candidate), ` at ${this.price(candidate)}.`];
      const cell = candidate === null ? null : this.of(candidate);
      switch (limit) {
        case "floor":
          return [raised ? `Floor above ${number(at)}: ` : `Floor ${number(at)} or lower, ${number(this.wish.floor - at)} less: `, ...to];
        case "budget":
          if (raised) return [`Budget of ${this.price(candidate)} or more: `, this.link(candidate), "."];
          return [`Budget below ${this.price(this.found.answer)}: `, ...to];
        case "minutes":
          return [raised ? `${number(at)} minutes or more: ` : `Fewer than ${number(at)} minutes: `, ...to];
        case "hosting":
          return [`Hosting by ${this.data.hosting[cell.hosting]} allowed: `, ...to];
        default:
          return [`Harness ${cell.harness} instead: `, ...to];
      }
    }

    next() {
      const { answer, rival, separate, settle } = this.found;
      const pair = decision.versus(this.data, answer, rival);
      const lines = [];
      if (separate !== null) {
        const price = separate.more ? `; ${this.prices(separate)}.` : ".";
        lines.push(["To separate ", this.link(answer), " from ", this.link(rival), `: ${pair.what_would_decide}`, price]);
        lines.push([this.trials(pair, separate)]);
      }
      if (settle !== null) {
        const text = settle.more === null
          ? `no number of tasks up to ${grouped(String(this.data.most_tasks))} will do.`
          : `about ${counted(settle.more, "more task")} with 80 % power; ${this.prices(settle)}.`;
        lines.push([`To show on which side of ${number(this.wish.floor)} `, this.link(answer), ` lies: ${text}`]);
      }
      if (lines.length === 0) lines.push(["Nothing: what is asked here is decided by the data there are."]);
      if (pair !== null && pair.least_difference !== null) {
        lines.push([`These tasks could show a difference of ${fixed(pair.least_difference, 1)} points or more between the two.`]);
      }
      return lines;
    }

    trials(pair, { candidates }) {
      if (pair.more_trials === null) return `More trials of the same tasks: ${pair.trials_reason}.`;
      const prices = this.prices({ candidates, more: pair.more_trials * pair.common_tasks });
      return `More trials of the same tasks: ${pair.more_trials} of each would do; ${prices}.`;
    }

    prices({ candidates, more }) {
      return candidates.map((at) => `${this.price(at, more)} for ${this.of(at).name}`).join(" and ");
    }

    commands() {
      const { separate, settle } = this.found;
      const run = separate !== null && separate.more ? separate : settle;
      return run !== null && run.more ? run.candidates.map((at) => this.of(at).command) : [];
    }

    row(at, place) {
      const cell = this.of(at);
      const { text } = cell;
      const held = this.found.holds[place];
      const pair = place ? decision.versus(this.data, this.found.fits[0], at) : null;
      return [
        [cell.name, cell.href, cell.provider],
        [text.score, text.spread, cell.quality.amount],
        [held.word, this.likely(at, held), held.probability],
        [text.cost, text.cost_note, cell.cost, cell.flag],
        [text.minutes, text.minutes_note, cell.minutes],
        [this.data.hosting[cell.hosting], ""],
        [text.membership, text.among, cell.membership],
        [pair?.word ?? (place ? "no verdict" : "the answer"), ""],
      ];
    }
  }

  window.Harnessmark = {
    ...window.Harnessmark,
    decideWords: { view: (data, wish) => new View(data, wish).all() },
  };
})();
