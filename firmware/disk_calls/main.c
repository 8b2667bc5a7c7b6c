/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call of the disk layer of integrations/fatfs costs on a board, in instructions, with the driver below it. Run
 * it under an emulator that counts instructions exactly, with a drive that answers late: a call that reaps a completion
 * is not counted.
 */
#include "../common/drive.h"
#include "../instructions/pmu.h"
#include <print.h>
#include <spate/port.h>
#include <spate_diskio.h>
#include <string.h>

#include <ff.h>

#include <diskio.h> /* after ff.h, whose types it uses */

#define QUEUE_DEPTH  64u
#define REQUESTS     32u
#define BATCH        16u /* what one poll of the disk layer reaps */
#define WRITE_BYTES  (64u * 1024u)
#define BOUNCE_BYTES (8u * SPATE_DISKIO_SLOT_BYTES)
#define RUNS_MIN     4u
#define RUNS_MAX     64u

static struct drive drive;
static struct spate_diskio disk;
static struct spate_diskio_request requests[REQUESTS];
static struct spate_diskio_range range;
static uint8_t sector[4096];

#define COUNTED __attribute__((noinline)) static uint32_t

/* The cost of reading the counter twice. */
COUNTED count_nothing(void) {
  const uint32_t before = pmu_instructions();

  return pmu_instructions() - before;
}

COUNTED count_write(const uint8_t *memory, uint32_t at, uint32_t sectors, bool *failed) {
  const uint32_t before = pmu_instructions();
  const DRESULT result = disk_write(0, memory, at, sectors);
  const uint32_t after = pmu_instructions();

  *failed = *failed || result != RES_OK;
  return after - before - count_nothing();
}

COUNTED count_busy(const uint8_t *memory) {
  const uint32_t before = pmu_instructions();
  const bool busy = spate_diskio_busy(&disk, memory, WRITE_BYTES);
  const uint32_t after = pmu_instructions();

  return busy ? after - before - count_nothing() : UINT32_MAX;
}

COUNTED count_poll(void) {
  const uint32_t before = pmu_instructions();

  spate_diskio_poll(&disk);
  return pmu_instructions() - before - count_nothing();
}

/* Several answers come meanwhile. */
static void wait_a_while(void) {
  const uint64_t until_ticks = spate_port_ticks() + spate_port_ticks_per_second() / 1000u;

  while (spate_port_ticks() < until_ticks)
    spate_port_relax();
}

/* The least of several runs. UINT32_MAX: no run was valid. */
struct costs {
  uint32_t write[REQUESTS]; /* with this many in flight */
  uint32_t copy;            /* of one sector, with none in flight */
  uint32_t busy;            /* asked about the last of REQUESTS in flight */
  uint32_t poll;            /* that reaps BATCH */
  uint32_t idle;
};

static void keep_least(uint32_t *least, uint32_t cost, bool valid) {
  if (valid && cost < *least) *least = cost;
}

static void measure(struct costs *costs, bool *failed) {
  const uint32_t sectors = WRITE_BYTES >> drive.queue.block.block_shift;

  for (uint32_t i = 0; i < REQUESTS; i++) {
    const uint32_t cost = count_write(range.start + (size_t)i * WRITE_BYTES, i * sectors, sectors, failed);
    keep_least(&costs->write[i], cost, disk.in_flight == i + 1u);
  }
  keep_least(&costs->busy, count_busy(range.start + (size_t)(REQUESTS - 1u) * WRITE_BYTES), disk.in_flight == REQUESTS);
  while (disk.in_flight > 0) {
    wait_a_while();
    const uint32_t in_flight = disk.in_flight, poll = count_poll();
    keep_least(&costs->poll, poll, disk.in_flight + BATCH == in_flight);
  }
  keep_least(&costs->copy, count_write(sector, 0, 1, failed), disk.in_flight == 1);
  *failed = *failed || spate_diskio_wait_all(&disk) != SPATE_OK;
  keep_least(&costs->idle, count_poll(), true);
}

static void open_layer(void) {
  struct spate_arena *memory = board_queue_memory();
  const struct spate_diskio_config config = {.block = &drive.queue.block,
                                             .requests = requests,
                                             .request_count = REQUESTS,
                                             .bounce = spate_arena_take(memory, BOUNCE_BYTES, SPATE_PAGE_BYTES),
                                             .bounce_bytes = BOUNCE_BYTES};

  must("opening the disk layer", spate_diskio_open(&disk, 0, &config));
  must("registering the ring",
       spate_diskio_register(&disk, &range, &drive.ring, 0, drive.ring.bytes, SPATE_DISKIO_WRITES));
  (void)disk_initialize(0);
}

static bool is_complete(const struct costs *costs) {
  bool complete = costs->copy != UINT32_MAX && costs->busy != UINT32_MAX && costs->poll != UINT32_MAX;

  for (uint32_t i = 0; i < REQUESTS; i++)
    complete = complete && costs->write[i] != UINT32_MAX;
  return complete;
}

int app_main(void) {
  struct costs costs;
  bool failed = false;

  memset(&costs, 0xff, sizeof costs);
  pmu_start();
  drive_open(&drive, QUEUE_DEPTH);
  open_layer();
  for (unsigned run = 0; run < RUNS_MIN || (run < RUNS_MAX && !is_complete(&costs)); run++)
    measure(&costs, &failed);
  if (failed || !is_complete(&costs)) {
    print("FAILED: a call failed, or reaped a completion in each run: the drive has to answer later\n");
    return 1;
  }
  print("calls write %u %u %u copy %u busy %u poll %u idle %u\n", costs.write[0], costs.write[REQUESTS / 2],
        costs.write[REQUESTS - 1u], costs.copy, costs.busy, costs.poll / BATCH, costs.idle);
  must("shutting the drive down", spate_nvme_shutdown(&drive.controller));
  return 0;
}
