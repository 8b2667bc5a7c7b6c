/* SPDX-License-Identifier: Apache-2.0 */
/* The driver on QEMU's NVMe drive, which detects what the project's own virtual drive may have misunderstood. */
#include "nvme/internal.h"
#include "qtest_port.h"
#include <setjmp.h>
#include <spate/bytes.h>
#include <spate/nvme.h>
#include <spate/port.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define IMAGE_BYTES           (UINT64_C(64) << 20)
#define DATA_BYTES            (UINT64_C(32) << 20)
#define QUEUES_MAX            64
#define TEMPERATURE_THRESHOLD 0x04 /* the driver itself does not use it */

struct machine {
  struct qtest qtest;
  struct spate_nvme nvme;
  struct spate_nvme_queue queue;
  struct spate_nvme_slot slots[SPATE_NVME_SLOTS(SPATE_NVME_QUEUE_DEPTH_MAX)];
  struct spate_arena arena;
  struct spate_nvme_config config;
  struct spate_region ring;
  uint8_t *data;
};

/* A controller with these options of QEMU's -drive and -device, and more arguments if `extra` is not NULL. */
static struct machine *machine_make(const char *file_key, const char *drive_options, const char *device_options,
                                    const char *const *extra) {
  struct machine *m = calloc(1, sizeof *m);
  char path[96], drive[400], device[256];
  const char *arguments[32];
  unsigned count = 0;

  assert_non_null(m);
  qtest_prepare(&m->qtest);
  qtest_image(&m->qtest, "image", IMAGE_BYTES, path, sizeof path);
  (void)snprintf(drive, sizeof drive, "if=none,id=d0,format=raw,cache=unsafe,%s=%s%s", file_key, path, drive_options);
  (void)snprintf(device, sizeof device, "nvme,id=n0,serial=SPATE-1,addr=01.0%s", device_options);
  arguments[count++] = "-drive";
  arguments[count++] = drive;
  arguments[count++] = "-device";
  arguments[count++] = device;
  for (unsigned i = 0; extra != NULL && extra[i] != NULL; i++)
    arguments[count++] = extra[i];
  arguments[count] = NULL;
  qtest_start(&m->qtest, arguments);
  qtest_port = &m->qtest;
  m->data = m->qtest.memory;
  m->arena = (struct spate_arena){.start = m->qtest.memory + DATA_BYTES, .bytes = QTEST_MEMORY_BYTES - DATA_BYTES};
  m->config = (struct spate_nvme_config){
      .registers = QTEST_BAR_BASE, .registers_bytes = m->qtest.bar_bytes, .queue_memory = &m->arena};
  assert_int_equal(spate_region_init(&m->ring, m->data, DATA_BYTES, &m->arena), SPATE_OK);
  return m;
}

static enum spate_error queue_open_with(struct machine *m, struct spate_nvme_queue *queue,
                                        struct spate_nvme_slot *slots, uint32_t nsid, unsigned depth) {
  const struct spate_nvme_queue_config config = {.nsid = nsid,
                                                 .depth = depth,
                                                 .list_pages = SPATE_NVME_LIST_PAGES_MAX,
                                                 .slots = slots,
                                                 .slot_count = SPATE_NVME_SLOTS(depth)};

  return spate_nvme_queue_open(&m->nvme, queue, &config);
}

static enum spate_error queue_open(struct machine *m, uint32_t nsid, unsigned depth) {
  return queue_open_with(m, &m->queue, m->slots, nsid, depth);
}

static void machine_open(struct machine *m, unsigned depth) {
  assert_int_equal(spate_nvme_open(&m->nvme, &m->config), SPATE_OK);
  assert_int_equal(queue_open(m, 0, depth), SPATE_OK);
}

static void machine_free(struct machine *m) {
  qtest_stop(&m->qtest);
  free(m);
}

static void fill(uint8_t *at, size_t bytes, uint32_t seed) {
  for (size_t i = 0; i < bytes; i++) {
    seed = seed * 1664525u + 1013904223u;
    at[i] = (uint8_t)(seed >> 24);
  }
}

static enum spate_error run(struct machine *m, struct spate_io io, uint16_t *detail) {
  const enum spate_error error = spate_block_do(&m->queue.block, &io);
  if (error != SPATE_OK && detail == NULL) print_message("status %s\n", spate_nvme_status_name(io.detail));
  if (detail != NULL) *detail = io.detail;
  return error;
}

