/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clip recorded from a source that does not wait, while the drive misbehaves. Afterwards a host that restarts reads
 * the file. Included by one test program each.
 */
#ifndef SPATE_TESTS_HOSTILE_CLIP_H
#define SPATE_TESTS_HOSTILE_CLIP_H

#include "hostile.h"
#include <spate/recorder.h>

#define PIECE_BYTES   16384u
#define PIECE_STRIDE  (UINT64_C(20) << 10) /* with a canary after each */
#define PIECES_MAX    512u
#define CLIP_NAME     "CLIP.RAW"
#define CLIP_RESERVED (UINT64_C(16) << 20)
#define END_MS_MAX    300000u
#define TURNS_MAX     3000000u

struct recording {
  struct sim_stack *stack;
  struct spate_exfat volume;
  struct spate_recorder recorder;
  struct spate_stream stream;
  struct spate_piece pieces[PIECES_MAX];
  struct spate_region *region;
  const char *name;                                                /* of the case */
  uint32_t piece_count;                                            /* of the ring */
  uint32_t piece_us;                                               /* the source's period for a piece */
  uint32_t produced;                                               /* pieces so far */
  uint32_t wanted;                                                 /* then the source stops */
  uint64_t due_ps;                                                 /* of the next one */
  uint64_t pushed_bytes;                                           /* accepted by the recorder */
  enum spate_error ended;                                          /* the recorder's error when it accepted no more */
  uint64_t lost_bytes, unknown_bytes, overrun_bytes, closed_bytes; /* reported by events */
  unsigned closed, errors;
  uint64_t start_ms;
  unsigned turns;
};

static struct recording recording;

static inline void on_event(void *context, struct spate_stream *stream, enum spate_event event, uint64_t value) {
  struct recording *r = context;
  assert_ptr_equal(stream, &r->stream);
  if (event == SPATE_EVENT_LOST) r->lost_bytes += value;
  if (event == SPATE_EVENT_POWER_UNKNOWN) r->unknown_bytes += value;
  if (event == SPATE_EVENT_OVERRUN) r->overrun_bytes += value;
  if (event == SPATE_EVENT_ERROR) r->errors++;
  if (event != SPATE_EVENT_CLIP_CLOSED) return;
  r->closed++;
  r->closed_bytes = value;
}

static inline uint64_t content_of(uint32_t piece) { return UINT64_C(0x5eed0000) + piece; }

/* Push the pieces that are due. The source drops a piece if the ring is full, or if the clip has ended. */
static inline void produce(struct recording *r) {
  while (r->produced < r->wanted && sim_now_ps(r->stack->sim) >= r->due_ps && r->ended == SPATE_OK) {
    const uint64_t offset = r->produced % r->piece_count * PIECE_STRIDE;
    if (spate_stream_room(&r->stream) == 0) { /* the recorder still holds its memory */
      spate_stream_overrun(&r->stream, PIECE_BYTES);
      r->wanted--;
    } else {
      put_pattern(r->region->start + offset, PIECE_BYTES, content_of(r->produced));
      const enum spate_error error = spate_stream_push(&r->stream, offset, PIECE_BYTES);
      if (error == SPATE_OK) {
        r->produced++;
        r->pushed_bytes += PIECE_BYTES;
      } else if (error != SPATE_E_FULL) {
        r->ended = error;
      }
    }
    r->due_ps += r->piece_us * SIM_PS_PER_US;
  }
}

/* Also called while the recorder waits for metadata, so that a hang there is detected. */
static inline void still_alive(void *context) {
  struct recording *r = context;
  if (++r->turns > TURNS_MAX || now_ms(r->stack) - r->start_ms > END_MS_MAX) fail_msg("%s: does not end", r->name);
  produce(r);
}

/* Largest transfer of the drive's commands, as a power of two of pages; 0: what its profile says. */
#define IDENTIFY_MDTS 77u
static uint8_t recording_mdts;

/* Machine, drive, empty volume, recorder and stream. */
static inline void recording_begin(const char *name, const struct sim_stack_config *config, uint32_t piece_count,
                                   uint32_t piece_us, bool retain) {
  struct recording *r = &recording;
  memset(r, 0, sizeof *r);
  *r = (struct recording){.name = name, .piece_count = piece_count, .piece_us = piece_us};
  r->stack = sim_stack_new(config);
  if (recording_mdts > 0) sim_drive_identify_controller(r->stack->drives[0].drive)[IDENTIFY_MDTS] = recording_mdts;
  assert_int_equal(sim_stack_open(r->stack), SPATE_OK);
  struct spate_exfat_config volume = sim_stack_exfat(r->stack);
  const struct spate_exfat_format format = {.label = "HOSTILE", .serial = 1};
  assert_int_equal(spate_exfat_format(&volume, &format), SPATE_OK);
  assert_int_equal(spate_exfat_mount(&r->volume, &volume, NULL), SPATE_OK);
  const struct spate_recorder_config recorder = {
      .checkpoint_ms = 20, .event = on_event, .while_waiting = still_alive, .context = r};
  assert_int_equal(spate_recorder_open(&r->recorder, &r->volume, &recorder), SPATE_OK);
  r->region = sim_stack_region(r->stack, piece_count * PIECE_STRIDE, SIM_LOGIC);
  put_canary(r->region->start, piece_count * PIECE_STRIDE);
  const struct spate_stream_config stream = {
      .region = r->region, .pieces = r->pieces, .piece_count = piece_count, .retain = retain};
  assert_int_equal(spate_stream_open(&r->recorder, &r->stream, &stream), SPATE_OK);
  r->start_ms = now_ms(r->stack);
}

