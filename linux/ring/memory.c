/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define SHM_FOLDER "/dev/shm"
#define NAME_MAX_  200u
#define HUGE_BYTES ((size_t)2 << 20)

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1; the C library's headers may be older */
#endif

/* ---- locks ---- */

static struct flock lock_of(short byte) {
  return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
}

bool ring_memory_is_locked(int fd, short byte) {
  struct flock lock = lock_of(byte);

  return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int ring_memory_lock(int fd, short byte) {
  struct flock lock = lock_of(byte);

  if (fcntl(fd, F_OFD_SETLK, &lock) == 0) return 0;
  return errno == EAGAIN || errno == EACCES ? EBUSY : errno;
}

void ring_memory_unlock(struct ring_memory *memory) {
  struct flock lock = lock_of(SPATE_RING_LOCK_PRODUCER);

  lock.l_type = F_UNLCK;
  (void)fcntl(memory->fd, F_OFD_SETLK, &lock);
}

/* ---- a name in /dev/shm ---- */

static bool is_name(const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  const size_t length = strlen(name);

  return length > 0 && length <= NAME_MAX_ && strspn(name, letters) == length;
}

static bool is_same_file(const char *path, int fd) {
  struct stat there, here;

  return stat(path, &there) == 0 && fstat(fd, &here) == 0 && there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

/* Removes an earlier ring of this name, unless its producer is still alive. */
static int remove_stale(const char *path) {
  const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  int error = 0;

  if (fd < 0) return errno == ENOENT ? 0 : errno;
  if (ring_memory_is_locked(fd, SPATE_RING_LOCK_PRODUCER))
    error = EBUSY;
  else if (is_same_file(path, fd) && unlink(path) != 0)
    error = errno;
  (void)close(fd);
  return error;
}

/* Opens a file without a name; ring_memory_show() gives it one. So nobody sees an incomplete ring, and a process that
 * is killed before that leaves nothing behind. */
static int open_shared(struct ring_memory *memory, const char *name) {
  char *path = malloc(sizeof SHM_FOLDER "/spate-" + strlen(name));

  if (path == NULL) return ENOMEM;
  (void)sprintf(path, SHM_FOLDER "/spate-%s", name);
  memory->path = path;
  const int error = remove_stale(path);
  if (error != 0) return error;
  memory->fd = open(SHM_FOLDER, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  return memory->fd < 0 ? errno : 0;
}

int ring_memory_show(struct ring_memory *memory) {
  char here[64];

  if (memory->path == NULL) return 0;
  (void)snprintf(here, sizeof here, "/proc/self/fd/%d", memory->fd);
  if (linkat(AT_FDCWD, here, AT_FDCWD, memory->path, AT_SYMLINK_FOLLOW) == 0) return 0;
  return errno == EEXIST ? EBUSY : errno; /* another producer was faster */
}

/* ---- a path ---- */

/* Refuses a file that holds anything but a ring, so that a mistyped path destroys nothing. */
static int check_file(int fd, const struct stat *status) {
  char magic[sizeof SPATE_RING_MAGIC - 1u];

  if (S_ISCHR(status->st_mode)) return 0;
  if (!S_ISREG(status->st_mode)) return EINVAL;
  if (status->st_size == 0) return 0;
  const ssize_t got = pread(fd, magic, sizeof magic, 0);
  if (got < 0) return errno;
  return got == (ssize_t)sizeof magic && memcmp(magic, SPATE_RING_MAGIC, sizeof magic) == 0 ? 0 : EEXIST;
}

static int open_path(struct ring_memory *memory, const char *path) {
  struct stat status;

  memory->fd = open(path, O_RDWR | O_CLOEXEC);
  if (memory->fd < 0 || fstat(memory->fd, &status) != 0) return errno;
  const int error = check_file(memory->fd, &status);
  if (error != 0) return error;
  return ring_memory_is_locked(memory->fd, SPATE_RING_LOCK_RECORDER) ? EBUSY : 0;
}

/* ---- allocation ---- */

size_t ring_memory_step_bytes(int fd) {
  struct statfs status;

  if (fstatfs(fd, &status) == 0 && (unsigned long)status.f_type == HUGETLBFS_MAGIC) return (size_t)status.f_bsize;
  return SPATE_RING_PAGE;
}

static uint64_t up_to(uint64_t bytes, uint64_t step) { return (bytes + step - 1u) / step * step; }

/* Allocates all of the memory now: a store into a page that cannot be allocated later would raise SIGBUS. */
static int allocate(const struct ring_memory *memory) {
  struct stat status;

  if (fstat(memory->fd, &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return 0;
  if (ftruncate(memory->fd, (off_t)memory->bytes) != 0) return errno;
  return fallocate(memory->fd, 0, 0, (off_t)memory->bytes) == 0 || errno == EOPNOTSUPP ? 0 : errno;
}

/* Like mmap(), at a multiple of HUGE_BYTES: only there can huge pages of the file be huge pages of the mapping. */
static void *map_aligned(int fd, size_t bytes) {
  const int nothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  uint8_t *room = mmap(NULL, bytes + HUGE_BYTES, PROT_NONE, nothing, -1, 0);

  if (room == MAP_FAILED) return MAP_FAILED;
  const size_t before_bytes = (size_t)(-(uintptr_t)room & (HUGE_BYTES - 1u));
  void *start = mmap(room + before_bytes, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  if (start == MAP_FAILED) {
    const int error = errno;
    (void)munmap(room, bytes + HUGE_BYTES);
    errno = error;
    return MAP_FAILED;
  }
  if (before_bytes > 0) (void)munmap(room, before_bytes);
  (void)munmap(room + before_bytes + bytes, HUGE_BYTES - before_bytes);
  return start;
}

/* Has the kernel put the slots into huge pages, whatever the options of /dev/shm are (since Linux 6.1). For small pages
 * the kernel needs more of the recorder's time, and a disk that takes 254 pages in a request gets two requests for each
 * MiB. Where the kernel refuses, the ring works with small pages. */
static void use_huge_pages(const struct ring_memory *memory, uint64_t slots_offset_bytes) {
  const size_t bytes = (memory->bytes - (size_t)slots_offset_bytes) & ~(HUGE_BYTES - 1u);

  if (bytes > 0 && (slots_offset_bytes & (HUGE_BYTES - 1u)) == 0)
    (void)madvise(memory->start + slots_offset_bytes, bytes, MADV_COLLAPSE);
}

/* A device chooses how it is mapped, and hugetlbfs has huge pages. */
static int map(struct ring_memory *memory, uint64_t slots_offset_bytes) {
  const bool in_shm = memory->path != NULL;
  void *start = in_shm ? map_aligned(memory->fd, memory->bytes)
                       : mmap(NULL, memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);

  if (start == MAP_FAILED) return errno;
  memory->start = start;
  if (in_shm) use_huge_pages(memory, slots_offset_bytes);
  memset(start, 0, SPATE_RING_PAGE);
  return 0;
}

int ring_memory_open(struct ring_memory *memory, const char *name, size_t head_bytes, uint64_t slots_bytes,
                     uint64_t *slots_offset_bytes) {
  *memory = (struct ring_memory){.fd = -1};
  int error = name[0] == '/' ? open_path(memory, name) : is_name(name) ? open_shared(memory, name) : EINVAL;
  if (error != 0) return error;
  const size_t step = ring_memory_step_bytes(memory->fd);
  *slots_offset_bytes = up_to(head_bytes, slots_bytes >= HUGE_BYTES && step < HUGE_BYTES ? HUGE_BYTES : step);
  memory->bytes = (size_t)up_to(*slots_offset_bytes + slots_bytes, step);
  error = ring_memory_lock(memory->fd, SPATE_RING_LOCK_PRODUCER);
  if (error == 0) error = allocate(memory);
  return error != 0 ? error : map(memory, *slots_offset_bytes);
}

void ring_memory_remove(struct ring_memory *memory) {
  if (memory->path != NULL && !ring_memory_is_locked(memory->fd, SPATE_RING_LOCK_RECORDER) &&
      is_same_file(memory->path, memory->fd))
    (void)unlink(memory->path);
}

void ring_memory_close(struct ring_memory *memory) {
  if (memory->start != NULL) (void)munmap(memory->start, memory->bytes);
  if (memory->fd >= 0) (void)close(memory->fd);
  free(memory->path);
}
