/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The write and read rate of a drive's media at each moment: SLC cache, folding, direct writes, garbage collection,
 * pauses, heat. It knows neither contents nor commands: bytes and times go in, times come out. It is a deterministic
 * fluid model, which each call advances.
 *
 *      room in the SLC cache               SLC          slc_rate
 *      cache used up                       FOLDING      fold_rate, for fold_bytes of host data
 *      after that                          DIRECT       direct_rate
 *      overwriting a drive that is full    COLLECTING   full_rate
 *
 * The SLC cache uses free blocks, three times its own size. It is slc_bytes large as long as the free space allows, and
 * never smaller than slc_full_bytes, its size on a full drive. Folding empties it in idle time, but not on a full
 * drive. Trimming empties it too. Heat multiplies every rate. Reads and writes do not slow each other: published
 * figures show no loss where they alternate.
 */
#ifndef SPATE_SIM_MEDIA_H
#define SPATE_SIM_MEDIA_H

#include "../profiles/profile.h"

enum sim_media_state { SIM_MEDIA_SLC, SIM_MEDIA_FOLDING, SIM_MEDIA_DIRECT, SIM_MEDIA_COLLECTING };

/* If more than this share is written and not trimmed, only the spare blocks are free. */
#define SIM_MEDIA_FULL 0.95

struct sim_media {
  const struct sim_profile *profile;
  uint64_t mapped_bytes; /* written and not trimmed */
  double slc_used_bytes;
  double folded_bytes;   /* host bytes since the cache ran out */
  double buffered_bytes; /* in the volatile cache or in front of it, on the way to the media */
  double temperature_c;
  double pause_left_bytes; /* until the next pause */
  uint64_t pause_until_ps;
  uint64_t idle_since_ps; /* when the buffer was last empty of writes */
  uint64_t now_ps;        /* the time that the other fields describe */
  uint64_t read_free_ps;
  enum sim_media_state state;
  bool overwriting; /* the current writes replace existing data */
  bool throttled;
  uint64_t throttled_ps; /* total */
};

/* A drive at rest at its idle temperature, with this share of its capacity written (0 … 1). */
void sim_media_init(struct sim_media *media, const struct sim_profile *profile, double filled);

/* Advances to `now_ps`: the buffer drains, the cache folds, heat flows. Time never goes back. */
void sim_media_advance(struct sim_media *media, uint64_t now_ps);

/*
 * `bytes` from the host have arrived at `at_ps`. Returns when they are in the buffer. (The command's write_latency_ns
 * comes on top.) `fresh_bytes` of them go to unwritten places: at most as many as there are. at_ps must not decrease
 * from call to call.
 */
uint64_t sim_media_write(struct sim_media *media, uint64_t at_ps, uint64_t bytes, uint64_t fresh_bytes);

/* The host asked for `bytes` at `at_ps`. Returns when the last of them can leave the drive, read_latency_ns
 * included. */
uint64_t sim_media_read(struct sim_media *media, uint64_t at_ps, uint64_t bytes);

/*
 * Returns when everything handed over before `at_ps` is on the media. The media first writes the drive's own tables,
 * which takes flush_ns. Meanwhile it takes no data, but the buffer does while it has room. Without a volatile cache
 * there is nothing to do.
 */
uint64_t sim_media_flush(struct sim_media *media, uint64_t at_ps);

/* `mapped_bytes` of the written data are trimmed. */
void sim_media_trim(struct sim_media *media, uint64_t at_ps, uint64_t mapped_bytes);

/* Bytes per second that the media takes at this moment, heat included; 0 in a pause. */
double sim_media_write_rate(const struct sim_media *media);

/*
 * What a stream of `rate` bytes per second meets on this drive, without simulating commands: the level of the host's
 * ring over time. The source pushes a piece when it is complete, and the ring releases it when it is in the drive's
 * buffer. For planning. tests/bench/simulated/test_plan_recorder.c compares it with the full simulation.
 */
struct sim_media_stream {
  double filled;          /* share of the drive that is already written */
  double rate;            /* of the source */
  double link_rate;       /* upper bound of the rate to the drive */
  uint64_t bytes;         /* to record; > 0 */
  uint64_t ring_bytes;    /* in the host */
  uint32_t piece_bytes;   /* size of a request */
  uint32_t checkpoint_ms; /* interval of flushes; 0: none */
};

struct sim_media_outlook {
  double sustained_s;         /* until the ring overruns; HUGE_VAL: it does not */
  uint64_t ring_needed_bytes; /* smallest ring that does not overrun */
  double worst_s;             /* when ring_needed_bytes is reached ... */
  enum sim_media_state worst; /* ... and what the media was doing */
  bool worst_paused, worst_throttled;
  bool falls_behind;  /* the level still rises at the end: a longer recording needs a larger ring */
  double edge_s;      /* when the SLC cache ran out; HUGE_VAL: never */
  double throttled_s; /* total time */
  double temperature_max_c;
  uint64_t flush_ps_max;
};
void sim_media_outlook(struct sim_media_outlook *out, const struct sim_profile *profile,
                       const struct sim_media_stream *stream);

/*
 * How many requests of `piece_bytes` must be in flight so that the drive always has one, while it works at the highest
 * rate that it and the link can do: it has to catch up after each delay. `latency_ns` is the link's, one way.
 */
uint32_t sim_media_depth(const struct sim_profile *profile, double link_rate, uint32_t latency_ns,
                         uint32_t piece_bytes);

#endif
