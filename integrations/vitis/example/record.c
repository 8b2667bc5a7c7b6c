/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

static enum spate_error stream_into_the_clip(struct s2mm *dma, struct spate_recorder *recorder,
                                             struct spate_stream *stream, uint64_t bytes) {
  enum spate_error error = s2mm_start(dma, stream);

  while (error == SPATE_OK && dma->state == S2MM_RUNNING && stream->counters.pushed_bytes < bytes) {
    error = s2mm_work(dma, stream);
    const enum spate_error worked = spate_recorder_work(recorder);
    if (error == SPATE_OK) error = worked;
  }
  /* The DMA had completed more than was to be recorded. */
  return error == SPATE_E_RESERVATION ? SPATE_OK : error;
}

enum spate_error example_record(struct s2mm *dma, struct spate_recorder *recorder, struct spate_stream *stream,
                                const char *path, uint64_t bytes) {
  enum spate_error error = spate_stream_arm(stream, path, bytes);
  if (error != SPATE_OK) return error;
  error = stream_into_the_clip(dma, recorder, stream, stream->counters.pushed_bytes + bytes);
  const enum spate_error stopped = s2mm_stop(dma);
  const enum spate_error finished = spate_recorder_finish(recorder);
  if (error != SPATE_OK) return error;
  return finished != SPATE_OK ? finished : stopped;
}
