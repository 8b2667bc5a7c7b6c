/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder over a real volume in memory, with a clock that the test sets. Included by one test program each. */
#ifndef SPATE_TESTS_RECORDER_FIXTURE_H
#define SPATE_TESTS_RECORDER_FIXTURE_H

#include "ram_block.h"

#include <spate/chunk.h>
#include <spate/player.h>
#include <spate/port.h>
#include <spate/recorder.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB          (UINT64_C(1) << 20)
#define PIECE        (64u * 1024u)
#define PIECES       16u
#define RING_BYTES   (PIECES * PIECE)
#define STREAMS      8u
#define VOLUME_MIB   128u
#define CACHE_BYTES  (32u * 4096u)
#define BITMAP_BYTES 4096u

/* ---- the port: time passes only when the library reads the clock, or the test sets it ---- */

static uint64_t clock_ns;
static uint64_t clock_hz = 1000000000;
static int64_t clock_step_ns = 100;
static unsigned relaxes;            /* calls of host_relax() */
static const uint64_t *watched;     /* NULL: nothing */
static uint64_t watched_at_relax;   /* *watched at the last of these calls */
static uint32_t clock_reads_a_tick; /* if not 0: the clock advances once per this number of reads */

uint64_t host_ticks(void) {
  static uint32_t reads;
  if (clock_reads_a_tick > 0 && ++reads % clock_reads_a_tick == 0) clock_ns++;
  return clock_ns += (uint64_t)clock_step_ns;
}
uint64_t host_ticks_per_second(void) { return clock_hz; }
void host_relax(void) {
  clock_ns += 1000;
  relaxes++;
  if (watched != NULL) watched_at_relax = *watched;
}
void host_dma_write_barrier(void) {}
void host_dma_read_barrier(void) {}
uint64_t host_dma_address(const volatile void *memory) { return (uintptr_t)memory; }
uint32_t host_read32(uintptr_t address) {
  fail_msg("register read at %lx", (unsigned long)address);
  return 0;
}

void host_write32(uintptr_t address, uint32_t value) { fail_msg("register %lx = %x", (unsigned long)address, value); }

void host_cache_clean(const void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}

void host_cache_invalidate(void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}

void host_log(const char *text, uint64_t value) {
  (void)text;
  (void)value;
}

/* ---- a drive, a volume, a recorder with streams, and a source for each ---- */

struct source {
  struct spate_stream stream;
  struct spate_piece pieces[PIECES];
  struct spate_region region;
  uint8_t *ring;
  uint32_t slot; /* number of pushes so far */
  bool sealed;   /* each piece begins with a chunk header */
  uint64_t seed; /* of the contents */
  uint8_t *sent; /* everything that was accepted */
  uint64_t sent_bytes;
};

struct fixture {
  struct ram_block ram;
  struct spate_exfat volume;
  struct spate_exfat_config config;
  struct spate_exfat_block blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX];
  struct spate_recorder recorder;
  struct source sources[STREAMS];
  uint64_t events[SPATE_EVENT_POWER_UNKNOWN + 1],
      values[SPATE_EVENT_POWER_UNKNOWN + 1]; /* for each enum spate_event: the count, and the last value */
  struct source *push_while_waiting;
  int cut_power_at; /* cut the drive's power in this turn of waiting for metadata; −1: never */
  int turns;        /* turns of waiting so far */
  uint64_t writes;  /* of the drive when its power was cut */
};

static inline void must_be(enum spate_error got, enum spate_error wanted, int line) {
  if (got != wanted) fail_msg("line %d: %s instead of %s", line, spate_error_name(got), spate_error_name(wanted));
}
#define OK(call)            must_be(call, SPATE_OK, __LINE__)
#define GIVES(wanted, call) must_be(call, wanted, __LINE__)

