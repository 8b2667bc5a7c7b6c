/* SPDX-License-Identifier: Apache-2.0 */
/* The commands in progress: their slots, their identifiers, and the end of all of them. */
#include "drive_internal.h"
#include <stdlib.h>
#include <string.h>

#define IDS_BYTES (65536u / 8u)

/* While a command is in flight, no other command may use its identifier (4.2). */
void drive_id_begins(struct sim_drive *drive, const struct drive_command *command) {
  uint8_t **ids = &drive->ids[command->queue];
  const uint8_t bit = (uint8_t)(1u << (command->id & 7u));

  if (*ids == NULL) *ids = calloc(1, IDS_BYTES);
  if (*ids == NULL) abort();
  if (((*ids)[command->id / 8u] & bit) != 0)
    sim_violate(drive->sim, "identifier %x of a command of queue %u is also that of another one in flight", command->id,
                command->queue);
  (*ids)[command->id / 8u] |= bit;
}

void drive_id_ends(struct sim_drive *drive, const struct drive_command *command) {
  if (command->queue == DRIVE_DROPPED) return;
  drive->ids[command->queue][command->id / 8u] &= (uint8_t) ~(1u << (command->id & 7u));
}

struct drive_command *drive_find(struct sim_drive *drive, uint16_t queue, uint16_t id) {
  for (unsigned i = 0; i < DRIVE_COMMANDS_MAX; i++) {
    struct drive_command *command = &drive->commands[i];
    if (command->generation != 0 && command->queue == queue && command->id == id) return command;
  }
  return NULL;
}

void drive_forget(struct sim_drive *drive) {
  drive_changes_orphaned(drive);
  drive->epoch++;
  memset(drive->sq, 0, sizeof drive->sq);
  memset(drive->cq, 0, sizeof drive->cq);
  memset(&drive->events, 0, sizeof drive->events);
  drive->fetch_first = drive->fetch_count = drive->promised = 0;
  drive->down.first = drive->down.count = drive->up.first = drive->up.count = 0;
  drive->down.outstanding_bytes = drive->up.outstanding_bytes = 0;
  drive->front_free_ps = 0;
  drive->blocked = drive->held = 0;
  for (unsigned i = 0; i <= DRIVE_QUEUES_MAX; i++)
    if (drive->ids[i] != NULL) memset(drive->ids[i], 0, IDS_BYTES);
  drive->free_count = DRIVE_COMMANDS_MAX;
  for (unsigned i = 0; i < DRIVE_COMMANDS_MAX; i++) {
    drive->commands[i].generation = 0;
    drive->commands[i].change = NULL;
    drive->free_slots[i] = (uint16_t)(DRIVE_COMMANDS_MAX - 1u - i);
  }
}

void drive_fatal(struct sim_drive *drive) {
  drive_forget(drive);
  drive->registers.csts |= CSTS_FATAL;
}
