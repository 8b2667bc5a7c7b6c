/* SPDX-License-Identifier: Apache-2.0 */
/* The path from configuration space to a drive's registers, its cost, and the stack that sets it up for other
 * programs. */
#include "machine/internal.h"
#include "machine/stack.h"
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct sim_host host = {
    .clock_mhz = 1000,
    .instructions_per_100_cycles = 100,
    .submit_instructions = 50,
    .complete_instructions = 20,
    .poll_instructions = 10,
    .write_ns = 30,
    .read_ns = 70,
};

#define NVME_VS    0x08u
#define NVME_INTMS 0x0cu
#define NVME_INTMC 0x10u
#define ALL_ONES   UINT32_MAX

#define CONFIG(bus, device, offset) (SIM_ECAM + ((uintptr_t)(bus) << 20) + ((uintptr_t)(device) << 15) + (offset))

static struct sim_stack *make_stack(struct sim_stack_config config) {
  config.machine.seed = 7;
  config.machine.host = host;
  return sim_stack_new(&config);
}

static void enumerate(struct spate_pcie_host *bus) {
  const struct spate_pcie_ecam_config bridge = {
      .config_base = SIM_ECAM,
      .last_bus = SIM_ECAM_BUSES - 1u,
      .memory = {.cpu_address = SIM_WINDOW, .bus_address = SIM_WINDOW, .bytes = SIM_WINDOW_BYTES},
  };

  assert_int_equal(spate_pcie_ecam_open(bus, &bridge), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(bus, 0), SPATE_OK);
}

static void test_every_drive_is_found_behind_its_port(void **state) {
  (void)state;
  for (unsigned drives = 1; drives <= SIM_DRIVES_MAX; drives++) {
    struct sim_stack *stack = make_stack((struct sim_stack_config){.drives = drives});
    enumerate(&stack->host);
    assert_int_equal(stack->host.device_count, drives);
    assert_int_equal(stack->host.bridge_count, drives);
    for (unsigned i = 0; i < drives; i++) {
      const struct spate_pcie_device *device = &stack->host.devices[i];
      uint32_t offset;
      assert_int_equal(device->class_code, SPATE_PCIE_CLASS_NVME);
      assert_int_equal(device->address.bus, i + 1);
      assert_int_equal(device->bar0_bytes, SIM_BAR_BYTES);
      assert_ptr_equal(sim_pcie_route(stack->sim, device->bar0 + 8, &offset), sim_drive_at(stack->sim, i));
      assert_int_equal(offset, 8);
      assert_null(sim_pcie_route(stack->sim, device->bar0 + SIM_BAR_BYTES * drives, &offset));
      assert_true(sim_bus_of(stack->sim)->may_master(stack->sim, i));
      assert_int_equal(spate_port_read32(device->bar0 + NVME_VS), 0x00010400);
    }
    sim_stack_free(stack);
  }
}

static void test_link_and_packet_sizes_are_negotiated(void **state) {
  (void)state;
  static const struct {
    struct sim_link_config link;
    uint16_t payload_bytes;
  } cases[] = {
      {{.generation = 3, .lanes = 4, .payload_bytes = 128, .read_request_bytes = 512, .latency_ns = 250}, 128},
      {{.generation = 3, .lanes = 4, .payload_bytes = 256, .read_request_bytes = 512, .latency_ns = 250}, 256},
      {{.generation = 4, .lanes = 2, .payload_bytes = 512, .read_request_bytes = 512, .latency_ns = 250}, 512},
  };

  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sim_stack *stack = make_stack((struct sim_stack_config){.options = {.link = cases[i].link}});
    const struct sim_link_config *link = &sim_drive_link(stack->drives[0].drive)->config;
    (void)spate_port_read32(CONFIG(0, 0, 0));
    assert_int_equal(link->payload_bytes, 128); /* until software sets another one */
    enumerate(&stack->host);
    assert_int_equal(link->payload_bytes, cases[i].payload_bytes);
    assert_int_equal(link->read_request_bytes, 512);
    assert_int_equal(stack->host.devices[0].payload_bytes, cases[i].payload_bytes);
    assert_int_equal(stack->host.devices[0].link.speed, cases[i].link.generation);
    assert_int_equal(stack->host.devices[0].link.width, cases[i].link.lanes);
    assert_int_equal(spate_pcie_link_check(&stack->host, &stack->host.devices[0]), SPATE_OK);
    sim_stack_free(stack);
  }
}

