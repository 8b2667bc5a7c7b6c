/* SPDX-License-Identifier: Apache-2.0 */
/* Registered buffers: the ring's present contents are written, even if another ring had the same addresses before. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sys/utsname.h>

/* A kernel that gains from registered buffers, whatever kernel runs the test. */
static int fake_uname(struct utsname *system) {
  memcpy(system->release, "6.12.1", sizeof "6.12.1");
  return 0;
}

#define BUFFER_BYTES_MAX ((size_t)32 << 10)
#define uname            fake_uname
#include "../../linux/command/memory.c"
#include "../../linux/command/target/buffers.c"
#undef uname
#include "../../linux/command/target/requests.c"
#include "../../linux/command/text/failure.c"

/* The included sources need fail(). The tests never call it, and cmocka has a macro of that name. */
void fail(enum exit_status status, const char *format, ...) {
  (void)status;
  (void)format;
  abort();
}

void expect(enum spate_error error, const char *tried) {
  (void)tried;
  if (error != SPATE_OK) abort();
}

#include <linux_port.h>
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>

#include <cmocka.h>

#define RING_BYTES ((size_t)64 << 10) /* two buffers; any user may lock this much memory */
#define PIECE      ((size_t)8192)
#define FILE_BYTES ((uint64_t)1 << 20)

static struct memory_supply memory;

struct fixture {
  struct requests *requests;
  int fd, wait_fd;
  unsigned done;
};

static void open_fixture(struct fixture *fixture) {
  char name[] = "/tmp/spate-buffers-XXXXXX";
  struct requests_config config = {.name = "file",
                                   .memory = &memory,
                                   .bytes = FILE_BYTES,
                                   .block_bytes = 512,
                                   .depth = 8,
                                   .request_bytes = 1u << 20};

  *fixture = (struct fixture){.fd = mkstemp(name)};
  assert_true(fixture->fd >= 0);
  assert_int_equal(unlink(name), 0);
  assert_int_equal(ftruncate(fixture->fd, (off_t)FILE_BYTES), 0);
  config.fd = fixture->fd;
  fixture->requests = requests_open(&config, &fixture->wait_fd);
  linux_port_wait(requests_wait, fixture->requests);
  if (!fixture->requests->uring) skip(); /* io_uring is forbidden here, so nothing is registered */
}

static void close_fixture(struct fixture *fixture) {
  linux_port_wait(NULL, NULL);
  requests_close(fixture->requests);
  assert_int_equal(close(fixture->fd), 0);
}

static void done(struct spate_io *io) { ((struct fixture *)io->context)->done++; }

static void carry(struct fixture *fixture, enum spate_op op, uint8_t *data, uint64_t lba, uint8_t flags) {
  struct spate_block *block = requests_block(fixture->requests);
  struct spate_io io = {.op = (uint8_t)op,
                        .flags = flags,
                        .lba = lba,
                        .blocks = PIECE / 512u,
                        .buffer = data,
                        .done = done,
                        .context = fixture};

  fixture->done = 0;
  assert_int_equal(spate_block_submit(block, &io), SPATE_OK);
  spate_block_kick(block);
  while (fixture->done == 0) {
    spate_port_relax();
    (void)spate_block_poll(block, 8);
  }
  assert_int_equal(io.error, SPATE_OK);
}

static void in_the_file(const struct fixture *fixture, const uint8_t *data, uint64_t lba) {
  uint8_t found[PIECE];

  assert_int_equal(pread(fixture->fd, found, sizeof found, (off_t)(lba * 512u)), (int)sizeof found);
  assert_memory_equal(found, data, sizeof found);
}

