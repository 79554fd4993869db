"""The commands of Harnessmark: each parses its flags, calls one function, and maps errors to exit codes.

Exit codes: 0 done, 1 wrong usage or configuration, 2 done but below a threshold, 3 partial, 4 own fault.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from invoke import Collection, Context, task

from runner.commands import endpoints, harness, metrics, money, serving
from runner.commands.slips import explain_slips
from runner.commands.task import ROOT as ROOT_KEY
from runner.commands.task import command, console, require_test_packages, say
from runner.engine.check_flags import CHECK_HELP, INTEGRITY_HELP, check_form, integrity_form, stored_call
from runner.engine.flags import RUN_HELP, read_number, takes_flags_of
from runner.engine.judge_flags import JUDGE_HELP, judge_call, judge_form
from runner.engine.price_flags import asked_prices
from runner.engine.proof_flags import PROOF_HELP, proof_call, proof_form
from runner.engine.replay_form import REPLAY_HELP, replay_form
from runner.engine.run_form import preflight_call, run_call, run_form
from runner.engine.server_flags import SERVER_HELP, server_form
from runner.engine.site_flags import PUBLISH_HELP, SERVE_HELP, publish_form, serve_form
from runner.errors import UsageError

ROOT = Path(__file__).resolve().parent


def _places() -> Any:
    from runner.engine.places import Places

    return Places(ROOT)


@task(auto_shortflags=False, optional=["resume"], help=RUN_HELP)
@command
@takes_flags_of(run_form)
def run(given: dict[str, Any]) -> int:
    """Run coding agents on tasks; without flags, the offline demonstration."""
    from runner.engine.command import run_command

    return run_command(_places(), console(), environment=os.environ, **run_call(given))


@task(auto_shortflags=False, optional=["resume"], help=RUN_HELP)
@command
@takes_flags_of(run_form)
def preflight(given: dict[str, Any]) -> int:
    """Check what invoke run with the same flags needs, and how to put right what is missing."""
    from runner.engine.preflight.command import preflight_command

    return preflight_command(_places(), console(), environment=os.environ, **preflight_call(given))


@task(
    positional=[],
    help={
        "plan": "id of a plan, a benchmark or a sweep (default: the newest)",
        "follow": "go on showing it until nobody is at work on it",
        "json": "one JSON object instead of words",
    },
)
@command
def status(_context: Context, plan: str | None = None, follow: bool = False, json: bool = False) -> int:
    """Show where a run, a benchmark or a sweep stands: done, left, spent, and whether its runner lives."""
    from runner.engine.status_command import status_command

    return status_command(_places(), console(), plan_id=plan, follow=follow, as_json=json)


@task(
    positional=[],
    help={
        "plan": "id of a plan, a benchmark or a sweep (default: the only one that somebody is at work on)",
        "now": "stop the trials in flight too; they will run again on resume",
    },
)
@command
def stop(_context: Context, plan: str | None = None, now: bool = False) -> int:
    """Ask the runner of a plan, a benchmark or a sweep to start nothing more."""
    from runner.engine.stopping import stop_command

    return stop_command(_places(), say, plan_id=plan, now=now)


@task(auto_shortflags=False, positional=[], help=JUDGE_HELP)
@command
@takes_flags_of(judge_form)
def judge(given: dict[str, Any]) -> int:
    """Have stored trials scored by a judge; what is stored already is never made again."""
    from runner.engine.judging.command import judge_command

    return judge_command(_places(), console(), environment=os.environ, **judge_call(given))


@task(name="judge-proof", auto_shortflags=False, positional=[], help=PROOF_HELP)
@command
@takes_flags_of(proof_form)
def judge_proof(given: dict[str, Any]) -> int:
    """Try a judge out on submissions that attack, mislead or pad; its card shows what came of it."""
    from runner.engine.proving.command import proof_command

    return proof_command(_places(), console(), environment=os.environ, **proof_call(given))


@task(auto_shortflags=False, positional=[], help=CHECK_HELP)
@command
@takes_flags_of(check_form)
def check(given: dict[str, Any]) -> int:
    """Run the checks of stored trials again, without running an agent; records get the next number."""
    from runner.engine.checking_command import check_command

    return check_command(_places(), say, environment=os.environ, **stored_call(given))


@task(auto_shortflags=False, positional=[], help=INTEGRITY_HELP)
@command
@takes_flags_of(integrity_form)
def integrity(given: dict[str, Any]) -> int:
    """Scan stored trials for forbidden help; one that had it becomes void, with the reason."""
    from runner.engine.integrity_command import integrity_command

    return integrity_command(_places(), say, environment=os.environ, **stored_call(given))


@task(help={"root": "folder of a store (default: every store below results/)"})
@command
def verify(_context: Context, root: str | None = None) -> int:
    """Recompute every digest of the results store and name what is wrong."""
    from runner.engine.verifying import verify_command

    return verify_command(_places(), os.environ, Path(root) if root else None, say)


@task
@command
def reference(_context: Context) -> None:
    """Write what the code says of itself into site_src/reference/, for the pages that describe it."""
    from runner.engine.reference import write_reference

    changed = write_reference(_places().reference)
    say(f"written: {', '.join(changed)}" if changed else "nothing has changed")


def _measure_bench() -> int:
    from runner.engine.bench.truth import truth_command

    return truth_command(_places(), say)


def _measurements(
    table: str, source: str, streams: str, event_loop: str, peers: str, minutes: str
) -> dict[str, Callable[[], int]]:
    from generators.statistics.simulation.measurement import statistics_command
    from generators.structure_renewal import renew_structure
    from runner.endpoint.client_measurement import client_command
    from runner.engine.isolation.overhead import isolation_command
    from runner.engine.killing import kills_command
    from runner.engine.measurement import engine_command
    from runner.engine.sweeps.proof import serving_command

    def fuzz() -> int:
        """Import the measurement only when it is asked for, and make it."""
        # Tests do not come with an installed project; the other measurements do without them.
        require_test_packages("invoke measure fuzz")
        from tests.endpoint.fuzzing import fuzz_command

        return fuzz_command(say, read_number(minutes, "minutes"))

    return {
        "bench": _measure_bench,
        "client": lambda: client_command(say, streams=streams, event_loop=event_loop, peers=peers),
        "engine": lambda: engine_command(_places().datasets, say),
        "fuzz": fuzz,
        "isolation": lambda: isolation_command(say),
        "kills": lambda: kills_command(_places().datasets, say),
        "serving": lambda: serving_command(_places().datasets, say),
        "statistics": lambda: statistics_command(ROOT, say, table=table, source=source),
        "structure": lambda: renew_structure(ROOT, say, table=table, source=source),
    }


@task(
    positional=["what"],
    help={
        "what": "client: error of the client that times endpoints; fuzz: its parser on broken answers; "
        "bench: whether injected faults and times come out of all profiles; "
        "engine: time beside the agents; isolation: what the sandbox adds to a start and to each request; "
        "kills: what a runner that is killed a hundred times loses; "
        "serving: sweep of a server of known speed; statistics: whether intervals and verdicts keep what "
        "they promise; structure: what made-up populations are drawn from",
        "table": "statistics, structure: folder with a copy of a public table of results to use as well",
        "source": "repository, commit and licence of that table",
        "streams": "client: numbers of streams, as in 1,100,512",
        "event-loop": "client: asyncio, or uvloop where it is installed",
        "peers": "client: folder with environments guidellm and aiperf to compare with",
        "minutes": "fuzz: for how long",
    },
)
@command
def measure(
    _context: Context,
    what: str,
    table: str = "",
    source: str = "",
    streams: str = "",
    event_loop: str = "asyncio",
    peers: str = "",
    minutes: str = "1",
) -> int:
    """Measure the project itself; 2 where it falls short of what it promises."""
    known = _measurements(table, source, streams, event_loop, peers, minutes)
    if what not in known:
        raise UsageError(f"nothing measures {what!r}", remedy=f"known: {', '.join(known)}")
    return known[what]()


@task(name="model-server", auto_shortflags=False, positional=[], help=SERVER_HELP)
@command
@takes_flags_of(server_form)
def model_server(given: dict[str, Any]) -> int:
    """Show the model servers and proxies of this project and how they are, start one, or stop them."""
    from runner.engine.server_command import server_command

    return server_command(_places(), say, environment=os.environ, given=given)


@task(help=REPLAY_HELP)
@command
@takes_flags_of(replay_form)
def replay(given: dict[str, Any]) -> int:
    """Serve the recorded model turns until Ctrl-C."""
    from runner.engine.replay_form import serve_as_given

    serve_as_given(given, _places().cassettes, say)
    return 0


@task(
    positional=[],
    help={"name": "dataset to show in full (default: all, one line each)"},
)
@command
def datasets(_context: Context, name: str | None = None) -> int:
    """Validate and list the datasets."""
    from runner.datasets import find_dataset
    from runner.datasets.listing import list_dataset, list_datasets

    folder = _places().datasets
    listings = [list_dataset(find_dataset(name, folder))] if name else list_datasets(folder)
    for listing in listings:
        for line in listing.lines(in_full=name is not None):
            say(line)
    return 0 if all(listing.ok for listing in listings) else 1


@task(name="dataset-check", positional=["name"], help={"name": "dataset, by name or path"})
@command
def dataset_check(_context: Context, name: str) -> int:
    """Prove for each task with checks that its reference solution passes and an empty patch fails."""
    from runner.datasets import find_dataset
    from runner.datasets.proof import check_dataset

    places = _places()
    proofs = check_dataset(
        find_dataset(name, places.datasets),
        cache=places.repositories,
        on_task=lambda proof: say(proof.line()),
    )
    return 0 if all(proof.ok for proof in proofs) else 3


@task(
    name="import",
    positional=["source"],
    iterable=["path"],
    help={
        "source": "whose results: published, or package.module:function",
        "path": "folder or file; may be repeated",
    },
)
@command
def import_results(_context: Context, source: str, path: list[str]) -> int:
    """Turn other people's results into records; importing again changes nothing."""
    from runner.importers.registry import importer
    from runner.store import ResultsStore

    report = importer(source)([Path(each) for each in path], ResultsStore(_places().results))
    for file in report.files:
        say(file.line())
    say(report.summary())
    return 3 if report.failed else 0


