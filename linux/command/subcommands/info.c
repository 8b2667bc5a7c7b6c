/* SPDX-License-Identifier: Apache-2.0 */
/* Shows what a target is and what is on it. Writes nothing. */
#include "../text/json.h"
#include "../text/units.h"
#include "../volume.h"
#include "command.h"

#include <stdio.h>

static const struct option options[] = {OPTIONS_COMMON};

/* `use`: who may be writing to the volume; NULL: nobody. The dirty flag and the reservations of a volume in use change
 * at any time, and do not mean that something is wrong. */
static void print_state(const struct volume *volume, const char *use) {
  if (use != NULL) {
    (void)printf("state         currently in use: it %s\n", use);
    if (volume->found.reservations > 0) (void)printf("recordings    %u open\n", volume->found.reservations);
  } else if (volume->found.reservations > 0) {
    (void)printf("recordings    %u interrupted; spate recover or the next spate record repairs them\n",
                 volume->found.reservations);
  } else {
    (void)printf("state         %s\n", volume->found.dirty ? "not closed properly: check it with fsck.exfat" : "clean");
  }
}

static void print_text(const struct volume *volume, const struct spate_exfat_info *info, const char *use) {
  static const char *const tables[] = {"no table", "MBR", "GPT", "none: the volume is the whole target"};
  const struct spate_block *block = volume->target.block;
  char text[UNITS_TEXT_BYTES];

  (void)printf("target        %s, %s\n", volume->target.name, target_kind_name(&volume->target));
  (void)printf("size          %s in %u-byte blocks\n", units_text(block->blocks << block->block_shift, text),
               spate_block_bytes(block));
  if (volume->target.partition.number > 0)
    (void)printf("place         partition %u, at %s of the drive\n", volume->target.partition.number,
                 units_text(volume->target.partition.offset_bytes, text));
  (void)printf("partitions    %s%s\n", tables[volume->partition.table],
               volume->partition.from_backup ? ", read from its backup" : "");
  (void)printf("volume        exFAT, label %s, serial %04X-%04X\n", info->label[0] != '\0' ? info->label : "none",
               info->serial >> 16, info->serial & 0xffffu);
  (void)printf("              %s", units_text(info->bytes, text));
  (void)printf(" in clusters of %s\n", units_text(info->cluster_bytes, text));
  (void)printf("free          %s", units_text(info->free_bytes, text));
  (void)printf(", longest run %s\n", units_text(info->longest_free_bytes, text));
  print_state(volume, use);
}

static void print_json(const struct volume *volume, const struct spate_exfat_info *info, const char *use) {
  const struct spate_block *block = volume->target.block;
  struct json json = {.to = stdout};
  char serial[10];

  (void)snprintf(serial, sizeof serial, "%04X-%04X", info->serial >> 16, info->serial & 0xffffu);
  json_open(&json, NULL, '{');
  json_string(&json, "target", volume->target.name);
  json_integer(&json, "bytes", block->blocks << block->block_shift);
  json_integer(&json, "block_bytes", spate_block_bytes(block));
  json_bool(&json, "in_use", use != NULL);
  if (use != NULL) json_string(&json, "in_use_because", use);
  json_open(&json, "volume", '{');
  json_string(&json, "label", info->label);
  json_string(&json, "serial", serial);
  json_integer(&json, "bytes", info->bytes);
  json_integer(&json, "free_bytes", info->free_bytes);
  json_integer(&json, "longest_free_bytes", info->longest_free_bytes);
  json_integer(&json, "cluster_bytes", info->cluster_bytes);
  json_bool(&json, "dirty", volume->found.dirty);
  json_integer(&json, "reservations", volume->found.reservations);
  json_close(&json, '}');
  json_close(&json, '}');
}

static enum exit_status run(int count, char **words) {
  static struct volume volume;
  struct spate_exfat_info info;
  char why[TARGET_WHY_BYTES];

  while (command_option(&command_info, count, words, options) != -1) {
  }
  volume_open(&volume, *command_words(&command_info, count, words, 1, "info takes one TARGET"), TARGET_READ);
  expect(spate_exfat_info(&volume.exfat, &info), volume.target.name);
  const char *use = target_in_use(volume.target.name, why, sizeof why) ? why : NULL;
  if (command_json)
    print_json(&volume, &info, use);
  else
    print_text(&volume, &info, use);
  volume_close(&volume);
  return EXIT_DONE;
}

const struct command command_info = {
    "info", "show what a target is and what is on it",
    "Usage: spate info TARGET [options]\n"
    "\n"
    "Shows the device, its partition, the volume, its free space and its state. Writes "
    "nothing.\n"
    "\n" HELP_COMMON,
    run};