static void a_ring_is_registered_and_written_from(void **state) {
  (void)state;
  struct fixture fixture;
  uint8_t other[PIECE];

  open_fixture(&fixture);
  uint8_t *ring = memory_take_ring(&memory, RING_BYTES);
  struct buffers *buffers = &fixture.requests->buffers;
  assert_int_equal(buffers_find(buffers, ring, PIECE), 0);
  assert_int_equal(buffers_find(buffers, ring + RING_BYTES - PIECE, PIECE), 1);
  assert_int_equal(buffers_find(buffers, ring + BUFFER_BYTES_MAX - PIECE, PIECE), 0);
  assert_int_equal(buffers_find(buffers, ring + BUFFER_BYTES_MAX - PIECE, PIECE + 1u), -1); /* in two buffers */
  assert_int_equal(buffers_find(buffers, ring + RING_BYTES - PIECE, PIECE + 1u), -1);
  assert_int_equal(buffers_find(buffers, ring - 1, PIECE), -1);
  assert_int_equal(buffers_find(buffers, other, PIECE), -1);

  memset(ring + PIECE, 0x17, PIECE);
  memset(other, 0x2a, sizeof other);
  carry(&fixture, SPATE_WRITE, ring + PIECE, 16, 0);
  carry(&fixture, SPATE_WRITE, ring + PIECE, 48, SPATE_IO_FUA);
  carry(&fixture, SPATE_WRITE, other, 96, 0);
  in_the_file(&fixture, ring + PIECE, 16);
  in_the_file(&fixture, ring + PIECE, 48);
  in_the_file(&fixture, other, 96);
  carry(&fixture, SPATE_READ, ring, 96, 0);
  assert_memory_equal(ring, other, PIECE);
  memory_give(&memory, ring);
  close_fixture(&fixture);
}

/* A ring is freed, and other pages get its addresses. */
static void reused_addresses_are_not_the_old_ring(void **state) {
  (void)state;
  struct fixture fixture;

  open_fixture(&fixture);
  uint8_t *ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(ring != MAP_FAILED);
  memset(ring, 0x11, RING_BYTES);
  tell_taken(&memory, ring, RING_BYTES);
  assert_int_equal(buffers_find(&fixture.requests->buffers, ring, PIECE), 0);
  tell_given(&memory, ring);
  for (size_t at = 0; at < RING_BYTES; at += BUFFER_BYTES_MAX)
    assert_int_equal(buffers_find(&fixture.requests->buffers, ring + at, PIECE), -1);
  uint8_t *again = mmap(ring, RING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  assert_ptr_equal(again, ring);
  memset(again, 0x22, RING_BYTES);
  carry(&fixture, SPATE_WRITE, again, 0, 0);
  in_the_file(&fixture, again, 0);
  assert_int_equal(munmap(again, RING_BYTES), 0);
  close_fixture(&fixture);
}

static void a_second_ring_survives_the_first(void **state) {
  (void)state;
  struct fixture fixture;

  open_fixture(&fixture);
  uint8_t *first = memory_take_ring(&memory, RING_BYTES), *second = memory_take_ring(&memory, RING_BYTES);
  struct buffers *buffers = &fixture.requests->buffers;
  assert_int_equal(buffers_find(buffers, second, PIECE), 2);
  memory_give(&memory, first);
  assert_int_equal(buffers_find(buffers, second, PIECE), 2);
  first = memory_take_ring(&memory, RING_BYTES);
  assert_int_equal(buffers_find(buffers, first, PIECE), 0);
  memory_give(&memory, first);
  memory_give(&memory, second);
  close_fixture(&fixture);
}

static void a_ring_of_another_target_is_not_registered(void **state) {
  (void)state;
  struct fixture fixture;
  struct memory_supply other = {.kind = NULL};

  open_fixture(&fixture);
  uint8_t *ring = memory_take_ring(&other, RING_BYTES);
  assert_int_equal(buffers_find(&fixture.requests->buffers, ring, PIECE), -1);
  memory_give(&other, ring);
  close_fixture(&fixture);
}

static void only_kernels_that_gain_from_it(void **state) {
  (void)state;
  static const char *const pay[] = {"6.12.9+bpo-arm64", "6.12", "6.13.0", "7.0.1"};
  static const char *const cost[] = {"6.1.0-41-arm64", "6.11.99", "5.15.0", "4.19.0", "", "next"};

  for (size_t i = 0; i < sizeof pay / sizeof pay[0]; i++)
    assert_true(buffers_pay(pay[i]));
  for (size_t i = 0; i < sizeof cost / sizeof cost[0]; i++)
    assert_false(buffers_pay(cost[i]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ring_is_registered_and_written_from),
      cmocka_unit_test(reused_addresses_are_not_the_old_ring),
      cmocka_unit_test(a_second_ring_survives_the_first),
      cmocka_unit_test(a_ring_of_another_target_is_not_registered),
      cmocka_unit_test(only_kernels_that_gain_from_it),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
