/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry sets: the file entry, its stream extension and its name entries (specification, 6.3 to 7.7), as they are on the
 * volume. A set may cross blocks and, in a fragmented directory, clusters. It is read and written block by block.
 */
#include "internal.h"

uint16_t spate_exfat_set_checksum(const uint8_t *raw, uint32_t entries) {
  uint16_t sum = 0;

  for (uint32_t i = 0; i < entries * EXFAT_ENTRY_BYTES; i++)
    if (i != FILE_CHECKSUM && i != FILE_CHECKSUM + 1u) sum = (uint16_t)((uint32_t)(sum << 15 | sum >> 1) + raw[i]);
  return sum;
}

void spate_exfat_set_seal(uint8_t *raw, uint32_t entries) {
  spate_field_put16(raw + FILE_CHECKSUM, spate_exfat_set_checksum(raw, entries));
}

/* Where in a set a unit of its name lies. */
static uint32_t unit_offset(uint32_t index) {
  return (2u + index / EXFAT_NAME_UNITS) * EXFAT_ENTRY_BYTES + 2u + index % EXFAT_NAME_UNITS * 2u;
}

uint8_t spate_exfat_set_build(uint8_t *raw, const uint16_t *units, uint32_t count, uint16_t hash, uint16_t attributes) {
  uint32_t entries = spate_exfat_set_entries(count);

  memset(raw, 0, entries * EXFAT_ENTRY_BYTES);
  raw[0] = EXFAT_TYPE_FILE;
  raw[FILE_SECONDARIES] = (uint8_t)(entries - 1u);
  spate_field_put16(raw + FILE_ATTRIBUTES, attributes);
  raw[EXFAT_ENTRY_BYTES] = EXFAT_TYPE_STREAM;
  raw[STREAM_NAME_LENGTH] = (uint8_t)count;
  spate_field_put16(raw + STREAM_NAME_HASH, hash);
  spate_exfat_set_lengths(raw, 0, 0, false);
  for (uint32_t i = 2; i < entries; i++)
    raw[i * EXFAT_ENTRY_BYTES] = EXFAT_TYPE_NAME;
  for (uint32_t i = 0; i < count; i++)
    spate_field_put16(raw + unit_offset(i), units[i]);
  return (uint8_t)entries;
}

void spate_exfat_set_lengths(uint8_t *raw, uint32_t first_cluster, uint64_t bytes, bool contiguous) {
  raw[STREAM_FLAGS] = (uint8_t)(EXFAT_ALLOCATION_POSSIBLE | (contiguous ? EXFAT_NO_FAT_CHAIN : 0));
  spate_field_put32(raw + STREAM_FIRST_CLUSTER, first_cluster);
  spate_field_put64(raw + STREAM_VALID_BYTES, bytes);
  spate_field_put64(raw + STREAM_BYTES, bytes);
}

uint32_t spate_exfat_set_name(const uint8_t *raw, uint16_t *units) {
  uint32_t count = raw[STREAM_NAME_LENGTH];

  for (uint32_t i = 0; i < count; i++)
    units[i] = spate_field_get16(raw + unit_offset(i));
  return count;
}

void spate_exfat_entry_chain(const uint8_t *entry, uint8_t flags, struct spate_exfat_chain *chain) {
  *chain = (struct spate_exfat_chain){.first_cluster = spate_field_get32(entry + ENTRY_FIRST_CLUSTER),
                                      .bytes = spate_field_get64(entry + ENTRY_DATA_LENGTH),
                                      .contiguous = (flags & EXFAT_NO_FAT_CHAIN) != 0};
}

enum spate_error spate_exfat_set_chain(struct spate_exfat *volume, const uint8_t *raw,
                                       struct spate_exfat_chain *chain) {
  spate_exfat_entry_chain(raw + EXFAT_ENTRY_BYTES, raw[STREAM_FLAGS], chain);
  bool directory = (raw[FILE_ATTRIBUTES] & EXFAT_DIRECTORY) != 0;
  if (spate_field_get64(raw + STREAM_VALID_BYTES) > chain->bytes) return spate_exfat_corrupt(volume);
  if (directory && chain->bytes > EXFAT_DIRECTORY_BYTES_MAX) return spate_exfat_corrupt(volume);
  return spate_exfat_chain_check(volume, chain) == SPATE_OK ? SPATE_OK : spate_exfat_corrupt(volume);
}

