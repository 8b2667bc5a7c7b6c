/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of one command in the command spate, in instructions, at the block interface
 * (firmware/instructions/calls.h). It uses the command's own objects, with the port that chooses at run time between
 * mapped registers and a simulated machine.
 *
 *   calls TARGET        needs sysctl kernel.perf_user_access=1
 *
 * Only user space is counted: interrupts between two reads of the counter belong to the kernel.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INST_RETIRED 0x08u
#define USER_READS   2u /* config1 of the Armv8 driver */

static inline uint32_t pmu_instructions(void) {
  uint64_t count = 0;

  __asm__ volatile("isb\n\tmrs %0, pmevcntr0_el0" : "=r"(count)::"memory");
  return (uint32_t)count;
}

#include "../../firmware/instructions/calls.h"

#include "memory.h"
#include "target/target.h"
#include "text/fail.h"

/* Counter 0 belongs to this event, if it is the first. */
static void pmu_start(void) {
  struct perf_event_attr event = {.type = PERF_TYPE_RAW,
                                  .size = sizeof event,
                                  .config = INST_RETIRED,
                                  .config1 = USER_READS,
                                  .exclude_kernel = 1,
                                  .exclude_hv = 1};
  const long fd = syscall(SYS_perf_event_open, &event, 0, -1, -1, 0);
  const struct perf_event_mmap_page *page = MAP_FAILED;

  if (fd >= 0) page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, (int)fd, 0);
  if (page == MAP_FAILED || !page->cap_user_rdpmc || page->index != 1)
    fail(EXIT_FAILED,
         "event counter 0 is not available: set sysctl kernel.perf_user_access=1, and end other programs that count");
}

static void print_cost(const char *name, const struct spate_region *data, enum spate_op op, uint32_t bytes) {
  struct cost best;

  expect(calls_cost(data, op, bytes, &best), "counting a batch");
  (void)printf("cost %s %u submit %u doorbell %u complete %u batch %u\n", name, bytes, best.submit, best.doorbell,
               best.complete, CALLS_BATCH);
}

int main(int count, char **words) {
  static const uint32_t sizes[] = {512, 4096, 16u << 10, 64u << 10, 128u << 10, 512u << 10, 1u << 20};
  const uint64_t ring_bytes = (uint64_t)CALLS_BATCH << 20;
  struct target target;
  struct spate_region region;

  if (count != 2) fail(EXIT_USAGE, "usage: calls TARGET");
  pmu_start();
  target_bind = true;
  target_open(&target, words[1], TARGET_WRITE, 0);
  device = target.block;
  memory_region(target.memory, &region, memory_take_ring(target.memory, ring_bytes), ring_bytes,
                memory_take(target.memory, (size_t)SPATE_REGION_TABLE_BYTES(ring_bytes)));
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    if (sizes[i] > device->command_bytes_max) continue;
    print_cost("write", &region, SPATE_WRITE, sizes[i]);
    print_cost("read", &region, SPATE_READ, sizes[i]);
  }
  (void)printf("cost callback %u\n", calls_callback_body());
  (void)printf("cost idle poll %u\n", calls_idle_poll());
  target_close(&target);
  return EXIT_DONE;
}
