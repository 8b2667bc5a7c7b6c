/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published ways of writing without an own driver, each as a small program:
 *
 *   ways METHOD FILE STEP_BYTES TOTAL_BYTES
 *
 *   direct       write() of an aligned buffer, O_DIRECT
 *   mmap-write   write() of memory that logic filled, mapped from /dev/mem, through the page cache; then fsync
 *   mmap-direct  the same with O_DIRECT, which the kernel refuses
 *   memcpy       memcpy from there into an aligned buffer, write() with O_DIRECT
 *   sendfile     sendfile() from a buffer that is a file in memory, O_DIRECT
 *
 * "Memory that logic filled" is above the memory that the kernel uses (mem=), at 0x70000000.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define LOGIC_ADDRESS 0x70000000
/* Physically contiguous if the kernel has huge pages: the best case. */
#define HUGE_BYTES ((size_t)2 << 20)

__attribute__((noreturn)) static void die(const char *what) {
  (void)fprintf(stderr, "ways: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void *map_logic(size_t bytes) {
  const int fd = open("/dev/mem", O_RDONLY | O_CLOEXEC);
  void *memory;

  if (fd < 0) die("/dev/mem");
  memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, LOGIC_ADDRESS);
  if (memory == MAP_FAILED) die("mapping /dev/mem");
  return memory;
}

static void *aligned(size_t bytes) {
  void *memory = aligned_alloc(HUGE_BYTES, (bytes + HUGE_BYTES - 1u) & ~(HUGE_BYTES - 1u));

  if (memory == NULL) die("memory");
  return memset(memory, 0x5a, bytes);
}

static void write_all(int fd, const uint8_t *from, size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(fd, from, bytes);
    if (written <= 0) die("write");
    from += written;
    bytes -= (size_t)written;
  }
}

static void send_all(int fd, int from, size_t bytes) {
  off_t at = 0;

  while ((size_t)at < bytes)
    if (sendfile(fd, from, &at, bytes - (size_t)at) <= 0) die("sendfile");
}

int main(int count, char **words) {
  if (count != 5) return 2;
  const char *method = words[1];
  const size_t step = strtoull(words[3], NULL, 10);
  const uint64_t total = strtoull(words[4], NULL, 10);
  const bool buffered = strcmp(method, "mmap-write") == 0, copied = strcmp(method, "memcpy") == 0;
  const int fd = open(words[2], O_WRONLY | O_CREAT | O_CLOEXEC | (buffered ? 0 : O_DIRECT), 0644);
  const uint8_t *logic = strncmp(method, "m", 1) == 0 ? map_logic(step) : NULL;
  const int sent = strcmp(method, "sendfile") == 0 ? memfd_create("buffer", MFD_CLOEXEC) : -1;
  uint8_t *own = logic == NULL || copied ? aligned(step) : NULL;
  const uint8_t *from = own != NULL ? own : logic;

  if (fd < 0) die(words[2]);
  if (sent >= 0) write_all(sent, own, step);
  for (uint64_t done = 0; done < total; done += step) {
    if (copied && own != NULL && logic != NULL) memcpy(own, logic, step);
    if (sent >= 0)
      send_all(fd, sent, step);
    else
      write_all(fd, from, step);
  }
  if (buffered && fsync(fd) != 0) die("fsync");
  return close(fd) == 0 ? 0 : 1;
}