static void test_identify(void **state) {
  struct machine *m = machine_make("file", "", ",drive=d0,mdts=7", NULL);
  machine_open(m, 32);
  const struct spate_nvme_identity *identity = spate_nvme_identity(&m->nvme);
  assert_string_equal(identity->serial, "SPATE-1");
  assert_string_equal(identity->model, "QEMU NVMe Ctrl");
  assert_int_equal(identity->version, 0x00010400);
  assert_int_equal(identity->transfer_bytes_max, 524288);
  assert_int_equal(identity->queue_entries_max, 2048);
  assert_true(identity->volatile_cache && identity->can_trim && identity->can_zero && identity->can_format);
  assert_int_equal(m->queue.block.blocks, IMAGE_BYTES / 512);
  assert_int_equal(m->queue.block.depth, 32);
  assert_true(m->queue.block.volatile_cache);
  assert_in_range(spate_nvme_health(&m->nvme)->temperature_c, 1, 100);
  assert_int_equal(spate_nvme_shutdown(&m->nvme), SPATE_OK);
  assert_int_equal(host_read32(QTEST_BAR_BASE + 0x1c) & 0xc, 8); /* CSTS.SHST: complete */
  machine_free(m);
  (void)state;
}

/* Writes from a region and reads into a buffer at an odd address, and the reverse. */
static void round_trips(struct machine *m) {
  const unsigned shift = m->queue.block.block_shift;
  const uint32_t sizes[] = {1,   2,   3,   7,   8,    9,    15,   16,   17,   31,  64,
                            100, 255, 256, 257, 1000, 1024, 1025, 4096, 4100, 8192};

  for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const uint32_t most_blocks = m->queue.block.request_blocks_max / (i % 2 == 0 ? 1 : 2); /* spate/block.h */
    uint32_t blocks = sizes[i] < most_blocks ? sizes[i] : most_blocks;
    if ((uint64_t)blocks << shift > UINT64_C(12) << 20) blocks = (12u << 20) >> shift;
    const size_t bytes = (size_t)blocks << shift;
    const uint64_t offset = i % 2 == 0 ? 0 : 4u * (i * 131u);
    uint8_t *back = m->data + (DATA_BYTES / 2) + 4u * (i * 77u);
    fill(m->data + offset, bytes, i);
    struct spate_io io = {
        .op = SPATE_WRITE, .lba = 3 + i, .blocks = blocks, .region = &m->ring, .offset_bytes = offset};
    assert_int_equal(run(m, io, NULL), SPATE_OK);
    memset(back, 0, bytes);
    io = (struct spate_io){.op = SPATE_READ, .lba = 3 + i, .blocks = blocks, .buffer = back};
    assert_int_equal(run(m, io, NULL), SPATE_OK);
    assert_memory_equal(back, m->data + offset, bytes);
    io = (struct spate_io){.op = SPATE_WRITE, .lba = 500 + i, .blocks = blocks, .buffer = back, .flags = SPATE_IO_FUA};
    assert_int_equal(run(m, io, NULL), SPATE_OK);
    memset(m->data + offset, 0, bytes);
    io = (struct spate_io){
        .op = SPATE_READ, .lba = 500 + i, .blocks = blocks, .region = &m->ring, .offset_bytes = offset};
    assert_int_equal(run(m, io, NULL), SPATE_OK);
    assert_memory_equal(back, m->data + offset, bytes);
  }
}

/* Some versions of QEMU refuse a limit that is more than one vector of the host, and no limit. */
static bool emulator_takes(unsigned mdts) {
  char command[200];
  (void)snprintf(command, sizeof command,
                 "echo quit | qemu-system-aarch64 -M virt -S -display none -nodefaults -monitor stdio"
                 " -device nvme,serial=SPATE-1,mdts=%u > /dev/null 2>&1",
                 mdts);
  const bool takes = system(command) == 0;
  if (!takes) print_message("this QEMU refuses mdts=%u: not tried\n", mdts);
  return takes;
}

static void transfers_at(unsigned mdts) {
  for (unsigned block_bytes = 512; block_bytes <= 4096; block_bytes *= 8) {
    char device[128];
    (void)snprintf(device, sizeof device, ",drive=d0,mdts=%u,logical_block_size=%u,physical_block_size=%u", mdts,
                   block_bytes, block_bytes);
    struct machine *m = machine_make("file", "", device, NULL);
    machine_open(m, 32);
    assert_int_equal(spate_block_bytes(&m->queue.block), block_bytes);
    round_trips(m);
    machine_free(m);
  }
}

