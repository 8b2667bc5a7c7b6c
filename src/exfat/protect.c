/* SPDX-License-Identifier: Apache-2.0 */
/* The attribute ReadOnly. It and the checksum of the set are both in the file entry: one write of one block changes
 * both, so neither the journal nor VolumeDirty is needed. */
#include "internal.h"

static enum spate_error protect(struct spate_exfat *volume, const char *text, bool on) {
  struct exfat_path path;
  struct exfat_set set;
  enum spate_error error = spate_exfat_path_find(volume, text, &path, &set);

  if (error != SPATE_OK) return error;
  if (set.place.entries == 0) return SPATE_E_INVALID; /* the root directory */
  error = spate_exfat_check_idle(volume, &set);
  if (error != SPATE_OK) return error;
  const uint16_t attributes = spate_field_get16(set.raw + FILE_ATTRIBUTES);
  if (((attributes & EXFAT_READ_ONLY) != 0) == on) return SPATE_OK;
  if (spate_exfat_journal_held(volume)) return SPATE_E_CORRUPT; /* the journal may name this set by its checksum */
  spate_field_put16(set.raw + FILE_ATTRIBUTES, attributes ^ EXFAT_READ_ONLY);
  spate_exfat_set_seal(set.raw, set.place.entries);
  set.place.entries = 1;
  return spate_exfat_entries_write(volume, &set.place, set.raw);
}

enum spate_error spate_exfat_protect(struct spate_exfat *volume, const char *path, bool on) {
  enum spate_error no_record;
  enum spate_error error = spate_exfat_begin_removal(volume, &no_record);

  return error == SPATE_OK ? spate_exfat_end_change(volume, protect(volume, path, on)) : error;
}
