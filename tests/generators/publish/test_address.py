"""Site addresses: what is taken, what is refused, and what follows from a GitHub remote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.publish.address import SiteAddress, pages_address
from runner.errors import UsageError


@pytest.mark.parametrize(
    ("text", "url", "subpath"),
    [
        ("https://example.org", "https://example.org/", ""),
        ("https://example.org/portal", "https://example.org/portal/", "portal"),
        ("https://example.org/a/b/", "https://example.org/a/b/", "a/b"),
        ("http://127.0.0.1:8000//x//", "http://127.0.0.1:8000/x/", "x"),
        ("https://ada.github.io/Bench_1.0", "https://ada.github.io/Bench_1.0/", "Bench_1.0"),
    ],
)
def test_an_address_gives_its_sub_path(text: str, url: str, subpath: str) -> None:
    assert SiteAddress.parse(text) == SiteAddress(url, subpath)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.org/portal",
        "ftp://example.org/",
        "file:///tmp/site",
        "https:///portal/",
        "https://[::1/",
        "https://example.org/?a=1",
        "https://example.org/#top",
        "https://ada:secret@example.org/",
        "https://example.org/../etc/",
        "https://example.org/a/./b",
        "https://example.org/%2e%2e/",
        'https://example.org/"><script>/',
        "https://example.org/two words/",
    ],
)
def test_what_is_no_plain_address_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(UsageError) as failure:
        SiteAddress.parse(text)
    assert "https://example.org/portal/" in failure.value.remedy


@given(st.text(max_size=40), st.sampled_from(["https://h.example/", "http://h.example:80/", ""]))
def test_a_sub_path_never_leaves_its_folder(path: str, start: str) -> None:
    try:
        address = SiteAddress.parse(start + path)
    except UsageError:
        return
    assert address.url.endswith("/")
    assert address.url.count("?") == address.url.count("#") == 0
    assert not {"", ".", ".."} & set(address.subpath.split("/")) or address.subpath == ""
    assert SiteAddress.parse(address.url) == address


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/Ada/bench.git", "https://ada.github.io/bench/"),
        ("https://github.com/ada/bench", "https://ada.github.io/bench/"),
        ("https://x-access-token:abc@github.com/ada/bench.git", "https://ada.github.io/bench/"),
        ("git@github.com:ada/my.bench.git", "https://ada.github.io/my.bench/"),
        ("ssh://git@github.com/ada/bench.git", "https://ada.github.io/bench/"),
        ("https://github.com/ada/Ada.github.io.git", "https://ada.github.io/"),
        ("https://gitlab.com/ada/bench.git", None),
        ("https://github.com.evil.example/ada/bench.git", None),
        ("/srv/git/bench.git", None),
        ("", None),
    ],
)
def test_a_github_remote_tells_where_its_pages_stand(remote: str, address: str | None) -> None:
    assert pages_address(remote) == address
