/* SPDX-License-Identifier: Apache-2.0 */
/* Directories: walking the sets, finding a name, room for a new set, growth (specification, 6.2 and 7.4). */
#include "internal.h"

/* Room for a set of `entries`, as a walk over a directory's entries finds it. */
struct room {
  uint32_t entries;
  uint32_t start, run; /* the entries that may be used, so far */
};

/* A set lies in one block if it fits, so that one write makes or changes it. A longer set has at least its file entry
 * and stream extension in one block, because these change when a directory grows. */
static bool can_start(const struct spate_exfat *volume, uint32_t offset_bytes, uint32_t entries) {
  uint32_t left_bytes = spate_exfat_block_bytes(volume) - (offset_bytes & volume->block_mask);

  if (entries * EXFAT_ENTRY_BYTES <= spate_exfat_block_bytes(volume)) return entries * EXFAT_ENTRY_BYTES <= left_bytes;
  return left_bytes > EXFAT_ENTRY_BYTES;
}

/* The walk meets an entry of this type. The first room that is found stays. */
static void meet(const struct spate_exfat *volume, struct room *room, uint32_t offset_bytes, uint8_t type) {
  if (room->run == room->entries) return;
  if ((type & EXFAT_TYPE_IN_USE) != 0) {
    room->run = 0;
    return;
  }
  if (room->run == 0 && !can_start(volume, offset_bytes, room->entries)) return;
  if (room->run++ == 0) room->start = offset_bytes;
}

static enum spate_error next(struct spate_exfat *volume, struct spate_exfat_chain *directory, uint32_t *offset_bytes,
                             struct exfat_set *set, bool *more, struct room *room) {
  *more = false;
  for (; *offset_bytes < directory->bytes; *offset_bytes += EXFAT_ENTRY_BYTES) {
    _Alignas(8) uint8_t raw[EXFAT_ENTRY_BYTES];
    enum spate_error error = spate_exfat_entry_read(volume, directory, *offset_bytes, raw);
    if (error != SPATE_OK) {
      *offset_bytes = (uint32_t)directory->bytes; /* the rest of a broken chain cannot be reached */
      return error;
    }
    if (raw[0] == EXFAT_TYPE_END) return SPATE_OK;
    meet(volume, room, *offset_bytes, raw[0]);
    if (raw[0] != EXFAT_TYPE_FILE) continue;
    error = spate_exfat_set_read(volume, directory, *offset_bytes, set);
    *offset_bytes += error == SPATE_OK ? set->place.entries * EXFAT_ENTRY_BYTES : EXFAT_ENTRY_BYTES;
    *more = true;
    return error;
  }
  return SPATE_OK;
}

enum spate_error spate_exfat_directory_next(struct spate_exfat *volume, struct spate_exfat_chain *directory,
                                            uint32_t *offset_bytes, struct exfat_set *set, bool *more) {
  struct room unasked = {.entries = 0};

  return next(volume, directory, offset_bytes, set, more, &unasked);
}

/* Without an up-case table the hash of a name with other letters than ASCII's is not known. */
static bool may_match(const struct spate_exfat *volume, const struct exfat_set *set, const struct exfat_name *name) {
  return set->raw[STREAM_NAME_LENGTH] == name->count &&
         (volume->upcase.bytes == 0 || spate_field_get16(set->raw + STREAM_NAME_HASH) == name->hash);
}

/* Names of one length. `shown`: compare what is shown of the set's name. */
static enum spate_error matches(struct spate_exfat *volume, const struct exfat_set *set, const struct exfat_name *name,
                                bool shown, bool *equal) {
  uint16_t units[SPATE_EXFAT_NAME_UNITS_MAX];
  uint16_t upper[SPATE_EXFAT_NAME_UNITS_MAX];

  spate_exfat_set_name(set->raw, units);
  if (shown) spate_exfat_name_shown(units, name->count);
  enum spate_error error = spate_exfat_upcase(volume, units, name->count, upper);
  *equal = memcmp(upper, name->upper, name->count * sizeof units[0]) == 0;
  return error;
}

