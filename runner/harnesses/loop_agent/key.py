"""Key: takes the model's key out of the environment, so that nothing started later can see it."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys


def take_key(variable: str) -> str:
    """The value of ``variable``, which is removed from this process's environment.

    Linux shows the first environment of a process to others of the same user in ``/proc``, whatever was
    removed later; so the bytes themselves are overwritten there.
    """
    key = os.environ.get(variable, "")
    if key and sys.platform == "linux":
        libc = ctypes.CDLL(ctypes.util.find_library("c"))
        libc.getenv.restype = ctypes.c_void_p
        address = libc.getenv(variable.encode())
        if address:
            ctypes.memset(address, ord("x"), len(os.fsencode(key)))
    os.environ.pop(variable, None)
    return key
