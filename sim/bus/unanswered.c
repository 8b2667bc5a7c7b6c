/* SPDX-License-Identifier: Apache-2.0 */
/* What the processor gets for a read that no drive answers. */
#include "unanswered.h"
#include "../machine/internal.h"

#define TRAP_PS     (1 * SIM_PS_PER_US)  /* exception, table look-up, return. Assumed */
#define TIME_OUT_PS (10 * SIM_PS_PER_MS) /* within completion timeout range B (base specification, 7.5.3.16) */

static uint32_t arbitrary(struct sim *sim) { return (uint32_t)(sim_random(sim) >> 32); }

uint32_t sim_unanswered_register(struct sim *sim) {
  struct sim_unanswered_state *bridge = sim_unanswered_of(sim);

  bridge->unanswered_reads++;
  switch (bridge->unanswered) {
  case SIM_UNANSWERED_ZEROS: return 0;
  case SIM_UNANSWERED_ARBITRARY: return arbitrary(sim);
  case SIM_UNANSWERED_ABORT:
  case SIM_UNANSWERED_PG194: sim_work(sim, TRAP_PS); return UINT32_MAX;
  case SIM_UNANSWERED_NEVER: sim_work(sim, TIME_OUT_PS); return UINT32_MAX;
  default: return UINT32_MAX;
  }
}

uint32_t sim_unanswered_config(struct sim *sim) {
  struct sim_unanswered_state *bridge = sim_unanswered_of(sim);

  if (bridge->unanswered != SIM_UNANSWERED_PG194) return sim_unanswered_register(sim);
  bridge->unanswered_reads++;
  sim_work(sim, TIME_OUT_PS);
  return 0;
}

bool sim_shows_retry(struct sim *sim) {
  const enum sim_unanswered mode = sim_unanswered_of(sim)->unanswered;

  return mode == SIM_UNANSWERED_ONES || mode == SIM_UNANSWERED_ARBITRARY;
}

void sim_set_unanswered(struct sim *sim, enum sim_unanswered mode) { sim_unanswered_of(sim)->unanswered = mode; }

uint64_t sim_unanswered_reads(struct sim *sim) { return sim_unanswered_of(sim)->unanswered_reads; }
