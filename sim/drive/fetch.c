/* SPDX-License-Identifier: Apache-2.0 */
/* Round-robin command fetch. A fetch reads a few entries, and several fetches are on the link at once, as long as there
 * are free slots for their commands. */
#include "drive_internal.h"
#include <stdlib.h>
#include <string.h>

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

  if (command != NULL) drive->execute(drive, command);
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
  drive_id_begins(drive, command);
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

static bool fetch_from(struct sim_drive *drive, uint16_t queue) {
  struct drive_sq *sq = &drive->sq[queue];
  const uint32_t end = sq->tail >= sq->fetch_next ? sq->tail : sq->entries; /* a fetch stops at the end of the ring */
  uint32_t count = end - sq->fetch_next;

  if (sq->entries == 0 || sq->tail == sq->fetch_next) return false;
  if (count > DRIVE_FETCH_ENTRIES) count = DRIVE_FETCH_ENTRIES;
  if (count > drive_slots_for(drive, queue)) count = drive_slots_for(drive, queue);
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
