/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated machine whose root port is a Xilinx bridge. Included by one test program each. */
#ifndef SPATE_TESTS_BRIDGE_FIXTURE_H
#define SPATE_TESTS_BRIDGE_FIXTURE_H

#include "machine/internal.h"
#include "machine/stack.h"
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BLOCKS    64u
#define MSI_UPPER 0x14cu
#define MSI_LOWER 0x150u

static const enum sim_bridge_family families[] = {SIM_BRIDGE_PG055, SIM_BRIDGE_PG194, SIM_BRIDGE_QDMA, SIM_BRIDGE_CPM4,
                                                  SIM_BRIDGE_CPM5};
#define FAMILIES (sizeof families / sizeof families[0])

static inline struct sim_stack *machine_with(const struct sim_bridge_config *bridge) {
  return sim_stack_new(&(struct sim_stack_config){.machine = {.seed = 3, .host = sim_host_a53},
                                                  .depth = 8,
                                                  .options = {.bytes = UINT64_C(64) << 20},
                                                  .bridge = *bridge});
}

static inline uint64_t now_ms(const struct sim_stack *stack) { return sim_now_ps(stack->sim) / SIM_PS_PER_MS; }

/* Waits as long as `ms` for the link. */
static inline enum spate_error open_bridge(struct sim_stack *stack, uint32_t ms) {
  struct spate_pcie_xilinx_config config = sim_stack_xilinx(&stack->config.bridge);

  config.link_timeout_ms = ms;
  return spate_pcie_xilinx_open(&stack->host, &config);
}

/* The CPU address of a register of the bridge. */
static inline uintptr_t register_at(const struct sim_stack *stack, uint32_t offset) {
  const struct sim_bridge_map map = sim_bridge_map_of(&stack->config.bridge);

  return (map.region != 0 ? map.region : map.control) + sim_bridge_shift(stack->config.bridge.family) + offset;
}

static inline struct spate_pcie_phy phy_of(struct sim_stack *stack) {
  struct spate_pcie_phy phy;
  const uint64_t before_ps = sim_now_ps(stack->sim);

  assert_int_equal(spate_pcie_phy(&stack->host, &phy), SPATE_OK);
  assert_in_range(sim_now_ps(stack->sim) - before_ps, 0, 100 * SIM_PS_PER_US); /* it never waits */
  return phy;
}

static inline void writes_and_reads(struct sim_stack *stack) {
  struct spate_region *region = sim_stack_region(stack, (size_t)2 * BLOCKS * 512, SIM_LOGIC);

  memset(region->start, 0x5a, (size_t)BLOCKS * 512);
  for (unsigned i = 0; i < 2; i++) {
    struct spate_io io = {.op = i == 0 ? SPATE_WRITE : SPATE_READ,
                          .lba = 8,
                          .blocks = BLOCKS,
                          .region = region,
                          .offset_bytes = (uint64_t)i * BLOCKS * 512};
    assert_int_equal(spate_block_do(stack->block, &io), SPATE_OK);
  }
  assert_memory_equal(region->start, (const uint8_t *)region->start + (size_t)BLOCKS * 512, (size_t)BLOCKS * 512);
}

#endif
