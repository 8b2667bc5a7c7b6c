/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the witness. Only its own files include this header. */
#ifndef SPATE_TESTS_WITNESS_INTERNAL_H
#define SPATE_TESTS_WITNESS_INTERNAL_H

#include "witness.h"

#include <spate/recorder.h>

#include "ram_block.h"

#define CLIPS_TRACKED_MAX 64u
#define PATHS_KEPT_MAX    256u

struct tracked {
  struct spate_exfat_clip *clip;
  char path[PROMISE_PATH_BYTES_MAX];
  struct content *content;
  uint64_t published_bytes;
  bool pushed; /* spate_stream_push() delivers its contents */
};

struct witness {
  struct ram_block *drives[JOURNAL_DRIVES_MAX];
  uint32_t losses[JOURNAL_DRIVES_MAX];
  unsigned drive_count;
  bool watching, judging;
  struct journal journal;
  struct medium medium;
  struct promises promises;
  struct judge judge;
  struct spate_recorder *recorder;
  uint64_t ticks_before, turn_ticks_max, checkpoint_ticks_max, close_ticks_max, period_ticks;
  bool unbounded; /* a checkpoint failed: the bound does not apply */
  struct tracked tracked[CLIPS_TRACKED_MAX];
  size_t tracked_count;
  char kept[PATHS_KEPT_MAX][64];
  size_t kept_count;
  struct witness_machine machine; /* without drives: the witness watches ram_blocks */
  uint64_t machine_since;
  bool formatting;
  uint32_t fresh_serial;
  uint64_t formatted; /* at this event, which is the first mount; 0: not yet */
  struct images images;
};

extern struct witness witness;

/* The recorder's time; 0 before it is opened. */
uint64_t witness_ticks(void);
/* The number of the last event. Promises that are made now apply from this event on. */
uint64_t witness_last_event(void);
struct promise witness_promise(enum presence presence, uint64_t bytes_min, struct content *content);
/* Make promises of everything that changed since the last call. They apply from the last event on. */
void witness_progress(void);
/* The recorder's clip that writes this file, or NULL. */
const struct spate_stream_clip *witness_clip(const struct spate_exfat_clip *clip);
/* The tracked clip, or NULL. */
struct tracked *witness_tracked(const struct spate_exfat_clip *clip);
/* Has witness_kept() named it? */
bool witness_is_kept(const char *path);
void witness_untrack(const struct spate_exfat_clip *clip);
/* A volume was mounted: watch it from now on. */
void witness_begin(const struct spate_exfat_config *config, bool foreign_dirty);
/* The test closes its drive: go through the power cuts. */
void witness_end(void);
/* Records the requests to a drive. */
extern const struct ram_observer witness_observer;

#endif
