"""Words: numbers, dates and states as a reader sees them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from generators.charts import wording
from generators.tables.dollars import Priced
from generators.tables.sample import Unit, Value
from generators.tables.scoring import ScoreState
from runner.costs.instances import Commitment
from runner.records import ArtifactState, CheckStatus, CostBasis, Hosting, JudgementStatus, Outcome
from runner.records.nouns import counted as counted

BASIS_WORDS = {
    CostBasis.METERED: "metered",
    CostBasis.PRICE_TABLE: "price table",
    CostBasis.HARDWARE_DERIVED: "hardware-derived",
    CostBasis.CREDITS: "credits",
    CostBasis.NOTIONAL: "notional",
    CostBasis.NONE: "none",
}
BASIS_ADJECTIVES = {**BASIS_WORDS, CostBasis.CREDITS: "credit-based", CostBasis.PRICE_TABLE: "price-table"}
HOSTING_WORDS = {
    Hosting.VENDOR_API: "vendor API",
    Hosting.CLOUD: "cloud",
    Hosting.SELF_HOSTED: "self-hosted",
    Hosting.VENDOR_MANAGED: "vendor managed",
    Hosting.BUILT_IN: "built in",
    Hosting.UNKNOWN: "unknown",
}
STATE_WORDS = {
    ScoreState.SCORED: "scored",
    ScoreState.FAILED: "failed",
    ScoreState.UNSCORED: "not scored",
    ScoreState.EXCLUDED: "left out",
}
COMMITMENT_WORDS = {
    Commitment.ON_DEMAND: "on demand",
    Commitment.SPOT: "spot",
    Commitment.COMMIT_1YR: "1-year commitment",
    Commitment.COMMIT_3YR: "3-year commitment",
}
CHECK_WORDS = {
    CheckStatus.PASSED: "passed",
    CheckStatus.FAILED: "failed",
    CheckStatus.TIMEOUT: "ran out of time",
    CheckStatus.NOT_RUN: "not run",
    CheckStatus.ERROR: "our side failed",
}
JUDGEMENT_WORDS = {
    JudgementStatus.SCORED: "scored",
    JudgementStatus.ZERO_BY_MISSING_ARTIFACTS: "zero, artifacts are missing",
    JudgementStatus.INVALID: "no valid answer",
}
ARTIFACT_WORDS = {
    ArtifactState.PRESENT: "present",
    ArtifactState.MISSING: "missing",
    ArtifactState.NOT_PUBLISHED: "not published",
}
MILLION = 1_000_000
NOT_PRICED = "not priced"
"""What stands where an amount of money is unknown: never 0 and never empty."""


def amount(number: float, unit: Unit) -> str:
    """A number in its unit: ``70.8``, ``$0.64``, ``18.07 M``, ``23.0``, ``80 %``."""
    match unit:
        case Unit.DOLLARS:
            return dollars(number)
        case Unit.TOKENS:
            return tokens(number)
        case Unit.PERCENT:
            return percent(number / 100)
        case Unit.MINUTES if abs(number) < 1:
            return f"{number:.2f}"
        case Unit.POINTS | Unit.MINUTES | Unit.TURNS:
            return f"{number:,.1f}"
        case Unit.TASKS:
            return f"{number:,.0f}"


def dollars(number: float) -> str:
    """Dollars as charts write them, too."""
    return wording.dollars(number)


def hourly(usd: float) -> str:
    """What a machine costs an hour, in dollars to a tenth of a cent, without needless zeros: ``3.465``."""
    return f"{usd:,.3f}".rstrip("0").rstrip(".")


def tokens(number: float) -> str:
    """Token counts: millions with two decimals from one million up, else grouped digits."""
    return f"{number / MILLION:,.2f} M" if abs(number) >= MILLION else f"{number:,.0f}"


def n_of_m(value: Value) -> str:
    """``5 of 5``."""
    return f"{value.n} of {value.m}"


def with_count(value: Value, unit: Unit) -> str:
    """``70.8 (5 of 5)``; for an unknown value the word ``unknown`` and the reason."""
    if value.amount is None:
        return f"unknown ({value.reason})" if value.reason else "unknown"
    rests_on = f"; {priced(value.priced)}" if unit is Unit.DOLLARS else ""
    return f"{amount(value.amount, unit)} ({n_of_m(value)}{rests_on})"


def signed(number: float, unit: Unit) -> str:
    """A difference with its sign: ``+3.9``, ``−$1.20``."""
    sign = "+" if number > 0 else "−" if number < 0 else "±"
    if unit is Unit.PERCENT:
        return f"{sign}{abs(number):.{0 if abs(number) >= 1 else 1}f} %"
    return sign + amount(abs(number), unit)


def percent(share: float) -> str:
    """A probability or share as whole percent; never a rounded 0 or 100 where it is not exactly that."""
    if 0 < share <= 0.005:
        return "< 1 %"
    if 0.995 <= share < 1:
        return "> 99 %"
    return f"{100 * share:.0f} %"


def day(moment: date | None) -> str:
    """A day in ISO form, or ``unknown date``."""
    return moment.isoformat() if moment is not None else "unknown date"


def moment(when: datetime) -> str:
    """A moment to the second in UTC: ``2026-01-31 12:00:00 UTC``."""
    return f"{when:%Y-%m-%d %H:%M:%S} UTC"


def duration(seconds: float) -> str:
    """A time span in the unit that fits: ``0.7 s``, ``12.5 min``, ``2.0 h``."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def outcome(kind: Outcome) -> str:
    """An outcome in words."""
    return kind.value.replace("_", " ")


def check_status(kind: CheckStatus) -> str:
    """How a check ended, in words."""
    return CHECK_WORDS[kind]


def judgement_status(kind: JudgementStatus) -> str:
    """Whether a judgement carries a score, in words."""
    return JUDGEMENT_WORDS[kind]


def artifact_state(kind: ArtifactState) -> str:
    """Whether an artifact is there, in words."""
    return ARTIFACT_WORDS[kind]


def basis(kind: CostBasis | None) -> str:
    """A cost basis in words."""
    return BASIS_WORDS[kind] if kind is not None else "unknown"


def basis_adjective(kind: CostBasis) -> str:
    """A cost basis as it stands before the word costs."""
    return BASIS_ADJECTIVES[kind]


def priced(rests_on: Priced | None) -> str:
    """What dollars rest on and the day of their prices: ``metered, 2026-08-15``."""
    if rests_on is None:
        return "basis and day of the prices not known"
    first, last = rests_on.first, rests_on.last
    if first is None or last is None:
        days = "day of the prices not known"
    else:
        days = first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"
        days += ", some days not known" if rests_on.undated else ""
    return f"{basis(rests_on.basis)}, {days}"


def hosting(kind: Hosting) -> str:
    """Who runs the model's machines, in words."""
    return HOSTING_WORDS[kind]


def listing(names: Sequence[str], limit: int = 12) -> str:
    """Names joined by commas; a long list is cut with the number of the rest."""
    if len(names) <= limit:
        return ", ".join(names)
    return ", ".join(names[:limit]) + f" and {len(names) - limit} more"


SEMANTICS = {
    "disjoint": "input, cache reads and cache writes are apart; none holds another",
    "partition": "cache reads and writes are parts of the input",
    "unknown": "how cache counts relate to input is unknown",
}


def semantics(kind: str) -> str:
    """How cache counts relate to input."""
    return SEMANTICS.get(kind, kind)
