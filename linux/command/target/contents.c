/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libblkid reads files. So the parts of the target that it needs are copied into a sparse file in memory of the
 * target's size. This way libblkid can also examine drives that the kernel does not have, virtual drives and stripes.
 */
#include "contents.h"

#include "../text/fail.h"
#include "../text/units.h"
#include "partition_table.h"

#include <blkid.h>
#include <errno.h>
#include <inttypes.h>
#include <spate/bytes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAD_BYTES     (UINT32_C(2) << 20) /* at the beginning: every file system can be recognised by these */
#define COPY_BYTES     (UINT32_C(64) << 10)
#define TAIL_BYTES     (UINT32_C(1) << 20) /* at the end: superblocks of arrays, and backup tables */
#define PARTITIONS_MAX 128
#define SECTOR_BYTES   512u                 /* libblkid's unit, whatever the device's blocks are */
#define ROOT_BYTES     (UINT32_C(64) << 10) /* of an exFAT root directory: formatters write the label first */

struct looking {
  const struct target *target;
  int copy;
  uint8_t *data; /* COPY_BYTES */
  uint64_t bytes;
  bool found, unreadable;
  FILE *to;
};

/* Reports the first read error and continues: a user may want to erase a drive because it fails. */
static void say_unreadable(struct looking *looking, uint64_t at_bytes, enum spate_error error) {
  if (!looking->unreadable)
    (void)fprintf(looking->to, "%s: byte %" PRIu64 " cannot be read: %s. The contents are unknown\n",
                  looking->target->name, at_bytes, spate_error_name(error));
  looking->unreadable = looking->found = true;
}

static void copy(struct looking *looking, uint64_t at_bytes, uint64_t bytes) {
  struct spate_block *block = looking->target->block;
  const uint64_t end_bytes = (at_bytes + bytes) & ~(uint64_t)(spate_block_bytes(block) - 1u);

  while (at_bytes < end_bytes) {
    const uint64_t now = end_bytes - at_bytes < COPY_BYTES ? end_bytes - at_bytes : COPY_BYTES;
    const enum spate_error error =
        spate_block_read(block, at_bytes >> block->block_shift, (uint32_t)(now >> block->block_shift), looking->data);
    if (error != SPATE_OK) {
      say_unreadable(looking, at_bytes, error);
      return; /* a failing drive takes a long time for each read */
    }
    if (pwrite(looking->copy, looking->data, (size_t)now, (off_t)at_bytes) != (ssize_t)now)
      fail(EXIT_FAILED, "no memory to examine %s: %s", looking->target->name, strerror(errno));
    at_bytes += now;
  }
}

/* ---- exFAT ---- */

/* Offsets in the boot sector (exFAT 3.1). */
enum { BOOT_NAME = 3, BOOT_FAT = 80, BOOT_HEAP = 88, BOOT_ROOT = 96, BOOT_BLOCK_SHIFT = 108, BOOT_CLUSTER_SHIFT = 109 };
#define BOOT_BYTES      512u
#define FIRST_CLUSTER   2u
#define SHIFT_MAX       25u
#define FAT_ENTRY_BYTES 4u

/* Copies the bytes at `offset_bytes` of a range of the target, as far as they are within the range. */
static void copy_within(struct looking *looking, uint64_t at_bytes, uint64_t bytes, uint64_t offset_bytes,
                        uint64_t wanted_bytes) {
  const uint64_t first = offset_bytes & ~(uint64_t)(COPY_BYTES - 1u);
  const uint64_t end = offset_bytes + wanted_bytes;

  if (offset_bytes >= bytes || end < offset_bytes) return;
  copy(looking, at_bytes + first, (end < bytes ? end : bytes) - first);
}

/* The label of an exFAT volume is an entry of its root directory, which may lie anywhere. libblkid follows the
 * directory through the FAT, so both are copied. */
