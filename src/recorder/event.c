/* SPDX-License-Identifier: Apache-2.0 */
/* Events to the caller. */
#include "internal.h"

void spate_recorder_event(struct spate_stream *stream, enum spate_event event, uint64_t value) {
  const struct spate_recorder_config *config = &stream->recorder->config;

  if (config->event != NULL) config->event(config->context, stream, event, value);
}

void spate_recorder_report(struct spate_stream *stream) {
  uint64_t lost_bytes = stream->counters.lost_bytes;
  uint64_t unknown_bytes = stream->counters.unknown_bytes;
  uint64_t overrun_bytes = stream->counters.overrun_bytes;

  if (lost_bytes > stream->event_lost_bytes) {
    spate_recorder_event(stream, SPATE_EVENT_LOST, lost_bytes - stream->event_lost_bytes);
    stream->event_lost_bytes = lost_bytes;
  }
  if (unknown_bytes > stream->event_unknown_bytes) {
    spate_recorder_event(stream, SPATE_EVENT_POWER_UNKNOWN, unknown_bytes - stream->event_unknown_bytes);
    stream->event_unknown_bytes = unknown_bytes;
  }
  if (overrun_bytes > stream->event_overrun_bytes) {
    spate_recorder_event(stream, SPATE_EVENT_OVERRUN, overrun_bytes - stream->event_overrun_bytes);
    stream->event_overrun_bytes = overrun_bytes;
  }
  if (stream->pressure.level != stream->watch.reported) {
    stream->watch.reported = (uint8_t)stream->pressure.level;
    spate_recorder_event(stream, SPATE_EVENT_PRESSURE, stream->pressure.level);
  }
}

void spate_recorder_report_heat(struct spate_recorder *recorder) {
  const enum spate_level level = recorder->heat.level;

  if (level == recorder->heat_watch.reported) return;
  recorder->heat_watch.reported = (uint8_t)level;
  for (uint32_t i = 0; i < recorder->stream_count; i++)
    spate_recorder_event(recorder->streams[i], SPATE_EVENT_HEAT, level);
}