static inline void on_event(void *context, struct spate_stream *stream, enum spate_event event, uint64_t value) {
  struct fixture *fixture = context;

  assert_non_null(stream);
  fixture->events[event]++;
  fixture->values[event] = value;
}

static inline void fill_piece(struct source *source, uint8_t *to, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i++)
    to[i] = (uint8_t)(ram_random(&source->seed) >> 11);
}

/* Push one piece of `bytes`. If it is accepted, the file must contain it. */
static inline enum spate_error push(struct source *source, uint32_t bytes) {
  uint64_t offset_bytes = (uint64_t)(source->slot % PIECES) * PIECE;

  if (spate_stream_room(&source->stream) == 0) return SPATE_E_FULL; /* the slot still belongs to the recorder */
  uint64_t seed = source->seed;
  fill_piece(source, source->ring + offset_bytes, bytes);
  if (source->sealed)
    spate_chunk_seal(source->ring + offset_bytes, source->stream.config.chunk_stream, source->slot, bytes);
  enum spate_error error = spate_stream_push(&source->stream, offset_bytes, bytes);
  if (error != SPATE_OK) {
    source->seed = seed;
    return error;
  }
  memcpy(source->sent + source->sent_bytes, source->ring + offset_bytes, bytes);
  source->sent_bytes += bytes;
  source->slot++;
  return SPATE_OK;
}

static bool cuts_are_told = true; /* false: the drive does not say whether it has lost power */

/* Everything that completed since the last completed flush is lost from the media. */
static inline void cut_the_drives_power(struct fixture *fixture) {
  uint64_t flushed_at = 0;

  for (size_t i = 0; i < fixture->ram.log_count; i++) {
    const struct ram_log_entry *entry = &fixture->ram.log[i];
    if (entry->op == SPATE_FLUSH && entry->completed_at != UINT64_MAX) flushed_at = entry->submitted_at;
  }
  for (size_t i = 0; i < fixture->ram.log_count; i++) {
    const struct ram_log_entry *entry = &fixture->ram.log[i];
    bool volatile_write = entry->op == SPATE_WRITE && !(entry->flags & SPATE_IO_FUA);
    if (volatile_write && entry->completed_at != UINT64_MAX && entry->completed_at > flushed_at)
      memset(fixture->ram.memory + entry->lba * 512, 0xee, (size_t)entry->blocks * 512);
  }
  if (cuts_are_told)
    fixture->ram.block.power_losses++;
  else
    fixture->ram.block.power_unknown++;
}

static inline void while_waiting(void *context) {
  struct fixture *fixture = context;

  if (fixture->turns++ == fixture->cut_power_at) {
    fixture->writes = fixture->ram.count[SPATE_WRITE];
    cut_the_drives_power(fixture);
  }

  if (fixture->push_while_waiting == NULL) return;
  enum spate_error error = SPATE_OK;
  while (error == SPATE_OK)
    error = push(fixture->push_while_waiting, PIECE);
  assert_true(error == SPATE_E_FULL || error == SPATE_E_NO_SPACE || error == SPATE_E_RESERVATION);
}

static inline void open_source(struct fixture *fixture, struct source *source, uint64_t seed, bool retain,
                               uint64_t next_bytes) {
  uint8_t *table = aligned_alloc(4096, SPATE_REGION_TABLE_BYTES(RING_BYTES));
  struct spate_arena arena = {.start = table, .bytes = SPATE_REGION_TABLE_BYTES(RING_BYTES)};

  source->ring = aligned_alloc(4096, RING_BYTES);
  source->sent = malloc(VOLUME_MIB * MIB);
  source->seed = seed;
  assert_true(table != NULL && source->ring != NULL && source->sent != NULL);
  OK(spate_region_init(&source->region, source->ring, RING_BYTES, &arena));
  struct spate_stream_config config = {
      .region = &source->region, .pieces = source->pieces, .piece_count = PIECES, .cpu_filled = true, .retain = retain};
  OK(spate_stream_open(&fixture->recorder, &source->stream, &config));
  if (next_bytes > 0) spate_stream_roll_over(&source->stream, next_bytes, NULL);
}