static inline enum spate_error recording_arm(void) {
  return spate_stream_arm(&recording.stream, CLIP_NAME, CLIP_RESERVED);
}

/* Record until `pieces` pieces were produced in all. Returns the first error of work(); recording continues after it.
 */
static inline enum spate_error recording_stream(uint32_t wanted) {
  struct recording *r = &recording;
  enum spate_error first = SPATE_OK;
  r->wanted = wanted;
  /* the source's time starts here, and continues whatever happens */
  if (r->due_ps == 0) r->due_ps = sim_now_ps(r->stack->sim);
  while (r->produced < r->wanted && r->ended == SPATE_OK) {
    still_alive(r);
    const enum spate_error error = spate_recorder_work(&r->recorder);
    if (first == SPATE_OK) first = error;
  }
  return first;
}

static inline enum spate_error recording_finish(void) { return spate_recorder_finish(&recording.recorder); }

static inline void check_ring(void) {
  const struct recording *r = &recording;
  for (uint32_t i = 0; i < r->piece_count; i++)
    check_canary(r->region->start + i * PIECE_STRIDE + PIECE_BYTES, PIECE_STRIDE - PIECE_BYTES, r->name);
}

/* The drive is brought back if it was gone, and the host restarts and mounts. Returns the file's length, after a
 * comparison of its whole contents; 0: no file, or an empty one. */
static inline uint64_t recording_read_back(void) {
  static uint8_t wanted[PIECE_BYTES], got[PIECE_BYTES];
  struct recording *r = &recording;
  static struct spate_exfat volume;
  struct spate_exfat_file file;
  for (unsigned i = 0; i < r->stack->config.drives; i++) {
    struct sim_stack_drive *drive = &r->stack->drives[i];
    sim_drive_clear_faults(drive->drive);
    if (drive->nvme.state == SPATE_NVME_DEAD) sim_drive_link_drop(drive->drive, 1);
  }
  sim_spend(r->stack->sim, 10000 * SIM_PS_PER_MS);
  sim_stack_restart(r->stack);
  assert_int_equal(sim_stack_open(r->stack), SPATE_OK);
  struct spate_exfat_config config = sim_stack_exfat(r->stack);
  const enum spate_error mounted = spate_exfat_mount(&volume, &config, NULL);
  if (mounted != SPATE_OK) fail_msg("%s: mount gives %s", r->name, spate_error_name(mounted));
  const enum spate_error error = spate_exfat_open(&volume, CLIP_NAME, &file);
  if (error == SPATE_E_NOT_FOUND) return 0;
  if (error != SPATE_OK) fail_msg("%s: reading the file fails with %s", r->name, spate_error_name(error));
  assert_int_equal(file.bytes, file.valid_bytes);
  for (uint64_t at = 0; at < file.bytes; at += PIECE_BYTES) {
    size_t read = 0;
    assert_int_equal(spate_exfat_read(&file, at, got, PIECE_BYTES, &read), SPATE_OK);
    put_pattern(wanted, PIECE_BYTES, content_of((uint32_t)(at / PIECE_BYTES)));
    if (memcmp(wanted, got, read) != 0)
      fail_msg("%s: foreign bytes in the file at %llu of %llu", r->name, (unsigned long long)at,
               (unsigned long long)file.bytes);
  }
  assert_int_equal(spate_exfat_unmount(&volume), SPATE_OK);
  return file.bytes;
}

/* Everything that was pushed is in the file, and all that the source had was pushed. */
static inline void expect_nothing_lost(uint32_t pieces) {
  struct recording *r = &recording;
  assert_int_equal(r->ended, SPATE_OK);
  assert_int_equal(r->produced, pieces);
  assert_int_equal(r->overrun_bytes, 0);
  assert_int_equal(r->lost_bytes, 0);
  assert_int_equal(r->errors, 0);
  assert_int_equal(r->closed, 1);
  assert_int_equal(r->closed_bytes, pieces * PIECE_BYTES);
  assert_int_equal(recording_read_back(), pieces * PIECE_BYTES);
}

static inline void recording_end(void) {
  check_ring();
  no_violations(recording.stack, recording.name);
  sim_stack_free(recording.stack);
  hostile_cases++;
}

#endif
