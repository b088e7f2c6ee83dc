"""Run a command with no network but the machine's own loopback, where Linux lets us.

`python -m tools.offline COMMAND ...` is what runs inside the new network namespace.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys

UNSHARE = (["unshare", "--map-root-user", "--net"], ["unshare", "--net"])
ENTER = [sys.executable, "-m", "tools.offline"]
ONLY_LOOPBACK = "import socket; print([name for _, name in socket.if_nameindex()])"
SET_INTERFACE_FLAGS, UP = 0x8914, 0x1  # of Linux's <sys/ioctl.h> and <net/if.h>


def offline_prefix() -> list[str]:
    """Return what to put before a command to cut its network; empty if impossible."""
    if shutil.which("unshare") is None:
        return []
    for unshare in UNSHARE:
        probe = [*unshare, *ENTER, sys.executable, "-c", ONLY_LOOPBACK]
        answer = subprocess.run(probe, capture_output=True, text=True, check=False)
        if answer.stdout.strip() == "['lo']":
            return [*unshare, *ENTER]
    return []


def raise_loopback() -> None:
    """Switch the loopback device on: kernels talk to us over it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh", b"lo", UP)
        fcntl.ioctl(any_socket.fileno(), SET_INTERFACE_FLAGS, request)


if __name__ == "__main__":
    raise_loopback()
    os.execvp(sys.argv[1], sys.argv[1:])
