/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link training and status state machine (base specification 4.0, 4.2.5) as the Xilinx bridges show it: the LTSSM
 * state in bits 8:3 of PHY Status/Control (offset 0x144, PG055 and PG194). The numbers are those of the integrated
 * block below the bridge: pl_ltssm_state (PG054, 7 series) or cfg_ltssm_state (PG156, PG213, PG343).
 */
#include "internal.h"

#define OFF           DOCTOR_RANK_OFF
#define DETECT        DOCTOR_RANK_DETECT
#define POLLING       DOCTOR_RANK_POLLING
#define CONFIGURATION DOCTOR_RANK_CONFIGURATION
#define RECOVERY      DOCTOR_RANK_RECOVERY
#define LINK          DOCTOR_RANK_LINK

struct state {
  uint8_t first, last;
  uint8_t rank;
  const char *name;
};

static const struct state pg213[] = {
    {0x00, 0x00, DETECT, "Detect.Quiet"},
    {0x01, 0x01, DETECT, "Detect.Active"},
    {0x02, 0x02, POLLING, "Polling.Active"},
    {0x03, 0x03, POLLING, "Polling.Compliance"},
    {0x04, 0x04, POLLING, "Polling.Configuration"},
    {0x05, 0x05, CONFIGURATION, "Configuration.Linkwidth.Start"},
    {0x06, 0x06, CONFIGURATION, "Configuration.Linkwidth.Accept"},
    {0x07, 0x07, CONFIGURATION, "Configuration.Lanenum.Accept"},
    {0x08, 0x08, CONFIGURATION, "Configuration.Lanenum.Wait"},
    {0x09, 0x09, CONFIGURATION, "Configuration.Complete"},
    {0x0a, 0x0a, CONFIGURATION, "Configuration.Idle"},
    {0x0b, 0x0b, RECOVERY, "Recovery.RcvrLock"},
    {0x0c, 0x0c, RECOVERY, "Recovery.Speed"},
    {0x0d, 0x0d, RECOVERY, "Recovery.RcvrCfg"},
    {0x0e, 0x0e, RECOVERY, "Recovery.Idle"},
    {0x10, 0x10, LINK, "L0"},
    {0x11, 0x16, LINK, "L0s"},
    {0x17, 0x18, LINK, "L1"},
    {0x19, 0x1a, LINK, "L2"},
    {0x20, 0x20, OFF, "Disabled"},
    {0x21, 0x26, OFF, "Loopback"},
    {0x27, 0x27, OFF, "Hot Reset"},
    {0x28, 0x2b, RECOVERY, "Recovery.Equalization"},
};

/* The states from 0x26 to 0x2c are those of a root port. */
static const struct state pg054[] = {
    {0x00, 0x01, DETECT, "Detect.Quiet"},
    {0x02, 0x03, DETECT, "Detect.Active"},
    {0x04, 0x04, POLLING, "Polling.Active"},
    {0x05, 0x05, POLLING, "Polling.Configuration"},
    {0x06, 0x0a, POLLING, "Polling.Compliance"},
    {0x0b, 0x0c, CONFIGURATION, "Configuration.Linkwidth.Start"},
    {0x0d, 0x0e, CONFIGURATION, "Configuration.Linkwidth.Accept"},
    {0x0f, 0x0f, CONFIGURATION, "Configuration.Lanenum.Wait"},
    {0x10, 0x10, CONFIGURATION, "Configuration.Lanenum.Accept"},
    {0x11, 0x14, CONFIGURATION, "Configuration.Complete"},
    {0x15, 0x15, CONFIGURATION, "Configuration.Idle"},
    {0x16, 0x16, LINK, "L0"},
    {0x17, 0x1b, LINK, "L1"},
    {0x1c, 0x1c, RECOVERY, "Recovery.RcvrLock"},
    {0x1d, 0x1d, RECOVERY, "Recovery.RcvrCfg"},
    {0x1e, 0x1f, RECOVERY, "Recovery.Speed"},
    {0x20, 0x20, RECOVERY, "Recovery.Idle"},
    {0x21, 0x21, OFF, "Hot Reset"},
    {0x22, 0x25, OFF, "Disabled"},
    {0x26, 0x28, CONFIGURATION, "Configuration.Linkwidth.Start"},
    {0x29, 0x2a, CONFIGURATION, "Configuration.Linkwidth.Accept"},
    {0x2b, 0x2b, CONFIGURATION, "Configuration.Lanenum.Wait"},
    {0x2c, 0x2c, CONFIGURATION, "Configuration.Lanenum.Accept"},
    {0x2d, 0x2d, DETECT, "Detect.Quiet"},
    {0x2e, 0x34, OFF, "Loopback"},
};

static const struct state unknown = {0, 0, OFF, "unknown"};

static const struct state *find(enum spate_doctor_ltssm numbers, uint8_t state) {
  const bool old = numbers == SPATE_DOCTOR_LTSSM_PG054;
  const struct state *states = old ? pg054 : pg213;
  const unsigned count = old ? sizeof pg054 / sizeof pg054[0] : sizeof pg213 / sizeof pg213[0];

  for (unsigned i = 0; i < count; i++)
    if (state >= states[i].first && state <= states[i].last) return &states[i];
  return &unknown;
}

const char *spate_doctor_ltssm_name(enum spate_doctor_ltssm numbers, uint8_t state) {
  return find(numbers, state)->name;
}

unsigned spate_doctor_ltssm_rank(enum spate_doctor_ltssm numbers, uint8_t state) { return find(numbers, state)->rank; }

void spate_doctor_judge_phy(struct spate_doctor *doctor, const struct spate_pcie_phy *phy,
                            enum spate_doctor_ltssm numbers) {
  static const enum spate_doctor_code codes[] = {
      [OFF] = SPATE_DOCTOR_LINK_DISABLED,
      [DETECT] = SPATE_DOCTOR_LINK_NO_RECEIVER,
      [POLLING] = SPATE_DOCTOR_LINK_POLLING,
      [CONFIGURATION] = SPATE_DOCTOR_LINK_CONFIGURATION,
      [RECOVERY] = SPATE_DOCTOR_LINK_RECOVERY,
      [LINK] = SPATE_DOCTOR_LINK_TRAINING, /* the physical layer is ready, and the data link layer is not */
  };
  const struct state *state = find(numbers, phy->ltssm);

  if (!phy->up && state == &unknown)
    spate_doctor_report(
        doctor, &(struct spate_doctor_finding){.code = SPATE_DOCTOR_LINK_STATE_UNKNOWN, .numbers = {phy->ltssm}});
  else if (!phy->up || state->rank == RECOVERY)
    spate_doctor_report(doctor, &(struct spate_doctor_finding){.code = codes[state->rank], .name = state->name});
  if (phy->lane_reversal != 0)
    spate_doctor_report(
        doctor, &(struct spate_doctor_finding){.code = SPATE_DOCTOR_LANES_REVERSED, .numbers = {phy->lane_reversal}});
}
