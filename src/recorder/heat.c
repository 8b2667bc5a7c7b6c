/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When will the drive be too hot? Drives report whole degrees, so a rise over a fixed time is either seen late or is
 * wrong. The moment when a degree is reached for the first time is exact. The last few of these moments give the rise,
 * over seconds where it is steep and over minutes where it is not. If the next degree is overdue, the rise levels off.
 */
#include "internal.h"
#include <spate/port.h>

#define WATCH_MS     180000u
#define SLOW_MS      30000u
#define FALL_DEGREES 2    /* so far below the highest a rise ends, and below its limit a level */
#define APART_STEPS  48u  /* between two samples that are checked for a rise: 3/4 s */
#define HOLD_STEPS   512u /* 8 s */

static void add_point(struct spate_heat_watch *watch, uint64_t ticks, int celsius) {
  for (uint32_t i = SPATE_HEAT_POINTS - 1u; i > 0; i--)
    watch->points[i] = watch->points[i - 1u];
  watch->points[0].ticks = ticks;
  watch->points[0].celsius = (int16_t)celsius;
  if (watch->point_count < SPATE_HEAT_POINTS) watch->point_count++;
}

static void take_sample(struct spate_heat_watch *watch, uint64_t now_ticks, int celsius) {
  if (!watch->begun || celsius <= watch->highest_celsius - FALL_DEGREES) {
    watch->begun = true;
    watch->point_count = 0; /* it is not known when this temperature was reached */
    watch->highest_celsius = (int16_t)celsius;
  } else if (celsius > watch->highest_celsius) {
    /* It rose by several degrees: the first of them was reached soon after the last sample. */
    if (celsius > watch->highest_celsius + 1) add_point(watch, watch->sampled_ticks, watch->highest_celsius + 1);
    add_point(watch, now_ticks, celsius);
    watch->highest_celsius = (int16_t)celsius;
  }
  watch->sampled_ticks = now_ticks;
}

/* Time until the drive is `degrees` warmer than at the newest point. */
static uint32_t left_ms(const struct spate_recorder *recorder, uint64_t now_ticks, uint32_t degrees) {
  const struct spate_heat_watch *watch = &recorder->heat_watch;

  if (watch->point_count < 2) return SPATE_NEVER_MS;
  const uint32_t oldest = watch->point_count - 1u;
  uint32_t risen = (uint32_t)(watch->points[0].celsius - watch->points[oldest].celsius);
  uint32_t took_ms = spate_watch_ms(recorder, watch->points[0].ticks - watch->points[oldest].ticks);
  uint32_t since_ms = spate_watch_ms(recorder, now_ticks - watch->points[0].ticks);
  if ((uint64_t)since_ms * risen > took_ms) { /* the next degree is overdue: assume that it comes now */
    risen++;
    took_ms += since_ms;
    since_ms = 0;
  }
  const uint32_t ms = spate_watch_quotient((uint64_t)took_ms * degrees, risen);
  return ms > since_ms ? ms - since_ms : 0;
}

static enum spate_level wanted_level(const struct spate_heat *heat, int limit_celsius) {
  /* A level that a limit raised stays until the temperature is clearly below the limit. */
  const int kept = heat->level >= SPATE_LEVEL_SLOW ? FALL_DEGREES - 1 : 0;
  const int kept_critical = heat->level == SPATE_LEVEL_CRITICAL ? FALL_DEGREES - 1 : 0;

  if (heat->critical_celsius != 0 && heat->celsius >= heat->critical_celsius - kept_critical)
    return SPATE_LEVEL_CRITICAL;
  if (limit_celsius != 0 && heat->celsius >= limit_celsius - kept) return SPATE_LEVEL_SLOW;
  if (heat->left_ms <= SLOW_MS) return SPATE_LEVEL_SLOW;
  return heat->left_ms <= WATCH_MS ? SPATE_LEVEL_WATCH : SPATE_LEVEL_CALM;
}

/* A level lasts for a while after it was last called for. */
static enum spate_level settle(struct spate_recorder *recorder, uint64_t now_ticks, enum spate_level wanted) {
  enum spate_level level = SPATE_LEVEL_CALM;

  for (unsigned i = SPATE_LEVEL_WATCH; i <= SPATE_LEVEL_CRITICAL; i++) {
    uint64_t *hold_ticks = &recorder->heat_watch.hold_ticks[i - SPATE_LEVEL_WATCH];
    if (wanted >= i) *hold_ticks = now_ticks + recorder->watch.step_ticks * HOLD_STEPS;
    if (now_ticks < *hold_ticks) level = (enum spate_level)i;
  }
  return level;
}

void spate_recorder_temperature(struct spate_recorder *recorder, int16_t celsius, int16_t warning_celsius,
                                int16_t critical_celsius) {
  struct spate_heat_watch *watch = &recorder->heat_watch;
  struct spate_heat *heat = &recorder->heat;
  const uint64_t now_ticks = spate_port_ticks();
  const int limit_celsius = warning_celsius != 0 ? warning_celsius : critical_celsius;

  if (!watch->begun || now_ticks - watch->sampled_ticks >= recorder->watch.step_ticks * APART_STEPS)
    take_sample(watch, now_ticks, celsius);
  heat->celsius = celsius;
  heat->warning_celsius = warning_celsius;
  heat->critical_celsius = critical_celsius;
  heat->left_ms = SPATE_NEVER_MS;
  if (limit_celsius != 0 && celsius >= limit_celsius)
    heat->left_ms = 0;
  else if (limit_celsius > watch->highest_celsius)
    heat->left_ms = left_ms(recorder, now_ticks, (uint32_t)(limit_celsius - watch->highest_celsius));
  heat->level = settle(recorder, now_ticks, wanted_level(heat, limit_celsius));
}
