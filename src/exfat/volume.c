/* SPDX-License-Identifier: Apache-2.0 */
/* Mount and unmount. */
#include "internal.h"

#define BITMAP_SECOND    1u /* flag of a bitmap entry: it belongs to the second FAT */
#define BITMAP_BYTES_MIN 4096u

static bool memory_fits(const struct spate_block *device, const void *start, size_t bytes, uint32_t bytes_min) {
  return bytes >= bytes_min && (bytes & (spate_block_bytes(device) - 1u)) == 0 &&
         ((uintptr_t)start & (SPATE_DMA_ALIGN - 1u)) == 0;
}

enum spate_error spate_exfat_config_check(const struct spate_exfat_config *config) {
  const struct spate_block *device = config->block;

  if (config->blocks < 2u * BOOT_SECTORS_OF_REGION || config->first_lba > device->blocks ||
      config->blocks > device->blocks - config->first_lba)
    return SPATE_E_INVALID;
  const uint32_t cache_bytes = SPATE_EXFAT_CACHE_BLOCKS_MIN << device->block_shift;
  if (!memory_fits(device, config->cache, config->cache_bytes, cache_bytes)) {
    spate_port_log("exfat: the cache is too small or misaligned; bytes at least, a multiple of the block", cache_bytes);
    return SPATE_E_MEMORY;
  }
  if (!memory_fits(device, config->bitmap, config->bitmap_bytes, BITMAP_BYTES_MIN)) {
    spate_port_log("exfat: the bitmap's memory is too small or misaligned; bytes at least", BITMAP_BYTES_MIN);
    return SPATE_E_MEMORY;
  }
  return SPATE_OK;
}

/* The clusters of the bitmap or the up-case table: always linked by the FAT. If the entry is impossible, the volume is
 * without them. */
static enum spate_error open_system(struct spate_exfat *volume, const uint8_t *raw, uint64_t bytes_min,
                                    uint64_t bytes_max, struct spate_exfat_chain *chain) {
  spate_exfat_entry_chain(raw, 0, chain);
  enum spate_error error = spate_exfat_chain_check(volume, chain);

  if (error == SPATE_E_CORRUPT || chain->bytes < bytes_min || chain->bytes > bytes_max) {
    chain->bytes = 0;
    return SPATE_OK;
  }
  return error;
}

/* The table by its chain in the FAT, and if that is broken, as Linux reads it: without the FAT, into which fsck.exfat
 * 1.4.3 does not write the chain of a table that it has repaired. */
static enum spate_error open_upcase(struct spate_exfat *volume, const uint8_t *raw, struct spate_exfat_mounted *found) {
  const bool corrupt = volume->corrupt;
  bool whole = false;
  enum spate_error error = open_system(volume, raw, 2, 2u * (UINT16_MAX + UINT64_C(1)), &volume->upcase);

  for (unsigned tries = 0; error == SPATE_OK && volume->upcase.bytes != 0 && !whole && tries < 2; tries++) {
    volume->upcase.contiguous = tries != 0;
    error = spate_exfat_upcase_check(volume, spate_field_get32(raw + 4), &whole);
    if (error == SPATE_E_CORRUPT && tries == 0) error = SPATE_OK;
    volume->corrupt = corrupt;
  }
  if (whole) return SPATE_OK;
  if (error == SPATE_E_CORRUPT || error == SPATE_E_MEDIA) volume->upcase.bytes = 0;
  spate_exfat_mount_read_only(volume, found, SPATE_EXFAT_UPCASE);
  return error == SPATE_E_CORRUPT || error == SPATE_E_MEDIA ? SPATE_OK : error;
}

/* Of several entries for the active FAT the first counts, as in Linux. */
static enum spate_error open_entry(struct spate_exfat *volume, const uint8_t *raw, struct spate_exfat_mounted *found) {
  enum spate_error error;

  switch (raw[0]) {
  case EXFAT_TYPE_BITMAP:
    if ((raw[1] & BITMAP_SECOND) != volume->active_fat || volume->bitmap.bytes != 0) return SPATE_OK;
    error = open_system(volume, raw, spate_exfat_bitmap_bytes(volume), UINT32_MAX, &volume->bitmap);
    if (volume->bitmap.bytes != 0) volume->bitmap.bytes = spate_exfat_bitmap_bytes(volume);
    return error;
  case EXFAT_TYPE_UPCASE: return volume->upcase.bytes == 0 ? open_upcase(volume, raw, found) : SPATE_OK;
  default: return SPATE_OK;
  }
}

/* The root directory's length is that of its chain. If that is broken, its first cluster can be read. */
static enum spate_error measure_root(struct spate_exfat *volume, struct spate_exfat_mounted *found) {
  enum spate_error error = spate_exfat_chain_measure(volume, &volume->root, EXFAT_DIRECTORY_BYTES_MAX);

  if (error != SPATE_E_CORRUPT || !spate_exfat_cluster_valid(volume, volume->root.first_cluster)) return error;
  volume->root.bytes = spate_exfat_cluster_bytes(volume);
  spate_exfat_mount_read_only(volume, found, SPATE_EXFAT_ROOT);
  return SPATE_OK;
}

