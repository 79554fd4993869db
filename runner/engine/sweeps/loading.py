"""Loading: the load that an order asks for, made from what a run knows of agents and endpoints."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version

from runner.engine.attempt import clear
from runner.engine.command import chosen_isolation, show_isolation
from runner.engine.desks import Desks
from runner.engine.planning import Group, Versions, fingerprint
from runner.engine.resolution import require_repositories
from runner.engine.sessions import Sessions, common_protocol
from runner.engine.sweeps.agent_load import AgentLoad
from runner.engine.sweeps.order import SweepOrder
from runner.engine.sweeps.site import SweepSite
from runner.engine.watching import Watching
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.records import PlannedTrial, PlanRecord, TrialIdentity, Workload
from runner.serving.sweeping import Load
from runner.serving.synthetic import SyntheticLoad, Target
from runner.serving.talks import ratio


def load_of(order: SweepOrder, group: Group, sessions: Sessions, site: SweepSite) -> Load:
    """The load of an order.

    Raises:
        ConfigurationError: what the agents need is not there.
        RepositoryError: a task's repository cannot be had.
        EndpointError: the model is not reached, or fails the test of its provider.
    """
    return _agents(order, group, sessions, site) if order.load == "agents" else _talks(order, group, sessions)


def endpoint_of(order: SweepOrder, group: Group, sessions: Sessions) -> Endpoint:
    """Where the model answers, in the protocol of the load."""
    cell, settings = group.cells()[0], group.settings
    protocol = WireProtocol.CHAT_COMPLETIONS
    if order.load == "agents":
        harness = group.parts.harnesses[cell.harness]
        protocol = common_protocol(harness, group.parts.provider, settings.protocol, cell.model.raw_id)
    scenario = f"{group.parts.dataset.scope}/{group.parts.tasks[0].id}"
    return sessions.of(cell).endpoint(protocol, run="sweep", scenario=scenario)


def _talks(order: SweepOrder, group: Group, sessions: Sessions) -> SyntheticLoad:
    endpoint = endpoint_of(order, group, sessions)
    ignore_eos = group.parts.provider.name == "vllm" if order.ignore_eos is None else order.ignore_eos
    target = Target(
        endpoint.base_url, endpoint.model, endpoint.key_now(), endpoint.context_window, ignore_eos=ignore_eos
    )
    words = (
        "Made-up talks over Chat Completions. Each turn repeats all before it; on average a talk sends "
        f"{ratio(order.shape):.0f} input tokens for each output token."
    )
    return SyntheticLoad(target, order.shape, group.settings.seed, words)


def _agents(order: SweepOrder, group: Group, sessions: Sessions, site: SweepSite) -> AgentLoad:
    settings, parts, cell = group.settings, group.parts, group.cells()[0]
    require_repositories([group], site.places, site.say)
    isolation = chosen_isolation([group], site.places)
    show_isolation(isolation, site.console)
    plan = _plan(group, site.sweep_id)
    _clear_killed(site)
    desks = Desks(
        plan=plan,
        groups=[group],
        sessions=sessions,
        places=site.places,
        isolation=isolation,
        scanner=site.scanner,
        concurrency=max(order.levels),
        hear=lambda *_: None,
        sign=lambda _: None,
        agent=lambda *_: None,
        may_start=lambda: not site.stop.is_set(),
        watching=Watching(site.places, site.sweep_id, site.say),
    )
    workload = Workload(
        kind="agent-sessions",
        description=f"Sessions of {cell.harness} at tasks of {parts.dataset.name}; nothing of it is judged.",
        seed=settings.seed,
        harness=cell.harness,
        harness_version=plan.trials[0].fingerprint.harness_version,
        skill=cell.skill,
        dataset=parts.dataset.name,
        dataset_digest=parts.dataset.digest(),
        tasks=len(parts.tasks),
        session_timeout_seconds=settings.timeout_seconds,
    )
    return AgentLoad(plan, desks, workload, site.folder / "streams", settings.seed)


def _clear_killed(site: SweepSite) -> None:
    """Remove the scratch folders of agents whose runner was killed: the next ones work at the same places."""
    for folder in site.places.scratch(site.sweep_id, 0).parent.glob("*"):
        clear(folder)


def _plan(group: Group, sweep_id: str) -> PlanRecord:
    """One trial for each task; it gives the agents their places of work and is never stored."""
    versions, cell = Versions(), group.cells()[0]
    identities = [TrialIdentity(cell=cell, task=task.id, trial=1) for task in group.parts.tasks]
    return PlanRecord(
        plan_id=sweep_id,
        purpose="run",
        demonstration=group.parts.provider.demonstration,
        created_at=datetime.now(UTC),
        harnessmark_version=version("harnessmark"),
        trials=tuple(
            PlannedTrial(identity=each, fingerprint=fingerprint(each, group.parts, versions))
            for each in identities
        ),
        cost_ceiling_reason="load for a throughput sweep",
    )
