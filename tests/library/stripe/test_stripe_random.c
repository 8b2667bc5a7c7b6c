/* SPDX-License-Identifier: Apache-2.0 */
/* Striping: random requests on members of any order, depth and health leave the contents that a flat drive would
 * hold. */
#include "stripe_fixture.h"

#define CHUNK  8192u
#define MEMBER (UINT64_C(1) << 18) /* of data area: 32 chunks */

#define REQUESTS 24u

struct job {
  struct request request;
  struct spate_region region;
  uint8_t *memory;
  uint64_t seed; /* of the data written */
  bool busy;
};

struct trial {
  struct array *array;
  struct job jobs[REQUESTS];
  uint8_t *flat;  /* the array's expected contents */
  uint8_t *known; /* by block: 0 nothing (trimmed, or a write that failed), 1 flat[] */
  uint64_t random;
  uint64_t seed;
  unsigned full, ended, failed;
  bool bad_member; /* the last member's 9th … 12th chunk cannot be written or read */
};

#define BAD_FIRST_CHUNK 8u
#define BAD_CHUNKS      4u

static bool touches_bad(const struct trial *trial, const struct spate_io *io) {
  const struct spate_stripe *stripe = &trial->array->stripe;
  const uint8_t bad = (uint8_t)(stripe->member_count - 1);
  const uint32_t shift = stripe->block.block_shift;

  if (!trial->bad_member || io->op == SPATE_FLUSH) return false;
  for (uint64_t lba = io->lba; lba < io->lba + io->blocks; lba++) {
    const uint64_t chunk = (lba << shift) / CHUNK;
    const uint64_t row = chunk / stripe->member_count;
    if (chunk % stripe->member_count == bad && row >= BAD_FIRST_CHUNK && row < BAD_FIRST_CHUNK + BAD_CHUNKS)
      return true;
  }
  return false;
}

static void expect(const struct trial *trial, bool holds, const char *what) {
  if (!holds) fail_msg("seed %llu: %s", (unsigned long long)trial->seed, what);
}

static void end_job(struct trial *trial, struct job *job) {
  const struct spate_io *io = &job->request.io;
  const uint32_t shift = trial->array->stripe.block.block_shift;
  const bool bad = touches_bad(trial, io);

  expect(trial, job->request.ended == 1, "a request ended twice");
  expect(trial, io->error == (bad ? SPATE_E_MEDIA : SPATE_OK), "a request's error is not its parts'");
  expect(trial, io->detail == (bad ? 0x281 : 0), "the detail did not come up");
  for (uint64_t i = 0; i < io->blocks; i++) {
    uint8_t *flat = trial->flat + ((io->lba + i) << shift);
    const uint8_t *data = job->memory + io->offset_bytes + (i << shift);
    if (io->op == SPATE_READ && !bad && trial->known[io->lba + i])
      expect(trial, memcmp(flat, data, 1u << shift) == 0, "what was read is not what was written");
    if (io->op == SPATE_READ) continue;
    trial->known[io->lba + i] = !bad && io->op != SPATE_TRIM;
    if (io->op == SPATE_WRITE) memcpy(flat, data, 1u << shift);
    if (io->op == SPATE_ZERO) memset(flat, 0, 1u << shift);
  }
  job->busy = false;
  trial->ended++;
  trial->failed += bad;
}

/* Concurrent requests on the same blocks have no order. */
static bool is_apart(const struct trial *trial, uint64_t lba, uint32_t blocks) {
  for (unsigned i = 0; i < REQUESTS; i++) {
    const struct spate_io *io = &trial->jobs[i].request.io;
    if (trial->jobs[i].busy && io->lba < lba + blocks && lba < io->lba + io->blocks) return false;
  }
  return true;
}

static struct spate_io choose(struct trial *trial, struct job *job) {
  struct spate_stripe *stripe = &trial->array->stripe;
  const uint32_t shift = stripe->block.block_shift;
  const uint8_t ops[] = {SPATE_READ,  SPATE_READ,  SPATE_READ, SPATE_WRITE, SPATE_WRITE,
                         SPATE_WRITE, SPATE_WRITE, SPATE_TRIM, SPATE_ZERO,  SPATE_FLUSH};
  struct spate_io io = {.op = ops[ram_random(&trial->random) % sizeof ops]};

  if (io.op == SPATE_FLUSH) return io;
  const uint64_t scale = ram_random(&trial->random) % 3; /* a block, a few, many chunks */
  const uint64_t most = scale == 0 ? 1 : (scale == 1 ? 4096 : 20 * CHUNK) >> shift;
  io.blocks = 1 + (uint32_t)(ram_random(&trial->random) % (most > 0 ? most : 1));
  io.lba = ram_random(&trial->random) % (stripe->block.blocks - io.blocks + 1);
  if (io.op != SPATE_READ && io.op != SPATE_WRITE) return io;
  if (ram_random(&trial->random) % 2) {
    io.region = &job->region;
    io.offset_bytes = (ram_random(&trial->random) % 1024) * 4;
  } else {
    io.buffer = job->memory;
    io.flags = SPATE_IO_CPU;
  }
  for (uint64_t i = 0; i < (uint64_t)io.blocks << shift; i += 8) {
    const uint64_t value = ram_random(&trial->random);
    memcpy(job->memory + io.offset_bytes + i, &value, sizeof value);
  }
  return io;
}

