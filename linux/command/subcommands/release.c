/* SPDX-License-Identifier: Apache-2.0 */
/* Gives back what a killed program has left: a drive to the kernel's driver, and the memory of a ring. */
#include "../device/release.h"

#include "../device/sysfs.h"
#include "../source/rings.h"
#include "../text/units.h"
#include "command.h"

#include <stdio.h>
#include <string.h>

static const struct option options[] = {{"help", no_argument, NULL, OPTION_HELP}, {NULL, 0, NULL, 0}};

static const char *without_kind(const char *word) {
  if (strncmp(word, "vfio:", 5) == 0) return word + 5;
  return strncmp(word, "pci:", 4) == 0 ? word + 4 : word;
}

/* ---- rings ---- */

#define RING "ring:"

static void print_ring(void *context, const struct rings_entry *entry) {
  unsigned *left = context;
  char bytes[UNITS_TEXT_BYTES];

  if (entry->has_producer || entry->has_recorder) return;
  ++*left;
  (void)printf("ring:%s  %s of memory, not in use", entry->name, units_text(entry->bytes, bytes));
  if (entry->unread > 0)
    (void)printf("; %llu slots are not recorded: spate record TARGET PATH --from ring:%s records them",
                 (unsigned long long)entry->unread, entry->name);
  (void)putchar('\n');
}

static enum exit_status list_rings(void) {
  unsigned left = 0;

  rings_list(print_ring, &left);
  if (left > 0)
    (void)printf("spate release ring:NAME removes a ring and frees its memory\n");
  else
    (void)printf("no unused ring in /dev/shm\n");
  return EXIT_DONE;
}

/* ---- drives ---- */

static void release_drive(const char *word) {
  char address[SYSFS_ADDRESS_BYTES], text[64];

  /* Drops a namespace or a partition after the address. */
  (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(without_kind(word), "/"), without_kind(word));
  if (!sysfs_address(text, address))
    command_usage(&command_release, "\"%s\" is neither the address of a PCI function, as 0000:01:00.0, nor ring:NAME",
                  word);
  if (release_device(address))
    (void)fprintf(stderr, "%s: given back to its driver\n", address);
  else
    (void)fprintf(stderr, "%s was not taken from its driver: nothing was done\n", address);
}

static enum exit_status run(int count, char **words) {
  while (command_option(&command_release, count, words, options) != -1) {
  }
  if (optind == count) return list_rings();
  const char *word = *command_words(&command_release, count, words, 1, "release takes one ADDRESS or ring:NAME");
  if (strncmp(word, RING, sizeof RING - 1u) != 0) {
    release_drive(word);
    return EXIT_DONE;
  }
  rings_remove(word + sizeof RING - 1u);
  (void)fprintf(stderr, "removed %s\n", word);
  return EXIT_DONE;
}

const struct command command_release = {
    "release", "give back a drive, or remove a ring, that a killed program left",
    "Usage: spate release [ADDRESS|ring:NAME]\n"
    "\n"
    "With --bind, spate takes a drive from the kernel's driver and gives it back at the end. A spate that is killed\n"
    "(SIGKILL, out of memory) cannot do so; this command does. A drive that is in use is left alone.\n"
    "\n"
    "A producer and a recorder that are killed leave their ring in /dev/shm, where it takes up memory. ring:NAME\n"
    "removes it, with the data that no recorder has read. A ring in use is left alone. Without an argument this\n"
    "lists the unused rings.\n"
    "\n" HELP_OF_HELP "\n"
    "  spate release 0000:01:00.0\n"
    "  spate release ring:camera\n",
    run};
