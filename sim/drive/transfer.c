/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data over the link. Each direction is one pipe. Commands that move data take turns by chunks. Only a limited amount
 * is handed to the link at once, so that a doorbell or a command fetch does not wait behind megabytes.
 *
 * Bytes are moved when their chunk arrives, page by page through the PRPs: the drive gets what the host's memory holds
 * at that moment.
 */
#include "drive_internal.h"
#include <stdlib.h>
#include <string.h>

static void pump(struct sim_drive *drive, struct drive_pipe *pipe);

static struct drive_pipe *pipe_of(struct sim_drive *drive, const struct drive_command *command) {
  return command->up ? &drive->up : &drive->down;
}

static uint64_t next_chunk(const struct drive_command *command, uint64_t done) {
  const uint64_t left = command->bytes - done;

  return left < DRIVE_CHUNK_BYTES ? left : DRIVE_CHUNK_BYTES;
}

/* ---- bytes ---- */

static void fail(struct sim_drive *drive, struct drive_command *command, uint64_t address) {
  if (!command->fails)
    sim_violate(drive->sim, "data of command %02x of queue %u in memory that the host did not provide: %llx",
                command->dwords[0] & 0xffu, command->queue, (unsigned long long)address);
  command->fails = true;
  command->status = STATUS_TRANSFER;
}

/* Copies `bytes` of host data from `position` on into `page`. */
static bool gather(struct sim_drive *drive, struct drive_command *command, uint64_t position, uint64_t bytes,
                   uint8_t *page) {
  for (uint64_t done = 0; done < bytes;) {
    uint64_t here = bytes - done;
    const uint64_t address = drive_data_range(command, position + done, &here);
    const uint8_t *data = sim_memory_device(drive->sim, address, here);
    if (data == NULL) {
      fail(drive, command, address);
      return false;
    }
    drive_check_shown(drive, "data", address, here, command->submitted);
    memcpy(page + done, data, here);
    done += here;
  }
  return true;
}

/* The host's data at `position`: as much as is in one range, up to a page end of the store. If one page of the store is
 * spread over two ranges, copies all the rest into the bounce buffer. NULL: memory that the host did not provide. */
static const uint8_t *host_data(struct sim_drive *drive, struct drive_command *command, uint64_t position,
                                uint64_t *bytes) {
  const uint64_t at = command->at + position;
  uint64_t here = *bytes;
  const uint64_t address = drive_data_range(command, position, &here);

  if (here < *bytes) {
    const uint64_t end = (at + here) / SIM_PAGE * SIM_PAGE;
    if (end <= at) {
      return gather(drive, command, position, *bytes, drive->bounce) ? drive->bounce : NULL;
    }
    *bytes = end - at;
  }
  const uint8_t *data = sim_memory_device(drive->sim, address, *bytes);
  if (data == NULL)
    fail(drive, command, address);
  else
    drive_check_shown(drive, "data", address, *bytes, command->submitted);
  return data;
}

static void take_chunk(struct sim_drive *drive, struct drive_command *command, uint64_t bytes) {
  uint64_t fresh = 0;

  if (command->buffered) {
    (void)gather(drive, command, command->moved, bytes, command->buffer + command->moved);
    return;
  }
  for (uint64_t done = 0; done < bytes && !command->fails;) {
    uint64_t here = bytes - done;
    const uint8_t *data = host_data(drive, command, command->moved + done, &here);
    if (data == NULL) break;
    done += here;
    if (drive_has_fault(command, SIM_PHANTOM)) continue;
    const uint64_t at = command->at + command->moved + done - here;
    fresh += drive_really_fresh(drive, at, here, sim_store_write(drive->store, at, data, here));
    drive_change_arrived(drive, command, data, here);
  }
  const uint64_t taken_ps = sim_media_write(&drive->media, sim_now_ps(drive->sim), bytes, fresh);
  if (taken_ps > command->taken_ps) command->taken_ps = taken_ps;
  drive_check_heat(drive);
}

static void give_chunk(struct sim_drive *drive, struct drive_command *command, uint64_t bytes) {
  const uint8_t *data = drive->bounce;

  if (command->buffered)
    data = command->buffer + command->moved;
  else
    sim_store_read(drive->store, command->at + command->moved, drive->bounce, bytes);
  if (drive_has_fault(command, SIM_PHANTOM)) return;
  if (drive_has_fault(command, SIM_GARBAGE) || drive_has_fault(command, SIM_ZEROS)) {
    for (uint64_t i = 0; i < bytes; i++)
      drive->bounce[i] = command->fault_action == SIM_ZEROS ? 0 : (uint8_t)sim_random(drive->sim);
    data = drive->bounce;
  }
  for (uint64_t done = 0; done < bytes && !command->fails;) {
    uint64_t here = bytes - done;
    const uint64_t address = drive_data_range(command, command->moved + done, &here);
    if (!sim_memory_store(drive->sim, address, data + done, here)) fail(drive, command, address);
    done += here;
  }
}

/* ---- time ---- */

