"""The price list of machines: what ships, and what a faulty file is told."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.costs import Commitment, load_instance_prices
from runner.errors import ConfigurationError

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "datasets" / "prices" / "instances.yaml"
PUBLISHED = ROOT / "tests" / "data" / "published" / "throughput" / "pricing.json"


def test_the_shipped_list_is_the_published_one() -> None:
    prices = load_instance_prices(SHIPPED)
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    assert prices.as_of == date.fromisoformat(published["as_of"])
    assert prices.region == published["region"]
    assert prices.source.model_dump() == {
        "repository": published["source"]["repo"],
        **{key: published["source"][key] for key in ("commit", "path", "license")},
    }
    assert set(prices.instances) == set(published["instances"])
    for name, instance in published["instances"].items():
        ours = prices.instances[name]
        assert (ours.gpus, ours.gpu) == (instance["gpus_per_instance"], instance["gpu"])
        assert {key.value: rate for key, rate in ours.usd_per_hour.items()} == instance["rates"]
        assert prices.hourly(name, Commitment.COMMIT_3YR) == instance["dollars_per_hour"]


def test_a_rate_that_is_not_listed_is_unknown_and_says_why() -> None:
    prices = load_instance_prices(SHIPPED)
    for instance in ("p6-b300.48xlarge", "p5e.48xlarge"):
        assert prices.hourly(instance, Commitment.COMMIT_3YR) is None
        assert "is not in the price list of 2026-09-01" in prices.missing_reason(
            instance, Commitment.COMMIT_3YR
        )
    assert prices.hourly("p5en.48xlarge", Commitment.SPOT) is None
    assert "no spot rate" in prices.missing_reason("p5en.48xlarge", Commitment.SPOT)


def changed(tmp_path: Path, old: str, new: str) -> Path:
    """A copy of the shipped list with one text replaced."""
    text = SHIPPED.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "instances.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def message(path: Path) -> str:
    """What a user reads about ``path``."""
    with pytest.raises(ConfigurationError) as caught:
        load_instance_prices(path)
    return caught.value.message()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("      spot: 2.764", "      discount: 0.35", "instances.g6e.4xlarge.usd_per_hour.discount"),
        ("    gpus: 1", "    gpuss: 1", "did you mean gpus?"),
        ("      spot: 2.764", "      spott: 2.764", "spott"),
        ("3.004", "-3.004", "instances.g6e.4xlarge.usd_per_hour.on_demand"),
        ("3.004", "'3.004'", "must be a number"),
        ("    gpus: 1", "    gpus: 0", "instances.g6e.4xlarge.gpus"),
        ("currency: USD", "currency: EUR", "line 4: currency"),
        ("schema_version: 1", "schema_version: 2", "schema_version"),
        ("region: us-east-1", "region: [a, b", "not YAML"),
        ("      on_demand: 3.004", "      spot: 1.0\n      on_demand: 3.004", "'spot' is given twice"),
        ("  license: MIT-0", "  licence: MIT-0", "source.licence"),
        ("region: us-east-1", "region: !!python/object/apply:os.getcwd []", "not YAML"),
    ],
)
def test_a_fault_is_named_with_its_key(tmp_path: Path, old: str, new: str, expected: str) -> None:
    path = changed(tmp_path, old, new)
    text = message(path)
    assert expected in text
    assert str(path) in text
    assert "Traceback" not in text


def test_all_faults_of_a_file_are_in_one_report_with_their_lines(tmp_path: Path) -> None:
    path = changed(tmp_path, "currency: USD", "currency: EUR")
    path.write_text(path.read_text().replace("gpus: 4", "gpus: many"), encoding="utf-8")
    text = message(path)
    number = path.read_text().splitlines().index("    gpus: many") + 1
    assert "2 faults" in text
    assert "line 4: currency" in text
    assert f"line {number}: instances.g6e.12xlarge.gpus" in text


@pytest.mark.parametrize("content", ["", "- 1\n- 2\n", "just text", "a: 1\n---\nb: 2\n", "\x00"])
def test_a_file_that_is_no_price_list_is_told_so(tmp_path: Path, content: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(content, encoding="utf-8")
    assert str(path) in message(path)


def test_a_missing_file_is_told_so(tmp_path: Path) -> None:
    assert "cannot be read" in message(tmp_path / "nowhere.yaml")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(position=st.integers(min_value=0, max_value=1400), junk=st.text(max_size=6))
def test_junk_anywhere_in_the_file_never_shows_a_traceback(tmp_path: Path, position: int, junk: str) -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    path = tmp_path / "junk.yaml"
    path.write_bytes((text[:position] + junk + text[position:]).encode("utf-8", "surrogatepass"))
    faults: list[str] = []
    currency = "USD"
    try:
        currency = load_instance_prices(path).currency
    except ConfigurationError as error:
        faults.append(error.message())
    assert currency == "USD"
    assert all(str(path) in fault for fault in faults)
