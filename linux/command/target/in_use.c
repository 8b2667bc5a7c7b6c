/* SPDX-License-Identifier: Apache-2.0 */
#include "in_use.h"

#include "../device/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

static bool any(const char *folder, const char *name, void *context) {
  (void)folder;
  (void)name;
  (void)context;
  return true;
}

/* The mount point of this device, from a line of mountinfo: "36 35 98:0 / /mnt rw ...". */
static bool is_mounted(dev_t device, char *where, size_t where_bytes) {
  FILE *mounts = fopen("/proc/self/mountinfo", "re");
  char line[2 * PATH_MAX];
  bool found = false;

  if (mounts == NULL) return false;
  while (!found && fgets(line, sizeof line, mounts) != NULL) {
    unsigned major_number, minor_number;
    char point[PATH_MAX];
    found = sscanf(line, "%*d %*d %u:%u %*s %4095s", &major_number, &minor_number, point) == 3 &&
            makedev(major_number, minor_number) == device;
    if (found) (void)snprintf(where, where_bytes, "%s", point);
  }
  (void)fclose(mounts);
  return found;
}

static bool is_swap(dev_t device) {
  FILE *swaps = fopen("/proc/swaps", "re");
  char line[2 * PATH_MAX];
  bool found = false;

  if (swaps == NULL) return false;
  while (!found && fgets(line, sizeof line, swaps) != NULL) {
    struct stat status;
    char path[PATH_MAX];
    found = sscanf(line, "%4095s", path) == 1 && stat(path, &status) == 0 && S_ISBLK(status.st_mode) &&
            status.st_rdev == device;
  }
  (void)fclose(swaps);
  return found;
}

static bool read_of_dm(const char *holder, const char *file, char *text, size_t text_bytes) {
  char path[PATH_MAX];

  (void)snprintf(path, sizeof path, "/sys/block/%s/dm/%s", holder, file);
  return sysfs_read(path, text, text_bytes);
}

/* Names a holder as the user knows it: "/dev/mapper/films-raw (LVM)" instead of dm-0. */
static void name_holder(const char *holder, char *text, size_t text_bytes) {
  char name[NAME_MAX + 1], uuid[NAME_MAX + 1];

  if (read_of_dm(holder, "name", name, sizeof name) && read_of_dm(holder, "uuid", uuid, sizeof uuid))
    (void)snprintf(text, text_bytes, "/dev/mapper/%s (%s)", name,
                   strncmp(uuid, "LVM-", 4) == 0 ? "LVM" : "device mapper");
  else
    (void)snprintf(text, text_bytes, "/dev/%s%s", holder, strncmp(holder, "md", 2) == 0 ? " (md)" : "");
}

struct search {
  char *why;
  size_t why_bytes;
};

static bool device_held(const char *folder, dev_t device, const char *what, const struct search *search) {
  char path[PATH_MAX], name[NAME_MAX + 1];

  if (is_mounted(device, path, sizeof path)) {
    (void)snprintf(search->why, search->why_bytes, "%s mounted on %s", what, path);
    return true;
  }
  if (is_swap(device)) {
    (void)snprintf(search->why, search->why_bytes, "%s used for swap", what);
    return true;
  }
  (void)snprintf(path, sizeof path, "%s/holders", folder);
  if (!sysfs_find(path, any, NULL, name, sizeof name)) return false;
  name_holder(name, path, sizeof path);
  (void)snprintf(search->why, search->why_bytes, "%s part of %s", what, path);
  return true;
}

/* In the disk's folder, a partition is a folder with its own device number. */
static bool partition_held(const char *folder, const char *name, void *context) {
  char path[PATH_MAX], what[NAME_MAX + 32];
  unsigned major_number, minor_number;
  bool held = false;

  (void)snprintf(path, sizeof path, "%s/%s/dev", folder, name);
  FILE *number = fopen(path, "re");
  if (number == NULL) return false;
  if (fscanf(number, "%u:%u", &major_number, &minor_number) == 2) {
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    (void)snprintf(what, sizeof what, "has a partition /dev/%s that is", name);
    held = device_held(path, makedev(major_number, minor_number), what, context);
  }
  (void)fclose(number);
  return held;
}

