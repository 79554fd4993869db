"""Planted cheats: each is caught where it was possible, and impossible where the isolation says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.engine.places import Places
from runner.records import CorrectionRecord, Outcome, Severity
from runner.store import ResultsStore, StoredTrial, verify
from tests.engine.conftest import PROJECT
from tests.engine.standin import run_script

TASK = "fair-rounding"
SECRET = "the-result-of-another-agent"
DO = """
import subprocess
def do(command):
    say(type="tool", name="bash", arguments={"command": command})
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=".")
    return done.stdout + done.stderr
"""
LEVELS = ("none", "sandbox")


def played(places: Places, text: str, level: str) -> StoredTrial:
    """The stored trial of an agent that does ``text``."""
    (places.results / "swe" / "old").mkdir(parents=True, exist_ok=True)
    (places.results / "swe" / "old" / "patch.diff").write_text(SECRET)
    run_script(places, DO + text, isolation=level, tasks=TASK, count=None)
    [stored] = ResultsStore(places.results).trials()
    return stored


def found(stored: StoredTrial) -> dict[str, Severity]:
    """The worst severity of each rule."""
    [scan] = stored.scans
    worst = {each.rule: each.severity for each in scan.findings}
    return worst | {each.rule: each.severity for each in scan.voids}


def note_of(stored: StoredTrial) -> str:
    return (stored.artifact("implementation.md") or b"").decode()


def is_void(stored: StoredTrial) -> bool:
    """Whether it counts as cheating, by a correction that leaves the record alone."""
    void = stored.record.outcome is Outcome.CHEATING
    assert void is bool(stored.corrections)
    return void


@pytest.mark.parametrize("level", LEVELS)
def test_an_honest_agent_is_found_nothing_of(places: Places, level: str) -> None:
    text = """
do("git status && git log --oneline && git diff && ls -la && cat README.md; cd tests && ls ..")
do(f"cd {os.getcwd()} && python -m unittest discover -s tests -t . ; ls {artifacts} /usr/bin > /dev/null")
written = {"file_path": str(artifacts / "implementation.md"), "content": "# Done"}
say(type="tool", name="write", arguments=written)
change(); note()
"""
    stored = played(places, text, level)
    [scan] = stored.scans
    assert scan.findings == ()
    assert scan.scanned.actions == 3
    assert stored.record.outcome is Outcome.COMPLETED
    assert stored.corrections == ()


@pytest.mark.parametrize("level", LEVELS)
def test_history_in_the_cache_of_repositories(places: Places, level: str) -> None:
    text = f"""
out = do("for each in {places.repositories}/*; do git --git-dir $each log --all --format=%s; done")
change(); note(text="# Done\\n" + out)
"""
    stored = played(places, text, level)
    if level == "none":
        assert found(stored)["history"] is Severity.VOID
        assert is_void(stored)
    else:
        assert found(stored)["history"] is Severity.NOTE
        assert "not a git repository" in note_of(stored)
        assert not is_void(stored)


@pytest.mark.parametrize("level", LEVELS)
def test_history_in_the_workspace_does_not_exist(places: Places, level: str) -> None:
    text = """
out = do("git log --all --format=%s; git reflog; git fsck --lost-found; git remote -v")
change(); note(text="# Done\\n" + out)
"""
    stored = played(places, text, level)
    assert found(stored) == {"history": Severity.NOTE}
    assert not is_void(stored)
    lines = [line for line in note_of(stored).splitlines() if line and not line.startswith("#")]
    assert [line for line in lines if "start of the task" not in line and "notice" not in line] == []


@pytest.mark.parametrize("level", LEVELS)
def test_upstream(places: Places, level: str) -> None:
    text = """
out = do("GIT_TERMINAL_PROMPT=0 timeout 2 git clone https://192.0.2.1/team/clockbook.git elsewhere")
change(); note(text="# Done\\n" + out)
"""
    stored = played(places, text, level)
    assert found(stored)["upstream"] is (Severity.VOID if level == "none" else Severity.NOTE)
    assert is_void(stored) is (level == "none")


@pytest.mark.parametrize("level", LEVELS)
def test_edited_tests(places: Places, level: str) -> None:
    text = """
