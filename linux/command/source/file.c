/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file, also as standard input. It is read past the page cache, straight into the ring, and several slots at once: so
 * the kernel copies nothing, and keeps the disk busy. Its holes are not read. The thread does not read while the ring
 * is full, so nothing is lost.
 */
#include "source.h"

#include "../direct.h"
#include "../text/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES (UINT64_C(8) << 20) /* at once */

struct file {
  uint64_t at_bytes, end_bytes; /* what is left to read */
  bool direct;
  bool shared;  /* its position is another program's, too, and does not move */
  bool *zeroed; /* for each slot: it holds zeros */
};

/* From where on a file is read, or −1 if this is none. One without a size, as those below /proc, is a stream. */
static off_t begin_of(const char *name) {
  const bool input = strcmp(name, "-") == 0;
  struct stat status;

  if ((input ? fstat(STDIN_FILENO, &status) : stat(name, &status)) != 0 || !S_ISREG(status.st_mode)) return -1;
  const off_t at = input ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
  return at >= 0 && at < status.st_size ? at : -1;
}

static bool is(const char *name) { return begin_of(name) >= 0; }

/* Standard input is opened a second time: its flags and its position belong to the program that gave it, too. A user
 * who may not open it reads it as it is. */
static int open_again(const char *name, struct file *file) {
  const bool input = strcmp(name, "-") == 0;
  const uint32_t step_bytes = file->at_bytes % SOURCE_SLOT_ALIGN == 0 ? SOURCE_SLOT_ALIGN : 0;
  const int fd = direct_open(input ? "/proc/self/fd/0" : name, O_RDONLY, 0, step_bytes, &file->direct);

  if (fd >= 0 || !input) return fd;
  file->shared = true;
  return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
}

static void open_file(struct source *source) {
  const off_t begin = begin_of(source->name);
  struct file *file = calloc(1, sizeof *file);
  struct stat status;

  if (file == NULL) fail(EXIT_FAILED, "no memory");
  file->at_bytes = begin > 0 ? (uint64_t)begin : 0;
  source->fd = open_again(source->name, file);
  if (source->fd < 0 || fstat(source->fd, &status) != 0) fail(EXIT_FAILED, "%s: %s", source->name, strerror(errno));
  if ((uint64_t)status.st_size <= file->at_bytes) fail(EXIT_FAILED, "%s is empty", source->name);
  /* The recording is limited to the present size, which is what will be reserved. */
  const uint64_t left_bytes = (uint64_t)status.st_size - file->at_bytes;
  if (source->config.bytes == 0 || left_bytes < source->config.bytes) source->config.bytes = left_bytes;
  file->end_bytes = file->at_bytes + source->config.bytes;
  source->own = file;
}

static int start(struct source *source) {
  struct file *file = source->own;

  file->zeroed = calloc(source->config.slots, sizeof *file->zeroed);
  return file->zeroed == NULL ? ENOMEM : 0;
}

static void close_file(struct source *source) {
  struct file *file = source->own;

  free(file->zeroed);
  free(file);
}

/* Hands `bytes` over that are in the ring, from the next slot on. */
static void publish(struct source *source, uint64_t bytes) {
  struct file *file = source->own;

  file->at_bytes += bytes;
  while (bytes > 0) {
    const uint32_t now = bytes < source->config.slot_bytes ? (uint32_t)bytes : source->config.slot_bytes;
    source_publish(source, now);
    bytes -= now;
  }
}

/* Past the end of a file that has become shorter there is no hole. */
static uint64_t hole_to_end(const struct source *source) {
  const struct file *file = source->own;
  struct stat status;

  return fstat(source->fd, &status) == 0 && (uint64_t)status.st_size >= file->end_bytes
             ? file->end_bytes - file->at_bytes
             : 0;
}

