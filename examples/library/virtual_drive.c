/* SPDX-License-Identifier: Apache-2.0 */
/* A program on the virtual drive: docs/use/virtual-drive.md. It writes, and the drive loses power, twice: before a
 * flush and after one. */
#include "machine/stack.h"

#include <spate/block.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 8u

static void must(enum spate_error error, const char *what) {
  if (error == SPATE_OK) return;
  (void)fprintf(stderr, "%s: %s\n", what, spate_error_help(error));
  exit(1);
}

static bool survives_a_power_cut(struct sim_stack *stack, bool flushed) {
  const uint32_t bytes = BLOCKS << stack->block->block_shift;
  uint8_t *written = sim_memory_take(stack->sim, bytes, SIM_CACHED);
  uint8_t *read = sim_memory_take(stack->sim, bytes, SIM_CACHED);

  memset(written, flushed ? 0xf1 : 0xe1, bytes);
  must(spate_block_write(stack->block, 0, BLOCKS, written, 0), "writing");
  if (flushed) must(spate_block_flush(stack->block), "flushing");
  sim_drive_power_cut(stack->drives[0].drive);
  must(spate_block_read(stack->block, 0, BLOCKS, read), "reading"); /* the driver brings the drive back by itself */
  return memcmp(written, read, bytes) == 0;
}

int main(void) {
  const struct sim_stack_config config = {
      .machine = {.seed = 3}, .profile = "970evoplus", .options = {.bytes = UINT64_C(64) << 20, .journal = true}};
  struct sim_stack *stack = sim_stack_new(&config);
  const char *first = NULL;

  must(sim_stack_open(stack), "opening the drive");
  (void)printf("%s\n", spate_nvme_identity(&stack->drives[0].nvme)->model);
  (void)printf("not flushed: %s\n", survives_a_power_cut(stack, false) ? "still there" : "lost");
  (void)printf("flushed: %s\n", survives_a_power_cut(stack, true) ? "still there" : "lost");
  (void)printf("power losses that the driver has reported: %" PRIu32 "\n", stack->block->power_losses);
  (void)printf("rules of NVMe that were broken: %u\n", sim_take_violations(stack->sim, &first));
  sim_stack_free(stack);
  return 0;
}