static void test_unsupported_packet_sizes(void **state) {
  (void)state;
  struct sim_stack *stack = make_stack((struct sim_stack_config){.drives = 1});
  const struct sim_link_config *link = &sim_drive_link(stack->drives[0].drive)->config;
  const char *first;

  enumerate(&stack->host);
  spate_port_write32(CONFIG(1, 0, 0x48), 3u << 5 | 2u << 12);
  assert_int_equal(sim_take_violations(stack->sim, &first), 1);
  assert_string_equal(first, "Max_Payload_Size is set to 1024 bytes, and at most 512 are supported");
  assert_int_equal(link->payload_bytes, 256); /* the port's */
  spate_port_write32(CONFIG(1, 0, 0x48), 1u << 5 | 7u << 12);
  assert_int_equal(sim_take_violations(stack->sim, &first), 1);
  assert_non_null(strstr(first, "Max_Read_Request_Size is set to 16384"));
  assert_int_equal(link->read_request_bytes, 4096);
  sim_stack_free(stack);
}

static void test_nothing_answers_where_no_device_is(void **state) {
  (void)state;
  struct sim_stack *stack = make_stack((struct sim_stack_config){.drives = 1});

  assert_int_equal(spate_port_read32(CONFIG(0, 1, 0)), ALL_ONES);
  assert_int_equal(spate_port_read32(CONFIG(1, 0, 0)), ALL_ONES); /* no bus has a number yet */
  assert_int_equal(spate_port_read32(SIM_WINDOW), ALL_ONES);
  spate_port_write32(SIM_WINDOW, 1);
  assert_int_equal(spate_port_read32(0x1000), ALL_ONES);
  enumerate(&stack->host);
  assert_int_equal(spate_port_read32(CONFIG(1, 1, 0)), ALL_ONES);
  assert_int_equal(spate_port_read32(CONFIG(2, 0, 0)), ALL_ONES);
  assert_int_equal(spate_port_read32(CONFIG(1, 0, 0x104)), 0);
  sim_stack_free(stack);
}

/* With memory decoding off in either command register nothing passes. With bus mastering off in either, the drive sends
 * nothing. */
static void test_command_registers_decide(void **state) {
  (void)state;
  struct sim_stack *stack = make_stack((struct sim_stack_config){.drives = 1});

  enumerate(&stack->host);
  const uintptr_t version = stack->host.devices[0].bar0 + NVME_VS;
  for (unsigned bus = 0; bus < 2; bus++) {
    const uint32_t command = spate_port_read32(CONFIG(bus, 0, 4)) & 0xffffu;
    spate_port_write32(CONFIG(bus, 0, 4), command & ~2u);
    assert_int_equal(spate_port_read32(version), ALL_ONES);
    assert_true(sim_bus_of(stack->sim)->may_master(stack->sim, 0));
    spate_port_write32(CONFIG(bus, 0, 4), command & ~4u);
    assert_int_equal(spate_port_read32(version), 0x00010400);
    assert_false(sim_bus_of(stack->sim)->may_master(stack->sim, 0));
    spate_port_write32(CONFIG(bus, 0, 4), command);
    assert_int_equal(spate_port_read32(version), 0x00010400);
    assert_true(sim_bus_of(stack->sim)->may_master(stack->sim, 0));
  }
  sim_stack_free(stack);
}

/* A write is posted: the processor continues, and the drive sees the write when it has crossed the link. A read waits
 * for all earlier writes, and for its own round trip. */
