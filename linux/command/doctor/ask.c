/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the controller and the drive through the kernel's driver. Reads registers if no driver has the drive. */
#include "../device/bus_error.h"
#include "../device/sysfs.h"
#include "../target/admin.h"
#include "checkup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES     4096u
#define NAMESPACES_MAX 32u

/* ---- the controller ---- */

enum { NVME_CAP = 0x00, NVME_CC = 0x14, NVME_CSTS = 0x1c }; /* NVMe 1.4, 3.1 */
#define MEMORY_SPACE 0x0002u                                /* in the command register */

static const struct spate_doctor_function *drive_of(const struct checkup *checkup) {
  return &checkup->path.functions[checkup->path.count - 1u];
}

/* Reads nothing if the function does not decode its registers: that would give all ones, or SIGBUS. */
static bool read_registers(const struct checkup *checkup, struct spate_doctor_registers *registers) {
  const struct spate_doctor_function *drive = drive_of(checkup);
  char path[SYSFS_PATH_BYTES];

  if (!drive->header_known || !(drive->command & MEMORY_SPACE) || (drive->power_known && drive->power_state != 0))
    return false;
  sysfs_path(path, checkup->address, "resource0");
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_SYNC);
  if (fd < 0) return false;
  void *mapping = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
  (void)close(fd);
  if (mapping == MAP_FAILED) return false;
  bus_error_watch(mapping, PAGE_BYTES);
  const volatile uint32_t *at = mapping;
  registers->capabilities = at[NVME_CAP / 4] | (uint64_t)at[NVME_CAP / 4 + 1] << 32;
  registers->configuration = at[NVME_CC / 4];
  registers->status = at[NVME_CSTS / 4];
  bus_error_forget(mapping);
  (void)munmap(mapping, PAGE_BYTES);
  return true;
}

/* Judges the kernel's state of the controller: new, live, resetting, connecting, deleting, dead. */
static bool judge_state(struct checkup *checkup) {
  char path[SYSFS_PATH_BYTES], name[64], state[32];

  (void)snprintf(name, sizeof name, "nvme/%s/state", checkup->controller);
  sysfs_path(path, checkup->address, name);
  if (!sysfs_read(path, state, sizeof state) || strcmp(state, "live") == 0) return true;
  if (strcmp(state, "dead") == 0)
    checkup_found(checkup, SPATE_DOCTOR_CONTROLLER_DEAD, state, 0, 0);
  else
    checkup_found(checkup, SPATE_DOCTOR_CONTROLLER_BUSY, state, 0, 0);
  return false;
}

bool checkup_controller(struct checkup *checkup) {
  const enum spate_doctor_severity before = checkup->doctor.worst;
  struct spate_doctor_registers registers;

  if (checkup->controller[0] != '\0') return judge_state(checkup);
  if (sysfs_is_copy()) return true;
  if (strcmp(checkup->driver, "nvme") == 0) /* the driver has no controller: its probe failed, or is not finished */
    checkup_found(checkup, SPATE_DOCTOR_CONTROLLER_DEAD, "not there", 0, 0);
  else if (read_registers(checkup, &registers))
    spate_doctor_judge_registers(&checkup->doctor, &registers, false);
  else
    checkup_found(checkup, SPATE_DOCTOR_UNDONE_REGISTERS,
                  geteuid() != 0 ? "only root may read them" : "they cannot be mapped, or memory decoding is off", 0,
                  0);
  return checkup->doctor.worst == before || checkup->doctor.worst < SPATE_DOCTOR_ERROR;
}

/* ---- the drive ---- */

static void node_of(const struct checkup *checkup, char *node, size_t node_bytes) {
  (void)snprintf(node, node_bytes, "/dev/%s", checkup->controller);
}

static bool read_pages(const char *node, struct checkup_pages *pages, char *why) {
  static uint64_t log[512 / sizeof(uint64_t)];

  pages->known = admin_node_health(node, log, why);
  if (!pages->known) return false;
  if (!spate_nvme_health_decode(&pages->health, log)) {
    (void)snprintf(why, ADMIN_WHY_BYTES, "%s: the drive's health log is all zeros", node);
    pages->known = false;
    return false;
  }
  spate_nvme_throttling_decode(&pages->throttling, log);
  return true;
}

void checkup_ask(struct checkup *checkup, struct checkup_pages *pages) {
  static uint64_t page[PAGE_BYTES / sizeof(uint64_t)];
  char node[64], why[ADMIN_WHY_BYTES];

  node_of(checkup, node, sizeof node);
  checkup->identified = admin_node_controller(node, page, why);
  if (checkup->identified) spate_nvme_identity_decode(&checkup->identity, page);
  if (!checkup->identified || !read_pages(node, pages, why))
    checkup_found(checkup, SPATE_DOCTOR_UNDONE_DRIVE, why, 0, 0);
}

void checkup_ask_again(const struct checkup *checkup, struct checkup_pages *pages) {
  char node[64], why[ADMIN_WHY_BYTES];

  node_of(checkup, node, sizeof node);
  (void)read_pages(node, pages, why);
}

void checkup_namespaces(struct checkup *checkup) {
  static uint64_t list[PAGE_BYTES / sizeof(uint64_t)], page[PAGE_BYTES / sizeof(uint64_t)];
  struct spate_nvme_namespace namespaces[NAMESPACES_MAX];
  const uint32_t *nsids = (const uint32_t *)(const void *)list;
  char node[64], why[ADMIN_WHY_BYTES];
  unsigned count = 0;

  node_of(checkup, node, sizeof node);
  bool asked = admin_node_namespaces(node, list, why);
  for (unsigned i = 0; asked && i < NAMESPACES_MAX && nsids[i] != 0; i++) {
    asked = admin_node_namespace(node, nsids[i], page, why);
    if (asked && spate_nvme_namespace_decode(&namespaces[count], nsids[i], page)) count++;
  }
  if (asked)
    spate_doctor_judge_namespaces(&checkup->doctor, namespaces, count);
  else
    checkup_found(checkup, SPATE_DOCTOR_UNDONE_DRIVE, why, 0, 0);
}
