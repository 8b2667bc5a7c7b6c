/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a folder become one file, which takes the folder's place and name. No data are copied.
 *
 * First the FAT entries of all clusters are written: they link the clusters of each part, and each part to the next
 * one. Nobody reads these entries, because every part is contiguous (NoFatChain). So they may stay in the drive's cache
 * until all are written, and one flush makes them durable. If the drive may have lost power since the first of them,
 * they are written again from the first on.
 *
 * Then, with the journal of a deletion {clusters of the folder, its entry set}, one write of one block turns the
 * folder's entry set into that of a file with this chain. With this write the parts, whose entry sets lie in the
 * folder's clusters, are no files any more, and the clusters of the folder have no owner. They are freed last.
 *
 * So no cluster has two owners at any instant. Before the write recovery finds the folder's entry set with its recorded
 * checksum, and frees nothing. After it, the set has another checksum, and recovery frees the clusters that no entry
 * set owns: those of the folder. Earlier versions of this library do the same.
 *
 * One write needs the file entry and the stream extension in one block. Other systems may place them in two. Such a set
 * is moved first, as rename moves it.
 */
#include "../core/crc32.h"
#include "internal.h"

#define STEP_BLOCKS 64u /* of the FAT, written by one call */
#define LINK_TRIES  4u  /* while the drive loses power each time */

enum order {
  ORDER_OF_TIME, /* no part was created before its predecessor */
  ORDER_GIVEN,
  ORDER_CHECKED /* by the first walk */
};

/* What the walk through the folder finds. */
struct parts {
  uint64_t bytes;
  uint32_t count, first_cluster;
  uint32_t crc;        /* over all entry sets */
  uint16_t attributes; /* of all of them together */
  _Alignas(8) uint8_t first[EXFAT_ENTRY_BYTES];
  _Alignas(8) uint8_t last[EXFAT_ENTRY_BYTES]; /* file entries */
};

/* The next part from *offset_bytes on. INVALID: the folder has something there that is not a file. */
static enum spate_error next_part(struct spate_exfat *volume, struct spate_exfat_chain *folder, uint32_t *offset_bytes,
                                  struct exfat_set *set, bool *more) {
  *more = false;
  for (; *offset_bytes < folder->bytes; *offset_bytes += EXFAT_ENTRY_BYTES) {
    enum spate_error error = spate_exfat_entry_read(volume, folder, *offset_bytes, set->raw);
    if (error != SPATE_OK || set->raw[0] == EXFAT_TYPE_END) return error;
    if ((set->raw[0] & EXFAT_TYPE_IN_USE) == 0) continue;
    if (set->raw[0] != EXFAT_TYPE_FILE) return SPATE_E_INVALID;
    error = spate_exfat_set_read(volume, folder, *offset_bytes, set);
    if (error != SPATE_OK) return error == SPATE_E_CORRUPT ? spate_exfat_corrupt(volume) : error;
    *offset_bytes += set->place.entries * EXFAT_ENTRY_BYTES;
    *more = true;
    return SPATE_OK;
  }
  return SPATE_OK;
}

/* Does the set have the shape of a part, after the parts `before`? */
static bool is_part(const struct spate_exfat *volume, const struct exfat_set *set,
                    const struct spate_exfat_chain *chain, enum order order, const struct parts *before) {
  if ((spate_field_get16(set->raw + FILE_ATTRIBUTES) & EXFAT_DIRECTORY) != 0 || chain->bytes == 0) return false;
  if (spate_field_get64(set->raw + STREAM_VALID_BYTES) != chain->bytes) return false;
  if (spate_exfat_has_vendor_clusters(set)) return false;
  if ((before->bytes & volume->cluster_mask) != 0) return false; /* the part before ends within a cluster */
  return order == ORDER_GIVEN || before->count == 0 || !spate_exfat_created_before(set->raw, before->last);
}

static enum spate_error check_part(struct spate_exfat *volume, struct exfat_set *set, enum order order,
                                   const struct parts *before) {
  struct spate_exfat_chain chain;
  bool shared = false;
  enum spate_error error = spate_exfat_check_idle(volume, set);

  if (error == SPATE_OK) error = spate_exfat_set_chain(volume, set->raw, &chain);
  if (error != SPATE_OK) return error;
  if (!is_part(volume, set, &chain, order, before)) return SPATE_E_INVALID;
  if (!chain.contiguous) return SPATE_E_UNSUPPORTED;
  error = spate_exfat_removal_check(volume, &chain, &shared);
  if (error != SPATE_OK) return error;
  const uint64_t bytes_max = (uint64_t)volume->cluster_count << volume->cluster_shift;
  return shared || chain.bytes > bytes_max - before->bytes ? spate_exfat_corrupt(volume) : SPATE_OK;
}

