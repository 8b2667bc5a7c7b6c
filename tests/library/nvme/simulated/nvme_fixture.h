/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver on the virtual drive, with memory around it, for the tests of the NVMe driver (cmocka).
 *
 * The drive is small and states modest limits: 8 MiB, 128 KiB transfers, 64 queue entries, 4 queue pairs, 2 s to become
 * ready, five power states. A test changes its properties (`identify`, `sim_drive_cap()`) between fixture_make() and
 * the opening of the driver. The driver gets no bus hooks unless the test sets config.bus; `pcie_bus` is the machine's
 * own bus.
 *
 * Times are those of the machine's clock. fixture_free() fails the test if the drive saw a violation.
 */
#ifndef NVME_FIXTURE_H
#define NVME_FIXTURE_H

#include "drive/drive.h"
#include "machine/memory.h"
#include <setjmp.h>
#include <spate/bytes.h>
#include <spate/nvme_pcie.h>
#include <spate/pcie.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FIXTURE_QUEUE_BYTES (256u << 10) /* each write barrier scans all of it */
#define FIXTURE_RING_BYTES  (16u << 20)
#define FIXTURE_DRIVE_BYTES (UINT64_C(8) << 20)
#define US_PER_MS           UINT64_C(1000)
#define US_PER_S            UINT64_C(1000000)

#define FIXTURE_QUEUES 8u

/* The slots of a queue, exactly as many as it needs: the address sanitizer finds a read behind them. */
struct fixture_slots {
  const struct spate_nvme_queue *queue;
  struct spate_nvme_slot *slots;
};

struct fixture {
  struct sim *sim;
  struct sim_drive *drive;
  struct spate_pcie_host host;
  struct spate_nvme_pcie pcie_bus;
  struct spate_nvme nvme;
  struct spate_nvme_queue queue, second; /* the second only in tests that open it */
  struct spate_arena arena;
  struct spate_nvme_config config;
  struct spate_region ring; /* filled and drained by logic: the drive sees the processor's stores */
  uint8_t *memory, *ring_memory;
  struct fixture_slots slots[FIXTURE_QUEUES];
};

/* The result of a request. */
struct outcome {
  struct spate_io io;
  unsigned calls;
};

static inline void outcome_done(struct spate_io *io) { ((struct outcome *)io->context)->calls++; }

/* ---- set up ---- */

static inline struct sim_profile fixture_profile(void) {
  struct sim_profile profile = *sim_profile_find("ideal");

  profile.mdts_pages = 32;
  profile.queue_entries = 64;
  profile.ready_ms = 2;
  return profile;
}

/* The machine's bus, and BAR 0 in the driver's configuration. */
static inline void fixture_enumerate(struct fixture *f) {
  const struct spate_pcie_ecam_config bridge = {
      .config_base = SIM_ECAM,
      .last_bus = 1,
      .memory = {.cpu_address = SIM_WINDOW, .bus_address = SIM_WINDOW, .bytes = SIM_WINDOW_BYTES},
  };
  struct spate_pcie_device *found;

  assert_int_equal(spate_pcie_ecam_open(&f->host, &bridge), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&f->host, 0), SPATE_OK);
  assert_int_equal(spate_pcie_find(&f->host, SPATE_PCIE_CLASS_NVME, 0, &found), SPATE_OK);
  f->pcie_bus = (struct spate_nvme_pcie){.host = &f->host, .device = found};
  f->config = (struct spate_nvme_config){
      .registers = found->bar0, .registers_bytes = found->bar0_bytes, .queue_memory = &f->arena};
}