/* Search the root directory for the bitmap and the up-case table. Without them the files can be read. */
static enum spate_error open_root(struct spate_exfat *volume, uint32_t root_cluster,
                                  struct spate_exfat_mounted *found) {
  volume->root.first_cluster = root_cluster;
  enum spate_error error = measure_root(volume, found);

  for (uint32_t at = 0; error == SPATE_OK && at < volume->root.bytes; at += EXFAT_ENTRY_BYTES) {
    _Alignas(8) uint8_t raw[EXFAT_ENTRY_BYTES];
    error = spate_exfat_entry_read(volume, &volume->root, at, raw);
    if (error != SPATE_OK || raw[0] == EXFAT_TYPE_END) break;
    error = open_entry(volume, raw, found);
  }
  if (error != SPATE_OK) return error;
  if (volume->bitmap.bytes == 0) spate_exfat_mount_read_only(volume, found, SPATE_EXFAT_NO_BITMAP);
  if (volume->upcase.bytes == 0) spate_exfat_mount_read_only(volume, found, SPATE_EXFAT_UPCASE);
  return SPATE_OK;
}

static enum spate_error chain_is_marked(struct spate_exfat *volume, struct spate_exfat_chain *chain, bool *marked) {
  const uint32_t count = (uint32_t)spate_exfat_clusters(volume, chain->bytes);
  uint32_t run;