/* Walk through the folder, and check whether its files can be joined, unless that was done. */
static enum spate_error find_parts(struct spate_exfat *volume, struct spate_exfat_chain *folder, enum order order,
                                   struct parts *parts) {
  uint64_t since_ticks = spate_port_ticks();
  uint32_t offset_bytes = 0;
  bool more = true;

  *parts = (struct parts){.count = 0};
  while (more) {
    struct exfat_set set;
    spate_exfat_give_turn(volume, 0, &since_ticks);
    enum spate_error error = next_part(volume, folder, &offset_bytes, &set, &more);
    if (error == SPATE_OK && more && order != ORDER_CHECKED) error = check_part(volume, &set, order, parts);
    if (error != SPATE_OK) return error;
    if (!more) break;
    if (parts->count++ == 0) {
      memcpy(parts->first, set.raw, EXFAT_ENTRY_BYTES);
      parts->first_cluster = spate_field_get32(set.raw + STREAM_FIRST_CLUSTER);
    }
    memcpy(parts->last, set.raw, EXFAT_ENTRY_BYTES);
    parts->attributes |= spate_field_get16(set.raw + FILE_ATTRIBUTES);
    parts->bytes += spate_field_get64(set.raw + STREAM_BYTES);
    parts->crc = spate_crc32(parts->crc, set.raw, set.place.entries * EXFAT_ENTRY_BYTES);
  }
  return SPATE_OK;
}

/* ---- begin ---- */

/* The part after the one whose clusters are linked. */
static enum spate_error advance(struct spate_exfat_join *join) {
  struct spate_exfat_chain chain;
  struct exfat_set set;
  bool more;

  join->first = join->next_first;
  join->clusters = join->next_clusters;
  join->linked = 0;
  join->next_clusters = 0;
  enum spate_error error = next_part(join->volume, &join->folder, &join->offset_bytes, &set, &more);
  if (error != SPATE_OK || !more) return error;
  error = spate_exfat_set_chain(join->volume, set.raw, &chain);
  if (error != SPATE_OK) return error;
  if (!chain.contiguous || chain.bytes == 0) return SPATE_E_STALE; /* begin saw something else */
  join->next_first = chain.first_cluster;
  join->next_clusters = (uint32_t)spate_exfat_clusters(join->volume, chain.bytes);
  return SPATE_OK;
}

/* Link from the first part on. */
static enum spate_error begin_links(struct spate_exfat_join *join) {
  join->power_mark = spate_block_power_mark(join->volume->config.block);
  join->link_tries++;
  join->linked_bytes = 0;
  join->offset_bytes = 0;
  join->next_clusters = 0;
  return advance(join);
}

static enum spate_error begin(struct spate_exfat *volume, const char *text, enum order order,
                              struct spate_exfat_join *join) {
  struct exfat_path path;
  struct exfat_set set;
  struct parts parts;
  bool shared = false;
  enum spate_error error = spate_exfat_path_find(volume, text, &path, &set);

  if (error != SPATE_OK) return error;
  if (set.place.entries == 0) return SPATE_E_INVALID; /* the root directory */
  const uint16_t attributes = spate_field_get16(set.raw + FILE_ATTRIBUTES);
  if ((attributes & EXFAT_DIRECTORY) == 0) return SPATE_E_NOT_DIRECTORY;
  if (volume->joining_cluster != 0) return SPATE_E_IN_USE;
  if ((attributes & EXFAT_READ_ONLY) != 0) return SPATE_E_PROTECTED;
  if (spate_exfat_journal_held(volume)) return SPATE_E_CORRUPT;
  error = spate_exfat_set_chain(volume, set.raw, &join->folder);
  struct spate_exfat_chain clusters = join->folder;
  if (error == SPATE_OK) error = find_parts(volume, &join->folder, order, &parts);
  if (error == SPATE_OK && parts.count == 0) error = SPATE_E_INVALID;
  if (error == SPATE_OK) error = spate_exfat_removal_check(volume, &clusters, &shared);
  if (error != SPATE_OK) return error;
  join->volume = volume;
  join->path = text;
  join->bytes = parts.bytes;
  join->parts = parts.count;
  join->crc = parts.crc;
  error = begin_links(join);
  if (error == SPATE_OK) volume->joining_cluster = join->folder.first_cluster;
  return error;
}

