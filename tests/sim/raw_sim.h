/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual drive as a target of raw commands (support/raw_nvme.h). */
#ifndef RAW_SIM_H
#define RAW_SIM_H

#include "drive/drive.h"
#include "machine/memory.h"
#include "raw_nvme.h"
#include <spate/pcie.h>
#include <spate/port.h>
#include <stdlib.h>

#define RAW_SIM_PAGES 4096u

struct raw_sim {
  struct sim *sim;
  struct sim_drive *drive;
  struct spate_pcie_host host;
  struct spate_pcie_device *device;
  uint64_t bar;
  struct raw_nvme raw;
};

static inline uint32_t raw_sim_read32(void *context, uint32_t offset) {
  return spate_port_read32((uintptr_t)(((struct raw_sim *)context)->bar + offset));
}

static inline void raw_sim_write32(void *context, uint32_t offset, uint32_t value) {
  spate_port_write32((uintptr_t)(((struct raw_sim *)context)->bar + offset), value);
}

static inline void raw_sim_wait(void *context) { sim_idle(((struct raw_sim *)context)->sim, SIM_PS_PER_MS); }

/* A machine with one drive, its bridge configured. Ends the program if that fails. */
static inline struct raw_sim *raw_sim_new(const struct sim_profile *profile, const struct sim_drive_options *options,
                                          uint64_t seed) {
  struct raw_sim *r = calloc(1, sizeof *r);
  struct spate_pcie_device *found;
  const struct spate_pcie_ecam_config bridge = {
      .config_base = SIM_ECAM,
      .last_bus = SIM_ECAM_BUSES - 1u,
      .memory = {.cpu_address = SIM_WINDOW, .bus_address = SIM_WINDOW, .bytes = SIM_WINDOW_BYTES},
  };

  if (r == NULL) abort();
  r->sim = sim_new(&(struct sim_config){.seed = seed, .coherent = true});
  sim_use(r->sim);
  r->drive = sim_drive_add(r->sim, profile, options);
  if (spate_pcie_ecam_open(&r->host, &bridge) != SPATE_OK || spate_pcie_enumerate(&r->host, 0) != SPATE_OK ||
      spate_pcie_find(&r->host, SPATE_PCIE_CLASS_NVME, 0, &found) != SPATE_OK)
    abort();
  r->device = found;
  r->bar = r->device->bar0;
  uint8_t *memory = sim_memory_take(r->sim, (size_t)RAW_SIM_PAGES * RAW_PAGE, SIM_LOGIC);
  const struct raw_target target = {.context = r,
                                    .read32 = raw_sim_read32,
                                    .write32 = raw_sim_write32,
                                    .wait = raw_sim_wait,
                                    .memory = memory,
                                    .bus = sim_memory_address(r->sim, memory),
                                    .patience = 20000};
  raw_init(&r->raw, &target);
  return r;
}

/* The same machine with the controller enabled, and with I/O queues 1 and 2. */
static inline struct raw_sim *raw_sim_start(const struct sim_profile *profile, const struct sim_drive_options *options,
                                            uint64_t seed) {
  struct raw_sim *r = raw_sim_new(profile, options, seed);

  if (!raw_enable(&r->raw) || raw_queue(&r->raw, 1) != 0 || raw_queue(&r->raw, 2) != 0) abort();
  return r;
}

static inline void raw_sim_free(struct raw_sim *r) {
  sim_free(r->sim);
  free(r);
}

#endif