/* A search from *offset_bytes on. At its end *offset_bytes is that of the first name that may match, or it is past
 * all of them. Damaged sets are skipped. */
static enum spate_error search(struct spate_exfat *volume, struct exfat_path *path, uint32_t *offset_bytes,
                               struct exfat_set *set, struct room *room, bool *damaged) {
  uint32_t at = *offset_bytes;
  bool more = true;
  bool met = false;

  while (more) {
    bool equal = false;
    enum spate_error error = next(volume, &path->directory, &at, set, &more, room);
    if (error == SPATE_OK && more && may_match(volume, set, &path->name)) {
      if (!met) *offset_bytes = set->place.offset_bytes;
      met = true;
      error = matches(volume, set, &path->name, false, &equal);
    }
    if (error == SPATE_OK && equal) return SPATE_OK;
    if (error == SPATE_E_CORRUPT && more)
      *damaged = true;
    else if (error != SPATE_OK)
      return error;
  }
  if (!met) *offset_bytes = at;
  return SPATE_E_NOT_FOUND;
}

static enum spate_error find(struct spate_exfat *volume, struct exfat_path *path, struct exfat_set *set,
                             bool *damaged) {
  const struct spate_exfat_search *known = spate_exfat_search_recall(volume, path);
  struct room room = {.entries = spate_exfat_set_entries(path->name.count)};
  uint32_t offset_bytes = known == NULL ? 0 : known->name_bytes;

  *damaged = false;
  enum spate_error error = search(volume, path, &offset_bytes, set, &room, damaged);
  if (*damaged && error == SPATE_E_NOT_FOUND) volume->corrupt = true;
  if (known == NULL && !*damaged && (error == SPATE_OK || error == SPATE_E_NOT_FOUND))
    spate_exfat_search_note(volume, path, offset_bytes, room.run > 0 ? room.start : offset_bytes);
  return error;
}

/* A name that can only be shown in part. NAME: several are shown so, and nobody can say which is meant. */
static enum spate_error find_shown(struct spate_exfat *volume, struct exfat_path *path, struct exfat_set *set) {
  struct exfat_place place = {.entries = 0};
  uint32_t offset_bytes = 0;
  bool more = true;

  while (more) {
    bool equal = false;
    enum spate_error error = spate_exfat_directory_next(volume, &path->directory, &offset_bytes, set, &more);
    if (error == SPATE_E_CORRUPT && more) continue;
    if (error == SPATE_OK && more && set->raw[STREAM_NAME_LENGTH] == path->name.count)
      error = matches(volume, set, &path->name, true, &equal);
    if (error == SPATE_OK && equal && place.entries > 0) error = SPATE_E_NAME;
    if (error != SPATE_OK) return error;
    if (equal) place = set->place;
  }
  if (place.entries == 0) return SPATE_E_NOT_FOUND;
  return spate_exfat_set_read(volume, &path->directory, place.offset_bytes, set);
}

enum spate_error spate_exfat_directory_find(struct spate_exfat *volume, struct exfat_path *path,
                                            struct exfat_set *set) {
  bool damaged;
  enum spate_error error = find(volume, path, set, &damaged);

  if (error == SPATE_E_NOT_FOUND && path->name.replaced) error = find_shown(volume, path, set);
  if (error == SPATE_E_NOT_FOUND && !spate_exfat_name_allowed(&path->name)) return SPATE_E_NAME;
  return error == SPATE_E_NOT_FOUND && damaged ? SPATE_E_CORRUPT : error;
}

enum spate_error spate_exfat_name_free(struct spate_exfat *volume, struct exfat_path *path, struct exfat_set *set) {
  bool damaged;
  enum spate_error error = find(volume, path, set, &damaged);

