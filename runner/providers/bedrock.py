"""Bedrock: models in the user's AWS account, reached with short-lived keys made from its credentials."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx

from runner.errors import ConfigurationError
from runner.harnesses.endpoint import Endpoint, TokenPrices, WireProtocol
from runner.providers.about import About
from runner.providers.address import api_key, checked_base_url
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.bedrock_account import Account, NotTold, SessionMaker, boto_session
from runner.providers.bedrock_checks import (
    bearer_check,
    hidden,
    lasting_check,
    model_checks,
    reach_check,
    require_invocable,
)
from runner.providers.bedrock_models import ROOTS, protocols_of
from runner.providers.bedrock_token import KeyMaker
from runner.providers.checks import CREDENTIALS, Check, CheckState
from runner.providers.counters import ServerCounters
from runner.records import Hosting

BEARER_VARIABLE = "AWS_BEARER_TOKEN_BEDROCK"
REGION = re.compile(r"[a-z]{2,3}(?:-[a-z]+)+-\d")

ABOUT = About(
    summary="Models on Amazon Bedrock, each over the API that suits its maker.",
    flags="--provider bedrock --aws-region REGION --model MODEL --context-window TOKENS",
    credentials="AWS credentials as boto3 finds them, or AWS_BEARER_TOKEN_BEDROCK",
    notes=(
        "Your credentials stay outside: agents get a dummy, and the gateway a key that is made from them "
        "and renewed.",
        "Models that are only invoked through an inference profile are named with the id that works.",
        "It tells no context window, so give it with the run.",
    ),
)


@dataclass(frozen=True)
class BedrockSession:
    """A model in one region. Every request that a gateway sends on carries a key that is valid then."""

    model: str
    address: str
    protocols: tuple[WireProtocol, ...]
    key: Callable[[], str] = field(repr=False)
    context_window: int | None
    prices: TokenPrices | None

    def endpoint(self, protocol: WireProtocol, *, run: str, scenario: str) -> Endpoint:  # noqa: ARG002
        """Where the model answers; the key in it is one of now, and renewed by whoever asks.

        Raises:
            ConfigurationError: the model cannot be asked over ``protocol``, or the credentials have run out.
        """
        if protocol not in self.protocols:
            raise ConfigurationError(
                f"Bedrock does not offer {protocol} for {self.model}",
                remedy=f"it offers {', '.join(self.protocols)}",
            )
        return Endpoint(
            base_url=self.address + ROOTS[protocol],
            protocol=protocol,
            model=self.model,
            api_key=self.key(),
            context_window=self.context_window,
            prices=self.prices,
            renewed_key=self.key,
        )

    def requests_seen(self, run: str) -> int | None:  # noqa: ARG002
        """None: the service does not count by trial."""
        return None

    def counters(self) -> ServerCounters | None:
        """None: the service has no page of counters."""
        return None


@dataclass(frozen=True)
class Bedrock:
    """The provider ``bedrock``.

    The user's credentials stay in this process. What the gateway holds is a key made from them that ends by
    itself; what an agent holds is a dummy.

    Args:
        make: makes the session of boto3; only tests give another one.
        transport: only for tests: what carries the question whether the service can be reached.
        now: the time of day.
    """

    name: str = "bedrock"
    hosting: Hosting = Hosting.CLOUD
    about: About = ABOUT
    protocols: tuple[WireProtocol, ...] = tuple(ROOTS)
    demonstration: bool = False
    key_variable: str = BEARER_VARIABLE
    make: SessionMaker = boto_session
    transport: httpx.BaseTransport | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def protocols_for(self, model: str) -> tuple[WireProtocol, ...]:
        """The APIs over which ``model`` can be asked, the best one first."""
        return protocols_of(model)

    def session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> AbstractContextManager[ModelSession]:
        """Make ``model`` reachable. Asks who the credentials belong to; no model is asked for anything.

        Raises:
            ConfigurationError: there is no region, credentials are missing, wrong or expired, or the model
                can only be asked through an inference profile.
        """
        return self._session(model, settings, environment)

    @contextmanager
    def _session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[ModelSession]:
        bearer = given_key(settings, environment)
        if bearer is not None:
            region = self._region(settings, environment, None)
            lasting = bearer_check(bearer, region, settings, self.now())
            if lasting.state is CheckState.FAIL:
                raise ConfigurationError(lasting.found, remedy=lasting.fix)
            key: Callable[[], str] = lambda: bearer  # noqa: E731 - a function is what is wanted
        else:
            account = self._account(settings, environment)
            region = account.region
            try:
                account.identity()
                require_invocable(account, model)
            except NotTold:
                # Whoever may ask models need not be allowed to ask about them.
                account.frozen()
            key = KeyMaker(account.frozen, region)
        yield BedrockSession(
            model=model,
            address=runtime_address(region, settings),
            protocols=tuple(
                each
                for each in self.protocols_for(model)
                if not settings.protocols or each in settings.protocols
            ),
            key=key,
            context_window=settings.context_window,
            prices=settings.prices,
        )

    def checks(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[Check]:
        """Region, whose the credentials are, how long they last, the model, and that the service answers."""
        try:
            bearer = given_key(settings, environment)
            account = None if bearer is not None else self._account(settings, environment)
            region = account.region if account else self._region(settings, environment, None)
            address = runtime_address(region, settings)
        except ConfigurationError as error:
            name = "region" if "region" in error.what else CREDENTIALS
            yield Check(name, CheckState.FAIL, error.what, error.remedy)
            return
        yield Check("region", CheckState.PASS, f"{region}, at {address}")
        if bearer is not None or account is None:
            yield bearer_check(bearer or "", region, settings, self.now())
            yield reach_check(address, self.transport)
            return
        try:
            identity = account.identity()
        except ConfigurationError as error:
            yield Check(CREDENTIALS, CheckState.FAIL, error.what, error.remedy)
            return
        except NotTold as error:
            found = f"AWS does not say whose they are: {error}"
            yield Check(CREDENTIALS, CheckState.WARN, found, "look at the network, or allow sts calls")
            yield reach_check(address, self.transport)
            return
        yield Check(CREDENTIALS, CheckState.PASS, f"{identity.name} in account {hidden(identity.account)}")
        yield lasting_check(account)
        yield from model_checks(account, model)
        yield reach_check(address, self.transport)

    def _account(self, settings: ProviderSettings, environment: Mapping[str, str]) -> Account:
        profile = settings.aws_profile or environment.get("AWS_PROFILE") or None
        session = self.make(profile, settings.aws_region, environment)
        return Account(session, self._region(settings, environment, session.region_name), profile)

    def _region(
        self, settings: ProviderSettings, environment: Mapping[str, str], of_profile: str | None
    ) -> str:
        """The region that was named, of the environment, or of the profile, in this order.

        Raises:
            ConfigurationError: there is none, or it is no region's name.
        """
        named = (
            settings.aws_region
            or environment.get("AWS_REGION")
            or environment.get("AWS_DEFAULT_REGION")
            or of_profile
        )
        if not named:
            raise ConfigurationError(
                "provider bedrock needs a region",
                remedy="give --aws-region, such as us-east-1, or set AWS_REGION",
            )
        if not REGION.fullmatch(named):
            raise ConfigurationError(
                f"{named[:40]!r} is no region of AWS", remedy="regions are named as in us-east-1"
            )
        return named


def given_key(settings: ProviderSettings, environment: Mapping[str, str]) -> str | None:
    """A key for Bedrock from the environment; None where keys are to be made from credentials.

    Raises:
        ConfigurationError: the variable that the user named is not set.
    """
    if settings.api_key_env is not None:
        return api_key(settings.api_key_env, environment)
    if settings.aws_profile is not None or not environment.get(BEARER_VARIABLE, "").strip():
        return None
    return api_key(BEARER_VARIABLE, environment)


def runtime_address(region: str, settings: ProviderSettings) -> str:
    """The service that runs models in ``region``, or the address that the user named, as of a private link.

    Raises:
        ConfigurationError: that address is malformed.
    """
    if settings.base_url is not None:
        return checked_base_url(settings.base_url)
    suffix = ".cn" if region.startswith("cn-") else ""
    return f"https://bedrock-runtime.{region}.amazonaws.com{suffix}"
