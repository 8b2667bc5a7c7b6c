/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clip's life: arm, stream, checkpoint, stop. Buffers in, bytes of a file out.
 *
 * The source (a camera's DMA, a radar, a generator) fills memory in a region and pushes each piece; nothing is copied.
 * Pieces are written in any order the drive likes. A piece is released, in the order pushed, when its memory may be
 * filled again. Every `checkpoint_ms` the contiguous completed length of each clip is flushed and published, so a power
 * cut costs at most rate × (checkpoint_ms + flush + one FUA write) + what is in flight.
 *
 * One function does the work: call spate_recorder_work() in a loop. It never waits for data, only for the handful of
 * metadata commands around a clip's beginning and end, and while it waits for those all streams keep flowing.
 *
 * Everything here is used from one thread.
 */
#ifndef SPATE_RECORDER_H
#define SPATE_RECORDER_H

#include <spate/block.h>
#include <spate/exfat.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPATE_STREAMS_MAX             8u
#define SPATE_RECORDER_PATH_BYTES_MAX 512u

struct spate_stream;
struct spate_recorder;

/* What happened to a stream. */
enum spate_event {
  SPATE_EVENT_CLIP_CLOSED,    /* value: bytes in the file, all durable; at least one */
  SPATE_EVENT_ROLLED_OVER,    /* the stream continued in the next clip, because the reservation was used up or an
                                 error ended the clip; value: bytes of the clip that was left. Its CLIP_CLOSED or
                                 CLIP_DISCARDED follows */
  SPATE_EVENT_VOLUME_ENDS,    /* no free run is as long as a sixteenth of what spate_stream_roll_over() asks for: there
                                 is no next clip; value: bytes left in the current one */
  SPATE_EVENT_FRAGMENTED,     /* no free run is as long as that: the next clip got the longest; value: its bytes */
  SPATE_EVENT_LOST,           /* value: bytes pushed and not in any file (media error, drive power loss) */
  SPATE_EVENT_OVERRUN,        /* the source had no room; value: bytes it reported */
  SPATE_EVENT_ERROR,          /* there is no next clip, for another reason than space, and no bytes were lost; value:
                                 the error, enum spate_error */
  SPATE_EVENT_PRESSURE,       /* the level of stream->pressure changed; value: the new one, enum spate_level */
  SPATE_EVENT_HEAT,           /* the level of recorder->heat changed; value: the new one. To each stream */
  SPATE_EVENT_CLIP_DISCARDED, /* the clip ended without a byte in its file, because it was not used or all its bytes
                                 were lost: the file was deleted; value: 0 */
  SPATE_EVENT_POWER_UNKNOWN,  /* the drive was reset, and nothing shows whether it lost power. Value: bytes in the file
                                 that the drive had completed and not flushed. If it lost power, these bytes are
                                 wrong. A stream with config.retain writes them again and gets no event. If a loss
                                 of power is established later, LOST counts them, too */
};

/* How soon something has to be done. A level rises at once. It falls when nothing has called for it for a while: one
 * second for a ring, eight for heat. */
enum spate_level {
  SPATE_LEVEL_CALM,
  SPATE_LEVEL_WATCH,    /* the drive is slower than the source, or warms up towards its limit */
  SPATE_LEVEL_SLOW,     /* slow the source down now, and nothing will be lost */
  SPATE_LEVEL_CRITICAL, /* data are about to be lost or the drive is about to throttle, if not already */
};

#define SPATE_WATCH_MS 64u
#define SPATE_NEVER_MS UINT32_MAX
/* Data requests by their latency. Count 0: at most 2^-16 s (15 µs); each next one: at most twice as long; the last but
 * one: at most 4 s; the last: all others. Clocks below 1 MHz make the first bounds inexact. */
#define SPATE_LATENCY_COUNTS 20u

/*
 * How long a stream's ring lasts, from what happened in the last SPATE_WATCH_MS. Updated four times in that time.
 *
 * A source that becomes slower than the drive within config.slow_ms of SLOW loses nothing, if its ring has room for
 * (in - out) × (slow_ms + 100 ms) and an eighth more, and for what comes in during a checkpoint's flush.
 *
 * Growth that takes more than a second to fill a ring of 64 pieces or more cannot be distinguished from jitter of the
 * source and the drive; flushes do not count. SLOW then comes when a quarter of the ring is left at the latest. A ring
 * that was less than an eighth full at any time of the last SPATE_WATCH_MS is never under pressure, so a source may
 * push in bursts. The stall of a checkpoint's flush causes no SLOW for 125 ms, as long as a quarter of the ring stays
 * free.
 *
 * With stream config.retain, memory that waits for a flush is not room in the ring.
 *
 * A source that has all its data already, and pushes until it gets FULL, keeps the ring full. It gets CRITICAL once,
 * loses nothing, and may ignore it.
 */
struct spate_pressure {
  enum spate_level level;
  uint32_t left_ms; /* until the ring overruns at the present rates, with one flush as long as the last one;
                       SPATE_NEVER_MS: the ring is not filling up */
  uint64_t in_bytes_per_s, out_bytes_per_s;  /* pushed; completed */
  uint32_t room_pieces;                      /* at the last update; the most ever held: counters.pieces_high_water */
  uint64_t latency_ticks, latency_ticks_max; /* of a data request, as exact as a turn of spate_recorder_work(): mean of
                                                about the last sixteen; the longest so far */
  uint64_t latency_ticks_sum;                /* of all */
  uint64_t latency_counts[SPATE_LATENCY_COUNTS];
};

/*
 * The drive's heat, from the temperatures given to spate_recorder_temperature(). WATCH: the warning temperature is less
 * than three minutes away. SLOW: it is less than 30 s away, or reached. CRITICAL: the critical temperature is reached.
 * A rise is seen from its second degree on. Drives round to whole degrees, so a level that a limit raised stays until
 * the temperature is two degrees below the limit.
 */
struct spate_heat {
  enum spate_level level;
  int16_t celsius, warning_celsius, critical_celsius; /* limits 0: not known */
  uint32_t left_ms; /* until the warning temperature at the present rise; SPATE_NEVER_MS: it is not rising */
};

#define SPATE_WATCH_STEPS 4u

/* State of recorder/watch.c, from which the levels are computed: one of the steps. Private. */
struct spate_watch_step {
  uint64_t in_bytes, out_bytes;
  uint32_t out_pieces, held_pieces_min;
  int32_t grown_pieces; /* held at the end and not at the beginning */
};

/* The same for a stream. */
struct spate_stream_watch {
  struct spate_watch_step steps[SPATE_WATCH_STEPS];
  uint64_t in_bytes, out_bytes, overrun_bytes; /* counters at the last step */
  uint32_t held_pieces, completed_pieces;      /* then */
  uint32_t held_pieces_min;                    /* since then */
  uint32_t retained_pieces;                    /* waiting for the last flush when it completed */
  uint8_t hold_steps[3];                       /* how long WATCH, SLOW, CRITICAL still hold */
  uint8_t reported;                            /* level of the last event */
};

/* The same for the recorder. */
struct spate_recorder_watch {
  uint64_t step_ticks, started_ticks;
  uint64_t flush_ticks, flush_age_ticks; /* duration of the last flush; of the present one so far */
  uint64_t latency_bound_ticks;          /* of the first of latency_counts */
  uint32_t step_units[SPATE_WATCH_STEPS];
  uint32_t units_per_s, ms_per_unit_q16; /* a unit: ticks >> unit_shift, some 30 to 60 µs */
  uint8_t unit_shift;
  uint8_t step;       /* to be filled next */
  uint8_t seen_steps; /* since a flush was last ignored, at most SPATE_WATCH_STEPS */
  bool flushing;      /* in the present step */
  bool leaving_out;   /* the present flush */
};

#define SPATE_HEAT_POINTS 5u

/* State of recorder/heat.c. Private. */
struct spate_heat_watch {
  struct {
    uint64_t ticks;
    int16_t celsius;
  } points[SPATE_HEAT_POINTS]; /* when a temperature higher than any before it was first seen; newest first */
  uint64_t sampled_ticks;      /* the last sample that was checked for a rise */
  uint64_t hold_ticks[3];      /* until when WATCH, SLOW, CRITICAL hold */
  int16_t highest_celsius;
  uint8_t point_count;
  uint8_t reported; /* level of the last event */
  bool begun;
};

/* How the recorder works, and whom it tells. */
struct spate_recorder_config {
  uint32_t checkpoint_ms; /* 0 = 500 */
  uint16_t depth;         /* data requests in flight over all streams, ≥ 1; 0 = what the device has, less 4 */
  uint32_t slow_ms;       /* how long a source needs to slow down: SLOW comes at least so much ahead; 0 = 250 */
  /* May be NULL. Called from spate_recorder_work() only. (stream->pressure is also updated while metadata operations
   * wait.) */
  void (*event)(void *context, struct spate_stream *stream, enum spate_event event, uint64_t value);
  /* May be NULL. Called repeatedly while a metadata operation waits, so that the processor can push what the source
   * filled meanwhile. May call spate_stream_push() and spate_stream_overrun() only. */
  void (*while_waiting)(void *context);
  void *context;
};

/* One pushed piece. Private; an array of them is the caller's. */
struct spate_piece {
  struct spate_io io;
  struct spate_stream *stream;
  struct spate_stream_clip *clip;
  uint64_t submitted_ticks;
  uint32_t bytes;
  uint32_t mark; /* spate_block_power_mark() of the device when it was submitted */
  uint8_t state;
};

/* Where a stream's data come from. The region and the pieces are the caller's, and stay in place until the recorder is
 * closed. */
struct spate_stream_config {
  const struct spate_region *region;
  struct spate_piece *pieces; /* as many as pieces can be pushed and not yet released */
  uint32_t piece_count;       /* a power of two, ≥ 2 */
  bool cpu_filled;            /* the CPU writes the data: see SPATE_IO_CPU */
  bool retain; /* release only pieces that are flushed, so that nothing is lost when the drive loses power during a
                  clip: the ring must hold rate × (checkpoint_ms + flush). Not for logic that streams without memory
                  (spate/gateware.h), because its data cannot be written a second time */
  /* Bytes of a chunk, for a stream of chunks (spate/chunk.h); 0: it is none. Every piece but a clip's last has this
   * many bytes, a multiple of the logical block. A chunk's number is how many pieces were pushed before it since
   * spate_stream_open(). */
  uint32_t chunk_bytes;
  uint8_t chunk_stream[16]; /* the stream's identity, not used before on this volume */
};

/* Progress of a clip, counted from its start: published ≤ durable ≤ completed ≤ pushed. After the drive has lost its
 * power, pieces that are written again are not completed until they complete again. A tail (spate_stream_tail()) is
 * counted as durable and published before the piece that begins with it is pushed. */
struct spate_clip_progress {
  uint64_t pushed_bytes;
  uint64_t completed_bytes; /* contiguous from the start */
  uint64_t durable_bytes;   /* completed before a flush that has completed */
  uint64_t published_bytes; /* in the length that the volume has: what a power cut of the host leaves */
};

/* One file of a stream. Private. */
struct spate_stream_clip {
  struct spate_exfat_clip file;
  struct spate_stream *stream;
  struct spate_clip_progress progress;
  uint64_t cap_bytes;      /* if it is capped: the file ends there */
  uint64_t snapshot_bytes; /* completed_bytes when the checkpoint under way began; 0: it does not concern the clip */
  uint64_t tail_end_bytes; /* where the last tail ends that is on the media: spate_stream_tail(). 0: there is none */
  uint64_t doubted_bytes;  /* of the clip, up to which SPATE_EVENT_POWER_UNKNOWN has counted */
  uint32_t outstanding;    /* pieces pushed, not yet completed or given up */
  uint32_t order;          /* its age among the stream's clips */
  uint32_t end;            /* of its pieces, in the count of the stream; set when it ends */
  enum spate_error error;  /* why it was capped, or could not be closed */
  uint8_t state;
  bool capped;      /* the file ends at cap_bytes */
  bool last_pushed; /* no piece can follow, except on a tail */
  bool has_tail;    /* the next piece begins with what was given to spate_stream_tail() */
  bool unpublished; /* the last checkpoint could not publish its length */
  bool publishing;  /* its length is on its way to the volume */
  bool rolled;      /* left for the next clip: see SPATE_EVENT_ROLLED_OVER */
  char path[SPATE_RECORDER_PATH_BYTES_MAX];
};

/* Counters of a stream since spate_stream_open(). */
struct spate_stream_counters {
  uint64_t pushed_pieces;
  uint64_t pushed_bytes, completed_bytes, durable_bytes, lost_bytes, overrun_bytes;
  uint64_t unknown_bytes;     /* SPATE_EVENT_POWER_UNKNOWN */
  uint64_t data_requests;     /* submitted */
  uint32_t checkpoints;       /* published lengths */
  uint32_t ring_full;         /* pushes that got FULL */
  uint32_t pieces_high_water; /* most pieces pushed and not released at once */
  uint64_t gap_ticks_max;     /* longest time without a data completion while one was due */
};

/* A stream. It must not move until the recorder is closed. */
struct spate_stream {
  struct spate_stream_config config;
  struct spate_recorder *recorder;
  struct spate_stream_counters counters;
  struct spate_pressure pressure;
  enum spate_error error; /* the first since a clip was armed while the stream had none */
  /* private */
  struct spate_stream_clip clips[2];
  struct spate_stream_clip *current, *following; /* streamed into; armed next */
  struct spate_stream_clip *closed;              /* the last one that closed; NULL: none did */
  struct spate_io tail;                          /* the write of spate_stream_tail() */
  uint32_t tail_bytes, tail_mark;                /* of that write; spate_block_power_mark() when it was submitted */
  uint64_t next_bytes;                           /* spate_stream_roll_over(); 0: it is off */
  bool (*next_path)(void *context, struct spate_stream *stream, uint32_t part, char *path);
  void (*arm_next)(struct spate_stream *stream); /* NULL: roll-over was never on */
  /* Of a loop (spate/loop.h): a clip closed, perhaps with 0 bytes. NULL: there is none. */
  void (*clip_closed)(void *context, const struct spate_stream_clip *clip, uint64_t bytes);
  void *clip_closed_context;
  uint32_t pushed, next, completed, flushed; /* pieces, free-running: flushed ≤ completed ≤ next ≤ pushed */
  uint32_t flush_mark;                       /* `completed` when the flush under way was submitted */
  uint32_t part;                             /* number of the next automatic name */
  uint64_t last_completion_ticks;
  uint64_t event_lost_bytes, event_unknown_bytes, event_overrun_bytes;
  bool volume_ended;               /* there will be no next clip, because the volume is full or for another reason */
  bool cut_wanted;                 /* spate_stream_prepare_cut(): the next clip is armed as soon as possible */
  enum spate_error end_reason;     /* what push returns when there is no next clip */
  uint32_t arms;                   /* clips armed so far: gives each its age */
  uint32_t mark_seen, losses_seen; /* spate_block_power_mark() and power_losses of the device that were dealt with */
  char base_path[SPATE_RECORDER_PATH_BYTES_MAX];
  struct spate_stream_watch watch;
};

/* Counters of the recorder since spate_recorder_open(). */
struct spate_recorder_counters {
  uint64_t flushes;
  uint32_t checkpoint_failures;
  uint64_t checkpoint_ticks_max; /* longest from flush submitted to lengths durable */
};

/* A recorder. It must not move until it is closed. */
struct spate_recorder {
  struct spate_recorder_config config;
  struct spate_exfat *volume;
  struct spate_block *block;
  struct spate_recorder_counters counters;
  struct spate_heat heat;
  /* private */
  struct spate_stream *streams[SPATE_STREAMS_MAX];
  uint32_t stream_count;
  uint32_t turn; /* the stream that submits next */
  uint32_t in_flight;
  uint64_t now_ticks;     /* taken once a turn */
  enum spate_error error; /* to be returned by the next spate_recorder_work() */
  struct spate_io flush;
  uint64_t period_ticks, checkpoint_started_ticks;
  uint32_t mark_at_flush;
  uint8_t checkpoint;
  struct spate_recorder_watch watch;
  struct spate_heat_watch heat_watch;
};

/* ---- set up ---- */

/* `volume` stays mounted until spate_recorder_close(). The recorder takes the volume's turns
 * (spate_exfat_take_turns()). Errors: NOT_MOUNTED, OPEN (they are another's: the device has a recorder already), CLOCK.
 */
SPATE_MUST_CHECK enum spate_error spate_recorder_open(struct spate_recorder *recorder, struct spate_exfat *volume,
                                                      const struct spate_recorder_config *config);

/* End the recorder's turns. OK if the recorder is closed already, or its volume is no longer mounted. Errors: BUSY (a
 * stream has a clip, or a checkpoint is under way; spate_recorder_finish() waits for both), IN_USE (a clip could not be
 * closed: keep the memory of the stream valid until the volume is abandoned; see there). */
SPATE_MUST_CHECK enum spate_error spate_recorder_close(struct spate_recorder *recorder);

/* Add a stream with its own files. Errors: FULL (there are SPATE_STREAMS_MAX streams), INVALID (no region or no pieces;
 * their number is not a power of two, or 1; chunk_bytes is not a multiple of the logical block; or retain with a region
 * that is not memory), OPEN (the stream is open already, or another stream uses its pieces), STATE (the recorder is not
 * open). */
SPATE_MUST_CHECK enum spate_error spate_stream_open(struct spate_recorder *recorder, struct spate_stream *stream,
                                                    const struct spate_stream_config *config);

/* ---- a clip ---- */

/*
 * Create the file and reserve `bytes` for it (0: the longest free run, divided by the number of streams that have no
 * clip yet, this one included). With a clip already streaming this arms the next one: pushes go there after
 * spate_stream_cut(), or when the current reservation ends. Waits for metadata. Errors: STATE (two are armed already,
 * or the recorder is closed), NAME_LONG (also a path of SPATE_RECORDER_PATH_BYTES_MAX or more), and those of
 * spate_exfat_arm().
 */
SPATE_MUST_CHECK enum spate_error spate_stream_arm(struct spate_stream *stream, const char *path, uint64_t bytes);

/* Would spate_stream_arm() accept a clip now? Errors: BUSY (two are armed, or the one before is being closed), STATE
 * (the recorder is closed), and, if a clip could not be closed and there will be no room for another one, those of
 * spate_exfat_close(). */
SPATE_MUST_CHECK enum spate_error spate_stream_can_arm(const struct spate_stream *stream);

/*
 * The memory at `offset_bytes` (a multiple of 4; with cpu_filled of SPATE_DMA_ALIGN) of the stream's region holds the
 * next `bytes` of the clip: whole logical blocks, at most block->request_blocks_max, or what
 * spate/block.h says of an offset that is no multiple of a block. Only a clip's last piece may end within a block, or
 * be shorter than chunk_bytes. A block that it ends within is written whole, as it is in memory. Never waits, and
 * submits nothing: spate_recorder_work() does.
 *
 * Errors: FULL (all pieces are in use, or the next clip is still being armed; try again after spate_recorder_work()),
 * INVALID (offset or length; longer than a chunk), STATE (no clip is armed, or the clip's last piece was pushed
 * already), RESERVATION (the reservation is used up, and there is no next clip, or it is shorter than this piece).
 * NO_SPACE, NAMES, MEMORY: the reservation is used up, and there is no next clip because the volume is full, there is
 * no name for it, or the volume's cache has no block for it. Those of spate_exfat_arm() and those of
 * spate_exfat_close() prevented the next clip from being armed, or the previous one from being closed; errors of the
 * device may also have ended this clip. After an error the source keeps the data, or reports them as an overrun.
 */
SPATE_MUST_CHECK enum spate_error spate_stream_push(struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes);

/*
 * For a source that is slower than a logical block a second: makes durable what it has, before it is enough for a
 * piece. The memory at `offset_bytes` (as for spate_stream_push()) holds `bytes`, a page at most, with which the next
 * pieces will begin, from wherever they are pushed. They are written now, and published by the next checkpoint. The
 * memory stays as it is until pieces or tails are accepted again. Call it each second until the bytes are published,
 * and when there are more: each time is a write of their blocks, a flush and a write of the length. After a loss of the
 * drive's power it has to be called again.
 *
 * If the clip ends now, its file has the bytes. If the next piece does not fit into the clip's reservation, it goes to
 * the next clip; when that has published them, the clip that was left ends before them.
 *
 * A power cut while the blocks are written again leaves what was published, because old and new data begin with the
 * same bytes. If such a write fails, the drive may have destroyed them: the clip ends before them, with the drive's
 * error.
 *
 * Never waits. Errors: FULL (pieces of the clip, or a tail, are not completed yet, a loss of power is not dealt with
 * yet, or the device has no room), STATE (there is no clip, its last piece was pushed, or it has failed), INVALID
 * (offset or length; a stream of chunks; logic without memory; or fewer bytes than before), RESERVATION (the clip has
 * no room for them), and those of the device.
 */
SPATE_MUST_CHECK enum spate_error spate_stream_tail(struct spate_stream *stream, uint64_t offset_bytes, uint32_t bytes);

/* The source dropped `bytes` because there was no room. They are counted and reported by an event. */
void spate_stream_overrun(struct spate_stream *stream, uint64_t bytes);

/* How many pieces may be pushed now. */
uint32_t spate_stream_room(const struct spate_stream *stream);

/* How many pieces were released since spate_stream_open(). The count wraps. */
uint32_t spate_stream_released(const struct spate_stream *stream);

/* The current clip ends with what was pushed, and the next push goes to the next clip. Errors: STATE (there is no
 * clip).
 */
SPATE_MUST_CHECK enum spate_error spate_stream_cut(struct spate_stream *stream);

/*
 * For a stream that rolls over and is to be cut at a given time: makes spate_recorder_work() arm the next clip now, and
 * not when half of the reservation is used. Call it until it returns OK, and cut then: no piece waits, because the next
 * clip has its file already. Never waits.
 *
 * Errors: BUSY (the next clip is not armed yet), STATE (there is no clip, or roll-over is off). If there will be no
 * next clip: RESERVATION, NO_SPACE, NAMES, MEMORY, those of spate_exfat_arm() and those of spate_exfat_close(), as
 * spate_stream_push() will return them at the end of this one.
 */
SPATE_MUST_CHECK enum spate_error spate_stream_prepare_cut(struct spate_stream *stream);

/* The path of the clip that closed last, valid until the stream's next clip is armed. Call it when
 * SPATE_EVENT_CLIP_CLOSED or SPATE_EVENT_CLIP_DISCARDED comes. NULL: none has closed. */
const char *spate_stream_closed_path(const struct spate_stream *stream);

/*
 * Roll over: before the current reservation ends, arm the next clip with `bytes`, and continue in it. The clips are
 * PATH, PATH_0002, _0003, …, and names that exist are skipped. With `bytes` 0 there will be no next clip, except one
 * that is armed already. May be called at any time, and ends no clip. If the recorder has found no room or no name for
 * the next clip, this call makes it try again. A program that does not call this is linked without the code for it.
 *
 * `next_path` may be NULL. It writes the path of part `part` (2, 3, …) instead, with a time stamp for instance, of at
 * most SPATE_RECORDER_PATH_BYTES_MAX with its NUL. False: there are no more parts. Called with recorder config.context,
 * from spate_recorder_work(), and may call functions of the volume: spate_exfat_mkdir() for the part's folder. If the
 * name exists it is called again with the next number, at most sixteen times; with the same number, if the free space
 * has changed meanwhile.
 */
void spate_stream_roll_over(struct spate_stream *stream, uint64_t bytes,
                            bool (*next_path)(void *context, struct spate_stream *stream, uint32_t part, char *path));

/* End the current clip, and the next one, too: a file without data is deleted. spate_recorder_work() closes them.
 * Errors: STATE (there is no clip). */
SPATE_MUST_CHECK enum spate_error spate_stream_stop(struct spate_stream *stream);

/*
 * The drive's temperature. Call this when a health log arrives (spate_nvme_health_start(), about every second). The
 * limits are the drive's own (spate_nvme_identity), 0 where it states none. The rise is extrapolated, so that the
 * levels come before the drive throttles. Some drives throttle up to five degrees below the warning temperature that
 * they state: give that temperature instead. While no log arrives the level stays as it was.
 */
void spate_recorder_temperature(struct spate_recorder *recorder, int16_t celsius, int16_t warning_celsius,
                                int16_t critical_celsius);

/* Does the stream still have a clip, armed, streaming or closing? */
bool spate_stream_active(const struct spate_stream *stream);

/* The path of the current clip, to which pushes go, valid until it is closed; NULL: there is none. */
const char *spate_stream_path(const struct spate_stream *stream);

/* Progress of that clip; zeros if there is none. */
struct spate_clip_progress spate_stream_progress(const struct spate_stream *stream);

/* How much of that clip's reservation nothing was pushed into yet; 0 if there is none. */
uint64_t spate_stream_left_bytes(const struct spate_stream *stream);

/* The sum of published_bytes over the stream's clips that are not closed yet. Their files keep at least this much after
 * a power cut of the host. The bytes of a clip that closes leave this sum, and come with SPATE_EVENT_CLIP_CLOSED. */
uint64_t spate_stream_published_bytes(const struct spate_stream *stream);

/* ---- report ---- */

#define SPATE_REPORT_BYTES_MAX 1408u

/*
 * Writes one line of text with the stream's counters and levels: "spate1", then blanks and key=value pairs, then a
 * newline and a zero byte. Values are decimal and have no blanks. Firmware prints the line on its UART, or sends it as
 * a datagram, about once a second; `spate monitor` shows it. Readers skip keys that they do not know. The keys and
 * their units: docs/use/monitor.md.
 *
 * `text` is the caller's. Returns the line's length without the zero byte; 0: the line needs more than `bytes`, and the
 * text is empty. SPATE_REPORT_BYTES_MAX are always enough.
 */
size_t spate_stream_report(const struct spate_stream *stream, char *text, size_t bytes);

/* ---- work ---- */

/* Reap completions, submit, checkpoint, roll over, close the clips that ended. Returns the first error that belongs to
 * no stream; errors of a stream are in stream->error. Errors: CLOCK (the board's clock ran backwards or wrapped; all
 * times are measured from then on), those of spate_exfat_close(), those of spate_exfat_discard(), and, from a
 * checkpoint, those of the device. */
SPATE_MUST_CHECK enum spate_error spate_recorder_work(struct spate_recorder *recorder);

/* Stop every stream, and work until all clips are closed. Returns the first error. Errors: those of
 * spate_recorder_work(), and stream->error of any stream: NAMES, MEMORY, those of spate_exfat_arm() and those of
 * spate_exfat_close(). */
SPATE_MUST_CHECK enum spate_error spate_recorder_finish(struct spate_recorder *recorder);

#ifdef __cplusplus
}
#endif
#endif
