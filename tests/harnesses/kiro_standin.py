"""A stand-in for ``kiro-cli``: takes its arguments, key and prompt as that does, and plays transcripts.

``python -m tests.harnesses.kiro_standin FOLDER`` puts it into a folder. With that folder first on PATH and
any ``KIRO_API_KEY``, ``invoke run --harness kiro-cli --provider kiro --model solves`` plays the transcript of
that name. The mark in its first bytes makes everything that is made with it a demonstration.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from runner.kiro import PROGRAM, STAND_IN_MARK

TRANSCRIPTS = Path(__file__).parent.parent / "data" / "kiro" / "transcripts.json"
VERSION = "0.0.0+stand-in"
REFUSED_KEY = "refused-key-0123456789"
SCRIPT = """#!{python} -IS
# {mark}
import json, os, pathlib, re, socket, sys, time

def act(step, prompt):
    artifacts = re.search(r"^artifacts_dir: *(\\S+)", prompt, re.MULTILINE)
    if "write" in step:
        path = step["write"].replace("{{artifacts}}", artifacts[1] if artifacts else "artifacts")
        pathlib.Path(path).write_text(step["text"], encoding="utf-8")
    elif "replace" in step:
        path = pathlib.Path(step["in"])
        path.write_text(path.read_text().replace(step["replace"], step["by"]))
    elif "connect" in step:
        with socket.create_connection(tuple(step["connect"]), timeout=5) as other:
            other.sendall(step.get("say", "hello").encode())
    elif "look" in step:
        print("there" if pathlib.Path(step["look"]).exists() else "hidden", flush=True)
    elif "echo" in step:
        print(os.environ.get(step["echo"], "unset"), flush=True)
    elif "sleep" in step:
        time.sleep(step["sleep"])

def main(words):
    key = os.environ.get("KIRO_API_KEY", "")
    if words == ["--version"]:
        print("{program} {version}")
        return 0
    if words == ["whoami"]:
        if not key:
            time.sleep(600)
        print("Authentication failed." if key == "{refused}" else "Authenticated with API key")
        return 0
    flags = ["chat", "--no-interactive", "--trust-all-tools", "--model"]
    if words[:4] != flags or len(words) != 5:
        sys.stderr.write(f"error: unexpected arguments {{words}}\\n")
        return 2
    prompt = sys.stdin.read()
    if key == "{refused}":
        sys.stderr.write("Authentication failed. Your API key may be invalid or expired.\\n")
        return 0
    beside = pathlib.Path(sys.argv[0]).with_name("{program}-transcripts.json")
    played = json.loads(beside.read_text(encoding="utf-8"))[words[4]]
    sys.stdout.write(played.get("stdout", "").replace("{{prompt size}}", str(len(prompt))))
    sys.stdout.flush()
    for step in played.get("acts", []):
        act(step, prompt)
    sys.stderr.write(played.get("stderr", ""))
    return played.get("exit", 0)

sys.exit(main(sys.argv[1:]))
"""


def put_stand_in(folder: Path, transcripts: Mapping[str, object] | None = None) -> Path:
    """The stand-in with its transcripts in ``folder``; the path of the program.

    Args:
        transcripts: by model, beside those that come with it: ``stdout``, ``stderr``, ``exit`` and ``acts``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    played = {**json.loads(TRANSCRIPTS.read_text(encoding="utf-8")), **(transcripts or {})}
    (folder / f"{PROGRAM}-transcripts.json").write_text(json.dumps(played), encoding="utf-8")
    program = folder / PROGRAM
    program.write_text(
        SCRIPT.format(
            python=sys.executable,
            mark=STAND_IN_MARK.decode(),
            program=PROGRAM,
            version=VERSION,
            refused=REFUSED_KEY,
        ),
        encoding="utf-8",
    )
    program.chmod(0o755)
    return program


if __name__ == "__main__":
    put_stand_in(Path(sys.argv[1]))
