/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include "../../../sim/bus/link.h"

/* The lab and spate plan assume the same link when the bridge is not known. */
static struct sim_link_config link_of(uint8_t generation, uint8_t lanes) {
  return (struct sim_link_config){.generation = generation == 0 ? 4 : generation,
                                  .lanes = lanes == 0 ? 4 : lanes,
                                  .payload_bytes = 256,
                                  .read_request_bytes = 512,
                                  .latency_ns = 250,
                                  .dllp_percent = 2};
}

double calibrate_link_down(uint8_t generation, uint8_t lanes) {
  const struct sim_link_config link = link_of(generation, lanes);

  return sim_link_down_max(&link);
}

double calibrate_link_up(uint8_t generation, uint8_t lanes) {
  const struct sim_link_config link = link_of(generation, lanes);

  return sim_link_up_max(&link);
}
