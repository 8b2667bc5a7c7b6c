/* SPDX-License-Identifier: Apache-2.0 */
/* A stream's counters as a line of text. */
#include "internal.h"
#include <spate/port.h>
#include <string.h>

struct line {
  char *text;
  size_t bytes, used; /* used ≤ bytes; the last byte is kept for the zero */
  bool full;
};

static void put_text(struct line *line, const char *text) {
  const size_t length = strlen(text);

  if (line->bytes - line->used <= length) {
    line->full = true;
    return;
  }
  memcpy(line->text + line->used, text, length + 1u);
  line->used += length;
}

/* Without a division: some processors have none of 64 bits. */
static void put_digits(struct line *line, uint64_t value) {
  static const uint64_t powers[] = {UINT64_C(10000000000000000000),
                                    UINT64_C(1000000000000000000),
                                    UINT64_C(100000000000000000),
                                    UINT64_C(10000000000000000),
                                    UINT64_C(1000000000000000),
                                    UINT64_C(100000000000000),
                                    UINT64_C(10000000000000),
                                    UINT64_C(1000000000000),
                                    UINT64_C(100000000000),
                                    UINT64_C(10000000000),
                                    UINT64_C(1000000000),
                                    UINT64_C(100000000),
                                    UINT64_C(10000000),
                                    UINT64_C(1000000),
                                    UINT64_C(100000),
                                    UINT64_C(10000),
                                    UINT64_C(1000),
                                    UINT64_C(100),
                                    UINT64_C(10),
                                    UINT64_C(1)};
  const unsigned last = sizeof powers / sizeof powers[0] - 1u;
  char digits[sizeof powers / sizeof powers[0] + 1u];
  unsigned used = 0;

  for (unsigned i = 0; i <= last; i++) {
    char digit = '0';
    for (; value >= powers[i]; value -= powers[i])
      digit++;
    if (digit != '0' || used > 0 || i == last) digits[used++] = digit;
  }
  digits[used] = '\0';
  put_text(line, digits);
}

static void put(struct line *line, const char *key, uint64_t value) {
  put_text(line, " ");
  put_text(line, key);
  put_text(line, "=");
  put_digits(line, value);
}

static void put_signed(struct line *line, const char *key, int32_t value) {
  put_text(line, " ");
  put_text(line, key);
  put_text(line, value < 0 ? "=-" : "=");
  put_digits(line, value < 0 ? 0u - (uint32_t)value : (uint32_t)value);
}

static void put_counters(struct line *line, const struct spate_stream *stream) {
  const struct spate_stream_counters *counters = &stream->counters;

  put(line, "pushed", counters->pushed_bytes);
  put(line, "completed", counters->completed_bytes);
  put(line, "durable", counters->durable_bytes);
  put(line, "lost", counters->lost_bytes);
  put(line, "overrun", counters->overrun_bytes);
  put(line, "unknown", counters->unknown_bytes);
  put(line, "requests", counters->data_requests);
  put(line, "checkpoints", counters->checkpoints);
  put(line, "gap_ticks_max", counters->gap_ticks_max);
  put(line, "left", spate_stream_left_bytes(stream));
  put(line, "part", stream->part);
  put(line, "error", stream->error);
}

static void put_pressure(struct line *line, const struct spate_stream *stream) {
  const struct spate_pressure *pressure = &stream->pressure;

  put(line, "pieces", stream->config.piece_count);
  put(line, "held", stream->config.piece_count - spate_stream_room(stream));
  put(line, "held_max", stream->counters.pieces_high_water);
  put(line, "in", pressure->in_bytes_per_s);
  put(line, "out", pressure->out_bytes_per_s);
  put(line, "level", pressure->level);
  if (pressure->left_ms != SPATE_NEVER_MS) put(line, "left_ms", pressure->left_ms);
  put(line, "latency_ticks_max", pressure->latency_ticks_max);
  put(line, "latency_ticks", pressure->latency_ticks_sum);
  for (uint32_t i = 0; i < SPATE_LATENCY_COUNTS; i++) {
    put_text(line, i == 0 ? " latency=" : ",");
    put_digits(line, pressure->latency_counts[i]);
  }
}

static void put_heat(struct line *line, const struct spate_recorder *recorder) {
  const struct spate_heat *heat = &recorder->heat;

  if (!recorder->heat_watch.begun) return; /* no temperature came yet */
  put_signed(line, "celsius", heat->celsius);
  put_signed(line, "warning", heat->warning_celsius);
  put_signed(line, "critical", heat->critical_celsius);
  put(line, "heat", heat->level);
  if (heat->left_ms != SPATE_NEVER_MS) put(line, "heat_ms", heat->left_ms);
}

static uint32_t number_of(const struct spate_stream *stream) {
  const struct spate_recorder *recorder = stream->recorder;
  uint32_t number = 0;

  while (number < recorder->stream_count && recorder->streams[number] != stream)
    number++;
  return number;
}

size_t spate_stream_report(const struct spate_stream *stream, char *text, size_t bytes) {
  struct line line = {.text = text, .bytes = bytes};

  if (bytes == 0) return 0;
  put_text(&line, "spate1");
  put(&line, "stream", number_of(stream));
  put(&line, "hz", spate_port_ticks_per_second());
  put(&line, "ticks", stream->recorder->now_ticks);
  put_counters(&line, stream);
  put_pressure(&line, stream);
  put_heat(&line, stream->recorder);
  put_text(&line, "\n");
  if (!line.full) return line.used;
  text[0] = '\0';
  return 0;
}
