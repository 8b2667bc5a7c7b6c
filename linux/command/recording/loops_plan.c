/* SPDX-License-Identifier: Apache-2.0 */
/* What loops keep, in which parts, and whether the volume has room for it. */
#include "loops.h"

#include "../text/units.h"
#include "recording.h"

#define PARTS_USUAL    2000u /* so many parts are kept, if they have a useful length */
#define PART_BYTES_MIN (UINT64_C(16) << 20)
#define PARTS_LEAST    16u
#define SLOT_BYTES     (UINT64_C(1) << 20)
#define MS             1000.0

static uint64_t round_up(uint64_t bytes, uint64_t step) { return (bytes + step - 1u) / step * step; }

/* What all loops may take of the volume. */
static uint64_t total_bytes(const struct recording_request *request, const struct spate_exfat_info *info) {
  if (request->keep_percent > 0) return (uint64_t)((double)info->bytes * request->keep_percent / 100);
  return request->keep_bytes;
}

void loops_plan(struct session *session, const struct recording_request *request) {
  struct loops *loops = &session->loops;
  struct spate_exfat_info info;
  char keep[UNITS_TEXT_BYTES], part[UNITS_TEXT_BYTES], size[UNITS_TEXT_BYTES];

  *loops = (struct loops){.event = request->event,
                          .before_ms = (uint64_t)(request->before_seconds * MS),
                          .after_ms = (uint64_t)(request->after_seconds * MS),
                          .keep_ms = (uint64_t)(request->keep_seconds * MS)};
  if (!request->keeps) return;
  expect(spate_exfat_info(&session->volume.exfat, &info), request->target);
  const uint64_t total = total_bytes(request, &info), bytes = total / request->count;
  const uint64_t basis = bytes > 0 ? bytes : info.bytes / request->count;
  const uint64_t step = info.cluster_bytes > SLOT_BYTES ? info.cluster_bytes : SLOT_BYTES;
  uint64_t part_bytes = request->split_bytes;

  if (total > info.bytes) fail(EXIT_REFUSED, "--keep: %s has %s in all", request->target, units_text(info.bytes, size));
  if (part_bytes == 0) {
    part_bytes = basis / PARTS_USUAL > PART_BYTES_MIN ? basis / PARTS_USUAL : PART_BYTES_MIN;
    if (part_bytes > basis / PARTS_LEAST) part_bytes = basis / PARTS_LEAST;
  }
  loops->keep_bytes = bytes;
  loops->part_bytes = round_up(part_bytes, step);
  if (basis / SPATE_LOOP_PARTS_MIN < loops->part_bytes)
    fail(EXIT_REFUSED,
         "--keep: %s for each stream are fewer than %u parts of %s. Keep more, or use --split with a smaller size",
         units_text(basis, keep), SPATE_LOOP_PARTS_MIN, units_text(loops->part_bytes, part));
  if (basis / loops->part_bytes > SPATE_LOOP_PARTS_MAX - PARTS_LEAST)
    fail(EXIT_REFUSED, "--split %s: more than %u parts would be kept. Use a larger size",
         units_text(loops->part_bytes, part), SPATE_LOOP_PARTS_MAX - PARTS_LEAST);
}

/* ---- room ---- */

/* What one stream keeps, with the present part and the next one; 0: unknown, because the rate is. What triggers keep
 * comes on top: nobody knows how many there will be. */
static double needed_bytes(const struct loops *loops, double rate) {
  const double bytes = loops->keep_ms > 0 ? rate * (double)loops->keep_ms / MS : (double)loops->keep_bytes;

  return bytes > 0 ? bytes + 2.0 * (double)loops->part_bytes : 0;
}

/* Closed parts have their length, and the present and the next one reserve that of a whole part. */
static uint64_t held_bytes(const struct spate_loop *loop) {
  uint64_t bytes = 0;

  for (uint32_t i = 0; i < loop->count; i++)
    bytes += loop->config.parts[i].bytes > 0 ? loop->config.parts[i].bytes : loop->config.part_bytes;
  return bytes;
}

void loops_compare_room(struct session *session, const struct recording_request *request) {
  struct spate_exfat_info info;
  char need[UNITS_TEXT_BYTES], has[UNITS_TEXT_BYTES];
  double bytes = 0;

  expect(spate_exfat_info(&session->volume.exfat, &info), request->target);
  uint64_t room_bytes = info.free_bytes;
  for (unsigned i = 0; i < session->count; i++) {
    bytes += needed_bytes(&session->loops, session->recordings[i].source.config.rate);
    room_bytes += held_bytes(&session->recordings[i].looping.loop);
  }
  if (bytes <= (double)room_bytes) return;
  fail_tell("%s has %s for the loop, and what it is to keep needs %s: it will keep less. Ask for less, or free some "
            "space",
            request->target, units_decimal(room_bytes, has), units_decimal((uint64_t)bytes, need));
}
