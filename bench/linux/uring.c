/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The minimum cost of io_uring: a number of requests of one size in flight, one after the other in the file. Each is
 * sent again as soon as it completes, and one system call handles all completions. Reads no clock, and keeps no
 * results.
 *
 *   uring MODE read|write FILE REQUEST_BYTES DEPTH TOTAL_BYTES
 *
 *   plain       readv and writev, the obvious way
 *   single      the same, with the flag that one thread submits and waits (Linux 6.1 and later)
 *   fixed       "single" with buffers and file registered
 *   half        "single", but waits until half of the requests have completed
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX 256u
/* Physically contiguous if the kernel has huge pages: the best case. */
#define HUGE_BYTES ((size_t)2 << 20)
/* New in Linux 6.1; liburing 2.3 may be older than the kernel. */
#ifndef IORING_SETUP_SINGLE_ISSUER
#define IORING_SETUP_SINGLE_ISSUER (1U << 12)
#endif
#ifndef IORING_SETUP_DEFER_TASKRUN
#define IORING_SETUP_DEFER_TASKRUN (1U << 13)
#endif

struct job {
  struct io_uring ring;
  int fd;
  bool write, fixed;
  size_t bytes;
  unsigned depth, wait_for;
  uint64_t next, total; /* bytes */
  uint8_t *memory;
  struct iovec vectors[DEPTH_MAX];
};

__attribute__((noreturn)) static void die(const char *what, int error) {
  (void)fprintf(stderr, "uring: %s: %s\n", what, strerror(error));
  exit(1);
}

static void send_next(struct job *job, unsigned slot) {
  struct io_uring_sqe *sqe = io_uring_get_sqe(&job->ring);
  const int fd = job->fixed ? 0 : job->fd;
  const unsigned bytes = (unsigned)job->bytes;
  void *data = job->vectors[slot].iov_base;

  if (job->fixed && job->write)
    io_uring_prep_write_fixed(sqe, fd, data, bytes, job->next, (int)slot);
  else if (job->fixed)
    io_uring_prep_read_fixed(sqe, fd, data, bytes, job->next, (int)slot);
  else if (job->write)
    io_uring_prep_writev(sqe, fd, &job->vectors[slot], 1, job->next);
  else
    io_uring_prep_readv(sqe, fd, &job->vectors[slot], 1, job->next);
  if (job->fixed) io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
  io_uring_sqe_set_data64(sqe, slot);
  job->next += job->bytes;
}

static void set_up(struct job *job, const char *mode) {
  struct io_uring_params params = {.flags = 0};
  const bool plain = strcmp(mode, "plain") == 0;
  int error = 0;

  job->wait_for = strcmp(mode, "half") == 0 && job->depth > 1 ? job->depth / 2u : 1u;
  job->fixed = strcmp(mode, "fixed") == 0;
  if (!plain) params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
  error = io_uring_queue_init_params(job->depth, &job->ring, &params);
  if (error != 0) die("io_uring", -error);
  const size_t step = (job->bytes + 4095u) & ~(size_t)4095u;
  job->memory = aligned_alloc(HUGE_BYTES, (step * job->depth + HUGE_BYTES - 1u) & ~(HUGE_BYTES - 1u));
  if (job->memory == NULL) die("memory", ENOMEM);
  for (unsigned i = 0; i < job->depth; i++) {
    uint8_t *start = job->memory + step * i;
    job->vectors[i] = (struct iovec){.iov_base = memset(start, 0x5a, job->bytes), .iov_len = job->bytes};
  }
  if (job->fixed) error = io_uring_register_buffers(&job->ring, job->vectors, job->depth);
  if (error == 0 && job->fixed) error = io_uring_register_files(&job->ring, &job->fd, 1);
  if (error != 0) die("registering", -error);
}

static void run(struct job *job) {
  uint64_t done = 0;

  for (unsigned i = 0; i < job->depth && job->next < job->total; i++)
    send_next(job, i);
  while (done < job->total) {
    struct io_uring_cqe *cqe;
    unsigned head = 0, reaped = 0;
    const uint64_t left = (job->total - done) / job->bytes;
    const int error = io_uring_submit_and_wait(&job->ring, left < job->wait_for ? (unsigned)left : job->wait_for);
    if (error < 0 && error != -EINTR) die("io_uring_submit_and_wait", -error);
    io_uring_for_each_cqe(&job->ring, head, cqe) {
      if (cqe->res != (int)job->bytes) die("a request", cqe->res < 0 ? -cqe->res : EIO);
      done += job->bytes;
      reaped++;
      if (job->next < job->total) send_next(job, (unsigned)io_uring_cqe_get_data64(cqe));
    }
    io_uring_cq_advance(&job->ring, reaped);
  }
}

int main(int count, char **words) {
  static struct job job;

  if (count != 7) return 2;
  job.write = strcmp(words[2], "write") == 0;
  job.bytes = strtoull(words[4], NULL, 10);
  job.depth = (unsigned)strtoul(words[5], NULL, 10);
  job.total = strtoull(words[6], NULL, 10) / job.bytes * job.bytes;
  if (job.depth == 0 || job.depth > DEPTH_MAX) return 2;
  job.fd = open(words[3], (job.write ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC);
  if (job.fd < 0) die(words[3], errno);
  set_up(&job, words[1]);
  run(&job);
  io_uring_queue_exit(&job.ring);
  return 0;
}
