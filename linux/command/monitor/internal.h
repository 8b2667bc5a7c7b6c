/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_COMMAND_MONITOR_INTERNAL_H
#define SPATE_COMMAND_MONITOR_INTERNAL_H

#include "monitor.h"

#include <spate/recorder.h>
#include <stdint.h>
#include <stdio.h>

/* ---- state.c ---- */

enum metric_kind {
  METRIC_COUNTER,
  METRIC_GAUGE,
  METRIC_MS,    /* a gauge, in the line in milliseconds, for Prometheus in seconds */
  METRIC_TICKS, /* a gauge, in the line in ticks, for Prometheus in seconds */
  METRIC_NONE,  /* not shown by itself */
};

/* A key of the line whose value is one number. */
struct metric {
  const char *key;
  enum metric_kind kind;
  const char *name, *help; /* for Prometheus */
};

#define METRICS 33u
extern const struct metric metrics[METRICS];
/* The places of those that other code needs. */
enum { METRIC_STREAM, METRIC_HZ, METRIC_LATENCY_TICKS, METRIC_LOST, METRIC_OVERRUN, METRIC_DATAGRAMS };

#define NAME_BYTES 1600u /* a path of 512 bytes, escaped */

struct stream_state {
  bool known;
  bool has[METRICS];
  double values[METRICS];
  double latency_counts[SPATE_LATENCY_COUNTS];
  bool has_latency;
  char name[NAME_BYTES]; /* of the file */
  double seen_s;         /* CLOCK_MONOTONIC */
  double lost_s;         /* when the losses last grew; 0: never */
};

struct state {
  struct stream_state streams[SPATE_STREAMS_MAX];
  double skipped_lines;
};

double monitor_seconds(void);
void state_line(struct state *state, const char *line, size_t length, double now_s);

/* ---- metrics.c ---- */

void metrics_write(FILE *to, const struct state *state, double now_s);

/* ---- request.c ---- */

enum { HTTP_OK = 200, HTTP_BAD = 400, HTTP_FORBIDDEN = 403, HTTP_NOT_FOUND = 404, HTTP_METHOD = 405, HTTP_LARGE = 431 };

struct request {
  int status;
  bool head; /* the body is not wanted */
  char path[64];
};

/* True when the request is complete. Its bytes may be anything. */
bool request_is_complete(const char *bytes, size_t length);
/* `loopback`: a Host that is not this machine's own name is refused, because a page of another site can let its own
 * name resolve to 127.0.0.1 and would then read our answers (DNS rebinding). */
struct request request_parse(const char *bytes, size_t length, bool loopback);

/* ---- files that are compiled in (embed.cmake) ---- */

struct page_file {
  const char *path, *type;
  const unsigned char *bytes;
  const size_t *length;
};
extern const unsigned char page_html[], page_css[], page_js[];
extern const size_t page_html_bytes, page_css_bytes, page_js_bytes;

#endif
