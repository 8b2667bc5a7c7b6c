/* SPDX-License-Identifier: Apache-2.0 */
/* Striping: where blocks lie, compared with the definition in its slowest form. */
#include "stripe_fixture.h"

#include "stripe/internal.h"

/* ---- drives of any size that store only a superblock and record the requests ---- */

#define NOTES_MAX 512u

struct note {
  uint64_t lba;
  uint32_t blocks;
  uint8_t member, op, flags;
  uintptr_t data; /* buffer, or offset in the region */
};

struct notes {
  struct note at[NOTES_MAX];
  unsigned count;
};

struct sink {
  struct spate_block block; /* first */
  uint8_t superblock[4096];
  struct notes *notes;
  struct spate_io *pending[NOTES_MAX];
  unsigned pending_count;
  uint8_t member;
};

static enum spate_error sink_submit(struct spate_block *block, struct spate_io *io) {
  struct sink *sink = (struct sink *)block;
  const uint64_t at = 4096 >> block->block_shift;

  if (sink->notes == NULL && io->op == SPATE_READ) memset(io->buffer, 0, (size_t)io->blocks << block->block_shift);
  if (sink->notes == NULL && io->op == SPATE_READ && io->lba == at) memcpy(io->buffer, sink->superblock, 4096);
  if (sink->notes == NULL && io->op == SPATE_WRITE && io->lba == at) memcpy(sink->superblock, io->buffer, 4096);
  assert_true(sink->pending_count < NOTES_MAX);
  sink->pending[sink->pending_count++] = io;
  if (sink->notes == NULL) return SPATE_OK;
  assert_true(sink->notes->count < NOTES_MAX);
  assert_true(io->op == SPATE_FLUSH || (io->blocks > 0 && io->lba + io->blocks <= block->blocks));
  sink->notes->at[sink->notes->count++] =
      (struct note){.lba = io->lba,
                    .blocks = io->blocks,
                    .member = sink->member,
                    .op = io->op,
                    .flags = io->flags,
                    .data = io->region != NULL ? (uintptr_t)io->offset_bytes : (uintptr_t)io->buffer};
  return SPATE_OK;
}

static void sink_kick(struct spate_block *block) { (void)block; }

static unsigned sink_poll(struct spate_block *block, unsigned max) {
  struct sink *sink = (struct sink *)block;
  unsigned reaped = 0;

  for (; reaped < max && sink->pending_count > 0; reaped++) {
    struct spate_io *io = sink->pending[--sink->pending_count];
    io->error = SPATE_OK;
    io->detail = 0;
    io->done(io);
  }
  return reaped;
}

struct sinks {
  struct sink drives[MEMBERS];
  struct spate_block *blocks[MEMBERS];
  struct notes notes;
  struct spate_stripe stripe;
  struct spate_stripe_part parts[PARTS_MAX];
  uint8_t *scratch;
};

static struct sinks *open_sinks(uint8_t count, uint64_t member_blocks, uint32_t chunk_bytes, uint8_t block_shift) {
  static const struct spate_block_ops ops = {sink_submit, sink_kick, sink_poll};
  struct sinks *sinks = calloc(1, sizeof *sinks);

  assert_non_null(sinks);
  sinks->scratch = aligned_alloc(SPATE_DMA_ALIGN, SPATE_STRIPE_SCRATCH_BYTES);
  for (uint8_t i = 0; i < count; i++) {
    sinks->drives[i] = (struct sink){.block = {.ops = &ops,
                                               .blocks = member_blocks + (1u << (20 - block_shift)),
                                               .block_shift = block_shift,
                                               .can_trim = true,
                                               .can_zero = true,
                                               .depth = 32,
                                               .command_bytes_max = 1u << 20,
                                               .request_blocks_max = (8u << 20) >> block_shift},
                                     .member = i};
    sinks->blocks[i] = &sinks->drives[i].block;
  }
  struct spate_stripe_config config = {.members = sinks->blocks,
                                       .member_count = count,
                                       .parts = sinks->parts,
                                       .part_count = PARTS_MAX,
                                       .scratch = sinks->scratch};
  struct spate_stripe_create create = {.chunk_bytes = chunk_bytes};
  memcpy(create.uuid, array_uuid, sizeof array_uuid);
  OK(spate_stripe_create(&config, &create));
  OK(spate_stripe_open(&sinks->stripe, &config));
  for (uint8_t i = 0; i < count; i++)
    sinks->drives[i].notes = &sinks->notes;
  return sinks;
}

static void close_sinks(struct sinks *sinks) {
  free(sinks->scratch);
  free(sinks);
}

/* ---- the definition ---- */

