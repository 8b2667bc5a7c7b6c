/* SPDX-License-Identifier: Apache-2.0 */
/* The link of a Xilinx bridge: its training, and the register that shows it. Used by bridge.c. */
#ifndef SPATE_SIM_BRIDGE_LINK_H
#define SPATE_SIM_BRIDGE_LINK_H

#include "bridge.h"
#include "link.h"

struct sim_bridge_link {
  const struct sim_link *link;
  enum sim_bridge_family family;
  enum sim_bridge_training training;
  uint8_t lane_reversal;
  uint32_t speed_change_ms;
  bool down;
  uint64_t changed_ps; /* when it went up or down */
  uint64_t due_ps;     /* when it will be up; UINT64_MAX: not known */
};

void sim_bridge_link_start(struct sim_bridge_link *link, const struct sim_bridge_config *config,
                           const struct sim_link *below);
void sim_bridge_link_set(struct sim_bridge_link *link, bool up, uint64_t now_ps);
/* PHY Status/Control. */
uint32_t sim_bridge_link_phy(const struct sim_bridge_link *link, uint64_t now_ps);
/* Link Control and Status of the root port, with the present speed in it. */
uint32_t sim_bridge_link_speed(const struct sim_bridge_link *link, uint64_t now_ps, uint32_t value);
/* For how long it has been down; 0: it is up. */
uint64_t sim_bridge_link_down_for(const struct sim_bridge_link *link, uint64_t now_ps);

#endif