static void copy_exfat_root(struct looking *looking, uint64_t at_bytes, uint64_t bytes) {
  uint8_t boot[BOOT_BYTES];

  if (pread(looking->copy, boot, sizeof boot, (off_t)at_bytes) != (ssize_t)sizeof boot ||
      memcmp(boot + BOOT_NAME, "EXFAT   ", 8) != 0)
    return;
  const unsigned block_shift = boot[BOOT_BLOCK_SHIFT];
  const unsigned shift = block_shift + boot[BOOT_CLUSTER_SHIFT];
  const uint32_t root = spate_get32(boot + BOOT_ROOT);
  if (block_shift > SHIFT_MAX || shift > SHIFT_MAX || root < FIRST_CLUSTER) return;
  const uint64_t fat_bytes = ((uint64_t)spate_get32(boot + BOOT_FAT) << block_shift) + (uint64_t)root * FAT_ENTRY_BYTES;
  const uint64_t heap_bytes = (uint64_t)spate_get32(boot + BOOT_HEAP) << block_shift;
  copy_within(looking, at_bytes, bytes, fat_bytes, FAT_ENTRY_BYTES);
  copy_within(looking, at_bytes, bytes, heap_bytes + ((uint64_t)(root - FIRST_CLUSTER) << shift), ROOT_BYTES);
}

/* ---- logical partitions ---- */

/* An MBR's entry (or that of an extended boot record): its kind, and its first block. */
enum { MBR_ENTRIES = 446, MBR_ENTRY_BYTES = 16, MBR_KIND = 4, MBR_START = 8, MBR_SIGNATURE = 510 };
#define RECORDS_MAX 128 /* the list may be a loop */

/* Where the extended partition of this entry begins, in blocks from the base of the table; 0: it is none. */
static uint32_t extended_start(const uint8_t *table, unsigned index) {
  const uint8_t *entry = table + MBR_ENTRIES + (size_t)index * MBR_ENTRY_BYTES;
  const bool extended = entry[MBR_KIND] == 0x05 || entry[MBR_KIND] == 0x0f || entry[MBR_KIND] == 0x85;

  return extended ? spate_get32(entry + MBR_START) : 0;
}

/* The table at this byte of the copy; false: there is none. */
static bool read_table(const struct looking *looking, uint64_t at_bytes, uint8_t *table) {
  return at_bytes < looking->bytes && pread(looking->copy, table, BOOT_BYTES, (off_t)at_bytes) == BOOT_BYTES &&
         spate_get16(table + MBR_SIGNATURE) == 0xaa55;
}

/* Logical partitions are listed in blocks of their own, which may be anywhere on the drive. */
static void copy_records(struct looking *looking) {
  const uint8_t shift = looking->target->block->block_shift;
  uint8_t table[BOOT_BYTES];
  uint64_t first = 0, next = 0;

  if (!read_table(looking, 0, table)) return;
  for (unsigned i = 0; i < 4 && first == 0; i++)
    first = next = extended_start(table, i);
  for (unsigned i = 0; i < RECORDS_MAX && next != 0; i++) {
    if ((next << shift) >= looking->bytes) return;
    copy(looking, next << shift, UINT64_C(1) << shift);
    if (!read_table(looking, next << shift, table)) return;
    next = extended_start(table, 1);
    next = next == 0 ? 0 : first + next;
  }
}

/* ---- libblkid ---- */

/* NULL: libblkid failed, and a message was written. On 32-bit machines it fails after January 2038, because its time
 * has 32 bits there. */
static blkid_probe probe_of(const struct looking *looking, uint64_t at_bytes, uint64_t bytes) {
  blkid_probe probe = blkid_new_probe();

  if (probe == NULL) fail(EXIT_FAILED, "no memory");
  if (blkid_probe_set_device(probe, looking->copy, (blkid_loff_t)at_bytes, (blkid_loff_t)bytes) != 0) {
    (void)fprintf(looking->to, "%s: libblkid cannot examine it: %s\n", looking->target->name, strerror(errno));
    blkid_free_probe(probe);
    return NULL;
  }
  (void)blkid_probe_set_sectorsize(probe, spate_block_bytes(looking->target->block));
  (void)blkid_probe_enable_superblocks(probe, 1);
  (void)blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_LABEL);
  return probe;
}

/* Returns type and label, such as ext4 "root"; NULL: nothing was found. */
static const char *superblock(blkid_probe probe, char *text, size_t text_bytes) {
  const char *type, *label;
  const int found = blkid_do_safeprobe(probe);

  if (found == -2) return "several file systems at once";
  if (found != 0 || blkid_probe_lookup_value(probe, "TYPE", &type, NULL) != 0) return NULL;
  if (blkid_probe_lookup_value(probe, "LABEL", &label, NULL) != 0) label = NULL;
  (void)snprintf(text, text_bytes, "%s%s%s%s", type, label != NULL ? " \"" : "", label != NULL ? label : "",
                 label != NULL ? "\"" : "");
  return text;
}

