# SPDX-License-Identifier: Apache-2.0
"""A GNU Radio flow graph that records its samples through a ring instead of `blocks.file_sink(...)`.

    spate record rec.img iq.cf32 --from ring:receiver &
    python3 gnuradio_receiver.py receiver 10000000
"""

import sys

import numpy
import spate_ring
from gnuradio import analog, blocks, gr


class ring_sink(gr.sync_block):
    """Writes complex samples into a ring. `live`: never blocks the flow graph, and counts the samples it loses."""

    def __init__(self, name: str, live: bool = False):
        gr.sync_block.__init__(self, "ring_sink", [numpy.complex64], None)
        self.ring = spate_ring.Ring(name, slot_bytes=1 << 20, slots=64)
        self.timeout_s = 0 if live else None

    def work(self, input_items, output_items):
        self.ring.write(input_items[0], self.timeout_s)
        return len(input_items[0])

    def stop(self):
        self.ring.end()
        self.ring.close()
        return True


def main(name: str, samples: int) -> None:
    graph = gr.top_block()
    tone = analog.sig_source_c(10e6, analog.GR_COS_WAVE, 1e6, 1.0)
    sink = ring_sink(name)  # keep a reference: GNU Radio does not keep a Python block alive
    graph.connect(tone, blocks.head(gr.sizeof_gr_complex, samples), sink)
    graph.run()


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(sys.argv[1], int(sys.argv[2]))
