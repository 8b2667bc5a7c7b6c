/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/*
 * Drives that misbehave in the middle of raw I/O: each kind of command, at many places of a stream of requests in one
 * command and in several, from regions and from buffers. Every request ends once, within a bounded time. Data reported
 * as done is on the media, or in the buffer. A request that cannot be done ends with the drive's status. The memory
 * between the buffers does not change.
 */
#include "hostile.h"

#define REQUESTS    72u
#define TRIMS       24u /* one is in flight at a time, so their timeouts add up */
#define BLOCKS      40u /* 20 KiB: two commands of at most 16 KiB, if the request begins at a multiple of 16 KiB */
#define DATA_BYTES  (BLOCKS * 512u)
#define STRIDE      (UINT64_C(32) << 10)
#define TIMEOUT_MS  2000u
#define MDTS_16_KIB 2u
#define END_MS_MAX  900000u /* each flush may take its 30 seconds twice */
#define TURNS_MAX   20000000u
#define IDLE_US     10u
#define GAP_BYTES   (STRIDE - DATA_BYTES)
#define FIRST_LBA   1000u

struct kind {
  const char *name;
  uint8_t op, flags, opcode;
};

static const struct kind kinds[] = {
    {"read", SPATE_READ, 0, 2},   {"write", SPATE_WRITE, 0, 1}, {"FUA write", SPATE_WRITE, SPATE_IO_FUA, 1},
    {"flush", SPATE_FLUSH, 0, 0}, {"trim", SPATE_TRIM, 0, 9},   {"write zeroes", SPATE_ZERO, 0, 8},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

struct request {
  struct spate_io io;
  unsigned calls;
};

struct stream {
  struct sim_stack *stack;
  struct spate_region *region;
  const struct kind *kind;
  const struct misbehaviour *what;
  char name[128];
  struct request requests[REQUESTS];
  unsigned wanted, submitted, ended, failed;
  enum spate_error refused; /* by submit, permanently: the device is dead */
};

static struct stream stream;

static void done(struct spate_io *io) {
  struct request *request = io->context;
  if (++request->calls > 1) fail_msg("%s: a request ended twice", stream.name);
  stream.ended++;
  if (io->error != SPATE_OK) stream.failed++;
}

static uint64_t lba_of(unsigned i) { return FIRST_LBA + (uint64_t)i * BLOCKS; }
static uint8_t *data_of(unsigned i) { return stream.region->start + i * STRIDE; }

/* Every third request uses memory that is in no region. */
static void prepare(unsigned i) {
  const struct kind *kind = stream.kind;
  struct request *request = &stream.requests[i];
  *request = (struct request){.io = {.op = kind->op, .flags = kind->flags, .done = done, .context = request}};
  if (kind->op == SPATE_FLUSH) return;
  request->io.lba = lba_of(i);
  request->io.blocks = BLOCKS;
  if (kind->op != SPATE_READ && kind->op != SPATE_WRITE) return;
  if (i % 3 == 0) {
    request->io.buffer = data_of(i);
  } else {
    request->io.region = stream.region;
    request->io.offset_bytes = i * STRIDE;
  }
}

/* The media's contents before, the buffers' contents before, and canaries around them. */
static void make_contents(void) {
  static uint8_t page[4096];
  struct sim_store *store = sim_drive_store(stream.stack->drives[0].drive);
  const uint64_t first = lba_of(0) * 512, end = lba_of(REQUESTS) * 512;
  for (uint64_t at = first & ~UINT64_C(4095); at < end; at += sizeof page) {
    put_pattern(page, sizeof page, at);
    (void)sim_store_write(store, at, page, sizeof page);
  }
  for (unsigned i = 0; i < REQUESTS; i++) {
    put_pattern(data_of(i), DATA_BYTES, stream.kind->op == SPATE_READ ? 1 : 1000000 + i);
    put_canary(data_of(i) + DATA_BYTES, GAP_BYTES);
  }
}

static void run(void) {
  const uint64_t start_ms = now_ms(stream.stack);
  struct spate_block *block = stream.stack->block;
  for (unsigned turn = 0; stream.ended < stream.submitted || stream.submitted < stream.wanted; turn++) {
    if (turn == TURNS_MAX || now_ms(stream.stack) - start_ms > END_MS_MAX)
      fail_msg("%s: %u of %u requests ended", stream.name, stream.ended, stream.submitted);
    while (stream.submitted < stream.wanted) {
      prepare(stream.submitted);
      const enum spate_error error = spate_block_submit(block, &stream.requests[stream.submitted].io);
      if (error == SPATE_E_FULL) break;
      if (error != SPATE_OK) { /* the device is dead; the requests that it accepted still end */
        stream.refused = error;
        break;
      }
      stream.submitted++;
    }
    /* Without this a drive that is silent for seconds takes millions of turns. */
    if (spate_block_poll(block, 4) == 0) sim_spend(stream.stack->sim, IDLE_US * SIM_PS_PER_US);
    if (stream.refused != SPATE_OK && stream.ended == stream.submitted) return;
  }
}

/* The same bytes, read in another way, must be what the request should have left. */
static void check_content(unsigned i) {
  static uint8_t medium[DATA_BYTES], zeros[DATA_BYTES];
  const struct request *request = &stream.requests[i];
  if (request->io.error != SPATE_OK || stream.what->io == DECEIVED) return;
  read_medium(stream.stack, lba_of(i), medium, DATA_BYTES);
  const void *wanted = data_of(i);
  if (stream.kind->op == SPATE_ZERO) wanted = zeros;
  if (stream.kind->op == SPATE_FLUSH || stream.kind->op == SPATE_TRIM) return;
  if (memcmp(medium, wanted, DATA_BYTES) != 0) fail_msg("%s: request %u is not done", stream.name, i);
}

static void check_error(const struct request *request) {
  const struct misbehaviour *what = stream.what;
  const struct spate_io *io = &request->io;
  if (io->error == SPATE_OK) return;
  if (what->io == RECOVERED || what->io == DECEIVED)
    fail_msg("%s: a request ends with %s, status %x", stream.name, spate_error_name(io->error), io->detail);
  if (what->action != SIM_STATUS) return;
  assert_int_equal(io->detail, what->value);
  assert_int_equal(io->error, (what->value & 0x700) == 0x200 ? SPATE_E_MEDIA : SPATE_E_COMMAND);
}

static void check(void) {
  const struct misbehaviour *what = stream.what;
  for (unsigned i = 0; i < stream.submitted; i++) {
    assert_int_equal(stream.requests[i].calls, 1);
    check_error(&stream.requests[i]);
    check_content(i);
  }
  for (unsigned i = 0; i < REQUESTS; i++)
    check_canary(data_of(i) + DATA_BYTES, GAP_BYTES, stream.name);
  if (what->io == REPORTED && stream.failed == 0 && stream.refused == SPATE_OK)
    fail_msg("%s: nothing fails", stream.name);
  if (what->io == REPORTED && what->count == 1 && what->action == SIM_STATUS && stream.failed != 1)
    fail_msg("%s: %u requests fail", stream.name, stream.failed);
  if (what->io == RECOVERED) assert_int_equal(stream.submitted, stream.wanted);
  const bool lost_power = what->action == SIM_POWER_CUT;
  assert_int_equal(stream.stack->block->power_losses, lost_power ? 1 : 0);
}

/* Afterwards the drive works normally, unless it is gone. */
static void check_after(void) {
  sim_drive_clear_faults(stream.stack->drives[0].drive);
  const enum spate_nvme_state state = stream.stack->drives[0].nvme.state;
  if (state == SPATE_NVME_DEAD) {
    if (stream.what->io == RECOVERED || stream.what->io == DECEIVED) fail_msg("%s: given up", stream.name);
    return;
  }
  struct spate_io io = {.op = SPATE_WRITE, .lba = 1, .blocks = 8, .region = stream.region};
  const enum spate_error error = spate_block_do(stream.stack->block, &io);
  if (error != SPATE_OK) fail_msg("%s: afterwards a write gives %s", stream.name, spate_error_name(error));
  assert_int_equal(sim_stack_close(stream.stack), SPATE_OK);
}

static unsigned requests_of(const struct kind *kind) { return kind->op == SPATE_TRIM ? TRIMS : REQUESTS; }

static void one(const struct kind *kind, const struct misbehaviour *what, uint32_t position) {
  struct sim_stack_config config = hostile_config(position);
  config.command_timeout_ms = TIMEOUT_MS;
  memset(&stream, 0, sizeof stream);
  stream.kind = kind;
  stream.what = what;
  stream.wanted = requests_of(kind);
  (void)snprintf(stream.name, sizeof stream.name, "%s at %s %u", what->name, kind->name, position);
  stream.stack = sim_stack_new(&config);
  sim_drive_identify_controller(stream.stack->drives[0].drive)[77] = MDTS_16_KIB;
  assert_int_equal(sim_stack_open(stream.stack), SPATE_OK);
  stream.region = sim_stack_region(stream.stack, REQUESTS * STRIDE, SIM_LOGIC);
  make_contents();
  sim_drive_fault(stream.stack->drives[0].drive, fault_of(what, false, kind->opcode, position));
  run();
  check();
  check_after();
  no_violations(stream.stack, stream.name);
  sim_stack_free(stream.stack);
  hostile_cases++;
}

static void test_every_kind_of_command(void **state) {
  (void)state;
  static const uint32_t positions[] = {0, 7, 16, 31, 57, 70};
  hostile_cases = 0;
  for (unsigned kind = 0; kind < KINDS; kind++)
    for (unsigned what = 0; what < MISBEHAVIOURS; what++)
      for (unsigned i = 0; i < sizeof positions / sizeof positions[0]; i++)
        if (positions[i] < requests_of(&kinds[kind])) one(&kinds[kind], &misbehaviours[what], positions[i]);
  print_message("%u cases\n", hostile_cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_kind_of_command)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
