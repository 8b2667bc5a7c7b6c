/* SPDX-License-Identifier: Apache-2.0 */
/* Posts completion entries, in the order and at the time that the queue and the faults allow, and frees the slots. */
#include "drive_internal.h"

void drive_free(struct sim_drive *drive, struct drive_command *command) {
  const bool was_full = drive_slots_for(drive, 1) == 0;

  drive_id_ends(drive, command);
  drive->held -= command->kept;
  command->kept = false;
  command->generation = 0;
  command->change = NULL;
  drive->free_slots[drive->free_count++] = (uint16_t)(command - drive->commands);
  if (was_full) drive_fetch_more(drive);
}

/* The queue is deleted: its commands end with it (5.6). */
void drive_drop_queue(struct sim_drive *drive, uint16_t queue) {
  for (unsigned i = 0; i < DRIVE_COMMANDS_MAX; i++) {
    struct drive_command *command = &drive->commands[i];
    if (command->generation == 0 || command->queue != queue) continue;
    if (command->blocked || command->stalled || command->holding) {
      drive->blocked -= command->blocked;
      drive_free(drive, command);
      continue;
    }
    command->fault = true; /* it finishes what it has begun, without a completion */
    command->fault_action = SIM_LOSE;
    drive_id_ends(drive, command);
    command->queue = DRIVE_DROPPED;
  }
}

static bool is_full(const struct drive_cq *cq) {
  return drive_distance(cq->head, cq->tail, cq->entries) + 1u == cq->entries;
}

bool drive_can_post(const struct sim_drive *drive, uint16_t queue) { return !is_full(&drive->cq[drive->sq[queue].cq]); }

/* If a phase tag is already 1 in a new ring, the host would take the entry for a completion (4.6). So the host clears
 * the ring before it sets CC.EN or creates the queue, and makes the zeros visible to the drive. */
void drive_check_phases(struct sim_drive *drive, const struct drive_cq *cq, uint64_t sequence) {
  if (sim_memory_is_window(drive->sim, cq->address)) return;
  const uint8_t *ring = sim_memory_device(drive->sim, cq->address, (uint64_t)cq->entries * DRIVE_CQ_BYTES);

  drive_check_shown(drive, "a cleared completion queue", cq->address, (uint64_t)cq->entries * DRIVE_CQ_BYTES, sequence);
  for (uint32_t i = 0; ring != NULL && i < cq->entries; i++)
    if ((ring[i * DRIVE_CQ_BYTES + 14] & 1u) != 0) {
      sim_violate(drive->sim, "entry %u of a new completion queue has its phase tag set", i);
      return;
    }
}

void drive_post_entry(struct sim_drive *drive, uint16_t queue, const uint32_t entry[4], bool wrong_phase) {
  struct drive_sq *sq = &drive->sq[queue];
  struct drive_cq *cq = &drive->cq[sq->cq];
  uint8_t bytes[DRIVE_CQ_BYTES];

  if (sq->entries == 0 || !drive_may_master(drive)) return;
  if (is_full(cq)) return; /* a surplus completion from a fault is dropped if the queue is full */
  sq->reported_head = sq->head;
  spate_put32(bytes, entry[0]);
  spate_put32(bytes + 4, entry[1]);
  spate_put32(bytes + 8, (entry[2] & 0xffff0000u) | sq->head);
  spate_put32(bytes + 12, (entry[3] & ~UINT32_C(0x10000)) | (cq->phase != wrong_phase ? UINT32_C(0x10000) : 0));
  if (!sim_memory_store_completion(drive->sim, cq->address + (uint64_t)cq->tail * DRIVE_CQ_BYTES, bytes)) {
    sim_violate(drive->sim, "completion queue %u is in memory that the host did not provide", sq->cq);
    drive_fatal(drive);
    return;
  }
  cq->tail++;
  if (cq->tail == cq->entries) {
    cq->tail = 0;
    cq->phase = !cq->phase;
  }
}

/* False: the completion was not posted, or the controller failed when it was posted. */
static bool post_one(struct sim_drive *drive, struct drive_command *command) {
  const struct drive_cq *cq = &drive->cq[drive->sq[command->queue].cq];
  const uint32_t entry[4] = {command->result, 0, (uint32_t)command->queue << 16,
                             (uint32_t)command->status << 17 | command->id};
  const bool wrong_phase = command->fault && command->fault_action == SIM_WRONG_PHASE;
  const uint32_t epoch = drive->epoch;

  if (is_full(cq)) { /* the completion waits until the host moves the head (4.1) */
    command->blocked = true;
    drive->blocked++;
    return false;
  }
  if (command->status != 0) drive_error_taken(drive, command);
  if (wrong_phase)
    drive_change_lost(drive, command); /* the host never sees it */
  else
    drive_change_completed(drive, command);
  drive_post_entry(drive, command->queue, entry, wrong_phase);
  if (epoch != drive->epoch) return false;
  drive_free(drive, command);
  return true;
}

/* A command of this generation was completed: earlier commands that are held wait for one command less. */
static void count_down(struct sim_drive *drive, uint64_t generation) {
  for (unsigned i = 0; i < DRIVE_COMMANDS_MAX; i++) {
    struct drive_command *command = &drive->commands[i];
    if (command->generation != 0 && command->held > 0 && command->generation < generation) command->held--;
  }
}

/* A held command that is done and need not wait any longer. NULL: there is none. */
static struct drive_command *ready_held_command(struct sim_drive *drive) {
  for (unsigned i = 0; i < DRIVE_COMMANDS_MAX; i++) {
    struct drive_command *command = &drive->commands[i];
    if (command->generation != 0 && command->holding && command->held == 0) return command;
  }
  return NULL;
}

void drive_post(struct sim_drive *drive, struct drive_command *command) {
  while (command != NULL) {
    const uint64_t generation = command->generation;
    command->holding = false;
    const bool others_wait = drive->held > (uint32_t)command->kept;
    if (post_one(drive, command) && others_wait) count_down(drive, generation);
    command = others_wait ? ready_held_command(drive) : NULL;
  }
}
