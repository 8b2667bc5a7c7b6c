/* SPDX-License-Identifier: Apache-2.0 */
#include "volume.h"

#include "target/contents.h"
#include "text/fail.h"

#include <stdio.h>
#include <time.h>

#define CACHE_BYTES  (SPATE_EXFAT_CACHE_BLOCKS_MAX * 4096u)
#define BITMAP_BYTES (UINT32_C(1) << 19) /* four million clusters: 4 TiB at 1 MiB each */

void volume_now(void *context, struct spate_exfat_time *now) {
  struct timespec clock;
  struct tm local;

  (void)context;
  if (clock_gettime(CLOCK_REALTIME, &clock) != 0 || localtime_r(&clock.tv_sec, &local) == NULL) return;
  *now = (struct spate_exfat_time){.year = (uint16_t)(local.tm_year + 1900),
                                   .month = (uint8_t)(local.tm_mon + 1),
                                   .day = (uint8_t)local.tm_mday,
                                   .hour = (uint8_t)local.tm_hour,
                                   .minute = (uint8_t)local.tm_min,
                                   .second = (uint8_t)(local.tm_sec < 60 ? local.tm_sec : 59),
                                   .centisecond = (uint8_t)(clock.tv_nsec / 10000000),
                                   .utc_quarters = (int8_t)(local.tm_gmtoff / 900),
                                   .utc_known = true};
}

void volume_memory(struct volume *volume) {
  const struct memory_supply *memory = volume->target.memory;

  volume->ring = NULL;
  volume->ring_table = NULL;
  volume->scratch = memory_take(memory, SPATE_PARTITION_SCRATCH_BYTES);
  volume->config = (struct spate_exfat_config){.block = volume->target.block,
                                               .cache = memory_take(memory, CACHE_BYTES),
                                               .cache_bytes = CACHE_BYTES,
                                               .cache_blocks = volume->blocks,
                                               .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
                                               .bitmap = memory_take(memory, BITMAP_BYTES),
                                               .bitmap_bytes = BITMAP_BYTES,
                                               .salvage = spate_exfat_salvage,
                                               .now = volume_now};
}

static void free_memory(struct volume *volume) {
  const struct memory_supply *memory = volume->target.memory;

  memory_give(memory, volume->ring);
  memory_give(memory, volume->ring_table);
  memory_give(memory, volume->scratch);
  memory_give(memory, volume->config.cache);
  memory_give(memory, volume->config.bitmap);
}

/* Finds the volume. A partition holds the volume directly. If its boot sector is damaged, spate_partition_find() finds
 * no table; the mount then tries the backup boot sector. */
static enum spate_error find(struct volume *volume) {
  const struct target *target = &volume->target;
  const enum spate_error error = spate_partition_find(target->block, volume->scratch, &volume->partition);

  if (error != SPATE_E_NO_TABLE || target->partition.number == 0) return error;
  volume->partition = (struct spate_partition){.blocks = target->block->blocks, .table = SPATE_TABLE_WHOLE_DISK};
  return SPATE_OK;
}

/* A volume that something else is changing may look damaged, or may not be found. Says so instead of the error. */
static void check_unused(const char *name, enum target_access access) {
  char why[TARGET_WHY_BYTES];

  if (access == TARGET_READ && target_in_use(name, why, sizeof why))
    fail(EXIT_REFUSED, "%s %s at present, and cannot be read until that has ended", name, why);
}

/* The library mounts the volume all the same: spate/exfat.h says what it leaves out. */
static void warn_unread(const char *name, const struct spate_exfat_mounted *found) {
  static const char advice[] = ". What a power cut or a kill left is not recovered: check the volume with fsck.exfat. "
                               "If space is missing after that, copy the files, and format it";

  if (found->record_unread == 0) return;
  (void)fprintf(stderr, "spate: %s: the drive cannot read its reservation record (%u of %u blocks)%s\n", name,
                found->record_unread, SPATE_EXFAT_RECORD_BLOCKS, found->dirty ? advice : "");
}

