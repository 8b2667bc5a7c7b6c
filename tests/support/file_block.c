/* SPDX-License-Identifier: Apache-2.0 */
#include "file_block.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int file_block_open(struct ram_block *ram, const char *path, uint32_t block_bytes, bool writable) {
  int fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (fd < 0) return -1;

  struct stat status;
  if (fstat(fd, &status) != 0 || status.st_size < (off_t)block_bytes) {
    close(fd);
    errno = EINVAL;
    return -1;
  }
  /* A private mapping lets the code under test write to a read-only image, without a change of the file. */
  uint64_t bytes = (uint64_t)status.st_size;
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, writable ? MAP_SHARED : MAP_PRIVATE, fd, 0);
  if (memory == MAP_FAILED) {
    close(fd);
    return -1;
  }
  ram_block_open_memory(ram, memory, bytes, block_bytes, fd);
  return 0;
}
