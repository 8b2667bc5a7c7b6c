/* SPDX-License-Identifier: Apache-2.0 */
/* Trims a whole drive. Its contents are lost, and its write cache and spare blocks are as on a new drive. */
#include "../text/progress.h"
#include "../text/units.h"
#include "command.h"
#include "confirm.h"

#include <stdio.h>

#define STEP_BYTES                                                                                                     \
  (UINT64_C(4) << 30) /* takes about a second; trimming a whole drive at once can exceed any deadline */

enum { YES = 1000 };

static const struct option options[] = {{"yes", no_argument, NULL, YES}, OPTIONS_COMMON};

struct trimming {
  struct progress progress;
  const struct spate_block *block;
};

static void show(void *context, uint64_t blocks_done) {
  struct trimming *trimming = context;

  progress_show(&trimming->progress, blocks_done << trimming->block->block_shift, NULL);
}

static enum exit_status run(int count, char **words) {
  struct target target;
  struct trimming trimming;
  char size[UNITS_TEXT_BYTES];
  bool yes = false;

  while (command_option(&command_trim, count, words, options) == YES)
    yes = true;
  const char *name = *command_words(&command_trim, count, words, 1, "trim takes one TARGET");
  target_open(&target, name, TARGET_WRITE, 0);
  struct spate_block *block = target.block;
  const uint64_t bytes = block->blocks << block->block_shift;
  if (!block->can_trim) fail(EXIT_FAILED, "%s cannot trim", name);
  if (!confirm_describe(&target)) (void)fprintf(stderr, "%s: no known contents were found on it\n", name);
  confirm(name, "trim", yes);
  trimming.block = block;
  progress_begin(&trimming.progress, "trim", bytes);
  const enum spate_error error = spate_block_erase(block, SPATE_TRIM, 0, block->blocks,
                                                   (uint32_t)(STEP_BYTES >> block->block_shift), show, &trimming);
  progress_end(&trimming.progress);
  expect(error, name);
  expect(spate_block_flush(block), name);
  target_close(&target);
  (void)fprintf(stderr, "%s: %s trimmed. A drive may still return old data: spate erase removes them\n", name,
                units_text(bytes, size));
  return EXIT_DONE;
}

const struct command command_trim = {"trim", "trim a whole drive: everything on it is lost",
                                     "Usage: spate trim TARGET [options]\n"
                                     "\n"
                                     "Tells the drive that all its blocks are free. Everything on TARGET is lost. Its "
                                     "write cache and its spare\n"
                                     "blocks are then as on a new drive, and so is its speed.\n"
                                     "\n"
                                     "  --yes                  do not ask\n" HELP_COMMON "\n"
                                     "  spate trim /dev/nvme0n1\n",
                                     run};
