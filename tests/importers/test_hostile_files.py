"""Whatever a file holds, the import ends in a report and leaves a whole store."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from runner.importers.published import import_published
from runner.importers.report import FileStatus
from runner.store import ResultsStore, verify
from tests.importers import figures
from tests.importers.documents import METERED, SWEEP, written

SOURCES = (METERED, SWEEP, figures.DATA / "strands" / "minicpm5-2b__swe3__mcp-gateway-registry-v2.json")

junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


def places(value: object, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place in a document."""
    found = [above] if above else []
    items: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = [(number, inner) for number, inner in enumerate(value[:2])]
    for key, inner in items:
        found += places(inner, (*above, key))
    return found


@settings(max_examples=60, deadline=None)
@given(data=st.data(), source=st.sampled_from(SOURCES), value=junk)
def test_junk_in_any_place_of_a_file(data: st.DataObject, source: Path, value: object) -> None:
    document: Any = figures.read(source)
    steps = data.draw(st.sampled_from(places(document)))
    place = document
    for step in steps[:-1]:
        place = place[step]
    place[steps[-1]] = value
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder) / "in", "a__b__c.json", document)
        store = ResultsStore(Path(folder) / "store")
        report = import_published([path], store)
        assert len(report.files) == 1
        if report.files[0].status is FileStatus.FAILED:
            assert report.files[0].faults
            assert not any("\n" in fault.split(":")[0] for fault in report.files[0].faults)
            assert not store.root.exists() or not any(store.root.rglob("*.json"))
        assert not store.root.exists() or verify(store.root) == []


@settings(max_examples=20, deadline=None)
@given(
    name=st.text(min_size=1, max_size=40)
    | st.sampled_from(["../../etc/passwd", "/etc", "..", "a/../../b", "C:\\x", "x\x00y", "[1m]", "~root"])
)
def test_no_name_in_a_file_leads_out_of_the_store(name: str) -> None:
    for key in ("model", "dataset", "harness", "skill"):
        document = {**figures.read(METERED), key: name}
        with tempfile.TemporaryDirectory() as folder:
            outer = Path(folder)
            path = outer / "in.json"
            path.write_text(json.dumps(document), encoding="utf-8")
            root = outer / "deep" / "deeper" / "store"
            report = import_published([path], ResultsStore(root))
            assert len(report.files) == 1
            outside = {found for found in outer.rglob("*") if found.is_file() and root not in found.parents}
            assert outside == {path}
            assert not root.exists() or verify(root) == []
