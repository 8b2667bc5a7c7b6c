/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: doorbells, round-robin command fetch, and completions. A fetch reads a few entries, and several fetches are
 * on the link at once, as long as there are free slots for their commands. */
#include "drive_internal.h"
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 65536u /* of a queue */
#define IDS_BYTES   (65536u / 8u)
#define DROPPED     UINT16_MAX             /* the queue of a command whose queue was deleted */
#define SHUFFLE_PS  (100u * SIM_PS_PER_US) /* options.shuffle: the longest delay of a completion */

enum { EVENT_BAD_DOORBELL = 0, EVENT_BAD_VALUE = 1 }; /* of type 0, error: figure 147 */
#define LOG_ERRORS 1u

/* ---- state of each queue ---- */

static void *take(size_t bytes) {
  void *memory = calloc(1, bytes);
  if (memory == NULL) abort();
  return memory;
}

static uint64_t *submitted_of(struct sim_drive *drive, uint32_t queue) {
  if (drive->submitted[queue] == NULL) drive->submitted[queue] = take(ENTRIES_MAX * sizeof *drive->submitted[queue]);
  return drive->submitted[queue];
}

/* While a command is in flight, no other command may use its identifier (4.2). */
static void id_begins(struct sim_drive *drive, const struct drive_command *command) {
  uint8_t **ids = &drive->ids[command->queue];
  const uint8_t bit = (uint8_t)(1u << (command->id & 7u));

  if (*ids == NULL) *ids = take(IDS_BYTES);
  if (((*ids)[command->id / 8u] & bit) != 0)
    sim_violate(drive->sim, "identifier %x of a command of queue %u is also that of another one in flight", command->id,
                command->queue);
  (*ids)[command->id / 8u] |= bit;
}

static void id_ends(struct sim_drive *drive, const struct drive_command *command) {
  if (command->queue == DROPPED) return;
  drive->ids[command->queue][command->id / 8u] &= (uint8_t) ~(1u << (command->id & 7u));
}

void drive_queues_forget(struct sim_drive *drive) {
  for (unsigned i = 0; i <= DRIVE_QUEUES_MAX; i++)
    if (drive->ids[i] != NULL) memset(drive->ids[i], 0, IDS_BYTES);
}

void drive_queues_free(struct sim_drive *drive) {
  for (unsigned i = 0; i <= DRIVE_QUEUES_MAX; i++) {
    free(drive->ids[i]);
    free(drive->submitted[i]);
  }
}

void drive_check_shown(struct sim_drive *drive, const char *what, uint64_t address, uint64_t bytes, uint64_t sequence) {
  if (!sim_memory_was_shown(drive->sim, address, bytes, sequence))
    sim_violate(drive->sim, "%s at %llx became visible only after the register write that announces it had left", what,
                (unsigned long long)address);
}

/* ---- doorbells ---- */

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

static uint32_t distance(uint32_t from, uint32_t to, uint32_t entries) {
  return to >= from ? to - from : to + entries - from;
}

uint32_t sim_drive_doorbell_entries(const struct sim_drive *drive, uint32_t offset, uint32_t value, bool *completion) {
  struct doorbell doorbell;

  if (offset < 0x1000u || !decode(drive, offset - 0x1000u, &doorbell)) return 0;
  const struct drive_sq *sq = &drive->sq[doorbell.queue];
  const struct drive_cq *cq = &drive->cq[doorbell.queue];
  *completion = doorbell.completion;
  if (doorbell.completion) return value < cq->entries ? distance(cq->head, value, cq->entries) : 0;
  return value < sq->entries ? distance(sq->tail, value, sq->entries) : 0;
}

static void refuse(struct sim_drive *drive, uint8_t info, const char *why, const struct doorbell *doorbell,
                   uint32_t value) {
  sim_violate(drive->sim, "doorbell of %s queue %u, value %u: %s", doorbell->completion ? "completion" : "submission",
              doorbell->queue, value, why);
  drive_raise_event(drive, (uint32_t)info << 8 | LOG_ERRORS << 16);
}

