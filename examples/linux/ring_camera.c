/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A camera that writes its frames straight into the recorder's ring: ring_camera NAME FRAMES
 *
 *   spate record rec.img camera.raw --from ring:camera &
 *   ring_camera camera 100
 */
#include <spate/ring.h>

#include <stdio.h>
#include <stdlib.h>

#define FRAME_BYTES (UINT32_C(2) << 20)
#define SLOTS       8u

/* Stands for a driver's call that reads a frame into a given buffer. */
static void expose(uint16_t *frame, unsigned number) {
  for (unsigned pixel = 0; pixel < FRAME_BYTES / sizeof *frame; pixel++)
    frame[pixel] = (uint16_t)(pixel * 7u + number);
}

int main(int count, char **words) {
  struct spate_ring *ring;

  if (count != 3) {
    (void)fprintf(stderr, "Usage: ring_camera NAME FRAMES\n"
                          "  spate record rec.img camera.raw --from ring:camera &\n"
                          "  ring_camera camera 100\n");
    return 2;
  }
  int error = spate_ring_create(&ring, words[1], FRAME_BYTES, SLOTS);
  for (unsigned number = 0; error == 0 && number < strtoul(words[2], NULL, 10); number++) {
    void *slot = spate_ring_claim(ring, -1); /* a camera that cannot wait uses 0 and spate_ring_lost() */
    if (slot == NULL) break;
    expose(slot, number);
    error = spate_ring_publish(ring, FRAME_BYTES);
  }
  if (error != 0) {
    (void)fprintf(stderr, "ring_camera: %s: %s\n", words[1], spate_ring_sentence(error));
    return 1;
  }
  spate_ring_end(ring);
  spate_ring_close(ring);
  return 0;
}
