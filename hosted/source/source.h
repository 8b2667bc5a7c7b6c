/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a recording comes from: slots of a ring in memory, filled one after the other, while the recorder writes those
 * that are full straight from there. A thread fills them, or another process does.
 *
 * One fills, one takes. `filled` and `released` count slots on and on; the slots between them are the taker's.
 *
 *   stream.c      standard input, a file, a FIFO
 *   synthetic.c   a sensor of chunks that prove themselves
 *   udp.c         datagrams
 *   ring.c        a ring that another process or logic fills (spate/ring.h)
 */
#ifndef SPATE_HOSTED_SOURCE_H
#define SPATE_HOSTED_SOURCE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SOURCE_SLOT_ALIGN 4096u

struct source_config {
  uint32_t slot_bytes; /* a power of two, ≥ 64 KiB; of ring: its own */
  uint32_t slots;      /* a power of two; of ring: its own, unless it is copied */
  uint64_t bytes;      /* to make at most; 0: until it ends by itself */
  double rate;         /* synthetic: bytes per second; 0: as fast as there is room */
  uint8_t stream[16];  /* synthetic: identity of its chunks */
  bool (*interrupted)(void);
};

struct source;

/* Each function but `open` may be NULL. */
struct source_kind {
  bool (*is)(const char *name);
  void (*open)(struct source *source);   /* ends the program if it cannot be */
  void (*memory)(struct source *source); /* maps the slots; NULL: they are memory of the recorder's */
  int (*start)(struct source *source);   /* before the thread; errno */
  void *(*run)(void *opaque);            /* the thread */
  void (*look)(struct source *source);   /* without a thread: brings `filled` and `ended` up to date */
  void (*release)(struct source *source);
  void (*close)(struct source *source);
};

extern const struct source_kind source_stream, source_synthetic, source_udp, source_ring;

struct source {
  struct source_config config;
  const struct source_kind *kind;
  const char *name;    /* as the user gave it: a path, "-", "synthetic", "udp:5000" or "ring:camera" */
  uint8_t *memory;     /* slots × slot_bytes, at a multiple of 4096 */
  uint32_t first_slot; /* where number 0 is: another recorder may have taken those before it */
  uint32_t *bytes;     /* in each slot that is filled: a multiple of 4096, but in the last of all */
  _Atomic uint64_t filled, released;
  _Atomic bool taker_sleeps, filler_sleeps; /* an event is a system call: it is raised for who sleeps */
  _Atomic uint64_t seen;                    /* the taker's: `filled` when it last looked */
  _Atomic uint64_t lost_bytes;              /* made, and without room: only of sources that cannot be held back */
  _Atomic uint64_t lost_datagrams;          /* udp: counted by the kernel */
  _Atomic bool stop;                        /* the taker's: end soon; what is filled is still taken */
  _Atomic bool abandoned;                   /* the taker's: nothing is taken any more */
  _Atomic bool ended; /* nothing is filled any more; then `error` says why, as errno, 0: it was at its end */
  int error;
  const char *why;              /* of `error`, a sentence; NULL: errno's own */
  int fd;                       /* of a file, a FIFO or a pipe; a socket */
  int filled_event, room_event; /* eventfds */
  pthread_t thread;
  bool started;
  bool threadless; /* another process fills the slots: `look` instead of `run` */
  void *own;       /* the kind's */
};

/* "-" is standard input, "synthetic" a sensor of chunks (spate/chunk.h), "udp:..." a socket, "ring:..." a ring of
 * another process; anything else is a file or a FIFO, which is opened here. Ends the program if it cannot be. */
void source_open(struct source *source, const char *name, const struct source_config *config);
/* Its slots, once the target is open, which says where memory comes from. A ring of another process is waited for, and
 * its config says then what it has. Ends the program if it cannot be had. */
void source_memory(struct source *source);
/* errno, 0: it has started. */
int source_start(struct source *source);
/* How many bytes will come at most, if that is known; 0: it is not. Of a file it is what it had when it was opened. */
uint64_t source_size(const struct source *source);

/* ---- the taker's ---- */

/* Where the slot of this number is. */
static inline uint32_t source_slot(const struct source *source, uint64_t number) {
  return ((uint32_t)number + source->first_slot) & (source->config.slots - 1u);
}
/* Slots that were filled, counted on and on. */
uint64_t source_filled(struct source *source);
/* Sleeps until a quarter of the ring was filled since this returned last, `other_fd` (−1: none) is readable, or
 * `limit_ms` passed; a millisecond where there is no thread that could wake it. */
void source_wait(struct source *source, int other_fd, int limit_ms);
/* Does nothing get lost when there is no room? A sensor with a rate cannot be held back. */
bool source_can_wait(const struct source *source);
/* Are three quarters of the ring free? */
bool source_has_room(const struct source *source);
void source_release(struct source *source, uint64_t released);
/* Nothing is taken any more: it ends, and what it had filled stays where it is. */
void source_join(struct source *source);
void source_close(struct source *source);

/* ---- for the threads ---- */

/* The next free slot, or NULL: there is none now, or with `wait` nothing is taken any more. */
uint8_t *source_claim(struct source *source, bool wait);
/* The slot that was claimed holds `bytes`. */
void source_publish(struct source *source, uint32_t bytes);

#endif