static enum spate_error begin_in_order(struct spate_exfat *volume, struct spate_exfat_join *join, const char *path,
                                       enum order order) {
  enum spate_error error = spate_exfat_begin_change(volume);

  *join = (struct spate_exfat_join){.bytes = 0};
  if (error != SPATE_OK) return error;
  error = begin(volume, path, order, join);
  if (error != SPATE_OK) join->volume = NULL;
  return spate_exfat_end_change(volume, error);
}

enum spate_error spate_exfat_join_begin(struct spate_exfat *volume, struct spate_exfat_join *join, const char *path) {
  return begin_in_order(volume, join, path, ORDER_OF_TIME);
}

enum spate_error spate_exfat_join_begin_placed(struct spate_exfat *volume, struct spate_exfat_join *join,
                                               const char *path) {
  return begin_in_order(volume, join, path, ORDER_GIVEN);
}

void spate_exfat_join_cancel(struct spate_exfat_join *join) {
  if (join->volume != NULL && spate_exfat_joins(join->volume, join->folder.first_cluster))
    join->volume->joining_cluster = 0;
  join->volume = NULL;
}

/* ---- work ---- */

/* Link clusters, up to STEP_BLOCKS blocks of the FAT. */
static enum spate_error link_some(struct spate_exfat_join *join, bool *all) {
  const uint32_t shift = spate_exfat_fat_shift(join->volume);
  enum spate_error error = SPATE_OK;
  uint32_t linked = 0;

  *all = false;
  for (uint32_t blocks = 0; blocks < STEP_BLOCKS && error == SPATE_OK; blocks += ((linked - 1u) >> shift) + 1u) {
    if (join->linked == join->clusters) error = advance(join);
    if (error != SPATE_OK) return error;
    *all = join->clusters == 0;
    if (*all) return SPATE_OK;
    error = spate_exfat_fat_link(join->volume, join->first + join->linked, join->clusters - join->linked,
                                 join->next_clusters > 0 ? join->next_first : EXFAT_CLUSTER_END, STEP_BLOCKS - blocks,
                                 &linked);
    join->linked += linked;
    join->linked_bytes += (uint64_t)linked << join->volume->cluster_shift;
    if (join->linked_bytes > join->bytes) join->linked_bytes = join->bytes; /* the last cluster is not full */
  }
  return error;
}

/* Handles of the parts become stale: a later deletion of the file only notes its first cluster. */
static enum spate_error note_parts(struct spate_exfat *volume, struct spate_exfat_chain *folder) {
  uint32_t offset_bytes = 0;
  bool more = true;

  while (more) {
    struct spate_exfat_chain chain;
    struct exfat_set set;
    enum spate_error error = next_part(volume, folder, &offset_bytes, &set, &more);
    if (error != SPATE_OK) return error;
    if (!more) break;
    spate_exfat_entry_chain(set.raw + EXFAT_ENTRY_BYTES, set.raw[STREAM_FLAGS], &chain);
    spate_exfat_note_deletion(volume, &chain);
  }
  spate_exfat_note_deletion(volume, folder);
  return SPATE_OK;
}

/* Turn the folder's set into that of the file. */
static void make_file(const struct parts *parts, struct exfat_set *set) {
  const uint16_t checksum = spate_field_get16(set->raw + FILE_CHECKSUM);
  uint16_t attributes = spate_field_get16(set->raw + FILE_ATTRIBUTES);

  attributes = (uint16_t)((attributes & ~(uint32_t)EXFAT_DIRECTORY) | EXFAT_ARCHIVE);
  attributes |= parts->attributes & EXFAT_READ_ONLY; /* what somebody has protected stays protected */
  spate_field_put16(set->raw + FILE_ATTRIBUTES, attributes);
  spate_exfat_set_lengths(set->raw, parts->first_cluster, parts->bytes, false);
  memcpy(set->raw + FILE_CREATED, parts->first + FILE_CREATED, FILE_MODIFIED - FILE_CREATED);
  set->raw[FILE_CREATED_10MS] = parts->first[FILE_CREATED_10MS];
  set->raw[FILE_CREATED_UTC] = parts->first[FILE_CREATED_UTC];
  memcpy(set->raw + FILE_MODIFIED, parts->last + FILE_MODIFIED, FILE_CREATED_10MS - FILE_MODIFIED); /* and accessed */
  set->raw[FILE_MODIFIED_10MS] = parts->last[FILE_MODIFIED_10MS];
  set->raw[FILE_MODIFIED_UTC] = parts->last[FILE_MODIFIED_UTC];
  set->raw[FILE_ACCESSED_UTC] = parts->last[FILE_ACCESSED_UTC];
  spate_exfat_set_seal(set->raw, set->place.entries);
  /* Recovery tells file and folder apart by the checksum, which has 16 bits. Without one attribute it is another. */
  if (spate_field_get16(set->raw + FILE_CHECKSUM) != checksum) return;
  spate_field_put16(set->raw + FILE_ATTRIBUTES, (uint16_t)(attributes & ~(uint32_t)EXFAT_ARCHIVE));
  spate_exfat_set_seal(set->raw, set->place.entries);
}

