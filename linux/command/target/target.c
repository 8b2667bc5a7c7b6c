/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the kind of target by its name. */
#include "target_internal.h"

#include "../text/fail.h"
#include "block_range.h"
#include "in_use.h"
#include "place.h"
#include "stripe.h"

#include <limits.h>
#include <linux/fs.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The part of the name behind its kind; NULL: it is of another kind. */
static const char *behind(const char *name, const char *kind) {
  const size_t length = strlen(kind);

  return strncmp(name, kind, length) == 0 ? name + length : NULL;
}

/* How to open a target that is neither a path nor a stripe. */
struct kind {
  const char *prefix;
  void (*open)(struct target *target, const char *words, enum target_access access);
};

/* NULL: the name is a path or a stripe. */
static const struct kind *kind_of(const char *name) {
  static const struct kind kinds[] = {
      {"vfio:", target_open_vfio}, {"pci:", target_open_pci}, {"sim:", target_open_sim}};

  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (behind(name, kinds[i].prefix) != NULL) return &kinds[i];
  return NULL;
}

/* The names of the members; NULL: it is no stripe. */
static const char *stripe_words(const char *name) { return behind(name, "stripe:"); }

bool target_is_path(const char *name) { return kind_of(name) == NULL && stripe_words(name) == NULL; }

bool target_exists(const char *name) {
  char path[PATH_MAX];
  unsigned number;

  place_of_image(name, path, &number);
  return !target_is_path(name) || access(path, F_OK) == 0;
}

const char *target_kind_name(const struct target *target) {
  static const char *const names[] = {"image file", "block device", "NVMe drive", "stripe"};

  return target->partition.number > 0 ? "partition" : names[target->kind];
}

static struct target named(const char *name, struct memory_supply *memory) {
  return (struct target){.name = name, .memory = memory, .fd = -1, .wait_fd = -1, .removal_fd = -1};
}

static void open_one(struct target *target, enum target_access access, uint32_t block_bytes) {
  const struct kind *kind = kind_of(target->name);

  if (kind != NULL)
    kind->open(target, behind(target->name, kind->prefix), access);
  else
    target_open_file(target, access, block_bytes);
}

struct members {
  struct target targets[SPATE_STRIPE_MEMBERS_MAX]; /* first, because target->members points here, and is freed */
  struct stripe_names names;
};

static void open_stripe(struct target *target, enum target_access access) {
  struct members *members = calloc(1, sizeof *members);

  if (members == NULL) fail(EXIT_FAILED, "no memory");
  stripe_split(&members->names, target->name, stripe_words(target->name));
  for (unsigned i = 0; i < members->names.count; i++) {
    const char *sim = behind(members->names.names[i], "sim:");
    if (sim != NULL) target_announce_sim(sim);
  }
  target->members = members->targets;
  for (; target->member_count < members->names.count; target->member_count++) {
    struct target *member = &members->targets[target->member_count];
    *member = named(members->names.names[target->member_count], target->memory);
    open_one(member, access, 0);
  }
  stripe_open(target, access);
}

void target_open(struct target *target, const char *name, enum target_access access, uint32_t block_bytes) {
  struct memory_supply *memory = calloc(1, sizeof *memory);

  if (memory == NULL) fail(EXIT_FAILED, "no memory");
  *target = named(name, memory);
  if (stripe_words(name) != NULL)
    open_stripe(target, access);
  else
    open_one(target, access, block_bytes);
}

static bool one_in_use(const char *name, char *why, size_t why_bytes) {
  const char *sim = behind(name, "sim:");

  if (sim != NULL) { /* checks the file that keeps the contents */
    const char *colon = strchr(sim, ':');
    return colon != NULL && in_use_now(colon + 1, why, why_bytes);
  }
  if (!target_is_path(name)) return false;
  char path[PATH_MAX];
  unsigned number;
  place_of_image(name, path, &number);
  return in_use_now(path, why, why_bytes);
}

bool target_in_use(const char *name, char *why, size_t why_bytes) {
  const char *words = stripe_words(name);
  char member[PATH_MAX];

  if (words == NULL) return one_in_use(name, why, why_bytes);
  for (size_t length; *words != '\0'; words += length + (words[length] == ',')) {
    length = strcspn(words, ",");
    (void)snprintf(member, sizeof member, "%.*s", (int)(length < sizeof member ? length : sizeof member - 1u), words);
    if (one_in_use(member, why, why_bytes)) return true;
  }
  return false;
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

/* The kernel's own folder of the device. Its name may be a link that is made again at any time. */
static bool is_gone(const struct target *target) {
  char path[64];
  struct stat status;
  uint64_t bytes;

  /* The device keeps its descriptor, and has no size any more. */
  if (ioctl(target->fd, BLKGETSIZE64, &bytes) == 0 && bytes == 0) return true;
  if (fstat(target->fd, &status) != 0) return false;
  (void)snprintf(path, sizeof path, "/sys/dev/block/%u:%u", major(status.st_rdev), minor(status.st_rdev));
  return access("/sys/dev/block", F_OK) == 0 && access(path, F_OK) != 0;
}

static enum target_trouble trouble_of(const struct target *target) {
  struct stat status;

  if (target->kind == TARGET_DEVICE) return is_gone(target) ? TARGET_GONE : TARGET_WELL;
  if (target->kind != TARGET_IMAGE || fstat(target->fd, &status) != 0) return TARGET_WELL;
  if ((uint64_t)status.st_size < target->fd_bytes) return TARGET_TRUNCATED;
  return status.st_nlink == 0 && target->has_name ? TARGET_REMOVED : TARGET_WELL;
}

enum target_trouble target_trouble(const struct target *target) {
  enum target_trouble trouble = trouble_of(target);

  for (unsigned i = 0; i < target->member_count && trouble == TARGET_WELL; i++)
    trouble = trouble_of(&target->members[i]);
  return trouble;
}

static void close_one(struct target *target) {
  target->close(target);
  if (target->range != NULL) block_range_close(target->range);
  target->range = NULL;
  target->block = NULL;
}

/* A stripe gives its memory back while its members still have it. */
void target_close(struct target *target) {
  close_one(target);
  while (target->member_count > 0)
    close_one(&target->members[--target->member_count]);
  free(target->members);
  target->members = NULL;
  free(target->memory);
  target->memory = NULL;
}
