"""Verify names every file that is missing, extra, altered, misplaced or unreadable."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.records import sha256_of
from runner.store import Finding, ResultsStore, verify
from tests import examples

FOLDER = "swe/model-a_endpoint/loop/fix/hello-world/fix-typo"
TRIAL = f"{FOLDER}/1/trial.json"
PLAN = f"plans/{examples.PLAN_ID}.json"
LEDGER = f"ledger/{examples.PLAN_ID}.jsonl"


def filled(root: Path) -> Path:
    """A store with a plan of two finished trials and a sweep."""
    store = ResultsStore(root)
    identities = [examples.identity(trial=1), examples.identity(trial=2)]
    store.write_plan(examples.plan(*identities))
    for identity in identities:
        store.write_trial(
            examples.trial(identity),
            checks=[examples.check(identity)],
            judgements=[examples.judgement(identity)],
            artifacts={"implementation.md": examples.NOTE},
        )
    store.write_throughput(examples.PLAN_ID, examples.sweep())
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A whole store."""
    return filled(tmp_path / "results")


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole store that tests copy."""
    return filled(tmp_path_factory.mktemp("pristine") / "results")


def files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def named(findings: list[Finding], problem: str) -> set[str]:
    """Paths with that problem."""
    return {finding.path for finding in findings if finding.problem == problem}


def test_a_whole_store_has_no_findings(root: Path) -> None:
    assert verify(root) == []


def test_an_empty_store_has_no_findings(tmp_path: Path) -> None:
    assert verify(tmp_path) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(choice=st.randoms(use_true_random=False), flip=st.integers(min_value=1, max_value=255))
def test_a_flipped_byte_of_any_file_is_named(
    pristine: Path, tmp_path_factory: pytest.TempPathFactory, choice: object, flip: int
) -> None:
    root = tmp_path_factory.mktemp("flipped") / "results"
    shutil.copytree(pristine, root)
    generator = __import__("random").Random(repr(choice))
    path = generator.choice(files(root))
    data = bytearray(path.read_bytes())
    data[generator.randrange(len(data))] ^= flip
    path.write_bytes(bytes(data))
    relative = path.relative_to(root).as_posix()
    assert relative in {finding.path for finding in verify(root)}


def test_any_deleted_file_is_named(pristine: Path, tmp_path: Path) -> None:
    for number, path in enumerate(files(pristine)):
        root = tmp_path / str(number)
        shutil.copytree(pristine, root)
        relative = path.relative_to(pristine).as_posix()
        (root / relative).unlink()
        assert relative in named(verify(root), "missing"), relative


@pytest.mark.parametrize(
    "place",
    [
        f"{FOLDER}/1/notes.txt",
        f"{FOLDER}/1/artifacts/extra.md",
        f"{FOLDER}/3/trial.json",
        "swe/stray.json",
        "plans/other.json",
        "throughput/model-a/2026-02-01/sweep.json",
        "readme.txt",
        "ledger/notes.txt",
        "somewhere/else.json",
    ],
)
def test_an_added_file_is_named(root: Path, place: str) -> None:
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"{}")
    assert place in named(verify(root), "extra")


def test_the_files_git_needs_at_the_top_are_no_finding(root: Path) -> None:
    (root / "README.md").write_text("what this is")
    (root / ".gitignore").write_text("private/")
    assert verify(root) == []


def test_a_moved_trial_is_named_with_the_place_it_belongs_to(root: Path) -> None:
    (root / FOLDER / "2").rename(root / FOLDER / "9")
    findings = verify(root)
    [finding] = [
        each for each in findings if each.problem == "misplaced" and each.path.endswith("9/trial.json")
    ]
    assert f"{FOLDER}/2/trial.json" in finding.detail
    assert f"{FOLDER}/2/trial.json" in named(findings, "missing")


def test_a_changed_record_that_is_still_valid_is_altered(root: Path) -> None:
    path = root / TRIAL
    document = json.loads(path.read_bytes())
    document["costs"][0]["amount_usd"] = 0.01
    path.write_text(json.dumps(document, indent=2) + "\n")
    assert TRIAL in named(verify(root), "altered")


def test_a_broken_record_is_unreadable(root: Path) -> None:
    (root / TRIAL).write_bytes(b"{ not json")
    assert {TRIAL} == named(verify(root), "unreadable")


def test_a_link_is_never_followed(root: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_bytes((root / TRIAL).read_bytes())
    (root / TRIAL).unlink()
    (root / TRIAL).symlink_to(secret)
    assert TRIAL in named(verify(root), "unreadable")


def rewritten_ledger(change: Callable[[list[str]], list[str]], root: Path) -> None:
    path = root / LEDGER
    path.write_text("".join(line + "\n" for line in change(path.read_text().splitlines())))


def test_a_ledger_line_taken_out_breaks_the_chain_and_leaves_its_file_unlisted(root: Path) -> None:
    rewritten_ledger(lambda lines: lines[:2] + lines[3:], root)
    findings = verify(root)
    assert LEDGER in named(findings, "altered")
    assert len(named(findings, "extra")) == 1


def test_a_file_and_its_digest_in_the_ledger_changed_together_break_the_chain(root: Path) -> None:
    data = (root / TRIAL).read_bytes().replace(b"0.25", b"0.01")
    (root / TRIAL).write_bytes(data)

    def forged(lines: list[str]) -> list[str]:
        entries = [json.loads(line) for line in lines]
        for entry in entries:
            if entry["path"] == TRIAL:
                entry["sha256"] = sha256_of(data)
        return [json.dumps(entry) for entry in entries]

    rewritten_ledger(forged, root)
    assert LEDGER in named(verify(root), "altered")


def test_a_planned_trial_without_a_record_says_how_to_go_on(root: Path) -> None:
    shutil.rmtree(root / FOLDER / "2")
    rewritten_ledger(lambda lines: [line for line in lines if f"{FOLDER}/2/" not in line], root)
    [finding] = [each for each in verify(root) if each.problem == "unfinished"]
    assert finding.remedy == f"invoke run --resume {examples.PLAN_ID}"


def test_what_an_interrupted_write_left_is_unfinished(root: Path) -> None:
    (root / ".staging/abc").mkdir(parents=True)
    (root / ".staging/abc/trial.json").write_bytes(b"{")
    assert named(verify(root), "unfinished") == {".staging/abc/trial.json"}


def test_a_finding_is_one_line_with_what_to_do(root: Path) -> None:
    (root / PLAN).unlink()
    lines = [finding.line() for finding in verify(root)]
    assert f"missing: {PLAN}: the ledger lists it; restore it from git" in lines
    assert all("\n" not in line for line in lines)