static void test_writes_are_posted_and_reads_wait(void **state) {
  (void)state;
  struct sim_stack *stack = make_stack((struct sim_stack_config){.drives = 1});

  enumerate(&stack->host);
  const uintptr_t registers = stack->host.devices[0].bar0;
  const uint64_t latency_ps = sim_drive_link(stack->drives[0].drive)->config.latency_ns * SIM_PS_PER_NS;
  const uint64_t start_ps = sim_now_ps(stack->sim), busy_ps = sim_busy_ps(stack->sim);

  spate_port_write32(registers + NVME_INTMS, 0xf0);
  spate_port_write32(registers + NVME_INTMC, 0x30);
  assert_int_equal(sim_now_ps(stack->sim) - start_ps, 2 * 30 * SIM_PS_PER_NS);
  assert_int_equal(sim_drive_register_read(stack->drives[0].drive, NVME_INTMS), 0);
  assert_int_equal(spate_port_read32(registers + NVME_INTMS), 0xc0);
  assert_true(sim_now_ps(stack->sim) - start_ps >= 2 * latency_ps + 130 * SIM_PS_PER_NS);
  assert_true(sim_now_ps(stack->sim) - start_ps < 2 * latency_ps + 200 * SIM_PS_PER_NS);
  assert_int_equal(sim_busy_ps(stack->sim) - busy_ps, 130 * SIM_PS_PER_NS);
  sim_stack_free(stack);
}

/* Each link has its own delay: an earlier write to one drive may arrive after a later write to another. */
static void test_each_write_finds_its_drive(void **state) {
  (void)state;
  struct sim *sim = sim_new(&(struct sim_config){.seed = 7, .host = host});
  struct sim_drive_options options = {
      .link = {.generation = 3, .lanes = 4, .payload_bytes = 256, .read_request_bytes = 512, .latency_ns = 2000}};
  struct sim_drive *slow = sim_drive_add(sim, sim_profile_find("ideal"), &options);
  options.link.latency_ns = 200;
  struct sim_drive *fast = sim_drive_add(sim, sim_profile_find("ideal"), &options);
  struct spate_pcie_host bus;

  sim_use(sim);
  enumerate(&bus);
  spate_port_write32(bus.devices[0].bar0 + NVME_INTMS, 1);
  spate_port_write32(bus.devices[1].bar0 + NVME_INTMS, 2);
  sim_spend(sim, 1000 * SIM_PS_PER_NS);
  assert_int_equal(sim_drive_register_read(slow, NVME_INTMS), 0);
  assert_int_equal(sim_drive_register_read(fast, NVME_INTMS), 2);
  sim_spend(sim, 2000 * SIM_PS_PER_NS);
  assert_int_equal(sim_drive_register_read(slow, NVME_INTMS), 1);
  assert_int_equal(sim_drive_register_read(fast, NVME_INTMS), 2);
  sim_free(sim);
}

/* A loop that waits for a register to change ends after a bounded number of turns, even if accesses cost nothing. */
static void test_polling_a_register_jumps_in_time(void **state) {
  (void)state;
  struct sim_stack *stack = sim_stack_new(&(struct sim_stack_config){.drives = 1});

  enumerate(&stack->host);
  const uintptr_t addresses[] = {CONFIG(0, 0, 0x50), CONFIG(1, 0, 0), stack->host.devices[0].bar0 + NVME_VS};
  for (unsigned i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
    const uint64_t start_ms = sim_now_ps(stack->sim) / SIM_PS_PER_MS;
    for (unsigned turn = 0; turn < 1020; turn++) {
      (void)spate_port_read32(addresses[i]);
      (void)spate_port_ticks();
    }
    assert_true(sim_now_ps(stack->sim) / SIM_PS_PER_MS - start_ms >= 100);
  }
  sim_stack_free(stack);
}

static void count_down(struct spate_io *io) {
  unsigned *left = io->context;

  assert_int_equal(io->error, SPATE_OK);
  (*left)--;
}

/* The processor's time: for each command its submission and completion, for each doorbell its write, and for a poll its
 * result. Each is charged once, also while earlier doorbells are still in flight. */
