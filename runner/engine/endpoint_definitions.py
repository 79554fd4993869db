"""Endpoint definitions: what each figure of an endpoint benchmark means, from the code that makes it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator

from pydantic import BaseModel

from runner.endpoint import calibration, result, timing
from runner.endpoint.statistics import (
    agreement,
    coding,
    distribution,
    goodput,
    intervals,
    knee,
    money,
    outcomes,
    pairing,
    scores,
    window,
)
from runner.records import Definition
from runner.records.bench_figures import Agreement, Reliability

MOMENTS, TIMES, ENDS = "moments", "times", "ends"
STATISTICS, SCORES, COMPARISON = "statistics", "scores", "comparison"
LOAD, MONEY, CODING, CLIENT = "load", "money", "coding", "client"
FUNCTIONS: tuple[tuple[str, str, Callable[..., object]], ...] = (
    (STATISTICS, "sample", distribution.measure),
    (STATISTICS, "percentile", intervals.nearest_rank),
    (STATISTICS, "interval-of-a-percentile", intervals.bounding_ranks),
    (STATISTICS, "error-adjusted-percentile", intervals.adjusted_quantile),
    (STATISTICS, "interval-of-a-rate", intervals.wilson),
    (STATISTICS, "rates-of-ends", outcomes.reliability),
    (SCORES, "attempted", scores.was_attempted),
    (SCORES, "answered", scores.is_answer),
    (SCORES, "first-pass", scores.first_pass),
    (SCORES, "consistency", scores.repeats),
    (SCORES, "share-of-the-most-frequent-answer", scores.most_frequent_share),
    (SCORES, "entropy", scores.entropy_bits),
    (SCORES, "brier-score", scores.brier),
    (SCORES, "mean-confidence", scores.mean_confidence),
    (SCORES, "instructions-followed", scores.instructions),
    (SCORES, "kind-that-is-scored", scores.of_one_kind),
    (SCORES, "robustness-drop", scores.robustness_drop),
    (COMPARISON, "difference", pairing.comparisons),
    (COMPARISON, "interval-of-a-difference", pairing.bootstrap),
    (COMPARISON, "category-similarity", agreement.category_similarity),
    (LOAD, "steady-window-of-a-closed-loop", window.closed_window),
    (LOAD, "steady-window-of-an-open-loop", window.open_window),
    (LOAD, "in-flight", window.in_flight),
    (LOAD, "output-tokens-of-a-window", window.output_tokens),
    (LOAD, "within-limits", goodput.keeps),
    (LOAD, "goodput", goodput.verdict_of),
    (MONEY, "cost-of-a-request", money.request_cost),
    (MONEY, "cost-of-a-group", money.money),
    (CODING, "coding-task", coding.coding_of),
)
MODULES = ((LOAD, "knee", knee), (CLIENT, "calibration", calibration))
"""Modules whose first sentence is the definition."""
NO_FIGURES = frozenset({"failures", "same_low"})
RECORDS: tuple[tuple[str, type[BaseModel]], ...] = ((ENDS, Reliability), (COMPARISON, Agreement))
"""Parts of records whose fields say what they mean."""
GAPS = ("gap_p50_ms", "gap_p95_ms", "gap_max_ms")
_SECTION = re.compile(r"\n\s*(?:Args|Raises|Returns):.*|\s*Source:\s+measurement\s+contract.*", re.DOTALL)


def endpoint_definitions() -> tuple[Definition, ...]:
    """Every definition, in the order of the page that shows them; names are unique."""
    found = [
        *_attributes(MOMENTS, result.Milestones),
        *_times(),
        *_attributes(ENDS, result.Outcome),
        *(each for group, record in RECORDS for each in _fields(group, record)),
        *(Definition(group=group, name=name, text=_said(function)) for group, name, function in FUNCTIONS),
        *(Definition(group=group, name=name, text=_said(module)) for group, name, module in MODULES),
        Definition(group=LOAD, name="knee-rule", text=_sentence(knee.RULE)),
    ]
    first: dict[str, Definition] = {}
    for each in found:
        first.setdefault(each.name, each)
    return tuple(first.values())


def _times() -> Iterator[Definition]:
    """Every figure that ``timing`` makes: a difference of two moments, or what its own function says."""
    [function] = ast.parse(inspect.getsource(timing.timing)).body
    for node in ast.walk(function):
        if not isinstance(node, ast.keyword) or node.arg is None or not isinstance(node.value, ast.Call):
            continue
        called = node.value
        if not isinstance(called.func, ast.Name):
            continue
        if called.func.id == timing.between.__name__:
            begin, end = (argument.attr for argument in called.args if isinstance(argument, ast.Attribute))
            yield Definition(group=TIMES, name=node.arg, text="", formula=f"{end} - {begin}")
        elif called.func.id == timing.gaps.__name__:
            for name in GAPS:
                yield Definition(group=TIMES, name=name, text=_said(timing.gaps))
        else:
            yield Definition(group=TIMES, name=node.arg, text=_said(getattr(timing, called.func.id)))


def _attributes(group: str, described: type) -> Iterator[Definition]:
    """Attributes of a class, each with the text that stands below it."""
    [body] = ast.parse(inspect.getsource(described)).body
    if not isinstance(body, ast.ClassDef):
        return
    for node, after in zip(body.body, [*body.body[1:], None], strict=True):
        name = _name_of(node)
        if name is None or not isinstance(after, ast.Expr) or not isinstance(after.value, ast.Constant):
            continue
        yield Definition(group=group, name=name.lower(), text=_clean(str(after.value.value)))


def _name_of(node: ast.stmt) -> str | None:
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return target.id if isinstance(target, ast.Name) else None


def _fields(group: str, record: type[BaseModel]) -> Iterator[Definition]:
    for name, field in record.model_fields.items():
        if field.description and name not in NO_FIGURES:
            yield Definition(group=group, name=name, text=_sentence(field.description))


def _said(described: object) -> str:
    return _clean(_SECTION.sub("", inspect.getdoc(described) or ""))


def _clean(text: str) -> str:
    return " ".join(text.split())


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
