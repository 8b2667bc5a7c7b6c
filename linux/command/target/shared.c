/* SPDX-License-Identifier: Apache-2.0 */
#include "shared.h"

#include "../device/sysfs.h"
#include "in_use.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define CONTROLLERS  "/sys/class/nvme"
#define NAME_BYTES   64u
#define SECTOR_BYTES 512u /* the unit of sysfs, whatever the device's blocks are */

/* Reads the first line of FOLDER/NAME/FILE, without trailing blanks. "": there is no such file. */
static void read_line(const char *folder, const char *name, const char *file, char *text, size_t text_bytes) {
  char path[PATH_MAX];

  (void)snprintf(path, sizeof path, "%s/%s/%s", folder, name, file);
  if (!sysfs_read(path, text, text_bytes)) text[0] = '\0';
  for (size_t length = strlen(text); length > 0 && text[length - 1u] == ' '; length--)
    text[length - 1u] = '\0';
}

static bool read_number(const char *folder, const char *name, const char *file, uint64_t *number) {
  char text[NAME_BYTES], *end;

  read_line(folder, name, file, text, sizeof text);
  *number = strtoull(text, &end, 10);
  return end != text;
}

static bool is(const char *controller, const char *file, const char *wanted) {
  char text[NAME_BYTES];

  read_line(CONTROLLERS, controller, file, text, sizeof text);
  return strcmp(text, wanted) == 0;
}

/* ---- the claim ---- */

struct claiming {
  const struct shared_place *place;
  struct shared_claims *claims;
  const char *controller; /* the kernel's name of it: nvme0 */
  char *why;
  size_t why_bytes;
};

/* Writes the reason. Returns true, which ends the search. */
static bool refuse(const struct claiming *claiming, const char *disk, const char *reason) {
  char address[NAME_BYTES];

  read_line(CONTROLLERS, claiming->controller, "address", address, sizeof address);
  (void)snprintf(claiming->why, claiming->why_bytes,
                 "is also the kernel's /dev/%s, through the controller %s, which %s", disk, address, reason);
  return true;
}

static bool number_of(const char *folder, const char *name, dev_t *number) {
  unsigned major_number, minor_number;
  char text[NAME_BYTES];

  read_line(folder, name, "dev", text, sizeof text);
  if (sscanf(text, "%u:%u", &major_number, &minor_number) != 2) return false;
  *number = makedev(major_number, minor_number);
  return true;
}

static bool is_claimed(const struct shared_claims *claims, dev_t number) {
  for (unsigned i = 0; i < claims->count; i++)
    if (claims->numbers[i] == number) return true;
  return false;
}

/* Claims a disk, or a partition of `disk`. True: it is in use, and the reason is written. */
static bool claim(const struct claiming *claiming, const char *disk, const char *name, dev_t number) {
  struct shared_claims *claims = claiming->claims;
  char path[NAME_BYTES], why[PATH_MAX + 128];

  if (is_claimed(claims, number)) return false; /* claimed before, through another of the kernel's paths to it */
  if (in_use_device(number, why, sizeof why)) return refuse(claiming, name, why);
  if (claims->count == SHARED_CLAIMS_MAX) return refuse(claiming, disk, "has too many partitions");
  (void)snprintf(path, sizeof path, "/dev/%.40s", name);
  const int fd = in_use_claim(path, number);
  if (fd < 0 && errno == ENXIO) return refuse(claiming, name, "has no device node there, so it may be in use");
  if (fd < 0) return refuse(claiming, name, errno == EBUSY ? "is in use by another program" : strerror(errno));
  claims->fds[claims->count] = fd;
  claims->numbers[claims->count++] = number;
  return false;
}

static bool overlaps(const struct shared_place *place, uint64_t first_byte, uint64_t bytes) {
  return first_byte < place->first_byte + place->bytes && place->first_byte < first_byte + bytes;
}

