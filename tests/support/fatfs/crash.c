/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FatFs in the power cuts of the crash gate: a clip is recorded as a careful user of FatFs would, on the journalled
 * drive of tests/power_cut. The power is cut after every event, and the result is compared with the same promises: a
 * synchronised length survives, and the volume is consistent.
 *
 *   fatfs-crash BYTES PIECE_BYTES SYNC_EVERY EXPAND STATES
 *
 * records BYTES in pieces. It calls f_sync() after every SYNC_EVERY pieces (0: never). If EXPAND is 1, it first calls
 * f_expand() with the whole length. It prints a summary of at most STATES states as JSON.
 */
#include "cuts.h"
#include "promises.h"

#include <ff.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <diskio.h> /* after ff.h, whose types it uses */

#define VOLUME_BYTES  (UINT64_C(32) << 20)
#define SECTOR_BYTES  512u
#define ALIGN_SECTORS 2048u
#define PIECE_MAX     (1u << 20)

static struct ram_block ram;
static FATFS volume;
static struct journal journal;
static struct medium medium;
static struct promises promises;
static struct oracle oracle;
static bool on_medium; /* FatFs accesses the media after the cut, not the drive that is recorded on */
static unsigned unmountable, broken_volumes;

static void must(bool good, const char *what) {
  if (good) return;
  (void)fprintf(stderr, "fatfs-crash: %s failed\n", what);
  exit(2);
}

/* ---- FatFs's drive ---- */

DSTATUS disk_initialize(BYTE pdrv) { return disk_status(pdrv); }
DSTATUS disk_status(BYTE pdrv) { return pdrv == 0 ? 0 : STA_NOINIT; }

static _Alignas(64) uint8_t bounce[PIECE_MAX];

DRESULT disk_read(BYTE pdrv, BYTE *buff, LBA_t sector, UINT count) {
  size_t bytes = (size_t)count * SECTOR_BYTES;
  if (pdrv != 0 || bytes > PIECE_MAX) return RES_PARERR;
  if (on_medium) {
    memcpy(buff, medium.memory + sector * SECTOR_BYTES, bytes);
    return RES_OK;
  }
  if (spate_block_read(&ram.block, sector, count, bounce) != SPATE_OK) return RES_ERROR;
  memcpy(buff, bounce, bytes);
  return RES_OK;
}

DRESULT disk_write(BYTE pdrv, const BYTE *buff, LBA_t sector, UINT count) {
  size_t bytes = (size_t)count * SECTOR_BYTES;
  if (pdrv != 0 || on_medium || bytes > PIECE_MAX) return RES_PARERR;
  memcpy(bounce, buff, bytes);
  return spate_block_write(&ram.block, sector, count, bounce, 0) == SPATE_OK ? RES_OK : RES_ERROR;
}

DRESULT disk_ioctl(BYTE pdrv, BYTE cmd, void *buff) {
  if (pdrv != 0) return RES_PARERR;
  switch (cmd) {
  case CTRL_SYNC: return spate_block_flush(&ram.block) == SPATE_OK ? RES_OK : RES_ERROR;
  case GET_SECTOR_COUNT: *(LBA_t *)buff = VOLUME_BYTES / SECTOR_BYTES; return RES_OK;
  case GET_SECTOR_SIZE: *(WORD *)buff = SECTOR_BYTES; return RES_OK;
  case GET_BLOCK_SIZE: *(DWORD *)buff = ALIGN_SECTORS; return RES_OK;
  default: return RES_PARERR;
  }
}

DWORD get_fattime(void) { return 1u << 21 | 1u << 16; } /* 1980-01-01: each run is the same */

/* ---- the journal ---- */

static void taken(void *context, struct ram_block *drive, const struct spate_io *io) {
  (void)context;
  struct journal_entry *entry = journal_taken(&journal, 0, drive, io);
  if (entry != NULL) entry->stream = entry->blocks > 8;
}

static void over(void *context, struct ram_block *drive, const struct spate_io *io) {
  (void)context;
  (void)drive;
  journal_over(&journal, io);
}

static void dropped(void *context, struct ram_block *drive) {
  (void)context;
  (void)drive;
}

static const struct ram_observer observer = {taken, over, dropped, NULL};

/* ---- the recording ---- */

