/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring that another process or logic fills (spate/ring.h). The target writes straight from its slots. If the target's
 * device does not reach them, a thread copies them into slots that it reaches.
 */
#include "ring_taker.h"
#include "source.h"

#include "../device/bus_error.h"
#include "../text/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PREFIX        "ring:"
#define SHARED_PREFIX "/dev/shm/spate-"
#define NAP_MS        1   /* between two reads of the counter, because logic wakes nobody */
#define WAIT_MS       100 /* between two looks for a producer */
#define ALIVE_MS      100
#define LOCK_TRIES    20 /* of 50 ms: the kernel releases the lock of a killed recorder with a delay */
#define LOCK_NAP_MS   50

struct shared {
  char *path;
  bool by_name; /* a name in /dev/shm, which the last side to close removes */
  int fd;
  struct spate_ring_header *header;
  const uint32_t *table;
  size_t head_bytes, slots_bytes;
  uint8_t *slots; /* the ring's slots if they are copied; NULL: source->memory are the ring's slots */
  struct ring_taker taker;
  uint64_t begin;   /* the number of the recording's first slot */
  uint64_t stop_at; /* the number of the slot at which a stopped recording ends */
  bool stopping;
  uint64_t left_bytes; /* until the limit of the recording */
  struct timespec alive;
};

static struct shared *of(const struct source *source) { return source->own; }

static bool is(const char *name) { return strncmp(name, PREFIX, sizeof PREFIX - 1u) == 0; }

static void nap(long ms) {
  const struct timespec time = {.tv_nsec = ms * 1000000L};

  (void)nanosleep(&time, NULL); /* a signal cuts it short */
}

/* ---- the name ---- */

static void open_ring(struct source *source) {
  const char *name = source->name + sizeof PREFIX - 1u;
  struct shared *shared = calloc(1, sizeof *shared);
  char *path = malloc(sizeof SHARED_PREFIX + strlen(name));

  if (shared == NULL || path == NULL) fail(EXIT_FAILED, "no memory");
  shared->by_name = name[0] != '/';
  if (name[0] == '\0' || (shared->by_name && strchr(name, '/') != NULL))
    fail(EXIT_USAGE, "%s is not ring:NAME or ring:/PATH", source->name);
  (void)sprintf(path, "%s%s", shared->by_name ? SHARED_PREFIX : "", name);
  shared->path = path;
  shared->fd = -1;
  shared->left_bytes = source->config.bytes > 0 ? source->config.bytes : UINT64_MAX;
  source->own = shared;
}

/* ---- locks ---- */

static struct flock lock_of(short byte, short type) {
  return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
}