static enum spate_error replace_folder(struct spate_exfat_join *join, const struct parts *parts,
                                       struct exfat_set *set) {
  struct spate_exfat *volume = join->volume;
  struct exfat_record record = {
      .clusters = join->folder, .from = set->place, .from_checksum = spate_field_get16(set->raw + FILE_CHECKSUM)};
  struct exfat_place head = set->place;
  bool shared = false;
  enum spate_error error = spate_exfat_removal_check(volume, &record.clusters, &shared);

  if (error == SPATE_OK) error = note_parts(volume, &join->folder);
  if (error != SPATE_OK) return error;
  struct spate_exfat_chain clusters = record.clusters;
  make_file(parts, set);
  head.entries = 2;
  error = spate_exfat_journal_begin(volume, &record);
  if (error == SPATE_OK) error = spate_exfat_entries_write(volume, &head, set->raw);
  if (error == SPATE_OK) error = spate_exfat_removal_free(volume, &clusters, shared);
  return spate_exfat_journal_end(volume, error);
}

/* Bring file entry and stream extension into one block. */
static enum spate_error move_together(struct spate_exfat *volume, struct exfat_path *path, struct exfat_set *set) {
  struct exfat_set moved = *set;
  enum spate_error error = SPATE_OK;

  if (((set->place.offset_bytes + EXFAT_ENTRY_BYTES) & volume->block_mask) != 0) return SPATE_OK;
  error = spate_exfat_set_move(volume, path, set, &moved);
  *set = moved;
  return error;
}

/* All clusters are linked. */
static enum spate_error finish(struct spate_exfat_join *join) {
  struct spate_exfat *volume = join->volume;
  struct exfat_path path;
  struct exfat_set set;
  struct parts parts;
  enum spate_error error = spate_exfat_path_find(volume, join->path, &path, &set);

  if (error == SPATE_E_NOT_FOUND || error == SPATE_E_NOT_DIRECTORY) return SPATE_E_STALE;
  if (error != SPATE_OK) return error;
  if (set.place.entries == 0 || spate_field_get32(set.raw + STREAM_FIRST_CLUSTER) != join->folder.first_cluster)
    return SPATE_E_STALE;
  error = find_parts(volume, &join->folder, ORDER_CHECKED, &parts);
  if (error != SPATE_OK) return error;
  if (parts.crc != join->crc || parts.count != join->parts || parts.bytes != join->bytes) return SPATE_E_STALE;
  error = move_together(volume, &path, &set);
  return error == SPATE_OK ? replace_folder(join, &parts, &set) : error;
}

static enum spate_error step(struct spate_exfat_join *join, bool *more) {
  struct spate_block *device = join->volume->config.block;
  bool all;

  if (!spate_exfat_joins(join->volume, join->folder.first_cluster)) return SPATE_E_STALE; /* mounted again */
  enum spate_error error = link_some(join, &all);
  if (error == SPATE_OK && all) error = spate_block_flush(device);
  if (error != SPATE_OK) return error;
  const bool lost = spate_block_power_mark(device) != join->power_mark;
  *more = lost || !all;
  if (lost) return join->link_tries < LINK_TRIES ? begin_links(join) : SPATE_E_POWER_LOST;
  return all ? finish(join) : SPATE_OK;
}

enum spate_error spate_exfat_join_work(struct spate_exfat_join *join, bool *more) {
  struct spate_exfat *volume = join->volume;

  *more = false;
  if (volume == NULL) return SPATE_E_INVALID;
  enum spate_error error = spate_exfat_begin_change(volume);
  if (error == SPATE_E_BUSY) return error;
  if (error == SPATE_OK) error = spate_exfat_end_change(volume, step(join, more));
  if (error != SPATE_OK) *more = false;
  if (!*more) spate_exfat_join_cancel(join);
  return error;
}
