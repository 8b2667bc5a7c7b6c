/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flight recorder: a stream that is recorded without end, of which the last minutes are kept, and more around a
 * trigger.
 *
 * The stream is recorded into parts of equal length, a few seconds each. When there are more of them than shall be
 * kept, the oldest is deleted, before the next one is made. A trigger keeps a span: the parts from some time before it
 * to some time after it become one plain file, without a copy (spate_exfat_join_begin()).
 *
 *   recording ──► trigger ──► span open ──► its end: cut ──► parts moved into a folder ──► folder becomes a file
 *
 * What is never deleted: a file that this loop did not make, or that is no longer in its list because it was
 * renamed, moved or replaced; a file that is read only (spate_exfat_protect()); parts of a span. The list is a file
 * beside the parts. It names each part by its number, its first cluster and its creation, so that a copy is not taken
 * for a part. A loop that is opened again continues with the parts of its list.
 *
 * A power cut leaves the last parts, as any recording, and a span as parts or as a file. The list says which parts
 * belong to a span, and whether data are missing between them. The next spate_loop_open() finishes it.
 *
 * docs/understand/design.md, 4.7. All functions are called from the recorder's thread, and wait for metadata as
 * spate_stream_arm() does, while all streams continue.
 */
#ifndef SPATE_LOOP_H
#define SPATE_LOOP_H

#include <spate/recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPATE_LOOP_PARTS_MIN      8u
#define SPATE_LOOP_PARTS_MAX      4096u
#define SPATE_LOOP_PATH_BYTES_MAX 192u /* of the loop, and of a file that is kept, with the NUL */
#define SPATE_LOOP_SPANS          4u   /* one that is open, and those before it that are not files yet */
#define SPATE_LOOP_DIVIDED_MAX    8u   /* pieces that are divided and not released; a power of two */

struct spate_loop;

/* What happened to a span or a part. */
enum spate_loop_event {
  SPATE_LOOP_KEPT,    /* a span became a file; value: its bytes */
  SPATE_LOOP_FOLDER,  /* it could not become a file, and stays a folder of parts; value: enum spate_error, why */
  SPATE_LOOP_SHORT,   /* the volume has no room, and a part was deleted that should have been kept; value: its bytes */
  SPATE_LOOP_LEFT,    /* a part is left on the volume, because it no longer belongs to the loop; value: 0 */
  SPATE_LOOP_NOTHING, /* a span has no data, and its folder is removed; value: enum spate_error: OK: none came */
};

struct spate_loop_part;

/* What to keep, and in which memory. `path`, `parts` and `memory` stay in place while the loop is open. */
struct spate_loop_config {
  struct spate_stream *stream; /* open, without a clip, and without roll-over */
  /* "DIR/NAME.RAW": the parts are DIR/NAME_00000001.RAW and so on, the list is DIR/.NAME.RAW.list. DIR exists. */
  const char *path;
  uint64_t part_bytes; /* a multiple of the cluster and, for a stream of chunks, of the chunk */
  uint64_t keep_bytes; /* delete what is more; 0: no limit by size */
  uint64_t keep_ms;    /* delete what is older; 0: no limit by time */
  /* The caller's, from SPATE_LOOP_PARTS_MIN to SPATE_LOOP_PARTS_MAX: no more parts are kept. Those of spans that are
   * not files yet are among them. */
  struct spate_loop_part *parts;
  uint32_t part_count;
  void *memory; /* one logical block, for the list: DMA memory, SPATE_DMA_ALIGN */
  /* May be NULL. `path`: of the file, the folder, or the part. Called from spate_loop_work(). */
  void (*event)(void *context, struct spate_loop *loop, enum spate_loop_event event, const char *path, uint64_t value);
  /* May be NULL. For a source that holds data back until a piece is full. The time of the open span is over, and there
   * is a part to continue in: has all that belongs to the span been pushed? Until this returns true, the span
   * continues, and this is called again. From the first call on a trigger does not make the span longer. Called from
   * spate_loop_work(). */
  bool (*may_end)(void *context, struct spate_loop *loop);
  void *context;
};

/* One part. Private, as is all that follows. */
struct spate_loop_part {
  uint32_t number, first_cluster;
  struct spate_exfat_time created;
  uint64_t bytes;
  uint64_t end_ticks;    /* when the stream left it */
  uint64_t closed_ticks; /* when all its data were on the drive: logic sends them after they are pushed */
  uint8_t state;
};

/* What is kept of a trigger: parts `first` … `last`. */
struct spate_loop_span {
  uint8_t state;
  bool broken;   /* data are missing: the folder stays */
  bool unlisted; /* the list does not say so yet */
  bool ending;   /* the program was asked for what it still has: the end is fixed */
  uint32_t first, last;
  uint32_t gap; /* the first part that is not full: data are missing after it, unless it is the last. 0: none */
  uint64_t end_ticks;
  uint64_t part_bytes; /* of its run: the next one may have another length */
  char path[SPATE_LOOP_PATH_BYTES_MAX];
};

/* Counters since spate_loop_open(). */
struct spate_loop_counters {
  uint32_t parts;          /* made */
  uint32_t deleted;        /* of them, or of an earlier run's */
  uint64_t arm_ticks_max;  /* the longest time in which the stream had no next part; the ring is not involved */
  uint64_t work_ticks_max; /* the longest call of spate_loop_work() */
};