static void test_transfers_at_any_mdts_and_block_size(void **state) {
  static const unsigned always[] = {1, 5, 7, 9}, sometimes[] = {0, 10};
  for (unsigned i = 0; i < sizeof always / sizeof always[0]; i++)
    transfers_at(always[i]);
  for (unsigned i = 0; i < sizeof sometimes / sizeof sometimes[0]; i++)
    if (emulator_takes(sometimes[i])) transfers_at(sometimes[i]);
  (void)state;
}

static void test_the_longest_command(void **state) {
  const unsigned mdts = emulator_takes(10) ? 10 : 9;
  const uint32_t most_bytes = SPATE_NVME_BUFFER_PAGES * 4096u;
  const uint32_t bytes = 4096u << mdts < most_bytes ? 4096u << mdts : most_bytes;
  char device[32];
  (void)snprintf(device, sizeof device, ",drive=d0,mdts=%u", mdts);
  struct machine *m = machine_make("file", "", device, NULL);
  machine_open(m, 8);
  fill(m->data + 4096, bytes, 3);
  struct spate_io io = {.op = SPATE_WRITE, .blocks = bytes / 512, .buffer = m->data + 4096};
  const uint64_t before = spate_nvme_counters(&m->nvme)->commands;
  assert_int_equal(run(m, io, NULL), SPATE_OK);
  assert_int_equal(spate_nvme_counters(&m->nvme)->commands - before, 1);
  io = (struct spate_io){.op = SPATE_READ, .blocks = bytes / 512, .buffer = m->data + (8u << 20)};
  assert_int_equal(run(m, io, NULL), SPATE_OK);
  assert_memory_equal(m->data + (8u << 20), m->data + 4096, bytes);
  machine_free(m);
  (void)state;
}

static void test_zero_trim_flush(void **state) {
  struct machine *m = machine_make("file", ",discard=unmap", ",drive=d0,mdts=7", NULL);
  machine_open(m, 8);
  memset(m->data, 0x5a, 65536);
  struct spate_io io = {.op = SPATE_WRITE, .blocks = 128, .region = &m->ring};
  assert_int_equal(run(m, io, NULL), SPATE_OK);
  assert_int_equal(run(m, (struct spate_io){.op = SPATE_ZERO, .lba = 8, .blocks = 24}, NULL), SPATE_OK);
  assert_int_equal(run(m, (struct spate_io){.op = SPATE_TRIM, .lba = 64, .blocks = 64}, NULL), SPATE_OK);
  assert_int_equal(run(m, (struct spate_io){.op = SPATE_FLUSH}, NULL), SPATE_OK);
  io.op = SPATE_READ;
  assert_int_equal(run(m, io, NULL), SPATE_OK);
  assert_int_equal(m->data[8 * 512 - 1], 0x5a);
  for (unsigned i = 8 * 512; i < 32 * 512; i++)
    assert_int_equal(m->data[i], 0);
  assert_int_equal(m->data[32 * 512], 0x5a);
  assert_int_equal(m->data[64 * 512 - 1], 0x5a);
  /* A whole drive in one request: 131072 blocks are two commands for ZERO and one for TRIM. */
  io = (struct spate_io){.op = SPATE_ZERO, .blocks = (uint32_t)m->queue.block.blocks};
  assert_int_equal(run(m, io, NULL), SPATE_OK);
  io = (struct spate_io){.op = SPATE_TRIM, .blocks = (uint32_t)m->queue.block.blocks};
  assert_int_equal(run(m, io, NULL), SPATE_OK);
  machine_free(m);
  (void)state;
}

/* The driver itself refuses a request that is out of range. It gets a larger capacity here, so that the drive
 * refuses. */
static void test_bad_lba_is_reported_with_its_status(void **state) {
  struct machine *m = machine_make("file", "", ",drive=d0", NULL);
  uint16_t detail = 0;
  machine_open(m, 8);
  m->queue.block.blocks *= 2;
  m->queue.fast_lba_max = m->queue.block.blocks - 1;
  struct spate_io io = {.op = SPATE_WRITE, .lba = IMAGE_BYTES / 512, .blocks = 1, .region = &m->ring};
  assert_int_equal(run(m, io, &detail), SPATE_E_COMMAND);
  assert_string_equal(spate_nvme_status_name(detail), "LBA Out of Range");
  assert_int_equal(run(m, (struct spate_io){.op = SPATE_FLUSH}, NULL), SPATE_OK);
  machine_free(m);
  (void)state;
}