/* Unset options are the fixture's. The seed determines everything that the machine draws at random. */
static inline struct fixture *fixture_make_with(struct sim_drive_options options, uint64_t seed) {
  struct fixture *f = calloc(1, sizeof *f);
  const struct sim_profile profile = fixture_profile();

  assert_non_null(f);
  options.log_commands = true;
  if (options.bytes == 0) options.bytes = FIXTURE_DRIVE_BYTES;
  if (options.queue_pairs == 0) options.queue_pairs = 4;
  f->sim = sim_new(&(struct sim_config){.seed = seed});
  sim_use(f->sim);
  f->drive = sim_drive_add(f->sim, &profile, &options);
  *sim_drive_cap(f->drive) = (*sim_drive_cap(f->drive) & ~(UINT64_C(0xff) << 24)) | UINT64_C(4) << 24; /* CAP.TO: 2 s */
  spate_put32(sim_drive_identify_controller(f->drive) + 516, 8);                                       /* NN */
  sim_drive_identify_controller(f->drive)[263] = 4;                                                    /* NPSS */
  f->memory = sim_memory_take(f->sim, FIXTURE_QUEUE_BYTES, SIM_QUEUE);
  f->ring_memory = sim_memory_take(f->sim, FIXTURE_RING_BYTES, SIM_LOGIC);
  f->arena = (struct spate_arena){.start = f->memory, .bytes = FIXTURE_QUEUE_BYTES};
  assert_int_equal(spate_region_init(&f->ring, f->ring_memory, FIXTURE_RING_BYTES, &f->arena), SPATE_OK);
  fixture_enumerate(f);
  return f;
}

static inline struct fixture *fixture_make(unsigned block_shift) {
  return fixture_make_with((struct sim_drive_options){.block_shift = (uint8_t)block_shift}, 1);
}

static inline enum spate_error fixture_queue_open_with(struct fixture *f, struct spate_nvme_queue *queue, uint32_t nsid,
                                                       unsigned depth, unsigned list_pages) {
  const unsigned slot_count = SPATE_NVME_SLOTS(depth);
  const struct spate_nvme_queue_config config = {.nsid = nsid,
                                                 .depth = depth,
                                                 .list_pages = list_pages,
                                                 .slots = malloc(slot_count * sizeof(struct spate_nvme_slot)),
                                                 .slot_count = slot_count};
  const enum spate_error error = spate_nvme_queue_open(&f->nvme, queue, &config);
  unsigned i = 0;

  if (error != SPATE_OK) {
    free(config.slots);
    return error;
  }
  while (f->slots[i].queue != NULL && f->slots[i].queue != queue)
    assert_true(++i < FIXTURE_QUEUES);
  free(f->slots[i].slots);
  f->slots[i] = (struct fixture_slots){.queue = queue, .slots = config.slots};
  return SPATE_OK;
}

/* With as many list pages as there can be. */
static inline enum spate_error fixture_queue_open(struct fixture *f, struct spate_nvme_queue *queue, uint32_t nsid,
                                                  unsigned depth) {
  return fixture_queue_open_with(f, queue, nsid, depth, SPATE_NVME_LIST_PAGES_MAX);
}

static inline void fixture_open(struct fixture *f, unsigned depth) {
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  assert_int_equal(fixture_queue_open(f, &f->queue, 0, depth), SPATE_OK);
}

static inline struct fixture *fixture_opened(unsigned depth) {
  struct fixture *f = fixture_make(9);

  fixture_open(f, depth);
  return f;
}

/* The queue behaves as if it had accepted commands until its counter is `before_wrap` below its wrap. */
static inline void fixture_age_queue(struct spate_nvme_queue *queue, uint32_t before_wrap) {
  assert_int_equal(before_wrap % queue->entries, 0);
  queue->sq_tail = queue->sq_rung = 0u - before_wrap;
}

/* Two queues on one namespace, whose command counters are about to wrap. */
static inline void fixture_open_two(struct fixture *f, unsigned depth) {
  fixture_open(f, depth);
  assert_int_equal(fixture_queue_open(f, &f->second, 0, depth), SPATE_OK);
  fixture_age_queue(&f->queue, f->queue.entries);
  fixture_age_queue(&f->second, f->second.entries);
}

static inline void fixture_free(struct fixture *f) {
  const char *first = NULL;

  if (sim_take_violations(f->sim, &first) != 0) fail_msg("the drive saw a violation: %s", first);
  sim_free(f->sim);
  for (unsigned i = 0; i < FIXTURE_QUEUES; i++)
    free(f->slots[i].slots);
  free(f);
}

