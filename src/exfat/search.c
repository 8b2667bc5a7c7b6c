/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What searches of directories have shown. A recorder asks for a name, then makes a file of that name, then asks for it
 * again, and a large directory takes long to read. So each search notes where the next one for this name may begin.
 *
 * What is noted says only what a directory does not have in front of an offset, so whatever is found is still read from
 * the directory. A new set could be such a name, and an erased one leaves room: both end what is noted (entry_set.c).
 * Only the set of a new clip is known well enough to be added here instead.
 */
#include "internal.h"

#define SEARCHES_MASK (SPATE_EXFAT_SEARCHES_MAX - 1u)

/* On a damaged volume two directories may begin with one cluster. Then they continue alike, if the FAT links both or
 * neither of them. */
static bool is_in(const struct spate_exfat_search *search, const struct spate_exfat_chain *directory) {
  return search->first_cluster == directory->first_cluster && search->contiguous == directory->contiguous;
}

static struct spate_exfat_search *find(struct spate_exfat *volume, const struct spate_exfat_chain *directory,
                                       const struct exfat_name *name) {
  for (uint32_t i = 0; i < SPATE_EXFAT_SEARCHES_MAX; i++) {
    struct spate_exfat_search *search = &volume->searches[i];
    if (search->units == name->count && search->hash == name->hash && is_in(search, directory)) return search;
  }
  return NULL;
}

const struct spate_exfat_search *spate_exfat_search_recall(struct spate_exfat *volume, const struct exfat_path *path) {
  return find(volume, &path->directory, &path->name);
}

void spate_exfat_search_note(struct spate_exfat *volume, const struct exfat_path *path, uint32_t name_bytes,
                             uint32_t room_bytes) {
  const struct spate_exfat_chain *directory = &path->directory;

  volume->searches[volume->searches_noted++ & SEARCHES_MASK] =
      (struct spate_exfat_search){.first_cluster = directory->first_cluster,
                                  .name_bytes = name_bytes,
                                  .room_bytes = room_bytes,
                                  .hash = path->name.hash,
                                  .units = path->name.count,
                                  .contiguous = directory->contiguous};
}

uint32_t spate_exfat_search_room(const struct spate_exfat *volume, const struct spate_exfat_chain *directory,
                                 uint32_t entries) {
  uint32_t room_bytes = 0;

  for (uint32_t i = 0; i < SPATE_EXFAT_SEARCHES_MAX; i++) {
    const struct spate_exfat_search *search = &volume->searches[i];
    if (search->units == 0 || spate_exfat_set_entries(search->units) != entries || !is_in(search, directory)) continue;
    if (search->room_bytes > room_bytes) room_bytes = search->room_bytes;
  }
  return room_bytes;
}

void spate_exfat_search_add(struct spate_exfat *volume, const struct exfat_place *place,
                            const struct exfat_name *name) {
  struct spate_exfat_search *search = find(volume, &place->directory, name);

  if (search != NULL && place->offset_bytes < search->name_bytes) search->name_bytes = place->offset_bytes;
}

void spate_exfat_search_forget(struct spate_exfat *volume) { memset(volume->searches, 0, sizeof volume->searches); }