/* The parts of one request, in the order of their creation. */
static const struct notes *parts_of(struct sinks *sinks, struct spate_io io) {
  struct request request;

  sinks->notes.count = 0;
  OK(start(&sinks->stripe, &request, io));
  poll_until(&sinks->stripe, &request);
  OK(request.io.error);
  return &sinks->notes;
}

/* The definition, in bytes: chunk c lies on member c mod N, at chunk c / N of the data area after the first MiB. */
static uint64_t member_byte(uint64_t byte, uint32_t chunk_bytes, uint8_t count, uint8_t *member) {
  *member = (uint8_t)(byte / chunk_bytes % count);
  return MIB + byte / chunk_bytes / count * chunk_bytes + byte % chunk_bytes;
}

static void check_data_parts(struct sinks *sinks, uint64_t lba, uint32_t blocks, uint32_t chunk_bytes) {
  const uint8_t shift = sinks->stripe.block.block_shift;
  const uint8_t count = sinks->stripe.member_count;
  _Alignas(SPATE_DMA_ALIGN) static uint8_t data[SPATE_DMA_ALIGN];
  const struct notes *notes = parts_of(
      sinks,
      (struct spate_io){
          .op = SPATE_WRITE, .flags = SPATE_IO_CPU | SPATE_IO_FUA, .lba = lba, .blocks = blocks, .buffer = data});
  uint64_t byte = lba << shift;

  for (unsigned i = 0; i < notes->count; i++) {
    const struct note *note = &notes->at[i];
    uint8_t member;
    const uint64_t at = member_byte(byte, chunk_bytes, count, &member);
    const uint64_t left_bytes = ((lba + blocks) << shift) - byte;
    const uint64_t chunk_left_bytes = chunk_bytes - byte % chunk_bytes;
    const uint64_t bytes = left_bytes < chunk_left_bytes ? left_bytes : chunk_left_bytes;

    assert_int_equal(note->member, member);
    assert_int_equal(note->lba << shift, at);
    assert_int_equal((uint64_t)note->blocks << shift, bytes);
    assert_int_equal(note->data, (uintptr_t)data + (byte - (lba << shift)));
    assert_int_equal(note->flags, SPATE_IO_CPU | SPATE_IO_FUA);
    byte += bytes;
  }
  assert_int_equal(byte, (lba + blocks) << shift);
}

/* One range per member. Together the ranges are exactly the array's range, compared chunk by chunk. */
static void check_ranges(struct sinks *sinks, enum spate_op op, uint64_t lba, uint32_t blocks, uint32_t chunk_bytes) {
  const uint8_t shift = sinks->stripe.block.block_shift;
  const uint8_t count = sinks->stripe.member_count;
  uint64_t start[MEMBERS];
  uint64_t end[MEMBERS] = {0};
  const struct notes *notes = parts_of(sinks, (struct spate_io){.op = (uint8_t)op, .lba = lba, .blocks = blocks});
  unsigned used = 0;

  for (uint64_t byte = lba << shift; byte < (lba + blocks) << shift;) {
    uint8_t member;
    const uint64_t at = member_byte(byte, chunk_bytes, count, &member);
    uint64_t bytes = chunk_bytes - byte % chunk_bytes;
    if (bytes > ((lba + blocks) << shift) - byte) bytes = ((lba + blocks) << shift) - byte;
    if (end[member] == 0) {
      start[member] = at;
      used++;
    } else {
      assert_int_equal(end[member], at);
    }
    end[member] = at + bytes;
    byte += bytes;
  }
  assert_int_equal(notes->count, used);
  for (unsigned i = 0; i < notes->count; i++) {
    const struct note *note = &notes->at[i];
    assert_int_equal(note->op, op);
    assert_int_equal(note->lba << shift, start[note->member]);
    assert_int_equal((uint64_t)note->blocks << shift, end[note->member] - start[note->member]);
    end[note->member] = 0;
  }
}

static void check_array(uint8_t count, uint32_t chunk_bytes, uint8_t shift, uint64_t rows) {
  const uint32_t chunk_blocks = chunk_bytes >> shift;
  struct sinks *sinks = open_sinks(count, rows * chunk_blocks + (chunk_blocks > 1), chunk_bytes, shift);
  const uint64_t blocks = sinks->stripe.block.blocks;
  const uint32_t most = sinks->stripe.block.request_blocks_max;
  uint64_t random = count * UINT64_C(1000003) + chunk_bytes + shift + rows;

  assert_int_equal(blocks, rows * count * chunk_blocks);
  for (unsigned i = 0; i < 300; i++) {
    uint64_t lba = ram_random(&random) % blocks;
    /* Often near a boundary: the ends of a chunk, of a row, and of the array. */
    if (i % 3 == 1) lba = lba / chunk_blocks * chunk_blocks - (lba >= chunk_blocks && i % 2);
    if (i % 3 == 2) lba = i % 2 ? blocks - 1 - lba % (chunk_blocks * 2u) : lba % (chunk_blocks * 2u);
    uint64_t length = 1 + ram_random(&random) % (i % 4 == 0 ? 64u * chunk_blocks : 2u * chunk_blocks);
    if (length > blocks - lba) length = blocks - lba;
    if (length > UINT32_MAX) length = UINT32_MAX;
    check_ranges(sinks, i % 2 ? SPATE_TRIM : SPATE_ZERO, lba, (uint32_t)length, chunk_bytes);
    check_data_parts(sinks, lba, (uint32_t)(length < most ? length : most), chunk_bytes);
  }
  close_sinks(sinks);
}

