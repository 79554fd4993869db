"""Kept out: targets that a run cannot ask at all, told before anything is measured, with what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.endpoint.admission import Admission
from runner.endpoint.preflight import Looked
from runner.endpoint.protocols.messages import VERSION
from runner.endpoint.request import Protocol
from runner.endpoint.target import Target
from runner.errors import ConfigurationError, EndpointError
from runner.providers.asking import Asker
from runner.providers.probing import key_headers
from runner.providers.served import served_check, served_ids
from runner.records.nouns import counted
from runner.secrets import Scanner

WORDS = 300
SECONDS = 8.0
"""For the list of models: it is free, and nobody waits long for it."""


@dataclass(frozen=True)
class Asked:
    """A target that was looked at."""

    target: Target
    looked: Looked
    seconds: float
    cost_usd: float | None
    charged_usd: float


def not_to_be_asked(
    kept_out: Sequence[Asked], of: int, environment: Mapping[str, str], scanner: Scanner
) -> ConfigurationError:
    """The error that tells of each target why, in whose words, and what to do."""
    lines, remedies = [], []
    for each in kept_out:
        looked, entry = each.looked, each.target.entry
        status = "" if looked.status is None else f" ({looked.status})"
        said = shown_words(looked.words, scanner)
        lines.append(f"  {each.target.label}: {_WHY[looked.admission]}{status}; it says: {said or 'nothing'}")
        file = f"datasets/targets/{each.target.model}.yaml" if each.target.origin == "catalogue" else ""
        remedy = _REMEDIES[looked.admission].format(
            variable=entry.key_variable or "a variable, named with --api-key-env or key_variable",
            model=entry.model_id,
            url=entry.base_url,
            protocol=entry.protocol.value,
            file=file or "--url and --protocol",
            model_at=file or "--model",
        )
        served = serving(each.target, environment) if looked.admission is Admission.MODEL else ""
        remedies.append(
            f"{each.target.label}: {remedy}" + (f"; {shown_words(served, scanner)}" if served else "")
        )
    if len(kept_out) < of:
        remedies.append("or choose the other mappings with --mapping")
    remedies.append("or start anyway with --no-preflight")
    return ConfigurationError(
        f"{len(kept_out)} of {counted(of, 'mapping')} cannot be asked; nothing was measured:\n"
        + "\n".join(lines),
        where=kept_out[0].target.model,
        remedy="\n    ".join(remedies),
    )


_WHY: Mapping[Admission, str] = {
    Admission.KEY: "the key is not accepted",
    Admission.CREDIT: "nothing is left to pay with",
    Admission.MODEL: "there is no such model",
    Admission.ADDRESS: "no such API is there",
    Admission.UNREACHABLE: "nobody is there",
    Admission.REFUSED: "it refuses what is sent, and no parameter that can be left out is the reason",
}
_REMEDIES: Mapping[Admission, str] = {
    Admission.KEY: "set {variable} to a key of this provider that may use {model}",
    Admission.CREDIT: "add credit to the account that the key in {variable} belongs to",
    Admission.MODEL: "look up the id that the provider knows; {model} stands in {model_at}",
    Admission.ADDRESS: "check the address {url} and the protocol {protocol} ({file}); an address ends "
    "where the protocol's paths begin, often with /v1",
    Admission.UNREACHABLE: "start the server or check the address {url} ({file})",
    Admission.REFUSED: "read its words; then correct {file}",
}


def serving(target: Target, environment: Mapping[str, str]) -> str:
    """What the endpoint says that it serves; empty where it does not say."""
    entry, key = target.entry, target.key(environment) or ""
    headers, path = key_headers(key), "/models"
    if entry.protocol is Protocol.MESSAGES:
        headers, path = {"x-api-key": key, "anthropic-version": VERSION}, "/v1/models"
    try:
        with Asker(headers, seconds=SECONDS) as asker:
            ids = served_ids(asker.get(f"{entry.base_url}{path}").body)
    except EndpointError:
        return ""
    if not ids or entry.model_id in ids:
        return ""
    return served_check(entry.model_id, ids).found


def shown_words(words: str, scanner: Scanner) -> str:
    """One line without secrets and without what a terminal would obey."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in scanner.mask(words)).split())
    return flat if len(flat) <= WORDS else f"{flat[:WORDS]}..."
