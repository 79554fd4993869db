"""Site flags: the flags of ``invoke publish`` and ``invoke serve``, and what each of them means."""

from __future__ import annotations

from typing import Any

from runner.engine.price_flags import PRICE_HELP

PUBLISH_HELP = {
    "url": "where the site will stand, such as https://someone.github.io/portal/",
    "to": "branch to publish to, such as gh-pages; without it the site stays in site/",
    "remote": "git remote, address or path to push to",
    "prefix": "folder of the branch that the site goes to",
    "no-history": "replace the branch by one commit, so that it never grows",
    **PRICE_HELP,
}
SERVE_HELP = {
    "port": "port on this machine",
    "subpath": "folder the site stands below, as on GitHub Pages",
    **PRICE_HELP,
}


def publish_form(
    _context: object,
    url: str | None = None,
    to: str | None = None,
    remote: str = "origin",
    prefix: str = "",
    no_history: bool = False,
    price_date: str | None = None,
    commitment: str | None = None,
    usd_per_credit: str | None = None,
    credit_plan: str | None = None,
) -> dict[str, Any]:
    """Every flag of ``invoke publish`` with its default, by name."""
    return dict(locals())


def serve_form(
    _context: object,
    port: int = 8000,
    subpath: str = "",
    price_date: str | None = None,
    commitment: str | None = None,
    usd_per_credit: str | None = None,
    credit_plan: str | None = None,
) -> dict[str, Any]:
    """Every flag of ``invoke serve`` with its default, by name."""
    return dict(locals())
