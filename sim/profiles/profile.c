/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles by number, by name, and by file. All are valid until the program ends. */
#include "profile_builtin.h"
#include "profile_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kept {
  struct kept *next;
  const char *path;
  struct sim_profile profile;
};

static struct kept *files;

static struct kept *keep(const char *path) {
  const size_t bytes = strlen(path) + 1u;
  struct kept *kept = calloc(1, sizeof *kept + bytes);

  if (kept == NULL) abort();
  kept->path = memcpy(kept + 1, path, bytes);
  return kept;
}

/* A compiled-in profile is parsed at its first use. A test parses all of them, so an error here ends the program. */
static const struct sim_profile *builtin(unsigned index) {
  static struct sim_profile *parsed; /* without a name: not parsed yet */
  char why[SIM_PROFILE_WHY_BYTES];

  if (parsed == NULL) parsed = calloc(sim_profile_builtin_count, sizeof *parsed);
  if (parsed == NULL) abort();
  if (parsed[index].name[0] != '\0') return &parsed[index];
  const struct sim_profile_builtin *from = &sim_profile_builtin[index];
  if (sim_profile_parse(&parsed[index], from->file, from->text, from->bytes, why)) return &parsed[index];
  (void)fprintf(stderr, "sim: %s\n", why);
  abort();
}

const struct sim_profile *sim_profile_at(unsigned index) {
  return index < sim_profile_builtin_count ? builtin(index) : NULL;
}

const struct sim_profile *sim_profile_find(const char *name) {
  for (unsigned i = 0; i < sim_profile_builtin_count; i++)
    if (strcmp(builtin(i)->name, name) == 0) return builtin(i);
  return NULL;
}

static bool is_path(const char *word) { return strpbrk(word, "/.") != NULL; }

static const struct sim_profile *load(const char *path, char *why) {
  for (const struct kept *kept = files; kept != NULL; kept = kept->next)
    if (strcmp(kept->path, path) == 0) return &kept->profile;
  struct kept *kept = keep(path);
  if (!sim_profile_load(&kept->profile, path, why)) {
    free(kept);
    return NULL;
  }
  kept->next = files;
  files = kept;
  return &kept->profile;
}

const struct sim_profile *sim_profile_open(const char *word, char *why) {
  if (is_path(word)) return load(word, why);
  const struct sim_profile *profile = sim_profile_find(word);
  if (profile != NULL) return profile;
  size_t used = (size_t)snprintf(why, SIM_PROFILE_WHY_BYTES, "there is no profile \"%.64s\". There are:", word);
  for (unsigned i = 0; sim_profile_at(i) != NULL && used < SIM_PROFILE_WHY_BYTES; i++)
    used += (size_t)snprintf(why + used, SIM_PROFILE_WHY_BYTES - used, " %s", sim_profile_at(i)->name);
  if (used < SIM_PROFILE_WHY_BYTES)
    (void)snprintf(why + used, SIM_PROFILE_WHY_BYTES - used, ". Name a file with its folder: ./my.profile");
  return NULL;
}
