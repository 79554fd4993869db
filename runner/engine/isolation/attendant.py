"""Attendant: starts an agent, carries its requests to the gateway, and leaves no process behind.

A program of its own: only the standard library, started as
``python -I -S attendant.py SOCKET PORT ADDED KEEPER -- COMMAND``. In a sandbox SOCKET is the gateway's and
connections to PORT on loopback are carried to it. Without one, KEEPER is the process id of the runner:
the attendant then adopts every process that leaves the agent's group, and ends all of them with the agent
or with the runner. It does so twice over: should the agent end, stop or trace the one that started it,
there is another one above. ADDED names variables that the isolation itself added, with commas between them.
In a container KEEPER is ``first``: we are its first process and pass the polite signal on to all others.
``-`` leaves an argument out.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import threading
import time
from types import FrameType

CHUNK = 64 * 1024
BACKLOG = 128
CANNOT_RUN = 127
CLEARING_SECONDS = 20.0
FULL_SECONDS = 0.05
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
DEFAULTS = (signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ)


def main(arguments: list[str]) -> int:
    """Run the command with exactly the environment that we were started with; returns its exit code."""
    path, port, added, keeper, _, *command = arguments
    # The polite signal is for the agent; we stay to see it end.
    signal.signal(signal.SIGTERM, _tell_all if keeper == "first" else _stay)
    keeps = keeper not in {"-", "first"}
    if keeps:
        adopt(int(keeper))
        above = os.getpid()
        if below_us := os.fork():
            return finished(code_of(below_us))
        adopt(above)
    listener: socket.socket | None = None
    if path != "-":
        listener = socket.create_server(("127.0.0.1", int(port)), backlog=BACKLOG)
    child = start(command, first_environment(without=added))
    if child is None:
        return CANNOT_RUN
    if listener is not None:
        threading.Thread(target=serve, args=(listener, path), daemon=True).start()
    code = code_of(child)
    if keeps:
        return finished(code)
    return shown(code)


def finished(code: int) -> int:
    """End everything below us and then as the agent did; returns its exit code where that is one."""
    clear()
    if code < 0:
        end_by(-code)
    return shown(code)


def shown(code: int) -> int:
    """An exit code as a shell shows it: a signal, which is negative here, from 128 up."""
    return code if code >= 0 else 128 - code


def first_environment(without: str) -> dict[bytes, bytes]:
    """The environment as it was at the start: an interpreter may add to its own."""
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123 - fewer imports, faster start
        pairs = [entry.split(b"=", 1) for entry in file.read().split(b"\0") if b"=" in entry]
    return {name: value for name, value in pairs if name not in without.encode().split(b",")}


def start(command: list[str], environment: dict[bytes, bytes]) -> int | None:
    """Start ``command`` in a session of its own; its process id, or None when there is no such program."""
    name = os.fsencode(command[0])
    folders = [b""] if b"/" in name else environment.get(b"PATH", os.fsencode(os.defpath)).split(b":")
    reason = "it is not on the search path"
    for folder in folders:
        try:
            return os.posix_spawn(
                os.path.join(folder, name),  # noqa: PTH118 - bytes, not text
                [os.fsencode(part) for part in command],
                environment,
                setsid=True,
                setsigdef=DEFAULTS,
            )
        except OSError as error:
            if not folder or not isinstance(error, FileNotFoundError):
                reason = os.strerror(error.errno or 0)
    sys.stderr.write(f"{command[0]} cannot be run: {reason}\n")
    return None


def code_of(child: int) -> int:
    """Wait for ``child``, and for whatever else ends meanwhile; a signal is a negative number."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def adopt(keeper: int) -> None:
    """Become the parent of every orphan below us, and end with ``keeper``."""
    import ctypes  # only here: a sandbox need not wait for it to load

    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGHUP, _abandoned)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGHUP, 0, 0, 0)
    if os.getppid() != keeper:
        os._exit(CANNOT_RUN)


def clear() -> None:
    """End every process below us. Children of one that ends become ours, so none is out of reach."""
    deadline = time.monotonic() + CLEARING_SECONDS
    while time.monotonic() < deadline:
        for pid in below(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        time.sleep(0.002)


def below(top: int) -> list[int]:
    """Processes below ``top``, nearest first."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - fewer imports, faster start
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                parent = file.read().rpartition(b")")[2].split()[1]
        except OSError:
            continue
        children.setdefault(int(parent), []).append(int(name))
    found = list(children.get(top, ()))
    for pid in found:
        found += children.get(pid, ())
    return found


def end_by(number: int) -> None:
    """End as the agent ended, so that whoever waits for us sees the same signal."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def serve(listener: socket.socket, path: str) -> None:
    """Carry every connection to the socket at ``path``.

    One for which no descriptor or thread is left is cut or waits; those after it are still carried.
    """
    while True:
        try:
            near, _ = listener.accept()
        except OSError:
            time.sleep(FULL_SECONDS)
            continue
        try:
            carry(near, path)
        except (OSError, RuntimeError):
            cut(near)


def carry(near: socket.socket, path: str) -> None:
    """Carry one connection, from now on."""
    near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    far = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    far.connect(path)
    carried = Carried(near, far)
    for source, target in ((near, far), (far, near)):
        threading.Thread(target=carried.carry, args=(source, target), daemon=True).start()


class Carried:
    """One connection: both directions, each ended as its source ends."""

    def __init__(self, near: socket.socket, far: socket.socket) -> None:
        self.both = (near, far)
        self.open_directions = 2
        self.lock = threading.Lock()

    def carry(self, source: socket.socket, target: socket.socket) -> None:
        """Copy bytes as they arrive, then pass the end on."""
        buffer = memoryview(bytearray(CHUNK))
        try:
            while size := source.recv_into(buffer):
                target.sendall(buffer[:size])
            target.shutdown(socket.SHUT_WR)
        except OSError:
            for end in self.both:
                cut(end)
        with self.lock:
            self.open_directions -= 1
            if self.open_directions == 0:
                for end in self.both:
                    end.close()


def cut(end: socket.socket) -> None:
    """End both directions, so that the thread that waits on the other one wakes up."""
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def _stay(_number: int, _frame: FrameType | None) -> None:
    return


def _tell_all(_number: int, _frame: FrameType | None) -> None:
    # Within a process namespace of its own, these are the agent's processes and no others.
    try:
        os.kill(-1, signal.SIGTERM)
    except ProcessLookupError:
        return


def _abandoned(_number: int, _frame: FrameType | None) -> None:
    clear()
    os._exit(CANNOT_RUN)


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
