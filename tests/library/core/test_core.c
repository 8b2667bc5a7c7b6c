/* SPDX-License-Identifier: Apache-2.0 */
#include "ram_block.h"

#include <spate/bytes.h>
#include <spate/chunk.h>
#include <spate/dma.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint8_t memory[64 * 1024] __attribute__((aligned(65536)));

static void an_arena_gives_aligned_zeroed_memory_until_it_is_empty(void **state) {
  (void)state;
  struct spate_arena arena = {.start = memory + 1, .bytes = 8191};

  memset(memory, 0xff, sizeof(memory));
  uint8_t *first = spate_arena_take(&arena, 100, 64);
  assert_ptr_equal(first, memory + 64);
  for (unsigned i = 0; i < 100; i++)
    assert_int_equal(first[i], 0);
  assert_int_equal(first[100], 0xff);
  assert_ptr_equal(spate_arena_take(&arena, 4096, 4096), memory + 4096);
  assert_null(spate_arena_take(&arena, 1, 1));
  assert_non_null(spate_arena_take(&arena, 0, 1));
}

/* A chunk header reads back as it was sealed, and a change of any of its bytes is detected. */
static void a_chunk_header_is_read_as_it_was_sealed(void **state) {
  static const uint8_t stream[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  struct spate_chunk_header header;
  (void)state;

  spate_chunk_seal_counted(memory, stream, UINT64_C(0x1122334455667788), 1000, UINT64_C(0x99aabbccddeeff00));
  spate_chunk_stamp(memory, UINT64_C(0x0123456789abcdef));
  assert_true(spate_chunk_header_get(memory, &header));
  assert_memory_equal(header.stream, stream, 16);
  assert_true(header.number == UINT64_C(0x1122334455667788));
  assert_int_equal(header.bytes, 1000);
  assert_true(header.lost_pieces == UINT64_C(0x99aabbccddeeff00));
  assert_true(header.time_ns == UINT64_C(0x0123456789abcdef));
  for (unsigned i = 0; i < SPATE_CHUNK_HEADER_BYTES; i++) {
    memory[i] ^= 0x10;
    assert_false(spate_chunk_header_get(memory, &header));
    memory[i] ^= 0x10;
  }
  spate_chunk_seal(memory, stream, 1, 1000);
  assert_true(spate_chunk_header_get(memory, &header));
  assert_int_equal(header.lost_pieces, 0);
}

static void an_arena_survives_absurd_sizes(void **state) {
  (void)state;
  struct spate_arena arena = {.start = memory + 1, .bytes = 8191};

  assert_null(spate_arena_take(&arena, SIZE_MAX, 1));
  assert_null(spate_arena_take(&arena, SIZE_MAX - 32, 64));
  assert_null(spate_arena_take(&arena, 1, 1 << 16));
  assert_int_equal(arena.used_bytes, 0);
}

static uint64_t backwards(void *context, uint64_t page) {
  (void)context;
  return (100u - page) * SPATE_PAGE_BYTES;
}

static uint64_t odd(void *context, uint64_t page) {
  (void)context;
  return page * SPATE_PAGE_BYTES + 8u;
}

static void a_regions_table_is_the_list_of_its_pages(void **state) {
  (void)state;
  static uint8_t table[8192] __attribute__((aligned(4096)));
  struct spate_arena arena = {.start = table, .bytes = sizeof(table)};
  struct spate_region region;

  assert_int_equal(SPATE_REGION_TABLE_BYTES(4096u), 4096);
  assert_int_equal(SPATE_REGION_TABLE_BYTES(512u * 4096u), 4096);
  assert_int_equal(SPATE_REGION_TABLE_BYTES(513u * 4096u), 8192);
  assert_int_equal(spate_region_init(&region, memory, sizeof(memory), &arena), SPATE_OK);
  for (unsigned i = 0; i < 16; i++)
    assert_int_equal(spate_region_page_dma(&region, i), (uintptr_t)memory + i * 4096u);
  assert_int_equal(region.list[0], (uintptr_t)memory + 4096u); /* where the list of a command from page 0 begins */
  assert_int_equal(region.first_dma, (uintptr_t)memory);
  assert_int_equal(spate_region_init_scattered(&region, NULL, 16 * 4096, backwards, NULL, &arena), SPATE_OK);
  assert_int_equal(spate_region_page_dma(&region, 15), 85 * 4096);
  assert_int_equal(region.list[15], spate_region_page_dma(&region, 0));
  assert_int_equal(region.first_dma, 0);
  assert_int_equal(spate_region_init(&region, memory, sizeof(memory), &arena), SPATE_E_MEMORY);
}

static void bad_regions_are_refused(void **state) {
  (void)state;
  static uint8_t table[4096] __attribute__((aligned(4096)));
  struct spate_arena arena = {.start = table, .bytes = sizeof(table)};
  struct spate_region region;

  assert_int_equal(spate_region_init(&region, NULL, 4096, &arena), SPATE_E_INVALID);
  assert_int_equal(spate_region_init(&region, memory, 0, &arena), SPATE_E_INVALID);
  assert_int_equal(spate_region_init(&region, memory, 4097, &arena), SPATE_E_INVALID);
  assert_int_equal(spate_region_init(&region, memory + 512, 4096, &arena), SPATE_E_INVALID);
  assert_int_equal(spate_region_init_scattered(&region, NULL, 4096, odd, NULL, &arena), SPATE_E_INVALID);
}

static void waiting_requests_return_their_result(void **state) {
  (void)state;
  struct ram_block ram;
  static uint8_t out[64 * 512] __attribute__((aligned(64)));
  static uint8_t in[64 * 512] __attribute__((aligned(64)));

  ram_block_open(&ram, 4096, 512);
  ram.delay_polls = 5;
  ram.block.request_blocks_max = 7; /* 64 blocks take ten requests */
  for (unsigned i = 0; i < sizeof(out); i++)
    out[i] = (uint8_t)(i * 7);
  assert_int_equal(spate_block_write(&ram.block, 100, 64, out, 0), SPATE_OK);
  assert_int_equal(spate_block_read(&ram.block, 100, 64, in), SPATE_OK);
  assert_memory_equal(in, out, sizeof(out));
  assert_int_equal(ram.count[SPATE_WRITE], 10);
  assert_int_equal(spate_block_read(&ram.block, 4095, 2, in), SPATE_E_INVALID);
  ram_block_fault(&ram,
                  (struct ram_fault){
                      .ops = RAM_OP(SPATE_WRITE), .first_lba = 50, .last_lba = 50, .times = 1, .error = SPATE_E_MEDIA});
  assert_int_equal(spate_block_write(&ram.block, 48, 7, out, 0), SPATE_E_MEDIA);
  assert_int_equal(spate_block_write(&ram.block, 48, 7, out, 0), SPATE_OK);
  ram_block_close(&ram);
}

static void a_flush_is_left_out_without_a_volatile_cache(void **state) {
  (void)state;
  struct ram_block ram;

  ram_block_open(&ram, 4096, 512);
  assert_int_equal(spate_block_flush(&ram.block), SPATE_OK);
  assert_int_equal(ram.count[SPATE_FLUSH], 1);
  ram.block.volatile_cache = false;
  assert_int_equal(spate_block_flush(&ram.block), SPATE_OK);
  assert_int_equal(ram.count[SPATE_FLUSH], 1);
  ram_block_close(&ram);
}

static void count_progress(void *context, uint64_t blocks_done) {
  uint64_t *last = context;

  assert_true(blocks_done > *last);
  *last = blocks_done;
}

static void a_drive_is_erased_in_bounded_pieces(void **state) {
  (void)state;
  struct ram_block ram;
  uint64_t done_blocks = 0;

  ram_block_open(&ram, 100000, 512);
  memset(ram.memory, 0xee, ram.bytes);
  assert_int_equal(spate_block_erase(&ram.block, SPATE_ZERO, 1, 99998, 1000, count_progress, &done_blocks), SPATE_OK);
  assert_int_equal(done_blocks, 99998);
  assert_int_equal(ram.count[SPATE_ZERO], 100);
  assert_int_equal(ram.memory[511], 0xee);
  assert_int_equal(ram.memory[512], 0);
  assert_int_equal(ram.memory[99999 * 512 - 1], 0);
  assert_int_equal(ram.memory[99999 * 512], 0xee);
  assert_int_equal(spate_block_erase(&ram.block, SPATE_WRITE, 0, 1, 1, NULL, NULL), SPATE_E_INVALID);
  ram.block.can_trim = false;
  assert_int_equal(spate_block_erase(&ram.block, SPATE_TRIM, 0, 1, 1, NULL, NULL), SPATE_E_UNSUPPORTED);
  ram_block_close(&ram);
}

static void every_error_has_a_name_and_a_sentence(void **state) {
  (void)state;
  for (int i = 0; i < SPATE_E_COUNT; i++) {
    const char *help = spate_error_help((enum spate_error)i);
    assert_string_not_equal(spate_error_name((enum spate_error)i), "UNKNOWN");
    char last = help[strlen(help) - 1];
    assert_true(last == '.' || last == '?');
  }
  assert_string_equal(spate_error_name(SPATE_E_COUNT), "UNKNOWN");
  assert_string_equal(spate_error_name((enum spate_error) - 1), "UNKNOWN");
}

static void fields_are_little_endian_at_any_alignment(void **state) {
  (void)state;
  uint8_t bytes[16] = {0};

  spate_put64(bytes + 3, UINT64_C(0x0123456789abcdef));
  assert_int_equal(bytes[3], 0xef);
  assert_int_equal(bytes[10], 0x01);
  assert_int_equal(bytes[11], 0);
  assert_true(spate_get64(bytes + 3) == UINT64_C(0x0123456789abcdef));
  assert_int_equal(spate_get32(bytes + 3), 0x89abcdef);
  assert_int_equal(spate_get16(bytes + 5), 0x89ab);
}

/* A drive of any size that completes one request at a time, and keeps where the last ones began. */
static struct {
  struct spate_block block;
  struct spate_io *pending;
  uint64_t lbas[8];
  unsigned count, idle_polls;
} large;

static enum spate_error large_submit(struct spate_block *block, struct spate_io *io) {
  assert_ptr_equal(block, &large.block);
  if (large.count == sizeof large.lbas / sizeof large.lbas[0]) return SPATE_E_INVALID;
  large.lbas[large.count++] = io->lba;
  large.pending = io;
  return SPATE_OK;
}

static void large_kick(struct spate_block *block) { (void)block; }

static unsigned large_poll(struct spate_block *block, unsigned max) {
  struct spate_io *io = large.pending;

  (void)block;
  (void)max;
  large.pending = NULL;
  if (io == NULL) {
    if (++large.idle_polls == 1000000) abort(); /* somebody waits for a request that has ended */
    return 0;
  }
  io->error = SPATE_OK;
  io->done(io);
  return 1;
}

static void open_large(void) {
  static const struct spate_block_ops ops = {large_submit, large_kick, large_poll};

  memset(&large, 0, sizeof large);
  large.block = (struct spate_block){.ops = &ops, .blocks = UINT64_MAX, .block_shift = 9, .can_trim = true};
}

static void a_drive_of_many_blocks_is_erased_to_its_end(void **state) {
  (void)state;
  open_large();
  assert_int_equal(
      spate_block_erase(&large.block, SPATE_TRIM, 7, UINT64_C(0x200000001), UINT32_C(0x80000000), NULL, NULL),
      SPATE_OK);
  assert_int_equal(large.count, 5);
  for (unsigned i = 0; i < 5; i++)
    assert_true(large.lbas[i] == 7 + i * UINT64_C(0x80000000));
}

/* Each owner releases its own blocks. */
static void a_claim_stays_until_its_owner_releases_it(void **state) {
  (void)state;
  open_large();
  assert_int_equal(spate_block_claim(&large.block, "a", 0, 10), SPATE_OK);
  assert_int_equal(spate_block_claim(&large.block, &large, 10, 10), SPATE_OK);
  assert_int_equal(spate_block_claim(&large.block, state, 19, 1), SPATE_E_OPEN);
  spate_block_release(&large.block, state);
  assert_int_equal(spate_block_claim(&large.block, state, 19, 1), SPATE_E_OPEN);
  spate_block_release(&large.block, &large);
  assert_int_equal(spate_block_claim(&large.block, state, 19, 1), SPATE_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_drive_of_many_blocks_is_erased_to_its_end),
      cmocka_unit_test(a_claim_stays_until_its_owner_releases_it),
      cmocka_unit_test(an_arena_gives_aligned_zeroed_memory_until_it_is_empty),
      cmocka_unit_test(an_arena_survives_absurd_sizes),
      cmocka_unit_test(a_chunk_header_is_read_as_it_was_sealed),
      cmocka_unit_test(a_regions_table_is_the_list_of_its_pages),
      cmocka_unit_test(bad_regions_are_refused),
      cmocka_unit_test(waiting_requests_return_their_result),
      cmocka_unit_test(a_flush_is_left_out_without_a_volatile_cache),
      cmocka_unit_test(a_drive_is_erased_in_bounded_pieces),
      cmocka_unit_test(every_error_has_a_name_and_a_sentence),
      cmocka_unit_test(fields_are_little_endian_at_any_alignment),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
