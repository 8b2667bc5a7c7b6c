/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text format 0.0.4 of Prometheus. A family's lines follow each other, each with HELP and TYPE; a counter that is 0
 * is there too, because one that appears later hides its first increase from rate().
 */
#include "internal.h"

#include <string.h>

static void write_labels(FILE *to, unsigned number, const struct stream_state *stream, const char *bound) {
  (void)fprintf(to, "{stream=\"%u\",file=\"", number);
  for (const char *at = stream->name; *at != '\0'; at++)
    (void)(*at == '"' || *at == '\\' ? fprintf(to, "\\%c", *at) : fputc(*at, to));
  if (bound != NULL) (void)fprintf(to, "\",le=\"%s", bound);
  (void)fputs("\"}", to);
}

static void write_head(FILE *to, const char *name, const char *type, const char *help) {
  (void)fprintf(to, "# HELP spate_%s %s\n# TYPE spate_%s %s\n", name, help, name, type);
}

static void write_value(FILE *to, const char *name, unsigned number, const struct stream_state *stream, double value) {
  (void)fprintf(to, "spate_%s", name);
  write_labels(to, number, stream, NULL);
  (void)fprintf(to, " %.17g\n", value);
}

static double in_unit(const struct stream_state *stream, unsigned metric) {
  switch (metrics[metric].kind) {
  case METRIC_MS: return stream->values[metric] / 1000;
  case METRIC_TICKS: return stream->values[metric] / stream->values[METRIC_HZ];
  default: return stream->values[metric];
  }
}

static void write_family(FILE *to, const struct state *state, unsigned metric) {
  const struct metric *family = &metrics[metric];
  bool begun = false;

  for (unsigned i = 0; i < SPATE_STREAMS_MAX; i++) {
    const struct stream_state *stream = &state->streams[i];
    if (!stream->known || !stream->has[metric]) continue;
    if (!begun) write_head(to, family->name, family->kind == METRIC_COUNTER ? "counter" : "gauge", family->help);
    begun = true;
    write_value(to, family->name, i, stream, in_unit(stream, metric));
  }
}

static void write_histogram(FILE *to, unsigned number, const struct stream_state *stream) {
  double sum = 0;

  for (unsigned i = 0; i < SPATE_LATENCY_COUNTS; i++) {
    char bound[32] = "+Inf";
    sum += stream->latency_counts[i];
    if (i < SPATE_LATENCY_COUNTS - 1u)
      (void)snprintf(bound, sizeof bound, "%.9g", (double)(UINT32_C(1) << i) / 65536.0);
    (void)fputs("spate_latency_seconds_bucket", to);
    write_labels(to, number, stream, bound);
    (void)fprintf(to, " %.17g\n", sum);
  }
  write_value(to, "latency_seconds_sum", number, stream,
              stream->values[METRIC_LATENCY_TICKS] / stream->values[METRIC_HZ]);
  write_value(to, "latency_seconds_count", number, stream, sum);
}

void metrics_write(FILE *to, const struct state *state, double now_s) {
  bool begun = false;

  for (unsigned i = 0; i < METRICS; i++)
    if (metrics[i].kind != METRIC_NONE) write_family(to, state, i);
  for (unsigned i = 0; i < SPATE_STREAMS_MAX; i++) {
    if (!state->streams[i].has_latency) continue;
    if (!begun) write_head(to, "latency_seconds", "histogram", "Latency of data requests");
    begun = true;
    write_histogram(to, i, &state->streams[i]);
  }
  write_head(to, "report_age_seconds", "gauge", "Time since the stream's last report");
  for (unsigned i = 0; i < SPATE_STREAMS_MAX; i++)
    if (state->streams[i].known)
      write_value(to, "report_age_seconds", i, &state->streams[i], now_s - state->streams[i].seen_s);
  write_head(to, "loss_age_seconds", "gauge", "Time since something was last lost");
  for (unsigned i = 0; i < SPATE_STREAMS_MAX; i++)
    if (state->streams[i].lost_s > 0)
      write_value(to, "loss_age_seconds", i, &state->streams[i], now_s - state->streams[i].lost_s);
  write_head(to, "monitor_skipped_lines_total", "counter", "Lines that were not reports");
  (void)fprintf(to, "spate_monitor_skipped_lines_total %.17g\n", state->skipped_lines);
}