bool in_use_device(dev_t device, char *why, size_t why_bytes) {
  struct search search = {why, why_bytes};
  char folder[64], name[NAME_MAX + 1];

  (void)snprintf(folder, sizeof folder, "/sys/dev/block/%u:%u", major(device), minor(device));
  return device_held(folder, device, "is", &search) || sysfs_find(folder, partition_held, &search, name, sizeof name);
}

bool in_use_alone(dev_t device, char *why, size_t why_bytes) {
  const struct search search = {why, why_bytes};
  char folder[64];

  (void)snprintf(folder, sizeof folder, "/sys/dev/block/%u:%u", major(device), minor(device));
  return device_held(folder, device, "is", &search);
}

#define CLAIM_TRIES  20u
#define CLAIM_NAP_NS 50000000L

int in_use_claim(const char *path, dev_t number) {
  const struct timespec nap = {.tv_nsec = CLAIM_NAP_NS};
  int fd = -1, error = ENXIO;

  for (unsigned tries = 0; fd < 0 && tries < CLAIM_TRIES; tries++) {
    struct stat status;
    if (tries > 0) (void)nanosleep(&nap, NULL);
    const bool there = stat(path, &status) == 0 && S_ISBLK(status.st_mode) && status.st_rdev == number;
    fd = there ? open(path, O_RDWR | O_EXCL | O_CLOEXEC) : -1;
    error = there ? errno : ENXIO;
  }
  errno = error;
  return fd;
}

static bool loop_has(const char *folder, const char *name, void *context) {
  char path[PATH_MAX], backing[PATH_MAX];
  bool has = false;

  (void)snprintf(path, sizeof path, "%s/%s/loop/backing_file", folder, name);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  if (fgets(backing, sizeof backing, file) != NULL) {
    backing[strcspn(backing, "\n")] = '\0';
    has = strcmp(backing, context) == 0;
  }
  (void)fclose(file);
  return has;
}

bool in_use_file(const char *path, char *why, size_t why_bytes) {
  char whole[PATH_MAX], name[NAME_MAX + 1];

  if (realpath(path, whole) == NULL || !sysfs_find("/sys/block", loop_has, whole, name, sizeof name)) return false;
  (void)snprintf(why, why_bytes, "is in use by /dev/%s; losetup --detach /dev/%s frees it", name, name);
  return true;
}

/* A writer holds a lock on the file, or has the device open exclusively. This check takes the same lock for a moment; a
 * recorder that starts at that moment tries again. */
static bool is_locked_now(const char *path, bool device) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | (device ? O_EXCL : 0));

  if (fd < 0) return device && errno == EBUSY;
  const bool locked = !device && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  (void)close(fd);
  return locked;
}

/* Tries several times: another check may hold the lock for a moment, and the file of a killed recorder is released with
 * a delay. */
#define LOCK_TRIES  5u
#define LOCK_NAP_NS 20000000L

static bool is_locked(const char *path, bool device) {
  const struct timespec nap = {.tv_nsec = LOCK_NAP_NS};

  for (unsigned tries = 1; is_locked_now(path, device); tries++) {
    if (tries == LOCK_TRIES) return true;
    (void)nanosleep(&nap, NULL);
  }
  return false;
}

bool in_use_now(const char *path, char *why, size_t why_bytes) {
  struct stat status;

  if (stat(path, &status) != 0) return false;
  const bool device = S_ISBLK(status.st_mode);
  if (device ? in_use_device(status.st_rdev, why, why_bytes) : in_use_file(path, why, why_bytes)) return true;
  if (!is_locked(path, device)) return false;
  (void)snprintf(why, why_bytes, device ? "is in use by another program" : "is written to by another spate");
  return true;
}
