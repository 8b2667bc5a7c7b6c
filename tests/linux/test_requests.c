/* SPDX-License-Identifier: Apache-2.0 */
/* A file descriptor as a block device, without io_uring. The test scripts the kernel's answers. */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

static ssize_t fake_preadv(int fd, const struct iovec *vector, int count, off_t offset);
static ssize_t fake_pwritev2(int fd, const struct iovec *vector, int count, off_t offset, int flags);
static int fake_fdatasync(int fd);
static int fake_fallocate(int fd, int mode, off_t offset, off_t bytes);
static int fake_ioctl(int fd, unsigned long what, uint64_t *to);

#define preadv                                    fake_preadv
#define pwritev2                                  fake_pwritev2
#define fdatasync                                 fake_fdatasync
#define fallocate                                 fake_fallocate
#define ioctl                                     fake_ioctl
#define io_uring_queue_init(entries, ring, flags) (-EPERM) /* as if io_uring were forbidden */
#include "../../linux/command/target/buffers.c"
#include "../../linux/command/target/requests.c"
#include "../../linux/command/text/failure.c"

/* Without io_uring nothing is registered. */
void memory_watch(struct memory_supply *supply, struct memory_watcher *watcher) {
  (void)supply;
  (void)watcher;
}
void memory_watch_no_more(struct memory_supply *supply, struct memory_watcher *watcher) {
  (void)supply;
  (void)watcher;
}

/* The included sources need fail(). The tests never call it, and cmocka has a macro of that name. */
void fail(enum exit_status status, const char *format, ...) {
  (void)status;
  (void)format;
  abort();
}

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define BLOCK 512u
#define DEPTH 4u

/* The next answers: bytes, or −errno; WHOLE: all of the requested bytes. The requests are recorded in `asked`. */
#define WHOLE INT64_MAX
static int64_t answers[8];
static unsigned answered;
static struct {
  off_t offset;
  size_t bytes;
  int flags;
} asked[8];

static ssize_t answer(off_t offset, size_t bytes, int flags) {
  const int64_t now = answers[answered];
  asked[answered].offset = offset;
  asked[answered].bytes = bytes;
  asked[answered].flags = flags;
  answered++;
  if (now == WHOLE) return (ssize_t)bytes;
  if (now >= 0) return (ssize_t)now;
  errno = (int)-now;
  return -1;
}

static ssize_t fake_preadv(int fd, const struct iovec *vector, int count, off_t offset) {
  (void)fd;
  (void)count;
  return answer(offset, vector->iov_len, 0);
}
static ssize_t fake_pwritev2(int fd, const struct iovec *vector, int count, off_t offset, int flags) {
  (void)fd;
  (void)count;
  return answer(offset, vector->iov_len, flags);
}
static int fake_fdatasync(int fd) {
  (void)fd;
  return answer(0, 0, 0) < 0 ? -1 : 0;
}
static int fake_fallocate(int fd, int mode, off_t offset, off_t bytes) {
  (void)fd;
  return answer(offset, (size_t)bytes, mode) < 0 ? -1 : 0;
}

static uint64_t device_bytes; /* BLKGETSIZE64 */
static int fake_ioctl(int fd, unsigned long what, uint64_t *to) {
  (void)fd;
  if (what != BLKGETSIZE64) return -1;
  *to = device_bytes;
  return 0;
}

static struct requests *requests;
static struct spate_block *block;
static uint8_t memory[64 * BLOCK];
static unsigned ended;

static void done(struct spate_io *io) {
  (void)io;
  ended++;
}

static int open_device(void **state) {
  const struct requests_config config = {.name = "test",
                                         .fd = -1,
                                         .bytes = 1000 * BLOCK,
                                         .block_bytes = BLOCK,
                                         .depth = DEPTH,
                                         .request_bytes = 32 * BLOCK};
  int wait_fd;
  (void)state;
  requests = requests_open(&config, &wait_fd);
  assert_int_equal(wait_fd, -1);
  block = requests_block(requests);
  memset(answers, 0, sizeof answers);
  answered = ended = 0;
  return 0;
}

static int close_device(void **state) {
  (void)state;
  requests_close(requests);
  return 0;
}

static struct spate_io request(enum spate_op op, uint64_t lba, uint32_t blocks, uint8_t flags) {
  return (struct spate_io){
      .op = (uint8_t)op, .lba = lba, .blocks = blocks, .flags = flags, .buffer = memory, .done = done};
}

