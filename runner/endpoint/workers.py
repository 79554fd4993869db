"""Workers: processes that share the streams of a load, above the level where one shows a bias."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from runner.endpoint.load import Batch, Played, merged, play
from runner.endpoint.loops import LoopName, run
from runner.errors import EndpointError


def work(batch: Batch, loop: LoopName = "auto") -> Played:
    """Ask everything in ``batch`` in this process, on an event loop of its own."""
    return run(play(batch), loop)


def play_in_workers(batch: Batch, workers: int, loop: LoopName = "auto") -> Played:
    """Ask everything in ``batch``, with its sessions dealt out to ``workers`` processes.

    The key goes to them through a pipe, never through arguments or files. Send times planned ahead and the
    stamps that come back are on the clock that all processes of a machine share. Sessions should begin a
    second or more from now: a process needs that long to start.

    Raises:
        EndpointError: a worker died; what the others measured would be a different load.
    """
    parts = batch.split(workers)
    if len(parts) <= 1:
        return work(batch, loop)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(parts), mp_context=context) as pool:
        try:
            played = list(pool.map(work, parts, [loop] * len(parts)))
        except BrokenProcessPool:
            raise EndpointError("a process that asks for its share of the load died") from None
    return merged(played)
