# SPDX-License-Identifier: Apache-2.0
"""Makes system calls of a program under test fail, as a container or an older kernel does."""

import ctypes
import struct

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
IO_URING_SETUP = 425  # on every architecture


def filter_calls(steps):
    """Called in the child process: installs a seccomp filter of these instructions, each (code, jump if true, jump if false,
    value)."""
    filters = b"".join(struct.pack("=HBBI", *step) for step in steps)
    memory = ctypes.create_string_buffer(filters)
    libc = ctypes.CDLL(None, use_errno=True)
    rule = struct.pack("@HP", len(steps), ctypes.addressof(memory))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, rule, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")