static void make_volume(void) {
  const MKFS_PARM options = {.fmt = FM_EXFAT | FM_SFD, .au_size = 1u << 20};
  static BYTE work[65536];
  ram_block_open(&ram, VOLUME_BYTES / SECTOR_BYTES, SECTOR_BYTES);
  must(f_mkfs("", &options, work, sizeof work) == FR_OK, "f_mkfs");
  must(f_mount(&volume, "", 1) == FR_OK, "f_mount");
  medium_open(&medium, 1, ram.block.blocks, SECTOR_BYTES);
  medium_load(&medium, 0, ram.memory);
  journal_init(&journal, SECTOR_BYTES, ram.block.blocks);
  ram.observer = &observer;
}

static void promise(struct content *content, uint64_t bytes) {
  promises_add(&promises, "CLIP.RAW",
               (struct promise){.since = journal.now,
                                .presence = PRESENT,
                                .bytes_min = bytes,
                                .bytes_max = UINT64_MAX,
                                .content = content,
                                .twin = UINT32_MAX,
                                .folder = UINT32_MAX});
}

static void record(uint64_t bytes, uint32_t piece_bytes, unsigned sync_every, bool expand) {
  static uint8_t piece[PIECE_MAX];
  struct content *content = promises_content(&promises);
  uint64_t random = 7;
  FIL file;
  must(f_open(&file, "CLIP.RAW", FA_WRITE | FA_CREATE_NEW) == FR_OK, "f_open");
  if (expand) must(f_expand(&file, bytes, 1) == FR_OK, "f_expand");
  must(f_sync(&file) == FR_OK, "f_sync");
  promise(content, 0);
  for (uint64_t done = 0; done < bytes; done += piece_bytes) {
    UINT put_bytes = 0;
    for (uint32_t i = 0; i < piece_bytes; i += 8) {
      uint64_t word = ram_random(&random);
      memcpy(piece + i, &word, sizeof word);
    }
    content_put(content, done, piece, piece_bytes);
    content_step(content, (struct content_step){.since = journal.now, .pushed_bytes = done + piece_bytes});
    must(f_write(&file, piece, piece_bytes, &put_bytes) == FR_OK && put_bytes == piece_bytes, "f_write");
    if (sync_every == 0 || (done / piece_bytes + 1) % sync_every != 0) continue;
    must(f_sync(&file) == FR_OK, "f_sync");
    promise(content, done + piece_bytes);
  }
  ram.observer = NULL; /* the cut comes before the clip is closed */
  must(f_close(&file) == FR_OK, "f_close");
}

/* ---- the judge ---- */

static bool mounts(void) {
  FILINFO entry;
  on_medium = true;
  bool good = f_mount(&volume, "", 1) == FR_OK && f_stat("CLIP.RAW", &entry) != FR_DISK_ERR;
  on_medium = false;
  return good;
}

static bool judge(void *context, uint64_t at, uint64_t random) {
  (void)context;
  (void)random;
  promises.broken[0] = '\0';
  promises.short_of = promises.foreign = false;
  bool whole = oracle_read(&oracle, medium.memory, VOLUME_BYTES);
  oracle_free(&oracle);
  unmountable += !mounts();
  broken_volumes += !whole || oracle.unallocated > 0 || oracle.cross_linked > 0;
  promises_check(&promises, &oracle, at, true);
  promises.loss.broken_short += promises.short_of;
  promises.loss.broken_foreign += promises.foreign;
  return true;
}

int main(int count, char **words) {
  must(count == 6, "usage");
  struct cuts cuts = {.medium = &medium,
                      .journal = &journal,
                      .seed = 1,
                      .tear_blocks = 1,
                      .states_max = strtoull(words[5], NULL, 0),
                      .judge = judge};
  uint32_t piece_bytes = (uint32_t)strtoul(words[2], NULL, 0);
  must(piece_bytes > 0 && piece_bytes <= PIECE_MAX, "piece");
  make_volume();
  record(strtoull(words[1], NULL, 0), piece_bytes, (unsigned)strtoul(words[3], NULL, 0), strcmp(words[4], "1") == 0);
  promises.window_ticks = UINT64_MAX;
  journal_finish(&journal);
  must(cuts_run(&cuts), "cuts");
  const struct promise_loss *loss = &promises.loss;
  (void)printf("{\"states\": %llu, \"short\": %llu, \"foreign\": %llu, \"unmountable\": %u, \"broken\": %u, "
               "\"loss_mean\": %.0f, \"loss_max\": %llu}\n",
               (unsigned long long)cuts.states, (unsigned long long)loss->broken_short,
               (unsigned long long)loss->broken_foreign, unmountable, broken_volumes,
               loss->states > 0 ? (double)loss->bytes_sum / (double)loss->states : 0,
               (unsigned long long)loss->bytes_max);
  return 0;
}
