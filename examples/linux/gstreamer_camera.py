# SPDX-License-Identifier: Apache-2.0
"""A GStreamer pipeline that ends in a ring instead of `filesink location=camera.raw`.

    spate record rec.img camera.raw --from ring:camera &
    python3 gstreamer_camera.py camera "videotestsrc num-buffers=100 ! video/x-raw,format=GRAY16_LE,width=1920,height=1080"
"""

import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402
import spate_ring  # noqa: E402


def main(name: str, pipeline: str) -> None:
    Gst.init(None)
    line = Gst.parse_launch(f"{pipeline} ! appsink name=sink sync=false max-buffers=4")
    sink = line.get_by_name("sink")
    line.set_state(Gst.State.PLAYING)
    with spate_ring.Ring(name, slot_bytes=1 << 20, slots=64) as ring:
        while (sample := sink.emit("pull-sample")) is not None:
            buffer = sample.get_buffer()
            whole, memory = buffer.map(Gst.MapFlags.READ)
            assert whole
            ring.write(memory.data, timeout_s=None)  # for a live source use 0, which drops whole frames instead of waiting
            buffer.unmap(memory)
    line.set_state(Gst.State.NULL)


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(sys.argv[1], sys.argv[2])
