/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a checkup's steps. */
#include "checkup.h"

#include <string.h>

static const struct {
  const char *name;
  bool (*run)(struct spate_checkup *checkup);
} steps[] = {
    {"clock", spate_checkup_clock},   {"bridge", spate_checkup_bridge},       {"drive", spate_checkup_find},
    {"path", spate_checkup_path},     {"registers", spate_checkup_registers}, {"DMA", spate_checkup_dma},
    {"driver", spate_checkup_driver}, {"read", spate_checkup_read},           {"write", spate_checkup_write},
};

#define STEPS (sizeof steps / sizeof steps[0])

/* All of it is taken in whole pages. */
static bool memory_fits(const struct spate_arena *arena) {
  const uintptr_t start = (uintptr_t)arena->start + arena->used_bytes;
  const size_t skipped_bytes = (size_t)(-start & (SPATE_PAGE_BYTES - 1u));
  const size_t free_bytes = arena->bytes - arena->used_bytes;

  return skipped_bytes <= free_bytes && SPATE_CHECKUP_QUEUE_MEMORY_BYTES <= free_bytes - skipped_bytes;
}

/* A drive that did not stop may still write to queue memory. Then this memory is not given back. */
static void finish(struct spate_checkup *checkup) {
  enum spate_error error = checkup->may_run ? SPATE_E_NOT_STOPPED : SPATE_OK;

  if (checkup->opened) {
    error = spate_nvme_shutdown(&checkup->controller);
    checkup->may_run = error == SPATE_E_NOT_STOPPED;
    spate_checkup_fact(checkup, "end", NULL, "shutdown: {n}", (struct checkup_values){.name = spate_error_name(error)});
  }
  if (error != SPATE_OK)
    spate_checkup_found(checkup, SPATE_DOCTOR_NOT_SHUT_DOWN, (struct checkup_values){.numbers = {error}});
  if (!checkup->may_run) checkup->config->queue_memory->used_bytes = checkup->arena_used_bytes;
}

enum spate_error spate_checkup(struct spate_checkup *checkup, const struct spate_checkup_config *config,
                               struct spate_doctor *doctor) {
  if (config->host == NULL || config->fact == NULL || config->queue_memory == NULL || config->buffer == NULL ||
      (uintptr_t)config->buffer % SPATE_PAGE_BYTES != 0 || config->buffer_bytes < SPATE_CHECKUP_BUFFER_BYTES_MIN)
    return SPATE_E_INVALID;
  if (!memory_fits(config->queue_memory)) return SPATE_E_MEMORY;
  memset(checkup, 0, sizeof *checkup);
  checkup->config = config;
  checkup->doctor = doctor;
  checkup->arena_used_bytes = config->queue_memory->used_bytes;
  for (unsigned i = 0; i < STEPS; i++) {
    if (steps[i].run(checkup)) continue;
    if (i + 1u < STEPS)
      spate_checkup_found(checkup, SPATE_DOCTOR_UNDONE_STEPS, (struct checkup_values){.name = steps[i + 1u].name});
    break;
  }
  finish(checkup);
  return SPATE_OK;
}
