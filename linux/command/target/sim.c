/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual drive: the library's own driver on a simulated machine in virtual time (sim/machine/sim.h). The port's
 * clock is the machine's virtual time; sources and progress use the system's clock.
 */
#include "../text/fail.h"
#include "drive.h"
#include "place.h"
#include "target_internal.h"

#include "../../../ports/host/host_port.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux_port.h>
#include <machine/stack.h>
#include <profiles/profile_text.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES (UINT32_C(1) << 20)

struct virtual_drive {
  struct sim_drive *media;
  struct spate_pcie_device device;
  struct spate_nvme_pcie pcie_bus;
  struct drive drive;
  int file;   /* keeps the drive's contents; −1: there is no file */
  char *path; /* of the file, absolute and without links; NULL: the file is not written */
  int always; /* an eventfd that is always readable, so that no thread sleeps while virtual time could pass */
};

/* The machine of all virtual drives. All drives are added before the first is opened, because enumeration assigns
 * addresses only once. */
static struct sim *sim; /* NULL: no machine is running */
static struct spate_pcie_host host;
static unsigned announced, found, open_drives;

/* ---- the machine ---- */

static void *take(size_t bytes) { return sim_memory_take(sim, bytes, SIM_CACHED); }

static const struct memory_kind memory = {.take = take, .take_ring = take};

/* The port's clock counts nanoseconds, like that of the simulated machine. */
static void start_machine(void) {
  static const struct linux_machine port = {.read32 = host_read32,
                                            .write32 = host_write32,
                                            .dma_address = host_dma_address,
                                            .ticks = host_ticks,
                                            .relax = host_relax};

  if (sim != NULL) return;
  sim = sim_new(&(struct sim_config){.seed = 1, .host = sim_host_a53, .coherent = true});
  sim_use(sim);
  linux_port_machine(&port);
}

static void stop_machine(void) {
  if (--open_drives > 0) return;
  announced = found = 0;
  linux_port_machine(NULL);
  sim_free(sim);
  sim = NULL;
}

/* ---- the file behind it ---- */

static void copy_in(struct virtual_drive *own, const char *path, off_t from, off_t to) {
  static uint8_t data[COPY_BYTES];

  while (from < to) {
    const size_t bytes = to - from < (off_t)sizeof data ? (size_t)(to - from) : sizeof data;
    if (pread(own->file, data, bytes, from) != (ssize_t)bytes) fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
    (void)sim_store_write(sim_drive_store(own->media), (uint64_t)from, data, bytes);
    from += (off_t)bytes;
  }
}

/* Copies the file to the drive. Holes in the file are blocks that were never written. */
static void load(struct virtual_drive *own, const char *path, uint64_t capacity_bytes) {
  struct stat status;

  if (fstat(own->file, &status) != 0) fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
  if (status.st_size != 0 && (uint64_t)status.st_size != capacity_bytes)
    fail(EXIT_REFUSED, "%s is not from a virtual drive of this profile: it has %lld bytes instead of %llu", path,
         (long long)status.st_size, (unsigned long long)capacity_bytes);
  for (off_t at = 0; at < status.st_size;) {
    const off_t from = lseek(own->file, at, SEEK_DATA);
    if (from < 0 && errno == ENXIO) return;
    const off_t to = from < 0 ? -1 : lseek(own->file, from, SEEK_HOLE);
    if (to < 0) fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
    copy_in(own, path, from, to);
    at = to;
  }
}

/* True if the path still names the open file. Another process may have replaced the file before this one had the lock.
 */