/* The tail moves. The host owns the entries from the tail to the last head that a completion reported. */
static void submission(struct sim_drive *drive, const struct doorbell *doorbell, uint32_t value, uint64_t sequence) {
  uint64_t *submitted = submitted_of(drive, doorbell->queue);
  struct drive_sq *sq = &drive->sq[doorbell->queue];
  const uint32_t used = distance(sq->reported_head, sq->tail, sq->entries);
  const uint32_t fresh = distance(sq->tail, value, sq->entries);

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
  const uint32_t given = distance(cq->head, value, cq->entries);

  if (given == 0) refuse(drive, EVENT_BAD_VALUE, "the value has not changed", doorbell, value);
  if (given > distance(cq->head, cq->tail, cq->entries)) {
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

/* ---- fetching ---- */

static void data_gap(struct sim_drive *drive, uint8_t opcode) {
  const uint64_t now = sim_now_ps(drive->sim);

  if (opcode != IO_READ && opcode != IO_WRITE) return;
  if (drive->last_data_ps != 0 && now - drive->last_data_ps > drive->counters.data_gap_ps_max)
    drive->counters.data_gap_ps_max = now - drive->last_data_ps;
  drive->last_data_ps = now;
}

static void count_command(struct sim_drive *drive, const struct drive_command *command) {
  const uint8_t opcode = (uint8_t)command->dwords[0];

  if (command->queue == 0) {
    drive->counters.admin[opcode]++;
    return;
  }
  drive->counters.io[opcode]++;
  drive->shut_down = false; /* a new command ends the clean shutdown */
  data_gap(drive, opcode);
}

/* The front end has reached this command. */
static void execute(void *context, uint64_t number) {
  struct sim_drive *drive = context;
  struct drive_command *command = drive_command_of(drive, number);

  if (command == NULL) return;
  if (command->queue == DROPPED) {
    drive_free(drive, command);
    return;
  }
  if (drive_fault_before(drive, command)) return;
  const uint16_t status = command->queue == 0 ? drive_admin(drive, command) : drive_io(drive, command);
  if (status != STATUS_PENDING) drive_complete(drive, command, status);
}

static void keep_command(struct sim_drive *drive, const struct drive_command *command) {
  if (drive->log_count == drive->log_room) {
    drive->log_room = drive->log_room == 0 ? 64 : 2 * drive->log_room;
    struct sim_command *larger = realloc(drive->log, drive->log_room * sizeof *larger);
    if (larger == NULL) abort();
    drive->log = larger;
  }
  struct sim_command *kept = &drive->log[drive->log_count++];
  *kept = (struct sim_command){.queue = command->queue, .fetched_ps = sim_now_ps(drive->sim)};
  memcpy(kept->dwords, command->dwords, sizeof kept->dwords);
}

static uint64_t delay_ps(const struct sim_drive *drive, const struct drive_command *command) {
  const bool writes = command->queue != 0 && (command->dwords[0] & 0xffu) == IO_WRITE;

  return writes && drive->options.write_delay_us > 0
             ? sim_random(drive->sim) % (drive->options.write_delay_us * SIM_PS_PER_US)
             : 0;
}

static void arrive(struct sim_drive *drive, uint16_t queue, const uint8_t *entry, uint64_t submitted) {
  const uint32_t slot = drive->free_slots[--drive->free_count];
  struct drive_command *command = &drive->commands[slot];
  const uint64_t now = sim_now_ps(drive->sim);

  *command = (struct drive_command){.generation = ++drive->generations,
                                    .queue = queue,
                                    .submitted = submitted,
                                    .fetched = sim_next_sequence(drive->sim),
                                    .buffer = command->buffer,
                                    .pages = command->pages,
                                    .page_room = command->page_room};
  memcpy(command->dwords, entry, DRIVE_SQ_BYTES);
  command->id = (uint16_t)(command->dwords[0] >> 16);
  id_begins(drive, command);
  const uint32_t in_flight = DRIVE_COMMANDS_MAX - drive->free_count;
  if (in_flight > drive->counters.in_flight_max) drive->counters.in_flight_max = in_flight;
  count_command(drive, command);
  if (drive->options.log_commands) keep_command(drive, command);
  drive->front_free_ps =
      (drive->front_free_ps > now ? drive->front_free_ps : now) + drive->profile.command_ns * SIM_PS_PER_NS;
  sim_at(drive->sim, drive->front_free_ps + delay_ps(drive, command), execute, drive, drive_number(drive, command));
}

static void fetched(void *context, uint64_t epoch) {
  struct sim_drive *drive = context;

  if (epoch != drive->epoch) return;
  const struct drive_fetch fetch = drive->fetches[drive->fetch_first];
  struct drive_sq *sq = &drive->sq[fetch.queue];
  drive->fetch_first = (drive->fetch_first + 1u) % DRIVE_FETCHES_MAX;
  drive->fetch_count--;
  drive->promised -= fetch.count;
  if (sq->entries == 0 || !drive_may_master(drive))
    return; /* the queue was deleted meanwhile, or the drive may not master the bus */
  const uint8_t *entries = sim_memory_device(drive->sim, sq->address + (uint64_t)fetch.first * DRIVE_SQ_BYTES,
                                             (uint64_t)fetch.count * DRIVE_SQ_BYTES);
  if (entries == NULL) {
    sim_violate(drive->sim, "submission queue %u is in memory that the host did not provide", fetch.queue);
    drive_fatal(drive);
    return;
  }
  for (uint32_t i = 0; i < fetch.count; i++) {
    const uint64_t submitted = drive->submitted[fetch.queue][fetch.first + i];
    drive_check_shown(drive, "a submission entry", sq->address + (uint64_t)(fetch.first + i) * DRIVE_SQ_BYTES,
                      DRIVE_SQ_BYTES, submitted);
    sq->head = sq->head + 1u == sq->entries ? 0 : sq->head + 1u;
    arrive(drive, fetch.queue, entries + (size_t)i * DRIVE_SQ_BYTES, submitted);
  }
  drive_fetch_more(drive);
}

static uint32_t slots_for(const struct sim_drive *drive, uint16_t queue) {
  const uint32_t kept = drive->promised + (queue == 0 ? 0 : DRIVE_ADMIN_RESERVED);

  return drive->free_count > kept ? drive->free_count - kept : 0;
}

static bool fetch_from(struct sim_drive *drive, uint16_t queue) {
  struct drive_sq *sq = &drive->sq[queue];
  const uint32_t end = sq->tail >= sq->fetch_next ? sq->tail : sq->entries; /* a fetch stops at the end of the ring */
  uint32_t count = end - sq->fetch_next;

  if (sq->entries == 0 || sq->tail == sq->fetch_next) return false;
  if (count > DRIVE_FETCH_ENTRIES) count = DRIVE_FETCH_ENTRIES;
  if (count > slots_for(drive, queue)) count = slots_for(drive, queue);
  if (count == 0) return false;
  drive->fetches[(drive->fetch_first + drive->fetch_count++) % DRIVE_FETCHES_MAX] =
      (struct drive_fetch){.queue = queue, .first = sq->fetch_next, .count = count};
  drive->promised += count;
  sq->fetch_next = sq->fetch_next + count == sq->entries ? 0 : sq->fetch_next + count;
  sim_at(drive->sim, sim_link_drive_read(&drive->link, sim_now_ps(drive->sim), (uint64_t)count * DRIVE_SQ_BYTES),
         fetched, drive, drive->epoch);
  return true;
}

void drive_fetch_more(struct sim_drive *drive) {
  const uint16_t queues = (uint16_t)(drive->options.queue_pairs + 1u);
  uint16_t idle = 0; /* queues in a row without an entry */

  if (!drive_enabled(drive)) return; /* commands in flight may complete, but none begins */
  if (drive_running(drive) && !drive_may_master(drive)) {
    sim_violate(drive->sim, "commands for a drive that may not master the bus (bus master enable is 0)");
    return;
  }
  while (drive->fetch_count < DRIVE_FETCHES_MAX && idle < queues) {
    idle = fetch_from(drive, drive->fetch_turn) ? 0 : (uint16_t)(idle + 1u);
    drive->fetch_turn = (uint16_t)((drive->fetch_turn + 1u) % queues);
  }
}

/* ---- completing ---- */

void drive_free(struct sim_drive *drive, struct drive_command *command) {
  const bool was_full = slots_for(drive, 1) == 0;

  id_ends(drive, command);
  drive->held -= command->kept;
  command->kept = false;
  command->generation = 0;
  command->change = NULL;
  drive->free_slots[drive->free_count++] = (uint16_t)(command - drive->commands);
  if (was_full) drive_fetch_more(drive);
}

struct drive_command *drive_find(struct sim_drive *drive, uint16_t queue, uint16_t id) {
  for (unsigned i = 0; i < DRIVE_COMMANDS_MAX; i++) {
    struct drive_command *command = &drive->commands[i];
    if (command->generation != 0 && command->queue == queue && command->id == id) return command;
  }
  return NULL;
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
    id_ends(drive, command);
    command->queue = DROPPED;
  }
}

static bool is_full(const struct drive_cq *cq) { return distance(cq->head, cq->tail, cq->entries) + 1u == cq->entries; }

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

static void posted(void *context, uint64_t number) {
  struct sim_drive *drive = context;
  struct drive_command *command = drive_command_of(drive, number);

  if (command == NULL) return;
  if (command->fault && !drive_fault_after(drive, command)) return;
  drive_post(drive, command);
}

static void finished(void *context, uint64_t number) {
  struct sim_drive *drive = context;
  struct drive_command *command = drive_command_of(drive, number);

  if (command == NULL) return;
  sim_at(drive->sim, sim_link_drive_write(&drive->link, sim_now_ps(drive->sim), DRIVE_CQ_BYTES), posted, drive, number);
}

void drive_complete_at(struct sim_drive *drive, struct drive_command *command, uint64_t at_ps) {
  const uint64_t number = drive_number(drive, command);

  if (command->post_ps != 0) { /* the completion is already on the link, behind the data */
    sim_at(drive->sim, command->post_ps, posted, drive, number);
    return;
  }
  if (drive->options.shuffle && command->queue != 0) at_ps += sim_random(drive->sim) % SHUFFLE_PS;
  if (command->fault && command->fault_action == SIM_LATE) at_ps += command->fault_value * SIM_PS_PER_MS;
  if (at_ps <= sim_now_ps(drive->sim))
    finished(drive, number);
  else
    sim_at(drive->sim, at_ps, finished, drive, number);
}

void drive_complete(struct sim_drive *drive, struct drive_command *command, uint16_t status) {
  if (command->status == 0) command->status = status;
  drive_complete_at(drive, command, sim_now_ps(drive->sim));
}
