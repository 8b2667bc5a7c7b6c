/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two drives behind one bridge, as below a switch whose ports do not report changes. The bridge has a link, and one bit
 * that is cleared when the link goes down (Bridge Enable of the Xilinx root ports). The first drive that is restored
 * sets the bit again, and the second one must notice the drop all the same.
 */
#include "bus/unanswered.h"
#include "machine/stack.h"
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../../ports/host/host_port.h"

#define DRIVES   2u
#define REQUESTS 48u /* to each drive */
#define BLOCKS   64u
#define SEEDS    20u

/* ---- the bridge: the machine's root ports are the switch's downstream ports ---- */

#define EXPRESS           0x40u
#define LINK_CAPABILITIES 0x4cu
#define LINK_CONTROL      0x50u
#define SLOT_IMPLEMENTED  0x01000000u
#define LINK_REPORTING    0x00100000u
#define LINK_ACTIVE       0x20000000u

static bool enabled;

static uintptr_t address_of(struct spate_pcie_address at, uint16_t offset) {
  return SIM_ECAM + ((uintptr_t)at.bus << 20) + ((uintptr_t)at.device << 15) + ((uintptr_t)at.function << 12) + offset;
}

static uint32_t config_read(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset) {
  const uint32_t value = spate_port_read32(address_of(at, offset));

  (void)host;
  if (at.bus != 0) return value;
  return value & ~(offset == EXPRESS ? SLOT_IMPLEMENTED : offset == LINK_CAPABILITIES ? LINK_REPORTING : 0);
}

static void config_write(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset, uint32_t value) {
  (void)host;
  spate_port_write32(address_of(at, offset), value);
}

static bool may_exist(struct spate_pcie_host *host, struct spate_pcie_address at) {
  (void)host;
  (void)at;
  return true;
}

static enum spate_error read_link(struct spate_pcie_host *host, struct spate_pcie_link *link) {
  const struct spate_pcie_address first = {0};

  (void)host;
  *link = (struct spate_pcie_link){.up = (spate_port_read32(address_of(first, LINK_CONTROL)) & LINK_ACTIVE) != 0};
  return SPATE_OK;
}

static void forward(struct spate_pcie_host *host) {
  (void)host;
  enabled = true;
}

static bool forwards(struct spate_pcie_host *host) {
  (void)host;
  return enabled;
}

static const struct spate_pcie_host_ops ops = {config_read, config_write, may_exist, read_link,
                                               forward,     forwards,     NULL};

static void drop(struct sim_stack *stack, uint32_t ms) {
  enabled = false;
  for (unsigned i = 0; i < DRIVES; i++)
    sim_drive_link_drop(stack->drives[i].drive, ms);
}

/* ---- two drives being written to ---- */

struct stream {
  struct spate_block *block;
  struct spate_io ios[REQUESTS];
  unsigned submitted, ended, failed;
};

struct run {
  struct sim_stack *stack;
  const struct spate_region *region;
  struct stream streams[DRIVES];
};

static void done(struct spate_io *io) {
  struct stream *stream = io->context;

  stream->ended++;
  stream->failed += io->error != SPATE_OK;
}

static struct run *opened(enum sim_unanswered mode, uint64_t seed) {
  struct run *run = calloc(1, sizeof *run);

  assert_non_null(run);
  struct sim_stack *stack = sim_stack_new(&(struct sim_stack_config){
      .machine = {.seed = seed}, .drives = DRIVES, .depth = 8, .options = {.bytes = UINT64_C(64) << 20}});
  run->stack = stack;
  run->region = sim_stack_region(stack, REQUESTS * BLOCKS * 512u, SIM_LOGIC);
  sim_set_unanswered(stack->sim, mode);
  stack->host = (struct spate_pcie_host){
      .ops = &ops,
      .config_base = SIM_ECAM,
      .last_bus = SIM_ECAM_BUSES - 1u,
      .memory = {.cpu_address = SIM_WINDOW, .bus_address = SIM_WINDOW, .bytes = SIM_WINDOW_BYTES},
  };
  assert_int_equal(spate_pcie_enumerate(&stack->host, 0), SPATE_OK);
  assert_int_equal(stack->host.device_count, DRIVES);
  for (unsigned i = 0; i < DRIVES; i++) {
    struct sim_stack_drive *drive = &stack->drives[i];
    drive->pcie_bus = (struct spate_nvme_pcie){.host = &stack->host, .device = &stack->host.devices[i]};
    const struct spate_nvme_config config = {.registers = stack->host.devices[i].bar0,
                                             .registers_bytes = stack->host.devices[i].bar0_bytes,
                                             .queue_memory = &drive->queue_memory,
                                             .bus = spate_nvme_pcie_bus(&drive->pcie_bus)};
    assert_int_equal(spate_nvme_open(&drive->nvme, &config), SPATE_OK);
    assert_int_equal(sim_stack_queue_open(drive, 8), SPATE_OK);
    run->streams[i].block = &drive->queue.block;
  }
  return run;
}