/* The stream extension, then as many name entries as NameLength needs, then only entries that may be ignored. */
static bool well_formed(const uint8_t *raw, uint32_t entries) {
  uint32_t named = spate_exfat_set_entries(raw[STREAM_NAME_LENGTH]);

  if (raw[EXFAT_ENTRY_BYTES] != EXFAT_TYPE_STREAM || raw[STREAM_NAME_LENGTH] == 0 || named > entries) return false;
  for (uint32_t i = 2; i < entries; i++) {
    uint8_t type = raw[i * EXFAT_ENTRY_BYTES];
    uint8_t benign = EXFAT_TYPE_IN_USE | EXFAT_TYPE_SECONDARY | EXFAT_TYPE_BENIGN;
    if (i < named ? type != EXFAT_TYPE_NAME : (type & benign) != benign) return false;
  }
  return spate_exfat_set_checksum(raw, entries) == spate_field_get16(raw + FILE_CHECKSUM);
}

enum spate_error spate_exfat_entry_read(struct spate_exfat *volume, struct spate_exfat_chain *directory,
                                        uint32_t offset_bytes, uint8_t *raw) {
  struct spate_exfat_block *block;
  uint8_t *byte;
  enum spate_error error = spate_exfat_chain_get(volume, directory, offset_bytes, false, &block, &byte);

  if (error == SPATE_OK) memcpy(raw, byte, EXFAT_ENTRY_BYTES);
  return error;
}

enum spate_error spate_exfat_set_read(struct spate_exfat *volume, const struct spate_exfat_chain *directory,
                                      uint32_t offset_bytes, struct exfat_set *set) {
  uint32_t entries = 1;

  set->place = (struct exfat_place){.directory = *directory, .offset_bytes = offset_bytes};
  for (uint32_t i = 0; i < entries; i++) {
    uint32_t at = offset_bytes + i * EXFAT_ENTRY_BYTES;
    if (at >= directory->bytes) return SPATE_E_CORRUPT;
    enum spate_error error =
        spate_exfat_entry_read(volume, &set->place.directory, at, set->raw + i * EXFAT_ENTRY_BYTES);
    if (error != SPATE_OK) return error;
    if (i > 0) continue;
    entries += set->raw[FILE_SECONDARIES];
    if (set->raw[0] != EXFAT_TYPE_FILE || entries < 3 || entries > EXFAT_SET_ENTRIES_MAX) return SPATE_E_CORRUPT;
  }
  set->place.entries = (uint8_t)entries;
  return well_formed(set->raw, entries) ? SPATE_OK : SPATE_E_CORRUPT;
}

/* The part of the place's entries from `first` on that lies in one block. */
static uint32_t entries_in_block(const struct spate_exfat *volume, const struct exfat_place *place, uint32_t first) {
  uint32_t at = place->offset_bytes + first * EXFAT_ENTRY_BYTES;
  uint32_t room = (spate_exfat_block_bytes(volume) - (at & volume->block_mask)) / EXFAT_ENTRY_BYTES;
  uint32_t left = place->entries - first;

  return left < room ? left : room;
}

/* Change entries within one block: to those at `raw`, or with NULL to unused. */
static enum spate_error change_block(struct spate_exfat *volume, struct exfat_place *place, uint32_t first,
                                     const uint8_t *raw) {
  uint32_t at = place->offset_bytes + first * EXFAT_ENTRY_BYTES;
  uint32_t count = entries_in_block(volume, place, first);
  struct spate_exfat_block *block;
  uint8_t *to;
  enum spate_error error = spate_exfat_chain_get(volume, &place->directory, at, true, &block, &to);

  if (error != SPATE_OK) return error;
  if (raw != NULL) memcpy(to, raw + first * EXFAT_ENTRY_BYTES, count * EXFAT_ENTRY_BYTES);
  for (uint32_t i = 0; raw == NULL && i < count; i++)
    to[i * EXFAT_ENTRY_BYTES] &= (uint8_t)~EXFAT_TYPE_IN_USE;
  return spate_exfat_block_commit(block);
}

enum spate_error spate_exfat_entries_write(struct spate_exfat *volume, struct exfat_place *place, const uint8_t *raw) {
  uint32_t head = entries_in_block(volume, place, 0);

  if ((raw[0] & EXFAT_TYPE_IN_USE) != 0) spate_exfat_search_forget(volume);
  for (uint32_t first = head; first < place->entries; first += entries_in_block(volume, place, first)) {
    enum spate_error error = change_block(volume, place, first, raw);
    if (error != SPATE_OK) return error;
  }
  return change_block(volume, place, 0, raw);
}

enum spate_error spate_exfat_entries_erase(struct spate_exfat *volume, struct exfat_place *place) {
  spate_exfat_search_forget(volume);
  for (uint32_t first = 0; first < place->entries; first += entries_in_block(volume, place, first)) {
    enum spate_error error = change_block(volume, place, first, NULL);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

bool spate_exfat_place_equal(const struct exfat_place *a, const struct exfat_place *b) {
  return a->directory.first_cluster == b->directory.first_cluster && a->offset_bytes == b->offset_bytes;
}
