/* SPDX-License-Identifier: Apache-2.0 */
/* Register and configuration accesses by programmable logic: over the link like a processor's, but nothing waits. */
#include "logic.h"
#include "internal.h"

#define REGISTER_BYTES 4u

/* ---- posted ---- */

/* Registers are below 4 GiB, so an event's number holds address and value. */
static void leaves(void *context, uint64_t number) { sim_port_post(context, number >> 32, (uint32_t)number); }

void sim_logic_post(struct sim *sim, uint64_t at_ps, uint64_t address, uint32_t value) {
  _Static_assert(SIM_WINDOW + SIM_WINDOW_BYTES <= UINT32_MAX, "an event's number holds no register's address");
  if (address <= UINT32_MAX) sim_at(sim, at_ps, leaves, sim, address << 32 | value);
}

/* ---- answered ---- */

static void is_back(void *context, uint64_t number) {
  struct sim_logic_access *access = context;

  (void)number;
  access->answered(access->context, access);
}

static void config_access(struct sim_logic_access *access) {
  if (access->write)
    sim_pcie_config_write(access->sim, access->address, access->value);
  else
    (void)sim_pcie_config_read(access->sim, access->address, &access->value);
}

/* Routes the address when the request has arrived: the link may have gone down meanwhile. */
static void register_read(struct sim_logic_access *access) {
  uint32_t offset;
  struct sim_drive *drive = sim_pcie_route(access->sim, access->address, &offset);

  access->nobody = drive == NULL;
  access->value = drive == NULL ? UINT32_MAX : sim_drive_register_read(drive, offset);
}

static void is_there(void *context, uint64_t number) {
  struct sim_logic_access *access = context;
  struct sim *sim = access->sim;

  (void)number;
  if (sim_pcie_is_config(sim, access->address))
    config_access(access);
  else
    register_read(access);
  sim_at(sim, sim_now_ps(sim) + access->back_ps, is_back, access, 0);
}

/* Crosses the link behind all writes that were posted before. An access to a root port, or to no drive, crosses
 * none. */
static void is_asked(void *context, uint64_t number) {
  struct sim_logic_access *access = context;
  struct sim *sim = access->sim;
  const uint64_t now_ps = sim_now_ps(sim);
  uint32_t offset;
  struct sim_drive *drive = sim_pcie_is_config(sim, access->address) ? sim_pcie_config_drive(sim, access->address)
                                                                     : sim_pcie_route(sim, access->address, &offset);
  uint64_t whole_ps = 0;

  (void)number;
  access->back_ps = 0;
  if (drive != NULL) {
    struct sim_link *link = sim_drive_link(drive);
    whole_ps = sim_link_host_read(link, now_ps, REGISTER_BYTES) - now_ps;
    access->back_ps = link->config.latency_ns * SIM_PS_PER_NS;
    if (access->back_ps > whole_ps) access->back_ps = whole_ps;
  }
  sim_at(sim, now_ps + whole_ps - access->back_ps, is_there, access, 0);
}

void sim_logic_ask(struct sim *sim, uint64_t at_ps, struct sim_logic_access *access) {
  access->sim = sim;
  access->nobody = false;
  sim_at(sim, at_ps, is_asked, access, 0);
}
