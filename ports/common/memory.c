/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of boards without an operating system, as in ports/board.h. board_layout says where it is. */
#include "../bare.h"

static struct spate_arena *arena_on(struct spate_arena *arena, struct board_range range) {
  if (arena->start == NULL) *arena = (struct spate_arena){.start = range.start, .bytes = range.bytes};
  return arena;
}

struct spate_arena *board_queue_memory(void) {
  static struct spate_arena arena;
  return arena_on(&arena, board_layout.queue);
}

struct spate_arena *board_memory(void) {
  static struct spate_arena arena;
  return arena_on(&arena, board_layout.memory);
}

enum spate_error board_ring_open(struct spate_region *ring) {
  return spate_region_init(ring, board_layout.ring.start, board_layout.ring.bytes, board_queue_memory());
}

/* Weak: a board that can ask its page tables defines its own. */
__attribute__((weak)) enum board_memory_kind board_memory_kind(const volatile void *address) {
  (void)address;
  return BOARD_MEMORY_UNKNOWN;
}
