/* SPDX-License-Identifier: Apache-2.0 */
#include "admin.h"

#include "../device/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PAGE_BYTES        4096u
#define LOG_BYTES         512u
#define FORMAT_TIMEOUT_MS 3600000u

enum { OPCODE_GET_LOG = 0x02, OPCODE_IDENTIFY = 0x06, OPCODE_FORMAT = 0x80, OPCODE_SANITIZE = 0x84 };
enum { LOG_HEALTH = 0x02, LOG_SANITIZE = 0x81, IDENTIFY_NAMESPACE = 0, IDENTIFY_CONTROLLER = 1, IDENTIFY_ACTIVE = 2 };

__attribute__((format(printf, 2, 3))) static bool explain(char *why, const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  (void)vsnprintf(why, ADMIN_WHY_BYTES, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- the kernel's driver ---- */

/* The sysfs path of the block device, which ends in the kernel's name for it ("nvme0n1"), whatever node the user named.
 */
static bool kernel_name(const struct target *target, char *whole) {
  char path[96];
  struct stat status;

  if (stat(target->name, &status) != 0 || !S_ISBLK(status.st_mode)) return false;
  (void)snprintf(path, sizeof path, "/sys/dev/block/%u:%u", major(status.st_rdev), minor(status.st_rdev));
  return realpath(path, whole) != NULL;
}

/* True for nvme0n1; not for its partition nvme0n1p1, and not for another kind of disk. */
static bool is_kernel_drive(const struct target *target, char *why) {
  char whole[PATH_MAX];
  unsigned controller, namespace;
  int end = -1;

  if (target->kind == TARGET_DEVICE && kernel_name(target, whole)) {
    const char *name = strrchr(whole, '/') + 1;
    if (sscanf(name, "nvme%un%u%n", &controller, &namespace, &end) == 2 && name[end] == '\0') return true;
    if (end >= 0 && name[end] == 'p')
      return explain(why, "%s is a partition, and this command is for whole drives: /dev/nvme%un%u", target->name,
                     controller, namespace);
  }
  return explain(why, "%s is not an NVMe drive", target->name);
}

/* Returns what ioctl does. errno is that of open or ioctl, not of close. */
static int node_ioctl(const struct target *target, unsigned long request, void *argument) {
  const int fd = open(target->name, O_RDONLY | O_CLOEXEC);

  if (fd < 0) return -1;
  const int result = ioctl(fd, request, argument);
  const int error = errno;
  (void)close(fd);
  errno = error;
  return result;
}

/* Returns 0, the drive's status, or −1 with errno. */
static int kernel_call(const struct target *target, struct nvme_admin_cmd *command) {
  return node_ioctl(target, NVME_IOCTL_ADMIN_CMD, command);
}

static bool explain_call(const struct target *target, int result, char *why) {
  if (result < 0 && (errno == EACCES || errno == EPERM))
    return explain(why, "%s: only root may send commands to the drive", target->name);
  return explain(why, "%s: %s", target->name,
                 result < 0 ? strerror(errno) : spate_nvme_status_name((uint16_t)(result & 0x7fff)));
}

/* Reads a page from a drive of the kernel through its device node. */
static bool node_page(const char *node, uint8_t opcode, uint32_t nsid, uint32_t dword10, void *page, uint32_t bytes,
                      char *why) {
  const struct target target = {.name = node};
  struct nvme_admin_cmd command = {
      .opcode = opcode, .nsid = nsid, .addr = (uintptr_t)page, .data_len = bytes, .cdw10 = dword10};

  const int result = kernel_call(&target, &command);
  return result == 0 || explain_call(&target, result, why);
}

static bool kernel_page(struct target *target, uint8_t opcode, uint32_t nsid, uint32_t dword10, void *page,
                        uint32_t bytes, char *why) {
  return is_kernel_drive(target, why) && node_page(target->name, opcode, nsid, dword10, page, bytes, why);
}

bool admin_node_controller(const char *node, void *page, char *why) {
  return node_page(node, OPCODE_IDENTIFY, 0, IDENTIFY_CONTROLLER, page, PAGE_BYTES, why);
}

bool admin_node_namespaces(const char *node, void *page, char *why) {
  return node_page(node, OPCODE_IDENTIFY, 0, IDENTIFY_ACTIVE, page, PAGE_BYTES, why);
}

bool admin_node_namespace(const char *node, uint32_t nsid, void *page, char *why) {
  return node_page(node, OPCODE_IDENTIFY, nsid, IDENTIFY_NAMESPACE, page, PAGE_BYTES, why);
}

#define HEALTH_LOG ((LOG_BYTES / 4u - 1u) << 16 | LOG_HEALTH)

bool admin_node_health(const char *node, void *log, char *why) {
  return node_page(node, OPCODE_GET_LOG, UINT32_MAX, HEALTH_LOG, log, LOG_BYTES, why);
}

/* ---- identity, health, link ---- */

bool admin_identity(struct target *target, struct spate_nvme_identity *identity, char *why) {
  static uint64_t page[PAGE_BYTES / sizeof(uint64_t)];

  if (target->nvme != NULL) {
    *identity = *spate_nvme_identity(target->nvme);
    return true;
  }
  *identity = (struct spate_nvme_identity){.version = 0};
  if (!kernel_page(target, OPCODE_IDENTIFY, 0, IDENTIFY_CONTROLLER, page, PAGE_BYTES, why)) return false;
  spate_nvme_identity_decode(identity, page);
  return true;
}

bool admin_health(struct target *target, struct spate_nvme_health *health, char *why) {
  static uint64_t log[LOG_BYTES / sizeof(uint64_t)];

  if (target->nvme != NULL) {
    const enum spate_error error = spate_nvme_health_read(target->nvme);
    if (error != SPATE_OK) return explain(why, "%s: %s", target->name, spate_error_help(error));
    *health = *spate_nvme_health(target->nvme);
    return true;
  }
  *health = (struct spate_nvme_health){.sequence = 0};
  if (!kernel_page(target, OPCODE_GET_LOG, UINT32_MAX, HEALTH_LOG, log, LOG_BYTES, why)) return false;
  return spate_nvme_health_decode(health, log) ||
         explain(why, "%s: the drive's health log is all zeros, so its health is unknown", target->name);
}

bool admin_is_drive(const struct target *target, char *why) {
  if (target->kind == TARGET_DRIVE && target->partition.number > 0)
    return explain(why, "%s is a partition, and this command is for whole drives: leave out p%u", target->name,
                   target->partition.number);
  return target->kind == TARGET_DRIVE || is_kernel_drive(target, why);
}

/* The address in front of the namespace and partition (place.h). */
static bool named_address(const char *words, char *address) {
  char text[32];

  (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(words, "/"), words);
  return sysfs_address(text, address);
}

bool admin_pci_address(const struct target *target, char *address) {
  char whole[PATH_MAX];

  if (strncmp(target->name, "vfio:", 5) == 0) return named_address(target->name + 5, address);
  if (strncmp(target->name, "pci:", 4) == 0) return named_address(target->name + 4, address);
  if (target->kind != TARGET_DEVICE || !kernel_name(target, whole)) return false;
  /* The last part of the path that is an address; nvme/nvme0/nvme0n1 follows it. */
  for (char *slash = strrchr(whole, '/'); slash != NULL; slash = strrchr(whole, '/')) {
    if (strchr(slash, ':') != NULL && sysfs_address(slash + 1, address)) return true;
    *slash = '\0';
  }
  return false;
}

bool admin_link(const struct target *target, struct spate_pcie_link *link) {
  char address[SYSFS_ADDRESS_BYTES];

  if (target->link != NULL) {
    *link = *target->link;
    return link->speed != 0 && link->width != 0;
  }
  if (!admin_pci_address(target, address)) return false;
  *link = sysfs_pcie_link(address);
  return link->speed != 0 && link->width != 0 && link->speed_max != 0 && link->width_max != 0;
}

/* ---- Format NVM ---- */

/* Converts the namespace's present format (Identify Namespace, 5.15.2.1) to the fields of Format NVM (5.23), so that
 * the format stays the same. */
static uint32_t same_format(const uint8_t *namespace) {
  const uint8_t format = namespace[26], protection = namespace[29];

  return (format & 0x0fu) | (uint32_t)(format & 0x60u) << 7 | (uint32_t)(format & 0x10u) |
         (uint32_t)(protection & 0x07u) << 5 | (uint32_t)(protection & 0x08u) << 5;
}

/* Refuses a drive that formats all namespaces at once, if it has others: the user has confirmed only this one. */
static bool others_stay(struct target *target, unsigned namespaces, char *why) {
  struct spate_nvme_identity identity;

  if (!admin_identity(target, &identity, why)) return false;
  if (!identity.formats_all || namespaces <= 1) return true;
  return explain(why, "%s: this drive can only erase all of its %u namespaces at once", target->name, namespaces);
}

/* Counts the drive's active namespaces. */
static bool kernel_namespaces(struct target *target, unsigned *count, char *why) {
  static uint64_t page[PAGE_BYTES / sizeof(uint64_t)];
  const uint32_t *list = (const uint32_t *)(const void *)page;

  *count = 0;
  if (!kernel_page(target, OPCODE_IDENTIFY, 0, IDENTIFY_ACTIVE, page, PAGE_BYTES, why)) return false;
  while (*count < PAGE_BYTES / sizeof *list && list[*count] != 0)
    ++*count;
  return true;
}

static bool explain_library(struct target *target, enum spate_error error, char *why) {
  return explain(why, "%s: %s", target->name,
                 error == SPATE_E_COMMAND ? spate_nvme_status_name(spate_nvme_last_status(target->nvme))
                                          : spate_error_help(error));
}

static bool kernel_format(struct target *target, enum spate_nvme_erase erase, char *why) {
  static uint64_t page[PAGE_BYTES / sizeof(uint64_t)];
  const int nsid = node_ioctl(target, NVME_IOCTL_ID, NULL);
  unsigned namespaces = 0;

  if (nsid < 0) return explain_call(target, nsid, why);
  if (!kernel_namespaces(target, &namespaces, why)) return false;
  if (!others_stay(target, namespaces, why)) return false;
  if (!kernel_page(target, OPCODE_IDENTIFY, (uint32_t)nsid, IDENTIFY_NAMESPACE, page, PAGE_BYTES, why)) return false;
  struct nvme_admin_cmd command = {.opcode = OPCODE_FORMAT,
                                   .nsid = (uint32_t)nsid,
                                   .cdw10 = same_format((const uint8_t *)page) | (uint32_t)erase << 9,
                                   .timeout_ms = FORMAT_TIMEOUT_MS};
  const int result = kernel_call(target, &command);
  return result == 0 || explain_call(target, result, why);
}

bool admin_format(struct target *target, enum spate_nvme_erase erase, char *why) {
  struct spate_nvme_namespace namespace;
  uint32_t nsid = 0;
  unsigned count = 0;

  if (target->nvme == NULL) return is_kernel_drive(target, why) && kernel_format(target, erase, why);
  enum spate_error error = spate_nvme_namespaces(target->nvme, &nsid, 1, &count);
  if (target->nsid != 0) nsid = target->nsid;
  if (error == SPATE_OK && !others_stay(target, count, why)) return false;
  if (error == SPATE_OK) error = spate_nvme_namespace(target->nvme, nsid, &namespace);
  if (error == SPATE_OK) {
    const uint32_t block_bytes = namespace.block_bytes == 4096 ? 4096 : 512;
    error = spate_nvme_format(target->nvme, nsid, block_bytes, erase, FORMAT_TIMEOUT_MS);
  }
  return error == SPATE_OK || explain_library(target, error, why);
}

/* ---- Sanitize ---- */

static bool is_only_namespace(struct target *target, char *why) {
  enum spate_error error = SPATE_OK;
  unsigned count = 0;
  uint32_t nsid;

  if (target->nvme != NULL)
    error = spate_nvme_namespaces(target->nvme, &nsid, 1, &count);
  else if (!kernel_namespaces(target, &count, why))
    return false;
  if (error != SPATE_OK && error != SPATE_E_NO_NAMESPACE) return explain_library(target, error, why);
  if (count <= 1) return true;
  return explain(why, "%s: Sanitize would erase all of the drive's %u namespaces, not only this one", target->name,
                 count);
}

bool admin_sanitize(struct target *target, enum spate_nvme_sanitize_action action, char *why) {
  if (!is_only_namespace(target, why)) return false;
  if (target->nvme != NULL) {
    const enum spate_error error = spate_nvme_sanitize(target->nvme, action);
    return error == SPATE_OK || explain_library(target, error, why);
  }
  struct nvme_admin_cmd command = {.opcode = OPCODE_SANITIZE, .cdw10 = spate_nvme_sanitize_dword10(action)};
  const int result = kernel_call(target, &command);
  return result == 0 || explain_call(target, result, why);
}

bool admin_sanitize_status(struct target *target, struct spate_nvme_sanitize_status *status, char *why) {
  static uint64_t log[LOG_BYTES / sizeof(uint64_t)];

  if (target->nvme != NULL) {
    const enum spate_error error = spate_nvme_sanitize_status(target->nvme, status);
    return error == SPATE_OK || explain_library(target, error, why);
  }
  if (!kernel_page(target, OPCODE_GET_LOG, UINT32_MAX, (LOG_BYTES / 4u - 1u) << 16 | LOG_SANITIZE, log, LOG_BYTES, why))
    return false;
  spate_nvme_sanitize_decode(status, log);
  return true;
}
