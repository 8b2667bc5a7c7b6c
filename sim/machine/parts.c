/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a machine. sim_new() and sim_drive_add() create them; each part finds the others here. */
#include "state.h"

unsigned sim_attach(struct sim *sim, struct sim_drive *drive) {
  const unsigned index = sim->drive_count;

  if (index == SIM_DRIVES_MAX) sim_fail(sim, "more drives than root ports");
  sim->drives[sim->drive_count++] = drive;
  return index;
}

struct sim_drive *sim_drive_at(struct sim *sim, unsigned index) {
  return index < sim->drive_count ? sim->drives[index] : NULL;
}

struct sim_memory *sim_memory_of(struct sim *sim) {
  return sim->memory;
}

struct sim_pcie *sim_pcie_of(struct sim *sim) {
  return sim->pcie;
}

struct sim_port *sim_port_of(struct sim *sim) {
  return sim->port;
}

struct sim_bridge *sim_bridge_of(struct sim *sim) {
  return sim->bridge;
}

struct sim_unanswered_state *sim_unanswered_of(struct sim *sim) {
  return &sim->unanswered;
}

void sim_set_bridge(struct sim *sim, struct sim_bridge *bridge, struct sim_msi_page *msi) {
  sim->bridge = bridge;
  sim->msi = msi;
}

struct sim_msi_page *sim_msi_of(struct sim *sim) {
  return sim->msi;
}

const struct sim_bus *sim_bus_of(struct sim *sim) { return sim->bus; }
void sim_set_bus(struct sim *sim, const struct sim_bus *bus) { sim->bus = bus; }
