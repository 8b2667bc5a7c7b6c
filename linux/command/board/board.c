/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Linux machine as a board: implements ports/board.h for the applications, on a drive in user space. The command line
 * names the drive and the board's arguments:
 *
 *   demo sim:990pro:drive.img clip_mib=64
 *   demo --bind vfio:0000:01:00.0 erase=1
 */
#include "../../../ports/board.h"

#include "../device/bus_error.h"
#include "../device/interrupt.h"
#include "../memory.h"
#include "../target/target.h"
#include "../text/fail.h"
#include "../volume.h"
#include "console.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the applications need, with a margin. A target without an IOMMU has only 2 MiB, for these two and for its own
 * controller and queue. */
#define QUEUE_BYTES  (384u << 10)
#define MEMORY_BYTES (1536u << 10)
#define RING_BYTES   (32u << 20)

_Static_assert(SPATE_NVME_CONTROLLER_MEMORY_BYTES + SPATE_NVME_QUEUE_MEMORY_BYTES(64u, 1u) +
                       SPATE_REGION_TABLE_BYTES(RING_BYTES) <=
                   QUEUE_BYTES,
               "QUEUE_BYTES holds a controller, a queue of the applications' depth, and the ring's table");

static struct target target;
static struct spate_arena queue_memory, memory;
static char **arguments; /* the words after the target; NULL ends them */

/* ---- start and end ---- */

__attribute__((noreturn)) static void help(const char *program) {
  (void)printf("Usage: %s [--bind] TARGET [NAME=VALUE ...]\n"
               "\n"
               "Runs an application for boards on a drive of this machine. Its main.c says what it does and which "
               "NAMEs it has.\n"
               "\n"
               "  TARGET   vfio:0000:01:00.0, pci:0000:01:00.0, or a virtual drive: sim:990pro:FILE keeps it in FILE\n"
               "  --bind   take the drive from the kernel's driver, and give it back at the end\n",
               program);
  exit(EXIT_DONE);
}

static const char *take_command_line(int count, char **words) {
  static const struct option options[] = {
      {"bind", no_argument, NULL, 'b'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
  int option;

  while ((option = getopt_long(count, words, "h", options, NULL)) != -1) {
    if (option == 'h') help(words[0]);
    if (option == '?') exit(EXIT_USAGE); /* getopt has printed the reason */
    target_bind = true;
  }
  if (optind == count) fail(EXIT_USAGE, "no drive is named. %s sim:990pro runs on a virtual one; see --help", words[0]);
  arguments = &words[optind + 1];
  for (char **word = arguments; *word != NULL; word++)
    if (strchr(*word, '=') == NULL) fail(EXIT_USAGE, "\"%s\" is not NAME=VALUE; see --help", *word);
  return words[optind];
}

static void take_memory(void) {
  queue_memory = (struct spate_arena){.start = memory_take(target.memory, QUEUE_BYTES), .bytes = QUEUE_BYTES};
  memory = (struct spate_arena){.start = memory_take(target.memory, MEMORY_BYTES), .bytes = MEMORY_BYTES};
}

static bool is_function(const char *name) {
  return strncmp(name, "vfio:", 5) == 0 || strncmp(name, "pci:", 4) == 0 || strncmp(name, "sim:", 4) == 0;
}

int main(int count, char **words) {
  const struct sigaction ignore = {.sa_handler = SIG_IGN};
  const char *name = take_command_line(count, words);

  (void)sigaction(SIGPIPE, &ignore, NULL); /* SIGPIPE would end the program before it gives the drive back */
  if (!is_function(name))
    fail(EXIT_USAGE, "%s: an application needs an NVMe controller as vfio:, pci: or sim:; see --help", name);
  target_open(&target, name, TARGET_FUNCTION, 0);
  take_memory();
  const int status = app_main();
  target_close(&target);
  return status;
}

/* The target's exit handler gives the drive back. The FILE of a virtual drive stays as it was before the run. */
void board_exit(int status) { exit(status); }

const char *board_name(void) { return "Linux"; }

const char *board_argument(const char *name, const char *fallback) {
  const size_t length = strlen(name);

  for (char **word = arguments; *word != NULL; word++)
    if (strncmp(*word, name, length) == 0 && (*word)[length] == '=') return *word + length + 1;
  return fallback;
}

/* ---- PCIe and memory ---- */

enum spate_error board_pcie_bring_up(struct spate_pcie_host *host) {
  target.list(&target, host);
  return SPATE_OK;
}

/* The kernel does not say how it mapped an address. */
enum board_memory_kind board_memory_kind(const volatile void *address) {
  (void)address;
  return BOARD_MEMORY_UNKNOWN;
}

/* An access in user space that fails late ends in SIGBUS, like one that fails at once. */
bool board_provoke_late_error(const volatile void *address) {
  (void)address;
  return false;
}

/* Maps a page past the end of a file. Accesses to it raise SIGBUS, like accesses to the registers of a drive that was
 * pulled out. */
uintptr_t board_absent_register(void) {
  const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  const int file = memfd_create("absent", MFD_CLOEXEC);
  void *page = file < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

  if (page == MAP_FAILED) fail(EXIT_FAILED, "no memory: %s", strerror(errno));
  (void)close(file);
  bus_error_watch(page, bytes);
  return (uintptr_t)page;
}

struct spate_nvme_bus board_nvme_bus(struct spate_nvme_pcie *pcie_bus) {
  (void)pcie_bus; /* belongs to the kernel: only the target may use it */
  return target.bus;
}

struct spate_arena *board_queue_memory(void) {
  return &queue_memory;
}

struct spate_arena *board_memory(void) {
  return &memory;
}

enum spate_error board_ring_open(struct spate_region *ring) {
  void *table = spate_arena_take(&queue_memory, SPATE_REGION_TABLE_BYTES(RING_BYTES), SPATE_PAGE_BYTES);

  if (table == NULL) return SPATE_E_MEMORY;
  memory_region(target.memory, ring, memory_take_ring(target.memory, RING_BYTES), RING_BYTES, table);
  return SPATE_OK;
}

/* ---- console, clock, random numbers ---- */

/* An application never sleeps, so a signal ends the program at its next output. */
void board_write(const char *text, size_t bytes) {
  interrupt_check();
  console_write(text, bytes);
}

void board_now(void *context, struct spate_exfat_time *time) { volume_now(context, time); }

uint64_t board_random(void) {
  uint64_t value = 0;

  if (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) fail(EXIT_FAILED, "getrandom: %s", strerror(errno));
  return value;
}

/* ---- files ---- */

int board_host_open(const char *path) { return open(path, O_RDONLY | O_CLOEXEC); }

int64_t board_host_size(int file) {
  struct stat status;

  return fstat(file, &status) == 0 ? (int64_t)status.st_size : -1;
}

int64_t board_host_read(int file, void *to, size_t bytes) { return read(file, to, bytes); }

void board_host_close(int file) { (void)close(file); }
