/* SPDX-License-Identifier: Apache-2.0 */
#include "temperature.h"

#include "../device/sysfs.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Returns the log that the last call has requested, and requests the next one. */
static bool read_drive(struct spate_nvme *nvme, struct temperature *temperature) {
  const struct spate_nvme_health *health = spate_nvme_health(nvme);
  const struct spate_nvme_identity *identity = spate_nvme_identity(nvme);
  const enum spate_error asked = spate_nvme_health_start(nvme); /* BUSY: the last request is still in flight */

  if (health->sequence == 0 || (asked != SPATE_OK && asked != SPATE_E_BUSY)) return false;
  *temperature = (struct temperature){.celsius = health->temperature_c,
                                      .warning_celsius = identity->warning_temperature_c,
                                      .critical_celsius = identity->critical_temperature_c};
  return true;
}

/* Reads a file of the disk's hwmon device, also if `folder` is that of a partition. */
static bool read_hwmon(const char *folder, const char *name, int16_t *celsius) {
  static const char *const places[] = {"device/hwmon*", "device/hwmon/hwmon*", "../device/hwmon*",
                                       "../device/hwmon/hwmon*"};
  char pattern[SYSFS_PATH_BYTES], text[32];
  bool found = false;

  for (size_t i = 0; !found && i < sizeof places / sizeof places[0]; i++) {
    glob_t paths;
    (void)snprintf(pattern, sizeof pattern, "%s/%s/%s", folder, places[i], name);
    if (glob(pattern, 0, NULL, &paths) != 0) continue;
    found = sysfs_read(paths.gl_pathv[0], text, sizeof text);
    globfree(&paths);
  }
  if (found) *celsius = (int16_t)(strtol(text, NULL, 10) / 1000); /* thousandths of a degree */
  return found;
}

static bool read_device(const char *name, struct temperature *temperature) {
  char folder[64];
  struct stat status;

  if (stat(name, &status) != 0 || !S_ISBLK(status.st_mode)) return false;
  (void)snprintf(folder, sizeof folder, "/sys/dev/block/%u:%u", major(status.st_rdev), minor(status.st_rdev));
  *temperature = (struct temperature){.celsius = 0};
  if (!read_hwmon(folder, "temp1_input", &temperature->celsius)) return false;
  /* These files are missing if the drive states no limits. */
  (void)read_hwmon(folder, "temp1_max", &temperature->warning_celsius);
  (void)read_hwmon(folder, "temp1_crit", &temperature->critical_celsius);
  return true;
}

static bool read_one(struct target *target, struct temperature *temperature) {
  if (target->kind == TARGET_DRIVE) return read_drive(target->nvme, temperature);
  return target->kind == TARGET_DEVICE && read_device(target->name, temperature);
}

bool temperature_read(struct target *target, struct temperature *temperature) {
  bool known = false;

  if (target->kind != TARGET_STRIPE) return read_one(target, temperature);
  for (unsigned i = 0; i < target->member_count; i++) {
    struct temperature one;
    if (!read_one(&target->members[i], &one)) continue;
    if (!known || one.celsius > temperature->celsius) *temperature = one;
    known = true;
  }
  return known;
}
