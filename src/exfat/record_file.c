/* SPDX-License-Identifier: Apache-2.0 */
/* The file of the reservation record. Mount finds it; format makes it, or the first change of another system's volume.
 */
#include "internal.h"

#define RECORD_ATTRIBUTES ((uint16_t)(EXFAT_HIDDEN | EXFAT_SYSTEM))

/* Names: .spate, or .spate_2 … .spate_9 if a file that cannot be the record has that name. A volume that was copied
 * file by file has such a file: it has lost its attributes, or is fragmented. Files of others are never written. */
#define NAMES      9u
#define NAME_COUNT 8u /* units of the longer ones */
#define SHORT_NAME 6u
static const char name_start[NAME_COUNT] = ".SPATE_";

static uint32_t name_build(uint32_t number, uint16_t *units, uint16_t *upper) {
  uint32_t count = number == 1 ? SHORT_NAME : NAME_COUNT;

  for (uint32_t i = 0; i < count; i++) {
    upper[i] = (uint16_t)(i + 1u < NAME_COUNT ? (uint8_t)name_start[i] : '0' + number);
    units[i] = (uint16_t)(upper[i] >= 'A' && upper[i] <= 'Z' ? upper[i] + ('a' - 'A') : upper[i]);
  }
  return count;
}

/* The number of the set's name; 0: it is not a name of the record. */
static uint32_t name_number(const uint8_t *raw) {
  uint16_t units[SPATE_EXFAT_NAME_UNITS_MAX];
  uint32_t count = spate_exfat_set_name(raw, units);

  if (count != SHORT_NAME && count != NAME_COUNT) return 0;
  for (uint32_t i = 0; i < count && i + 1u < NAME_COUNT; i++) {
    bool lower = units[i] >= 'a' && units[i] <= 'z';
    if ((lower ? units[i] - ('a' - 'A') : units[i]) != (uint8_t)name_start[i]) return 0;
  }
  if (count == SHORT_NAME) return 1;
  return units[NAME_COUNT - 1u] >= '2' && units[NAME_COUNT - 1u] <= '9' ? units[NAME_COUNT - 1u] - (uint32_t)'0' : 0;
}

void spate_exfat_record_build(uint8_t *raw, uint32_t number, uint32_t first_cluster, uint32_t block_shift,
                              const struct spate_exfat_config *config) {
  uint16_t units[NAME_COUNT];
  uint16_t upper[NAME_COUNT];
  uint32_t count = name_build(number, units, upper);

  spate_exfat_set_build(raw, units, count, spate_exfat_name_hash(upper, count), RECORD_ATTRIBUTES);
  spate_exfat_set_lengths(raw, first_cluster, (uint64_t)EXFAT_RECORD_SLOTS << block_shift, true);
  spate_exfat_time_stamp(config, raw, true);
  spate_exfat_set_seal(raw, EXFAT_RECORD_ENTRIES);
}

static uint32_t record_clusters(const struct spate_exfat *volume) {
  return (uint32_t)spate_exfat_clusters(volume, (uint64_t)EXFAT_RECORD_SLOTS << spate_exfat_block_shift(volume));
}

/* Where the record is, if this can be its file: hidden, of the right size, and in one run. 0: it cannot. */
static enum spate_error adopt(struct spate_exfat *volume, const struct exfat_set *set, uint64_t *lba) {
  struct spate_exfat_chain chain;
  uint32_t first;
  uint32_t clusters;

  *lba = 0;
  spate_exfat_entry_chain(set->raw + EXFAT_ENTRY_BYTES, set->raw[STREAM_FLAGS], &chain);
  if ((spate_field_get16(set->raw + FILE_ATTRIBUTES) & (RECORD_ATTRIBUTES | EXFAT_DIRECTORY)) != RECORD_ATTRIBUTES ||
      chain.bytes != (uint64_t)EXFAT_RECORD_SLOTS << spate_exfat_block_shift(volume) ||
      spate_exfat_chain_check(volume, &chain) != SPATE_OK)
    return SPATE_OK;
  enum spate_error error = spate_exfat_chain_run(volume, &chain, 0, &first, &clusters);
  if (error == SPATE_OK && clusters == record_clusters(volume)) *lba = spate_exfat_cluster_lba(volume, first);
  return error;
}

/* Files that may be the record, and that cannot be read completely. */
struct unread {
  uint32_t files;
  uint64_t lba;    /* of the last one; 0: not even its place is known */
  uint32_t number; /* of its slots that can be read */
};

/* A file with a name of the record: it is the record if it can be, and has a higher number than the one found before.
 */
static enum spate_error consider(struct spate_exfat *volume, const struct exfat_set *set, struct unread *unread) {
  uint32_t number = 0;
  uint64_t lba;
  enum spate_error error = adopt(volume, set, &lba);

  if (error == SPATE_OK && lba != 0) error = spate_exfat_record_newest(volume, lba, &number);
  if (error == SPATE_E_MEDIA) {
    *unread = (struct unread){.files = unread->files + 1u, .lba = lba, .number = number};
    return SPATE_OK;
  }
  if (error != SPATE_OK || lba == 0 || (volume->record_lba != 0 && number <= volume->record_number)) return error;
  volume->record_lba = lba;
  volume->record_number = number;
  return SPATE_OK;
}

/* Search the root directory for the record, and for which of its names are taken. A candidate that cannot be read
 * completely is the record only if there is no other one. MEDIA: it is unknown which file is the record, or where. */
static enum spate_error find(struct spate_exfat *volume, uint32_t *taken) {
  struct unread unread = {.files = 0};
  uint32_t offset_bytes = 0;
  bool more = true;