static void push(struct stream *stream, const struct spate_region *region) {
  for (; stream->submitted < REQUESTS; stream->submitted++) {
    struct spate_io *io = &stream->ios[stream->submitted];
    *io = (struct spate_io){.op = SPATE_WRITE,
                            .lba = (uint64_t)BLOCKS * stream->submitted,
                            .blocks = BLOCKS,
                            .region = region,
                            .offset_bytes = (uint64_t)BLOCKS * 512u * stream->submitted,
                            .done = done,
                            .context = stream};
    io->error = spate_block_submit(stream->block, io);
    if (io->error == SPATE_E_FULL) return;
    if (io->error != SPATE_OK) done(io);
  }
}

/* Write all requests to both drives; `event` happens once, in the middle. The second drive is then not polled for a
 * while: when its driver polls again, the first drive may have been restored. */
static void write_all(struct run *run, void (*event)(struct run *run), uint64_t away_ms) {
  const uint64_t end_ps = sim_now_ps(run->stack->sim) + 60000 * SIM_PS_PER_MS;
  uint64_t back_ps = 0;

  while (run->streams[0].ended < REQUESTS || run->streams[1].ended < REQUESTS) {
    assert_true(sim_now_ps(run->stack->sim) < end_ps);
    for (unsigned i = 0; i < (sim_now_ps(run->stack->sim) < back_ps ? 1u : DRIVES); i++) {
      push(&run->streams[i], run->region);
      (void)spate_block_poll(run->streams[i].block, 4);
    }
    if (event != NULL && run->streams[1].ended > REQUESTS / 3) {
      event(run);
      event = NULL;
      back_ps = sim_now_ps(run->stack->sim) + away_ms * SIM_PS_PER_MS;
    }
    host_relax();
  }
}

static void end(struct run *run) {
  sim_stack_free(run->stack);
  free(run);
}

/* ---- the tests ---- */

static void drop_for_a_moment(struct run *run) { drop(run->stack, 20); }

static void test_both_drives_notice_a_drop(void **state) {
  (void)state;
  for (unsigned mode = 0; mode < SIM_UNANSWERED_MODES; mode++) {
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      struct run *run = opened(mode, seed);
      write_all(run, drop_for_a_moment, seed * 40);
      for (unsigned i = 0; i < DRIVES; i++) {
        const struct spate_nvme_counters *counters = spate_nvme_counters(&run->stack->drives[i].nvme);
        if (run->streams[i].failed != 0 || counters->reattachments != 1)
          fail_msg("mode %u, seed %u, drive %u: %u requests failed, %u times back", mode, (unsigned)seed, i,
                   run->streams[i].failed, counters->reattachments);
      }
      assert_int_equal(sim_take_violations(run->stack->sim, NULL), 0);
      end(run);
    }
  }
}

/* The slot's PERST# is that of the switch, and so it resets both drives. */
static enum spate_error perst_of_both(void *context) {
  struct run *run = context;

  drop(run->stack, 5);
  return SPATE_OK;
}

static void break_the_first(struct run *run) { sim_drive_break(run->stack->drives[0].drive, SIM_RESET_KINDS); }

/* The second drive continues when the first one is given up: each reset of both costs it time, but no request. */
static void test_a_reset_of_both_costs_the_other_no_request(void **state) {
  (void)state;
  for (unsigned mode = 0; mode < SIM_UNANSWERED_MODES; mode++) {
    struct run *run = opened(mode, 5);
    struct spate_nvme_pcie *pcie_bus = &run->stack->drives[0].pcie_bus;
    pcie_bus->perst = perst_of_both;
    pcie_bus->perst_context = run;
    write_all(run, break_the_first, 0);
    assert_int_equal(run->stack->drives[0].nvme.state, SPATE_NVME_DEAD);
    assert_true(run->streams[0].failed > 0);
    assert_int_equal(run->streams[1].failed, 0);
    assert_int_equal(spate_nvme_counters(&run->stack->drives[1].nvme)->hard_resets, 0);
    end(run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_both_drives_notice_a_drop),
      cmocka_unit_test(test_a_reset_of_both_costs_the_other_no_request),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