/* Submits one request and polls it to its end. */
static enum spate_error carry(struct spate_io *io) {
  assert_int_equal(spate_block_submit(block, io), SPATE_OK);
  assert_int_equal(ended, 0); /* only poll() completes requests */
  assert_int_equal(spate_block_poll(block, 8), 1);
  assert_int_equal(ended, 1);
  return io->error;
}

static void test_a_short_transfer_is_continued(void **state) {
  (void)state;
  struct spate_io io = request(SPATE_WRITE, 10, 8, SPATE_IO_FUA);
  answers[0] = 3 * BLOCK;
  answers[1] = -EINTR;
  answers[2] = -EAGAIN;
  answers[3] = WHOLE;
  assert_int_equal(carry(&io), SPATE_OK);
  assert_int_equal(answered, 4);
  assert_int_equal(asked[0].offset, 10 * BLOCK);
  assert_int_equal(asked[0].bytes, 8 * BLOCK);
  assert_int_equal(asked[3].offset, 13 * BLOCK);
  assert_int_equal(asked[3].bytes, 5 * BLOCK);
  assert_int_equal(asked[3].flags, RWF_DSYNC);
}

static void test_a_file_that_ends_early_is_an_error(void **state) {
  (void)state;
  struct spate_io io = request(SPATE_READ, 0, 2, 0);
  answers[0] = BLOCK;
  answers[1] = 0;
  assert_int_equal(carry(&io), SPATE_E_MEDIA);
}

static void test_errors(void **state) {
  (void)state;
  static const struct {
    int error;
    enum spate_error expected;
  } cases[] = {{EIO, SPATE_E_MEDIA},   {ENODATA, SPATE_E_MEDIA},  {ENOLINK, SPATE_E_GONE},
               {ENODEV, SPATE_E_GONE}, {ENOSPC, SPATE_E_COMMAND}, {ETIMEDOUT, SPATE_E_TIMEOUT}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct spate_io io = request(SPATE_WRITE, 0, 1, 0);
    answered = ended = 0;
    answers[0] = -cases[i].error;
    assert_int_equal(carry(&io), cases[i].expected);
    assert_int_equal(io.detail, cases[i].error);
  }
  assert_int_equal(block->power_losses, 0); /* a failed write does not count as a power loss */
}

/* A disk that the kernel has removed has no size any more, and refuses each write with ENOSPC. */
static void test_a_removed_disk_is_not_full(void **state) {
  (void)state;
  static const int errors[] = {ENOSPC, EIO};
  for (unsigned i = 0; i < 8; i++) {
    struct spate_io io = request(SPATE_WRITE, 0, 1, 0);
    const bool device = (i & 1u) != 0, sized = (i & 2u) != 0;
    const int error = errors[i >> 2];
    answered = ended = 0;
    answers[0] = -error;
    requests->config.device = device;
    device_bytes = sized ? 4096 : 0;
    assert_int_equal(carry(&io), device && !sized ? SPATE_E_GONE : error == EIO ? SPATE_E_MEDIA : SPATE_E_COMMAND);
  }
  requests->config.device = false;
}

/* The library knows only that a request was refused. The program says which system call was, and why. */
static void test_the_reason_of_a_refused_request(void **state) {
  (void)state;
  static const struct {
    int error;
    enum spate_error expected;
    const char *help;
  } cases[] = {{ENOSPC, SPATE_E_NO_SPACE, "holds the target is full"},
               {EFBIG, SPATE_E_COMMAND, "its message is above"},
               {EDQUOT, SPATE_E_NO_SPACE, "holds the target is full"}};
  failure_note(0); /* of the tests before */
  assert_int_equal(failure_of(SPATE_E_COMMAND), SPATE_E_COMMAND);
  assert_string_equal(failure_help(SPATE_E_COMMAND), spate_error_help(SPATE_E_COMMAND));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct spate_io io = request(SPATE_WRITE, 0, 1, 0);
    answered = ended = 0;
    answers[0] = -cases[i].error;
    assert_int_equal(carry(&io), SPATE_E_COMMAND);
    assert_int_equal(failure_of(SPATE_E_COMMAND), cases[i].expected);
    assert_non_null(strstr(failure_help(cases[i].expected), cases[i].help));
    assert_non_null(strstr(failure_help(SPATE_E_COMMAND), cases[i].help));
    assert_int_equal(failure_of(SPATE_E_MEDIA), SPATE_E_MEDIA);
    assert_string_equal(failure_help(SPATE_E_MEDIA), spate_error_help(SPATE_E_MEDIA));
  }
}

