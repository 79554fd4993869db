"""The commands as a user types them: output, exit codes, and no traceback for a user's mistake."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from runner.engine.flags import RUN_HELP
from runner.engine.settings import RunSettings
from runner.store import ResultsStore
from tests import examples

PROJECT = Path(__file__).parent.parent
BOTH = ("run", "preflight")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the shipped datasets and a small store."""
    shutil.copy(PROJECT / "tasks.py", tmp_path)
    shutil.copytree(PROJECT / "datasets", tmp_path / "datasets")
    store = ResultsStore(tmp_path / "results")
    store.write_plan(examples.plan())
    store.write_trial(examples.trial(), artifacts={"implementation.md": examples.NOTE})
    return tmp_path


def invoke(project: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and output of ``invoke`` in ``project``."""
    done = subprocess.run(
        [sys.executable, "-m", "invoke", *arguments], cwd=project, capture_output=True, text=True, timeout=600
    )
    return done.returncode, done.stdout + done.stderr


def test_every_command_is_listed_with_what_it_does(project: Path) -> None:
    code, output = invoke(project, "--list")
    assert code == 0
    for name in (
        "run",
        "status",
        "stop",
        "check",
        "integrity",
        "verify",
        "publish",
        "serve",
        "replay",
        "datasets",
        "dataset-check",
        "import",
        "test",
    ):
        assert f"  {name} " in output, name


def test_model_servers_are_shown_with_the_recipes_to_start_one_from(project: Path) -> None:
    code, output = invoke(project, "model-server")
    assert code == 0
    assert "no model server of ours is up" in output
    assert "recipe glm-5.2: zai-org/GLM-5.2-FP8, 300000 tokens, for p5en.48xlarge" in output
    code, output = invoke(project, "model-server", "--start", "glm-5.1")
    assert code == 1
    assert "did you mean" in output
    assert invoke(project, "model-server", "--stop")[1] == "nothing of ours was up\n"
    code, output = invoke(project, "model-server", "--backend-model", "m")
    assert code != 0
    assert "--backend-model says what is behind a proxy" in output
    code, output = invoke(project, "model-server", "--proxy", "m", "--endpoint", "http://127.0.0.1:9/v1")
    assert code != 0
    assert "is not set or empty" in output or "the LiteLLM proxy is not installed" in output


def test_a_plan_is_shown_without_running_it(project: Path) -> None:
    code, output = invoke(project, "run", "--dry-run", "--count", "1", "--trials", "3")
    assert code == 0
    assert "6 trials" in output
    assert "Dry run" in output


def test_the_pre_flight_takes_the_flags_of_a_run_and_exits_by_what_it_found(project: Path) -> None:
    code, output = invoke(project, "preflight", "--count", "1", "--model", "replay-careful", "--stream")
    assert (code, "checks passed" in output) == (0, True)
    code, output = invoke(project, "preflight", "--model", "nope")
    assert code == 1
    assert "no cassette plays the model 'nope'" in output
    assert "Traceback" not in output
    flags = [re.findall(r"^  (--[a-z-]+)", invoke(project, "--help", task)[1], re.MULTILINE) for task in BOTH]
    assert flags[0] == flags[1]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["run", "--dataset", "no-such"], "no-such"),
        (["run", "--max-turns", "many"], "max_turns"),
        (["run", "--resume", "run-of-yesterday"], "there is no plan run-of-yesterday"),
        (["run", "--config", "missing.yaml"], "cannot be read"),
        (["run", "--notify", "no-such-program-here"], "no program no-such-program-here"),
        (["run", "--judge-mode", "inline"], "needs a judge"),
        (["status", "--plan", "run-of-yesterday"], "there is no plan run-of-yesterday"),
        (["stop"], "nobody is at work on a plan"),
        (["run", "--no-such-flag"], "there is no flag --no-such-flag"),
        (["dataset-check", "no-such"], "no-such"),
        (["import", "no-such", "--path", "."], "no importer named 'no-such'"),
        (["replay", "--cassettes", "nowhere"], "nowhere"),
        (["serve", "--credit-plan", "prox"], "did you mean pro?"),
        (["publish", "--credit-plan", "pro", "--usd-per-credit", "0.02"], "a credit cannot have two prices"),
        (["prices", "--credit-plans", "--model", "m"], "plans have days and a provider only"),
        (["harness-install", ","], "no harness is named"),
        (["verify", "--root", "nowhere"], "there is no store at this path"),
    ],
)
def test_a_mistake_is_explained_without_a_traceback_and_exits_1(
    project: Path, arguments: Sequence[str], complaint: str
) -> None:
    code, output = invoke(project, *arguments)
    assert code == 1, output
    assert complaint in output
    assert "Traceback" not in output


def test_verify_is_quiet_about_a_whole_store_and_loud_about_a_broken_one(project: Path) -> None:
    assert invoke(project, "verify") == (0, "1 store checked, 0 findings\n")
    [record] = project.glob("results/swe/**/trial.json")
    data = bytearray(record.read_bytes())
    data[-10] ^= 1
    record.write_bytes(bytes(data))
    (project / "results/plans/stray.json").write_bytes(b"{}")
    code, output = invoke(project, "verify")
    assert code == 3
    assert "results: altered: swe/model-a_endpoint/loop/fix/hello-world/fix-typo/1/trial.json" in output
    assert "results: extra: plans/stray.json" in output


def test_verify_finds_a_key_of_this_machine_and_passes_over_what_is_no_secret(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "not-of-any-known-shape-0123"
    token = "sk-proj-" + "A1b2C3d4" * 6
    [note] = (project / "results").rglob("implementation.md")
    note.write_text(f"{key} {token}\n", encoding="utf-8")
    _, output = invoke(project, "verify")
    assert output.count(": secret:") == 1
    monkeypatch.setenv("MY_MODEL_API_KEY", key)
    _, output = invoke(project, "verify")
    assert "MY_MODEL_API_KEY" in output
    assert key not in output
    allowed = project / "datasets" / "not-secret.txt"
    digest = hashlib.sha256(token.encode()).hexdigest()
    with allowed.open("a", encoding="utf-8") as lines:
        lines.write(f"{digest} a token made for this test\n")
    monkeypatch.delenv("MY_MODEL_API_KEY")
    _, output = invoke(project, "verify")
    assert ": secret:" not in output


def test_a_fault_of_ours_is_shown_in_full_and_exits_4(project: Path) -> None:
    tasks = project / "tasks.py"
    text = tasks.read_text(encoding="utf-8")
    broken = text.replace("verify_command(_places()", "verify_command(1 / 0")
    assert broken != text
    tasks.write_text(broken, encoding="utf-8")
    code, output = invoke(project, "verify")
    assert code == 4
    assert "ZeroDivisionError" in output


def test_datasets_are_listed_and_one_is_shown_in_full(project: Path) -> None:
    code, output = invoke(project, "datasets")
    assert code == 0
    assert len(output.splitlines()) == len(list((project / "datasets").glob("*.yaml")))
    code, output = invoke(project, "datasets", "--name", "hello-world")
    assert code == 0
    assert "3 checks" in output


def test_a_broken_dataset_is_reported_and_the_others_are_listed_all_the_same(project: Path) -> None:
    (project / "datasets" / "broken.yaml").write_text("name: broken\nnmae: twice\n", encoding="utf-8")
    code, output = invoke(project, "datasets")
    assert code == 1
    assert "hello-world 1 (public)" in output
    assert "broken.yaml" in output


def test_every_shipped_task_with_checks_is_proven(project: Path) -> None:
    code, output = invoke(project, "dataset-check", "hello-world")
    assert code == 0, output
    assert output.count("the reference solution passes, an empty patch fails") >= 4


def test_importing_twice_changes_nothing(project: Path) -> None:
    source = PROJECT / "tests" / "data" / "published" / "kiro-cli"
    assert invoke(project, "import", "published", "--path", str(source))[0] == 0
    before = {path: path.read_bytes() for path in project.rglob("results/**/*") if path.is_file()}
    code, output = invoke(project, "import", "published", "--path", str(source))
    assert code == 0
    assert "5 unchanged" in output
    assert {path: path.read_bytes() for path in project.rglob("results/**/*") if path.is_file()} == before


@pytest.mark.parametrize("names", ["loop,loop", "loop loop", "loop, loop"])
def test_harnesses_to_install_are_named_with_commas_or_spaces(project: Path, names: str) -> None:
    code, output = invoke(project, "harness-install", names)
    assert (code, output.strip()) == (0, "loop: comes with Harnessmark")


def test_harnesses_are_listed_with_what_is_missing_and_how_to_get_it(project: Path) -> None:
    code, output = invoke(project, "harness-list")
    assert code == 0
    assert "loop (Loop (built in))" in output
    assert "invoke harness-install codex" in output
    assert "not anthropic: codex speaks responses" in output


def test_every_setting_of_a_run_has_a_flag_with_its_help(project: Path) -> None:
    code, output = invoke(project, "--help", "run")
    assert code == 0
    flags = {"--" + name.replace("_", "-") for name in RunSettings.model_fields}
    assert sorted(flag for flag in flags if flag not in output) == []
    assert {name.replace("-", "_") for name in RUN_HELP} >= set(RunSettings.model_fields)


def test_a_measurement_that_is_not_known_names_those_that_are(project: Path) -> None:
    code, output = invoke(project, "measure", "weather")
    assert code == 1
    assert "known: bench, client, engine, fuzz, isolation, kills, serving, statistics, structure" in output


def test_a_judge_is_tried_out_in_one_command(project: Path) -> None:
    code, output = invoke(project, "judge-proof", "--judge", "replay", "--suite", "order", "--dry-run")
    assert code == 0, output
    assert "36 scorings to make by implementation-1; 0 are stored" in output
    more = ("--model", "replay-sober", "--suite", "order,anchors", "--count", "2")
    code, output = invoke(project, "judge-proof", "--judge", "replay", *more)
    assert code == 0, output
    assert "anchors: 2 of 2 pairs in the right order, 0 ties" in output
    assert len(list((project / "results" / "demonstration" / "judges").rglob("*.json"))) == 8
    code, output = invoke(project, "judge-proof", "--judge", "replay", "--suite", "orders")
    assert code == 1
    assert "there is no suite 'orders'" in output
    assert "Traceback" not in output


def test_stored_trials_are_graded_and_scanned_again_by_their_commands(project: Path) -> None:
    code, output = invoke(project, "check", "--only-missing", "--cell", "nothing-like-it")
    assert (code, output.splitlines()[0]) == (1, "no stored trial fits 'nothing-like-it'")
    code, output = invoke(project, "integrity", "--dry-run")
    assert code == 0
    assert "left out: 1 trial: no dataset here has task fix-typo" in output
    code, output = invoke(project, "check", "--path", "datasets")
    assert (code, "no store of results" in output, "Traceback" in output) == (1, True, False)
