/* SPDX-License-Identifier: Apache-2.0 */
#include "binding.h"

#include "../target/in_use.h"
#include "../target/shared.h"
#include "../text/fail.h"
#include "sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

#define NAME_BYTES 64u
#define NO_DRIVER  "spate" /* in driver_override: no driver has this name, so none binds to the function */

/* `name` becomes "" if the function has no driver. */
static void driver_of(const char *address, char *name) {
  if (!sysfs_link(address, "driver", name, NAME_BYTES)) name[0] = '\0';
}

#define DISKS_MAX   64u
#define CLASS_NVME  0x0108u /* mass storage, NVM: base class and sub-class */
#define CLASS_SHIFT 8

/* The drive's disks, held open exclusively until the kernel's driver has released the drive. So nobody can mount them
 * in between. */
static struct {
  int fds[DISKS_MAX];
  unsigned count;
} held;

static void release_disks(void) {
  while (held.count > 0)
    (void)close(held.fds[--held.count]);
}

/* The disk's device number from sysfs: its device node may have another name, or may not exist. */
static dev_t number_of(const char *address, const char *disk) {
  char path[128], text[32];
  unsigned major_number, minor_number;

  (void)snprintf(path, sizeof path, "/sys/block/%.60s/dev", disk);
  if (!sysfs_read(path, text, sizeof text) || sscanf(text, "%u:%u", &major_number, &minor_number) != 2)
    fail(EXIT_REFUSED, "%s has a disk %s, and %s cannot be read: the drive stays with the kernel", address, disk, path);
  return makedev(major_number, minor_number);
}

/* Refuses a disk in use. Mounts, md, LVM and dm open a disk exclusively, so an exclusive open finds them. */
static void check_disk(const char *address, const char *disk) {
  char path[64], why[PATH_MAX + 128];
  const dev_t number = number_of(address, disk);

  (void)snprintf(path, sizeof path, "/dev/%.40s", disk);
  if (in_use_device(number, why, sizeof why))
    fail(EXIT_REFUSED, "%s is %s, which %s: it stays with the kernel. First unmount it, or end its use", address, path,
         why);
  const int fd = in_use_claim(path, number);
  if (fd < 0 && errno == ENXIO)
    fail(EXIT_REFUSED, "%s is the disk %s, but %s is not its device node, so it may be in use", address, disk, path);
  if (fd < 0)
    fail(EXIT_REFUSED, "%s is %s, which cannot be opened exclusively: %s. It stays with the kernel", address, path,
         strerror(errno));
  if (held.count == DISKS_MAX) fail(EXIT_REFUSED, "%s has more than %u namespaces", address, DISKS_MAX);
  held.fds[held.count++] = fd;
}

/* A disk that the kernel also reaches through another controller is not checked here: the kernel keeps it. shared.c
 * checks whether it may be written to through this one when it is opened. */
static void check_disk_entry(const char *address, const char *name) {
  char disk[NAME_BYTES];

  if (sysfs_nvme_disk(name, disk, sizeof disk) && !shared_path_elsewhere(address, disk)) check_disk(address, disk);
}

static void each_entry(const char *address, const char *folder,
                       void (*act)(const char *address, const char *folder, const char *name)) {
  DIR *entries = opendir(folder);

  if (entries == NULL) return;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
    if (entry->d_name[0] != '.') act(address, folder, entry->d_name);
  (void)closedir(entries);
}

static void check_namespace(const char *address, const char *folder, const char *name) {
  (void)folder;
  if (strncmp(name, "nvme", 4) == 0) check_disk_entry(address, name);
}

static void check_controller(const char *address, const char *folder, const char *name) {
  char path[PATH_MAX];

  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  each_entry(address, path, check_namespace);
}

static void check_free(const char *address) {
  char path[SYSFS_PATH_BYTES];

  sysfs_path(path, address, "nvme");
  each_entry(address, path, check_controller);
}

static int unbind(const char *address) {
  char path[SYSFS_PATH_BYTES];

  sysfs_path(path, address, "driver/unbind");
  return access(path, F_OK) == 0 ? sysfs_write(path, address) : 0;
}

/* Returns 0 or an errno value. */
static int change(const char *address, const char *driver) {
  char override[SYSFS_PATH_BYTES];

  sysfs_path(override, address, "driver_override");
  int error = sysfs_write(override, driver == NULL ? NO_DRIVER : driver);
  if (error == 0) error = unbind(address);
  if (error == 0 && driver != NULL) error = sysfs_write("/sys/bus/pci/drivers_probe", address);
  return error;
}

/* Only an NVMe drive is taken from its driver: a typing error must not stop a network interface or another disk. */
static void check_class(const char *address) {
  uint64_t class_code;

  if (!sysfs_number(address, "class", &class_code) || class_code >> CLASS_SHIFT != CLASS_NVME)
    fail(EXIT_REFUSED, "%s is not an NVMe drive. lspci -D lists all PCI functions", address);
}

__attribute__((noreturn)) static void refuse_change(const char *address, const char *wanted, int error) {
  if (error == EACCES || error == EPERM) fail(EXIT_REFUSED, "%s: only root may change a drive's driver", address);
  (void)binding_give_back(address);
  if (error != 0) fail(EXIT_FAILED, "%s cannot be taken from its driver: %s", address, strerror(error));
  fail(EXIT_FAILED, "%s did not bind to %s. Is it loaded? modprobe %s", wanted, address, wanted);
}

bool binding_take(const char *address, const char *driver, bool bind) {
  const char *wanted = driver == NULL ? "" : driver;
  char now[NAME_BYTES];

  if (!sysfs_exists(address)) fail(EXIT_FAILED, "there is no PCI function %s. lspci -D lists them", address);
  check_class(address);
  driver_of(address, now);
  if (strcmp(now, wanted) == 0) return false;
  if (!bind)
    fail(EXIT_REFUSED, "%s has the driver \"%s\" and needs %s. --bind takes it while spate runs, and gives it back",
         address, now[0] == '\0' ? "none" : now, driver == NULL ? "none" : wanted);
  check_free(address);
  const int error = change(address, driver);
  release_disks();
  driver_of(address, now);
  if (error != 0 || strcmp(now, wanted) != 0) refuse_change(address, wanted, error);
  return true;
}

bool binding_taken(const char *address) {
  char path[SYSFS_PATH_BYTES], override[NAME_BYTES];

  sysfs_path(path, address, "driver_override");
  return sysfs_read(path, override, sizeof override) &&
         (strcmp(override, NO_DRIVER) == 0 || strcmp(override, "vfio-pci") == 0);
}

bool binding_give_back(const char *address) {
  char override[SYSFS_PATH_BYTES], mark[NAME_BYTES], now[NAME_BYTES];

  sysfs_path(override, address, "driver_override");
  if (!sysfs_read(override, mark, sizeof mark)) mark[0] = '\0';
  int error = sysfs_write(override, "\n");
  if (error == 0) error = unbind(address);
  if (error == 0) error = sysfs_write("/sys/bus/pci/drivers_probe", address);
  driver_of(address, now);
  if (error == 0 && now[0] != '\0') return true;
  (void)sysfs_write(override, mark); /* marks it as taken, for the next try */
  (void)fprintf(stderr, "spate: %s did not go back to the kernel's driver%s%s. spate release %s tries again\n", address,
                error == 0 ? "" : ": ", error == 0 ? "" : strerror(error), address);
  return false;
}
