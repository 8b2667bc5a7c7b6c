/* SPDX-License-Identifier: Apache-2.0 */
/* A machine with drives and the library opened on them, as configured by a test or an experiment. */
#include "stack.h"
#include "../profiles/profile_text.h"
#include "internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_DEFAULT      64u
#define EXFAT_CACHE_BYTES  (64u * 4096u)
#define EXFAT_BITMAP_BYTES (1024u * 1024u) /* more than two million clusters: no part is read twice */

struct sim_stack_region {
  struct spate_region region;
  struct sim_stack_region *next;
};

static void *take(size_t bytes) {
  void *memory = calloc(1, bytes);

  if (memory == NULL) abort();
  return memory;
}

static struct spate_arena arena_of(struct sim *sim, size_t bytes) {
  return (struct spate_arena){.start = sim_memory_take(sim, bytes, SIM_QUEUE), .bytes = bytes};
}

struct sim_stack *sim_stack_new(const struct sim_stack_config *config) {
  struct sim_stack *stack = take(sizeof *stack);
  char why[SIM_PROFILE_WHY_BYTES];
  const struct sim_profile *profile = sim_profile_open(config->profile == NULL ? "ideal" : config->profile, why);

  if (profile == NULL) {
    (void)fprintf(stderr, "sim: %s\n", why);
    abort();
  }
  stack->config = *config;
  if (stack->config.drives == 0) stack->config.drives = 1;
  if (stack->config.depth == 0) stack->config.depth = DEPTH_DEFAULT;
  stack->sim = sim_new(&config->machine);
  sim_use(stack->sim);
  for (unsigned i = 0; i < stack->config.drives; i++) {
    struct sim_stack_drive *drive = &stack->drives[i];
    drive->stack = stack;
    drive->drive = sim_drive_add(stack->sim, profile, &config->options);
    drive->queue_memory = arena_of(stack->sim, SPATE_NVME_CONTROLLER_MEMORY_BYTES + SPATE_NVME_ADMIN_LISTS_BYTES +
                                                   SPATE_NVME_QUEUE_MEMORY_BYTES(stack->config.depth, 1u));
    if (config->host_buffer_bytes != 0)
      drive->host_buffer = sim_memory_take(stack->sim, config->host_buffer_bytes, SIM_CACHED);
  }
  if (config->bridge.family != SIM_BRIDGE_NONE) sim_bridge_fit(stack->sim, &config->bridge);
  if (stack->config.drives > 1) stack->scratch = sim_memory_take(stack->sim, SIM_PAGE, SIM_CACHED);
  return stack;
}

/* ---- open ---- */

/* Devices are numbered in the order of the drives. A port whose link is down has no device. */
static enum spate_error find_device(struct sim_stack *stack, struct sim_stack_drive *drive) {
  for (unsigned n = 0;; n++) {
    struct spate_pcie_device *device;
    uint32_t offset;
    const enum spate_error error = spate_pcie_find(&stack->host, SPATE_PCIE_CLASS_NVME, n, &device);
    if (error != SPATE_OK) return error;
    if (sim_pcie_route(stack->sim, device->bar0, &offset) != drive->drive) continue;
    drive->device = device;
    return SPATE_OK;
  }
}

static struct spate_nvme_bus bus_of(struct sim_stack_drive *drive) {
  const enum sim_stack_bus kind = drive->stack->config.bus;
  drive->pcie_bus.host = &drive->stack->host;
  drive->pcie_bus.device = drive->device;
  struct spate_nvme_bus bus = spate_nvme_pcie_bus(&drive->pcie_bus);

  if (kind == SIM_STACK_RESTORES) return (struct spate_nvme_bus){.restore = bus.restore, .context = bus.context};
  if (kind == SIM_STACK_WATCHES) return (struct spate_nvme_bus){.link_is_up = bus.link_is_up, .context = bus.context};
  if (kind == SIM_STACK_ISOLATES) return (struct spate_nvme_bus){.isolate = bus.isolate, .context = bus.context};
  return kind == SIM_STACK_PCIE ? bus : (struct spate_nvme_bus){0};
}

enum spate_error sim_stack_queue_open(struct sim_stack_drive *drive, unsigned depth) {
  const struct spate_nvme_queue_config config = {
      .depth = depth, .slots = drive->slots, .slot_count = sizeof drive->slots / sizeof drive->slots[0]};

  return spate_nvme_queue_open(&drive->nvme, &drive->queue, &config);
}

static enum spate_error open_drive(struct sim_stack *stack, struct sim_stack_drive *drive) {
  enum spate_error error = find_device(stack, drive);

  if (error != SPATE_OK) return error;
  const struct spate_nvme_config config = {
      .registers = drive->device->bar0,
      .registers_bytes = drive->device->bar0_bytes,
      .queue_memory = &drive->queue_memory,
      .command_timeout_ms = stack->config.command_timeout_ms,
      .host_buffer = drive->host_buffer,
      .host_buffer_bytes = stack->config.host_buffer_bytes,
      .bus = bus_of(drive),
  };
  error = spate_nvme_open(&drive->nvme, &config);
  if (error != SPATE_OK) return error;
  return sim_stack_queue_open(drive, stack->config.depth);
}

/* The array's identity comes from the machine's seed, and is never all zeros. */
static enum spate_error create_stripe(struct sim_stack *stack, const struct spate_stripe_config *config) {
  struct spate_stripe_create create = {.name = "spate", .chunk_bytes = stack->config.chunk_bytes};
  const uint64_t random[2] = {sim_random(stack->sim) | 1u, sim_random(stack->sim)};

