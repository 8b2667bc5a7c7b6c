/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of a recording: a ring of slots in memory. A thread or another process fills the slots in order. The
 * recorder writes full slots straight from the ring.
 *
 * There is one filler and one taker. `filled` and `released` count slots and never wrap; the slots between them belong
 * to the taker.
 *
 *   file.c        a file, also as standard input
 *   stream.c      a pipe, a FIFO, a device
 *   synthetic.c   a simulated sensor, which sends chunks with a CRC (spate/chunk.h)
 *   udp.c         datagrams
 *   ring.c        a ring that another process or logic fills (spate/ring.h)
 *
 *   source.c      chooses one of these, and owns its memory and its thread
 *   slots.c       passes the slots from the filler to the taker
 */
#ifndef SPATE_COMMAND_SOURCE_H
#define SPATE_COMMAND_SOURCE_H

#include "../memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SOURCE_SLOT_ALIGN 4096u

struct source_config {
  uint32_t slot_bytes; /* a power of two, ≥ 64 KiB; ring: set by the ring */
  uint32_t slots;      /* a power of two; ring: set by the ring, unless it is copied */
  uint64_t bytes;      /* the limit; 0: until the source ends */
  double rate;         /* synthetic: bytes per second; 0: as fast as the ring becomes free */
  uint8_t stream[16];  /* synthetic: the stream's identity in its chunks */
  bool (*interrupted)(void);
};

struct source;

/* All functions but `is` and `open` may be NULL. */
struct source_kind {
  bool (*is)(const char *name);
  void (*open)(struct source *source);   /* ends the program on an error */
  void (*memory)(struct source *source); /* maps the slots; NULL: the recorder allocates them */
  int (*start)(struct source *source);   /* called before the thread starts; 0 or an errno value */
  void *(*run)(void *opaque);            /* the thread */
  void (*look)(struct source *source);   /* without a thread: updates `filled` and `ended` */
  void (*release)(struct source *source);
  void (*close)(struct source *source);
  bool cuts; /* the thread looks at cut_asked, through filling_hand_over() */
};

extern const struct source_kind source_file, source_stream, source_synthetic, source_udp, source_ring;

struct source {
  struct source_config config;
  const struct source_kind *kind;
  const char *name;                   /* as the user gave it: a path, "-", "synthetic", "udp:5000" or "ring:camera" */
  const struct memory_supply *supply; /* of the slots: source_memory() */
  uint8_t *memory;                    /* slots × slot_bytes, at a multiple of 4096 */
  uint32_t first_slot;                /* the index of slot number 0; not 0 if another recorder has taken slots before */
  uint32_t *bytes; /* in each filled slot: a multiple of 4096, except in the last one before a cut or the end */
  _Atomic uint64_t filled, released;
  _Atomic bool taker_sleeps, filler_sleeps; /* raising an event is a system call, made only for a sleeping thread */
  _Atomic uint64_t seen;                    /* set by the taker: `filled` when it last looked */
  _Atomic uint64_t tail;                    /* what is in the next slot before it is filled: SOURCE_TAIL() */
  _Atomic bool cut_asked;                   /* set by the taker: source_cut() */
  uint64_t cut_slot;                        /* the answer, when cut_asked is false again */
  _Atomic uint64_t lost_bytes;              /* lost because the ring was full, by sources that cannot wait */
  _Atomic uint64_t lost_datagrams;          /* udp: counted by the kernel */
  _Atomic bool stop;                        /* set by the taker: end soon; filled slots are still taken */
  _Atomic bool abandoned;                   /* set by the taker: no more slots are taken */
  _Atomic bool ended; /* no more slots will be filled; `error` is 0 at the normal end, otherwise an errno value */
  uint64_t first_ns, last_ns; /* udp, after the end: when the first and the last datagram arrived, since 1970 */
  int error;
  const char *why;              /* the message for `error`; NULL: that of errno */
  int fd;                       /* of a file, a FIFO or a pipe; a socket */
  int filled_event, room_event; /* eventfds */
  pthread_t thread;
  bool started;
  bool threadless; /* another process fills the slots: `look` instead of `run` */
  void *own;       /* private data of the kind */
};

/* "-" is standard input, "synthetic" a simulated sensor, "udp:..." a socket, "ring:..." a ring of another process;
 * anything else is a file or a FIFO. Ends the program if it cannot be opened. */
void source_open(struct source *source, const char *name, const struct source_config *config);
/* Allocates or maps the slots in the target's memory, which must outlive the source. Waits for a ring of another
 * process, and takes its sizes into config. Ends the program on an error. */
void source_memory(struct source *source, const struct memory_supply *supply);
/* Returns 0 or an errno value. */
int source_start(struct source *source);
/* How many bytes will come at most; 0: not known. For a file, its size when it was opened. */
uint64_t source_size(const struct source *source);

/* ---- for the taker ---- */

/* The index of the slot of this number. */
static inline uint32_t source_slot(const struct source *source, uint64_t number) {
  return ((uint32_t)number + source->first_slot) & (source->config.slots - 1u);
}
/* The low half of the number of the slot that is being filled, and how many bytes it has so far. They do not change. */
#define SOURCE_TAIL(number, bytes) ((uint64_t)(uint32_t)(number) << 32 | (bytes))
/* How many bytes the slot of this number has before it is filled; 0: not known. */
static inline uint32_t source_tail_bytes(const struct source *source, uint64_t number) {
  const uint64_t tail = atomic_load(&source->tail);

  return (uint32_t)(tail >> 32) == (uint32_t)number ? (uint32_t)tail : 0;
}
/* How many slots were filled since the beginning. */
uint64_t source_filled(struct source *source);
/* Sleeps until a quarter of the ring was filled since the last call, `other_fd` (−1: none) is readable, or `limit_ms`
 * is over. Without a thread that could wake it, it sleeps for a millisecond at most. */
void source_wait(struct source *source, int other_fd, int limit_ms);
/* True if the source loses nothing while the ring is full. A sensor with a rate cannot wait. */
bool source_can_wait(const struct source *source);
/* True if three quarters of the ring are free. */
bool source_has_room(const struct source *source);
void source_release(struct source *source, uint64_t released);
/* Asks for a cut: what has come by now is the part that ends, also the data of a slot that is not full. Other sources
 * than pipes and sockets hand whole slots over. */
void source_cut(struct source *source);
/* The same where the taker knows it already: the slot of this number is filled, or was not told of. */
void source_cut_at(struct source *source, uint64_t slot);
/* True: the next part begins with the slot of this number. False: the source has not said yet. */
bool source_cut_slot(const struct source *source, uint64_t *slot);
/* Ends the source: no more slots are taken. The filled slots stay in the ring. */
void source_join(struct source *source);
void source_close(struct source *source);

/* ---- for the filler ---- */

/* Returns the next free slot. NULL: there is none now; with `wait`, no more slots are taken. */
uint8_t *source_claim(struct source *source, bool wait);
/* How many free slots follow each other in memory, from the next one on. */
uint32_t source_free_slots(const struct source *source);
/* Hands the claimed slot, which holds `bytes`, to the taker. */
void source_publish(struct source *source, uint32_t bytes);

#endif
