"""Exposition: the text page of a server's metrics, read with bounds, as samples."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from runner.errors import EndpointError

PREFIX = "vllm:"
MAX_SAMPLES = 20_000
MAX_LINE = 16_384
MAX_NAME = 200
MAX_LABELS = 32
MAX_LABEL = 1_000
COMMENTS = ("# TYPE ", "# HELP ")


@dataclass(frozen=True)
class Sample:
    """One line of the server's page. Labels are compact JSON with sorted keys; no finite number is None."""

    metric: str
    metric_type: str
    labels: str
    value: float | None


def samples_in(page: str, prefix: str = PREFIX) -> list[Sample]:
    """Every sample whose name begins with ``prefix``; times at which a counting began are left out.

    Of a label set that stands twice, the last value counts.

    Raises:
        EndpointError: the page is none of Prometheus', has nothing with that prefix, or is out of bounds.
    """
    wanted = "\n".join(_wanted(page, prefix))
    if not wanted:
        raise EndpointError(f"the page has no metric whose name begins with {prefix}")
    found: dict[tuple[str, str], Sample] = {}
    try:
        for family in text_string_to_metric_families(wanted + "\n"):
            for sample in family.samples:
                if sample.name.endswith("_created"):
                    continue
                _check_sizes(sample.name, sample.labels)
                labels = json.dumps(sample.labels, sort_keys=True, separators=(",", ":"))
                value = float(sample.value) if math.isfinite(sample.value) else None
                found[sample.name, labels] = Sample(sample.name, family.type, labels, value)
                if len(found) > MAX_SAMPLES:
                    raise EndpointError(f"the page has more than {MAX_SAMPLES:,} samples")
    except (ValueError, KeyError, IndexError, AttributeError, TypeError) as error:
        raise EndpointError(f"the page cannot be read as metrics: {type(error).__name__}") from None
    return list(found.values())


def _wanted(page: str, prefix: str) -> Iterator[str]:
    starts = (prefix, *(comment + prefix for comment in COMMENTS))
    for line in page.split("\n"):
        if line.startswith(starts):
            if len(line) > MAX_LINE:
                raise EndpointError(f"the page has a line of more than {MAX_LINE:,} characters")
            yield line


def _check_sizes(name: str, labels: dict[str, str]) -> None:
    if len(name) > MAX_NAME or len(labels) > MAX_LABELS:
        raise EndpointError("the page has a name or a number of labels out of bounds")
    if any(len(key) > MAX_NAME or len(value) > MAX_LABEL for key, value in labels.items()):
        raise EndpointError(f"the page has a label of more than {MAX_LABEL:,} characters")