/* ---- time ---- */

static inline uint64_t now_us(const struct fixture *f) { return sim_now_ps(f->sim) / SIM_PS_PER_US; }

/* The processor does something else for this time. */
static inline void spend_us(struct fixture *f, uint64_t us) { sim_spend(f->sim, us * SIM_PS_PER_US); }

/* Schedule an event every 20 us from now on: a processor that polls in vain is not advanced past an event. */
static inline void fixture_tick(void *context, uint64_t number) {
  struct fixture *f = context;

  sim_at(f->sim, sim_now_ps(f->sim) + 20 * SIM_PS_PER_US, fixture_tick, f, number);
}

/* ---- requests ---- */

/* A write of the first blocks of the ring. */
static inline struct spate_io write_of(const struct fixture *f, uint64_t lba, uint32_t blocks) {
  return (struct spate_io){.op = SPATE_WRITE, .lba = lba, .blocks = blocks, .region = &f->ring};
}

/* Submit; the outcome is filled in later. */
static inline enum spate_error fixture_submit_to(struct spate_nvme_queue *queue, struct outcome *outcome,
                                                 struct spate_io io) {
  *outcome = (struct outcome){.io = io};
  outcome->io.done = outcome_done;
  outcome->io.context = outcome;
  return spate_block_submit(&queue->block, &outcome->io);
}

static inline enum spate_error fixture_submit(struct fixture *f, struct outcome *outcome, struct spate_io io) {
  return fixture_submit_to(&f->queue, outcome, io);
}

static inline bool fixture_waits(const struct spate_nvme *controller) {
  return controller->state != SPATE_NVME_RUNNING && controller->state != SPATE_NVME_ABORTING &&
         controller->state != SPATE_NVME_DEAD && controller->state != SPATE_NVME_CLOSED;
}

/* No request ends while the controller is on its way back. */
static inline void fixture_poll_queue(struct spate_nvme_queue *queue) {
  const bool waited = fixture_waits(queue->controller);
  const unsigned ended = spate_block_poll(&queue->block, 32);

  if (waited && fixture_waits(queue->controller)) assert_int_equal(ended, 0);
}

static inline void fixture_poll(struct fixture *f) {
  fixture_poll_queue(&f->queue);
  if (f->second.controller != NULL) fixture_poll_queue(&f->second);
  spate_port_relax();
}

/* Poll until the request is done, for at most `ms`. */
static inline bool fixture_wait(struct fixture *f, const struct outcome *outcome, uint64_t ms) {
  const uint64_t end_us = now_us(f) + ms * US_PER_MS;

  while (outcome->calls == 0 && now_us(f) < end_us)
    fixture_poll(f);
  return outcome->calls == 1;
}

static inline void fixture_poll_ms(struct fixture *f, uint64_t ms) {
  const uint64_t end_us = now_us(f) + ms * US_PER_MS;

  while (now_us(f) < end_us)
    fixture_poll(f);
}

/* Submit and wait, at most a minute. */
static inline enum spate_error fixture_do(struct fixture *f, struct spate_io io, uint16_t *detail) {
  struct outcome outcome;
  const enum spate_error error = fixture_submit(f, &outcome, io);

  if (error != SPATE_OK) return error;
  assert_true(fixture_wait(f, &outcome, 60000));
  if (detail != NULL) *detail = outcome.io.detail;
  return outcome.io.error;
}

/* ---- the drive ---- */

static inline uint8_t *controller_page(struct fixture *f) { return sim_drive_identify_controller(f->drive); }
static inline uint8_t *namespace_page(struct fixture *f) { return sim_drive_identify_namespace(f->drive); }
static inline uint8_t *health_page(struct fixture *f) { return sim_drive_smart(f->drive); }

