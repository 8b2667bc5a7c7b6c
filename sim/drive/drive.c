/* SPDX-License-Identifier: Apache-2.0 */
/* A drive: its creation, what a test sets before it starts, and what a test may look at. */
#include "drive_internal.h"
#include <stdlib.h>

#define VERSION_1_4 UINT32_C(0x00010400)

/* ---- creation ---- */

static void *take(size_t bytes) {
  void *memory = calloc(1, bytes);
  if (memory == NULL) abort();
  return memory;
}

static void default_options(struct sim_drive *drive) {
  struct sim_drive_options *options = &drive->options;

  if (options->link.generation == 0)
    options->link = (struct sim_link_config){.generation = drive->profile.generation,
                                             .lanes = drive->profile.lanes,
                                             .payload_bytes = 256,
                                             .read_request_bytes = 512,
                                             .latency_ns = 250,
                                             .dllp_percent = 2};
  if (options->block_shift == 0) options->block_shift = 9;
  if (options->bytes == 0) options->bytes = drive->profile.capacity_bytes;
  options->bytes &= ~(uint64_t)(SIM_PAGE - 1u);
  if (options->queue_pairs == 0) options->queue_pairs = 8;
  if (options->version == 0) options->version = VERSION_1_4;
  if (options->queue_pairs > DRIVE_QUEUES_MAX) options->queue_pairs = DRIVE_QUEUES_MAX;
  drive->profile.capacity_bytes = options->bytes;
  if (options->no_volatile_cache) drive->profile.volatile_cache = false;
}

/* Contiguous queues required, round robin only, NVM command set, 4 KiB pages only. CAP.TO is twice the time that the
 * drive needs to become ready, in units of 500 ms. */
static uint64_t capabilities(const struct sim_drive *drive) {
  const uint64_t timeout = 1u + 2u * drive->profile.ready_ms / 500u;

  return ((drive->profile.queue_entries - 1u) & 0xffffu) | UINT64_C(1) << 16 | (timeout < 255 ? timeout : 255) << 24 |
         (uint64_t)(drive->options.doorbell_stride & 0xfu) << 32 | UINT64_C(1) << 37;
}

struct sim_drive *sim_drive_add(struct sim *sim, const struct sim_profile *profile,
                                const struct sim_drive_options *options) {
  struct sim_drive *drive = take(sizeof *drive);

  drive->sim = sim;
  drive->execute = drive_execute;
  drive->profile = *profile;
  if (options != NULL) drive->options = *options;
  default_options(drive);
  drive->index = sim_attach(sim, drive);
  sim_link_init(&drive->link, &drive->options.link);
  sim_media_init(&drive->media, &drive->profile, drive->options.filled);
  drive->store = sim_store_new(drive->options.bytes);
  drive->commands = take(DRIVE_COMMANDS_MAX * sizeof *drive->commands);
  drive->bounce = take(DRIVE_CHUNK_BYTES);
  drive->registers.cap = capabilities(drive);
  drive->shut_down = true;
  drive_identify_init(drive);
  drive_features_reset(drive);
  drive_cache_init(drive);
  drive_filled_init(drive);
  drive_forget(drive);
  return drive;
}

void sim_drive_free(struct sim_drive *drive) {
  for (unsigned i = 0; i < DRIVE_COMMANDS_MAX; i++) {
    free(drive->commands[i].pages);
    free(drive->commands[i].buffer);
  }
  drive_cache_free(drive);
  for (unsigned i = 0; i <= DRIVE_QUEUES_MAX; i++) {
    free(drive->ids[i]);
    free(drive->submitted[i]);
  }
  sim_store_free(drive->store);
  free(drive->filled);
  free(drive->commands);
  free(drive->bounce);
  free(drive->log);
  free(drive);
}

/* ---- faults of the whole drive ---- */

void sim_drive_stick(struct sim_drive *drive, bool never_ready, bool never_disabled, bool fatal_on_enable) {
  drive->never_ready = never_ready;
  drive->never_disabled = never_disabled;
  drive->fatal_on_enable = fatal_on_enable;
}

void sim_drive_hide_admin_registers(struct sim_drive *drive, bool hides) {
  drive->options.hides_admin_registers = hides;
}

void sim_drive_ignore_control(struct sim_drive *drive) { drive->ignores_control = true; }

void sim_drive_slow_shutdown(struct sim_drive *drive, uint32_t ms) { drive->shutdown_ms = ms; }

void sim_drive_fail(struct sim_drive *drive) { drive_fatal(drive); }

bool sim_drive_is_silent(const struct sim_drive *drive) { return drive->silent; }

/* ---- accessors ---- */

const struct sim_drive_counters *sim_drive_counters(const struct sim_drive *drive) { return &drive->counters; }
void sim_drive_clear_counters(struct sim_drive *drive) {
  drive->counters = (struct sim_drive_counters){0};
  drive->last_data_ps = 0;
}

uint64_t *sim_drive_cap(struct sim_drive *drive) { return &drive->registers.cap; }
uint8_t *sim_drive_identify_controller(struct sim_drive *drive) { return drive->identify_controller; }
uint8_t *sim_drive_identify_namespace(struct sim_drive *drive) { return drive->identify_namespace; }
uint8_t *sim_drive_smart(struct sim_drive *drive) { return drive->smart; }
struct sim_media *sim_drive_media(struct sim_drive *drive) {
  return &drive->media;
}
struct sim_link *sim_drive_link(struct sim_drive *drive) {
  return &drive->link;
}
struct sim_store *sim_drive_store(struct sim_drive *drive) {
  return drive->store;
}
uint64_t sim_drive_blocks(const struct sim_drive *drive) { return drive->blocks; }
uint8_t sim_drive_block_shift(const struct sim_drive *drive) { return drive->block_shift; }

const struct sim_command *sim_drive_commands(const struct sim_drive *drive, size_t *count) {
  *count = drive->log_count;
  return drive->log;
}

void sim_drive_clear_commands(struct sim_drive *drive) { drive->log_count = 0; }
uint32_t *sim_drive_namespaces(struct sim_drive *drive) { return drive->namespaces; }
