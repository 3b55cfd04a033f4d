"""Confined processes for untrusted input: users' SQL, users' pictures.

Such a process gets few environment variables. Before it starts to work, it irrevocably gives up:

1. By the kernel's resource limits: memory and CPU time beyond a bound, and writing files.
2. By Landlock (https://docs.kernel.org/userspace-api/landlock.html), where the kernel has it:
   opening any file, except for reading a few, even if a library is exploited.

All that Python and the libraries need must be imported before.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import subprocess
import sys
from pathlib import Path
from typing import Final

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on all architectures
PATH_BENEATH: Final = 1
NO_NEW_PRIVILEGES: Final = 38
READ_FILE, READ_DIR = 1 << 2, 1 << 3
ALL_OF_ABI_1: Final = (1 << 13) - 1
TRUNCATE: Final = 1 << 14  # since ABI 3
REFER: Final = 1 << 13  # since ABI 2
KEPT: Final = ("PATH", "PYTHONHOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH")
"""The environment variables that are passed on: no secrets, no credentials."""


def run_confined(
    module: str, content: bytes, *, seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """Runs a module as a process with the content as its standard input; returns the output.

    Raises subprocess.TimeoutExpired after `seconds`; the process has been killed by then.
    """
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    # The process imports the same modules as this one, wherever this one found them.
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, "-m", module],
        input=content,
        capture_output=True,
        check=False,
        env=environment,
        start_new_session=True,
        timeout=seconds,
    )


class RulesetAttributes(ctypes.Structure):
    _fields_ = [("handled_access_fs", ctypes.c_uint64)]


class PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32)]


def limit_resources(memory_bytes: int, cpu_seconds: int) -> None:
    for kind, amount in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, most = resource.getrlimit(kind)
        wanted = amount if most == resource.RLIM_INFINITY else min(amount, most)
        resource.setrlimit(kind, (wanted, wanted))


def confine_to(*readable: Path) -> bool:
    """Confines this process to reading these files and folders; False if the kernel cannot."""
    if platform.system() != "Linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    handled = ALL_OF_ABI_1 | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    attributes = RulesetAttributes(handled)
    ruleset = libc.syscall(CREATE_RULESET, ctypes.byref(attributes), ctypes.sizeof(attributes), 0)
    if ruleset < 0:
        return False
    try:
        return (
            all(allow_reading(libc, ruleset, path) for path in readable)
            and libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
            and libc.syscall(RESTRICT_SELF, ruleset, 0) == 0
        )
    finally:
        os.close(ruleset)


def allow_reading(libc: ctypes.CDLL, ruleset: int, path: Path) -> bool:
    if not path.exists():
        return True
    access = READ_FILE | READ_DIR if path.is_dir() else READ_FILE
    opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        beneath = PathBeneath(access, opened)
        added: int = libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(beneath), 0)
        return added == 0
    finally:
        os.close(opened)
