/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

static void solve(struct plan *plan) {
  const struct sim_profile *profile = plan->profile;
  const struct sim_media_stream *stream = &plan->stream;

  sim_media_outlook(&plan->outlook, profile, stream);
  plan->depth = sim_media_depth(profile, stream->link_rate, plan->link.latency_ns, stream->piece_bytes);
  const double checkpoint_s = stream->checkpoint_ms * 1e-3 + (double)plan->outlook.flush_ps_max * 1e-12;
  plan->loss_bytes = stream->rate * (checkpoint_s + profile->fua_ns * 1e-9) + (double)plan->depth * stream->piece_bytes;
  plan->ring_bytes = plan->outlook.ring_needed_bytes;
  if (plan->retain) plan->ring_bytes += (uint64_t)(stream->rate * checkpoint_s);
}

bool plan_fits(const struct plan *plan) {
  if (plan->ring_given) return plan->ring_bytes <= plan->stream.ring_bytes;
  return !plan->outlook.falls_behind;
}

static double rate_that_fits(const struct plan *asked) {
  uint64_t fitting = 0, too_fast = (uint64_t)(asked->stream.rate / PLAN_RATE_STEP) + 1u; /* in steps */

  while (too_fast - fitting > 1u) {
    struct plan plan = *asked;
    const uint64_t between = fitting + (too_fast - fitting) / 2u;
    plan.stream.rate = (double)between * PLAN_RATE_STEP;
    solve(&plan);
    if (plan_fits(&plan))
      fitting = between;
    else
      too_fast = between;
  }
  return (double)fitting * PLAN_RATE_STEP;
}

void plan_compute(struct plan *plan) {
  solve(plan);
  if (!plan_fits(plan)) plan->rate_that_fits = rate_that_fits(plan);
}

const char *plan_reason(const struct plan *plan) {
  const struct sim_media_outlook *outlook = &plan->outlook;

  if (outlook->worst_throttled) return "the drive is hot and throttles";
  if (outlook->worst_paused) return "the drive flushes, or writes its own tables";
  switch (outlook->worst) {
  case SIM_MEDIA_SLC: break;
  case SIM_MEDIA_FOLDING: return "the SLC cache has run out and is being folded";
  case SIM_MEDIA_DIRECT:
    return plan->profile->slc_bytes > 0 ? "the SLC cache has run out"
                                        : "the drive has no SLC cache, and its flash takes no more than this";
  case SIM_MEDIA_COLLECTING: return "the drive is full and collects garbage";
  }
  return "requests are in flight";
}
