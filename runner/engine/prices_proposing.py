"""Prices proposing: what another list of prices would change in the book, shown and only then written."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from runner.costs import load_price_book
from runner.costs.bedrock_prices import PriceList, bedrock_candidates, bedrock_products
from runner.costs.litellm_prices import litellm_candidates
from runner.costs.llm_prices import llm_prices_candidates
from runner.costs.price_candidate import Candidate, Reading, counted
from runner.costs.price_files import PriceSource
from runner.costs.price_json import read_price_json
from runner.costs.price_proposal import Proposal, propose
from runner.engine.places import Places
from runner.errors import ConfigurationError, EndpointError, UsageError
from runner.records import sha256_of

LISTS: dict[str, Callable[[object], Reading]] = {
    "litellm": litellm_candidates,
    "llm-prices": llm_prices_candidates,
}
SOURCES = {
    "litellm": PriceSource(
        title="LiteLLM price map",
        version="-",
        url="https://github.com/BerriAI/litellm",
        path="litellm/model_prices_and_context_window_backup.json",
        license="MIT",
    ),
    "llm-prices": PriceSource(
        title="llm-prices", version="-", url="https://github.com/simonw/llm-prices", license="none named"
    ),
}
DONE, NOTHING_READ = 0, 3
LIST_REGION = "us-east-1"
"""One of the few regions where the price list of all regions is served."""


@dataclass(frozen=True)
class Wanted:
    """Which of the candidates are wanted, and what becomes of the proposal."""

    provider: str = ""
    model: str = "*"
    known: bool = False
    out: Path | None = None
    write: bool = False


def import_prices(
    places: Places, say: Callable[[str], None], source: str, file: Path, release: str, wanted: Wanted
) -> int:
    """Propose rows from the list in ``file``; 0, or 3 where the list holds nothing of use.

    Raises:
        UsageError: there is no importer of that name.
        ConfigurationError: the file or the book has faults; nothing is written.
    """
    if source not in LISTS:
        raise UsageError(f"no list named {source!r} can be read", remedy=f"known: {', '.join(LISTS)}")
    try:
        reading = LISTS[source](read_price_json(file))
    except ConfigurationError as error:
        raise ConfigurationError(error.what, where=str(file), remedy=error.remedy) from None
    digest = sha256_of(file.read_bytes())
    version = release or f"file with SHA-256 {digest[:12]}"
    name = re.sub(r"[^a-z0-9.]+", "-", f"{source}-{release or digest[:12]}".lower()).strip("-")
    return _proposed(
        places, say, reading, SOURCES[source].model_copy(update={"version": version}), name, wanted
    )


def fetch_bedrock_prices(
    places: Places, say: Callable[[str], None], client: PriceList, region: str, wanted: Wanted
) -> int:
    """Propose rows from the price list service of the cloud in ``region``; returns as ``import_prices``.

    Raises:
        EndpointError: the service cannot be asked.
        ConfigurationError: the book has faults; nothing is written.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    book = load_price_book(places.prices)
    try:
        reading = bedrock_candidates(bedrock_products(client, region), book.models("bedrock"))
    except (BotoCoreError, ClientError) as error:
        raise EndpointError(
            f"the price list cannot be read: {error}",
            where=region,
            remedy="give credentials that may call pricing:GetProducts",
        ) from None
    today = date.today().isoformat()
    source = PriceSource(
        title="AWS Price List, Bedrock",
        version=f"{region}, asked on {today}",
        url="https://aws.amazon.com/bedrock/pricing/",
        license="public price list",
    )
    return _proposed(places, say, reading, source, f"aws-{region}-{today}", wanted)


def _proposed(
    places: Places,
    say: Callable[[str], None],
    reading: Reading,
    source: PriceSource,
    name: str,
    wanted: Wanted,
) -> int:
    chosen = _chosen(places, reading.candidates, wanted)
    proposal = propose(places.prices, chosen, source, name, date.today())
    diff = proposal.diff()
    if wanted.out is None:
        for line in diff.splitlines():
            say(line)
    else:
        _keep(diff, wanted.out)
        say(f"the diff is in {wanted.out}")
    for line in _summary(reading, chosen, proposal):
        say(line)
    if wanted.write:
        proposal.write(places.prices)
        say(f"written: {', '.join(proposal.changed) or 'nothing'}")
    elif proposal.changed:
        say("nothing is written; --write does")
    return DONE if reading.candidates else NOTHING_READ


def _keep(diff: str, out: Path) -> None:
    try:
        out.write_text(diff, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"the diff cannot be written: {error}", where=str(out)) from None


def _chosen(places: Places, candidates: Sequence[Candidate], wanted: Wanted) -> list[Candidate]:
    book = load_price_book(places.prices)
    return [
        each
        for each in candidates
        if (not wanted.provider or each.provider == wanted.provider)
        and fnmatch.fnmatchcase(each.model, wanted.model)
        and (not wanted.known or book.history(each.provider, each.model))
    ]


def _summary(reading: Reading, chosen: Sequence[Candidate], proposal: Proposal) -> list[str]:
    left_out = sum(reading.skipped.values())
    return [
        f"{len(reading.candidates)} prices read, {len(chosen)} of them asked for:",
        *counted(proposal.outcomes.items()),
        *([f"{left_out} entries left out:", *counted(reading.skipped.items())] if left_out else []),
    ]
