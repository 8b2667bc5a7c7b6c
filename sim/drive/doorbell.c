/* SPDX-License-Identifier: Apache-2.0 */
/* Doorbells: which queue a write is for, what it hands over, and what is wrong with it. */
#include "drive_internal.h"
#include <stdlib.h>

#define ENTRIES_MAX 65536u /* of a queue */

enum { EVENT_BAD_DOORBELL = 0, EVENT_BAD_VALUE = 1 }; /* of type 0, error: figure 147 */

static uint64_t *submitted_of(struct sim_drive *drive, uint32_t queue) {
  uint64_t **submitted = &drive->submitted[queue];

  if (*submitted == NULL) *submitted = calloc(ENTRIES_MAX, sizeof **submitted);
  if (*submitted == NULL) abort();
  return *submitted;
}

struct doorbell {
  uint32_t queue;
  bool completion;
};

static bool decode(const struct sim_drive *drive, uint32_t offset, struct doorbell *doorbell) {
  const uint32_t shift = 2u + (uint32_t)(drive->registers.cap >> 32 & 0xfu);
  const uint32_t number = offset >> shift;

  doorbell->queue = number / 2u;
  doorbell->completion = (number & 1u) != 0;
  return (offset & ((1u << shift) - 1u)) == 0 && doorbell->queue <= drive->options.queue_pairs;
}

uint32_t sim_drive_doorbell_entries(const struct sim_drive *drive, uint32_t offset, uint32_t value, bool *completion) {
  struct doorbell doorbell;

  if (offset < 0x1000u || !decode(drive, offset - 0x1000u, &doorbell)) return 0;
  const struct drive_sq *sq = &drive->sq[doorbell.queue];
  const struct drive_cq *cq = &drive->cq[doorbell.queue];
  *completion = doorbell.completion;
  if (doorbell.completion) return value < cq->entries ? drive_distance(cq->head, value, cq->entries) : 0;
  return value < sq->entries ? drive_distance(sq->tail, value, sq->entries) : 0;
}

static void refuse(struct sim_drive *drive, uint8_t info, const char *why, const struct doorbell *doorbell,
                   uint32_t value) {
  sim_violate(drive->sim, "doorbell of %s queue %u, value %u: %s", doorbell->completion ? "completion" : "submission",
              doorbell->queue, value, why);
  drive_raise_event(drive, (uint32_t)info << 8 | PAGE_ERRORS << 16);
}

/* The tail moves. The host owns the entries from the tail to the last head that a completion reported. */
static void submission(struct sim_drive *drive, const struct doorbell *doorbell, uint32_t value, uint64_t sequence) {
  uint64_t *submitted = submitted_of(drive, doorbell->queue);
  struct drive_sq *sq = &drive->sq[doorbell->queue];
  const uint32_t used = drive_distance(sq->reported_head, sq->tail, sq->entries);
  const uint32_t fresh = drive_distance(sq->tail, value, sq->entries);

  if (fresh == 0)
    refuse(drive, EVENT_BAD_VALUE, "the value has not changed", doorbell, value);
  else if (used + fresh >= sq->entries)
    refuse(drive, EVENT_BAD_VALUE, "entries that the drive has not given back are overwritten", doorbell, value);
  for (; sq->tail != value; sq->tail = sq->tail + 1u == sq->entries ? 0 : sq->tail + 1u)
    submitted[sq->tail] = sequence;
  drive_fetch_more(drive);
}

static void post_blocked(struct sim_drive *drive) {
  for (unsigned i = 0; i < DRIVE_COMMANDS_MAX; i++) {
    struct drive_command *command = &drive->commands[i];
    if (command->generation == 0 || !command->blocked) continue;
    command->blocked = false;
    drive->blocked--;
    drive_post(drive, command);
  }
}

static void completion(struct sim_drive *drive, const struct doorbell *doorbell, uint32_t value) {
  struct drive_cq *cq = &drive->cq[doorbell->queue];
  const uint32_t given = drive_distance(cq->head, value, cq->entries);

  if (given == 0) refuse(drive, EVENT_BAD_VALUE, "the value has not changed", doorbell, value);
  if (given > drive_distance(cq->head, cq->tail, cq->entries)) {
    refuse(drive, EVENT_BAD_VALUE, "completions that were not posted are given back", doorbell, value);
    return;
  }
  cq->head = value;
  if (drive->blocked > 0) post_blocked(drive);
  if (doorbell->queue == 0) drive_match_events(drive);
}

void drive_doorbell(struct sim_drive *drive, uint32_t offset, uint32_t value, uint64_t sequence) {
  struct doorbell doorbell;

  drive->counters.doorbells++;
  if (!drive_running(drive) || !drive_enabled(drive)) {
    if (!drive->surprised && (drive->registers.csts & 2u) == 0)
      sim_violate(drive->sim, "doorbell at %x of a controller that is not ready", offset);
    return;
  }
  if ((drive->registers.csts & 0xcu) != 0) {
    sim_violate(drive->sim, "doorbell at %x after the shutdown notification", offset);
    return;
  }
  if (!decode(drive, offset, &doorbell)) {
    sim_violate(drive->sim, "write at %x, which is no doorbell", offset);
    return;
  }
  const uint32_t entries = doorbell.completion ? drive->cq[doorbell.queue].entries : drive->sq[doorbell.queue].entries;
  if (entries == 0)
    refuse(drive, EVENT_BAD_DOORBELL, "there is no such queue", &doorbell, value);
  else if (value >= entries)
    refuse(drive, EVENT_BAD_VALUE, "beyond the end of the queue", &doorbell, value);
  else if (doorbell.completion)
    completion(drive, &doorbell, value);
  else
    submission(drive, &doorbell, value, sequence);
}