static void test_media_error(void **state) {
  struct machine *m = machine_make("file.image.filename",
                                   ",file.image.driver=file,file.driver=blkdebug,file.inject-error.0.event=none,"
                                   "file.inject-error.0.iotype=read,file.inject-error.0.sector=200,"
                                   "file.inject-error.0.errno=5",
                                   ",drive=d0", NULL);
  uint16_t detail = 0;
  machine_open(m, 8);
  struct spate_io io = {.op = SPATE_READ, .lba = 200, .blocks = 8, .region = &m->ring};
  assert_int_equal(run(m, io, &detail), SPATE_E_MEDIA);
  assert_string_equal(spate_nvme_status_name(detail), "Unrecovered Read Error");
  assert_int_equal(spate_nvme_counters(&m->nvme)->retries, SPATE_NVME_ATTEMPTS_MAX - 1);
  io.lba = 208;
  assert_int_equal(run(m, io, &detail), SPATE_OK);
  machine_free(m);
  (void)state;
}

static void test_queue_pairs_up_to_the_limit(void **state) {
  struct machine *m = machine_make("file", "", ",drive=d0,max_ioqpairs=2", NULL);
  struct spate_nvme_queue *queues = calloc(QUEUES_MAX, sizeof *queues);
  struct spate_nvme_slot(*slots)[SPATE_NVME_SLOTS(4 + QUEUES_MAX)] = calloc(QUEUES_MAX, sizeof *slots);
  machine_open(m, 8);
  assert_int_equal(spate_nvme_queues_max(&m->nvme), 2);
  assert_int_equal(queue_open_with(m, &queues[0], slots[0], 0, 8), SPATE_OK);
  assert_int_equal(queue_open_with(m, &queues[1], slots[1], 0, 8), SPATE_E_FULL);
  machine_free(m);
  m = machine_make("file", "", ",drive=d0,max_ioqpairs=64", NULL);
  assert_int_equal(spate_nvme_open(&m->nvme, &m->config), SPATE_OK);
  for (unsigned i = 0; i < QUEUES_MAX; i++) {
    assert_int_equal(queue_open_with(m, &queues[i], slots[i], 0, 4 + i), SPATE_OK);
    struct spate_io io = {.op = SPATE_WRITE, .lba = i, .blocks = 1, .region = &m->ring};
    assert_int_equal(spate_block_do(&queues[i].block, &io), SPATE_OK);
  }
  assert_int_equal(spate_nvme_shutdown(&m->nvme), SPATE_OK);
  free(slots);
  free(queues);
  machine_free(m);
  (void)state;
}

struct chain {
  struct spate_io io;
  struct machine *machine;
  unsigned left;
};

static void next_of_chain(struct spate_io *io) {
  struct chain *chain = io->context;
  assert_int_equal(io->error, SPATE_OK);
  if (--chain->left > 0) assert_int_equal(spate_block_submit(&chain->machine->queue.block, io), SPATE_OK);
}

static void test_deep_queue_runs_round_its_rings(void **state) {
  struct machine *m = machine_make("file", "", ",drive=d0,mdts=7", NULL);
  static struct chain chains[255];
  unsigned left = 1;
  machine_open(m, 255);
  assert_int_equal(m->queue.block.depth, 255);
  for (unsigned i = 0; i < 255; i++) {
    chains[i] = (struct chain){.machine = m, .left = 12};
    chains[i].io = (struct spate_io){.op = i % 2 == 0 ? SPATE_WRITE : SPATE_READ,
                                     .lba = i * 64,
                                     .blocks = 64,
                                     .region = &m->ring,
                                     .offset_bytes = i * 32768u,
                                     .done = next_of_chain};
    chains[i].io.context = &chains[i];
    assert_int_equal(spate_block_submit(&m->queue.block, &chains[i].io), SPATE_OK);
  }
  for (const uint64_t end = host_ticks() + 60000000000u; left > 0 && host_ticks() < end;) {
    (void)spate_block_poll(&m->queue.block, 32);
    left = 0;
    for (unsigned i = 0; i < 255; i++)
      left += chains[i].left;
  }
  assert_int_equal(left, 0);
  assert_int_equal(spate_nvme_counters(&m->nvme)->completions, 255 * 12);
  assert_int_equal(spate_nvme_counters(&m->nvme)->spurious_completions, 0);
  machine_free(m);
  (void)state;
}

