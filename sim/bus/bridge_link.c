/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PHY Status/Control (PG055 and PG194, offset 0x144), and the link training and status state machine behind it.
 *
 *   bit 0      rate 5 GT/s (without bit 12)
 *   bits 2:1   width as a power of two
 *   bits 8:3   LTSSM state; "Encoding is specific to the underlying integrated block" (PG194)
 *   bits 10:9  lane reversal (PG055; embeddedsw xaxipcie_hw.h). Reserved in PG194
 *   bit 11     link up
 *   bit 12     rate 8 GT/s (PG194 and later)
 *   bit 13     width 16 (PG194 and later)
 *
 * No guide has a bit for 16 GT/s or more, and the model sets none. The Link Status register has the speed.
 *
 * The states take the times of base specification 4.2.6: 12 ms in Detect.Quiet, then a look for receivers. When they
 * are there, Polling and Configuration take some milliseconds. Every link comes up at 2.5 GT/s, and goes through
 * Recovery to a higher speed. It stays up meanwhile.
 */
#include "bridge_link.h"

enum state {
  DETECT_QUIET,
  DETECT_ACTIVE,
  POLLING_ACTIVE,
  POLLING_COMPLIANCE,
  POLLING_CONFIGURATION,
  WIDTH_START,
  LANE_NUMBERS,
  L0,
  RECOVERY_LOCK,
  RECOVERY_SPEED,
  STATES
};

/* PG054 (7 series), pl_ltssm_state: a root port has codes of its own in Configuration, 0x26 to 0x2c. PG213
 * (UltraScale+), cfg_ltssm_state; Versal's blocks are assumed to have the same ones. */
static const uint8_t codes[2][STATES] = {
    {0x00, 0x02, 0x04, 0x08, 0x05, 0x26, 0x2b, 0x16, 0x1c, 0x1e},
    {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x08, 0x10, 0x0b, 0x0c},
};

#define RATE_5   UINT32_C(0x0001)
#define UP       UINT32_C(0x0800)
#define RATE_8   UINT32_C(0x1000)
#define WIDTH_16 UINT32_C(0x2000)

#define QUIET_MS         12u /* base specification 4.2.6.1.1 */
#define DETECT_MS        14u
#define COMPLIANCE_MS    24u /* 4.2.6.2.1: the timeout of Polling.Active */
#define POLLING_MS       3u  /* assumed */
#define CONFIGURATION_MS 1u  /* assumed */

void sim_bridge_link_start(struct sim_bridge_link *link, const struct sim_bridge_config *config,
                           const struct sim_link *below) {
  *link = (struct sim_bridge_link){.link = below,
                                   .family = config->family,
                                   .training = config->training,
                                   .lane_reversal = config->family == SIM_BRIDGE_PG055 ? config->lane_reversal : 0,
                                   .speed_change_ms = config->speed_change_ms,
                                   .due_ps = UINT64_MAX};
}

void sim_bridge_link_set(struct sim_bridge_link *link, bool up, uint64_t now_ps) {
  link->due_ps = UINT64_MAX;
  link->down = !up;
  link->changed_ps = now_ps;
}

uint64_t sim_bridge_link_down_for(const struct sim_bridge_link *link, uint64_t now_ps) {
  return link->down ? now_ps - link->changed_ps : 0;
}

static enum state detecting(uint64_t ms) { return ms % DETECT_MS < QUIET_MS ? DETECT_QUIET : DETECT_ACTIVE; }

/* Without a known end the link is looking for a receiver. */
static enum state training(const struct sim_bridge_link *link, uint64_t now_ps) {
  const uint64_t ms = (now_ps - link->changed_ps) / SIM_PS_PER_MS;
  const uint64_t left_ms = link->due_ps <= now_ps ? 0 : (link->due_ps - now_ps) / SIM_PS_PER_MS;

  if (link->training == SIM_BRIDGE_STUCK_IN_DETECT || ms < DETECT_MS) return detecting(ms);
  if (link->training == SIM_BRIDGE_STUCK_IN_POLLING)
    return ms % (2 * COMPLIANCE_MS) < COMPLIANCE_MS ? POLLING_ACTIVE : POLLING_COMPLIANCE;
  if (link->training == SIM_BRIDGE_STUCK_IN_CONFIGURATION) return ms % 4 < 2 ? WIDTH_START : LANE_NUMBERS;
  if (left_ms < CONFIGURATION_MS) return LANE_NUMBERS;
  if (left_ms < CONFIGURATION_MS + POLLING_MS) return left_ms < 2 ? POLLING_CONFIGURATION : POLLING_ACTIVE;
  return detecting(ms);
}

/* The speed goes up in the second half of the time that it takes, in Recovery. */
static bool is_slow(const struct sim_bridge_link *link, uint64_t now_ps) {
  return now_ps - link->changed_ps < link->speed_change_ms * SIM_PS_PER_MS;
}

static enum state state_of(const struct sim_bridge_link *link, uint64_t now_ps) {
  if (link->down) return training(link, now_ps);
  if (!is_slow(link, now_ps)) return L0;
  const uint64_t part = 4 * (now_ps - link->changed_ps) / (link->speed_change_ms * SIM_PS_PER_MS);
  return part < 2 ? L0 : part < 3 ? RECOVERY_LOCK : RECOVERY_SPEED;
}

static uint32_t generation(const struct sim_bridge_link *link, uint64_t now_ps) {
  return is_slow(link, now_ps) ? 1 : link->link->config.generation;
}

static uint32_t width_bits(uint32_t lanes) {
  uint32_t power = 0;

  if (lanes == 16) return WIDTH_16;
  while (1u << power < lanes)
    power++;
  return power << 1;
}

uint32_t sim_bridge_link_phy(const struct sim_bridge_link *link, uint64_t now_ps) {
  const uint32_t state = codes[link->family != SIM_BRIDGE_PG055][state_of(link, now_ps)];
  const uint32_t status = state << 3 | (uint32_t)link->lane_reversal << 9;

  if (link->down) return status;
  const uint32_t speed = generation(link, now_ps);
  return status | UP | width_bits(link->link->config.lanes) | (speed == 2 ? RATE_5 : speed == 3 ? RATE_8 : 0);
}

uint32_t sim_bridge_link_speed(const struct sim_bridge_link *link, uint64_t now_ps, uint32_t value) {
  return (value & ~UINT32_C(0x000f0000)) | generation(link, now_ps) << 16;
}
