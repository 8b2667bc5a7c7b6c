/* SPDX-License-Identifier: Apache-2.0 */
/* The media as a fluid: what fills, drains and is folded at which rate, from one call to the next. */
#include "media.h"

#include <assert.h>

#define PS_PER_S  1e12
#define PS_PER_NS UINT64_C(1000)
#define PS_PER_MS UINT64_C(1000000000)

/* Under load, the temperature is computed in steps of at most this: far below any drive's time constant. */
#define STEP_PS (100 * PS_PER_MS)
/* An idle time of any length is computed in about this many steps at most. */
#define IDLE_STEPS 256u
/* A cell that holds three bits holds one in the SLC cache, so the cache uses three times its size in free blocks. */
#define CELL_BITS 3

static double min_of(double a, double b) { return a < b ? a : b; }

static double max_of(double a, double b) { return a > b ? a : b; }

/* Rounded up, so that the bytes have moved when the time is over. */
static uint64_t ps_for(double bytes, double rate) { return (uint64_t)(bytes / rate * PS_PER_S) + 1; }

static bool nearly_full(const struct sim_media *media) {
  return (double)media->mapped_bytes > SIM_MEDIA_FULL * (double)media->profile->capacity_bytes;
}

static double slc_limit(const struct sim_media *media) {
  const struct sim_profile *profile = media->profile;
  double free_bytes = (double)(profile->capacity_bytes - media->mapped_bytes);

  return min_of((double)profile->slc_bytes, (double)profile->slc_full_bytes + free_bytes / CELL_BITS);
}

static enum sim_media_state state_of(const struct sim_media *media) {
  if (media->overwriting && nearly_full(media)) return SIM_MEDIA_COLLECTING;
  if (media->slc_used_bytes < slc_limit(media)) return SIM_MEDIA_SLC;
  if (media->folded_bytes < (double)media->profile->fold_bytes) return SIM_MEDIA_FOLDING;
  return SIM_MEDIA_DIRECT;
}

static double heat_factor(const struct sim_media *media) {
  return media->throttled ? media->profile->throttle_factor : 1;
}

static double rate_now(const struct sim_media *media) {
  const struct sim_profile *profile = media->profile;
  double rate = 0;

  switch (media->state) {
  case SIM_MEDIA_SLC: rate = profile->slc_rate; break;
  case SIM_MEDIA_FOLDING: rate = profile->fold_rate; break;
  case SIM_MEDIA_DIRECT: rate = profile->direct_rate; break;
  case SIM_MEDIA_COLLECTING: rate = profile->full_rate; break;
  }
  return rate * heat_factor(media);
}

double sim_media_write_rate(const struct sim_media *media) {
  return media->now_ps < media->pause_until_ps ? 0 : rate_now(media);
}

/* One step of heat. The implicit method is stable for any step size. */
static void warm(struct sim_media *media, double watts, uint64_t ps) {
  const struct sim_profile *profile = media->profile;
  double seconds = (double)ps / PS_PER_S;
  double rise = (watts * profile->heat_resistance + profile->ambient_c - media->temperature_c);
  double constant_s = profile->heat_capacity * profile->heat_resistance;

  media->temperature_c += rise * seconds / (constant_s + seconds);
  if (media->throttled) media->throttled_ps += ps;
  if (media->temperature_c >= profile->throttle_c) media->throttled = true;
  if (media->temperature_c <= profile->recover_c) media->throttled = false;
}

/* How many bytes can go to the media before its rate changes, or before `wanted` is done. */
static double bytes_to_change(const struct sim_media *media, double wanted) {
  double bytes = wanted;

  if (media->profile->pause_bytes > 0) bytes = min_of(bytes, media->pause_left_bytes);
  if (media->state == SIM_MEDIA_SLC) bytes = min_of(bytes, slc_limit(media) - media->slc_used_bytes);
  if (media->state == SIM_MEDIA_FOLDING)
    bytes = min_of(bytes, (double)media->profile->fold_bytes - media->folded_bytes);
  return bytes;
}