static const char *const read_only_reasons[] = {
    [SPATE_EXFAT_TWO_FATS] = "it has two FATs, and its main boot sector is damaged: the backup may name the wrong FAT",
    [SPATE_EXFAT_ONLY_BACKUP] =
        "its main boot region was overwritten, and only the backup is left: another file system, an array or swap may "
        "have been made over it. If not, fsck.exfat -b restores the region",
    [SPATE_EXFAT_TOO_LONG] =
        "it says that it is longer than the partition or device: an image that was cut short, or an adapter that hides "
        "the end. A file of which a part lies past the end cannot be read",
    [SPATE_EXFAT_SECTORS] =
        "its sectors are larger than the device's blocks, so that a power cut could write a part of "
        "one (mkfs.exfat 1.2.6 to 1.2.9 and Android make such volumes)",
    [SPATE_EXFAT_UPCASE] =
        "its up-case table is missing or damaged, so names may not be found. fsck.exfat of exfatprogs 1.4.2 or later "
        "repairs it",
    [SPATE_EXFAT_NO_BITMAP] = "its allocation bitmap is missing or too short. fsck.exfat of exfatprogs 1.4.2 or later "
                              "repairs one that is too short; otherwise copy the files",
    [SPATE_EXFAT_SYSTEM_FREE] =
        "the allocation bitmap marks clusters of the root directory, of the bitmap itself or of the up-case table as "
        "free: a new file would destroy the volume. fsck.exfat -p repairs it, although it calls it clean",
    [SPATE_EXFAT_BITMAP_UNREAD] =
        "the allocation bitmap cannot be read: the drive is failing, or the bitmap's chain is broken",
    [SPATE_EXFAT_ROOT] = "the root directory's chain of clusters is broken: only its first cluster is read",
};

static void warn_read_only(const char *name, const struct spate_exfat_mounted *found) {
  if (found->read_only != SPATE_EXFAT_WRITABLE)
    (void)fprintf(stderr, "spate: %s: the volume is mounted read only: %s\n", name,
                  read_only_reasons[found->read_only]);
}

const char *volume_damage(const struct volume *volume) {
  const uint8_t why = volume->found.read_only;

  return why == SPATE_EXFAT_WRITABLE || why == SPATE_EXFAT_SECTORS ? NULL : read_only_reasons[why];
}

/* Ends the program. Only a blank target is one to format: another may hold somebody's data. */
__attribute__((noreturn)) static void refuse(struct volume *volume, const char *name, enum spate_error error) {
  const bool blank = spate_partition_check_blank(volume->target.block, volume->scratch) == SPATE_OK;

  (void)fflush(stdout);
  if (!contents_write(&volume->target, stderr) && blank)
    fail(EXIT_FAILED, "%s is blank and has no volume: spate format %s makes one", name, name);
  if (error == SPATE_E_TABLE) expect(error, name);
  fail(EXIT_FAILED, "%s has no exFAT volume, but perhaps other data: look at it with a PC before you format it", name);
}

void volume_open(struct volume *volume, const char *name, enum target_access access) {
  target_open(&volume->target, name, access, 0);
  volume_memory(volume);
  volume->config.read_only = access == TARGET_READ;

  enum spate_error error = find(volume);
  volume->config.first_lba = volume->partition.first_lba;
  volume->config.blocks = volume->partition.blocks;
  if (error == SPATE_OK) error = spate_exfat_mount(&volume->exfat, &volume->config, &volume->found);
  if (error != SPATE_OK) check_unused(name, access);
  if (error == SPATE_E_NO_TABLE || error == SPATE_E_NOT_FOUND || error == SPATE_E_NOT_EXFAT || error == SPATE_E_TABLE)
    refuse(volume, name, error);
  expect(error, name);
  warn_unread(name, &volume->found);
  warn_read_only(name, &volume->found);
}

enum spate_error volume_unmount(struct volume *volume) {
  /* Damage that was met beside what was done. Nothing of ours is unfinished, but the volume must stay marked dirty. */
  const bool damaged = volume->exfat.corrupt && volume->exfat.failed == SPATE_OK && volume->exfat.record_used == 0;
  enum spate_error error = spate_exfat_unmount(&volume->exfat);

  if (error == SPATE_E_CORRUPT && damaged && !volume->config.read_only) {
    (void)fprintf(stderr,
                  "spate: %s: the volume is damaged elsewhere, and stays marked so: spate check names the damage\n",
                  volume->target.name);
    error = SPATE_OK;
  }
  free_memory(volume);
  target_close(&volume->target);
  /* A volume that was only read and was dirty before is still dirty, which is not an error. */
  return volume->config.read_only ? SPATE_OK : error;
}

void volume_close(struct volume *volume) { expect(volume_unmount(volume), volume->target.name); }
