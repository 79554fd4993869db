"""What child processes are given."""

from __future__ import annotations

from generators.publish.environment import build_environment, git_environment

MACHINE = {
    "PATH": "/bin",
    "HOME": "/home/ada",
    "LANG": "de_DE.UTF-8",
    "TZ": "Asia/Tokyo",
    "PYTHONWARNINGS": "error",
    "AWS_SECRET_ACCESS_KEY": "not for pages",
    "ANTHROPIC_API_KEY": "not for pages",
    "GIT_DIR": "/elsewhere/.git",
    "GIT_INDEX_FILE": "/elsewhere/index",
    "GIT_SSH_COMMAND": "ssh -i key",
    "SSH_AUTH_SOCK": "/tmp/agent",
}


def test_a_build_knows_no_secret_and_no_setting_of_the_machine() -> None:
    given = build_environment(site_url="https://example.org/", epoch=7, inherited=MACHINE)
    assert (
        not {"AWS_SECRET_ACCESS_KEY", "ANTHROPIC_API_KEY", "PYTHONWARNINGS", "SSH_AUTH_SOCK"} & given.keys()
    )
    assert (given["TZ"], given["LANG"], given["PYTHONHASHSEED"]) == ("UTC", "C.UTF-8", "0")
    assert (given["SOURCE_DATE_EPOCH"], given["SITE_URL"]) == ("7", "https://example.org/")


def test_git_keeps_the_way_to_a_remote_but_not_someone_elses_repository() -> None:
    given = git_environment(MACHINE)
    assert given["GIT_SSH_COMMAND"] == "ssh -i key"
    assert given["SSH_AUTH_SOCK"] == "/tmp/agent"
    assert not {"GIT_DIR", "GIT_INDEX_FILE", "AWS_SECRET_ACCESS_KEY"} & given.keys()
    assert given["GIT_TERMINAL_PROMPT"] == "0"