static void count_drained(struct sim_media *media, double bytes) {
  const struct sim_profile *profile = media->profile;

  media->buffered_bytes = max_of(0, media->buffered_bytes - bytes);
  if (media->state == SIM_MEDIA_SLC) media->slc_used_bytes = min_of(slc_limit(media), media->slc_used_bytes + bytes);
  if (media->state == SIM_MEDIA_FOLDING)
    media->folded_bytes = min_of((double)profile->fold_bytes, media->folded_bytes + bytes);
  if (profile->pause_bytes == 0) return;
  media->pause_left_bytes -= bytes;
  if (media->pause_left_bytes > 0) return;
  media->pause_left_bytes += (double)profile->pause_bytes;
  media->pause_until_ps = media->now_ps + profile->pause_ms * PS_PER_MS;
}

/* A segment with data in the buffer. Stops when `keep` bytes are left there. */
static void drain_segment(struct sim_media *media, uint64_t until_ps, double keep) {
  const double rate = rate_now(media);
  const double bytes = bytes_to_change(media, media->buffered_bytes - keep);
  const uint64_t left_ps = until_ps - media->now_ps < STEP_PS ? until_ps - media->now_ps : STEP_PS;
  const uint64_t needed_ps = ps_for(bytes, rate);
  const uint64_t ps = needed_ps < left_ps ? needed_ps : left_ps;

  media->now_ps += ps;
  count_drained(media, needed_ps <= left_ps ? bytes : min_of(bytes, rate * (double)ps / PS_PER_S));
  media->state = state_of(media);
  warm(media, media->profile->idle_watts + rate * media->profile->joules_per_byte, ps);
  media->idle_since_ps = media->now_ps;
}

/* Folding in idle time makes room in the cache, and leaves less to fold under load. */
static void refill(struct sim_media *media, double bytes) {
  const double used = media->slc_used_bytes;
  const double left = max_of(0, used - bytes);

  if (used > 0) media->folded_bytes *= left / used;
  media->slc_used_bytes = left;
}

/* A segment without writes: after a while the cache is folded. */
static void rest_segment(struct sim_media *media, uint64_t until_ps) {
  const struct sim_profile *profile = media->profile;
  const uint64_t begin_ps = media->idle_since_ps + profile->slc_rest_ms * PS_PER_MS;
  uint64_t ps = until_ps - media->now_ps;
  double rate = 0;

  if (ps / IDLE_STEPS > STEP_PS)
    ps /= IDLE_STEPS;
  else if (ps > STEP_PS)
    ps = STEP_PS;
  if (media->now_ps < begin_ps) {
    if (ps > begin_ps - media->now_ps) ps = begin_ps - media->now_ps;
  } else if (media->slc_used_bytes > 0 && !nearly_full(media)) {
    rate = profile->slc_refill_rate * heat_factor(media);
    refill(media, rate * (double)ps / PS_PER_S);
  }
  media->now_ps += ps;
  media->state = state_of(media);
  warm(media, profile->idle_watts + rate * profile->joules_per_byte, ps);
}

/* In a pause the media takes no data. */
static void pause_segment(struct sim_media *media, uint64_t until_ps) {
  uint64_t end_ps = media->pause_until_ps < until_ps ? media->pause_until_ps : until_ps;
  uint64_t ps = end_ps - media->now_ps;

  if (ps > STEP_PS) ps = STEP_PS;
  media->now_ps += ps;
  warm(media, media->profile->idle_watts, ps);
  media->idle_since_ps = media->now_ps;
}

void sim_media_advance(struct sim_media *media, uint64_t now_ps) {
  while (media->now_ps < now_ps) {
    if (media->now_ps < media->pause_until_ps)
      pause_segment(media, now_ps);
    else if (media->buffered_bytes > 0)
      drain_segment(media, now_ps, 0);
    else
      rest_segment(media, now_ps);
  }
}

