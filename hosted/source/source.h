/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a recording comes from: a thread that fills the slots of a ring in memory, one after the other, while the
 * recorder writes those that are full straight from there.
 *
 * One thread fills, one takes. `filled` and `released` count slots on and on; the slots between them are the taker's.
 */
#ifndef SPATE_HOSTED_SOURCE_H
#define SPATE_HOSTED_SOURCE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SOURCE_SLOT_ALIGN 4096u

struct source_config {
  uint32_t slot_bytes; /* a power of two, ≥ 64 KiB */
  uint32_t slots;      /* a power of two */
  uint64_t bytes;      /* to make at most; 0: until it ends by itself */
  double rate;         /* synthetic: bytes per second; 0: as fast as there is room */
  uint8_t stream[16];  /* synthetic: identity of its chunks */
};

struct source {
  struct source_config config;
  const char *name; /* as the user gave it: a path, "-" or "synthetic" */
  uint8_t *memory;  /* slots × slot_bytes, at a multiple of 4096 */
  uint32_t *bytes;  /* in each slot that is filled: a multiple of 4096, but in the last of all */
  _Atomic uint64_t filled, released;
  _Atomic bool taker_sleeps, filler_sleeps; /* an event is a system call: it is raised for who sleeps */
  _Atomic uint64_t seen;                    /* the taker's: `filled` when it last looked */
  _Atomic uint64_t lost_bytes;              /* made, and without room: only of sources that cannot be held back */
  _Atomic bool stop;                        /* the taker's: end soon; what is filled is still taken */
  _Atomic bool abandoned;                   /* the taker's: nothing is taken any more */
  _Atomic bool ended; /* nothing is filled any more; then `error` says why, as errno, 0: it was at its end */
  int error;
  int fd;                       /* of a file, a FIFO or a pipe */
  int filled_event, room_event; /* eventfds */
  pthread_t thread;
  bool started;
};

/* "-" is standard input, "synthetic" a sensor of chunks (spate/chunk.h); anything else is a file or a FIFO, which is
 * opened here. Ends the program if it cannot be. */
void source_open(struct source *source, const char *name, const struct source_config *config);
/* Its slots, once the target is open, which says where memory comes from. Given back with the target. */
void source_memory(struct source *source);
/* errno, 0: it has started. */
int source_start(struct source *source);
/* How many bytes will come at most, if that is known; 0: it is not. Of a file it is what it had when it was opened. */
uint64_t source_size(const struct source *source);

/* ---- the taker's ---- */

/* Sleeps until a quarter of the ring was filled since this returned last, `other_fd` (−1: none) is readable, or
 * `limit_ms` passed. */
void source_wait(struct source *source, int other_fd, int limit_ms);
/* Does nothing get lost when there is no room? A sensor with a rate cannot be held back. */
bool source_can_wait(const struct source *source);
/* Are three quarters of the ring free? */
bool source_has_room(const struct source *source);
void source_release(struct source *source, uint64_t released);
/* Nothing is taken any more: it ends, and what it had filled stays where it is. */
void source_join(struct source *source);
void source_close(struct source *source);

/* ---- for the threads: source/stream.c and source/synthetic.c ---- */

/* The next free slot, or NULL: there is none now, or with `wait` nothing is taken any more. */
uint8_t *source_claim(struct source *source, bool wait);
/* The slot that was claimed holds `bytes`. */
void source_publish(struct source *source, uint32_t bytes);
void *source_stream_run(void *opaque); /* a struct source */
void *source_synthetic_run(void *opaque);

#endif