static void test_mapping(void **state) {
  static const uint32_t chunks[] = {4096, 8192, 65536, SPATE_STRIPE_CHUNK_BYTES, 1u << 20, 1u << 30};

  (void)state;
  for (uint8_t count = 2; count <= MEMBERS; count++)
    for (unsigned i = 0; i < sizeof chunks / sizeof chunks[0]; i++)
      for (uint8_t shift = 9; shift <= 12; shift += 3) {
        const uint64_t most_rows = (SPATE_STRIPE_CHUNKS_MAX - 1u) / count;
        check_array(count, chunks[i], shift, 3);
        check_array(count, chunks[i], shift, 1000 + count);
        check_array(count, chunks[i], shift, most_rows);
      }
}

/* The quotient around every power of two and at the end of its proven range, where an error would show first. */
static void test_mapping_of_single_blocks(void **state) {
  (void)state;
  for (uint8_t count = 2; count <= MEMBERS; count++) {
    const uint64_t rows = (SPATE_STRIPE_CHUNKS_MAX - 1u) / count;
    struct sinks *sinks = open_sinks(count, rows, 4096, 12);
    for (uint64_t around = 1; around <= SPATE_STRIPE_CHUNKS_MAX; around *= 2)
      for (uint64_t chunk = around < 40 ? 0 : around - 40; chunk < around + 40; chunk++)
        if (chunk < rows * count) check_data_parts(sinks, chunk, 1, 4096);
    close_sinks(sinks);
  }
}

/* Sizes that no existing drive has: chunks whose number does not fit its type, and too many of them. */
static void test_absurd_sizes(void **state) {
  static const struct {
    uint32_t chunk_sectors;
    enum spate_error error;
  } cases[] = {{1u << 21, SPATE_OK}, {1u << 22, SPATE_E_STRIPE}, {1u << 23, SPATE_E_STRIPE}, {8, SPATE_E_UNSUPPORTED}};
  struct sinks *sinks = open_sinks(2, (SPATE_STRIPE_CHUNKS_MAX / 2 - 1u) * UINT64_C(16), 8192, 9);
  const struct spate_stripe_config config = {.members = sinks->blocks,
                                             .member_count = 2,
                                             .parts = sinks->parts,
                                             .part_count = PARTS_MAX,
                                             .scratch = sinks->scratch};

  (void)state;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (unsigned drive = 0; drive < 2; drive++) {
      sinks->drives[drive].notes = NULL;
      spate_put32(sinks->drives[drive].superblock + 88, cases[i].chunk_sectors);
      seal(sinks->drives[drive].superblock);
    }
    GIVES(cases[i].error, spate_stripe_open(&sinks->stripe, &config));
  }
  close_sinks(sinks);
}

/* The largest permitted number of chunks and one chunk less, with the smallest chunks and larger ones. */
static void test_the_number_of_chunks_is_bounded(void **state) {
  (void)state;
  for (uint32_t members = 2; members <= SPATE_STRIPE_MEMBERS_MAX; members++) {
    for (uint32_t chunk_bytes = SPATE_STRIPE_CHUNK_BYTES_MIN; chunk_bytes <= 1u << 24; chunk_bytes *= 2) {
      const uint64_t most_rows = (SPATE_STRIPE_CHUNKS_MAX - 1u) / members; /* so that all chunks are fewer */
      assert_true(spate_stripe_size_is_possible(members, chunk_bytes, most_rows * chunk_bytes));
      assert_false(spate_stripe_size_is_possible(members, chunk_bytes, (most_rows + 1) * chunk_bytes));
    }
  }
}

