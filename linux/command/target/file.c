/* SPDX-License-Identifier: Apache-2.0 */
/* Image files and block devices. */
#include "target_internal.h"

#include "../direct.h"
#include "../text/fail.h"
#include "in_use.h"
#include "partition.h"
#include "place.h"
#include "requests.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux_port.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct file {
  int fd;
  struct requests *requests;
};

static void close_file(struct target *target) {
  struct file *file = target->backend;

  linux_port_wait(NULL, NULL);
  requests_close(file->requests);
  if (close(file->fd) != 0) fail(EXIT_FAILED, "%s: close: %s", target->name, strerror(errno));
  free(file);
}

/* ---- opening ---- */

__attribute__((noreturn)) static void refuse_open(const char *name, int error) {
  switch (error) {
  case ENOENT:
    if (strncmp(name, "/dev/", 5) == 0)
      fail(EXIT_FAILED,
           "%s: there is no such device. spate doctor lists the drives of this machine; after a killed spate, spate "
           "release gives a drive back to the kernel",
           name);
    fail(EXIT_FAILED, "%s: there is no such file. This makes an image: spate format %s --size 8GiB", name, name);
  case EACCES:
  case EPERM:
    fail(EXIT_REFUSED,
         "%s: you may not open it. A block device needs root, or membership in the group that owns it (ls -l %s)", name,
         name);
  default: fail(EXIT_FAILED, "%s: %s", name, strerror(error));
  }
}

/* After a process is killed, the kernel releases its io_uring, and so the file, with a short delay. So a file that is
 * in use is tried again for a second. */
#define TRIES      20
#define TRY_NAP_NS 50000000L

static bool try_again(unsigned *tries) {
  const struct timespec nap = {.tv_nsec = TRY_NAP_NS};

  if (++*tries >= TRIES) return false;
  (void)nanosleep(&nap, NULL);
  return true;
}

static void check_device_free(const char *name, dev_t device, int error) {
  char why[PATH_MAX + 128];

  if (in_use_device(device, why, sizeof why))
    fail(EXIT_REFUSED, "%s %s: nothing was written. First unmount it, or end its use", name, why);
  if (error == EBUSY) fail(EXIT_REFUSED, "%s is in use by another program: nothing was written", name);
}

static void open_device(struct file *file, struct requests_config *config, const char *name, enum target_access access,
                        dev_t device) {
  int logical_bytes = 0;
  uint64_t bytes = 0;

  if (access != TARGET_READ) {
    unsigned tries = 0;
    check_device_free(name, device, 0);
    do
      file->fd = open(name, O_RDWR | O_EXCL | O_DIRECT | O_CLOEXEC);
    while (file->fd < 0 && errno == EBUSY && try_again(&tries));
    if (file->fd < 0 && errno == EBUSY) check_device_free(name, device, EBUSY);
  } else {
    file->fd = open(name, O_RDONLY | O_DIRECT | O_CLOEXEC);
  }
  if (file->fd < 0) refuse_open(name, errno);
  if (ioctl(file->fd, BLKSSZGET, &logical_bytes) != 0 || ioctl(file->fd, BLKGETSIZE64, &bytes) != 0)
    fail(EXIT_FAILED, "%s: cannot get its size: %s", name, strerror(errno));
  if (logical_bytes != 512 && logical_bytes != 4096)
    fail(EXIT_FAILED, "%s has logical blocks of %d bytes: 512 or 4096 are needed", name, logical_bytes);
  config->block_bytes = (uint32_t)logical_bytes;
  config->bytes = bytes;
  config->device = true;
}

/* The logical block size with which an image was made. The header of a GPT is in block 1, and exFAT's boot sector
 * states the size. An image without either gets 512. */
static uint32_t image_block_bytes(const char *name) {
  static const uint32_t sizes[] = {512, 4096};
  uint8_t start[8192] = {0};
  const int fd = open(name, O_RDONLY | O_CLOEXEC);

  if (fd < 0) refuse_open(name, errno);
  const ssize_t got = pread(fd, start, sizeof start, 0);
  (void)close(fd);
  if (got < 0) fail(EXIT_FAILED, "%s: %s", name, strerror(errno));
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    if (memcmp(start + sizes[i], "EFI PART", 8) == 0) return sizes[i];
  return memcmp(start + 3, "EXFAT   ", 8) == 0 && start[108] == 12 ? 4096u : 512u;
}

static void open_image(struct file *file, struct requests_config *config, const char *name, enum target_access access) {
  char why[PATH_MAX];
  struct stat status;

  if (config->block_bytes == 0) config->block_bytes = image_block_bytes(name);
  file->fd = direct_open(name, access != TARGET_READ ? O_RDWR : O_RDONLY, 0, config->block_bytes, NULL);
  if (file->fd < 0) refuse_open(name, errno);
  if (access != TARGET_READ) {
    if (in_use_file(name, why, sizeof why)) fail(EXIT_REFUSED, "%s %s: nothing was written", name, why);
    unsigned tries = 0;
    while (flock(file->fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) fail(EXIT_FAILED, "%s: cannot be locked: %s", name, strerror(errno));
      if (!try_again(&tries)) fail(EXIT_REFUSED, "%s is in use by another spate: nothing was written", name);
    }
  }
  if (fstat(file->fd, &status) != 0) fail(EXIT_FAILED, "%s: %s", name, strerror(errno));
  config->bytes = (uint64_t)status.st_size;
}

void target_open_file(struct target *target, enum target_access access, uint32_t block_bytes) {
  char name[PATH_MAX];
  struct requests_config config = {.block_bytes = block_bytes,
                                   .depth = (uint16_t)(target_depth == 0 ? TARGET_DEPTH : target_depth),
                                   .request_bytes = TARGET_REQUEST_BYTES};
  struct file *file = calloc(1, sizeof *file);
  struct stat status;

  if (file == NULL) fail(EXIT_FAILED, "no memory");
  place_of_image(target->name, name, &target->partition.number);
  if (stat(name, &status) != 0) refuse_open(name, errno);
  if (S_ISBLK(status.st_mode))
    open_device(file, &config, name, access, status.st_rdev);
  else if (S_ISREG(status.st_mode))
    open_image(file, &config, name, access);
  else
    fail(EXIT_USAGE, "%s is neither a block device nor a file", name);
  if (config.bytes < config.block_bytes) fail(EXIT_FAILED, "%s is empty", name);
  config.fd = file->fd;
  target->fd = file->fd;
  target->fd_bytes = config.bytes;
  target->has_name = status.st_nlink > 0;
  config.name = target->name;
  config.memory = target->memory;
  if (config.device) partition_of_device(status.st_rdev, &target->partition);
  target->kind = config.device ? TARGET_DEVICE : TARGET_IMAGE;
  target->backend = file;
  target->close = close_file;
  file->requests = requests_open(&config, &target->wait_fd);
  target->block = requests_block(file->requests);
  linux_port_wait(requests_wait, file->requests);
  if (target->kind == TARGET_IMAGE) place_narrow(target);
}
