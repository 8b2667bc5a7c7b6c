/* SPDX-License-Identifier: Apache-2.0 */
/* A machine with drives and the library opened on them, to the size that a test or an experiment asks for. */
#include "rig.h"
#include "internal.h"
#include "profile_text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_DEFAULT      64u
#define EXFAT_CACHE_BYTES  (64u * 4096u)
#define EXFAT_BITMAP_BYTES (1024u * 1024u) /* more than two million clusters: none is read twice */

struct sim_rig_region {
  struct spate_region region;
  struct sim_rig_region *next;
};

static void *take(size_t bytes) {
  void *memory = calloc(1, bytes);

  if (memory == NULL) abort();
  return memory;
}

static struct spate_arena arena_of(struct sim *sim, size_t bytes) {
  return (struct spate_arena){.start = sim_memory_take(sim, bytes, SIM_QUEUE), .bytes = bytes};
}

struct sim_rig *sim_rig_new(const struct sim_rig_config *config) {
  struct sim_rig *rig = take(sizeof *rig);
  char why[SIM_PROFILE_WHY_BYTES];
  const struct sim_profile *profile = sim_profile_open(config->profile == NULL ? "ideal" : config->profile, why);

  if (profile == NULL) {
    (void)fprintf(stderr, "sim: %s\n", why);
    abort();
  }
  rig->config = *config;
  if (rig->config.drives == 0) rig->config.drives = 1;
  if (rig->config.depth == 0) rig->config.depth = DEPTH_DEFAULT;
  rig->sim = sim_new(&config->machine);
  sim_use(rig->sim);
  for (unsigned i = 0; i < rig->config.drives; i++) {
    struct sim_rig_drive *drive = &rig->drives[i];
    drive->rig = rig;
    drive->drive = sim_drive_add(rig->sim, profile, &config->options);
    drive->queue_memory =
        arena_of(rig->sim, SPATE_NVME_CONTROLLER_MEMORY_BYTES + SPATE_NVME_QUEUE_MEMORY_BYTES(rig->config.depth));
    if (config->host_buffer_bytes != 0)
      drive->host_buffer = sim_memory_take(rig->sim, config->host_buffer_bytes, SIM_CACHED);
  }
  if (rig->config.drives > 1) rig->scratch = sim_memory_take(rig->sim, SIM_PAGE, SIM_CACHED);
  return rig;
}

/* ---- open ---- */

/* Ports are numbered in the order of the drives, but one whose link is down has no device. */
static enum spate_error find_device(struct sim_rig *rig, struct sim_rig_drive *drive) {
  for (unsigned n = 0;; n++) {
    const struct spate_pcie_device *device;
    uint32_t offset;
    const enum spate_error error = spate_pcie_find(&rig->host, SPATE_PCIE_CLASS_NVME, n, &device);
    if (error != SPATE_OK) return error;
    if (sim_pcie_route(rig->sim, device->bar0, &offset) != drive->drive) continue;
    drive->device = &rig->host.devices[device - rig->host.devices];
    return SPATE_OK;
  }
}

static struct spate_nvme_bus bus_of(struct sim_rig_drive *drive) {
  const enum sim_rig_bus kind = drive->rig->config.bus;
  drive->way.host = &drive->rig->host;
  drive->way.device = drive->device;
  struct spate_nvme_bus bus = spate_nvme_pcie_bus(&drive->way);

  if (kind == SIM_RIG_RESTORES) return (struct spate_nvme_bus){.restore = bus.restore, .context = bus.context};
  if (kind == SIM_RIG_WATCHES) return (struct spate_nvme_bus){.link_is_up = bus.link_is_up, .context = bus.context};
  if (kind == SIM_RIG_ISOLATES) return (struct spate_nvme_bus){.isolate = bus.isolate, .context = bus.context};
  return kind == SIM_RIG_PCIE ? bus : (struct spate_nvme_bus){0};
}

static enum spate_error open_drive(struct sim_rig *rig, struct sim_rig_drive *drive) {
  enum spate_error error = find_device(rig, drive);

  if (error != SPATE_OK) return error;
  const struct spate_nvme_config config = {
      .registers = drive->device->bar0,
      .registers_bytes = drive->device->bar0_bytes,
      .queue_memory = &drive->queue_memory,
      .command_timeout_ms = rig->config.command_timeout_ms,
      .host_buffer = drive->host_buffer,
      .host_buffer_bytes = rig->config.host_buffer_bytes,
      .bus = bus_of(drive),
  };
  error = spate_nvme_open(&drive->nvme, &config);
  if (error != SPATE_OK) return error;
  return spate_nvme_queue_open(&drive->nvme, &drive->queue, 0, rig->config.depth);
}

