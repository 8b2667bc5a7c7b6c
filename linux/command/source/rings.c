/* SPDX-License-Identifier: Apache-2.0 */
#include "rings.h"

#include "../text/fail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spate/ring.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/dev/shm"
#define PREFIX "spate-"

/* Names that libspate-ring makes. Others are not shown. */
static bool is_name(const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

  return name[0] != '\0' && name[strspn(name, letters)] == '\0';
}

static bool is_locked(int fd, short byte) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

  return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

/* False: there is no such ring, or this user may not open it. */
static bool look(const char *name, struct rings_entry *entry) {
  char path[sizeof FOLDER "/" PREFIX + sizeof entry->name];
  struct spate_ring_header header;
  struct stat status;

  if (!is_name(name) || strlen(name) >= sizeof entry->name) return false;
  memcpy(entry->name, name, strlen(name) + 1u);
  (void)snprintf(path, sizeof path, FOLDER "/" PREFIX "%s", name);
  const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  const bool is_ring = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                       pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
                       memcmp(header.magic, SPATE_RING_MAGIC, sizeof header.magic) == 0;
  if (is_ring) {
    entry->bytes = (uint64_t)status.st_size;
    entry->unread = header.filled - header.released;
    entry->has_producer = is_locked(fd, SPATE_RING_LOCK_PRODUCER);
    entry->has_recorder = is_locked(fd, SPATE_RING_LOCK_RECORDER);
  }
  (void)close(fd);
  return is_ring;
}

void rings_list(void (*visit)(void *context, const struct rings_entry *entry), void *context) {
  DIR *folder = opendir(FOLDER);
  struct rings_entry entry;

  if (folder == NULL) return;
  for (const struct dirent *file; (file = readdir(folder)) != NULL;)
    if (strncmp(file->d_name, PREFIX, sizeof PREFIX - 1u) == 0 && look(file->d_name + sizeof PREFIX - 1u, &entry))
      visit(context, &entry);
  (void)closedir(folder);
}

/* Holds both places of the ring, so that nobody can take it before it has no name. */
static bool take(int fd) {
  static const short bytes[] = {SPATE_RING_LOCK_PRODUCER, SPATE_RING_LOCK_RECORDER};

  for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = bytes[i], .l_len = 1};
    if (fcntl(fd, F_OFD_SETLK, &lock) != 0) return false;
  }
  return true;
}

void rings_remove(const char *name) {
  char path[sizeof FOLDER "/" PREFIX + sizeof((struct rings_entry *)0)->name];
  struct rings_entry entry;

  if (!look(name, &entry)) fail(EXIT_FAILED, "there is no ring:%s in " FOLDER, name);
  if (entry.has_producer || entry.has_recorder)
    fail(EXIT_REFUSED, "ring:%s has a %s: nothing was removed", name, entry.has_producer ? "producer" : "recorder");
  (void)snprintf(path, sizeof path, FOLDER "/" PREFIX "%s", name);
  const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0 || !take(fd)) fail(EXIT_REFUSED, "ring:%s has just been taken: nothing was removed", name);
  if (unlink(path) != 0) fail(EXIT_FAILED, "ring:%s: %s", name, strerror(errno));
  (void)close(fd);
}
