"""What is paid for reaches the disk, also where the run is given up while it waits for its turn."""

from __future__ import annotations

import asyncio
import gc
import threading
from pathlib import Path
from typing import Any

import pytest

from runner.engine.bench.live import Writer
from runner.errors import StoreError
from runner.records.bench_trial import BenchTrial
from runner.store.bench_run import BenchRun, TrialLog
from tests import bench_examples


class BusyLog(TrialLog):
    """A log on a disk that is busy until it is let go."""

    def __init__(self, run: BenchRun) -> None:
        super().__init__(run)
        self.free = threading.Event()

    def write(self, trial: BenchTrial) -> None:
        self.free.wait(10)
        super().write(trial)


@pytest.fixture
def run(tmp_path: Path) -> BenchRun:
    manifest = bench_examples.manifest()
    run = BenchRun(tmp_path, manifest.model, manifest.run_id)
    run.begin(manifest)
    return run


TRIALS = [bench_examples.trial().model_copy(update={"key": f"trial-{number}"}) for number in range(5)]


def test_a_second_ctrl_c_loses_no_trial_that_waits_for_the_disk(run: BenchRun) -> None:
    async def given_up() -> None:
        log = BusyLog(run)
        writer = Writer(log)
        writes = [asyncio.ensure_future(writer.write(trial)) for trial in TRIALS]
        await asyncio.sleep(0)
        for write in writes:
            write.cancel()
        ended = await asyncio.gather(*writes, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in ended)
        log.free.set()
        await writer.flush()
        writer.close()

    asyncio.run(given_up())
    assert run.trials() == tuple(TRIALS)


def test_a_second_ctrl_c_while_a_stage_is_written_loses_none_of_it(run: BenchRun) -> None:
    async def given_up() -> None:
        log = BusyLog(run)
        writer = Writer(log)
        for trial in TRIALS:
            writer.begin(trial)
        flush = asyncio.ensure_future(writer.flush())
        await asyncio.sleep(0)
        flush.cancel()
        await asyncio.gather(flush, return_exceptions=True)
        log.free.set()
        await writer.flush()
        assert run.trials() == tuple(TRIALS)
        writer.close()

    asyncio.run(given_up())


def test_of_all_that_a_full_disk_refuses_only_the_first_is_told(run: BenchRun) -> None:
    told: list[dict[str, Any]] = []

    class FullLog(TrialLog):
        """A log on a disk that is full."""

        def write(self, trial: BenchTrial) -> None:
            raise StoreError("could not write: no space left on device", where=trial.key)

    async def refused() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        writer = Writer(FullLog(run))
        for trial in TRIALS:
            writer.begin(trial)
        with pytest.raises(StoreError, match="no space left"):
            await writer.flush()
        writer.close()
        # Each fault that nobody waits for would be logged with a traceback as its future is forgotten.
        await asyncio.sleep(0)

    asyncio.run(refused())
    gc.collect()
    assert told == []


def test_what_waits_behind_a_slow_flush_is_flushed_together(run: BenchRun) -> None:
    """One flush after another would let a kill lose all that is paid for and waits."""

    class SlowLog(TrialLog):
        """A log on a disk that takes its time."""

        flushes = 0

        def sync(self) -> None:
            self.flushes += 1
            free.wait(10)
            super().sync()

    free = threading.Event()

    async def written() -> int:
        writer = Writer(log := SlowLog(run))
        for trial in TRIALS:
            writer.begin(trial)
        free.set()
        await writer.flush()
        writer.close()
        return log.flushes

    assert asyncio.run(written()) <= 2
    assert run.trials() == tuple(TRIALS)