static void test_a_failed_flush_may_have_lost_what_had_completed(void **state) {
  (void)state;
  struct spate_io flush = request(SPATE_FLUSH, 0, 0, 0), fua = request(SPATE_WRITE, 0, 1, SPATE_IO_FUA);
  answers[0] = answers[1] = -EIO;
  assert_int_equal(carry(&flush), SPATE_E_MEDIA);
  assert_int_equal(block->power_losses, 1);
  ended = 0;
  assert_int_equal(carry(&fua), SPATE_E_MEDIA);
  assert_int_equal(block->power_losses, 2);
}

static void test_unsupported_operations(void **state) {
  (void)state;
  struct spate_io trim = request(SPATE_TRIM, 0, 1, 0), zero = request(SPATE_ZERO, 0, 1, 0);
  answers[0] = answers[1] = -EOPNOTSUPP;
  assert_int_equal(carry(&trim), SPATE_E_UNSUPPORTED);
  ended = 0;
  assert_int_equal(carry(&zero), SPATE_E_UNSUPPORTED);
  assert_false(block->can_trim || block->can_zero);
  assert_int_equal(spate_block_submit(block, &trim), SPATE_E_UNSUPPORTED);
  assert_int_equal(spate_block_submit(block, &zero), SPATE_E_UNSUPPORTED);
  assert_int_equal(answered, 2);
}

static void test_full_is_an_answer(void **state) {
  (void)state;
  struct spate_io ios[DEPTH + 1];
  for (unsigned i = 0; i <= DEPTH; i++) {
    ios[i] = request(SPATE_WRITE, i, 1, 0);
    answers[i] = WHOLE;
    assert_int_equal(spate_block_submit(block, &ios[i]), i < DEPTH ? SPATE_OK : SPATE_E_FULL);
  }
  assert_int_equal(spate_block_poll(block, 1), 1);
  assert_int_equal(ended, 1);
  assert_int_equal(spate_block_submit(block, &ios[DEPTH]), SPATE_OK);
  assert_int_equal(spate_block_poll(block, 8), DEPTH);
  assert_int_equal(ended, DEPTH + 1);
}

static void test_requests_out_of_range_are_refused(void **state) {
  (void)state;
  struct spate_io ios[] = {request(SPATE_READ, 1000, 1, 0), request(SPATE_READ, 999, 2, 0),
                           request(SPATE_READ, 0, 0, 0), request(SPATE_WRITE, 0, 33, 0),
                           request(SPATE_TRIM, UINT64_MAX, 2, 0)};
  for (size_t i = 0; i < sizeof ios / sizeof ios[0]; i++)
    assert_int_equal(spate_block_submit(block, &ios[i]), SPATE_E_INVALID);
  assert_int_equal(spate_block_poll(block, 8), 0);
}

static struct spate_io next;
static void submit_next(struct spate_io *io) {
  done(io);
  if (io != &next) assert_int_equal(spate_block_submit(block, &next), SPATE_OK);
}

static void test_done_may_submit(void **state) {
  (void)state;
  struct spate_io io = request(SPATE_WRITE, 0, 1, 0);
  next = request(SPATE_WRITE, 1, 1, 0);
  io.done = next.done = submit_next;
  answers[0] = answers[1] = WHOLE;
  assert_int_equal(spate_block_submit(block, &io), SPATE_OK);
  while (ended < 2)
    (void)spate_block_poll(block, 1);
  assert_int_equal(asked[1].offset, BLOCK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_device, close_device)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_a_short_transfer_is_continued),
      TEST(test_a_file_that_ends_early_is_an_error),
      TEST(test_errors),
      TEST(test_a_removed_disk_is_not_full),
      TEST(test_the_reason_of_a_refused_request),
      TEST(test_a_failed_flush_may_have_lost_what_had_completed),
      TEST(test_unsupported_operations),
      TEST(test_full_is_an_answer),
      TEST(test_requests_out_of_range_are_refused),
      TEST(test_done_may_submit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
