"""Bench: a judge with its model made reachable, its isolation, and the places it works in."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from runner.datasets import remove
from runner.engine.isolation import Gateway, Isolation, IsolationLevel, choose
from runner.engine.judging.settings import JudgeSettings
from runner.engine.masking import Mask
from runner.engine.places import Places
from runner.engine.pricing import Listed, listed
from runner.engine.supervision import Finished, supervise
from runner.errors import ConfigurationError
from runner.harnesses.base import Launch
from runner.harnesses.endpoint import Endpoint, TokenPrices, WireProtocol
from runner.judges.base import AGENTIC, Judge, Question, Reply
from runner.judges.brief import Brief
from runner.judges.registry import judge
from runner.providers.base import ModelSession, Provider, ProviderSettings
from runner.providers.registry import provider
from runner.secrets import Scanner


@dataclass(frozen=True)
class Bench:
    """Everything that judgements by one judge share."""

    settings: JudgeSettings
    judge: Judge
    version: str
    provider: Provider
    session: ModelSession
    protocol: WireProtocol
    places: Places
    isolation: Isolation
    scanner: Scanner
    stop: threading.Event
    listed: Listed | None = None
    """Where the price book is asked; None where nobody bills for tokens."""

    @property
    def demonstration(self) -> bool:
        """Whether the answers are scripted."""
        return self.judge.demonstration or self.provider.demonstration

    @property
    def reads_repository(self) -> bool:
        """Whether the judge gets a checkout."""
        return self.judge.method == AGENTIC

    def endpoint(self, run: str, scenario: str) -> Endpoint:
        """Where the judge's model answers, with the real key."""
        return self.session.endpoint(self.protocol, run=run, scenario=scenario)

    def mask(self, endpoint: Endpoint, folder: Path) -> Mask:
        """What must not appear in a record."""
        return Mask(endpoint.api_key, str(folder), str(self.places.root), self.scanner)

    def question(
        self, brief: Brief, prompt: str, endpoint: Endpoint, scratch: Path, workspace: Path | None
    ) -> Question:
        """A question whose private folder lies below ``scratch``."""
        return Question(
            prompt=prompt,
            schema=brief.schema,
            endpoint=endpoint,
            home=scratch / "home",
            workspace=workspace,
            effort=self.settings.effort,
            limits=self.settings.limits(),
            installed=self.places.harnesses,
            confined=self.isolation.level is not IsolationLevel.NONE,
        )

    def ask(
        self, brief: Brief, prompt: str, endpoint: Endpoint, scratch: Path, workspace: Path | None
    ) -> Reply:
        """Put ``prompt`` to the judge; one with a program of its own reaches the model through a gateway."""
        remove(scratch / "home")
        (scratch / "home").mkdir(parents=True)
        if not self.reads_repository:
            question = self.question(brief, prompt, endpoint, scratch, workspace)
            return self.judge.ask(question, lambda *_: "this judge has no program to start")
        with self.isolation.gateway(endpoint) as gateway:
            question = self.question(brief, prompt, gateway.endpoint, scratch, workspace)
            reply = self.judge.ask(
                question, lambda launch, stdout: self._start(launch, stdout, question, gateway)
            )
            return replace(reply, requests_seen=gateway.count().model_requests)

    def _start(self, launch: Launch, stdout: Path, question: Question, gateway: Gateway) -> str | None:
        scratch = question.home.parent
        for name in ("desk", "out"):
            (scratch / name).mkdir(exist_ok=True)
        seen = (question.workspace,) if question.workspace else ()
        inside = self.isolation.wrap(
            replace(launch, readable=(*launch.readable, *seen)),
            workspace=scratch / "desk",
            artifacts=scratch / "out",
            home=question.home,
            gateway=gateway,
        )
        finished = supervise(
            inside,
            stdout=stdout,
            timeout_seconds=self.settings.timeout_seconds,
            cancelled=self.stop,
            activity=gateway.activity,
        )
        return _why_stopped(finished, self.settings.timeout_seconds)


def _why_stopped(finished: Finished, seconds: float) -> str | None:
    if finished.timed_out:
        return f"no answer within {seconds:g} seconds"
    if finished.cancelled:
        return "stopped by the user"
    if finished.limit is not None:
        return f"stopped at the limit on {finished.limit}"
    return finished.failure


@contextmanager
def open_bench(
    settings: JudgeSettings,
    places: Places,
    environment: Mapping[str, str],
    *,
    stop: threading.Event | None = None,
    isolation: Isolation | None = None,
    found: Judge | None = None,
) -> Iterator[Bench]:
    """Make a judge ready: its program, its model, its isolation.

    Args:
        settings: completed ones, of ``read_judge_settings``.
        isolation: as the run has it; None chooses as the settings say.
        found: the judge to use in place of the one that the settings name.

    Raises:
        ConfigurationError: its program, its model, a credential or the isolation is not to be had.
        UsageError: an unknown name.
    """
    made, host = found or judge(settings.judge), provider(settings.provider)
    version = made.version(places.harnesses)
    protocol = _protocol(made, host, settings)
    prices = settings.prices()
    told = ProviderSettings(
        base_url=settings.endpoint,
        api_key_env=settings.api_key_env,
        context_window=settings.context_window or None,
        cassettes=str(places.cassettes),
        protocols=settings.protocol,
        prices=TokenPrices(prices.input, prices.output, prices.cache_read) if prices else None,
    )
    private = (places.results, places.datasets, places.repositories, places.streams)
    free = made.demonstration or host.demonstration
    names = [settings.api_key_env, getattr(host, "key_variable", None)]
    with host.session(settings.model, told, environment) as session:
        yield Bench(
            settings=settings,
            judge=made,
            version=version,
            provider=host,
            session=session,
            protocol=protocol,
            places=places,
            isolation=isolation or choose(settings.isolation, private=private),
            scanner=places.scanner(environment, [name for name in names if name]),
            stop=stop or threading.Event(),
            listed=listed(places.prices, host.name, settings.model, host.hosting, free=free),
        )


def _protocol(made: Judge, host: Provider, settings: JudgeSettings) -> WireProtocol:
    offered = [each for each in host.protocols if not settings.protocol or each in settings.protocol]
    for protocol in made.protocols:
        if protocol in offered:
            return protocol
    raise ConfigurationError(
        f"judge {made.name} speaks {', '.join(made.protocols)}; {host.name} offers "
        f"{', '.join(offered) or 'none of ' + ', '.join(settings.protocol)}",
        remedy="choose another provider or another judge",
    )
