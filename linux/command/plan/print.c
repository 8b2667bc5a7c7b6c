/* SPDX-License-Identifier: Apache-2.0 */
#include "../text/json.h"
#include "plan.h"

#include <math.h>
#include <stdio.h>

static void print_bytes(const char *what, double bytes) {
  static const struct {
    const char *name;
    double worth;
  } binary[] = {{"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"B", 1}};
  unsigned i = 0;

  while (i < 3 && bytes < binary[i].worth)
    i++;
  (void)printf("%s%.4g %s", what, bytes / binary[i].worth, binary[i].name);
}

static void print_time(const char *what, double seconds) {
  if (seconds >= 120)
    (void)printf("%s%u min %u s", what, (unsigned)seconds / 60, (unsigned)seconds % 60);
  else
    (void)printf("%s%.4g s", what, seconds);
}

static void print_ring(const struct plan *plan) {
  const struct sim_media_outlook *outlook = &plan->outlook;
  const struct sim_media_stream *stream = &plan->stream;

  print_bytes("ring         ", (double)plan->ring_bytes);
  print_time(", fullest after ", outlook->worst_s);
  (void)printf(": %s\n", plan_reason(plan));
  if (outlook->falls_behind)
    (void)printf(
        "             and a longer recording needs more: in the long run this drive is slower than the stream\n");
  if (plan->retain) (void)printf("             includes data that is not flushed yet, which the ring retains\n");
  if (!plan->ring_given) return;
  print_bytes("your ring    ", (double)stream->ring_bytes);
  if (plan->ring_bytes <= stream->ring_bytes)
    (void)printf(" is enough\n");
  else if (isfinite(outlook->sustained_s)) {
    print_time(" overruns after ", outlook->sustained_s);
    (void)printf(" and %.1f GB\n", outlook->sustained_s * stream->rate / 1e9);
  } else {
    (void)printf(" holds the stream, but not the data to be retained as well\n");
  }
}

static void print_rate(const struct plan *plan) {
  const char *what = plan->ring_given ? "your ring holds" : "this drive sustains";

  if (plan_fits(plan)) return;
  if (plan->rate_that_fits > 0)
    (void)printf("what fits    %.2f GB/s is the most that %s\n", plan->rate_that_fits / 1e9, what);
  else
    (void)printf("what fits    nothing: even %.0f MB/s is more than %s\n", PLAN_RATE_STEP / 1e6, what);
}

#define DAY_S 86400.0

static double keep_s(const struct plan *plan) { return (double)plan->keep_bytes / plan->stream.rate; }

static double drive_writes_per_day(const struct plan *plan) {
  return plan->stream.rate * DAY_S / (double)plan->profile->capacity_bytes;
}

/* How long the drive may take nothing at all without an overrun of the ring. */
static double stall_s(const struct plan *plan) { return (double)plan->outlook.ring_needed_bytes / plan->stream.rate; }

static void print_keep(const struct plan *plan) {
  if (plan->keep_bytes == 0) return;
  print_time("keeps        the last ", keep_s(plan));
  (void)printf(" in %.4g GB\n", (double)plan->keep_bytes / 1e9);
  (void)printf("writes       %.4g TB a day: the whole drive %.3g times a day\n", plan->stream.rate * DAY_S / 1e12,
               drive_writes_per_day(plan));
  if (!plan->outlook.falls_behind)
    (void)printf("stalls       %.3g ms at the longest, which the ring bridges\n", stall_s(plan) * 1e3);
}

void plan_print(const struct plan *plan) {
  const struct sim_profile *profile = plan->profile;
  const struct sim_media_outlook *outlook = &plan->outlook;
  const struct sim_media_stream *stream = &plan->stream;

  (void)printf("drive        %s, %.0f GB, %.0f %% already written\n", profile->model,
               (double)profile->capacity_bytes / 1e9, stream->filled * 100);
  (void)printf("link         Gen%u x%u, MPS %u: %.2f GB/s to the drive\n", plan->link.generation, plan->link.lanes,
               plan->link.payload_bytes, stream->link_rate / 1e9);
  (void)printf("stream       %.3g GB/s, %.4g GB", stream->rate / 1e9, (double)stream->bytes / 1e9);
  print_time(" in ", (double)stream->bytes / stream->rate);
  (void)printf("\n%s\n", plan_fits(plan) ? "sustained    yes" : "sustained    NO");
  print_keep(plan);
  print_ring(plan);
  print_rate(plan);
  (void)printf("queue depth  %u requests", plan->depth);
  print_bytes(" of ", stream->piece_bytes);
  (void)printf("\n");
  if (isfinite(outlook->edge_s)) {
    print_time("SLC cache    runs out after ", outlook->edge_s);
    (void)printf(" and %.1f GB\n", outlook->edge_s * stream->rate / 1e9);
  }
  if (stream->checkpoint_ms > 0) {
    (void)printf("power cut    %.1f ms at most for a flush", (double)outlook->flush_ps_max * 1e-9);
    print_bytes("; costs at most ", plan->loss_bytes);
    (void)printf("\n");
  }
  (void)printf("temperature  %.0f C at most, with %.3g K/W to air of %.0f C", outlook->temperature_max_c,
               profile->heat_resistance, profile->ambient_c);
  if (outlook->throttled_s > 0)
    print_time("; throttles for ", outlook->throttled_s);
  else
    (void)printf("; throttles at %.0f C", profile->throttle_c);
  (void)printf("\n");
}

void plan_print_json(const struct plan *plan) {
  const struct sim_media_outlook *outlook = &plan->outlook;
  const struct sim_media_stream *stream = &plan->stream;
  struct json json = {.to = stdout};

  json_open(&json, NULL, '{');
  json_string(&json, "profile", plan->profile->name);
  json_real(&json, "rate_bytes_per_s", stream->rate);
  json_integer(&json, "bytes", stream->bytes);
  json_real(&json, "filled", stream->filled);
  json_real(&json, "link_bytes_per_s", stream->link_rate);
  if (plan->keep_bytes > 0) {
    json_integer(&json, "keep_bytes", plan->keep_bytes);
    json_real(&json, "keep_s", keep_s(plan));
    json_real(&json, "bytes_per_day", stream->rate * DAY_S);
    json_real(&json, "drive_writes_per_day", drive_writes_per_day(plan));
    json_real(&json, "stall_s", stall_s(plan));
  }
  json_bool(&json, "sustained", plan_fits(plan));
  json_bool(&json, "falls_behind", outlook->falls_behind);
  json_integer(&json, "ring_needed_bytes", plan->ring_bytes);
  json_real(&json, "ring_worst_s", outlook->worst_s);
  json_string(&json, "ring_reason", plan_reason(plan));
  if (plan->ring_given) {
    json_integer(&json, "ring_bytes", stream->ring_bytes);
    json_real(&json, "sustained_s", outlook->sustained_s);
  }
  if (!plan_fits(plan)) json_real(&json, "rate_that_fits_bytes_per_s", plan->rate_that_fits);
  json_integer(&json, "piece_bytes", stream->piece_bytes);
  json_integer(&json, "queue_depth", plan->depth);
  json_real(&json, "slc_edge_s", outlook->edge_s);
  json_real(&json, "flush_ms_max", (double)outlook->flush_ps_max * 1e-9);
  json_real(&json, "power_cut_loss_bytes", plan->loss_bytes);
  json_real(&json, "temperature_max_c", outlook->temperature_max_c);
  json_real(&json, "throttled_s", outlook->throttled_s);
  json_close(&json, '}');
}