static void begin_job(struct trial *trial) {
  struct job *job = &trial->jobs[ram_random(&trial->random) % REQUESTS];

  if (job->busy) return;
  const struct spate_io io = choose(trial, job);
  if (io.op != SPATE_FLUSH && !is_apart(trial, io.lba, io.blocks)) return;
  const enum spate_error error = start(&trial->array->stripe, &job->request, io);
  expect(trial, error == SPATE_OK || error == SPATE_E_FULL, "a good request was refused");
  job->busy = error == SPATE_OK;
  trial->full += error == SPATE_E_FULL;
}

static void reap_jobs(struct trial *trial, unsigned max) {
  const unsigned reaped = spate_block_poll(&trial->array->stripe.block, max);

  expect(trial, reaped <= max, "poll() reaped more than it was to");
  for (unsigned i = 0; i < REQUESTS; i++)
    if (trial->jobs[i].busy && trial->jobs[i].request.ended > 0) end_job(trial, &trial->jobs[i]);
}

static void open_trial(struct trial *trial, uint64_t seed) {
  const uint8_t count = (uint8_t)(2 + seed % 7);
  const uint32_t block_bytes = seed % 2 ? 512 : 4096;

  *trial = (struct trial){.array = open_array(count, MEMBER, CHUNK, block_bytes), .random = seed, .seed = seed};
  struct array *array = trial->array;
  for (uint8_t i = 0; i < count; i++) {
    struct ram_block *drive = &array->drives[i];
    drive->order = (enum ram_order)(ram_random(&trial->random) % 3);
    drive->random = seed + i;
    drive->delay_polls = (uint32_t)(ram_random(&trial->random) % 4);
    drive->block.depth = (uint16_t)(1 + ram_random(&trial->random) % 6);
    drive->trim_fill = 0xdd;
  }
  array->config.part_count = (uint16_t)(2u * count + ram_random(&trial->random) % 20);
  OK(spate_stripe_open(&array->stripe, &array->config));
  trial->flat = take(count * MEMBER);
  trial->known = take(array->stripe.block.blocks);
  memset(trial->known, 1, array->stripe.block.blocks);
  trial->bad_member = seed % 3 == 0;
  const uint64_t bad_lba = (SPATE_STRIPE_DATA_OFFSET_BYTES + BAD_FIRST_CHUNK * CHUNK) / block_bytes;
  if (trial->bad_member)
    ram_block_fault(&array->drives[count - 1],
                    (struct ram_fault){.ops = RAM_ANY_OP & ~RAM_OP(SPATE_FLUSH),
                                       .first_lba = bad_lba,
                                       .last_lba = bad_lba + BAD_CHUNKS * CHUNK / block_bytes - 1,
                                       .times = RAM_ALWAYS,
                                       .error = SPATE_E_MEDIA,
                                       .detail = 0x281});
  for (unsigned i = 0; i < REQUESTS; i++) {
    struct job *job = &trial->jobs[i];
    job->memory = take(4096 + 24 * CHUNK);
    job->region = (struct spate_region){.start = job->memory, .bytes = 4096 + 24 * CHUNK};
  }
}

static void close_trial(struct trial *trial) {
  struct spate_stripe *stripe = &trial->array->stripe;
  uint64_t errors = 0;

  for (uint8_t i = 0; i < stripe->member_count; i++) {
    errors += stripe->members[i].errors;
    expect(trial, trial->array->drives[i].overlaps == 0, "two parts on the same blocks");
  }
  expect(trial, (errors > 0) == (trial->failed > 0), "errors are counted where they are");
  if (trial->failed > 0) assert_int_equal(stripe->members[stripe->member_count - 1].error, SPATE_E_MEDIA);
  for (unsigned i = 0; i < REQUESTS; i++)
    free(trial->jobs[i].memory);
  free(trial->flat);
  free(trial->known);
  close_drives(trial->array);
}

static void test_random_requests(void **state) {
  unsigned ended = 0, failed = 0, full = 0;

  (void)state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    static struct trial trial;
    open_trial(&trial, seed);
    for (unsigned step = 0; step < 2000; step++) {
      begin_job(&trial);
      if (ram_random(&trial.random) % 3 == 0) reap_jobs(&trial, 1 + (unsigned)(ram_random(&trial.random) % 8));
    }
    for (unsigned i = 0; i < 10000; i++)
      reap_jobs(&trial, 8);
    for (unsigned i = 0; i < REQUESTS; i++)
      expect(&trial, !trial.jobs[i].busy, "a request never ended");
    expect(&trial, is_idle(trial.array), "a part was lost");
    ended += trial.ended;
    failed += trial.failed;
    full += trial.full;
    close_trial(&trial);
  }
  assert_true(ended > 20000 && failed > 500 && full > 500); /* enough of each happened */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_requests)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
