/* SPDX-License-Identifier: Apache-2.0 */
/* Paths: from a path to the directory of its last name. */
#include "internal.h"

static size_t name_bytes(const char *text) {
  size_t bytes = 0;

  while (text[bytes] != '\0' && text[bytes] != '/')
    bytes++;
  return bytes;
}

static const char *skip_slashes(const char *text) {
  while (*text == '/')
    text++;
  return text;
}

/* Step into the directory that path->name names. */
static enum spate_error enter(struct spate_exfat *volume, const struct exfat_place *avoid, struct exfat_path *path) {
  struct exfat_set set;
  enum spate_error error = spate_exfat_directory_find(volume, path, &set);

  if (error != SPATE_OK) return error;
  if ((spate_field_get16(set.raw + FILE_ATTRIBUTES) & EXFAT_DIRECTORY) == 0) return SPATE_E_NOT_DIRECTORY;
  if (avoid != NULL && spate_exfat_place_equal(avoid, &set.place)) return SPATE_E_INVALID;
  path->self = set.place;
  return spate_exfat_set_chain(volume, set.raw, &path->directory);
}

enum spate_error spate_exfat_path_walk(struct spate_exfat *volume, const char *text, const struct exfat_place *avoid,
                                       struct exfat_path *path) {
  path->directory = volume->root;
  path->self.entries = 0;
  path->name.count = 0;
  for (text = skip_slashes(text); *text != '\0'; text = skip_slashes(text + name_bytes(text))) {
    enum spate_error error = path->name.count == 0 ? SPATE_OK : enter(volume, avoid, path);
    if (error == SPATE_OK) error = spate_exfat_name_parse(volume, text, name_bytes(text), &path->name);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

enum spate_error spate_exfat_path_find(struct spate_exfat *volume, const char *text, struct exfat_path *path,
                                       struct exfat_set *set) {
  enum spate_error error = spate_exfat_path_walk(volume, text, NULL, path);

  set->place.entries = 0; /* the root directory, which has no entry set */
  spate_field_put16(set->raw + FILE_ATTRIBUTES, EXFAT_DIRECTORY);
  if (error != SPATE_OK || path->name.count == 0) return error;
  return spate_exfat_directory_find(volume, path, set);
}

enum spate_error spate_exfat_path_new(struct spate_exfat *volume, const char *text, struct exfat_path *path) {
  struct exfat_set taken;
  enum spate_error error = spate_exfat_path_walk(volume, text, NULL, path);

  if (error != SPATE_OK) return error;
  if (path->name.count == 0) return SPATE_E_NAME;
  if (spate_exfat_joins(volume, path->directory.first_cluster)) return SPATE_E_IN_USE;
  error = spate_exfat_name_creatable(&path->name);
  return error == SPATE_OK ? spate_exfat_name_free(volume, path, &taken) : error;
}