/* Of the I/O commands (or admin commands) with this opcode (-1: any), `skip` pass and the next `count` are hit. */
static inline void fixture_fault(struct fixture *f, enum sim_action action, bool admin, int opcode, uint32_t skip,
                                 uint32_t count, uint32_t value) {
  sim_drive_fault(
      f->drive,
      (struct sim_fault){
          .action = action, .admin = admin, .opcode = (int16_t)opcode, .skip = skip, .count = count, .value = value});
}

static inline void io_fault(struct fixture *f, enum sim_action action, uint32_t skip, uint32_t count, uint32_t value) {
  fixture_fault(f, action, false, -1, skip, count, value);
}

static inline uint32_t csts(const struct fixture *f) { return spate_port_read32(f->config.registers + 0x1c); }

/* Commands that the drive has fetched. */
static inline unsigned admin_count(const struct fixture *f, uint8_t opcode) {
  return (unsigned)sim_drive_counters(f->drive)->admin[opcode];
}

static inline unsigned io_count(const struct fixture *f) {
  uint64_t count = 0;

  for (unsigned i = 0; i < 256; i++)
    count += sim_drive_counters(f->drive)->io[i];
  return (unsigned)count;
}

static inline const struct sim_command *last_admin(const struct fixture *f, uint8_t opcode) {
  size_t i;
  const struct sim_command *commands = sim_drive_commands(f->drive, &i);

  while (i-- > 0)
    if (commands[i].queue == 0 && (uint8_t)commands[i].dwords[0] == opcode) return &commands[i];
  fail_msg("no admin command %02x was fetched", opcode);
  return NULL;
}

/* The I/O command of this number, from 0. */
static inline const struct sim_command *io_command(const struct fixture *f, unsigned number) {
  size_t count;
  const struct sim_command *commands = sim_drive_commands(f->drive, &count);

  for (size_t i = 0; i < count; i++)
    if (commands[i].queue != 0 && number-- == 0) return &commands[i];
  fail_msg("fewer I/O commands were fetched");
  return NULL;
}

static inline uint64_t io_us(const struct fixture *f, unsigned number) {
  return io_command(f, number)->fetched_ps / SIM_PS_PER_US;
}

/* ---- cache maintenance ---- */

struct cache_calls {
  unsigned cleans, invalidates;
  uint64_t address, bytes; /* of the last call */
};

/* For sim_trace(), with a struct cache_calls. */
static inline void count_cache_calls(void *context, const struct sim_access *access) {
  struct cache_calls *calls = context;

  if (access->kind != SIM_ACCESS_CLEAN && access->kind != SIM_ACCESS_INVALIDATE) return;
  calls->cleans += access->kind == SIM_ACCESS_CLEAN;
  calls->invalidates += access->kind == SIM_ACCESS_INVALIDATE;
  calls->address = access->address;
  calls->bytes = access->bytes;
}

/* ---- the contents of the media, by byte ---- */

static inline void media_read(const struct fixture *f, uint64_t at, uint8_t *to, size_t bytes) {
  sim_store_read(sim_drive_store(f->drive), at, to, bytes);
}

static inline uint8_t media_byte(const struct fixture *f, uint64_t at) {
  uint8_t block[512];

  media_read(f, at / sizeof block * sizeof block, block, sizeof block);
  return block[at % sizeof block];
}

static inline void media_write(const struct fixture *f, uint64_t at, const uint8_t *data, size_t bytes) {
  (void)sim_store_write(sim_drive_store(f->drive), at, data, bytes);
}

static inline void expect_media(const struct fixture *f, uint64_t at, const uint8_t *expected, size_t bytes) {
  if (bytes == 0) return;
  uint8_t *held = malloc(bytes);

  assert_non_null(held);
  media_read(f, at, held, bytes);
  assert_memory_equal(held, expected, bytes);
  free(held);
}

static inline void fill_pattern(uint8_t *at, size_t bytes, uint32_t seed) {
  for (size_t i = 0; i < bytes; i++) {
    seed = seed * 1664525u + 1013904223u;
    at[i] = (uint8_t)(seed >> 24);
  }
}

#endif