/* `folder` is the disk's folder; a partition is a folder in it with the files start and size. */
static bool claim_partition(const char *folder, const char *name, void *context) {
  const struct claiming *claiming = context;
  uint64_t partition, start, size;
  dev_t number;

  if (!read_number(folder, name, "partition", &partition) || !read_number(folder, name, "start", &start) ||
      !read_number(folder, name, "size", &size) || !number_of(folder, name, &number))
    return false;
  return overlaps(claiming->place, start * SECTOR_BYTES, size * SECTOR_BYTES) &&
         claim(claiming, strrchr(folder, '/') + 1, name, number);
}

/* Claims the partitions that overlap the place. A user of the whole disk also uses them. */
static bool claim_part(struct claiming *claiming, const char *disk, dev_t number) {
  char folder[PATH_MAX], why[PATH_MAX + 128], name[NAME_MAX + 1];

  if (in_use_alone(number, why, sizeof why)) return refuse(claiming, disk, why);
  (void)snprintf(folder, sizeof folder, "/sys/block/%s", disk);
  return sysfs_find(folder, claim_partition, claiming, name, sizeof name);
}

static bool claim_disk(const char *folder, const char *entry, void *context) {
  struct claiming *claiming = context;
  char disk[NAME_BYTES];
  uint64_t nsid;
  dev_t number;

  (void)folder;
  if (!sysfs_nvme_disk(entry, disk, sizeof disk) || !number_of("/sys/block", disk, &number)) return false;
  if (claiming->place->nsid != 0 && (!read_number("/sys/block", disk, "nsid", &nsid) || nsid != claiming->place->nsid))
    return false;
  return claiming->claims->whole ? claim(claiming, disk, disk, number) : claim_part(claiming, disk, number);
}

/* All controllers of a subsystem have the same serial number and model (NVM Express 1.4, 5.15.2.2). Two subsystems
 * differ in at least one of them. */
static bool claim_of_controller(const char *folder, const char *name, void *context) {
  struct claiming *claiming = context;
  const struct shared_place *place = claiming->place;
  char path[PATH_MAX], found[NAME_MAX + 1];

  if (is(name, "address", place->address) || !is(name, "serial", place->identity->serial) ||
      !is(name, "model", place->identity->model))
    return false;
  claiming->controller = name;
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  return sysfs_find(path, claim_disk, claiming, found, sizeof found);
}

bool shared_claim(struct shared_claims *claims, const struct shared_place *place, char *why, size_t why_bytes) {
  struct claiming claiming = {.place = place, .claims = claims, .why = why, .why_bytes = why_bytes};
  char name[NAME_MAX + 1];

  claims->count = 0;
  claims->whole = place->bytes == 0;
  if (!place->identity->several_controllers) return true;
  if (!sysfs_find(CONTROLLERS, claim_of_controller, &claiming, name, sizeof name)) return true;
  shared_release(claims);
  return false;
}

void shared_release(struct shared_claims *claims) {
  for (; claims->count > 0; claims->count--) {
    const int fd = claims->fds[claims->count - 1u];
    if (claims->whole) (void)ioctl(fd, BLKRRPART);
    (void)close(fd);
  }
}

/* ---- the kernel's other paths ---- */

struct path {
  const char *address, *disk;
};

static bool leads_to(const char *folder, const char *entry, void *context) {
  const struct path *path = context;
  char disk[NAME_BYTES];

  (void)folder;
  return sysfs_nvme_disk(entry, disk, sizeof disk) && strcmp(disk, path->disk) == 0;
}

static bool has_path(const char *folder, const char *controller, void *context) {
  const struct path *path = context;
  char name[PATH_MAX], found[NAME_MAX + 1];

  if (is(controller, "address", path->address) || !is(controller, "state", "live")) return false;
  (void)snprintf(name, sizeof name, "%s/%s", folder, controller);
  return sysfs_find(name, leads_to, context, found, sizeof found);
}

bool shared_path_elsewhere(const char *address, const char *disk) {
  struct path path = {.address = address, .disk = disk};
  char name[NAME_MAX + 1];

  return sysfs_find(CONTROLLERS, has_path, &path, name, sizeof name);
}