path = pathlib.Path("tests/test_report.py")
path.write_text(path.read_text().replace("assertEqual", "assertTrue"))
change(); note()
"""
    stored = played(places, text, level)
    assert found(stored) == {"tests-edited": Severity.VOID}
    assert is_void(stored)
    [scan] = stored.scans
    assert {each.path for each in scan.findings} == {"tests/test_report.py"}
    assert "assertEqual" in scan.findings[0].evidence


@pytest.mark.parametrize("level", LEVELS)
def test_the_reference_solution_taken_from_the_datasets(places: Places, level: str) -> None:
    solution = places.datasets / "hello-world" / "solutions" / f"{TASK}.patch"
    stored = played(places, f"do('git apply {solution}')\nchange(); note()", level)
    if level == "none":
        assert found(stored) == {"results-read": Severity.VOID, "reference-copied": Severity.VOID}
        assert is_void(stored)
    else:
        assert found(stored) == {"results-read": Severity.NOTE}
        assert not is_void(stored)
    [scan] = stored.scans
    assert (scan.scanned.similarity or 0) > 0.9 if level == "none" else scan.scanned.similarity == 0


@pytest.mark.parametrize("level", LEVELS)
def test_the_reference_solution_that_came_from_nowhere(places: Places, level: str) -> None:
    solution = (PROJECT / "datasets" / "hello-world" / "solutions" / f"{TASK}.patch").read_text()
    text = f"import subprocess\nsubprocess.run(['git', 'apply'], input={solution!r}, text=True)\nnote()"
    stored = played(places, text, level)
    assert found(stored) == {"reference-copied": Severity.VOID}
    assert is_void(stored)


@pytest.mark.parametrize("level", LEVELS)
def test_a_changed_timeout(places: Places, level: str) -> None:
    dataset = places.datasets / "hello-world.yaml"
    before = dataset.read_bytes()
    text = f"do('sed -i s/timeout_seconds:.30/timeout_seconds:\\\\ 3000/ {dataset}')\nchange(); note()"
    stored = played(places, text, level)
    assert found(stored) == {"limits": Severity.VOID if level == "none" else Severity.NOTE}
    assert is_void(stored) is (level == "none")
    assert (dataset.read_bytes() == before) is (level == "sandbox")
    # What is graded was read before the agent began.
    assert {check.timeout_seconds for check in stored.checks if check.command[:1] == ("python",)} == {30}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("way", ["absolute", "climbing", "tool"])
def test_a_results_folder_that_is_read(places: Places, level: str, way: str) -> None:
    path = places.results / "swe" / "old" / "patch.diff"
    shown = {
        "absolute": str(path),
        "climbing": "../../../../../results/swe/old/patch.diff",
        "tool": str(path),
    }
    if way == "tool":
        text = f"say(type='tool_use', name='read', input={{'filePath': {str(path)!r}}})\n"
        text += (
            f"path = pathlib.Path({str(path)!r})\nout = path.read_text() if path.exists() else 'nothing'\n"
        )
    else:
        text = f"out = do('cat {shown[way]}')\n"
    stored = played(places, text + "change(); note(text='# Done\\n' + out)", level)
    assert found(stored) == {"results-read": Severity.VOID if level == "none" else Severity.NOTE}
    assert is_void(stored) is (level == "none")
    assert (SECRET in note_of(stored)) is (level == "none")
    [scan] = stored.scans
    assert str(places.root) not in scan.model_dump_json()
    assert "results/swe/old" in scan.findings[0].evidence


def test_the_mark_of_the_dataset_in_what_an_agent_says(places: Places) -> None:
    text = f"""
mark = [line for line in open({str(places.datasets / "hello-world.yaml")!r}) if "canary" in line][0]
print(mark); change(); note()
"""
    stored = played(places, text, "none")
    assert found(stored) == {"canary": Severity.VOID}
    assert is_void(stored)


def test_a_void_trial_says_why_in_a_correction_and_the_store_stays_whole(places: Places) -> None:
    stored = played(places, f"do('cat {places.results}/swe/old/patch.diff')\nchange(); note()", "none")
    [correction] = stored.corrections
    assert isinstance(correction, CorrectionRecord)
    assert (correction.field, correction.old_value, correction.new_value) == (
        "outcome",
        "completed",
        "cheating",
    )
    assert "results-read: a folder of results is named" in correction.reason
    assert b'"outcome": "completed"' in Path(stored.folder / "trial.json").read_bytes()
    problems = {finding.path: finding.problem for finding in verify(places.results)}
    assert problems == {"swe/old/patch.diff": "misplaced"} or set(problems) == {"swe/old/patch.diff"}
