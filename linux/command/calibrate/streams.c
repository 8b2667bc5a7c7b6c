/* SPDX-License-Identifier: Apache-2.0 */
#include "streams.h"

uint64_t calibrate_share(const struct load *load, double share) {
  return (uint64_t)((double)load->bytes * share) / CALIBRATE_IO_BYTES * CALIBRATE_IO_BYTES;
}

struct load_stream calibrate_write(uint64_t at, uint64_t bytes) {
  return (struct load_stream){
      .op = SPATE_WRITE, .at = at, .bytes = bytes, .io_bytes = CALIBRATE_IO_BYTES, .depth = CALIBRATE_DEPTH};
}

bool calibrate_segments(struct load_curve *curve, const struct calibrate_results *results, unsigned most,
                        double skip_bytes, struct fit_segments *segments) {
  const double pause_s = results->pause_ms > 0 ? results->pause_ms / 1000 : 0;

  fit_known_pauses(curve->gaps, &curve->gap_count, pause_s);
  return fit_segments(curve->points, curve->count, curve->gaps, curve->gap_count, pause_s, skip_bytes, most, segments);
}
