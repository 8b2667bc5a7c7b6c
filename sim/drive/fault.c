/* SPDX-License-Identifier: Apache-2.0 */
/* Injected faults: which command a fault applies to, and what happens before the command is carried out. */
#include "drive_internal.h"
#include <stdio.h>
#include <stdlib.h>

/* A new fault takes the place of one that has been used up, if there is one. The first matching fault is applied. */
void sim_drive_fault(struct sim_drive *drive, struct sim_fault fault) {
  unsigned at = 0;

  while (at < drive->fault_count && drive->faults[at].count > 0)
    at++;
  if (at == drive->fault_count) {
    if (drive->fault_count == DRIVE_FAULTS_MAX) {
      (void)fprintf(stderr, "sim: more than %u faults are set for drive %u\n", DRIVE_FAULTS_MAX, drive->index);
      abort();
    }
    drive->fault_count++;
  }
  drive->faults[at] = fault;
}

void sim_drive_clear_faults(struct sim_drive *drive) { drive->fault_count = 0; }

static bool touches(const struct sim_fault *fault, const struct drive_command *command) {
  const uint8_t opcode = (uint8_t)command->dwords[0];
  const uint64_t first = drive_qword(command, 10), last = first + (command->dwords[12] & 0xffffu);

  if (fault->first_lba == 0 && fault->last_lba == 0) return true;
  return (opcode == IO_READ || opcode == IO_WRITE || opcode == IO_WRITE_ZEROES) && first <= fault->last_lba &&
         last >= fault->first_lba;
}

static struct sim_fault *choose(struct sim_drive *drive, const struct drive_command *command) {
  for (unsigned i = 0; i < drive->fault_count; i++) {
    struct sim_fault *fault = &drive->faults[i];
    if (fault->count == 0 || fault->admin != (command->queue == 0)) continue;
    if (fault->opcode >= 0 && fault->opcode != (int)(command->dwords[0] & 0xffu)) continue;
    if (!fault->admin && !touches(fault, command)) continue;
    if (fault->skip > 0) {
      fault->skip--;
      continue;
    }
    if (fault->count != UINT32_MAX) fault->count--;
    return fault;
  }
  return NULL;
}

bool drive_fault_before(struct sim_drive *drive, struct drive_command *command) {
  const struct sim_fault *fault = choose(drive, command);

  if (fault == NULL) return false;
  switch (fault->action) {
  case SIM_STATUS:
    command->status = (uint16_t)fault->value;
    drive_complete_at(drive, command, sim_now_ps(drive->sim) + (fault->value >> 16) * SIM_PS_PER_MS);
    return true;
  case SIM_STALL: command->stalled = true; return true;
  case SIM_FATAL: drive_fatal(drive); return true;
  case SIM_RESET: sim_drive_reset(drive); return true;
  case SIM_POWER_CUT: sim_drive_power_cut(drive); return true;
  case SIM_LINK_DROP: sim_drive_link_drop(drive, fault->value); return true;
  case SIM_GONE: sim_drive_link_drop(drive, UINT32_MAX); return true;
  case SIM_SILENCE: sim_drive_silence(drive, true); return true;
  case SIM_LOSE:
  case SIM_DOUBLE:
  case SIM_LATE:
  case SIM_WRONG_ID:
  case SIM_WRONG_QUEUE:
  case SIM_MISDIRECT:
  case SIM_WRONG_PHASE:
  case SIM_GARBAGE:
  case SIM_ZEROS:
  case SIM_PHANTOM:
  case SIM_ELSEWHERE: break;
  case SIM_HOLD:
    command->held = fault->value;
    command->kept = fault->value > 0;
    drive->held += command->kept;
    break;
  }
  command->fault = true;
  command->fault_action = fault->action;
  command->fault_value = fault->value;
  return false;
}
