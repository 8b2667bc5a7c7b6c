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

enum { OPCODE_GET_LOG = 0x02, OPCODE_IDENTIFY = 0x06, OPCODE_FORMAT = 0x80 };
enum { LOG_HEALTH = 0x02, IDENTIFY_NAMESPACE = 0, IDENTIFY_CONTROLLER = 1 };

__attribute__((format(printf, 2, 3))) static bool explain(char *why, const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  (void)vsnprintf(why, ADMIN_WHY_BYTES, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- the kernel's driver ---- */

static bool is_kernel_drive(const struct target *target, char *why) {
  const char *name = strrchr(target->name, '/');

  if (target->kind == TARGET_DEVICE && name != NULL && strncmp(name, "/nvme", 5) == 0) return true;
  return explain(why, "%s is no NVMe drive", target->name);
}

/* 0; otherwise the drive's status, or −1 with errno. */
static int kernel_call(const struct target *target, struct nvme_admin_cmd *command) {
  const int fd = open(target->name, O_RDONLY | O_CLOEXEC);

  if (fd < 0) return -1;
  const int result = ioctl(fd, NVME_IOCTL_ADMIN_CMD, command);
  const int error = errno;
  (void)close(fd);
  errno = error;
  return result;
}

static bool explain_call(const struct target *target, int result, char *why) {
  if (result < 0 && (errno == EACCES || errno == EPERM))
    return explain(why, "%s: only root may ask the drive", target->name);
  return explain(why, "%s: %s", target->name,
                 result < 0 ? strerror(errno) : spate_nvme_status_name((uint16_t)(result & 0x7fff)));
}

static bool kernel_page(struct target *target, uint8_t opcode, uint32_t nsid, uint32_t dword10, void *page,
                        uint32_t bytes, char *why) {
  struct nvme_admin_cmd command = {
      .opcode = opcode, .nsid = nsid, .addr = (uintptr_t)page, .data_len = bytes, .cdw10 = dword10};

  if (!is_kernel_drive(target, why)) return false;
  const int result = kernel_call(target, &command);
  return result == 0 || explain_call(target, result, why);
}

/* ---- for everybody ---- */

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
  if (!kernel_page(target, OPCODE_GET_LOG, UINT32_MAX, (LOG_BYTES / 4u - 1u) << 16 | LOG_HEALTH, log, LOG_BYTES, why))
    return false;
  spate_nvme_health_decode(health, log);
  return true;
}

bool admin_pci_address(const struct target *target, char *address) {
  char path[96], whole[PATH_MAX];
  struct stat status;

  if (strncmp(target->name, "vfio:", 5) == 0) return sysfs_address(target->name + 5, address);
  if (strncmp(target->name, "pci:", 4) == 0) return sysfs_address(target->name + 4, address);
  if (target->kind != TARGET_DEVICE || stat(target->name, &status) != 0) return false;
  (void)snprintf(path, sizeof path, "/sys/dev/block/%u:%u", major(status.st_rdev), minor(status.st_rdev));
  if (realpath(path, whole) == NULL) return false;
  /* The last part of the path that is an address: behind it are nvme/nvme0/nvme0n1. */
  for (char *slash = strrchr(whole, '/'); slash != NULL; slash = strrchr(whole, '/')) {
    if (strchr(slash, ':') != NULL && sysfs_address(slash + 1, address)) return true;
    *slash = '\0';
  }
  return false;
}

/* The format in use: byte 26 of Identify Namespace (5.15.2.1). */
static bool kernel_format(struct target *target, enum spate_nvme_erase erase, char *why) {
  static uint64_t page[PAGE_BYTES / sizeof(uint64_t)];
  const int fd = open(target->name, O_RDONLY | O_CLOEXEC);
  const int nsid = fd < 0 ? -1 : ioctl(fd, NVME_IOCTL_ID);

  if (fd >= 0) (void)close(fd);
  if (nsid <= 0) return explain_call(target, -1, why);
  if (!kernel_page(target, OPCODE_IDENTIFY, (uint32_t)nsid, IDENTIFY_NAMESPACE, page, PAGE_BYTES, why)) return false;
  const uint32_t format = ((const uint8_t *)page)[26] & 15u;
  struct nvme_admin_cmd command = {.opcode = OPCODE_FORMAT,
                                   .nsid = (uint32_t)nsid,
                                   .cdw10 = format | (uint32_t)erase << 9,
                                   .timeout_ms = FORMAT_TIMEOUT_MS};
  const int result = kernel_call(target, &command);
  return result == 0 || explain_call(target, result, why);
}

bool admin_format(struct target *target, enum spate_nvme_erase erase, char *why) {
  struct spate_nvme_namespace namespace;
  uint32_t nsid;
  unsigned count;

  if (target->nvme == NULL) return is_kernel_drive(target, why) && kernel_format(target, erase, why);
  enum spate_error error = spate_nvme_namespaces(target->nvme, &nsid, 1, &count);
  if (error == SPATE_OK) error = spate_nvme_namespace(target->nvme, nsid, &namespace);
  if (error == SPATE_OK) {
    const uint32_t block_bytes = namespace.block_bytes == 4096 ? 4096 : 512;
    error = spate_nvme_format(target->nvme, nsid, block_bytes, erase, FORMAT_TIMEOUT_MS);
  }
  if (error == SPATE_OK) return true;
  return explain(why, "%s: %s", target->name,
                 error == SPATE_E_COMMAND ? spate_nvme_status_name(spate_nvme_last_status(target->nvme))
                                          : spate_error_help(error));
}