static void test_namespaces(void **state) {
  const char *const extra[] = {
      "-drive",  "if=none,id=x1,driver=null-co,size=16777216",
      "-device", "nvme-ns,drive=x1,bus=n0,nsid=2",
      "-drive",  "if=none,id=x2,driver=null-co,size=33554432",
      "-device", "nvme-ns,drive=x2,bus=n0,nsid=5,logical_block_size=4096,physical_block_size=4096",
      "-drive",  "if=none,id=x3,driver=null-co,size=33554432",
      "-device", "nvme-ns,drive=x3,bus=n0,nsid=7,ms=8",
      NULL};
  struct machine *m = machine_make("file", "", "", extra);
  uint32_t nsids[8];
  unsigned count;
  struct spate_nvme_namespace namespace;
  assert_int_equal(spate_nvme_open(&m->nvme, &m->config), SPATE_OK);
  assert_int_equal(spate_nvme_namespaces(&m->nvme, nsids, 8, &count), SPATE_OK);
  assert_int_equal(count, 3);
  assert_int_equal(nsids[0], 2);
  assert_int_equal(nsids[1], 5);
  assert_int_equal(nsids[2], 7);
  assert_int_equal(spate_nvme_namespace(&m->nvme, 5, &namespace), SPATE_OK);
  assert_int_equal(namespace.block_bytes, 4096);
  assert_int_equal(namespace.blocks, 8192);
  assert_int_equal(queue_open(m, 7, 8), SPATE_E_METADATA);
  assert_int_equal(queue_open(m, 3, 8), SPATE_E_NO_NAMESPACE);
  assert_int_equal(queue_open(m, 5, 8), SPATE_OK);
  struct spate_io io = {.op = SPATE_WRITE, .blocks = 9, .region = &m->ring};
  assert_int_equal(run(m, io, NULL), SPATE_OK);
  machine_free(m);
  (void)state;
}

static void test_format(void **state) {
  struct machine *m = machine_make("file", "", ",drive=d0", NULL);
  assert_int_equal(spate_nvme_open(&m->nvme, &m->config), SPATE_OK);
  for (uint32_t bytes = 4096; bytes >= 512; bytes /= 8) {
    struct spate_nvme_namespace namespace;
    assert_int_equal(spate_nvme_format(&m->nvme, 1, bytes, SPATE_NVME_ERASE_NONE, 60000), SPATE_OK);
    assert_int_equal(spate_nvme_namespace(&m->nvme, 1, &namespace), SPATE_OK);
    assert_int_equal(namespace.block_bytes, bytes);
    assert_int_equal(namespace.blocks, IMAGE_BYTES / bytes);
    assert_false(namespace.metadata);
  }
  assert_int_equal(queue_open(m, 0, 8), SPATE_OK);
  struct spate_io io = {.op = SPATE_WRITE, .blocks = 9, .region = &m->ring};
  assert_int_equal(run(m, io, NULL), SPATE_OK);
  machine_free(m);
  (void)state;
}

static void test_features(void **state) {
  struct machine *m = machine_make("file", "", ",drive=d0", NULL);
  bool on = true;
  uint8_t power = 9;
  machine_open(m, 8);
  assert_int_equal(spate_nvme_write_cache_set(&m->nvme, false), SPATE_OK);
  assert_false(m->queue.block.volatile_cache);
  assert_int_equal(spate_nvme_write_cache_get(&m->nvme, &on), SPATE_OK);
  assert_false(on);
  assert_int_equal(spate_nvme_write_cache_set(&m->nvme, true), SPATE_OK);
  assert_int_equal(spate_nvme_power_state_get(&m->nvme, &power), SPATE_OK);
  assert_int_equal(power, 0);
  machine_free(m);
  (void)state;
}