  memcpy(create.uuid, random, sizeof create.uuid);
  return spate_stripe_create(config, &create);
}

static enum spate_error open_stripe(struct sim_stack *stack) {
  struct spate_block *members[SIM_DRIVES_MAX];
  const struct spate_stripe_config config = {
      .members = members,
      .member_count = (uint8_t)stack->config.drives,
      .parts = stack->parts,
      .part_count = SIM_STACK_PARTS,
      .scratch = stack->scratch,
  };

  for (unsigned i = 0; i < stack->config.drives; i++)
    members[i] = &stack->drives[i].queue.block;
  enum spate_error error = spate_stripe_open(&stack->stripe, &config);
  if (error != SPATE_E_NO_STRIPE) return error;
  error = create_stripe(stack, &config);
  return error != SPATE_OK ? error : spate_stripe_open(&stack->stripe, &config);
}

struct spate_pcie_xilinx_config sim_stack_xilinx(const struct sim_bridge_config *bridge) {
  const struct sim_bridge_map map = sim_bridge_map_of(bridge);
  const uint64_t registers = map.region != 0 ? map.region : map.control;

  return (struct spate_pcie_xilinx_config){
      .control_base = map.control,
      .bridge_base = bridge->family >= SIM_BRIDGE_QDMA ? registers + SPATE_PCIE_XILINX_VERSAL : 0,
      .last_bus = map.last_bus,
      .memory = {map.memory.cpu, map.memory.bus, map.memory.bytes},
      .prefetchable = {map.high.cpu, map.high.bus, map.high.bytes},
  };
}

static enum spate_error open_bridge(struct sim_stack *stack) {
  if (stack->config.bridge.family != SIM_BRIDGE_NONE) {
    const struct spate_pcie_xilinx_config xilinx = sim_stack_xilinx(&stack->config.bridge);
    return spate_pcie_xilinx_open(&stack->host, &xilinx);
  }
  const struct spate_pcie_ecam_config bridge = {
      .config_base = SIM_ECAM,
      .last_bus = SIM_ECAM_BUSES - 1u,
      .memory = {.cpu_address = SIM_WINDOW, .bus_address = SIM_WINDOW, .bytes = SIM_WINDOW_BYTES},
  };
  return spate_pcie_ecam_open(&stack->host, &bridge);
}

enum spate_error sim_stack_open(struct sim_stack *stack) {
  enum spate_error error = open_bridge(stack);

  if (error == SPATE_OK) error = spate_pcie_enumerate(&stack->host, 0);
  for (unsigned i = 0; i < stack->config.drives && error == SPATE_OK; i++)
    error = open_drive(stack, &stack->drives[i]);
  if (error != SPATE_OK) return error;
  stack->block = &stack->drives[0].queue.block;
  if (stack->config.drives == 1) return SPATE_OK;
  stack->block = &stack->stripe.block;
  return open_stripe(stack);
}

/* ---- close ---- */

void sim_stack_restart(struct sim_stack *stack) {
  for (unsigned i = 0; i < stack->config.drives; i++) {
    struct sim_stack_drive *drive = &stack->drives[i];
    drive->nvme = (struct spate_nvme){0};
    drive->queue = (struct spate_nvme_queue){0};
    drive->device = NULL;
    drive->queue_memory.used_bytes = 0;
  }
  stack->host = (struct spate_pcie_host){0};
  stack->stripe = (struct spate_stripe){0};
  stack->block = NULL;
}

enum spate_error sim_stack_close(struct sim_stack *stack) {
  enum spate_error first = SPATE_OK;

  for (unsigned i = 0; i < stack->config.drives; i++) {
    const enum spate_error error = spate_nvme_shutdown(&stack->drives[i].nvme);
    if (first == SPATE_OK) first = error;
  }
  return first;
}

void sim_stack_free(struct sim_stack *stack) {
  if (stack == NULL) return;
  while (stack->regions != NULL) {
    struct sim_stack_region *next = stack->regions->next;
    free(stack->regions);
    stack->regions = next;
  }
  sim_free(stack->sim);
  free(stack);
}

/* ---- memory and volumes for programs ---- */

struct spate_region *sim_stack_region(struct sim_stack *stack, uint64_t bytes, enum sim_memory_kind kind) {
  struct sim_stack_region *entry = take(sizeof *entry);
  struct spate_arena table = arena_of(stack->sim, (size_t)SPATE_REGION_TABLE_BYTES(bytes));

  entry->next = stack->regions;
  stack->regions = entry;
  if (spate_region_init(&entry->region, sim_memory_take(stack->sim, (size_t)bytes, kind), bytes, &table) != SPATE_OK)
    abort();
  return &entry->region;
}

struct spate_exfat_config sim_stack_exfat(struct sim_stack *stack) {
  if (stack->exfat_cache == NULL) {
    stack->exfat_cache = sim_memory_take(stack->sim, EXFAT_CACHE_BYTES, SIM_CACHED);
    stack->exfat_bitmap = sim_memory_take(stack->sim, EXFAT_BITMAP_BYTES, SIM_CACHED);
  }
  return (struct spate_exfat_config){
      .block = stack->block,
      .blocks = stack->block->blocks,
      .cache = stack->exfat_cache,
      .cache_bytes = EXFAT_CACHE_BYTES,
      .cache_blocks = stack->exfat_blocks,
      .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
      .bitmap = stack->exfat_bitmap,
      .bitmap_bytes = EXFAT_BITMAP_BYTES,
  };
}
