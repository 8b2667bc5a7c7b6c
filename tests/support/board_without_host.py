# SPDX-License-Identifier: Apache-2.0
"""A board that no host serves, as on hardware without a debugger: it ends its run by a sentence, and stays."""

import contextlib
import subprocess
import threading

import program
import qemu

SENTENCE = "board  stopped with status "


@contextlib.contextmanager
def stopped(board, app, *options, image=None, timeout_s=60):
    """Starts a firmware. Gives the running emulator and what the console said, up to the sentence."""
    words = qemu.command(board, app, None, {}, host=False, image=image, options=options)
    with program.process(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as machine:
        timer = threading.Timer(timeout_s, machine.kill)
        timer.start()
        try:
            said = ""
            while SENTENCE not in said and (line := machine.stdout.readline()):
                said += line
            assert SENTENCE in said, said
            yield machine, said
        finally:
            timer.cancel()
