/* SPDX-License-Identifier: Apache-2.0 */
/* Creates a machine, and frees it. */
#include "state.h"
#include <stdlib.h>

/*
 * 52.0 instructions to submit a command and 0.66 for its share of a doorbell, 19.3 to complete one, 23 for a poll that
 * finds nothing: `make bench-instructions`. The processor's time for an access to a device's register is assumed: a
 * posted write leaves through the interconnect and the bridge of a Zynq UltraScale+ in tens of nanoseconds. A read
 * takes this path twice, in addition to the link's round trip.
 */
const struct sim_host sim_host_a53 = {
    .clock_mhz = 1200,
    .instructions_per_100_cycles = 100,
    .submit_instructions = 53,
    .complete_instructions = 19,
    .poll_instructions = 23,
    .write_ns = 60, /* assumed */
    .read_ns = 250, /* assumed */
};

struct sim *sim_new(const struct sim_config *config) {
  struct sim *sim = calloc(1, sizeof *sim);

  if (sim == NULL) abort();
  sim->config = *config;
  sim->random = config->seed;
  sim->memory = sim_memory_new(sim);
  sim->pcie = sim_pcie_new(sim);
  sim->port = sim_port_new();
  return sim;
}

void sim_free(struct sim *sim) {
  if (sim == NULL) return;
  if (sim->violations != 0) sim_fail(sim, sim->first);
  for (unsigned i = 0; i < sim->drive_count; i++)
    sim_drive_free(sim->drives[i]);
  sim_bridge_free(sim->bridge);
  sim_port_free(sim->port);
  sim_pcie_free(sim->pcie);
  sim_memory_free(sim->memory);
  free(sim->heap);
  free(sim);
}
