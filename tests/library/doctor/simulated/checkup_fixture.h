/* SPDX-License-Identifier: Apache-2.0 */
/* A checkup on the virtual drive, whose port can be broken in the ways in which ports of boards are. Included by one
 * test program each. */
#ifndef CHECKUP_FIXTURE_H
#define CHECKUP_FIXTURE_H

/* The virtual drive's port, with other names for the functions that can be broken. */
#define host_read32            sound_read32
#define host_dma_write_barrier sound_dma_write_barrier
#define host_cache_clean       sound_cache_clean
#define host_cache_invalidate  sound_cache_invalidate
#define host_dma_address       sound_dma_address
#define host_ticks             sound_ticks
#define host_ticks_per_second  sound_ticks_per_second
#include "../../../../sim/machine/port.c"
#undef host_read32
#undef host_dma_write_barrier
#undef host_cache_clean
#undef host_cache_invalidate
#undef host_dma_address
#undef host_ticks
#undef host_ticks_per_second

#include "drive/drive.h"
#include "machine/logic.h"
#include "machine/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <spate/checkup.h>

#define BUFFER_BYTES (SPATE_CHECKUP_BUFFER_BYTES_MIN * 4u)
#define HOLE         UINT64_C(0x40000000)
#define ONCS         520u
#define ONCS_COMPARE 0x01u
#define ONCS_STAMP   0x40u
#define BLOCKS       UINT64_C(131072)
#define BLOCKS_FEW   UINT64_C(2048)

/* What is wrong with the board. All zeros: nothing. */
struct faults {
  bool no_clean, no_invalidate, no_write_barrier;
  bool stores_need_clean;       /* as in a cache that devices do not look into: the barrier is not enough */
  bool buffer_in_hole;          /* devices that write to the buffer's address write to nothing */
  bool buffer_elsewhere;        /* spate_port_dma_address() is wrong for the buffer */
  uint64_t dma_offset;          /* it is wrong for all memory */
  bool cached_queues, coherent; /* kinds of memory */
  bool lines_leave;             /* lines of the admin queues leave the caches by themselves, as others come in */
  bool reads_value;             /* BAR 0 reads `value` */
  uint32_t value;
  bool clock_stands, clock_goes_back;
  uint64_t ticks_per_second; /* 0: the right one */
  bool no_compare, no_stamp; /* of the drive */
  uint32_t version;          /* 0: 1.4 */
  uint8_t doorbell_stride;
  bool small;           /* it has BLOCKS_FEW blocks */
  unsigned drive;       /* which one is asked for */
  bool second;          /* there is another drive */
  void (*before)(void); /* before the bridge is opened */
  void (*after)(void);  /* after enumeration */
  void (*looks)(void);  /* whenever somebody looks at the clock */
  uint64_t write_lba, write_blocks;
};

static struct faults faults;
static struct sim *sim;
static struct sim_drive *drive;
static struct spate_pcie_host host;
static struct spate_arena queue_memory;
static uint8_t *buffer;
static struct spate_checkup checkup;
static struct spate_doctor doctor;
static struct spate_doctor_finding findings[64];
static unsigned finding_count;
static char said[32768];
static uint64_t ticks_read;

/* ---- the port ---- */

uint32_t host_read32(uintptr_t address);
void host_dma_write_barrier(void);
void host_cache_clean(const void *start, size_t bytes);
void host_cache_invalidate(void *start, size_t bytes);
uint64_t host_dma_address(const volatile void *memory);
uint64_t host_ticks(void);
uint64_t host_ticks_per_second(void);

static inline bool is_register(uintptr_t address) { return address - SIM_WINDOW < SIM_WINDOW_BYTES; }

uint32_t host_read32(uintptr_t address) {
  return faults.reads_value && is_register(address) ? faults.value : sound_read32(address);
}

void host_dma_write_barrier(void) {
  if (!faults.no_write_barrier && !faults.stores_need_clean) sound_dma_write_barrier();
}

void host_cache_clean(const void *start, size_t bytes) {
  if (faults.stores_need_clean) sound_dma_write_barrier();
  if (!faults.no_clean) sound_cache_clean(start, bytes);
}

void host_cache_invalidate(void *start, size_t bytes) {
  if (!faults.no_invalidate) sound_cache_invalidate(start, bytes);
}

uint64_t host_dma_address(const volatile void *memory) {
  const bool is_buffer = (uintptr_t)memory - (uintptr_t)buffer < BUFFER_BYTES;

  if (is_buffer && faults.buffer_in_hole) return HOLE + (uintptr_t)memory % BUFFER_BYTES;
  return sound_dma_address(memory) + faults.dma_offset +
         (is_buffer && faults.buffer_elsewhere ? UINT64_C(0x4000000000) : 0);
}

/* The first two pages of queue memory. */
static inline void let_lines_leave(void) {
  sim_memory_clean(sim, queue_memory.start, SPATE_PAGE_BYTES);
  sim_memory_read_barrier(sim);
  sim_memory_invalidate(sim, queue_memory.start + SPATE_PAGE_BYTES, SPATE_PAGE_BYTES);
}

