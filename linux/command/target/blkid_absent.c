/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces contents.c and partition_table.c in a build without libblkid. It finds out whether there is anything on a
 * target, so that nothing is overwritten by mistake, but names only what the library itself knows.
 */
#include "../text/fail.h"
#include "../text/units.h"
#include "contents.h"
#include "partition.h"

#include <inttypes.h>
#include <spate/partition.h>

#define HEAD_BYTES (UINT32_C(2) << 20) /* every file system and table has something in these, */
#define TAIL_BYTES (UINT32_C(1) << 20) /* and some arrays only in these, at the end */
#define STEP_BYTES (UINT32_C(64) << 10)

_Static_assert(STEP_BYTES >= SPATE_PARTITION_SCRATCH_BYTES, "the buffer is also the scratch memory");

enum found { BLANK, SOMETHING, UNREADABLE };

/* Blank: all zeros, or all ones, which a trimmed drive may return. */
static bool is_blank(const uint8_t *data, uint64_t bytes) {
  if (data[0] != 0x00 && data[0] != 0xff) return false;
  for (uint64_t i = 1; i < bytes; i++)
    if (data[i] != data[0]) return false;
  return true;
}

static enum found look_at_range(const struct target *target, uint8_t *data, uint64_t at_bytes, uint64_t end_bytes,
                                FILE *to) {
  const uint8_t shift = target->block->block_shift;

  while (at_bytes < end_bytes) {
    const uint64_t now = end_bytes - at_bytes < STEP_BYTES ? end_bytes - at_bytes : STEP_BYTES;
    const enum spate_error error = spate_block_read(target->block, at_bytes >> shift, (uint32_t)(now >> shift), data);
    if (error != SPATE_OK) {
      (void)fprintf(to, "%s: byte %" PRIu64 " cannot be read: %s. The contents are unknown\n", target->name, at_bytes,
                    spate_error_name(error));
      return UNREADABLE;
    }
    if (!is_blank(data, now)) return SOMETHING;
    at_bytes += now;
  }
  return BLANK;
}

static enum found look(const struct target *target, uint8_t *data, FILE *to) {
  const uint64_t bytes = target->block->blocks << target->block->block_shift;
  const enum found found = look_at_range(target, data, 0, bytes < HEAD_BYTES ? bytes : HEAD_BYTES, to);

  if (found != BLANK || bytes <= HEAD_BYTES + TAIL_BYTES) return found;
  return look_at_range(target, data, bytes - TAIL_BYTES, bytes, to);
}

/* The place for a volume of exFAT, which the library finds for itself. */
static void name_partition(const struct target *target, void *scratch, FILE *to) {
  struct spate_partition found;
  char size[UNITS_TEXT_BYTES];

  if (spate_partition_find(target->block, scratch, &found) != SPATE_OK) return;
  if (found.table == SPATE_TABLE_WHOLE_DISK)
    (void)fprintf(to, "%s: exfat\n", target->name);
  else
    (void)fprintf(to, "%s: partition %u: %s, for exFAT or NTFS\n", target->name, found.index + 1u,
                  units_decimal(found.blocks << target->block->block_shift, size));
}

bool contents_write(const struct target *target, FILE *to) {
  uint8_t *data = memory_take(target->memory, STEP_BYTES);
  const enum found found = look(target, data, to);

  if (found == SOMETHING) {
    name_partition(target, data, to);
    (void)fprintf(to,
                  "%s: it is not blank. This spate was built without libblkid, and cannot name more of what is on it\n",
                  target->name);
  }
  memory_give(target->memory, data);
  return found != BLANK;
}

bool contents_partition(const struct target *target, struct target_partition *partition, uint64_t *bytes) {
  (void)partition;
  (void)bytes;
  fail(EXIT_USAGE,
       "%s: this spate was built without libblkid, and cannot find a partition by its number. Leave the partition out, "
       "or "
       "build spate where libblkid's headers are installed",
       target->name);
}

void partition_take_type(const char *disk, struct target_partition *partition) {
  (void)disk;
  (void)partition;
}
