# SPDX-License-Identifier: Apache-2.0
"""Makes system calls of a program under test fail, as a container or an older kernel does."""

import ctypes
import errno
import os
import struct

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
IO_URING_SETUP = 425  # on every architecture
PREADV, PWRITEV2 = {"x86_64": (295, 328), "aarch64": (69, 287)}[os.uname().machine]


def filter_calls(steps):
    """Called in the child process: installs a seccomp filter of these instructions, each (code, jump if true, jump if false,
    value)."""
    filters = b"".join(struct.pack("=HBBI", *step) for step in steps)
    memory = ctypes.create_string_buffer(filters)
    libc = ctypes.CDLL(None, use_errno=True)
    rule = struct.pack("@HP", len(steps), ctypes.addressof(memory))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, rule, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def failing_calls(number, begin, end):
    """Called in the child process: makes this system call fail with EIO if its fourth argument, the offset, is at least `begin`
    and below `end`."""
    filter_calls([(0x20, 0, 0, 0), (0x15, 0, 1, IO_URING_SETUP), (0x06, 0, 0, 0x00050000 | errno.EPERM),
                  (0x15, 0, 4, number), (0x20, 0, 0, 16 + 3 * 8), (0x35, 0, 2, begin), (0x35, 1, 0, end),
                  (0x06, 0, 0, 0x00050000 | errno.EIO), (0x06, 0, 0, 0x7FFF0000)])
