"""Credit plans: what a credit costs at vendors that bill by credits, and who says so."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError, model_validator

from runner.costs.price_files import PriceSource
from runner.costs.strict_yaml import read_strict_yaml
from runner.costs.yaml_faults import fault_lines
from runner.errors import ConfigurationError, UsageError
from runner.records.base import Part, Slug

Dollars = Annotated[float, Field(gt=0)]
OVERAGE = "overage"
"""Said behind the name of a plan, for the price of the credits that go beyond it."""
FLAG = "--credit-plan"


@dataclass(frozen=True)
class PlanChoice:
    """A plan that credits are priced by: within what it holds, or beyond it."""

    provider: str
    plan: str
    overage: bool = False

    @property
    def name(self) -> str:
        """The choice as it is given to commands and pages: ``provider/plan`` or ``provider/plan:overage``."""
        return f"{self.provider}/{self.plan}" + (f":{OVERAGE}" if self.overage else "")

    @property
    def words(self) -> str:
        """The choice as a part of a sentence."""
        return f"credits of {self.provider} at its plan {self.plan}" + (
            ", beyond its credits" if self.overage else ""
        )


class CreditPlan(Part):
    """A plan that holds credits for a month, and what more of them cost. Both days are included."""

    provider: Slug
    plan: Slug
    usd_per_month: Dollars
    credits: int = Field(gt=0)
    overage_usd_per_credit: Dollars | None = Field(
        default=None, description="beyond the plan; null is unknown"
    )
    effective_from: date
    effective_to: date | None = None
    sources: tuple[str, ...] = Field(min_length=1, strict=False)
    checked_on: date
    note: str = ""

    @property
    def usd_per_credit(self) -> float:
        """US dollars of a credit of the plan when all of them are used. Source: specification 5.7."""
        return self.usd_per_month / self.credits

    def price(self, *, overage: bool) -> float | None:
        """US dollars of a credit within the plan, or beyond it; None where that is not known."""
        return self.overage_usd_per_credit if overage else self.usd_per_credit

    def days(self) -> str:
        """The days on which the plan is sold so, in words."""
        until = f"to {self.effective_to.isoformat()}" if self.effective_to is not None else "on"
        return f"from {self.effective_from.isoformat()} {until}"

    def holds_on(self, day: date) -> bool:
        """Whether the plan is sold so on ``day``."""
        return self.effective_from <= day and (self.effective_to is None or day <= self.effective_to)


class CreditPlans(Part):
    """The plans of a file. A plan has one price on each day, and names sources that the file has."""

    schema_version: int = Field(ge=1, le=1)
    currency: str = Field(pattern=r"^USD$")
    sources: dict[str, PriceSource]
    plans: tuple[CreditPlan, ...] = Field(strict=False)

    @model_validator(mode="after")
    def _one_price_a_day_and_known_sources(self) -> CreditPlans:
        for number, plan in enumerate(self.plans):
            for name in plan.sources:
                if name not in self.sources:
                    raise ValueError(f"plan {plan.plan}: {name!r} is not among the sources of the file")
            for other in self.plans[:number]:
                same = (plan.provider, plan.plan) == (other.provider, other.plan)
                if same and (plan.holds_on(other.effective_from) or other.holds_on(plan.effective_from)):
                    raise ValueError(f"plan {plan.plan} has two prices on one day")
        return self

    def on(self, provider: str, day: date) -> tuple[CreditPlan, ...]:
        """The plans of ``provider`` on ``day``, the dearest credit first."""
        found = [plan for plan in self.plans if plan.provider == provider and plan.holds_on(day)]
        return tuple(sorted(found, key=lambda plan: (-plan.usd_per_credit, plan.usd_per_month)))

    def of(self, choice: PlanChoice, day: date) -> CreditPlan | None:
        """The plan of ``choice`` as it is sold on ``day``; None where no price of that day is known."""
        return next((plan for plan in self.on(choice.provider, day) if plan.plan == choice.plan), None)

    def choices(self) -> tuple[PlanChoice, ...]:
        """Every plan, within and where that is known beyond its credits, in the order of the file."""
        found = [
            PlanChoice(plan.provider, plan.plan, overage)
            for plan in self.plans
            for overage in (False, True)
            if plan.price(overage=overage) is not None
        ]
        return tuple(dict.fromkeys(found))

    def chosen(self, text: str) -> PlanChoice:
        """The choice that ``[PROVIDER/]PLAN[:overage]`` names.

        Raises:
            UsageError: no plan has this name, or plans of several vendors have it.
        """
        named: dict[str, list[PlanChoice]] = {}
        for choice in self.choices():
            for name in (choice.name.partition("/")[2], choice.name):
                named.setdefault(name, []).append(choice)
        found = named.get(text, [])
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(
                f"plans of {len(found)} vendors are named {text!r}",
                where=FLAG,
                remedy=f"say whose: {', '.join(f'{each.provider}/{text}' for each in found)}",
            )
        near = difflib.get_close_matches(text, list(named), n=1)
        raise UsageError(
            f"there is no credit plan {text!r}" + (f"; did you mean {near[0]}?" if near else ""),
            where=FLAG,
            remedy=f"one of {', '.join(name for name in named if '/' not in name)}",
        )

    def source_of(self, plan: CreditPlan) -> str:
        """Who says so, in one line."""
        return "; ".join(self.sources[name].label for name in plan.sources)


KNOWN = (*CreditPlans.model_fields, *CreditPlan.model_fields, *PriceSource.model_fields)


def load_credit_plans(path: Path) -> CreditPlans:
    """The plans in the YAML file at ``path``.

    Raises:
        ConfigurationError: the file cannot be read or has faults; every fault is named with key and line.
    """
    document = read_strict_yaml(path)
    try:
        return CreditPlans.model_validate(document.value)
    except ValidationError as error:
        raise ConfigurationError(
            "the list of credit plans has faults:\n" + "\n".join(fault_lines(error, document, KNOWN)),
            where=str(path),
            remedy="correct the keys named above",
        ) from None