static void look_at_partition(struct looking *looking, blkid_partition partition) {
  const uint64_t at_bytes = (uint64_t)blkid_partition_get_start(partition) * SECTOR_BYTES;
  const uint64_t bytes = (uint64_t)blkid_partition_get_size(partition) * SECTOR_BYTES;
  char size[UNITS_TEXT_BYTES], text[160];

  if (at_bytes >= looking->bytes || bytes == 0 || bytes > looking->bytes - at_bytes) return;
  copy(looking, at_bytes, bytes < HEAD_BYTES ? bytes : HEAD_BYTES);
  copy_exfat_root(looking, at_bytes, bytes);
  blkid_probe probe = probe_of(looking, at_bytes, bytes);
  if (probe == NULL) return;
  const char *what = superblock(probe, text, sizeof text);
  (void)fprintf(looking->to, "%s: partition %d: %s, %s\n", looking->target->name, blkid_partition_get_partno(partition),
                units_decimal(bytes, size), what != NULL ? what : "no known contents");
  blkid_free_probe(probe);
}

static void look_at_table(struct looking *looking, blkid_probe probe) {
  blkid_partlist list;
  const char *type;

  (void)blkid_probe_enable_superblocks(probe, 0);
  (void)blkid_probe_enable_partitions(probe, 1);
  if (blkid_do_safeprobe(probe) != 0 || blkid_probe_lookup_value(probe, "PTTYPE", &type, NULL) != 0) return;
  looking->found = true;
  (void)fprintf(looking->to, "%s: a partition table (%s)\n", looking->target->name, type);
  list = blkid_probe_get_partitions(probe);
  const int count = list == NULL ? 0 : blkid_partlist_numof_partitions(list);
  for (int i = 0; i < count && i < PARTITIONS_MAX; i++)
    look_at_partition(looking, blkid_partlist_get_partition(list, i));
}

static void look_at_all(struct looking *looking) {
  blkid_probe probe = probe_of(looking, 0, looking->bytes);
  char text[160];

  if (probe == NULL) return;
  const char *what = superblock(probe, text, sizeof text);
  if (what != NULL) {
    looking->found = true;
    (void)fprintf(looking->to, "%s: %s\n", looking->target->name, what);
  }
  look_at_table(looking, probe);
  blkid_free_probe(probe);
}

/* ---- public functions ---- */

static struct looking begin(const struct target *target, FILE *to) {
  struct looking looking = {.target = target,
                            .copy = memfd_create("contents", MFD_CLOEXEC),
                            .data = memory_take(target->memory, COPY_BYTES),
                            .bytes = target->block->blocks << target->block->block_shift,
                            .to = to};

  if (looking.copy < 0 || ftruncate(looking.copy, (off_t)looking.bytes) != 0)
    fail(EXIT_FAILED, "no memory to examine %s: %s", target->name, strerror(errno));
  copy(&looking, 0, looking.bytes < HEAD_BYTES ? looking.bytes : HEAD_BYTES);
  if (looking.bytes > HEAD_BYTES + TAIL_BYTES) copy(&looking, looking.bytes - TAIL_BYTES, TAIL_BYTES);
  copy_records(&looking);
  return looking;
}

static void end(struct looking *looking) {
  memory_give(looking->target->memory, looking->data);
  (void)close(looking->copy);
}

bool contents_write(const struct target *target, FILE *to) {
  struct looking looking = begin(target, to);

  copy_exfat_root(&looking, 0, looking.bytes);
  look_at_all(&looking);
  end(&looking);
  return looking.found;
}

bool contents_partition(const struct target *target, struct target_partition *partition, uint64_t *bytes) {
  const uint64_t block_mask = spate_block_bytes(target->block) - 1u;
  struct looking looking = begin(target, stderr);
  blkid_probe probe = probe_of(&looking, 0, looking.bytes);
  bool found = false;

  if (probe != NULL) {
    found = partition_in(probe, partition, bytes);
    blkid_free_probe(probe);
  }
  end(&looking);
  return found && *bytes > 0 && partition->offset_bytes < looking.bytes &&
         *bytes <= looking.bytes - partition->offset_bytes && ((partition->offset_bytes | *bytes) & block_mask) == 0;
}
