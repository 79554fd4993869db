"""What a dataset may name, and what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.datasets.location import (
    RepositoryKind,
    check_ref,
    check_relative,
    check_repository,
    check_web_address,
    repository_kind,
    repository_name,
)


@pytest.mark.parametrize(
    ("repo", "kind", "name"),
    [
        ("https://github.com/team/project", RepositoryKind.HTTPS, "project"),
        ("https://github.com/team/project.git/", RepositoryKind.HTTPS, "project"),
        ("https://host:8443/a/b/c", RepositoryKind.HTTPS, "c"),
        ("ssh://git@host/team/project.git", RepositoryKind.SSH, "project"),
        ("ssh://host:2222/project", RepositoryKind.SSH, "project"),
        ("git@github.com:team/project.git", RepositoryKind.SSH, "project"),
        ("repositories/clockbook.bundle", RepositoryKind.BUNDLE, "clockbook"),
        ("../elsewhere/project", RepositoryKind.LOCAL, "project"),
        ("/srv/git/project.git", RepositoryKind.LOCAL, "project"),
        ("~/work/project", RepositoryKind.LOCAL, "project"),
    ],
)
def test_repositories_of_every_kind(repo: str, kind: RepositoryKind, name: str) -> None:
    assert check_repository(repo) == repo
    assert repository_kind(repo) is kind
    assert repository_name(repo) == name


@pytest.mark.parametrize(
    "repo",
    [
        "",
        "project",
        "team/project",
        "-x",
        "--upload-pack=touch /tmp/x",
        "http://host/a",
        "git://host/a",
        "file:///etc",
        "ext::sh -c touch% /tmp/x",
        "fd::17",
        "https://",
        "https://host",
        "https://host/",
        "https://-host/a",
        "https://host:port/a",
        "https://user@host/a",
        "https://user:secret@host/a",
        "https://host/a#b",
        "https://host/a?token=b",
        "https://[::1/a",
        "ssh://-oProxyCommand=id/a",
        "ssh://-oProxyCommand=id@host/a",
        "-oProxyCommand=id@host:a",
        "git@host:-a",
        "git@-host:a",
        "../up.bundle",
        "/abs.bundle",
        "a b",
        "a\nb",
        "./a\x00b",
        "./" + "a" * 2000,
    ],
)
def test_repositories_that_are_refused(repo: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        check_repository(repo)


@pytest.mark.parametrize(
    "ref",
    [
        "main",
        "v1.0",
        "1.24.4",
        "rel/commons-lang-3.18.0",
        "feature/x_y",
        "a" * 40,
        "gson-parent-2.13.2",
        "HEAD",
    ],
)
def test_refs(ref: str) -> None:
    assert check_ref(ref) == ref


@pytest.mark.parametrize(
    "ref",
    [
        "",
        "-x",
        "--all",
        "a..b",
        "a//b",
        "a/",
        "a.",
        ".a",
        "a/.b",
        "a.lock",
        "a@{1}",
        "a b",
        "a:b",
        "a^",
        "a~1",
        "a*",
    ],
)
def test_refs_that_are_refused(ref: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        check_ref(ref)


@pytest.mark.parametrize("path", ["a", "a/b.patch", "a-b/c_d/.e", "a/"])
def test_paths_beside_the_file(path: str) -> None:
    assert check_relative(path) == path.rstrip("/")


@pytest.mark.parametrize(
    "path",
    ["", ".", "..", "../a", "a/../b", "/a", "~/a", "a\\b", "./a", "a//b", "a/./b", "-a", "a/-b", "a b"],
)
def test_paths_that_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        check_relative(path)


@given(path=st.text(alphabet="ab./\\~-", max_size=12))
def test_no_path_that_passes_leaves_its_folder(path: str) -> None:
    try:
        passed = check_relative(path)
    except ValueError:
        return
    root = Path("/somewhere/of/it")
    joined = Path(*(part for part in (root / passed).parts))
    assert ".." not in joined.parts
    assert joined.is_relative_to(root)
    assert joined != root


@pytest.mark.parametrize("address", ["https://a.org", "http://a.org/b?c=d#e", "https://a.org:80/"])
def test_web_addresses(address: str) -> None:
    assert check_web_address(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "",
        "a.org",
        "//a.org",
        "ftp://a.org",
        "javascript:alert(1)",
        "https://u:p@a.org",
        "https:///x",
        "data:,x",
    ],
)
def test_web_addresses_that_are_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        check_web_address(address)
