/* SPDX-License-Identifier: Apache-2.0 */
/* A loop over a real volume in memory. Included by one test program each. */
#ifndef SPATE_TESTS_LOOP_FIXTURE_H
#define SPATE_TESTS_LOOP_FIXTURE_H

#include "exfat_image.h"
#include "recorder_fixture.h"

#include <spate/loop.h>

#ifndef PART_BYTES
#define PART_BYTES (2 * MIB)
#endif
#define SECOND      UINT64_C(1000000000)
#define PARTS       64u
#define PART_PIECES (uint32_t)(PART_BYTES / PIECE)

struct told {
  unsigned count[SPATE_LOOP_NOTHING + 1];
  uint64_t value[SPATE_LOOP_NOTHING + 1];
  char path[SPATE_LOOP_NOTHING + 1][SPATE_RECORDER_PATH_BYTES_MAX];
};

struct looping {
  struct fixture *fixture;
  struct source *source;
  struct spate_loop loop;
  struct spate_loop_part parts[PARTS];
  struct spate_loop_config config;
  struct told told;
};

static inline void tell(void *context, struct spate_loop *loop, enum spate_loop_event event, const char *path,
                        uint64_t value) {
  struct looping *looping = context;

  assert_ptr_equal(loop, &looping->loop);
  looping->told.count[event]++;
  looping->told.value[event] = value;
  (void)snprintf(looping->told.path[event], SPATE_RECORDER_PATH_BYTES_MAX, "%s", path);
}

/* The board's clock: ten milliseconds more each time. */
static inline void clock_now(void *context, struct spate_exfat_time *time) {
  static uint32_t count;

  (void)context;
  count++;
  *time = (struct spate_exfat_time){.year = 2026,
                                    .month = 11,
                                    .day = 27,
                                    .hour = (uint8_t)(count / 360000u % 24u),
                                    .minute = (uint8_t)(count / 6000u % 60u),
                                    .second = (uint8_t)(count / 100u % 60u),
                                    .centisecond = (uint8_t)(count % 100u)};
}

/* The folder "CAM", and a loop in it that keeps `keep` parts. */
static inline void open_loop(struct looping *looping, struct fixture *fixture, unsigned stream, const char *path,
                             uint64_t keep_bytes) {
  fixture->volume.config.now = clock_now;
  const enum spate_error made = spate_exfat_mkdir(&fixture->volume, "CAM");

  assert_true(made == SPATE_OK || made == SPATE_E_EXISTS);
  *looping = (struct looping){.fixture = fixture, .source = &fixture->sources[stream]};
  open_source(fixture, looping->source, 3 + stream, false, 0);
  looping->config = (struct spate_loop_config){.stream = &looping->source->stream,
                                               .path = path,
                                               .part_bytes = PART_BYTES,
                                               .keep_bytes = keep_bytes,
                                               .parts = looping->parts,
                                               .part_count = PARTS,
                                               .memory = aligned_alloc(4096, 4096),
                                               .event = tell,
                                               .context = looping};
  OK(spate_loop_open(&looping->loop, &looping->config));
}

/* The same on a volume of its own. */
static inline struct fixture *opened(struct looping *looping, unsigned keep_parts) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);

  open_loop(looping, fixture, 0, "CAM/A.RAW", keep_parts * PART_BYTES);
  return fixture;
}

static inline void turn(struct looping *looping) {
  work(looping->fixture);
  OK(spate_loop_work(&looping->loop));
}

/* One piece, through the loop. */
static inline enum spate_error loop_push(struct looping *looping, uint32_t bytes) {
  struct source *source = looping->source;
  const uint64_t offset_bytes = (uint64_t)(source->slot % PIECES) * PIECE;

  if (source->slot - spate_loop_released(&looping->loop) == PIECES) return SPATE_E_FULL;
  const uint64_t seed = source->seed;
  fill_piece(source, source->ring + offset_bytes, bytes);
  const enum spate_error error = spate_loop_push(&looping->loop, offset_bytes, bytes);
  if (error != SPATE_OK) {
    source->seed = seed;
    return error;
  }
  memcpy(source->sent + source->sent_bytes, source->ring + offset_bytes, bytes);
  source->sent_bytes += bytes;
  source->slot++;
  return SPATE_OK;
}