uint64_t host_ticks(void) {
  if (faults.lines_leave) let_lines_leave();
  if (faults.looks != NULL) faults.looks();
  if (faults.clock_stands) return 1000;
  return faults.clock_goes_back ? UINT64_MAX - sound_ticks() - ++ticks_read : sound_ticks();
}

uint64_t host_ticks_per_second(void) {
  return faults.ticks_per_second != 0 ? faults.ticks_per_second - 1u : sound_ticks_per_second();
}

/* Addresses that a bridge accepts and forwards to nothing. */
static inline void read_hole(void *context, uint64_t address, uint8_t *data, uint64_t bytes) {
  (void)context;
  (void)address;
  memset(data, 0xff, bytes);
}

static inline void write_hole(void *context, uint64_t address, const uint8_t *data, uint64_t bytes) {
  (void)context;
  (void)address;
  (void)data;
  (void)bytes;
}

/* ---- the board ---- */

static inline enum spate_error open_bridge(void *context, struct spate_pcie_host *opened) {
  const struct spate_pcie_ecam_config config = {
      .config_base = SIM_ECAM,
      .last_bus = SIM_ECAM_BUSES - 1u,
      .memory = {.cpu_address = SIM_WINDOW, .bus_address = SIM_WINDOW, .bytes = SIM_WINDOW_BYTES},
  };

  assert_null(context);
  if (faults.before != NULL) faults.before();
  enum spate_error error = spate_pcie_ecam_open(opened, &config);
  if (error == SPATE_OK) error = spate_pcie_enumerate(opened, 0);
  if (error == SPATE_OK && faults.after != NULL) faults.after();
  return error;
}

static inline void keep_fact(void *context, const struct spate_checkup_fact *fact) {
  (void)context;
  assert_null(strpbrk(fact->text, "{}\n"));
  assert_true(strlen(said) + strlen(fact->text) + 40 < sizeof said);
  (void)sprintf(said + strlen(said), "%s: %s\n", fact->name, fact->text);
}

static inline void keep_finding(void *context, const struct spate_doctor_finding *finding) {
  char text[SPATE_DOCTOR_SENTENCE_BYTES];

  (void)context;
  assert_true(finding_count < 64);
  findings[finding_count++] = *finding;
  assert_null(strpbrk(spate_doctor_problem(text, sizeof text, finding->code, finding), "{}"));
  (void)sprintf(said + strlen(said), "%s: %s\n", spate_doctor_name(finding->code), text);
}

static inline bool found(enum spate_doctor_code code) {
  for (unsigned i = 0; i < finding_count; i++)
    if (findings[i].code == code) return true;
  return false;
}

/* A machine with one drive, whose blocks differ from each other. */
static inline void start(const struct faults *wrong) {
  faults = *wrong;
  sim = sim_new(&(struct sim_config){.seed = 1, .coherent = faults.coherent});
  drive = sim_drive_add(sim, sim_profile_find("ideal"),
                        &(struct sim_drive_options){.bytes = (faults.small ? BLOCKS_FEW : BLOCKS) << 9,
                                                    .version = faults.version,
                                                    .doorbell_stride = faults.doorbell_stride});
  sim_use(sim);
  if (faults.second)
    (void)sim_drive_add(sim, sim_profile_find("ideal"), &(struct sim_drive_options){.bytes = BLOCKS_FEW << 9});
  if (!faults.no_compare) sim_drive_identify_controller(drive)[ONCS] |= ONCS_COMPARE;
  if (!faults.no_stamp) sim_drive_identify_controller(drive)[ONCS] |= ONCS_STAMP;
  sim_window_add(
      sim, &(struct sim_window){.address = HOLE, .bytes = 2 * BUFFER_BYTES, .read = read_hole, .write = write_hole});
  buffer = sim_memory_take(sim, BUFFER_BYTES, SIM_CACHED);
  queue_memory = (struct spate_arena){
      .start = sim_memory_take(sim, SPATE_CHECKUP_QUEUE_MEMORY_BYTES, faults.cached_queues ? SIM_CACHED : SIM_QUEUE),
      .bytes = SPATE_CHECKUP_QUEUE_MEMORY_BYTES};
  host = (struct spate_pcie_host){.ops = NULL};
  finding_count = 0;
  said[0] = '\0';
}

static inline void run(void) {
  const struct spate_checkup_config config = {.open = open_bridge,
                                              .host = &host,
                                              .drive = faults.drive,
                                              .queue_memory = &queue_memory,
                                              .buffer = buffer,
                                              .buffer_bytes = BUFFER_BYTES,
                                              .write_lba = faults.write_lba,
                                              .write_blocks = faults.write_blocks,
                                              .fact = keep_fact};

  doctor = (struct spate_doctor){.found = keep_finding};
  assert_int_equal(spate_checkup(&checkup, &config, &doctor), SPATE_OK);
  if (found(SPATE_DOCTOR_UNDONE_STEPS) && doctor.worst != SPATE_DOCTOR_ERROR) {
    (void)fputs(said, stderr);
    fail_msg("it ended early and does not say why");
  }
}

static inline void stop(void) { sim_free(sim); }

/* What a broken board does to a drive is against its rules. */
static inline void forgive(void) {
  const char *first;

  (void)sim_take_violations(sim, &first);
}

#endif