static void test_the_processor_is_charged_for_each_command_once(void **state) {
  (void)state;
  struct sim_stack *stack =
      make_stack((struct sim_stack_config){.drives = 1, .options = {.bytes = UINT64_C(64) << 20}});
  struct spate_region *region = sim_stack_region(stack, 65536, SIM_LOGIC);
  struct spate_io ios[9];
  unsigned left = 9;

  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  const uint64_t busy_ps = sim_busy_ps(stack->sim);
  for (unsigned i = 0; i < 9; i++) {
    ios[i] = (struct spate_io){
        .op = SPATE_WRITE, .lba = i * 8ull, .blocks = 8, .region = region, .done = count_down, .context = &left};
    assert_int_equal(stack->block->ops->submit(stack->block, &ios[i]), SPATE_OK);
    if (i % 3 == 2) stack->block->ops->kick(stack->block);
  }
  assert_int_equal(sim_busy_ps(stack->sim) - busy_ps, (9 * 50 + 3 * 30) * SIM_PS_PER_NS);
  sim_spend(stack->sim, 50 * SIM_PS_PER_US);
  while (left > 0)
    (void)stack->block->ops->poll(stack->block, 32);
  assert_int_equal(sim_busy_ps(stack->sim) - busy_ps, (9 * (50 + 20) + 4 * 30 + 10) * SIM_PS_PER_NS);
  assert_int_equal(sim_stack_close(stack), SPATE_OK);
  sim_stack_free(stack);
}

#define READS 50u

static uint64_t time_of_reads_ps(bool carried_on) {
  struct sim_stack *stack =
      make_stack((struct sim_stack_config){.drives = 1, .options = {.bytes = UINT64_C(64) << 20}});
  const struct spate_region *region = sim_stack_region(stack, 4096, SIM_LOGIC);

  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  const uint64_t start_ps = sim_now_ps(stack->sim);
  for (unsigned i = 0; i < READS; i++) {
    unsigned left = 1;
    struct spate_io io = {
        .op = SPATE_READ, .lba = i * 8ull, .blocks = 8, .region = region, .done = count_down, .context = &left};
    assert_int_equal(stack->block->ops->submit(stack->block, &io), SPATE_OK);
    stack->block->ops->kick(stack->block);
    while (left > 0) {
      if (!carried_on) sim_active(stack->sim);
      (void)stack->block->ops->poll(stack->block, 8);
    }
  }
  const uint64_t time_ps = sim_now_ps(stack->sim) - start_ps;
  assert_int_equal(sim_stack_close(stack), SPATE_OK);
  sim_stack_free(stack);
  return time_ps;
}

/* A processor that performs every poll finds each completion at most one poll later: jumping in time has no other
 * effect. */
static void test_jumps_in_time_change_nothing(void **state) {
  (void)state;
  const uint64_t look_ps = 10 * SIM_PS_PER_NS;
  const uint64_t carried_ps = time_of_reads_ps(true), looked_ps = time_of_reads_ps(false);

  assert_true(carried_ps > READS * 10 * SIM_PS_PER_US);
  assert_true(looked_ps + READS * look_ps >= carried_ps);
  assert_true(looked_ps <= carried_ps + READS * look_ps);
}

static void test_after_a_link_drop_the_drive_is_unconfigured(void **state) {
  (void)state;
  struct sim_stack *stack = make_stack((struct sim_stack_config){.drives = 1});
  const char *first;

  enumerate(&stack->host);
  const uintptr_t version = stack->host.devices[0].bar0 + NVME_VS;
  assert_int_equal(spate_port_read32(CONFIG(0, 0, 0x50)) >> 29 & 1, 1);
  sim_drive_link_drop(stack->drives[0].drive, 20);
  assert_int_equal(spate_port_read32(CONFIG(0, 0, 0x50)) >> 29 & 1, 0); /* the port reports it */
  assert_int_equal(spate_port_read32(version), ALL_ONES);
  assert_int_equal(spate_port_read32(CONFIG(1, 0, 0)), ALL_ONES);
  assert_false(sim_bus_of(stack->sim)->may_master(stack->sim, 0));

  sim_spend(stack->sim, 21 * SIM_PS_PER_MS);
  assert_int_equal(spate_port_read32(CONFIG(0, 0, 0x50)) >> 29 & 1, 1);
  assert_int_equal(spate_port_read32(version), ALL_ONES);
  (void)spate_port_read32(CONFIG(1, 0, 0)); /* not within 100 ms */
  assert_int_equal(sim_take_violations(stack->sim, &first), 1);
  assert_non_null(strstr(first, "1 ms after its link came up or it was reset"));
  sim_spend(stack->sim, 100 * SIM_PS_PER_MS);
  assert_int_equal(spate_port_read32(CONFIG(1, 0, 0)), 0xffff0001); /* "retry", which enumeration made visible */
  sim_spend(stack->sim, 100 * SIM_PS_PER_MS);
  assert_int_equal(spate_port_read32(CONFIG(1, 0, 0)), 0x00101b36);
  assert_int_equal(spate_port_read32(CONFIG(1, 0, 4)) & 0xffff, 0);
  assert_int_equal(sim_drive_link(stack->drives[0].drive)->config.payload_bytes, 128);
  enumerate(&stack->host);
  assert_int_equal(spate_port_read32(version), 0x00010400);
  assert_int_equal(sim_drive_link(stack->drives[0].drive)->config.payload_bytes, 256);
  sim_stack_free(stack);
}