@task(help=PUBLISH_HELP)
@command
@takes_flags_of(publish_form)
def publish(given: dict[str, Any]) -> int:
    """Build the site into site/, check it, and with --to push it to a branch."""
    from generators.publish.command import Target, publish_command

    choice = asked_prices(given, _places().datasets)
    keep = not given["no_history"]
    target = Target(given["url"], given["to"], given["remote"], given["prefix"], keep_history=keep)
    publish_command(ROOT, say, target, choice)
    return 0


@task(
    positional=["archive"],
    help={"archive": "file of invoke metrics archive", "output": "page to write (default: beside it)"},
)
@command
def telemetry(_context: Context, archive: str, output: str | None = None) -> int:
    """Show what a model server counted of itself: one page in one file, from a collector's archive."""
    from generators.telemetry.command import telemetry_command

    return telemetry_command(Path(archive), Path(output) if output else None, say)


@task(help=SERVE_HELP)
@command
@takes_flags_of(serve_form)
def serve(given: dict[str, Any]) -> int:
    """Build the site, serve it on this machine, and rebuild when results or sources change."""
    from generators.publish.command import serve_command

    choice = asked_prices(given, _places().datasets)
    serve_command(ROOT, say, choice, port=given["port"], subpath=given["subpath"])
    return 0


@task(
    name="test",
    help={
        "only": "folder or file of tests, with commas; without lint and types",
        "harnesses": "prove these harnesses, with commas, or all: their contract, then their counts",
    },
)
@command
def run_tests(_context: Context, only: str = "", harnesses: str = "") -> int:
    """Lint, types, import rules and every test, with a real browser."""
    require_test_packages("invoke test")
    if harnesses:
        from tests.agents import prove

        return prove(harnesses, _places(), say)
    from tests.gate import run_gate

    return run_gate(_places(), say, only.split(",") if only else [])


namespace = Collection(
    run,
    judge,
    check,
    integrity,
    judge_proof,
    preflight,
    status,
    stop,
    verify,
    harness.harness_install,
    harness.harness_list,
    harness.accounting,
    reference,
    measure,
    model_server,
    replay,
    datasets,
    dataset_check,
    import_results,
    publish,
    serve,
    run_tests,
    metrics.metrics,
    telemetry,
    money.cost,
    money.prices,
    money.prices_import,
    money.prices_fetch,
    serving.sweep,
    endpoints.bench,
    endpoints.bench_report,
)
namespace.configure({ROOT_KEY: str(ROOT)})
explain_slips()