/* A threshold below the drive's temperature raises an event; its log is read without a call that waits. */
static void test_temperature_event(void **state) {
  struct machine *m = machine_make("file", "", ",drive=d0", NULL);
  machine_open(m, 8);
  const uint32_t sequence = spate_nvme_health(&m->nvme)->sequence;
  assert_int_equal(spate_nvme_call_dwords(&m->nvme, NVME_SET_FEATURES, TEMPERATURE_THRESHOLD, 273), SPATE_OK);
  for (const uint64_t end = host_ticks() + 3000000000u;
       spate_nvme_health(&m->nvme)->sequence == sequence && host_ticks() < end;)
    assert_int_equal(run(m, (struct spate_io){.op = SPATE_FLUSH}, NULL), SPATE_OK);
  assert_int_equal(spate_nvme_health(&m->nvme)->sequence, sequence + 1);
  assert_int_equal(spate_nvme_health(&m->nvme)->critical_warning, 2);
  assert_int_equal(spate_nvme_counters(&m->nvme)->events, 1);
  machine_free(m);
  (void)state;
}

static void test_abort_of_an_unknown_command(void **state) {
  struct machine *m = machine_make("file", "", ",drive=d0", NULL);
  machine_open(m, 8);
  assert_int_equal(spate_nvme_call_dwords(&m->nvme, NVME_ABORT, 0x1234u << 16 | 1u, 0), SPATE_OK);
  assert_int_equal(m->nvme.admin[SPATE_NVME_ADMIN_CALLER].result & 1, 1); /* not aborted */
  assert_int_equal(run(m, (struct spate_io){.op = SPATE_FLUSH}, NULL), SPATE_OK);
  machine_free(m);
  (void)state;
}

static void test_reset_with_commands_in_flight(void **state) {
  struct machine *m = machine_make("file", "", ",drive=d0,mdts=7", NULL);
  static struct chain chains[16];
  unsigned left = 1;
  machine_open(m, 16);
  for (unsigned i = 0; i < 16; i++) {
    chains[i] = (struct chain){.machine = m, .left = 1};
    fill(m->data + i * 65536u, 65536, i);
    chains[i].io = (struct spate_io){.op = SPATE_WRITE,
                                     .lba = i * 128,
                                     .blocks = 128,
                                     .region = &m->ring,
                                     .offset_bytes = i * 65536u,
                                     .done = next_of_chain};
    chains[i].io.context = &chains[i];
    assert_int_equal(spate_block_submit(&m->queue.block, &chains[i].io), SPATE_OK);
  }
  /* Disable the controller behind the driver's back, before the controller fetches the commands. */
  host_write32(QTEST_BAR_BASE + 0x14, 0);
  for (const uint64_t end = host_ticks() + 20000000000u; left > 0 && host_ticks() < end;) {
    (void)spate_block_poll(&m->queue.block, 32);
    left = 0;
    for (unsigned i = 0; i < 16; i++)
      left += chains[i].left;
  }
  assert_int_equal(left, 0);
  assert_int_equal(spate_nvme_counters(&m->nvme)->resets, 1);
  assert_int_equal(spate_nvme_counters(&m->nvme)->replays, 16);
  assert_int_equal(m->queue.block.power_losses, 0);
  const struct spate_io back = {.op = SPATE_READ, .blocks = 2048, .buffer = m->data + (8u << 20)};
  assert_int_equal(run(m, back, NULL), SPATE_OK);
  assert_memory_equal(m->data + (8u << 20), m->data, 16 * 65536);
  machine_free(m);
  (void)state;
}

static void test_open_again_after_shutdown(void **state) {
  struct machine *m = machine_make("file", "", ",drive=d0", NULL);
  for (unsigned i = 0; i < 3; i++) {
    machine_open(m, 8);
    assert_int_equal(run(m, (struct spate_io){.op = SPATE_FLUSH}, NULL), SPATE_OK);
    if (i == 1) continue; /* the second time without a shutdown */
    assert_int_equal(spate_nvme_shutdown(&m->nvme), SPATE_OK);
  }
  machine_free(m);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_identify),
      cmocka_unit_test(test_transfers_at_any_mdts_and_block_size),
      cmocka_unit_test(test_the_longest_command),
      cmocka_unit_test(test_zero_trim_flush),
      cmocka_unit_test(test_bad_lba_is_reported_with_its_status),
      cmocka_unit_test(test_media_error),
      cmocka_unit_test(test_queue_pairs_up_to_the_limit),
      cmocka_unit_test(test_deep_queue_runs_round_its_rings),
      cmocka_unit_test(test_namespaces),
      cmocka_unit_test(test_format),
      cmocka_unit_test(test_features),
      cmocka_unit_test(test_temperature_event),
      cmocka_unit_test(test_abort_of_an_unknown_command),
      cmocka_unit_test(test_reset_with_commands_in_flight),
      cmocka_unit_test(test_open_again_after_shutdown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