/* ---- the stack ---- */

/* The link of one of two drives drops while both write. The library configures the drive again, not earlier than
 * permitted, and all data are there. Then the host restarts. */
static void test_a_stack_survives_link_drop_and_restart(void **state) {
  (void)state;
  struct sim_stack *stack =
      make_stack((struct sim_stack_config){.drives = 2, .options = {.bytes = UINT64_C(64) << 20}});
  const struct spate_region *region = sim_stack_region(stack, UINT64_C(8) << 20, SIM_LOGIC);
  static uint8_t expected[1 << 20];
  struct spate_io ios[8];
  unsigned left = 8;

  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  for (unsigned i = 0; i < 8; i++) {
    memset(region->start + ((size_t)i << 20), (int)i + 1, 1 << 20);
    ios[i] = (struct spate_io){.op = SPATE_WRITE,
                               .lba = i * 2048ull,
                               .blocks = 2048,
                               .region = region,
                               .offset_bytes = (uint64_t)i << 20,
                               .done = count_down,
                               .context = &left};
    assert_int_equal(stack->block->ops->submit(stack->block, &ios[i]), SPATE_OK);
  }
  stack->block->ops->kick(stack->block);
  sim_spend(stack->sim, 50 * SIM_PS_PER_US);
  sim_drive_link_drop(stack->drives[1].drive, 30);
  for (unsigned i = 0; i < 10000000 && left > 0; i++)
    (void)stack->block->ops->poll(stack->block, 32);
  assert_int_equal(left, 0);
  assert_int_equal(spate_nvme_counters(&stack->drives[1].nvme)->reattachments, 1);
  assert_int_equal(sim_stack_close(stack), SPATE_OK);

  sim_stack_restart(stack);
  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  for (unsigned i = 0; i < 8; i++) {
    struct spate_io io = {.op = SPATE_READ, .lba = i * 2048ull, .blocks = 2048, .region = region};
    memset(region->start, 0, 1 << 20);
    assert_int_equal(spate_block_do(stack->block, &io), SPATE_OK);
    memset(expected, (int)i + 1, sizeof expected);
    assert_memory_equal(region->start, expected, sizeof expected);
  }
  assert_int_equal(sim_stack_close(stack), SPATE_OK);
  assert_int_equal(sim_take_violations(stack->sim, NULL), 0);
  sim_stack_free(stack);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_drive_is_found_behind_its_port),
      cmocka_unit_test(test_link_and_packet_sizes_are_negotiated),
      cmocka_unit_test(test_unsupported_packet_sizes),
      cmocka_unit_test(test_nothing_answers_where_no_device_is),
      cmocka_unit_test(test_command_registers_decide),
      cmocka_unit_test(test_writes_are_posted_and_reads_wait),
      cmocka_unit_test(test_each_write_finds_its_drive),
      cmocka_unit_test(test_polling_a_register_jumps_in_time),
      cmocka_unit_test(test_the_processor_is_charged_for_each_command_once),
      cmocka_unit_test(test_jumps_in_time_change_nothing),
      cmocka_unit_test(test_after_a_link_drop_the_drive_is_unconfigured),
      cmocka_unit_test(test_a_stack_survives_link_drop_and_restart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
