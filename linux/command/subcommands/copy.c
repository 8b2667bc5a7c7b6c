/* SPDX-License-Identifier: Apache-2.0 */
#include "copy.h"

#include "../device/interrupt.h"
#include "../direct.h"
#include "../text/fail.h"
#include "../text/units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

__attribute__((noreturn)) static void refuse_present(const char *name) {
  fail(EXIT_REFUSED, "%s already exists, and nothing was written. --force overwrites it", name);
}

/* The file that a run has made and not completed. NULL: there is none. */
static const char *unfinished;

static void remove_unfinished(void) {
  if (unfinished != NULL) (void)unlink(unfinished);
}

/* Where the file will be: the name itself, or what it points to. */
static void find_path(struct copy *copy) {
  struct stat status;

  if (stat(copy->name, &status) == 0) {
    if (!S_ISREG(status.st_mode)) fail(EXIT_REFUSED, "%s is not a file; - writes to standard output", copy->name);
    if (!copy->replace) refuse_present(copy->name);
    copy->replaces = true;
    copy->mode = status.st_mode & 07777u;
    copy->owner = status.st_uid;
    copy->group = status.st_gid;
    if (realpath(copy->name, copy->path) == NULL) fail(EXIT_FAILED, "%s: %s", copy->name, strerror(errno));
    return;
  }
  if (errno != ENOENT) fail(EXIT_FAILED, "%s: %s", copy->name, strerror(errno));
  if (strlen(copy->name) >= sizeof copy->path) fail(EXIT_FAILED, "%s: %s", copy->name, strerror(ENAMETOOLONG));
  memcpy(copy->path, copy->name, strlen(copy->name) + 1u);
}

/* Who may read the file must not change. Only root may give it to another owner: then he keeps it. */
static void keep_permissions(const struct copy *copy) {
  if (!copy->replaces) return;
  const bool same_owner = fchown(copy->fd, copy->owner, copy->group) == 0;
  if (fchmod(copy->fd, same_owner ? copy->mode : copy->mode & 0700u) != 0)
    fail(EXIT_FAILED, "%s: %s", copy->name, strerror(errno));
}

static void reserve(const struct copy *copy, uint64_t bytes) {
  char need[UNITS_TEXT_BYTES], free_text[UNITS_TEXT_BYTES];
  struct statvfs system;
  int error = 0;

  do
    error = bytes > 0 ? fallocate(copy->fd, 0, 0, (off_t)bytes) : 0;
  while (error != 0 && errno == EINTR && (interrupt_check(), true));
  if (error == 0) return;
  if (errno == EOPNOTSUPP || errno == ENOSYS) return;
  if (errno != ENOSPC || fstatvfs(copy->fd, &system) != 0) fail(EXIT_FAILED, "%s: %s", copy->name, strerror(errno));
  fail(EXIT_FAILED, "%s needs %s, and its file system has %s free: nothing was written", copy->name,
       units_text(bytes, need), units_decimal((uint64_t)system.f_bavail * system.f_frsize, free_text));
}

void copy_open(struct copy *copy, const char *name, bool replace, uint64_t bytes) {
  static bool registered;

  *copy = (struct copy){.name = name, .replace = replace};
  find_path(copy);
  /* In the same folder, but not of the name: that may be as long as names can be. */
  const char *slash = strrchr(copy->path, '/');
  const int folder = slash == NULL ? 0 : (int)(slash + 1 - copy->path);
  const int length =
      snprintf(copy->temporary, sizeof copy->temporary, "%.*sspate-%ld.part", folder, copy->path, (long)getpid());
  if (length < 0 || (size_t)length >= sizeof copy->temporary) fail(EXIT_FAILED, "%s: %s", name, strerror(ENAMETOOLONG));
  if (!registered && atexit(remove_unfinished) != 0) fail(EXIT_FAILED, "atexit failed");
  registered = true;
  copy->fd = direct_open(copy->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666, DIRECT_ALIGN, &copy->direct);
  if (copy->fd < 0) fail(EXIT_FAILED, "%s: %s", copy->temporary, strerror(errno));
  unfinished = copy->temporary;
  keep_permissions(copy);
  reserve(copy, bytes);
}

/* From now on the page cache is used. */
static void leave_direct(struct copy *copy) {
  const int flags = fcntl(copy->fd, F_GETFL);

  if (flags < 0 || fcntl(copy->fd, F_SETFL, flags & ~O_DIRECT) != 0)
    fail(EXIT_FAILED, "%s: %s", copy->name, strerror(errno));
  copy->direct = false;
}

void copy_write(struct copy *copy, const uint8_t *data, uint32_t bytes) {
  uint64_t end_bytes = copy->at_bytes + bytes;

  if (copy->direct && copy->at_bytes % DIRECT_ALIGN != 0) leave_direct(copy);
  /* The last page is written whole; copy_close() sets the length. */
  if (copy->direct) bytes = (bytes + DIRECT_ALIGN - 1u) & ~(DIRECT_ALIGN - 1u);
  for (uint32_t done = 0; done < bytes;) {
    const ssize_t written = pwrite(copy->fd, data + done, bytes - done, (off_t)(copy->at_bytes + done));
    if (written >= 0)
      done += (uint32_t)written;
    else if (errno == EINVAL && copy->direct)
      leave_direct(copy); /* accepted when the file was opened, and refused now */
    else if (errno != EINTR)
      fail(EXIT_FAILED, "%s: %s", copy->name, strerror(errno));
  }
  copy->at_bytes = end_bytes;
}

/* Without `replace`, somebody may have made a file of the name meanwhile: it stays. */
static bool name_it(const struct copy *copy) {
  if (copy->replace) return rename(copy->temporary, copy->path) == 0;
  if (renameat2(AT_FDCWD, copy->temporary, AT_FDCWD, copy->path, RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) refuse_present(copy->name);
  if (errno != EINVAL && errno != ENOSYS) return false; /* EINVAL: the file system has no such rename */
  if (access(copy->path, F_OK) == 0) refuse_present(copy->name);
  return rename(copy->temporary, copy->path) == 0;
}

/* A name is durable when its folder is. Some file systems cannot be asked for that. */
static void keep_name(const struct copy *copy) {
  char folder[PATH_MAX];

  (void)snprintf(folder, sizeof folder, "%s", copy->path);
  char *slash = strrchr(folder, '/');
  if (slash == NULL)
    memcpy(folder, ".", sizeof ".");
  else
    slash[slash == folder ? 1 : 0] = '\0';
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);
  (void)close(fd);
}

void copy_close(struct copy *copy, uint64_t size_bytes) {
  /* The last page was written whole: what is past the data in it goes first, so that a hole follows them. */
  if (ftruncate(copy->fd, (off_t)copy->at_bytes) != 0 || ftruncate(copy->fd, (off_t)size_bytes) != 0 ||
      fsync(copy->fd) != 0 || close(copy->fd) != 0 || !name_it(copy))
    fail(EXIT_FAILED, "%s: %s", copy->name, strerror(errno));
  unfinished = NULL;
  keep_name(copy);
}
