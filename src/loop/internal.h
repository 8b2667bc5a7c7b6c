/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. Calls go down: loop (open, push, work), keep and span, list, part. */
#ifndef SPATE_LOOP_INTERNAL_H
#define SPATE_LOOP_INTERNAL_H

#include <spate/loop.h>
#include <string.h>

enum part_state {
  PART_ARMED,     /* the next one */
  PART_STREAMING, /* pushes go to it */
  PART_ENDING,    /* no more pushes; not closed yet */
  PART_CLOSED,
};

enum span_state {
  SPAN_NONE,
  SPAN_OPEN,  /* its end is still to come */
  SPAN_ENDED, /* its parts become a file */
};

#define LOOP_NUMBER_MAX 2000000000u /* of a part: one each second for 63 years */

static inline struct spate_exfat *loop_volume(const struct spate_loop *loop) {
  return loop->config.stream->recorder->volume;
}

/* ---- part.c: the parts in memory, by number ---- */

/* The path of part `number` in the loop's folder. spate_loop_open() has checked that it fits. */
void spate_loop_part_path(const struct spate_loop *loop, uint32_t number, char *path);
/* The number in the name of an entry of the loop's folder; 0: it is no part's name. */
uint32_t spate_loop_part_number(const struct spate_loop *loop, const char *name);
/* NULL: there is none. */
struct spate_loop_part *spate_loop_part_find(const struct spate_loop *loop, uint32_t number);
/* Put a part in its place. False: there is no room. */
bool spate_loop_part_add(struct spate_loop *loop, const struct spate_loop_part *part);
void spate_loop_part_drop(struct spate_loop *loop, uint32_t number);
/* Is this file what the loop made? */
bool spate_loop_part_is(const struct spate_loop_part *part, const struct spate_exfat_entry *entry);
/* Look the part up on the volume. OK and *is false: the file is gone, or another one, or no longer the loop's. */
enum spate_error spate_loop_part_look(const struct spate_loop *loop, const struct spate_loop_part *part,
                                      struct spate_exfat_entry *entry, bool *is);

/* At most a quarter of what a counter of ticks holds, so that times can be compared. */
uint64_t spate_loop_ticks(uint64_t ms);
/* Tell the program. */
void spate_loop_event(struct spate_loop *loop, enum spate_loop_event event, const char *path, uint64_t value);

/* ---- list.c: the list on the volume ---- */

/* Find the list or make it, and read its spans. */
enum spate_error spate_loop_list_open(struct spate_loop *loop);
/* The part of this number, if the list names one. */
enum spate_error spate_loop_list_look(struct spate_loop *loop, uint32_t number, struct spate_loop_part *part,
                                      bool *listed);
enum spate_error spate_loop_list_part(struct spate_loop *loop, const struct spate_loop_part *part);
enum spate_error spate_loop_list_span(struct spate_loop *loop, uint32_t index);

/* ---- keep.c: the next part, and the oldest ---- */

/* One step. *did: something was done. */
enum spate_error spate_loop_keep(struct spate_loop *loop, bool *did);
/* Delete the oldest part. BUSY: try it again. NO_SPACE: no part may be deleted. */
enum spate_error spate_loop_make_room(struct spate_loop *loop);

/* ---- span.c: what triggers keep ---- */

/* As spate_loop_trigger(), which has looked at the stream before. */
enum spate_error spate_loop_span_begin(struct spate_loop *loop, const char *path, uint64_t before_ms, uint64_t after_ms,
                                       bool *extended);

/* Does a span keep this part? */
bool spate_loop_span_has(const struct spate_loop *loop, uint32_t number);
/* The oldest part that no span keeps, and that is closed; NULL: there is none. */
const struct spate_loop_part *spate_loop_span_spares(const struct spate_loop *loop);
/* Ends the open span if its time is over. */
enum spate_error spate_loop_span_due(struct spate_loop *loop);
/* Is a next part still to come? It may need the room of one that is to be deleted, or is being closed. */
bool spate_loop_next_comes(const struct spate_loop *loop);
/* One step of the oldest span. NO_SPACE: the step is made again once there is room. */
enum spate_error spate_loop_span_work(struct spate_loop *loop, bool *did);
/* Data before the present part were lost: what an open span keeps is no file. */
void spate_loop_span_gap(struct spate_loop *loop);
/* Data of this part were lost. If all were, it has no file. */
void spate_loop_span_lost(struct spate_loop *loop, uint32_t number);
/* The stream has ended: so does an open span. */
enum spate_error spate_loop_span_end(struct spate_loop *loop);

#endif
