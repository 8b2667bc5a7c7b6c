/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a drive back to the kernel's driver after spate was killed. */
#include "../device/release.h"

#include "../device/sysfs.h"
#include "command.h"

#include <stdio.h>
#include <string.h>

static const struct option options[] = {OPTIONS_COMMON};

static const char *without_kind(const char *word) {
  if (strncmp(word, "vfio:", 5) == 0) return word + 5;
  return strncmp(word, "pci:", 4) == 0 ? word + 4 : word;
}

static enum exit_status run(int count, char **words) {
  char address[SYSFS_ADDRESS_BYTES], text[64];

  while (command_option(&command_release, count, words, options) != -1) {
  }
  const char *word = *command_words(&command_release, count, words, 1, "release takes the address of one drive");
  /* Drops a namespace or a partition behind the address. */
  (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(without_kind(word), "/"), without_kind(word));
  if (!sysfs_address(text, address))
    command_usage(&command_release, "\"%s\" is not the address of a PCI function; an example is 0000:01:00.0", word);
  if (release_device(address))
    (void)fprintf(stderr, "%s has its driver again\n", address);
  else
    (void)fprintf(stderr, "%s was not taken from its driver: nothing was done\n", address);
  return EXIT_DONE;
}

const struct command command_release = {
    "release", "give a drive back to the kernel after spate was killed",
    "Usage: spate release ADDRESS\n"
    "\n"
    "With --bind, spate takes a drive from the kernel's driver and gives it back at the end. A spate that is killed\n"
    "(SIGKILL, out of memory) cannot do so; this command does. A drive that is in use is left alone.\n"
    "\n" HELP_COMMON "\n"
    "  spate release 0000:01:00.0\n",
    run};