static bool is_current(int file, const char *path) {
  struct stat opened, named;

  return fstat(file, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

static void open_kept(struct virtual_drive *own, const char *path, enum target_access access, uint64_t bytes) {
  const bool keep = access != TARGET_READ;

  for (;;) {
    own->file = open(path, (keep ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0666);
    if (own->file < 0) fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
    if (!keep) break;
    if (flock(own->file, LOCK_EX | LOCK_NB) != 0) fail(EXIT_REFUSED, "%s is in use by another spate", path);
    if (is_current(own->file, path)) break;
    (void)close(own->file);
  }
  if (keep) own->path = realpath(path, NULL);
  if (keep && own->path == NULL) fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
  load(own, path, bytes);
}

/* Writes the contents as a sparse file. */
static bool write_store(const struct sim_store *store, int file, uint64_t capacity_bytes) {
  static uint8_t page[SIM_PAGE];
  bool good = ftruncate(file, (off_t)capacity_bytes) == 0;

  for (uint64_t at = 0; good && sim_store_next(store, &at); at += SIM_PAGE) {
    sim_store_read(store, at, page, sizeof page);
    const ssize_t written = pwrite(file, page, sizeof page, (off_t)at);
    if (written >= 0 && written < (ssize_t)sizeof page) errno = ENOSPC;
    good = written == (ssize_t)sizeof page;
  }
  return good && fsync(file) == 0;
}

/* Makes a new file beside the old one, with the same owner and mode. −1: it cannot be made. */
static int open_beside(const struct virtual_drive *own, char *beside, size_t beside_bytes) {
  struct stat status;

  if ((size_t)snprintf(beside, beside_bytes, "%s.XXXXXX", own->path) >= beside_bytes) {
    errno = ENAMETOOLONG;
    return -1;
  }
  const int file = mkostemp(beside, O_CLOEXEC);
  if (file < 0) return -1;
  /* Only root may change the owner. Without root the file keeps the user's owner and mode. */
  if (fstat(own->file, &status) == 0 && fchown(file, status.st_uid, status.st_gid) == 0)
    (void)fchmod(file, status.st_mode & 07777u);
  (void)flock(file, LOCK_EX | LOCK_NB); /* after the rename, other processes see this file */
  return file;
}

static void sync_folder(const char *path) {
  char folder[PATH_MAX];

  (void)snprintf(folder, sizeof folder, "%.*s/", (int)(strrchr(path, '/') - path), path);
  const int opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  (void)fsync(opened);
  (void)close(opened);
}

/* Replaces the old file only when the new one is complete, so that a full disk or a power cut loses no volume. */
static void save(struct virtual_drive *own, const char *name, uint64_t capacity_bytes) {
  const struct sigaction ignore = {.sa_handler = SIG_IGN};
  char beside[PATH_MAX];

  (void)sigaction(SIGXFSZ, &ignore, NULL); /* so that a write beyond the file size limit fails, and does not kill */
  const int file = open_beside(own, beside, sizeof beside);
  if (file >= 0 && write_store(sim_drive_store(own->media), file, capacity_bytes) && rename(beside, own->path) == 0) {
    sync_folder(own->path);
    (void)close(own->file);
    own->file = file;
    return;
  }
  const int error = errno;
  if (file >= 0) (void)unlink(beside);
  fail(EXIT_FAILED, "%s: the drive's contents cannot be saved, and %s is unchanged: %s", name, own->path,
       strerror(error));
}

/* ---- the target ---- */

static void mark_page(uint8_t *page, uint64_t offset_bytes) {
  sim_stamp_put(page, (struct sim_stamp){.clip = 1, .offset = offset_bytes});
}

static void close_sim(struct target *target) {
  struct virtual_drive *own = target->backend;

  nvme_drive_close(&own->drive, target->name);
  if (own->path != NULL) save(own, target->name, sim_drive_blocks(own->media) << sim_drive_block_shift(own->media));
  if (own->file >= 0) (void)close(own->file);
  (void)close(own->always);
  stop_machine();
  free(own->path);
  free(own);
}

/* Returns the host as this program's enumeration has found it. */
static void list(const struct target *target, struct spate_pcie_host *to) {
  (void)target;
  *to = host;
}

static void enumerate(const char *name) {
  static const struct spate_pcie_ecam_config bridge = {
      .config_base = SIM_ECAM,
      .last_bus = SIM_ECAM_BUSES - 1u,
      .memory = {.cpu_address = SIM_WINDOW, .bus_address = SIM_WINDOW, .bytes = SIM_WINDOW_BYTES},
  };

  expect(spate_pcie_ecam_open(&host, &bridge), name);
  expect(spate_pcie_enumerate(&host, 0), name);
}

/* Root ports are numbered in the order of the drives, and enumeration finds them in this order. */
static void find_device(struct virtual_drive *own, const char *name) {
  struct spate_pcie_device *device;

  if (found == 0) enumerate(name);
  own->media = sim_drive_at(sim, found);
  expect(spate_pcie_find(&host, SPATE_PCIE_CLASS_NVME, found++, &device), name);
  own->device = *device;
  own->pcie_bus = (struct spate_nvme_pcie){.host = &host, .device = &own->device};
}

/* The length of the profile in PROFILE[/PLACE]. The name of a built-in profile has no '/'. In a path, the last '/'
 * begins a place if the part before it is a file. */
static size_t profile_length(const char *words, size_t length) {
  const size_t first = strcspn(words, "/:");
  const char *last = memrchr(words, '/', length);
  char word[PATH_MAX];
  struct stat status;

  if (last == NULL || length >= sizeof word) return length;
  (void)snprintf(word, sizeof word, "%.*s", (int)first, words);
  if (sim_profile_find(word) != NULL) return first;
  (void)snprintf(word, sizeof word, "%.*s", (int)(last - words), words);
  return stat(word, &status) == 0 && S_ISREG(status.st_mode) ? (size_t)(last - words) : length;
}

static const struct sim_profile *profile_of(const char *words) {
  char word[PATH_MAX], why[SIM_PROFILE_WHY_BYTES];
  const size_t length = profile_length(words, strcspn(words, ":"));

  (void)snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1u), words);
  const struct sim_profile *profile = sim_profile_open(word, why);
  if (profile == NULL) fail(EXIT_USAGE, "sim:%s: %s", word, why);
  return profile;
}

void target_announce_sim(const char *words) {
  const struct sim_profile *profile = profile_of(words);

  start_machine();
  (void)sim_drive_add(sim, profile, NULL);
  announced++;
}

void target_open_sim(struct target *target, const char *words, enum target_access access) {
  const char *colon = strchr(words, ':');
  struct virtual_drive *own = calloc(1, sizeof *own);

  if (own == NULL) fail(EXIT_FAILED, "no memory");
  const size_t length = strcspn(words, ":"), profile = profile_length(words, length);
  (void)place_parse(target, words + profile, length - profile);
  place_check(target, access);
  if (found == announced) target_announce_sim(words);
  target->memory->kind = &memory;
  open_drives++;
  find_device(own, target->name);
  own->file = -1;
  if (colon != NULL)
    open_kept(own, colon + 1, access, sim_drive_blocks(own->media) << sim_drive_block_shift(own->media));
  own->always = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  if (own->always < 0) fail(EXIT_FAILED, "eventfd: %s", strerror(errno));
  target->wait_fd = own->always;
  target->backend = own;
  target->link = &own->device.link;
  target->mark_page = mark_page;
  target->close = close_sim;
  target->list = list;
  nvme_drive_open(&own->drive, target, access,
                  (struct spate_nvme_config){.registers = own->device.bar0,
                                             .registers_bytes = own->device.bar0_bytes,
                                             .bus = spate_nvme_pcie_bus(&own->pcie_bus)});
}
