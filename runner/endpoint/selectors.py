"""Selectors: which of a model's mappings are meant, as a user writes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from runner.costs.yaml_faults import nearest
from runner.endpoint.target import Target
from runner.endpoint.targets import Catalogue, require_unique
from runner.errors import UsageError

EVERY = "*"
EVERY_REGION = ":*"


def split_list(texts: Iterable[str]) -> tuple[str, ...]:
    """The items of comma-separated lists, trimmed, each once; empty items fall away."""
    items = (item.strip() for text in texts for item in text.split(","))
    return tuple(dict.fromkeys(item for item in items if item))


def matches(selector: str, target: Target) -> bool:
    """Whether ``selector`` means ``target``.

    ``*`` means every mapping; ``provider:*`` those of the provider that have a region; anything else must be
    the label itself, so that a provider's name alone never stands for its regions.
    """
    if selector == EVERY:
        return True
    if selector.endswith(EVERY_REGION):
        return target.entry.region is not None and target.entry.provider == selector.removesuffix(
            EVERY_REGION
        )
    return target.label == selector


def select(
    catalogue: Catalogue,
    models: Sequence[str],
    selectors: Sequence[str] = (),
    *,
    on: date,
    with_deactivated: bool = False,
) -> tuple[Target, ...]:
    """The targets meant by ``models`` and ``selectors`` (both may hold comma lists), model by model.

    Raises:
        UsageError: no model given, an unknown one, or selectors that match nothing; all of these are named.
    """
    names = split_list(models)
    if not names:
        raise UsageError("no model was given", remedy="add --model, or --url for an endpoint in no file")
    wanted = split_list(selectors) or (EVERY,)
    candidates = [
        target
        for name in names
        for target in catalogue.of_model(name, on=on, with_deactivated=with_deactivated)
    ]
    unmatched = [each for each in wanted if not any(matches(each, target) for target in candidates)]
    if unmatched:
        labels = sorted({target.label for target in candidates})
        raise UsageError(
            "these mappings match nothing: "
            + ", ".join(f"{each!r}{_hint(each, labels)}" for each in unmatched),
            remedy=f"choose from: {', '.join(labels)}; {EVERY} means all, provider:* all its regions",
        )
    chosen = tuple(target for target in candidates if any(matches(each, target) for each in wanted))
    require_unique(chosen)
    return chosen


def reference_of(text: str | None, targets: Sequence[Target]) -> Target:
    """The target that others are compared with: the first, or the one with this id or label.

    Raises:
        UsageError: there is none of that name, or several.
    """
    if text is None:
        return targets[0]
    found = [target for target in targets if text in {target.identifier, target.label}]
    if len(found) == 1:
        return found[0]
    names = [name for target in targets for name in (target.label, target.identifier)]
    problem = "matches nothing" if not found else "means several targets"
    raise UsageError(
        f"the reference {text!r} {problem}{'' if found else _hint(text, names)}",
        remedy="name one target by its id, provider/model-id[:region]",
    )


def _hint(selector: str, labels: Sequence[str]) -> str:
    regions = [label for label in labels if label.startswith(f"{selector}:")]
    if regions:
        return f" (its mappings have regions: {', '.join(regions)}, or {selector}{EVERY_REGION})"
    close = nearest(selector, labels)
    return f" ({close.removeprefix('; ')})" if close else ""