static void test_geometry(void **state) {
  struct array *array = open_array(4, 64 * MIB, 0, 512);
  struct spate_stripe *stripe = &array->stripe;

  (void)state;
  assert_int_equal(stripe->block.block_shift, 9);
  assert_int_equal(stripe->block.depth, 4 * 32);
  assert_int_equal(stripe->block.command_bytes_max, SPATE_STRIPE_CHUNK_BYTES);
  assert_int_equal(stripe->block.request_blocks_max, 8 * MIB / 512);
  assert_true(stripe->block.can_trim && stripe->block.can_zero && stripe->block.volatile_cache);
  assert_memory_equal(stripe->uuid, array_uuid, 16);

  /* The smallest limit of any member counts; for the cache, the worst. */
  array->drives[1].block.command_bytes_max = 128u << 10;
  array->drives[2].block.request_blocks_max = 1000;
  array->drives[3].block.can_trim = false;
  for (unsigned i = 0; i < 4; i++)
    array->drives[i].block.volatile_cache = i == 2;
  array->drives[0].block.power_losses = 5;
  array->drives[3].block.power_losses = 2;
  array->drives[1].block.power_unknown = 0x10003; /* one member's is the array's */
  array->config.part_count = 100;
  OK(spate_stripe_open(stripe, &array->config));
  assert_int_equal(stripe->block.depth, 100);
  assert_int_equal(stripe->block.command_bytes_max, 128u << 10);
  assert_int_equal(stripe->block.request_blocks_max, 1000);
  assert_true(!stripe->block.can_trim && stripe->block.can_zero && stripe->block.volatile_cache);
  assert_int_equal(stripe->block.power_losses, 7);
  assert_int_equal(stripe->block.power_unknown, 0x10003);
  array->drives[2].block.volatile_cache = false;
  spate_block_poll(&stripe->block, 1);
  assert_false(stripe->block.volatile_cache);
  close_drives(array);
}

/* A request that any member would refuse is refused at once as a whole: no member has seen it. */
static void test_invalid(void **state) {
  struct array *array = open_array(3, 8 * MIB, 65536, 512);
  struct spate_stripe *stripe = &array->stripe;
  const uint64_t blocks = stripe->block.blocks;
  uint8_t *memory = aligned_alloc(4096, 9 * MIB);
  uint64_t pages[1] = {0};
  struct spate_region region = {.start = memory, .bytes = MIB, .list = pages};
  struct spate_region far_region = {.start = NULL, .bytes = MIB, .list = pages};
  struct request request;
  const struct spate_io wrong[] = {
      {.op = SPATE_WRITE, .lba = blocks, .blocks = 1, .buffer = memory, .flags = SPATE_IO_CPU},
      {.op = SPATE_WRITE, .lba = blocks - 1, .blocks = 2, .buffer = memory, .flags = SPATE_IO_CPU},
      {.op = SPATE_WRITE, .lba = UINT64_MAX, .blocks = 2, .buffer = memory, .flags = SPATE_IO_CPU},
      {.op = SPATE_WRITE, .blocks = 0, .buffer = memory, .flags = SPATE_IO_CPU},
      {.op = SPATE_WRITE, .blocks = 8 * MIB / 512 + 1, .buffer = memory, .flags = SPATE_IO_CPU},
      {.op = SPATE_WRITE, .blocks = 300, .buffer = NULL},
      {.op = SPATE_WRITE, .blocks = 300, .buffer = memory + 2},
      {.op = SPATE_WRITE, .blocks = 300, .buffer = memory + 4, .flags = SPATE_IO_CPU},
      {.op = SPATE_READ, .blocks = 300, .region = &region, .offset_bytes = 2},
      {.op = SPATE_READ, .blocks = 300, .region = &region, .offset_bytes = MIB - 300 * 512 + 4},
      {.op = SPATE_READ, .blocks = 3000, .region = &region},
      {.op = SPATE_READ, .blocks = 300, .region = &region, .offset_bytes = 4, .flags = SPATE_IO_CPU},
      {.op = SPATE_READ, .blocks = 300, .region = &far_region, .flags = SPATE_IO_CPU},
      {.op = SPATE_FLUSH, .lba = 1},
      {.op = SPATE_FLUSH, .blocks = 1},
      {.op = SPATE_TRIM, .lba = blocks, .blocks = 1},
      {.op = SPATE_ZERO, .blocks = 0},
      {.op = SPATE_ZERO + 1, .blocks = 1},
  };

  (void)state;
  for (unsigned i = 0; i < 3; i++)
    ram_block_clear_log(&array->drives[i]);
  for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    if (start(stripe, &request, wrong[i]) != SPATE_E_INVALID) fail_msg("wrong request %u was accepted", i);
  for (unsigned i = 0; i < 3; i++)
    for (unsigned op = 0; op < RAM_OPS; op++)
      assert_int_equal(array->drives[i].count[op], 0);
  free(memory);
  close_drives(array);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mapping),
      cmocka_unit_test(test_mapping_of_single_blocks),
      cmocka_unit_test(test_absurd_sizes),
      cmocka_unit_test(test_geometry),
      cmocka_unit_test(test_the_number_of_chunks_is_bounded),
      cmocka_unit_test(test_invalid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
