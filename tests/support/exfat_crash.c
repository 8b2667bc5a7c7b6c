/* SPDX-License-Identifier: Apache-2.0 */
#include "exfat_crash.h"

#include <stdlib.h>
#include <string.h>

#define VERSIONS_MAX 64u

static uint64_t block_bytes(const struct crash *crash) { return UINT64_C(1) << crash->ram->block.block_shift; }

void crash_begin(struct crash *crash, struct ram_block *ram) {
  *crash = (struct crash){.ram = ram, .first_event = ram->events};
  crash->base = malloc(ram->bytes);
  crash->counts = calloc(ram->block.blocks, sizeof *crash->counts);
  crash->versions = calloc(ram->block.blocks, sizeof(void *));
  crash->touched = calloc(ram->block.blocks, 1);
  if (crash->base == NULL || crash->counts == NULL || crash->versions == NULL || crash->touched == NULL) abort();
  memcpy(crash->base, ram->memory, ram->bytes);
  ram_block_clear_log(ram);
  ram->keep_log = ram->keep_data = true;
}

/* The TRIMs of a deletion, before its other writes: as far forward as the stream's data allow. */
static void move_trims(struct crash *crash) {
  for (size_t i = 0; i < crash->log_count; i++) {
    for (size_t n = i; n > 0 && i - n < 16 && crash->log[n].op == SPATE_TRIM && crash->log[n - 1].blocks <= 8; n--) {
      struct ram_log_entry earlier = crash->log[n - 1];
      crash->log[n].submitted_at = earlier.submitted_at;
      crash->log[n - 1] = crash->log[n];
      crash->log[n] = earlier;
    }
  }
}

void crash_end(struct crash *crash) {
  struct ram_block *ram = crash->ram;
  crash->log = ram->log;
  crash->log_count = ram->log_count;
  crash->events = ram->events;
  ram->log = NULL;
  ram->log_count = ram->log_capacity = 0;
  ram->keep_data = false;
  memcpy(ram->memory, crash->base, ram->bytes);
  if (crash->mutation == CRASH_EARLY_TRIM) move_trims(crash);
}

bool crash_nothing_new(const struct crash *crash, uint64_t at) {
  for (size_t i = 0; i < crash->log_count; i++)
    if (crash->log[i].op == SPATE_READ && (crash->log[i].submitted_at == at || crash->log[i].completed_at == at))
      return true;
  return false;
}

void crash_free(struct crash *crash) {
  for (size_t i = 0; i < crash->log_count; i++)
    free(crash->log[i].data);
  for (uint64_t i = 0; i < crash->ram->block.blocks; i++)
    free(crash->versions[i]);
  free(crash->log);
  free(crash->base);
  free(crash->counts);
  free(crash->versions);
  free(crash->touched);
}

static bool is_bitmap(const struct crash *crash, const struct ram_log_entry *entry) {
  return entry->op == SPATE_WRITE && entry->lba == crash->bitmap_lba && crash->bitmap_lba != 0;
}

static bool durable(const struct crash *crash, const struct ram_log_entry *entry, uint64_t at) {
  if (entry->completed_at > at) return false;
  if ((entry->flags & SPATE_IO_FUA) && crash->mutation != CRASH_NO_FUA) return true;
  if (crash->mutation == CRASH_NO_FLUSH) return false;
  if (crash->mutation == CRASH_ENTRY_FIRST && is_bitmap(crash, entry)) return at == crash->events;
  for (size_t i = 0; i < crash->log_count; i++) {
    const struct ram_log_entry *flush = &crash->log[i];
    if (flush->op == SPATE_FLUSH && flush->submitted_at > entry->completed_at && flush->completed_at <= at) return true;
  }
  return false;
}

