"""Listing harnesses: what is there, and which providers each can use, with the reason where it cannot."""

from __future__ import annotations

from pathlib import Path
from threading import Barrier, Event, Lock

import pytest

from runner.errors import UsageError
from runner.harnesses.base import Harness
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.listing import ASKED_AT_ONCE, listing
from runner.harnesses.registry import HARNESSES, harness
from tests.harnesses.fakes import pretend_installed, put_program
from tests.harnesses.kiro_standin import put_stand_in

PROVIDERS = {
    "everything": tuple(WireProtocol),
    "chat-only": (WireProtocol.CHAT_COMPLETIONS,),
    "nothing": (),
}


def test_every_harness_has_a_row(tmp_path: Path) -> None:
    rows = list(listing(tmp_path, PROVIDERS))
    assert [row.name for row in rows] == sorted(HARNESSES)
    assert all(row.usable_providers[0] == "everything" for row in rows)


def test_what_is_not_installed_says_how_to_install_it(tmp_path: Path) -> None:
    (row,) = listing(tmp_path, PROVIDERS, ["codex"])
    assert (row.version, row.size_bytes) == (None, None)
    assert "invoke harness-install codex" in row.state
    assert row.pinned
    # Once, though both the column and the state could say it.
    assert row.lines()[0].count("not installed") == 1


def test_a_list_of_slow_programs_is_not_silent_until_the_last_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = Event()

    def slow(self: Harness, _installed: Path) -> str:
        return "1" if self.name == "codex" or shown.wait(30) else "shown too late"

    for name in ("codex", "pi"):
        monkeypatch.setattr(type(harness(name)), "version", slow)
    rows = listing(tmp_path, PROVIDERS, ["codex", "pi"])
    assert next(rows).name == "codex"
    shown.set()
    assert [(row.name, row.version) for row in rows] == [("pi", "1")]


def test_several_programs_but_not_all_are_asked_at_once_and_their_order_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = sorted(HARNESSES)
    together, asked, lock = Barrier(ASKED_AT_ONCE), [], Lock()
    most = 0

    def version(self: Harness, _installed: Path) -> str:
        nonlocal most
        with lock:
            asked.append(self.name)
            most = max(most, len(asked))
            first = names.index(self.name) < ASKED_AT_ONCE
        if first:
            # Nobody gets past it alone.
            together.wait(30)
        with lock:
            asked.remove(self.name)
        return self.name

    for name in names:
        monkeypatch.setattr(type(harness(name)), "version", version)
    rows = list(listing(tmp_path, PROVIDERS))
    assert [(row.name, row.version) for row in rows] == [(name, name) for name in names]
    assert most == ASKED_AT_ONCE


def test_what_is_installed_says_its_version_and_size(tmp_path: Path) -> None:
    pretend_installed(harness("pi"), tmp_path)
    (row,) = listing(tmp_path, PROVIDERS, ["pi"])
    assert (row.version, row.state) == (row.pinned, "ready")
    assert row.size_bytes


def test_another_version_than_the_pinned_one_is_told(tmp_path: Path) -> None:
    pinned = harness("codex").installation
    assert pinned is not None
    put_program(pinned, tmp_path, "codex", says="codex-cli 7.7.7")
    (row,) = listing(tmp_path, PROVIDERS, ["codex"])
    assert row.version == "7.7.7"
    assert "is pinned" in row.state


def test_a_program_from_elsewhere_may_have_any_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{put_stand_in(tmp_path / 'bin').parent}:/usr/bin:/bin")
    (row,) = listing(tmp_path, PROVIDERS, ["kiro-cli"])
    assert (row.version, row.size_bytes) == ("0.0.0+stand-in", None)
    assert row.state == "ready; its adapter was written against 2.18.1"
    assert row.providers["chat-only"] == "kiro-cli speaks managed; the provider offers chat-completions"


def test_a_provider_without_the_protocol_is_refused_with_the_reason(tmp_path: Path) -> None:
    (row,) = listing(tmp_path, PROVIDERS, ["codex"])
    assert row.providers["chat-only"] == "codex speaks responses; the provider offers chat-completions"
    assert row.providers["nothing"] == "codex speaks responses; the provider offers no API"
    assert "tool parser" in row.note
    (row,) = listing(tmp_path, PROVIDERS, ["pi"])
    assert row.providers["chat-only"] is None


def test_the_built_in_harness_is_always_ready(tmp_path: Path) -> None:
    (row,) = listing(tmp_path, PROVIDERS, ["loop"])
    assert (row.state, row.pinned) == ("ready", None)
    assert row.version


def test_an_unknown_name_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        listing(tmp_path, PROVIDERS, ["nobody"])