  *taken = 0;
  while (more) {
    struct exfat_set set;
    enum spate_error error = spate_exfat_directory_next(volume, &volume->root, &offset_bytes, &set, &more);
    if (error == SPATE_E_CORRUPT && more) continue; /* a damaged set has no name */
    uint32_t number = error == SPATE_OK && more ? name_number(set.raw) : 0;
    if (number > 0) error = consider(volume, &set, &unread);
    if (error != SPATE_OK) return error;
    *taken |= UINT32_C(1) << number;
  }
  if (volume->record_lba != 0 || unread.files == 0) return SPATE_OK;
  if (unread.files > 1 || unread.lba == 0) return SPATE_E_MEDIA;
  volume->record_lba = unread.lba;
  volume->record_number = unread.number;
  return SPATE_OK;
}

/* The device cannot read a slot. On a clean volume nothing is unfinished, so the slot is written again. On a dirty one
 * it may name what is unfinished, and may say that others left the volume dirty: it stays for a later mount. */
static void note_unread(struct spate_exfat *volume, uint32_t slot, struct spate_exfat_mounted *found) {
  spate_port_log("exfat: the device cannot read a block of the reservation record; slot", slot);
  found->record_unread++;
  if (found->dirty) {
    volume->record_used |= UINT32_C(1) << slot;
    volume->record_unresolved |= UINT32_C(1) << slot;
    volume->foreign_dirty = true;
  } else if (!volume->config.read_only && !volume->untrusted && spate_exfat_record_end(volume, slot) != SPATE_OK) {
    spate_port_log("exfat: the device cannot write it either; slot", slot);
  }
}

/* The record cannot be found, so nothing that it could name may be changed. */
static enum spate_error do_without(struct spate_exfat *volume, struct spate_exfat_mounted *found) {
  spate_port_log("exfat: the device cannot read where the reservation record is: no changes", 0);
  found->record_unread = EXFAT_RECORD_SLOTS;
  if (!volume->config.read_only) volume->failed = SPATE_E_MEDIA;
  return SPATE_OK;
}

enum spate_error spate_exfat_record_open(struct spate_exfat *volume, struct spate_exfat_mounted *found) {
  uint32_t taken;
  enum spate_error error = find(volume, &taken);

  if (error == SPATE_E_MEDIA) return do_without(volume, found);
  if (error != SPATE_OK || volume->record_lba == 0) return error;
  for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
    struct exfat_record record;
    bool valid;
    error = spate_exfat_record_read(volume, slot, &record, &valid);
    if (error == SPATE_E_MEDIA)
      note_unread(volume, slot, found);
    else if (error != SPATE_OK)
      return error;
    if (!valid) continue;
    volume->record_used |= UINT32_C(1) << slot;
    volume->foreign_dirty |= record.foreign_dirty;
    found->reservations++;
  }
  return SPATE_OK;
}

/* The file could not be made: free its clusters. */
static enum spate_error unmake(struct spate_exfat *volume, uint32_t first, uint32_t clusters, enum spate_error error) {
  enum spate_error undone = spate_exfat_bitmap_set(volume, first, clusters, false);

  if (undone != SPATE_OK) volume->failed = undone;
  return error;
}

/*
 * Make the file. No record protects this. A power cut between bitmap and entry set leaves some clusters without an
 * owner, which every checker calls clean, and which happens at most once in a volume's life. The volume is not marked
 * dirty, because without a record mount could not clear that mark after a power cut.
 */
static enum spate_error make(struct spate_exfat *volume, uint32_t number) {
  _Alignas(8) uint8_t raw[EXFAT_RECORD_ENTRIES * EXFAT_ENTRY_BYTES];
  struct exfat_path path = {.directory = volume->root};
  uint32_t clusters = record_clusters(volume);
  struct exfat_place place;
  uint32_t first;
  /* Is there room? If not, the directory must not grow for nothing. */
  enum spate_error error = spate_exfat_bitmap_find(volume, clusters, &first);

  if (error == SPATE_OK) error = spate_exfat_slots_take(volume, &path, EXFAT_RECORD_ENTRIES, &place);
  if (error == SPATE_OK) error = spate_exfat_clean(volume, UINT32_MAX); /* dirty if the directory has grown for it */
  if (error == SPATE_OK) error = spate_exfat_bitmap_find(volume, clusters, &first);
  if (error != SPATE_OK) return error;
  uint64_t lba = spate_exfat_cluster_lba(volume, first);
  error = spate_exfat_bitmap_set(volume, first, clusters, true);
  if (error == SPATE_OK) error = spate_exfat_zero(volume, lba, EXFAT_RECORD_SLOTS);
  if (error != SPATE_OK) return unmake(volume, first, clusters, error);
  spate_exfat_record_build(raw, number, first, spate_exfat_block_shift(volume), &volume->config);
  error = spate_exfat_entries_write(volume, &place, raw);
  if (error == SPATE_OK) {
    volume->record_lba = lba;
    return SPATE_OK;
  }
  /* The set may be on the media, and must not lie over free clusters. */
  if (spate_exfat_entries_erase(volume, &place) == SPATE_OK) return unmake(volume, first, clusters, error);
  volume->failed = error;
  return error;
}

enum spate_error spate_exfat_record_make(struct spate_exfat *volume) {
  uint32_t taken;
  uint32_t number = 1;

  enum spate_error error = find(volume, &taken);
  if (error != SPATE_OK || volume->record_lba != 0) return error;
  while (number <= NAMES && (taken >> number & 1u) != 0)
    number++;
  return number <= NAMES ? make(volume, number) : SPATE_E_EXISTS;
}