static bool is_producer_alive(const struct shared *shared) {
  struct flock lock = lock_of(SPATE_RING_LOCK_PRODUCER, F_WRLCK);

  return fcntl(shared->fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

static void lock_or_fail(const struct source *source) {
  struct flock lock = lock_of(SPATE_RING_LOCK_RECORDER, F_WRLCK);

  for (unsigned tries = 0; fcntl(of(source)->fd, F_OFD_SETLK, &lock) != 0; tries++) {
    if (errno != EAGAIN && errno != EACCES) fail(EXIT_FAILED, "%s: %s", source->name, strerror(errno));
    if (tries == LOCK_TRIES) fail(EXIT_REFUSED, "%s: another recorder has this ring", source->name);
    nap(LOCK_NAP_MS);
  }
}

/* ---- finding it ---- */

/* The size of the file. UINT64_MAX for a device: its driver refuses to map more than it has. */
static uint64_t bytes_of(const struct source *source, int fd) {
  struct stat status;

  if (fstat(fd, &status) != 0) fail(EXIT_FAILED, "%s: %s", source->name, strerror(errno));
  if (S_ISCHR(status.st_mode)) return UINT64_MAX;
  if (!S_ISREG(status.st_mode)) fail(EXIT_REFUSED, "%s is neither a file nor a device of memory", source->name);
  return (uint64_t)status.st_size;
}

static size_t page_bytes(int fd) {
  struct statfs status;

  return fstatfs(fd, &status) == 0 && (unsigned long)status.f_type == HUGETLBFS_MAGIC ? (size_t)status.f_bsize
                                                                                      : SPATE_RING_PAGE;
}

static void *map_or_fail(const struct source *source, int fd, size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

  if (memory == MAP_FAILED) fail(EXIT_FAILED, "%s: mmap: %s", source->name, strerror(errno));
  return memory;
}

/* True while the producer has not written the magic, which it writes last. */
static bool is_empty_yet(const struct spate_ring_header *header) {
  static const char nothing[sizeof header->magic];

  return memcmp(header->magic, nothing, sizeof nothing) == 0;
}

/* True if the ring is empty and its producer has ended: an earlier recording has left it. */
static bool is_over(const struct shared *shared) {
  const struct spate_ring_header *ring = &shared->taker.geometry;

  return ring->filled == ring->released &&
         (ring->ended != 0 || (ring->producer_pid != 0 && !is_producer_alive(shared)));
}

/* True if there is a ring; its file is then open. A ring with an invalid header ends the program. */
static bool find(struct source *source) {
  struct shared *shared = of(source);
  bool there = false;

  shared->fd = open(shared->path, O_RDWR | O_CLOEXEC | (shared->by_name ? O_NOFOLLOW : 0));
  if (shared->fd < 0 && errno == ENOENT) return false;
  if (shared->fd < 0) fail(EXIT_FAILED, "%s: %s: %s", source->name, shared->path, strerror(errno));
  const uint64_t file_bytes = bytes_of(source, shared->fd);
  if (file_bytes >= SPATE_RING_PAGE) {
    const size_t bytes = page_bytes(shared->fd);
    struct spate_ring_header *header = map_or_fail(source, shared->fd, bytes);
    bus_error_watch(header, bytes);
    if (!is_empty_yet(header)) {
      const char *wrong = ring_taker_begin(&shared->taker, header, file_bytes);
      if (wrong != NULL) fail(EXIT_REFUSED, "%s is refused: %s", source->name, wrong);
      there = !is_over(shared);
    }
    bus_error_forget(header);
    (void)munmap(header, bytes);
  } else if (!shared->by_name && file_bytes > 0) {
    fail(EXIT_REFUSED, "%s is refused: the file is too small for a ring", source->name);
  }
  if (!there) (void)close(shared->fd);
  return there;
}

static void wait_for(struct source *source) {
  for (bool printed = false; !find(source); nap(WAIT_MS)) {
    if (!printed) (void)fprintf(stderr, "spate: waiting for a producer to make %s\n", source->name);
    printed = true;
    if (source->config.interrupted()) fail(EXIT_FAILED, "no producer has made %s, and no file was made", source->name);
  }
}

/* ---- its memory ---- */

static void map_slots(struct source *source) {
  struct shared *shared = of(source);
  const struct spate_ring_header *ring = &shared->taker.geometry;
  const uint64_t copies_bytes = (uint64_t)source->config.slots * source->config.slot_bytes;
  const char *why;

  source->config.slot_bytes = ring->slot_bytes;
  source->config.slots = ring->slots;
  shared->slots_bytes = (size_t)ring->slots * ring->slot_bytes;
  source->memory = memory_map(source->supply, shared->fd, ring->slots_offset_bytes, shared->slots_bytes, &why);
  source->threadless = source->memory != NULL;
  source->first_slot = (uint32_t)ring->released & (ring->slots - 1u);
  if (source->threadless) return;
  source->first_slot = 0;
  (void)fprintf(stderr, "spate: %s is copied, as the target cannot write from it: %s\n", source->name, why);
  shared->slots = mmap(NULL, shared->slots_bytes, PROT_READ, MAP_SHARED, shared->fd, (off_t)ring->slots_offset_bytes);
  if (shared->slots == MAP_FAILED) fail(EXIT_FAILED, "%s: mmap: %s", source->name, strerror(errno));
  bus_error_watch(shared->slots, shared->slots_bytes);
  const uint64_t slots = copies_bytes / ring->slot_bytes; /* both powers of two */
  source->config.slots = slots < 2 ? 2 : (uint32_t)slots;
}

/* Locks, maps and checks the ring. False: another recorder has emptied it meanwhile, and it has ended. */
static bool attach(struct source *source) {
  struct shared *shared = of(source);

  lock_or_fail(source);
  shared->head_bytes = (size_t)shared->taker.geometry.slots_offset_bytes;
  shared->header = map_or_fail(source, shared->fd, shared->head_bytes);
  bus_error_watch(shared->header, shared->head_bytes);
  const char *wrong = ring_taker_begin(&shared->taker, shared->header, bytes_of(source, shared->fd));
  if (wrong == NULL && shared->taker.geometry.slots_offset_bytes != shared->head_bytes) wrong = "it changes";
  if (wrong != NULL) fail(EXIT_REFUSED, "%s is refused: %s", source->name, wrong);
  if (!is_over(shared)) return true;
  bus_error_forget(shared->header);
  (void)munmap(shared->header, shared->head_bytes);
  (void)close(shared->fd);
  return false;
}

static void memory(struct source *source) {
  struct shared *shared = of(source);

  do
    wait_for(source);
  while (!attach(source));
  shared->table =
      (const uint32_t *)(const void *)((const uint8_t *)shared->header + shared->taker.geometry.table_offset_bytes);
  shared->begin = shared->taker.taken;
  map_slots(source);
}

/* ---- taking ---- */

static void end(struct source *source, int error, const char *why) {
  source->error = error;
  source->why = why;
  atomic_store(&source->ended, true);
}

/* The check is a system call, so it is made only every ALIVE_MS. */
static bool is_dead(struct shared *shared) {
  struct timespec now;

  if (shared->taker.geometry.producer_pid == 0) return false;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  if ((now.tv_sec - shared->alive.tv_sec) * 1000 + (now.tv_nsec - shared->alive.tv_nsec) / 1000000 < ALIVE_MS)
    return false;
  shared->alive = now;
  return !is_producer_alive(shared) && __atomic_load_n(&shared->header->producer_pid, __ATOMIC_SEQ_CST) != 0;
}

/* True if the size limit is reached, or all slots that were filled at the time of the stop are taken. Later slots are
 * left for the next recording. */
static bool is_stopped(const struct source *source) {
  struct shared *shared = of(source);

  if (!shared->stopping && atomic_load(&source->stop)) {
    shared->stopping = true;
    shared->stop_at = ring_taker_filled(shared->header);
  }
  return shared->left_bytes == 0 || (shared->stopping && shared->taker.taken >= shared->stop_at);
}

/* The bytes of the next slot. 0: there is none now, or the source has ended. */
static uint32_t next(struct source *source) {
  struct shared *shared = of(source);
  /* Read before the counter: a producer publishes its last slot before it ends or dies. */
  const bool ended = __atomic_load_n(&shared->header->ended, __ATOMIC_SEQ_CST) != 0, dead = is_dead(shared);
  const char *why;

  ring_taker_look_at_losses(&shared->taker, shared->header);
  atomic_store(&source->lost_bytes, shared->taker.lost_bytes);
  if (is_stopped(source)) {
    end(source, 0, NULL);
    return 0;
  }
  uint32_t bytes = ring_taker_next(&shared->taker, shared->header, shared->table, &why);
  if (why != NULL)
    end(source, EPROTO, why);
  else if (bytes == 0 && ended)
    end(source, 0, NULL);
  else if (bytes == 0 && dead)
    end(source, EOWNERDEAD, "its producer went away without ending the ring. The file has all slots that it published");
  if (bytes > shared->left_bytes) bytes = (uint32_t)shared->left_bytes;
  shared->left_bytes -= bytes;
  return bytes;
}

/* Changes `released`, then reads `waiting`. The producer sets `waiting`, then reads `released` (linux/ring/ring.c), so
 * one of the two sees the other. */
static void give_back(struct shared *shared, uint64_t released) {
  shared->taker.released = released;
  __atomic_store_n(&shared->header->released, released, __ATOMIC_SEQ_CST);
  /* A load and a store instead of an atomic addition: uncached memory may not support exclusive accesses, and nobody
   * else writes this word. */
  const uint32_t events = __atomic_load_n(&shared->header->released_events, __ATOMIC_RELAXED);
  __atomic_store_n(&shared->header->released_events, events + 1u, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&shared->header->waiting, __ATOMIC_SEQ_CST) != 0)
    (void)syscall(SYS_futex, &shared->header->released_events, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void look(struct source *source) {
  while (!atomic_load(&source->ended)) {
    const uint64_t filled = atomic_load(&source->filled);
    const uint32_t bytes = next(source);
    if (bytes == 0) return;
    source->bytes[source_slot(source, filled)] = bytes;
    atomic_store(&source->filled, filled + 1u);
  }
}

static void release(struct source *source) {
  give_back(of(source), of(source)->begin + atomic_load(&source->released));
}

/* ---- copying ---- */

static void *copy_run(void *opaque) {
  struct source *source = opaque;
  struct shared *shared = of(source);
  const struct spate_ring_header *ring = &shared->taker.geometry;

  while (!atomic_load(&source->ended)) {
    uint8_t *slot = source_claim(source, true);
    if (slot == NULL) end(source, 0, NULL);
    const uint64_t number = shared->taker.taken;
    const uint32_t bytes = slot == NULL ? 0 : next(source);
    if (bytes == 0) {
      nap(NAP_MS);
      continue;
    }
    memcpy(slot, shared->slots + (size_t)(number & (ring->slots - 1u)) * ring->slot_bytes, bytes);
    source_publish(source, bytes);
    give_back(shared, shared->taker.taken);
  }
  return NULL;
}

/* ---- the end ---- */

/* Removes the name if this is the last side. Each side releases its lock before it checks whether the other has gone.
 * So the last of the two always sees that it is the last. */
static void remove_if_last(struct shared *shared) {
  struct stat here, there;
  struct flock lock = lock_of(SPATE_RING_LOCK_RECORDER, F_UNLCK);

  (void)fcntl(shared->fd, F_OFD_SETLK, &lock);
  if (shared->by_name && !is_producer_alive(shared) && ring_taker_filled(shared->header) == shared->taker.released &&
      fstat(shared->fd, &here) == 0 && stat(shared->path, &there) == 0 && here.st_dev == there.st_dev &&
      here.st_ino == there.st_ino)
    (void)unlink(shared->path);
}

static void close_ring(struct source *source) {
  struct shared *shared = of(source);

  if (shared->header != NULL) {
    /* A later recorder only reports losses after this point. */
    __atomic_store_n(&shared->header->reported_lost_bytes, shared->taker.lost_base_bytes + shared->taker.lost_bytes,
                     __ATOMIC_SEQ_CST);
    remove_if_last(shared);
    bus_error_forget(shared->header);
    (void)munmap(shared->header, shared->head_bytes);
  }
  if (shared->slots != NULL) {
    bus_error_forget(shared->slots);
    (void)munmap((void *)shared->slots, shared->slots_bytes);
  }
  if (source->threadless) memory_unmap(source->supply, source->memory, shared->slots_bytes);
  if (shared->fd >= 0) (void)close(shared->fd);
  free(shared->path);
  free(shared);
}

const struct source_kind source_ring = {.is = is,
                                        .open = open_ring,
                                        .memory = memory,
                                        .run = copy_run,
                                        .look = look,
                                        .release = release,
                                        .close = close_ring};