/* When at most `keep` bytes will be left, if nothing is added. */
static uint64_t drained_at(const struct sim_media *media, double keep) {
  struct sim_media ahead = *media;

  while (ahead.buffered_bytes > keep)
    if (ahead.now_ps < ahead.pause_until_ps)
      pause_segment(&ahead, ahead.pause_until_ps);
    else
      drain_segment(&ahead, UINT64_MAX, keep);
  return ahead.now_ps;
}

void sim_media_init(struct sim_media *media, const struct sim_profile *profile, double filled) {
  assert(filled >= 0 && filled <= 1);
  *media = (struct sim_media){
      .profile = profile,
      .mapped_bytes = (uint64_t)(filled * (double)profile->capacity_bytes),
      .temperature_c = profile->ambient_c + profile->idle_watts * profile->heat_resistance,
      .pause_left_bytes = (double)profile->pause_bytes,
  };
  media->state = state_of(media);
}

uint64_t sim_media_write(struct sim_media *media, uint64_t at_ps, uint64_t bytes, uint64_t fresh_bytes) {
  const struct sim_profile *profile = media->profile;
  const uint64_t unmapped = profile->capacity_bytes - media->mapped_bytes;

  assert(fresh_bytes <= bytes);
  sim_media_advance(media, at_ps);
  /* options.filled does not say where the data is, so bytes count as fresh only while unwritten space is left. */
  if (fresh_bytes > unmapped) fresh_bytes = unmapped;
  media->mapped_bytes += fresh_bytes;
  media->overwriting = fresh_bytes < bytes / 2;
  media->state = state_of(media);
  media->buffered_bytes += (double)bytes;
  if (media->buffered_bytes <= (double)profile->buffer_bytes) return at_ps;
  return drained_at(media, (double)profile->buffer_bytes);
}

uint64_t sim_media_read(struct sim_media *media, uint64_t at_ps, uint64_t bytes) {
  const struct sim_profile *profile = media->profile;
  uint64_t start_ps = at_ps + profile->read_latency_ns * PS_PER_NS;

  sim_media_advance(media, at_ps);
  if (start_ps < media->read_free_ps) start_ps = media->read_free_ps;
  media->read_free_ps = start_ps + ps_for((double)bytes, profile->read_rate * heat_factor(media));
  media->temperature_c += (double)bytes * profile->joules_per_byte / profile->heat_capacity;
  return media->read_free_ps;
}

uint64_t sim_media_flush(struct sim_media *media, uint64_t at_ps) {
  const struct sim_profile *profile = media->profile;
  const uint64_t flush_ps = profile->flush_ns * PS_PER_NS;
  uint64_t drained_ps;

  if (!profile->volatile_cache) return at_ps + flush_ps;
  sim_media_advance(media, at_ps);
  if (media->pause_until_ps < media->now_ps) media->pause_until_ps = media->now_ps;
  media->pause_until_ps += flush_ps;
  /* What waits in front of the buffer has not completed, so a flush need not make it durable. */
  drained_ps = drained_at(media, max_of(0, media->buffered_bytes - (double)profile->buffer_bytes));
  return drained_ps > media->pause_until_ps ? drained_ps : media->pause_until_ps;
}

void sim_media_trim(struct sim_media *media, uint64_t at_ps, uint64_t mapped_bytes) {
  double left;

  sim_media_advance(media, at_ps);
  if (mapped_bytes > media->mapped_bytes) mapped_bytes = media->mapped_bytes;
  if (mapped_bytes == 0) return;
  left = (double)(media->mapped_bytes - mapped_bytes) / (double)media->mapped_bytes;
  media->mapped_bytes -= mapped_bytes;
  refill(media, media->slc_used_bytes * (1 - left));
  media->state = state_of(media);
}
