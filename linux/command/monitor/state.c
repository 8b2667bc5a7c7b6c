/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the lines of spate_stream_report(), which may come from a disturbed UART or from anyone's datagram. */
#include "internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct metric metrics[METRICS] = {
    [METRIC_STREAM] = {"stream", METRIC_NONE, NULL, NULL},
    [METRIC_HZ] = {"hz", METRIC_NONE, NULL, NULL},
    [METRIC_LATENCY_TICKS] = {"latency_ticks", METRIC_NONE, NULL, NULL},
    [METRIC_LOST] = {"lost", METRIC_COUNTER, "lost_bytes_total", "Bytes pushed that are in no file"},
    [METRIC_OVERRUN] = {"overrun", METRIC_COUNTER, "overrun_bytes_total", "Bytes that found the ring full"},
    [METRIC_DATAGRAMS] = {"datagrams", METRIC_COUNTER, "lost_datagrams_total", "Datagrams that the kernel dropped"},
    {"pushed", METRIC_COUNTER, "pushed_bytes_total", "Bytes that came from the source"},
    {"completed", METRIC_COUNTER, "completed_bytes_total", "Bytes that the drive has completed"},
    {"durable", METRIC_COUNTER, "durable_bytes_total", "Bytes that are flushed"},
    {"unknown", METRIC_COUNTER, "unknown_bytes_total", "Bytes that an unknown loss of power may have destroyed"},
    {"requests", METRIC_COUNTER, "requests_total", "Data requests submitted"},
    {"checkpoints", METRIC_COUNTER, "checkpoints_total", "Lengths published"},
    {"gaps", METRIC_COUNTER, "gaps_total", "Seconds in which something was lost"},
    {"left", METRIC_GAUGE, "reservation_left_bytes", "Bytes that still fit in the file's reservation"},
    {"part", METRIC_GAUGE, "part", "Number of the last file that was made"},
    {"kept", METRIC_GAUGE, "kept_bytes", "Bytes that a recording without end keeps"},
    {"error", METRIC_GAUGE, "error", "First error of the stream (spate/error.h), 0: none"},
    {"pieces", METRIC_GAUGE, "ring_pieces", "Pieces that the ring has"},
    {"held", METRIC_GAUGE, "ring_held_pieces", "Pieces pushed and not released"},
    {"held_max", METRIC_GAUGE, "ring_held_pieces_max", "Most pieces held at once"},
    {"in", METRIC_GAUGE, "in_bytes_per_second", "Rate of the source in the last 64 ms"},
    {"out", METRIC_GAUGE, "out_bytes_per_second", "Rate of the drive in the last 64 ms"},
    {"level", METRIC_GAUGE, "pressure_level", "0 calm, 1 watch, 2 slow, 3 critical"},
    {"left_ms", METRIC_MS, "ring_left_seconds", "Until the ring overruns at the present rates"},
    {"gap_ticks_max", METRIC_TICKS, "completion_gap_seconds_max", "Longest time without a completion that was due"},
    {"latency_ticks_max", METRIC_TICKS, "latency_seconds_max", "Longest latency of a data request"},
    {"celsius", METRIC_GAUGE, "drive_celsius", "Temperature of the drive"},
    {"warning", METRIC_GAUGE, "drive_warning_celsius", "Its warning temperature, 0: not stated"},
    {"critical", METRIC_GAUGE, "drive_critical_celsius", "Its critical temperature, 0: not stated"},
    {"heat", METRIC_GAUGE, "heat_level", "0 calm, 1 watch, 2 slow, 3 critical"},
    {"heat_ms", METRIC_MS, "heat_left_seconds", "Until the warning temperature at the present rise"},
    {"ticks", METRIC_TICKS, "clock_seconds", "The recorder's clock"},
    {"source_held", METRIC_GAUGE, "source_ring_percent", "How full the ring is, with what is not pushed yet"},
};

double monitor_seconds(void) {
  struct timespec time;

  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A decimal integer and nothing else. */
static bool number(const char *text, double *value) {
  const char *digits = text + (*text == '-');
  const size_t length = strlen(digits);

  if (length == 0 || length > 20 || strspn(digits, "0123456789") != length) return false;
  *value = strtod(text, NULL);
  return true;
}

static bool read_latency(struct stream_state *stream, char *text) {
  char *rest = text;

  for (unsigned i = 0; i < SPATE_LATENCY_COUNTS; i++) {
    const char *word = strsep(&rest, ",");
    if (word == NULL || !number(word, &stream->latency_counts[i])) return false;
  }
  stream->has_latency = rest == NULL;
  return stream->has_latency;
}

/* %20 is a blank. Other bytes than those of printable characters and of UTF-8 are dropped. */
static bool read_name(struct stream_state *stream, const char *text) {
  size_t used = 0;

  for (; *text != '\0' && used < NAME_BYTES - 1u; text++) {
    unsigned char byte = (unsigned char)*text;
    if (byte == '%') {
      char hex[3] = {text[1], '\0', '\0'};
      if (hex[0] != '\0') hex[1] = text[2];
      if (!isxdigit((unsigned char)hex[0]) || !isxdigit((unsigned char)hex[1])) return false;
      byte = (unsigned char)strtoul(hex, NULL, 16);
      text += 2;
    }
    if (byte >= ' ' && byte != 0x7f) stream->name[used++] = (char)byte;
  }
  stream->name[used] = '\0';
  return true;
}

static bool read_pair(struct stream_state *stream, char *word) {
  char *value = strchr(word, '=');

  if (value == NULL) return false;
  *value++ = '\0';
  if (strcmp(word, "latency") == 0) return read_latency(stream, value);
  if (strcmp(word, "name") == 0) return read_name(stream, value);
  for (unsigned i = 0; i < METRICS; i++)
    if (strcmp(word, metrics[i].key) == 0) return stream->has[i] = number(value, &stream->values[i]);
  return true; /* of a later version */
}

/* False: it is no report. */
static bool read_line(struct stream_state *stream, char *text) {
  char *rest = text;

  if (strcmp(strsep(&rest, " "), "spate1") != 0) return false;
  for (char *word; (word = strsep(&rest, " \r\n")) != NULL;)
    if (*word != '\0' && !read_pair(stream, word)) return false;
  const double index = stream->values[METRIC_STREAM];
  return stream->has[METRIC_STREAM] && index >= 0 && index < SPATE_STREAMS_MAX && stream->has[METRIC_HZ] &&
         stream->values[METRIC_HZ] > 0;
}

static double losses(const struct stream_state *stream) {
  return stream->values[METRIC_LOST] + stream->values[METRIC_OVERRUN] + stream->values[METRIC_DATAGRAMS];
}

void state_line(struct state *state, const char *line, size_t length, double now_s) {
  struct stream_state stream = {.known = true, .seen_s = now_s};
  char text[4096];

  if (length >= sizeof text || memchr(line, '\0', length) != NULL) {
    state->skipped_lines++;
    return;
  }
  memcpy(text, line, length);
  text[length] = '\0';
  if (!read_line(&stream, text)) {
    state->skipped_lines++;
    return;
  }
  struct stream_state *last = &state->streams[(unsigned)stream.values[METRIC_STREAM]];
  const double lost_before = last->known ? losses(last) : 0;
  stream.lost_s = losses(&stream) > lost_before ? now_s : last->lost_s;
  *last = stream;
}