static void arrived(void *context, uint64_t number) {
  struct sim_drive *drive = context;
  struct drive_command *command = drive_command_of(drive, number);

  if (command == NULL) return; /* dropped; the pipe's count was reset as well */
  const uint64_t bytes = next_chunk(command, command->moved);
  struct drive_pipe *pipe = pipe_of(drive, command);
  pipe->outstanding_bytes -= bytes;
  if (!drive_may_master(drive)) return;
  if (command->up)
    give_chunk(drive, command, bytes);
  else
    take_chunk(drive, command, bytes);
  command->moved += bytes;
  if (command->moved == command->bytes) command->moved_all(drive, command);
  pump(drive, pipe);
}

static void enqueue(struct drive_pipe *pipe, uint32_t slot) {
  pipe->waiting[(pipe->first + pipe->count++) % DRIVE_COMMANDS_MAX] = (uint16_t)slot;
}

/* The media has the chunk that the command was waiting for. */
static void chunk_ready(void *context, uint64_t number) {
  struct sim_drive *drive = context;
  struct drive_command *command = drive_command_of(drive, number);

  if (command == NULL) return;
  enqueue(pipe_of(drive, command), (uint32_t)(number & 0xffffu));
  pump(drive, pipe_of(drive, command));
}

/* When the media has the next chunk of a read: chunks come at a constant rate from the first to the last. */
static uint64_t ready_ps(const struct drive_command *command) {
  const uint64_t chunks = (command->bytes - 1u) / DRIVE_CHUNK_BYTES;

  if (chunks == 0) return command->ready_first_ps;
  return command->ready_first_ps +
         (command->ready_last_ps - command->ready_first_ps) / chunks * (command->asked / DRIVE_CHUNK_BYTES);
}

static void want_chunk(struct sim_drive *drive, struct drive_command *command) {
  const uint64_t at_ps = command->up && !command->buffered ? ready_ps(command) : 0;

  if (at_ps > sim_now_ps(drive->sim))
    sim_at(drive->sim, at_ps, chunk_ready, drive, drive_number(drive, command));
  else
    enqueue(pipe_of(drive, command), (uint32_t)(command - drive->commands));
}

/* The completion follows the read data at once, unless something delays it. */
static bool completion_follows(const struct sim_drive *drive, const struct drive_command *command) {
  const bool late = drive->options.shuffle || (command->fault && command->fault_action == SIM_LATE);

  return command->up && command->asked == command->bytes && !late;
}

static void give_to_link(struct sim_drive *drive, struct drive_command *command) {
  const uint64_t now = sim_now_ps(drive->sim), bytes = next_chunk(command, command->asked);

  command->asked += bytes;
  pipe_of(drive, command)->outstanding_bytes += bytes;
  const uint64_t at_ps =
      command->up ? sim_link_drive_write(&drive->link, now, bytes) : sim_link_drive_read(&drive->link, now, bytes);
  sim_at(drive->sim, at_ps, arrived, drive, drive_number(drive, command));
  if (completion_follows(drive, command)) command->post_ps = sim_link_drive_write(&drive->link, now, DRIVE_CQ_BYTES);
  if (command->asked < command->bytes) want_chunk(drive, command);
}

static void pump(struct sim_drive *drive, struct drive_pipe *pipe) {
  while (pipe->count > 0 && pipe->outstanding_bytes < DRIVE_WINDOW_BYTES) {
    const uint32_t slot = pipe->waiting[pipe->first];
    pipe->first = (pipe->first + 1u) % DRIVE_COMMANDS_MAX;
    pipe->count--;
    give_to_link(drive, &drive->commands[slot]);
  }
}

void drive_move(struct sim_drive *drive, struct drive_command *command, bool up, drive_step *moved_all) {
  command->up = up;
  command->moved_all = moved_all;
  want_chunk(drive, command);
  pump(drive, pipe_of(drive, command));
}

/* ---- the command's own buffer ---- */

uint8_t *drive_page(struct drive_command *command) { return drive_buffer(command, SIM_PAGE); }

uint8_t *drive_buffer(struct drive_command *command, uint64_t bytes) {
  free(command->buffer);
  command->buffer = calloc(1, bytes);
  if (command->buffer == NULL) abort();
  command->buffered = true;
  return command->buffer;
}

static void done(struct sim_drive *drive, struct drive_command *command) { drive_complete(drive, command, STATUS_OK); }

static void send_listed(struct sim_drive *drive, struct drive_command *command) {
  drive_move(drive, command, true, done);
}

void drive_send_page(struct sim_drive *drive, struct drive_command *command, uint64_t bytes) {
  drive_list(drive, command, bytes, send_listed);
}

static void take_listed(struct sim_drive *drive, struct drive_command *command) {
  drive_move(drive, command, false, command->moved_all);
}

void drive_take_page(struct sim_drive *drive, struct drive_command *command, uint64_t bytes, drive_step *moved_all) {
  (void)drive_page(command);
  command->moved_all = moved_all;
  drive_list(drive, command, bytes, take_listed);
}
