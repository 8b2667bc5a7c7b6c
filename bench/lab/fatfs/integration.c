/* SPDX-License-Identifier: Apache-2.0 */
/* The same recording through integrations/fatfs: the disk layer that this project gives to users of FatFs. */
#include "disk.h"

#include <experiments.h>
#include <spate_diskio.h>
#include <stdlib.h>

#include <ff.h>

#define BOUNCE_BYTES (8u * SPATE_DISKIO_SLOT_BYTES)

const char *const disk_experiment = "diskio";

static struct lab_machine *lab;
static struct spate_diskio disk;
static struct spate_diskio_range range;
static struct spate_diskio_request *requests;

void disk_attach(struct lab_machine *machine) {
  lab = machine;
  requests = calloc(lab->options->depth, sizeof *requests);
  if (requests == NULL) lab_fail("no memory for the disk layer");
  const struct spate_diskio_config config = {.block = &lab->tap.block,
                                             .requests = requests,
                                             .request_count = (unsigned)lab->options->depth,
                                             .bounce = sim_memory_take(lab->sim, BOUNCE_BYTES, SIM_CACHED),
                                             .bounce_bytes = BOUNCE_BYTES};
  lab_expect(spate_diskio_open(&disk, 0, &config), "opening the disk layer");
  lab_expect(spate_diskio_register(&disk, &range, lab->ring, 0, lab->ring->bytes, SPATE_DISKIO_WRITES),
             "registering the ring");
}

void disk_detach(void) {
  lab_expect(spate_diskio_close(&disk), "a write of the stream");
  free(requests);
}

uint64_t disk_completed_bytes(void) { return disk.counters.streamed_bytes; }

void disk_work(uint64_t most_ps) {
  if (spate_block_poll(&lab->tap.block, LAB_BATCH) == 0) sim_idle(lab->sim, most_ps);
}

void disk_wait_piece(uint64_t offset) {
  lab_expect(spate_diskio_wait(&disk, lab->ring->start + offset, (size_t)lab->options->block_bytes),
             "a write of the stream");
}

void disk_drain(void) { lab_expect(spate_diskio_wait_all(&disk), "a write of the stream"); }

/* A constant time, so that two runs give the same bytes. */
DWORD get_fattime(void) { return (DWORD)(2026 - 1980) << 25 | 1u << 21 | 1u << 16; }
