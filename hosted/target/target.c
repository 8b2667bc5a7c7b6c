/* SPDX-License-Identifier: Apache-2.0 */
/* Which kind of target a name means. */
#include "target_internal.h"

#include "../text/fail.h"
#include "window.h"

#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

bool target_bind;
unsigned target_depth;

/* What is left of the name behind its kind; NULL: it is of another kind. */
static const char *behind(const char *name, const char *kind) {
  const size_t length = strlen(kind);

  return strncmp(name, kind, length) == 0 ? name + length : NULL;
}

bool target_is_path(const char *name) {
  return behind(name, "vfio:") == NULL && behind(name, "pci:") == NULL && behind(name, "sim:") == NULL &&
         behind(name, "stripe:") == NULL;
}

bool target_exists(const char *name) { return !target_is_path(name) || access(name, F_OK) == 0; }

const char *target_kind_name(const struct target *target) {
  static const char *const names[] = {"image file", "block device", "NVMe drive", "stripe"};

  return target->partition.number > 0 ? "partition" : names[target->kind];
}

void target_open(struct target *target, const char *name, enum target_access access, uint32_t block_bytes) {
  const char *words;

  *target = (struct target){.name = name, .wait_fd = -1, .removal_fd = -1};
  if ((words = behind(name, "vfio:")) != NULL)
    target_open_vfio(target, words, access);
  else if ((words = behind(name, "pci:")) != NULL)
    target_open_pci(target, words, access);
  else if ((words = behind(name, "sim:")) != NULL)
    target_open_sim(target, words, access);
  else if ((words = behind(name, "stripe:")) != NULL)
    target_open_stripe(target, words, access);
  else
    target_open_file(target, access, block_bytes);
}

static bool asked(const struct target *target) {
  struct pollfd removal = {.fd = target->removal_fd, .events = POLLIN};

  return target->removal_fd >= 0 && poll(&removal, 1, 0) == 1;
}

bool target_removal_asked(const struct target *target) {
  for (unsigned i = 0; i < target->member_count; i++)
    if (asked(&target->members[i])) return true;
  return asked(target);
}

static bool gone(const struct target *target) {
  return target->kind == TARGET_DEVICE && access(target->name, F_OK) != 0;
}

bool target_is_gone(const struct target *target) {
  for (unsigned i = 0; i < target->member_count; i++)
    if (gone(&target->members[i])) return true;
  return gone(target);
}

void target_close(struct target *target) {
  target->close(target);
  if (target->window != NULL) window_close(target->window);
  target->window = NULL;
  target->block = NULL;
}