static void add_version(struct crash *crash, uint64_t block, const uint8_t *data, uint32_t request, bool is_durable) {
  if (crash->versions[block] == NULL) {
    crash->versions[block] = malloc(VERSIONS_MAX * sizeof *crash->versions[block]);
    if (crash->versions[block] == NULL) abort();
  }
  struct crash_version *versions = crash->versions[block];
  if (!crash->touched[block]) {
    crash->touched[block] = 1;
    crash->counts[block] = 1;
    versions[0] = (struct crash_version){crash->base + block * block_bytes(crash), UINT32_MAX};
  }
  if (is_durable) crash->counts[block] = 0; /* nothing older can come back */
  if (crash->counts[block] == VERSIONS_MAX) {
    memmove(versions + 1, versions + 2, (VERSIONS_MAX - 2) * sizeof *versions);
    crash->counts[block]--;
  }
  versions[crash->counts[block]++] = (struct crash_version){data, request};
}

static const uint8_t *filled(int byte) {
  static uint8_t zeros[4096];
  static uint8_t ones[4096];
  memset(ones, 0xff, sizeof ones);
  return byte == 0 ? zeros : ones;
}

/* Returns whether the request is undecided. */
static bool take(struct crash *crash, uint32_t request, uint64_t at) {
  const struct ram_log_entry *entry = &crash->log[request];
  if (entry->op == SPATE_READ || entry->op == SPATE_FLUSH || entry->submitted_at > at) return false;
  bool is_durable = entry->op != SPATE_TRIM && durable(crash, entry, at);
  for (uint32_t i = 0; i < entry->blocks; i++) {
    const uint8_t *data = entry->op == SPATE_WRITE ? entry->data + i * block_bytes(crash) : filled(0);
    add_version(crash, entry->lba + i, data, request, is_durable);
    if (entry->op == SPATE_TRIM) add_version(crash, entry->lba + i, filled(0xff), request, false);
  }
  return !is_durable;
}

static uint32_t pick(const struct crash *crash, uint64_t block, enum crash_choice choice, uint32_t chosen,
                     uint64_t *random) {
  const struct crash_version *versions = crash->versions[block];
  uint32_t count = crash->counts[block];
  uint32_t best = choice == CRASH_NEW || choice == CRASH_ONE_OLD ? count - 1 : 0;
  if (choice == CRASH_RANDOM) return (uint32_t)(ram_random(random) % count);
  for (uint32_t i = 0; choice == CRASH_ONE_NEW && i < count; i++)
    if (versions[i].request == chosen) best = i;
  if (choice == CRASH_ONE_OLD && versions[best].request == chosen && best > 0) best--;
  return best;
}

static void put_block(struct crash *crash, uint64_t block, enum crash_choice choice, uint32_t chosen,
                      uint64_t *random) {
  uint64_t bytes = block_bytes(crash);
  uint8_t *to = crash->ram->memory + block * bytes;
  if (crash->mutation != CRASH_TORN_BLOCKS || choice != CRASH_RANDOM) {
    memcpy(to, crash->versions[block][pick(crash, block, choice, chosen, random)].data, bytes);
    return;
  }
  for (uint64_t half = 0; half < bytes; half += 64)
    memcpy(to + half, crash->versions[block][pick(crash, block, choice, chosen, random)].data + half, 64);
}

uint32_t crash_cut(struct crash *crash, uint64_t at, enum crash_choice choice, uint32_t which, uint64_t *random) {
  uint32_t undecided = 0;
  uint32_t chosen = UINT32_MAX;
  for (uint32_t request = 0; request < crash->log_count; request++)
    if (take(crash, request, at) && undecided++ == which) chosen = request;
  for (uint64_t block = 0; block < crash->ram->block.blocks; block++)
    if (crash->touched[block]) put_block(crash, block, choice, chosen, random);
  return undecided;
}

static void restore_block(struct crash *crash, uint64_t block) {
  memcpy(crash->ram->memory + block * block_bytes(crash), crash->base + block * block_bytes(crash), block_bytes(crash));
}

void crash_restore(struct crash *crash) {
  struct ram_block *ram = crash->ram;
  for (uint64_t block = 0; block < ram->block.blocks; block++)
    if (crash->touched[block]) restore_block(crash, block);
  memset(crash->touched, 0, ram->block.blocks);
  for (size_t i = 0; i < ram->log_count; i++)
    for (uint32_t n = 0; ram->log[i].op != SPATE_FLUSH && ram->log[i].op != SPATE_READ && n < ram->log[i].blocks; n++)
      restore_block(crash, ram->log[i].lba + n);
  ram_block_clear_log(ram);
}
