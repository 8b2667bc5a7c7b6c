/* SPDX-License-Identifier: Apache-2.0 */
#include "checkup.h"

#include "../device/sysfs.h"
#include "../text/fail.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* ---- names in the kernel ---- */

#define NAME_BYTES 32u /* of a controller */

static void first_entry(const char *path, const char *begin, char *name) {
  DIR *entries = opendir(path);

  name[0] = '\0';
  if (entries == NULL) return;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
    if (strncmp(entry->d_name, begin, strlen(begin)) == 0 && (name[0] == '\0' || strcmp(entry->d_name, name) < 0))
      (void)snprintf(name, NAME_BYTES, "%.31s", entry->d_name);
  (void)closedir(entries);
}

/* The path in sysfs is nvme/nvme0/nvme0n1. With multipath it is nvme/nvme0/nvme0c0n1, and the disk is /dev/nvme0n1. */
static void read_names(struct checkup *checkup) {
  char path[SYSFS_PATH_BYTES], folder[64], entry[NAME_BYTES];
  unsigned subsystem, namespace;

  if (!sysfs_link(checkup->address, "driver", checkup->driver, sizeof checkup->driver)) checkup->driver[0] = '\0';
  sysfs_path(path, checkup->address, "nvme");
  first_entry(path, "nvme", checkup->controller);
  if (checkup->controller[0] == '\0') return;
  (void)snprintf(folder, sizeof folder, "nvme/%s", checkup->controller);
  sysfs_path(path, checkup->address, folder);
  first_entry(path, "nvme", entry);
  if (sscanf(entry, "nvme%uc%*un%u", &subsystem, &namespace) == 2 ||
      sscanf(entry, "nvme%un%u", &subsystem, &namespace) == 2)
    (void)snprintf(checkup->disk, sizeof checkup->disk, "nvme%un%u", subsystem, namespace);
}

/* ---- a drive ---- */

/* Asks the drive, reads from it, and then checks the errors again. */
static void exercise(struct checkup *checkup) {
  struct checkup_pages before = {.known = false}, after = {.known = false};
  static struct checkup_path path_after;

  checkup_ask(checkup, &before);
  if (checkup->identified) checkup_namespaces(checkup);
  const bool moved = checkup_transfer(checkup);
  if (moved && checkup_read_path(&path_after, checkup->address) && path_after.count == checkup->path.count)
    spate_doctor_judge_errors_during(&checkup->doctor, checkup->path.functions, path_after.functions,
                                     checkup->path.count);
  if (!before.known) return;
  if (moved) checkup_ask_again(checkup, &after);
  const struct spate_doctor_drive drive = {.identity = &checkup->identity,
                                           .health = after.known ? &after.health : &before.health,
                                           .throttling = &before.throttling,
                                           .throttling_after = after.known ? &after.throttling : NULL};
  spate_doctor_judge_drive(&checkup->doctor, &drive);
}

/* Sends no command to a drive that cannot work: it would only run into the driver's timeouts. */
static void ask_or_not(struct checkup *checkup, bool sound) {
  const char *why = sysfs_is_copy()                        ? "this is a copy of sysfs"
                    : strcmp(checkup->driver, "nvme") != 0 ? "the kernel's driver does not have the drive"
                                                           : "an error above keeps the drive from working";

  if (sound && !sysfs_is_copy() && checkup->controller[0] != '\0') {
    exercise(checkup);
    return;
  }
  checkup_found(checkup, SPATE_DOCTOR_UNDONE_DRIVE, why, 0, 0);
  checkup_found(checkup, SPATE_DOCTOR_UNDONE_TRANSFER, why, 0, 0);
}

static void run_drive(struct checkup *checkup) {
  const struct checkup_path *path = &checkup->path;
  struct spate_doctor *doctor = &checkup->doctor;

  read_names(checkup);
  spate_doctor_judge_path(doctor, path->functions, path->count, strcmp(checkup->driver, "nvme") == 0);
  const struct spate_doctor_function *last = &path->functions[path->count - 1u];
  if (last->header_known && !last->silent && last->class_code != SPATE_PCIE_CLASS_NVME) return;
  spate_doctor_judge_errors_before(doctor, path->functions, path->count);
  const bool sound = doctor->worst < SPATE_DOCTOR_ERROR;
  checkup_system(checkup);
  ask_or_not(checkup, checkup_controller(checkup) && sound);
}

void checkup_run(struct checkup *checkup) {
  if (checkup->kind == CHECKUP_MACHINE) {
    checkup_machine(checkup);
    return;
  }
  if (!checkup_read_path(&checkup->path, checkup->address))
    fail(EXIT_FAILED,
         "there is no PCI function %s. spate doctor without an address lists drives, and ports without one",
         checkup->address);
  if (checkup->kind == CHECKUP_DRIVE)
    run_drive(checkup);
  else
    spate_doctor_judge_port(&checkup->doctor, &checkup->path.functions[checkup->path.count - 1u]);
  if (checkup->path.config_bytes < 256u)
    checkup_found(checkup, SPATE_DOCTOR_UNDONE_CONFIGURATION, NULL, checkup->path.config_bytes, 0);
}
