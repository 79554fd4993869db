"""Faults: what a child may do to whoever runs it, as small Python programs."""

from __future__ import annotations

from dataclasses import dataclass

from runner.harnesses.base import Reading
from runner.records import Outcome

FINE = Reading(stop_reason="end_turn", is_error=False)
SLEEP = "import time; time.sleep(60)"
CHAIN = """
for _ in range(5000):
    if os.fork(): os._exit(0)
    os.setsid()
exec(SLEEP)
"""
DAEMON = "subprocess.Popen([sys.executable, '-c', SLEEP], start_new_session=True)"


@dataclass(frozen=True)
class Fault:
    """A behaviour, the limits it runs under, and how it must end.

    In ``script`` the names os, sys, time, signal, subprocess and SLEEP are known. ``reading`` None: the
    output is read as that of the built-in harness. ``says`` is part of the reason.
    """

    script: str
    outcome: Outcome
    says: str = ""
    timeout: float = 45.0
    idle: float | None = None
    at_most: float = 50.0
    """Less than anything sleeps here, and much more than a busy machine needs."""
    processes: int = 2000
    stdin: bytes = b""
    reading: Reading | None = FINE
    cut: bool = False


def _ends(script: str, outcome: Outcome = Outcome.COMPLETED, says: str = "", **more: object) -> Fault:
    """A fault that ends by itself."""
    return Fault(script, outcome, says, **more)  # type: ignore[arg-type]


STOPPED: dict[str, Fault] = {
    "hangs silently": Fault("time.sleep(60)", Outcome.TIMEOUT, "neither output nor", idle=0.5),
    "hangs until its deadline": Fault("time.sleep(60)", Outcome.TIMEOUT, "wall-clock limit", timeout=0.5),
    "ignores the polite signal": Fault(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)", Outcome.TIMEOUT, timeout=0.5
    ),
    "stops itself": Fault("os.kill(os.getpid(), signal.SIGSTOP)", Outcome.TIMEOUT, timeout=0.5),
    "stops whoever started it": Fault(
        "os.kill(os.getppid(), signal.SIGSTOP); time.sleep(60)", Outcome.TIMEOUT, timeout=0.5, at_most=12
    ),
    "stops whoever started it and lives on in a chain of daemons": Fault(
        f"signal.signal(signal.SIGTERM, signal.SIG_IGN); os.kill(os.getppid(), signal.SIGSTOP)\n{CHAIN}",
        Outcome.TIMEOUT,
        timeout=0.5,
        at_most=20,
    ),
    "traces whoever started it": Fault(
        "import ctypes; ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0); time.sleep(60)",
        Outcome.TIMEOUT,
        timeout=0.5,
        at_most=12,
    ),
    "prints slowly for ever": Fault(
        "while True: print('tick', flush=True); time.sleep(0.05)", Outcome.TIMEOUT, idle=0.4, timeout=1.0
    ),
    "prints fast for ever": Fault(
        "while True: os.write(1, b'y' * 65536)", Outcome.TIMEOUT, timeout=1.0, idle=0.5
    ),
    "hangs with grandchildren": Fault(
        "[subprocess.Popen([sys.executable, '-c', SLEEP]) for _ in range(5)]; time.sleep(60)",
        Outcome.TIMEOUT,
        timeout=0.8,
    ),
    "hangs with a daemon": Fault(f"{DAEMON}; time.sleep(60)", Outcome.TIMEOUT, timeout=0.8),
    "starts a daemon when asked to end": Fault(
        f"signal.signal(signal.SIGTERM, lambda *_: ({DAEMON}, os._exit(0))); time.sleep(60)",
        Outcome.TIMEOUT,
        timeout=0.5,
    ),
    "closes its output and hangs": Fault(
        "os.close(1); os.close(2); time.sleep(60)", Outcome.TIMEOUT, idle=0.5
    ),
    "busy loop": Fault("while True: pass", Outcome.TIMEOUT, timeout=0.5),
    "fork bomb": Fault(
        # 512 processes at most, slowly, so that the machine lives should nothing stop it.
        "for _ in range(9): os.fork(); time.sleep(0.1)\ntime.sleep(40)",
        Outcome.BUDGET,
        "processes",
        processes=100,
    ),
}