/* A loop. It must not move while it is open. */
struct spate_loop {
  struct spate_loop_config config;
  struct spate_loop_counters counters;
  enum spate_error error; /* why there is no next part; OK: there is, or will be */
  /* private */
  uint32_t count;        /* of config.parts: oldest first */
  uint32_t first_number; /* spans may begin with it: of this run, and after the last span */
  uint32_t next_number;  /* of the next part */
  uint32_t streaming;    /* number of the part that pushes go to; 0: none */
  uint32_t armed;        /* number of the part after it; 0: none */
  const struct spate_stream_clip *streaming_clip;
  uint64_t unarmed_ticks;                   /* since when there is no next part; when arming it failed last */
  uint64_t failed_ticks, list_failed_ticks; /* of the list: 0: it was written */
  struct spate_exfat_file list;
  uint64_t list_lba;
  struct spate_loop_span spans[SPATE_LOOP_SPANS]; /* oldest first; those after the last have no state */
  struct spate_exfat_join join;
  bool joining;
  bool wants_room;                                                           /* arming found none */
  bool refused;                                                              /* a piece, since the present part began */
  uint32_t divided[SPATE_LOOP_DIVIDED_MAX], divided_count, divided_released; /* second halves, by number of the piece */
};

/*
 * Read the list, or make it, and continue with its parts and spans. The search for shared clusters, which a first
 * deletion makes, is made now. Then arm the first part. Parts may have another length than in the last run. Until it
 * returns there is no part: what the recorder's while_waiting pushes meanwhile is refused.
 *
 * Errors: INVALID (a length; fewer than SPATE_LOOP_PARTS_MIN parts fit in keep_bytes; the stream has a clip or rolls
 * over), NOT_FOUND (the folder), EXISTS or IS_DIRECTORY (another file or a folder has the list's name), MEMORY
 * (config.parts has no room for all parts that are there), NAME_LONG, NAMES (no number is left for a part), STALE (the
 * list was deleted meanwhile), MEDIA (also if the list cannot be read: delete it, and the next loop begins with a new
 * one; the parts of the old list stay as your files), those of spate_stream_arm() and those of spate_exfat_delete().
 */
SPATE_MUST_CHECK enum spate_error spate_loop_open(struct spate_loop *loop, const struct spate_loop_config *config);

/* Push a piece, as spate_stream_push(), which must not be called for this stream. A piece that does not fit in the part
 * is divided, unless the stream is one of chunks, so every part but a span's last is full. Errors: INVALID (also if it
 * is longer than a part), FULL (also while a piece that has to be divided finds no room for two, or no next part). If
 * the part is full and there is no next one: NO_SPACE (also when all that is left on the volume is kept), FRAGMENTED,
 * NAMES, or another of those of spate_loop_open(). spate_loop_work() tries again once a second, so a later piece may be
 * accepted.
 */
SPATE_MUST_CHECK enum spate_error spate_loop_push(struct spate_loop *loop, uint64_t offset_bytes, uint32_t bytes);

/* As spate_stream_released(), but a divided piece counts as one. */
uint32_t spate_loop_released(struct spate_loop *loop);

/* Call it after each spate_recorder_work(): arms the next part or deletes the oldest, and continues a span by one step.
 * Returns an error of a span or a deletion; the stream continues. Errors: STALE (the list was deleted), STATE (the
 * recorder is closed), those of spate_exfat_delete(), those of spate_exfat_rename(), those of
 * spate_exfat_join_begin(), those of spate_exfat_join_work(), and IS_DIRECTORY (a folder has the list's name). */
SPATE_MUST_CHECK enum spate_error spate_loop_work(struct spate_loop *loop);

/*
 * Keep what was recorded from `before_ms` ago until `after_ms` from now, as the file `path`. Its beginning is that of a
 * part, at most a part's length earlier. Its end is exact to a piece and a call of work; it does not end before it has
 * a byte. Pieces that are pushed before their data come (spate/gateware.h) count from when the data are on the drive.
 * Those that are pushed when the time is over belong to the file, so it is longer by them, and is made when their data
 * have come. If a span is still open, it continues until the later end, and `path` is not used; *extended says so (may
 * be NULL). If the last span has ended and is not a file yet, the new one begins where that ends, so that no part is in
 * two files. No part of an earlier run is in it: between the parts of a file nothing is missing. What the source lost
 * itself is counted, as in any clip, and not seen in the file. Waits for metadata: a folder of this name is made.
 *
 * Errors: NAME_LONG, STATE (no part is recorded), BUSY (SPATE_LOOP_SPANS spans are not files yet, or the open span ends
 * at present, because config.may_end was called for it; call it again after some work), NO_SPACE (the oldest part makes
 * room for the folder: call it again, too), STALE or IS_DIRECTORY (the list was deleted, or a folder has its name), and
 * those of spate_exfat_mkdir().
 */
SPATE_MUST_CHECK enum spate_error spate_loop_trigger(struct spate_loop *loop, const char *path, uint64_t before_ms,
                                                     uint64_t after_ms, bool *extended);

/* Is a span open, or not a file yet? */
bool spate_loop_keeps(const struct spate_loop *loop);

/* Is the time of the open span over, and is there a next part, or will there be one? Then it ends as soon as that is
 * there, and config.may_end allows it: hold data back that do not belong to it. False while the span has no byte: it
 * waits for one. */
bool spate_loop_is_due(const struct spate_loop *loop);

/* End the stream: call it after spate_recorder_finish(), so that all parts are closed. Open spans end here, and become
 * files. Errors: BUSY (a clip of the stream is not closed, or another loop of the volume makes a file at present: call
 * its spate_loop_work() or spate_loop_close(), and then this again). Otherwise the first of those of spate_loop_work().
 */
SPATE_MUST_CHECK enum spate_error spate_loop_close(struct spate_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
