# SPDX-License-Identifier: Apache-2.0
"""The GDB protocol of QEMU, as far as a test needs it: it stops a processor at its writes, and reads and writes memory."""

import contextlib
import socket

import qemu


class Stub:
    def __init__(self, connection):
        self.stream = connection.makefile("rwb")
        self.lengths = {}

    def ask(self, request: str) -> str:
        data = request.encode()
        self.stream.write(b"$%s#%02x" % (data, sum(data) % 256))
        self.stream.flush()
        while self.stream.read(1) != b"$":
            pass
        answer = b""
        while (byte := self.stream.read(1)) != b"#":
            answer += byte
        self.stream.read(2)
        self.stream.write(b"+")
        return answer.decode()

    def must(self, request: str) -> None:
        answer = self.ask(request)
        assert answer == "OK", (request, answer)

    def watch(self, address: int, length: int) -> None:
        self.must(f"Z2,{address:x},{length:x}")
        self.lengths[address] = length

    def next_write(self) -> int:
        """Continues until something that is watched was written. Gives the address that watch() got. An Arm processor stops
        before the write: it is carried out here."""
        answer = self.ask("c")
        assert ";watch:" in answer, answer
        address = int(answer.split(";watch:")[1].rstrip(";"), 16)
        self.must(f"z2,{address:x},{self.lengths[address]:x}")
        self.ask("s")
        self.watch(address, self.lengths[address])
        return address

    def read(self, address: int) -> int:
        return int.from_bytes(bytes.fromhex(self.ask(f"m{address:x},4")), "little")

    def write(self, address: int, word: int) -> None:
        self.must(f"M{address:x},4:{word.to_bytes(4, 'little').hex()}")


@contextlib.contextmanager
def stopped_at_reset(folder, start, timeout_s=60):
    """`start` gets more options of QEMU, and starts it. Gives the stub of its first processor."""
    path = folder / "gdb"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(timeout_s)
        with start(("-S", "-chardev", f"socket,id=gdb,path={qemu.escape(str(path))}", "-gdb", "chardev:gdb")):
            connection, _ = listener.accept()
            connection.settimeout(timeout_s)
            with connection:
                yield Stub(connection)