ENDED: dict[str, Fault] = {
    "leaves grandchildren": _ends("subprocess.Popen([sys.executable, '-c', SLEEP])"),
    "leaves a daemon": _ends(DAEMON),
    "leaves a daemon by a double fork": _ends(
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0: os.execve(sys.executable, [sys.executable, '-c', SLEEP], {})\n"
        "    os._exit(0)\n"
        "time.sleep(0.2)"
    ),
    "leaves a daemon that holds its output open": _ends(
        "subprocess.Popen([sys.executable, '-c', SLEEP], start_new_session=True, stdout=1, stderr=2)"
    ),
    "leaves a chain of daemons": _ends(
        "for _ in range(4):\n    if os.fork(): break\n    os.setsid()\nelse: exec(SLEEP)"
    ),
    "prints a gigabyte": _ends("for _ in range(1024): os.write(1, (b'x' * 1023 + b'\\n') * 1024)", cut=True),
    "prints a gigabyte of errors": _ends("for _ in range(16384): os.write(2, b'e' * 65536)"),
    "prints one line of 50 MB": _ends("sys.stdout.write('x' * 50_000_000)"),
    "prints what is no UTF-8": _ends(
        "os.write(1, bytes(range(256)) * 1000); os.write(2, b'\\xff\\xfe\\x80')"
    ),
    "prints zero bytes": _ends("os.write(1, b'\\0' * 1_000_000 + b'\\n')"),
    "floods the terminal with control sequences": _ends(
        "sys.stdout.write('\\x1b[2J\\x1b[31m\\x07\\x1b]0;title\\x07\\r' * 100_000)"
    ),
    "prints a million lines": _ends("sys.stdout.write('\\n' * 1_000_000)"),
    "prints half an event": _ends(
        """print('{"event": "answer", "usage": {"input": 12')""", Outcome.MODEL_ERROR, reading=None
    ),
    "prints nothing at all": _ends("pass", Outcome.MODEL_ERROR, reading=None),
    "prints deeply nested JSON": _ends("print('[' * 200_000)", Outcome.MODEL_ERROR, reading=None),
    "leaves no artifact": _ends("os.unlink('../artifacts/implementation.md')", Outcome.INCOMPLETE, "missing"),
    "closes its output early": _ends("os.close(1); os.close(2); time.sleep(0.3)"),
    "reads no input": _ends("time.sleep(0.1)", stdin=b"x" * 3_000_000),
    "reads input to its end": _ends("assert len(sys.stdin.buffer.read()) == 500_000", stdin=b"x" * 500_000),
    "waits for input that never comes": _ends("assert sys.stdin.read() == ''"),
    "closes its input early": _ends("os.close(0); time.sleep(0.1)", stdin=b"x" * 500_000),
    "crashes": _ends("os.kill(os.getpid(), signal.SIGSEGV)", Outcome.INFRASTRUCTURE),
    "kills itself": _ends("os.kill(os.getpid(), signal.SIGKILL)", Outcome.INFRASTRUCTURE),
    "kills whoever started it": _ends(
        "time.sleep(0.1); os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)", Outcome.INFRASTRUCTURE
    ),
    "kills whoever started it and lives on in a chain of daemons": _ends(
        "above = os.getppid()\n"
        "if os.fork(): time.sleep(60)\n"
        "for n in range(300):\n"
        "    if os.fork(): os._exit(0)\n"
        "    os.setsid()\n"
        "    if n == 100: os.kill(above, signal.SIGKILL)\n"
        "exec(SLEEP)",
        Outcome.INFRASTRUCTURE,
    ),
    "ends with an HTTP status": _ends("sys.exit(400 % 256)", Outcome.INFRASTRUCTURE, "exit code 144"),
    "writes more than it may": _ends(
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "open('big', 'wb').write(b'x' * 1_000_000)",
        Outcome.INFRASTRUCTURE,
        "File too large",
    ),
    "takes all file descriptors": _ends(
        # A machine may allow a million.
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (500, 500))\n"
        "held = [os.dup(0) for _ in range(1000)]",
        Outcome.INFRASTRUCTURE,
        "Too many open files",
    ),
    "deletes its workspace": _ends("import shutil; shutil.rmtree(os.getcwd(), ignore_errors=True)"),
    "locks its workspace": _ends("os.makedirs('a/b'); os.chmod('a', 0); os.chmod('.', 0)"),
    "puts a link in place of its workspace": _ends(
        "import contextlib\n"
        "with contextlib.suppress(OSError):\n"
        "    here = os.getcwd(); os.rename(here, here + '-gone'); os.symlink('/etc', here)"
    ),
    "writes a sparse artifact of 10 GB": _ends("os.truncate('../artifacts/implementation.md', 10 * 1024**3)"),
    "makes a very deep folder": _ends("for _ in range(300): os.mkdir('d'); os.chdir('d')"),
    "changes its priority": _ends("os.nice(19)"),
    "calls itself something else": _ends(
        "import ctypes; ctypes.CDLL(None).prctl(15, b'a) R 1 1 (b', 0, 0, 0); time.sleep(0.4)"
    ),
}