  for (uint32_t index = 0; index < count && *marked; index += run) {
    uint32_t first = EXFAT_FIRST_CLUSTER;
    enum spate_error error = spate_exfat_chain_run(volume, chain, index, &first, &run);
    first -= EXFAT_FIRST_CLUSTER;
    if (error == SPATE_OK) error = spate_exfat_bitmap_marked(volume, first, first + run, marked);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

/* If the bitmap marks clusters of the volume's own structures as free, the next file would overwrite them. The volume's
 * files can still be read. Such volumes exist: Linux marks the root directory's first cluster as allocated when it
 * mounts, and refuses to mount if one of the bitmap's is free (79c1587b6cda). */
static enum spate_error check_system(struct spate_exfat *volume, struct spate_exfat_mounted *found) {
  struct spate_exfat_chain bitmap = volume->bitmap; /* a cursor of its own: the bits are read through the other */
  bool marked = true;

  if (found->read_only != SPATE_EXFAT_WRITABLE) return SPATE_OK;
  enum spate_error error = chain_is_marked(volume, &volume->root, &marked);
  if (error == SPATE_OK) error = chain_is_marked(volume, &bitmap, &marked);
  if (error == SPATE_OK) error = chain_is_marked(volume, &volume->upcase, &marked);
  if (error == SPATE_OK && marked) return SPATE_OK;
  if (error != SPATE_OK && error != SPATE_E_MEDIA && error != SPATE_E_CORRUPT) return error;
  spate_exfat_mount_read_only(volume, found, error == SPATE_OK ? SPATE_EXFAT_SYSTEM_FREE : SPATE_EXFAT_BITMAP_UNREAD);
  return SPATE_OK;
}

static enum spate_error open_volume(struct spate_exfat *volume, const struct spate_exfat_config *config,
                                    const struct spate_exfat_repairs *repairs, struct spate_exfat_mounted *found) {
  uint32_t root_cluster;

  *found = (struct spate_exfat_mounted){0};
  memset(volume, 0, sizeof *volume);
  volume->config = *config;
  volume->repairs = repairs;
  volume->power_mark = spate_block_power_mark(config->block);
  volume->block_shift = config->block->block_shift;
  volume->block_mask = spate_block_bytes(config->block) - 1u;
  volume->turn_ticks = spate_port_ticks_per_second() / 1000u;
  spate_exfat_cache_open(volume);
  enum spate_error error = spate_exfat_boot_read(volume, &root_cluster, found);
  if (error == SPATE_OK) error = open_root(volume, root_cluster, found);
  if (error == SPATE_OK) error = check_system(volume, found);
  if (error == SPATE_OK) error = spate_exfat_record_open(volume, found);
  found->backup_boot = volume->from_backup;
  return error;
}

/* Recover what the record names. Without `repairs` its slots stay in use, and the volume dirty, as if recovery had
 * failed.
 *
 * If a PC has marked the volume clean, it may have given clusters of a clip to other files. Nothing is salvaged then.
 * The record must say so itself: if it stays, the next clip makes the volume dirty again. */
static enum spate_error resume(struct spate_exfat *volume, struct spate_exfat_mounted *found) {
  if (volume->record_used == 0 || volume->untrusted || volume->config.read_only) {
    volume->foreign_dirty = found->dirty;
    return SPATE_OK;
  }
  if (!found->dirty) volume->failed = spate_exfat_record_forget_chunks(volume);
  if (volume->failed != SPATE_OK) {
    spate_port_log("exfat: the reservation record cannot be rewritten: no changes; error", (uint64_t)volume->failed);
    volume->record_unresolved = volume->record_used;
    return SPATE_OK;
  }
  if (volume->repairs != NULL) return volume->repairs->recover(volume, found);
  volume->dirty = found->dirty; /* what stays is this library's, whatever else is */
  volume->record_unresolved = volume->record_used;
  return SPATE_OK;
}

/* Format does not need these. */
static enum spate_error check_blocks(const struct spate_exfat_config *config) {
  if (config->cache_blocks != NULL && config->cache_block_count >= SPATE_EXFAT_CACHE_BLOCKS_MIN) return SPATE_OK;
  spate_port_log("exfat: config.cache_blocks is too small; blocks at least", SPATE_EXFAT_CACHE_BLOCKS_MIN);
  return SPATE_E_MEMORY;
}

/* `volume` may hold anything and is not read: the device knows the volumes that are mounted. */
static enum spate_error mount(struct spate_exfat *volume, const struct spate_exfat_config *config,
                              const struct spate_exfat_repairs *repairs, struct spate_exfat_mounted *found) {
  struct spate_exfat_mounted unasked;
  enum spate_error error = spate_exfat_config_check(config);

  if (error == SPATE_OK) error = check_blocks(config);
  if (error == SPATE_OK) error = spate_block_claim(config->block, volume, config->first_lba, config->blocks);
  if (error != SPATE_OK) return error;
  if (found == NULL) found = &unasked;
  error = open_volume(volume, config, repairs, found);
  volume->mounted = volume;
  if (error == SPATE_OK && repairs == NULL && volume->record_lba == 0) {
    error = volume->failed; /* it is there, but cannot be read. With read_only that is no error */
    if (found->record_unread == 0) {
      spate_port_log("exfat: no reservation record: record on the volume once after spate_exfat_mount()", 0);
      error = SPATE_E_UNSUPPORTED;
    }
  }
  if (error == SPATE_OK) error = resume(volume, found);
  if (error != SPATE_OK) spate_exfat_abandon(volume);
  return error;
}

enum spate_error spate_exfat_mount(struct spate_exfat *volume, const struct spate_exfat_config *config,
                                   struct spate_exfat_mounted *found) {
  static const struct spate_exfat_repairs repairs = {.recover = spate_exfat_recover,
                                                     .boot = spate_exfat_boot_restore,
                                                     .record = spate_exfat_record_make,
                                                     .grow = spate_exfat_directory_grow};

  return mount(volume, config, &repairs, found);
}

enum spate_error spate_exfat_mount_own(struct spate_exfat *volume, const struct spate_exfat_config *config,
                                       struct spate_exfat_mounted *found) {
  return mount(volume, config, NULL, found);
}

/* Lengths that are being written are in the volume's memory. Those that wait for a block are not written any more. */
static void end_publishing(struct spate_exfat *volume) {
  for (uint32_t i = 0; i < volume->block_count; i++)
    volume->blocks[i].claimed = true;
  for (uint32_t i = 0; i < volume->block_count; i++) {
    while (volume->blocks[i].writing) {
      spate_block_poll(volume->config.block, 1);
      if (volume->blocks[i].writing) spate_port_relax();
    }
  }
  for (struct spate_exfat_clip *clip = volume->clips; clip != NULL; clip = clip->next)
    spate_exfat_clip_end_publish(clip, SPATE_E_NOT_MOUNTED);
}

enum spate_error spate_exfat_take_turns(struct spate_exfat *volume, void (*turn)(void *context), void *context) {
  if (turn == NULL || context == NULL) return SPATE_E_INVALID;
  if (volume->mounted != volume) return SPATE_E_NOT_MOUNTED;
  struct spate_block *device = volume->config.block;
  if (device->while_waiting != NULL) return SPATE_E_OPEN;
  device->while_waiting = turn;
  device->while_waiting_context = context;
  volume->turns_of = context;
  return SPATE_OK;
}

void spate_exfat_leave_turns(struct spate_exfat *volume, const void *context) {
  struct spate_block *device = volume->config.block;

  if (volume->turns_of != context || device->while_waiting_context != context) return;
  device->while_waiting = NULL;
  device->while_waiting_context = NULL;
  volume->turns_of = NULL;
}

void spate_exfat_abandon(struct spate_exfat *volume) {
  if (volume->mounted != volume) return;
  if (volume->turns_of != NULL) spate_exfat_leave_turns(volume, volume->turns_of);
  volume->mounted = NULL; /* before the last reports: they may not publish again */
  end_publishing(volume);
  spate_block_release(volume->config.block, volume);
}

enum spate_error spate_exfat_unmount(struct spate_exfat *volume) {
  enum spate_error error = spate_exfat_begin(volume);

  if (error != SPATE_OK) return error;
  if (volume->clips != NULL) {
    spate_exfat_end(volume);
    return SPATE_E_IN_USE;
  }
  error = spate_exfat_end_change(volume, SPATE_OK);
  spate_exfat_abandon(volume);
  if (error == SPATE_OK) error = volume->failed;
  return error == SPATE_OK && volume->dirty ? SPATE_E_CORRUPT : error;
}
