/* SPDX-License-Identifier: Apache-2.0 */
/* What one command costs on a board (calls.h), what recording costs above it (recording.h), and what a loop costs
 * beside that (looping.h). Run it under an emulator that counts instructions exactly (QEMU -icount), so that the
 * figures are exactly repeatable. */
#include "../common/drive.h"
#include "pmu.h"

#include "calls.h"
#include <print.h>
#include <spate/loop.h>

#include "recording.h"

#include "looping.h"

#define QUEUE_DEPTH 64u

static struct drive drive;
static struct recording recording;
static struct looping looping;

static void print_cost(const char *name, enum spate_op op, uint32_t bytes) {
  struct cost best;

  must("counting a batch", calls_cost(&drive.ring, op, bytes, &best));
  print("cost %s %u submit %u doorbell %u complete %u batch %u\n", name, bytes, best.submit, best.doorbell,
        best.complete, CALLS_BATCH);
}

static void print_recording(const char *name, uint32_t piece_bytes) {
  struct recording_cost cost;

  recording_count(&recording, &drive.ring, name, piece_bytes, &cost);
  print("cost recording %u push %u turn %u piece %u checkpoint %u clip %u\n", piece_bytes, cost.push, cost.turn,
        cost.piece, cost.checkpoint, cost.clip);
}

static void print_loop(void) {
  struct looping_cost cost;

  looping_count(&looping, &recording, &drive.ring, &cost);
  print("cost loop work %u lap %u\n", cost.work, cost.lap);
}

int app_main(void) {
  static const uint32_t sizes[] = {4096, 128u << 10, 1u << 20};

  pmu_start();
  drive_open(&drive, QUEUE_DEPTH);
  device = &drive.queue.block;
  if (device->command_bytes_max < 1u << 20) {
    print("FAILED: this drive takes commands of %u bytes at most: run it with mdts=8\n", device->command_bytes_max);
    return 1;
  }
  for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    print_cost("write", SPATE_WRITE, sizes[i]);
    print_cost("read", SPATE_READ, sizes[i]);
  }
  print("cost callback %u\n", calls_callback_body());
  print("cost idle poll %u\n", calls_idle_poll());
  recording_mount(&recording, &drive.ring);
  print_recording("SMALL.RAW", 4096);
  print_recording("LARGE.RAW", 1u << 20);
  print_loop();
  must("shutting the drive down", spate_nvme_shutdown(&drive.controller));
  return 0;
}