  if (error == SPATE_E_NOT_FOUND) return SPATE_OK;
  return error == SPATE_OK ? SPATE_E_EXISTS : error;
}

/* Sets *end to the end marker, or the directory's end. */
static enum spate_error find_room(struct spate_exfat *volume, struct spate_exfat_chain *directory, struct room *room,
                                  uint32_t *end) {
  uint32_t bytes = (uint32_t)directory->bytes;

  *end = bytes;
  for (uint32_t at = spate_exfat_search_room(volume, directory, room->entries); at < bytes && room->run < room->entries;
       at += EXFAT_ENTRY_BYTES) {
    _Alignas(8) uint8_t raw[EXFAT_ENTRY_BYTES] = {EXFAT_TYPE_END};
    if (*end == bytes) {
      enum spate_error error = spate_exfat_entry_read(volume, directory, at, raw);
      if (error != SPATE_OK) return error;
      if (raw[0] == EXFAT_TYPE_END) *end = at;
    }
    meet(volume, room, at, raw[0]);
  }
  return SPATE_OK;
}

/* Put an end marker at `offset_bytes`, past the present end marker: some volumes have garbage there. */
static enum spate_error end_at(struct spate_exfat *volume, const struct spate_exfat_chain *directory,
                               uint32_t offset_bytes) {
  struct exfat_place place = {.directory = *directory, .offset_bytes = offset_bytes, .entries = 1};
  _Alignas(8) uint8_t raw[EXFAT_ENTRY_BYTES];

  if (offset_bytes >= directory->bytes) return SPATE_OK;
  enum spate_error error = spate_exfat_entry_read(volume, &place.directory, offset_bytes, raw);
  if (error != SPATE_OK || raw[0] == EXFAT_TYPE_END) return error;
  raw[0] = EXFAT_TYPE_END;
  return spate_exfat_entries_write(volume, &place, raw);
}

/*
 * The set will lie after the end marker. The entries in between become unused entries (zeros would hide the set), and
 * the directory ends after the set. All of it is invisible until the end marker is overwritten, which is done last: by
 * the padding here, or by the set.
 */
static enum spate_error move_end(struct spate_exfat *volume, const struct spate_exfat_chain *directory,
                                 const struct room *room, uint32_t end) {
  _Alignas(8) uint8_t raw[EXFAT_SET_ENTRIES_MAX * EXFAT_ENTRY_BYTES] = {0};
  struct exfat_place padding = {.directory = *directory, .offset_bytes = end};
  enum spate_error error = end_at(volume, directory, room->start + room->entries * EXFAT_ENTRY_BYTES);

  if (error == SPATE_OK) error = end_at(volume, directory, room->start);
  if (error != SPATE_OK || room->start <= end) return error;
  /* A set that fits into a block begins at most its own length after the end marker. */
  padding.entries = (uint8_t)((room->start - end) / EXFAT_ENTRY_BYTES);
  for (uint32_t i = 0; i < padding.entries; i++)
    raw[i * EXFAT_ENTRY_BYTES] = EXFAT_TYPE_UNUSED;
  return spate_exfat_entries_write(volume, &padding, raw);
}

enum spate_error spate_exfat_slots_find(struct spate_exfat *volume, struct spate_exfat_chain *directory,
                                        uint8_t entries, struct exfat_place *place) {
  struct room room = {.entries = entries};
  uint32_t end;
  enum spate_error error = find_room(volume, directory, &room, &end);

  if (error != SPATE_OK) return error;
  if (room.run < entries) return SPATE_E_NO_SPACE;
  *place = (struct exfat_place){.directory = *directory, .offset_bytes = room.start, .entries = entries};
  /* Each write of move_end leaves the same entries in use: the volume need not be marked dirty for it. */
  return room.start + entries * EXFAT_ENTRY_BYTES <= end ? SPATE_OK : move_end(volume, directory, &room, end);
}