/* As many pieces of so many bytes. What was sent before the last 64 MiB is forgotten: `sent` has no more room. */
static inline void stream_loop(struct looping *looping, uint32_t pieces, uint32_t bytes) {
  for (uint32_t i = 0; i < pieces;) {
    const enum spate_error error = loop_push(looping, bytes);
    if (error == SPATE_OK)
      i++;
    else
      GIVES(SPATE_E_FULL, error);
    turn(looping);
  }
}

static inline void stream_parts(struct looping *looping, uint32_t parts) {
  stream_loop(looping, parts * PART_PIECES, PIECE);
}

static inline void settle_loop(struct looping *looping) {
  for (int i = 0; i < 400; i++)
    turn(looping);
}

/* Parts that each take about a second of the test's clock. */
static inline void stream_seconds(struct looping *looping, uint32_t seconds) {
  for (uint32_t i = 0; i < seconds; i++) {
    stream_parts(looping, 1);
    settle_loop(looping);
    clock_ns += SECOND;
  }
}

static inline void settle_until_kept(struct looping *looping) {
  for (int i = 0; i < 100000 && spate_loop_keeps(&looping->loop); i++)
    turn(looping);
  assert_false(spate_loop_keeps(&looping->loop));
}

static inline void close_loop(struct looping *looping) {
  OK(spate_recorder_finish(&looping->fixture->recorder));
  OK(spate_loop_close(&looping->loop));
  free(looping->config.memory);
}

static inline void mount_fixture(struct fixture *fixture) {
  struct spate_recorder_config config = {.event = on_event, .while_waiting = while_waiting, .context = fixture};

  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
}

/* The host restarts: the volume is mounted again, and nothing was closed. */
static inline void restart_host(struct fixture *fixture) {
  spate_exfat_abandon(&fixture->volume);
  fixture->ram.block.while_waiting = NULL;
  fixture->ram.block.while_waiting_context = NULL;
  mount_fixture(fixture);
}

/* The same, and `next` continues with the loop, in parts of this length. */
static inline void restart(struct looping *looping, struct looping *next, uint64_t length_bytes) {
  restart_host(looping->fixture);
  *next = *looping;
  next->source = &looping->fixture->sources[1];
  open_source(looping->fixture, next->source, 9, false, 0);
  next->config.stream = &next->source->stream;
  next->config.context = next;
  next->config.part_bytes = length_bytes;
  next->told = (struct told){0};
  OK(spate_loop_open(&next->loop, &next->config));
}

#define LONG_NAME                                                                                                      \
  "CAM/" /* 150 letters: a cluster of a folder holds nine of the parts' names */                                       \
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"                                        \
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"                                        \
  ".RAW"

/* A volume of clusters of 4 KiB, before there is a loop: a folder needs more of them soon. */
static inline void format_small(struct fixture *fixture) {
  OK(spate_recorder_close(&fixture->recorder));
  OK(spate_exfat_unmount(&fixture->volume));
  small_format(fixture->ram.memory, VOLUME_MIB * MIB, 9, 12);
  mount_fixture(fixture);
}

static inline void take_all_room(struct fixture *fixture, unsigned try) {
  struct spate_exfat_clip clip;
  char path[32];

  for (unsigned i = 0; i < 200; i++) {
    (void)snprintf(path, sizeof path, "FILM%u_%u", try, i);
    const enum spate_error error = spate_exfat_arm(&fixture->volume, &clip, path, 0);
    if (error == SPATE_E_NO_SPACE) return;
    OK(error);
    OK(spate_exfat_close(&clip, clip.reserved_bytes));
  }
}

static inline bool exists(struct fixture *fixture, const char *path) {
  struct spate_exfat_entry entry;
  const enum spate_error error = spate_exfat_stat(&fixture->volume, path, &entry);

  assert_true(error == SPATE_OK || error == SPATE_E_NOT_FOUND);
  return error == SPATE_OK;
}

static inline unsigned count_files(struct fixture *fixture, const char *folder) {
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  unsigned count = 0;
  bool more = true;

  OK(spate_exfat_list(&fixture->volume, folder, &directory));
  while (more) {
    OK(spate_exfat_list_next(&directory, &entry, &more));
    count += more && entry.name[0] != '.' ? 1u : 0u;
  }
  return count;
}

#endif
