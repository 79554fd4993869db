"""The program of the guide on new agents: a loop with one shell tool, in the standard library alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import Any

ATTEMPTS = 3
TOOL = {
    "type": "function",
    "function": {
        "name": "shell",
        "description": "Run a command",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    },
}


def say(**event: object) -> None:
    """One line of output."""
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def ask(settings: dict[str, str], messages: list[dict[str, Any]]) -> dict[str, Any]:
    """One answer of the model; a server's own faults are tried again."""
    body = json.dumps({"model": settings["model"], "messages": messages, "tools": [TOOL]}).encode()
    request = urllib.request.Request(  # noqa: S310 - the address is the harness's own
        f"{settings['base_url']}/chat/completions",
        data=body,
        headers={"Authorization": f"Bearer {os.environ['MY_AGENT_KEY']}", "Content-Type": "application/json"},
    )
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
                answer: dict[str, Any] = json.load(response)
                return answer
        except urllib.error.HTTPError as error:
            if error.code < 500 or attempt == ATTEMPTS:
                raise
        except (OSError, ValueError, EOFError):
            if attempt == ATTEMPTS:
                raise
        say(type="retry")
        time.sleep(0.05)
    raise OSError("no answer")


def counts(usage: dict[str, Any]) -> dict[str, int]:
    """Usage with cached input apart from the rest, as far as the server tells."""
    if not usage:
        return {}
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens", 0)
    return {
        "input": usage["prompt_tokens"] - cached,
        "cached": cached,
        "output": usage["completion_tokens"],
        "reasoning": reasoning,
    }


def work(settings: dict[str, str], prompt: str) -> None:
    """Ask and run commands until the model is done."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    while True:
        answer = ask(settings, messages)
        message = answer["choices"][0]["message"]
        say(type="answer", usage=counts(answer.get("usage") or {}))
        messages.append(message)
        if not message.get("tool_calls"):
            say(type="end")
            return
        for call in message["tool_calls"]:
            command = json.loads(call["function"]["arguments"])["command"]
            say(type="run", command=command)
            done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)  # noqa: S602
            messages.append(
                {"role": "tool", "tool_call_id": call["id"], "content": done.stdout + done.stderr}
            )


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123 - the standard library alone
        chosen = json.load(file)
    try:
        work(chosen, sys.stdin.read())
    except (OSError, ValueError) as fault:
        say(type="failed", error=str(fault))
        sys.exit(1)