/* The array's identity comes from the machine's seed, and is never all zeros. */
static enum spate_error create_stripe(struct sim_rig *rig, const struct spate_stripe_config *config) {
  struct spate_stripe_create create = {.name = "spate", .chunk_bytes = rig->config.chunk_bytes};
  const uint64_t random[2] = {sim_random(rig->sim) | 1u, sim_random(rig->sim)};

  memcpy(create.uuid, random, sizeof create.uuid);
  return spate_stripe_create(config, &create);
}

static enum spate_error open_stripe(struct sim_rig *rig) {
  struct spate_block *members[SIM_DRIVES_MAX];
  const struct spate_stripe_config config = {
      .members = members,
      .member_count = (uint8_t)rig->config.drives,
      .parts = rig->parts,
      .part_count = SIM_RIG_PARTS,
      .scratch = rig->scratch,
  };

  for (unsigned i = 0; i < rig->config.drives; i++)
    members[i] = &rig->drives[i].queue.block;
  enum spate_error error = spate_stripe_open(&rig->stripe, &config);
  if (error != SPATE_E_NO_STRIPE) return error;
  error = create_stripe(rig, &config);
  return error != SPATE_OK ? error : spate_stripe_open(&rig->stripe, &config);
}

enum spate_error sim_rig_open(struct sim_rig *rig) {
  const struct spate_pcie_ecam_config bridge = {
      .config_base = SIM_ECAM,
      .last_bus = SIM_ECAM_BUSES - 1u,
      .memory = {.cpu_address = SIM_WINDOW, .bus_address = SIM_WINDOW, .bytes = SIM_WINDOW_BYTES},
  };
  enum spate_error error = spate_pcie_ecam_open(&rig->host, &bridge);

  if (error == SPATE_OK) error = spate_pcie_enumerate(&rig->host, 0);
  for (unsigned i = 0; i < rig->config.drives && error == SPATE_OK; i++)
    error = open_drive(rig, &rig->drives[i]);
  if (error != SPATE_OK) return error;
  rig->block = &rig->drives[0].queue.block;
  if (rig->config.drives == 1) return SPATE_OK;
  rig->block = &rig->stripe.block;
  return open_stripe(rig);
}

/* ---- and close ---- */

void sim_rig_restart(struct sim_rig *rig) {
  for (unsigned i = 0; i < rig->config.drives; i++) {
    struct sim_rig_drive *drive = &rig->drives[i];
    drive->nvme = (struct spate_nvme){0};
    drive->queue = (struct spate_nvme_queue){0};
    drive->device = NULL;
    drive->queue_memory.used_bytes = 0;
  }
  rig->host = (struct spate_pcie_host){0};
  rig->stripe = (struct spate_stripe){0};
  rig->block = NULL;
}

enum spate_error sim_rig_close(struct sim_rig *rig) {
  enum spate_error first = SPATE_OK;

  for (unsigned i = 0; i < rig->config.drives; i++) {
    const enum spate_error error = spate_nvme_shutdown(&rig->drives[i].nvme);
    if (first == SPATE_OK) first = error;
  }
  return first;
}

void sim_rig_free(struct sim_rig *rig) {
  if (rig == NULL) return;
  while (rig->regions != NULL) {
    struct sim_rig_region *next = rig->regions->next;
    free(rig->regions);
    rig->regions = next;
  }
  sim_free(rig->sim);
  free(rig);
}

/* ---- what programs need besides ---- */

struct spate_region *sim_rig_region(struct sim_rig *rig, uint64_t bytes, enum sim_memory_kind kind) {
  struct sim_rig_region *entry = take(sizeof *entry);
  struct spate_arena table = arena_of(rig->sim, (size_t)SPATE_REGION_TABLE_BYTES(bytes));

  entry->next = rig->regions;
  rig->regions = entry;
  if (spate_region_init(&entry->region, sim_memory_take(rig->sim, (size_t)bytes, kind), bytes, &table) != SPATE_OK)
    abort();
  return &entry->region;
}

struct spate_exfat_config sim_rig_exfat(struct sim_rig *rig) {
  if (rig->exfat_cache == NULL) {
    rig->exfat_cache = sim_memory_take(rig->sim, EXFAT_CACHE_BYTES, SIM_CACHED);
    rig->exfat_bitmap = sim_memory_take(rig->sim, EXFAT_BITMAP_BYTES, SIM_CACHED);
  }
  return (struct spate_exfat_config){
      .block = rig->block,
      .blocks = rig->block->blocks,
      .cache = rig->exfat_cache,
      .cache_bytes = EXFAT_CACHE_BYTES,
      .bitmap = rig->exfat_bitmap,
      .bitmap_bytes = EXFAT_BITMAP_BYTES,
  };
}
