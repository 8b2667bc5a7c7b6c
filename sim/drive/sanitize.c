/* SPDX-License-Identifier: Apache-2.0 */
/* Sanitize (5.24, 8.15). The command completes at once. The work continues in virtual time, through resets and power
 * cuts. Its duration is assumed: no vendor publishes it. */
#include "drive_internal.h"

#define BLOCK_PS     (UINT64_C(4) * 1000u * SIM_PS_PER_MS)
#define CRYPTO_PS    (UINT64_C(500) * SIM_PS_PER_MS)
#define OVERWRITE_PS (UINT64_C(8) * 1000u * SIM_PS_PER_MS)
#define PS_PER_S     (UINT64_C(1000) * SIM_PS_PER_MS)
#define WHOLE        65536u

enum { EXIT_FAILURE_MODE = 1, BLOCK_ERASE, OVERWRITE, CRYPTO_ERASE };
enum { NEVER, DONE, RUNNING, FAILED };
#define ACTION_MASK 7u
#define ALLOW_EXIT  8u
#define RESERVED    0xfffffc00u

void sim_drive_fail_sanitize(struct sim_drive *drive) { drive->sanitize.fails = true; }

static uint64_t duration_ps(uint32_t action) {
  return action == BLOCK_ERASE ? BLOCK_PS : action == CRYPTO_ERASE ? CRYPTO_PS : OVERWRITE_PS;
}

/* The state now: the sanitize may have ended since the last look. */
static uint8_t state_now(struct sim_drive *drive) {
  struct drive_sanitize *sanitize = &drive->sanitize;

  if (sanitize->state == RUNNING && sim_now_ps(drive->sim) >= sanitize->end_ps) {
    sanitize->state = sanitize->fails ? FAILED : DONE;
    sanitize->fails = false;
  }
  return sanitize->state;
}

uint16_t drive_sanitize_status(struct sim_drive *drive) {
  switch (state_now(drive)) {
  case RUNNING: return STATUS_SANITIZING;
  case FAILED: return drive->sanitize.left ? STATUS_OK : STATUS_SANITIZE_FAILED;
  default: return STATUS_OK;
  }
}

static uint16_t start(struct sim_drive *drive, uint32_t dword10) {
  static const uint32_t capability[] = {0, 0, 2, 4, 1}; /* the bit of SANICAP for each action */
  const uint32_t action = dword10 & ACTION_MASK;

  if (action < BLOCK_ERASE || action > CRYPTO_ERASE ||
      (spate_get32(drive->identify_controller + 328) & capability[action]) == 0)
    return STATUS_FIELD;
  const uint64_t mapped = drive_discard(drive, 0, drive->options.bytes);
  sim_media_trim(&drive->media, sim_now_ps(drive->sim), mapped);
  drive_changes_formatted(drive);
  drive->sanitize.begin_ps = sim_now_ps(drive->sim);
  drive->sanitize.end_ps = drive->sanitize.begin_ps + duration_ps(action);
  drive->sanitize.dword10 = dword10;
  drive->sanitize.state = RUNNING;
  drive->sanitize.left = false;
  return STATUS_OK;
}

/* Exit Failure Mode is allowed only if the failed sanitize was started with Allow Unrestricted Sanitize Exit. */
static uint16_t leave(struct sim_drive *drive) {
  if (state_now(drive) != FAILED) return STATUS_OK;
  if ((drive->sanitize.dword10 & ALLOW_EXIT) == 0) return STATUS_SANITIZE_FAILED;
  drive->sanitize.left = true;
  return STATUS_OK;
}

uint16_t drive_sanitize(struct sim_drive *drive, struct drive_command *command) {
  const uint32_t dword10 = command->dwords[10];
  uint16_t status = STATUS_FIELD;

  if ((dword10 & RESERVED) != 0) sim_violate(drive->sim, "Sanitize with reserved bits in dword 10: %08x", dword10);
  if (command->dwords[1] != 0)
    sim_violate(drive->sim, "Sanitize with a namespace identifier, but it applies to the whole drive");
  if (state_now(drive) == RUNNING)
    status = STATUS_SANITIZING;
  else if ((dword10 & ACTION_MASK) == EXIT_FAILURE_MODE)
    status = leave(drive);
  else
    status = start(drive, dword10);
  return status;
}

/* Figure 220. */
void drive_sanitize_log(struct sim_drive *drive, uint8_t *page) {
  const struct drive_sanitize *sanitize = &drive->sanitize;
  const uint8_t state = state_now(drive);
  const uint64_t passed_ps = sim_now_ps(drive->sim) - sanitize->begin_ps;
  uint32_t progress = WHOLE - 1u, bits = state;

  if (state == RUNNING)
    progress = (uint32_t)((double)passed_ps / (double)(sanitize->end_ps - sanitize->begin_ps) * WHOLE);
  if (state == DONE && (sanitize->dword10 & ACTION_MASK) == OVERWRITE) bits |= 1u << 3; /* passes */
  spate_put16(page, (uint16_t)progress);
  spate_put16(page + 2, (uint16_t)bits);
  spate_put32(page + 4, sanitize->dword10);
  spate_put32(page + 8, (uint32_t)(OVERWRITE_PS / PS_PER_S));
  spate_put32(page + 12, (uint32_t)(BLOCK_PS / PS_PER_S));
  spate_put32(page + 16, 1);
}
