"""Kiro: the cloud of the vendor's own program, which reaches it by itself with a key or a sign-in."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from runner.errors import ConfigurationError
from runner.harnesses.endpoint import WireProtocol
from runner.kiro import KiroProgram, find_program, is_stand_in
from runner.providers.about import About
from runner.providers.address import api_key
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.checks import CREDENTIALS, Check, CheckState
from runner.providers.fixed import FixedSession
from runner.records import Hosting

KEY_VARIABLE = "KIRO_API_KEY"
WHOAMI_SECONDS = 20.0
REFUSED = re.compile(r"not (?:logged|signed) in|invalid|expired|failed|unauthori[sz]ed|denied", re.IGNORECASE)
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
MAKE_A_KEY = f"make a key on the vendor's site (app.kiro.dev) and export {KEY_VARIABLE}=..."

ABOUT = About(
    summary="Kiro's own cloud, which only the harness kiro-cli reaches.",
    flags="--provider kiro --model MODEL --kiro-dollars-per-credit PRICE",
    credentials="the key in KIRO_API_KEY; the sign-in of your own home is never used",
    notes=(
        "No gateway stands between: the network is open and the key inside; each trial says so.",
        "It bills credits. Without a price of a credit, dollars are unknown.",
    ),
)


@dataclass(frozen=True)
class Kiro:
    """The provider ``kiro``. Only the harness kiro-cli can use it.

    While the program on the search path is a stand-in that plays recorded transcripts, everything made with
    it is a demonstration and never comes near real results.
    """

    name: str = "kiro"
    about: About = ABOUT
    protocols: tuple[WireProtocol, ...] = (WireProtocol.MANAGED,)
    key_variable: str = KEY_VARIABLE
    search_path: str = field(default_factory=lambda: os.environ.get("PATH", os.defpath))
    whoami_seconds: float = WHOAMI_SECONDS

    @property
    def demonstration(self) -> bool:
        """Whether what it leads to is a stand-in."""
        return is_stand_in(self.search_path)

    @property
    def hosting(self) -> Hosting:
        """The vendor's own machines, unless a stand-in plays them."""
        return Hosting.BUILT_IN if self.demonstration else Hosting.VENDOR_MANAGED

    def session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> AbstractContextManager[ModelSession]:
        """Make ``model`` reachable.

        Raises:
            ConfigurationError: there is no key, or the program that would take it is not installed.
        """
        return self._session(model, settings, environment)

    @contextmanager
    def _session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[ModelSession]:
        if settings.base_url is not None:
            raise ConfigurationError(
                "provider kiro has no address: its program knows the way to its vendor by itself",
                where=settings.base_url,
                remedy="leave --endpoint out",
            )
        find_program(self.search_path)
        yield FixedSession(
            provider=self.name,
            base_url="",
            protocols=settings.protocols or self.protocols,
            model=model,
            api_key=_key(settings, environment),
            context_window=settings.context_window,
            prices=None,
            dollars_per_credit=settings.dollars_per_credit,
        )

    def checks(
        self,
        model: str,  # noqa: ARG002 - only the vendor knows which models a subscription has
        settings: ProviderSettings,
        environment: Mapping[str, str],
    ) -> Iterator[Check]:
        """The program, the key, what the program itself says of the key, and the price of a credit."""
        try:
            program = find_program(self.search_path)
        except ConfigurationError as error:
            yield Check("program", CheckState.FAIL, error.what, error.remedy)
            return
        if program.stand_in:
            text = f"{program.path} is a stand-in that plays transcripts: results are demonstrations"
            yield Check("program", CheckState.WARN, text, "put the real kiro-cli before it on PATH")
        else:
            yield Check("program", CheckState.PASS, str(program.path))
        try:
            key = _key(settings, environment)
        except ConfigurationError as error:
            yield Check(CREDENTIALS, CheckState.FAIL, error.what, error.remedy)
            return
        yield self._signed_in(program, key)
        yield _credit_price(settings)

    def _signed_in(self, program: KiroProgram, key: str) -> Check:
        """What the program says of the key, asked in an empty home as a trial would start it."""
        with tempfile.TemporaryDirectory(prefix="harnessmark-whoami-") as home:
            try:
                done = subprocess.run(
                    [str(program.path), "whoami"],
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=self.whoami_seconds,
                    env={"HOME": home, "TMPDIR": home, "PATH": self.search_path, KEY_VARIABLE: key},
                    cwd=home,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                text = f"whoami says nothing within {self.whoami_seconds:g} s: it may wait for a sign-in"
                return Check(CREDENTIALS, CheckState.FAIL, text, MAKE_A_KEY)
            except OSError as error:
                text = f"the program does not start: {error.strerror}"
                return Check(CREDENTIALS, CheckState.FAIL, text, "install it again")
        said = _said(done.stdout + b"\n" + done.stderr, key)
        if done.returncode != 0 or not said or REFUSED.search(said):
            text = f"the key is refused: {said or f'exit code {done.returncode}'}"
            return Check(CREDENTIALS, CheckState.FAIL, text, MAKE_A_KEY)
        return Check(CREDENTIALS, CheckState.PASS, said)


def _key(settings: ProviderSettings, environment: Mapping[str, str]) -> str:
    """The key from the environment.

    Raises:
        ConfigurationError: there is none; a sign-in in the user's own home is no way for a trial.
    """
    variable = settings.api_key_env or KEY_VARIABLE
    try:
        return api_key(variable, environment)
    except ConfigurationError as error:
        raise ConfigurationError(
            f"{error.what}; a sign-in with kiro-cli login lies in your own home, which no trial reads",
            remedy=MAKE_A_KEY.replace(KEY_VARIABLE, variable),
        ) from None


def _credit_price(settings: ProviderSettings) -> Check:
    if settings.dollars_per_credit is None:
        return Check(
            "price of a credit",
            CheckState.WARN,
            "not given: costs are in credits and have no dollars",
            "give --kiro-dollars-per-credit; the vendor's plans and their overage differ",
        )
    return Check("price of a credit", CheckState.PASS, f"{settings.dollars_per_credit:g} dollars")


def _said(data: bytes, key: str) -> str:
    """The first line that says something, on one line, without the key and without addresses of people."""
    text = data.decode("utf-8", "replace").replace(key, "***")
    shown = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", text)
    first = next((line.strip() for line in shown.splitlines() if line.strip()), "")
    return "".join(c for c in ADDRESS.sub("(address)", first) if c.isprintable())[:200]