static inline void close_source(struct source *source) {
  free(source->region.list);
  free(source->ring);
  free(source->sent);
}

static inline struct fixture *open_fixture(uint32_t block_bytes, uint64_t volume_mib) {
  struct fixture *fixture = calloc(1, sizeof(*fixture));

  assert_non_null(fixture);
  ram_block_open(&fixture->ram, volume_mib * MIB / block_bytes, block_bytes);
  fixture->config = (struct spate_exfat_config){.block = &fixture->ram.block,
                                                .blocks = fixture->ram.block.blocks,
                                                .cache = aligned_alloc(4096, CACHE_BYTES),
                                                .cache_bytes = CACHE_BYTES,
                                                .cache_blocks = fixture->blocks,
                                                .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
                                                .bitmap = aligned_alloc(4096, BITMAP_BYTES),
                                                .bitmap_bytes = BITMAP_BYTES};
  struct spate_exfat_format format = {.label = "TEST", .serial = 1, .cluster_bytes = 1u << 20};
  OK(spate_exfat_format(&fixture->config, &format));
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  fixture->cut_power_at = -1;
  struct spate_recorder_config config = {.event = on_event, .while_waiting = while_waiting, .context = fixture};
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  return fixture;
}

/* The recorder is closed, and the volume is not mounted. */
static inline void free_fixture(struct fixture *fixture) {
  for (unsigned i = 0; i < STREAMS; i++)
    close_source(&fixture->sources[i]);
  ram_block_close(&fixture->ram);
  free(fixture->config.cache);
  free(fixture->config.bitmap);
  free(fixture);
}

static inline void close_fixture(struct fixture *fixture) {
  OK(spate_recorder_close(&fixture->recorder));
  OK(spate_exfat_unmount(&fixture->volume));
  free_fixture(fixture);
}

static inline void work(struct fixture *fixture) { OK(spate_recorder_work(&fixture->recorder)); }

/* Push `pieces` pieces, and call work whenever the ring is full. */
static inline void stream_pieces(struct fixture *fixture, struct source *source, uint32_t pieces) {
  for (uint32_t i = 0; i < pieces;) {
    enum spate_error error = push(source, PIECE);
    if (error == SPATE_OK)
      i++;
    else
      GIVES(SPATE_E_FULL, error);
    work(fixture);
  }
}

/* Call work until everything pushed has completed (which does not mean durable). */
static inline void drain(struct fixture *fixture, struct source *source) {
  for (int i = 0; i < 100000 && source->stream.completed != source->stream.pushed; i++)
    work(fixture);
  assert_int_equal(source->stream.completed, source->stream.pushed);
}

static inline void close_clips(struct fixture *fixture, struct source *source) {
  for (int i = 0; i < 100000 && spate_stream_active(&source->stream); i++)
    work(fixture);
  assert_false(spate_stream_active(&source->stream));
}

/* The file at `path` holds exactly these bytes. */
static inline void file_holds(struct fixture *fixture, const char *path, const uint8_t *bytes, uint64_t length) {
  struct spate_exfat_file file;
  uint8_t *got = malloc(length + 1);
  size_t got_bytes = 0;

  assert_non_null(got);
  OK(spate_exfat_open(&fixture->volume, path, &file));
  assert_int_equal(file.bytes, length);
  OK(spate_exfat_read(&file, 0, got, length + 1, &got_bytes));
  assert_int_equal(got_bytes, length);
  if (memcmp(got, bytes, length) != 0) fail_msg("%s: content differs", path);
  free(got);
}

static inline uint64_t file_bytes(struct fixture *fixture, const char *path) {
  struct spate_exfat_entry entry;

  OK(spate_exfat_stat(&fixture->volume, path, &entry));
  return entry.bytes;
}

#endif