/* How many bytes of a hole begin here: whole slots, or all up to the end. */
static uint64_t hole_bytes(const struct source *source) {
  const struct file *file = source->own;
  if (file->shared) return 0; /* asking would move the position */
  const off_t data = lseek(source->fd, (off_t)file->at_bytes, SEEK_DATA);

  /* ENXIO: no data follow. Any other error: the file system does not tell holes. */
  if (data < 0) return errno == ENXIO ? hole_to_end(source) : 0;
  if ((uint64_t)data >= file->end_bytes) return file->end_bytes - file->at_bytes;
  return ((uint64_t)data - file->at_bytes) & ~(uint64_t)(source->config.slot_bytes - 1u);
}

/* Slots that hold zeros already are handed over as they are. */
static void skip_hole(struct source *source, uint64_t bytes) {
  const struct file *file = source->own;
  const uint64_t filled = atomic_load(&source->filled);

  for (uint64_t i = 0; i * source->config.slot_bytes < bytes; i++) {
    const uint32_t slot = source_slot(source, filled + i);
    if (!file->zeroed[slot])
      memset(source->memory + (size_t)slot * source->config.slot_bytes, 0, source->config.slot_bytes);
    file->zeroed[slot] = true;
  }
  publish(source, bytes);
}

/* Some file systems accept O_DIRECT when a file is opened, and refuse each read. */
static bool read_through_cache(const struct source *source) {
  struct file *file = source->own;
  const int flags = fcntl(source->fd, F_GETFL);

  if (!file->direct || flags < 0 || fcntl(source->fd, F_SETFL, flags & ~O_DIRECT) != 0) return false;
  file->direct = false;
  return true;
}

/* Reads `bytes` into the next slots. ENODATA: the file ends before its size. */
static int read_data(struct source *source, uint8_t *to, uint64_t bytes) {
  const struct file *file = source->own;
  const uint64_t filled = atomic_load(&source->filled);
  uint64_t done = 0;
  int error = 0;

  for (uint64_t i = 0; i * source->config.slot_bytes < bytes; i++)
    file->zeroed[source_slot(source, filled + i)] = false;
  while (done < bytes && error == 0) {
    /* Whole pages: the last slot has room for them, and the kernel reads to the end of the file at most. */
    const size_t wanted = (size_t)((bytes - done + SOURCE_SLOT_ALIGN - 1u) & ~(uint64_t)(SOURCE_SLOT_ALIGN - 1u));
    const ssize_t got = pread(source->fd, to + done, wanted, (off_t)(file->at_bytes + done));
    if (got == 0) break;
    if (got > 0)
      done += (uint64_t)got;
    else if (errno != EINVAL || !read_through_cache(source))
      error = errno;
  }
  publish(source, done < bytes ? done : bytes);
  return error != 0 || done >= bytes ? error : ENODATA;
}

/* Fills as many slots as are free and follow each other in memory. An errno value; −1: no more slots are taken. */
static int fill(struct source *source) {
  const struct file *file = source->own;
  uint8_t *to = source_claim(source, true);

  if (to == NULL) return -1;
  uint64_t bytes = (uint64_t)source_free_slots(source) * source->config.slot_bytes;
  if (bytes > READ_BYTES) bytes = READ_BYTES;
  if (bytes > file->end_bytes - file->at_bytes) bytes = file->end_bytes - file->at_bytes;
  const uint64_t hole = hole_bytes(source);
  if (hole == 0) return read_data(source, to, bytes);
  skip_hole(source, hole < bytes ? hole : bytes);
  return 0;
}

static void *run(void *opaque) {
  struct source *source = opaque;
  const struct file *file = source->own;
  int error = 0;

  while (error == 0 && file->at_bytes < file->end_bytes && !atomic_load(&source->stop))
    error = fill(source);
  if (error == ENODATA) source->why = "another program has made it shorter";
  source->error = error > 0 ? error : 0;
  atomic_store(&source->ended, true);
  return NULL;
}

const struct source_kind source_file = {.is = is, .open = open_file, .start = start, .run = run, .close = close_file};
