"""The measurement of the client itself, and the comparison with other programs on the same server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runner.endpoint.client_measurement import Row, client_command, numbers_in, peer_row
from runner.endpoint.metronome.beat import Beat
from runner.endpoint.peers import PEERS, Peer, installed, run_peer
from runner.errors import EndpointError, UsageError

QUICK = Beat(first_ms=20, gap_ms=1, chunks=4)
NOBODY = "http://127.0.0.1:9/v1"
ASKING = """
import http.client, json, sys, time
from pathlib import Path
from urllib.parse import urlsplit
given = dict(pair.split("=", 1) for pair in ",".join(sys.argv[1:]).split(",") if "=" in pair)
target = urlsplit(given["target"])
ttfts = []
for number in range(int(given["count"])):
    connection = http.client.HTTPConnection(target.hostname, target.port)
    begun = time.perf_counter()
    connection.request("POST", "/v1/chat/completions", b"{}")
    response = connection.getresponse()
    response.read1()
    ttfts.append((time.perf_counter() - begun) * 1000)
    response.read()
requests = [{"time_to_first_token_ms": each} for each in ttfts] + [{"time_to_first_token_ms": None}]
Path(given["path"]).write_text(json.dumps({"benchmarks": [{"requests": {"successful": requests}}]}))
"""
WRITING = """
import json, sys
from pathlib import Path
folder = Path(sys.argv[sys.argv.index("--output-artifact-dir") + 1]) / "run"
folder.mkdir(parents=True)
lines = [{"metrics": {"time_to_first_token": {"value": 21.5, "unit": "ms"}}}, {"metrics": {}}, {"error": "x"}]
(folder / "profile_export.jsonl").write_text("".join(json.dumps(line) + "\\n" for line in lines))
"""


def program(folder: Path, name: str, code: str) -> Path:
    """A program of that name, where an environment would have it."""
    path = folder / name / "bin" / name
    path.parent.mkdir(parents=True)
    path.write_text(f"#!{sys.executable} -I\n{code}", encoding="utf-8")
    path.chmod(0o755)
    return path


def peer(name: str) -> Peer:
    return next(each for each in PEERS if each.name == name)


def test_every_kind_of_client_has_its_row(tmp_path: Path) -> None:
    program(tmp_path, "guidellm", ASKING)
    lines: list[str] = []
    code = client_command(lines.append, streams="2", rounds=2, peers=str(tmp_path), beat=QUICK)
    assert code in {0, 2}
    named = [line[:22].strip() for line in lines[3:-1]]
    assert named == ["ours", "ours, TLS", "httpx transport", "guidellm"]
    assert "load average" in lines[0]
    assert "4 TTFTs of 4 requests" in lines[-2]
    assert ("missed" in "".join(lines)) is (code == 2)


def test_another_program_is_measured_by_the_same_server(tmp_path: Path) -> None:
    path = program(tmp_path, "guidellm", ASKING.replace("* 1000)", "* 1000 + 500)"))
    row = peer_row(peer("guidellm"), path, 1, rounds=3, beat=QUICK)
    assert row.bias_p50 is not None
    assert row.bias_p50 >= 499
    assert row.cpu_us_per_chunk is not None
    assert row.cpu_us_per_chunk > 0
    assert row.load_kept is not None
    assert 0 < row.load_kept <= 1
    assert row.within is None


def test_the_report_of_aiperf_is_read(tmp_path: Path) -> None:
    path = program(tmp_path, "aiperf", WRITING)
    assert run_peer(peer("aiperf"), path, NOBODY, 1, 1).ttfts_ms == (21.5,)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; sys.exit('no tokenizer')", "left no report"),
        ("import sys; from pathlib import Path; Path('report.json').write_text('{')", "left no report"),
        ("from pathlib import Path; Path('report.json').write_text('{}')", "left no report"),
        (
            "from pathlib import Path; import sys; sys.stderr.write('it broke');"
            """Path('report.json').write_text('{"benchmarks": [{"requests": {"successful": []}}]}')""",
            "measured nothing: it broke",
        ),
    ],
)
def test_a_program_that_fails_is_a_row_that_says_so(tmp_path: Path, code: str, words: str) -> None:
    path = program(tmp_path, "guidellm", code)
    with pytest.raises(EndpointError, match=words):
        run_peer(peer("guidellm"), path, NOBODY, 1, 1)
    assert words in peer_row(peer("guidellm"), path, 1, rounds=1, beat=QUICK).line()


def test_programs_that_are_not_there_come_with_the_way_to_install_them(tmp_path: Path) -> None:
    assert installed(peer("guidellm"), tmp_path) is None
    with pytest.raises(UsageError, match=r"pip install guidellm.*pip install aiperf"):
        client_command(lambda _line: None, streams="1", peers=str(tmp_path), beat=QUICK)


@pytest.mark.parametrize("text", ["", "0", "x", "1;2", "-1", "5000", "1,,2", "1.5"])
def test_what_is_no_list_of_streams_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no list of streams"):
        numbers_in(text)
    assert numbers_in("1, 32,512") == (1, 32, 512)


@pytest.mark.parametrize(
    ("p50", "p99", "within"), [(0.5, 2.0, True), (0.6, 1.0, False), (-0.6, 1.0, False), (0.1, 2.1, False)]
)
def test_a_row_meets_its_aim_or_not(p50: float, p99: float, within: bool) -> None:
    row = Row("ours", 100, p50, p99, aim=(0.5, 2.0))
    assert row.within is within
    assert row.line().endswith("0.5 / 2 met" if within else "0.5 / 2 missed")


def test_what_was_not_measured_is_no_zero() -> None:
    line = Row("ours", 100, aim=(0.5, 2.0)).line()
    assert line.count(" -") == 7
    assert "0.00" not in line
    assert "met" not in line
