"""Entry of the child process: job on standard input, events on standard output."""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType

import httpx

from runner.harnesses.loop_agent.agent import Agent, Ending
from runner.harnesses.loop_agent.client import Client
from runner.harnesses.loop_agent.events import Voice
from runner.harnesses.loop_agent.job import Job, JobFault, read_job
from runner.harnesses.loop_agent.keeper import Keeper, start_keeper
from runner.harnesses.loop_agent.key import take_key
from runner.harnesses.loop_agent.places import open_places
from runner.harnesses.loop_agent.shell import command_environment
from runner.harnesses.loop_agent.toolset import Toolset

EXIT_DONE, EXIT_MODEL_ERROR, EXIT_BAD_JOB, EXIT_LIMIT, EXIT_STOPPED = 0, 1, 2, 3, 143
MAX_JOB_BYTES = 64_000_000


def main() -> int:
    """Do the job; the exit code tells finished (0), model error (1), no job (2) and limit (3) apart."""
    began = time.monotonic()
    try:
        job = read_job(sys.stdin.buffer.read(MAX_JOB_BYTES))
    except JobFault as fault:
        Voice(sys.stdout.buffer).say("end", stop_reason="bad-job", is_error=True, error=str(fault))
        return EXIT_BAD_JOB
    key = take_key(job.key_variable)
    deadline = None if job.bounds.seconds is None else began + job.bounds.seconds
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    keeper = start_keeper()
    signal.signal(signal.SIGTERM, _stop)
    # Certificates take longer to load than a local server to answer; http uses none.
    verify = not job.base_url.startswith("http://")
    with httpx.Client(headers=headers, verify=verify, trust_env=False, follow_redirects=False) as http:
        url = job.base_url.rstrip("/") + "/chat/completions"
        agent = _agent(job, Client(http, url, job.patience, deadline), key, keeper)
        try:
            return _exit_code(agent.run())
        except Stopped:
            sys.stdout.buffer.write(b"\n")  # a line may have been cut in two
            agent.stopped()
            return EXIT_STOPPED


class Stopped(BaseException):
    """SIGTERM came. No ordinary handler may hold it up."""


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise Stopped


def _agent(job: Job, client: Client, key: str, keeper: Keeper) -> Agent:
    environment = command_environment(os.environ)
    tools = Toolset(open_places(job.workspace, job.artifacts), environment, keeper)
    return Agent(job, client, tools, Voice(sys.stdout.buffer, hidden=key))


def _exit_code(ending: Ending) -> int:
    if ending.limit_hit is not None:
        return EXIT_LIMIT
    return EXIT_MODEL_ERROR if ending.is_error else EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
