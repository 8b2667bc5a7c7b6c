/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a drive's medium is at the moment: SLC cache, folding, direct writes, garbage collection, pauses, heat. It
 * knows nothing of contents or commands: bytes and times go in, times come out. A fluid model, advanced from call to
 * call; deterministic.
 *
 *      room in the SLC cache               SLC          slc_rate
 *      cache used up                       FOLDING      fold_rate, for fold_bytes of the host's
 *      after that                          DIRECT       direct_rate
 *      overwriting a drive that is full    COLLECTING   full_rate
 *
 * The SLC cache takes free blocks, three times its own size, down to a part that is always there: it is slc_bytes large
 * as long as the free space allows, and slc_full_bytes on a full drive. Idle time folds it empty again, but not on a
 * full drive; trimming empties it too. Heat multiplies every rate. Reads and writes do not slow each other: the figures
 * show no loss where they alternate.
 */
#ifndef SPATE_SIM_MEDIA_H
#define SPATE_SIM_MEDIA_H

#include "profile.h"

enum sim_media_state { SIM_MEDIA_SLC, SIM_MEDIA_FOLDING, SIM_MEDIA_DIRECT, SIM_MEDIA_COLLECTING };

/* More than this share written and not trimmed: there are no free blocks but the spare ones. */
#define SIM_MEDIA_FULL 0.95

struct sim_media {
  const struct sim_profile *profile;
  uint64_t mapped_bytes; /* written and not trimmed */
  double slc_used_bytes;
  double folded_bytes;   /* host bytes since the cache ran out */
  double buffered_bytes; /* in the volatile cache or in front of it, on the way to the medium */
  double temperature_c;
  double pause_left_bytes; /* to the next pause */
  uint64_t pause_until_ps;
  uint64_t idle_since_ps; /* when the buffer was last empty of writes */
  uint64_t now_ps;        /* up to which all of this holds */
  uint64_t read_free_ps;
  enum sim_media_state state;
  bool overwriting; /* what is written now goes where something was */
  bool throttled;
  uint64_t throttled_ps; /* how long in all */
};

/* A drive at rest at its idle temperature, with this share of its capacity written (0 … 1). */
void sim_media_init(struct sim_media *media, const struct sim_profile *profile, double filled);

/* Advance to `now_ps`: the buffer drains, the cache folds, heat flows. Never goes back. */
void sim_media_advance(struct sim_media *media, uint64_t now_ps);

/* `bytes` of the host's have arrived at `at_ps`: when are they in the buffer? (The command's write_latency_ns comes on
 * top.) `fresh_bytes` of them go to places that held nothing: as many as there is room for. Calls come in the order of
 * at_ps. */
uint64_t sim_media_write(struct sim_media *media, uint64_t at_ps, uint64_t bytes, uint64_t fresh_bytes);

/* `bytes` asked for at `at_ps`: when can the last of them leave the drive? read_latency_ns is part of it. */
uint64_t sim_media_read(struct sim_media *media, uint64_t at_ps, uint64_t bytes);

/*
 * When is everything on the medium that was handed over before `at_ps`? The medium writes the drive's own tables first,
 * flush_ns long, and takes no data meanwhile; the buffer does as long as it has room. Without a volatile cache there is
 * nothing to do.
 */
uint64_t sim_media_flush(struct sim_media *media, uint64_t at_ps);

/* `mapped_bytes` of what was written are so no more. */
void sim_media_trim(struct sim_media *media, uint64_t at_ps, uint64_t mapped_bytes);

/* Bytes per second that the medium takes just now, heat included; 0 in a pause. */
double sim_media_write_rate(const struct sim_media *media);

/*
 * What a stream of `rate` bytes per second meets on this drive, without simulating commands: the level in the host's
 * ring over time, in pieces that are pushed when they are complete and released when they are in the drive's buffer.
 * For planning; tests/lab/simulated/test_plan_recorder.c checks it against the whole simulation.
 */
struct sim_media_stream {
  double filled;          /* share of the drive that was written before */
  double rate;            /* of the source */
  double link_rate;       /* the most that reaches the drive */
  uint64_t bytes;         /* that are recorded; > 0 */
  uint64_t ring_bytes;    /* in the host */
  uint32_t piece_bytes;   /* of a request */
  uint32_t checkpoint_ms; /* a flush this often; 0: never */
};

struct sim_media_outlook {
  double sustained_s;         /* until the ring overruns; HUGE_VAL: not before all is written */
  uint64_t ring_needed_bytes; /* so that it never does */
  double worst_s;             /* when that much is needed ... */
  enum sim_media_state worst; /* ... and what the medium was doing */
  bool worst_paused, worst_throttled;
  bool falls_behind;  /* at the end the level still rose: the more is recorded, the more ring is needed */
  double edge_s;      /* when the SLC cache ran out; HUGE_VAL: never */
  double throttled_s; /* for so long in all */
  double temperature_max_c;
  uint64_t flush_ps_max;
};
void sim_media_outlook(struct sim_media_outlook *out, const struct sim_profile *profile,
                       const struct sim_media_stream *stream);

/*
 * Requests of `piece_bytes` in flight so that the drive is never without one while it goes as fast as it and the link
 * can: after each delay it has to catch up. `latency_ns` is the link's, one way.
 */
uint32_t sim_media_depth(const struct sim_profile *profile, double link_rate, uint32_t latency_ns,
                         uint32_t piece_bytes);

#endif
