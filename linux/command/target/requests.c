/* SPDX-License-Identifier: Apache-2.0 */
#include "requests.h"

#include "../text/fail.h"
#include "../text/failure.h"
#include "buffers.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

/* The errors of io_uring_setup() that mean that io_uring does not exist or is not allowed, as in many containers.
 * Others are told. */
static bool is_forbidden(int error) { return error == ENOSYS || error == EPERM || error == EACCES; }

/* A request in flight. If the kernel transfers only a part of it, the rest is sent again. */
struct slot {
  struct spate_io *io;
  struct iovec vector;
  uint64_t offset_bytes;
  struct slot *next; /* in the list of free slots, or of slots for poll_plain() */
};

struct requests {
  struct spate_block block; /* first, because the library has a pointer to it */
  struct requests_config config;
  struct io_uring ring;
  struct buffers buffers;
  bool uring;
  int printed; /* errno of the last failure that was printed */
  struct slot *slots, *free;
  struct slot *first, **last; /* requests that poll_plain() carries out without io_uring */
};

static struct requests *of(struct spate_block *block) { return (struct requests *)(void *)block; }

static bool moves_data(uint8_t op) { return op == SPATE_READ || op == SPATE_WRITE; }

/* ---- the end of a request ---- */

/* Converts errno to the library's error code; errno itself becomes the detail. */
static enum spate_error error_of(int error) {
  switch (error) {
  case 0: return SPATE_OK;
  case EIO:
  case ENODATA: /* the block layer's "critical medium error" */
  case EREMOTEIO:
  case EILSEQ: return SPATE_E_MEDIA;
  case ENODEV:
  case ENXIO:
  case ENOLINK: /* the block layer's transport error: no path to the drive */
  case ESHUTDOWN: return SPATE_E_GONE;
  case EOPNOTSUPP: return SPATE_E_UNSUPPORTED;
  case ETIMEDOUT: return SPATE_E_TIMEOUT;
  default: return SPATE_E_COMMAND;
  }
}

/* The kernel refuses writes to a disk that it has removed, and that has no size any more, with ENOSPC. */
static bool is_removed(const struct requests_config *config) {
  uint64_t bytes;

  return config->device && ioctl(config->fd, BLKGETSIZE64, &bytes) == 0 && bytes == 0;
}

/* Prints the system's error. Replaces three texts of the C library: "No data available" and "No such device" would
 * mislead, and "No space left on device" is not specific enough. */
static void print_failure(const struct requests_config *config, int error) {
  if ((error == ENOSPC || error == EDQUOT) && !config->device)
    (void)fprintf(
        stderr,
        "spate: %s: the file system of %s is full. An image takes up more space there as it fills: free some space, "
        "or move the image\n",
        config->name, config->name);
  else
    (void)fprintf(stderr, "spate: %s: %s\n", config->name,
                  error == ENODATA                    ? "the drive could not read or write its media"
                  : error == ENODEV && config->device ? "the kernel has removed the drive"
                                                      : strerror(error));
}

static void finish(struct requests *requests, struct slot *slot, int error) {
  struct spate_io *io = slot->io;

  if ((error == ENOSPC || error == EIO) && is_removed(&requests->config)) error = ENODEV;
  if (error == EOPNOTSUPP && io->op == SPATE_TRIM) requests->block.can_trim = false;
  if (error == EOPNOTSUPP && io->op == SPATE_ZERO) requests->block.can_zero = false;
  /* The kernel reports a lost write only once. After a failed flush, everything written since the last flush may be
   * lost, so it counts as a power loss. */
  if (error != 0 && (io->op == SPATE_FLUSH || (io->flags & SPATE_IO_FUA) != 0)) requests->block.power_losses++;
  /* The library has fewer error codes than the system, so the system's error is printed here, unless it is the same as
   * the last one. */
  if (error != 0 && error != EOPNOTSUPP && error != requests->printed) {
    print_failure(&requests->config, error);
    requests->printed = error;
  }
  io->error = error_of(error);
  if (io->error == SPATE_E_COMMAND) failure_note(error);
  io->detail = (uint16_t)error;
  slot->next = requests->free;
  requests->free = slot;
  io->done(io);
}

/* `result` is the result of readv or writev, or −errno. False: the rest must be sent again. */
static bool advance(struct requests *requests, struct slot *slot, int64_t result) {
  if (result == -EINTR || result == -EAGAIN) return false;
  if (result >= 0 && moves_data(slot->io->op)) {
    if (result == 0 && slot->vector.iov_len > 0) {
      finish(requests, slot, EIO); /* end of file before the size: another program has truncated the file */
      return true;
    }
    slot->vector.iov_base = (uint8_t *)slot->vector.iov_base + result;
    slot->vector.iov_len -= (size_t)result;
    slot->offset_bytes += (uint64_t)result;
    if (slot->vector.iov_len > 0) return false;
  }
  finish(requests, slot, result < 0 ? (int)-result : 0);
  return true;
}

static uint64_t io_bytes(const struct requests *requests, const struct spate_io *io) {
  return (uint64_t)io->blocks << requests->block.block_shift;
}

/* io_uring of Linux 6.1 cannot trim a device, so BLKDISCARD is used. A trim is rare and not on the data path. */
static bool is_device_trim(const struct requests *requests, const struct spate_io *io) {
  return io->op == SPATE_TRIM && requests->config.device;
}

static int fallocate_mode(uint8_t op) {
  return op == SPATE_ZERO ? FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE : FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
}

/* ---- pread and pwrite ---- */

static int64_t carry_out(struct requests *requests, struct slot *slot) {
  const struct spate_io *io = slot->io;
  const int fd = requests->config.fd;
  uint64_t range[2] = {slot->offset_bytes, io_bytes(requests, io)};
  ssize_t result;

  if (is_device_trim(requests, io)) return ioctl(fd, BLKDISCARD, range) == 0 ? 0 : -errno;
  switch (io->op) {
  case SPATE_READ: result = preadv(fd, &slot->vector, 1, (off_t)slot->offset_bytes); break;
  case SPATE_WRITE:
    result = pwritev2(fd, &slot->vector, 1, (off_t)slot->offset_bytes, (io->flags & SPATE_IO_FUA) != 0 ? RWF_DSYNC : 0);
    break;
  case SPATE_FLUSH: result = fdatasync(fd); break;
  default: result = fallocate(fd, fallocate_mode(io->op), (off_t)range[0], (off_t)range[1]);
  }
  return result < 0 ? -errno : result;
}

static void kick_plain(struct spate_block *block) { (void)block; }

static unsigned poll_plain(struct spate_block *block, unsigned max) {
  struct requests *requests = of(block);
  unsigned reaped = 0;

  for (; reaped < max && requests->first != NULL; reaped++) {
    struct slot *slot = requests->first;
    requests->first = slot->next;
    if (requests->first == NULL) requests->last = &requests->first;
    while (!advance(requests, slot, carry_out(requests, slot))) {
    }
  }
  return reaped;
}

/* ---- io_uring ---- */

static void queue_transfer(struct requests *requests, struct slot *slot, struct io_uring_sqe *sqe) {
  const struct iovec *vector = &slot->vector;
  const int fd = requests->config.fd, flags = (slot->io->flags & SPATE_IO_FUA) != 0 ? RWF_DSYNC : 0;
  const int buffer = buffers_find(&requests->buffers, vector->iov_base, vector->iov_len);
  const unsigned bytes = (unsigned)vector->iov_len; /* at most request_bytes */

  if (slot->io->op == SPATE_READ && buffer >= 0) {
    io_uring_prep_read_fixed(sqe, fd, vector->iov_base, bytes, slot->offset_bytes, buffer);
  } else if (slot->io->op == SPATE_READ) {
    io_uring_prep_readv(sqe, fd, vector, 1, slot->offset_bytes);
  } else if (buffer >= 0) {
    io_uring_prep_write_fixed(sqe, fd, vector->iov_base, bytes, slot->offset_bytes, buffer);
    sqe->rw_flags = flags;
  } else {
    io_uring_prep_writev2(sqe, fd, vector, 1, slot->offset_bytes, flags);
  }
}

/* As io_uring_prep_fallocate, whose offset and length are signed in one version of liburing, unsigned in another. */
static void prepare_fallocate(struct io_uring_sqe *sqe, int fd, int mode, uint64_t offset_bytes, uint64_t bytes) {
  io_uring_prep_rw(IORING_OP_FALLOCATE, sqe, fd, NULL, (unsigned)mode, offset_bytes);
  sqe->addr = bytes;
}

static void queue(struct requests *requests, struct slot *slot) {
  struct io_uring_sqe *sqe = io_uring_get_sqe(&requests->ring); /* there is one for each slot */
  const struct spate_io *io = slot->io;
  const int fd = requests->config.fd;

  switch (io->op) {
  case SPATE_READ:
  case SPATE_WRITE: queue_transfer(requests, slot, sqe); break;
  case SPATE_FLUSH: io_uring_prep_fsync(sqe, fd, IORING_FSYNC_DATASYNC); break;
  default: prepare_fallocate(sqe, fd, fallocate_mode(io->op), slot->offset_bytes, io_bytes(requests, io));
  }
  io_uring_sqe_set_data(sqe, slot);
}

static void kick_uring(struct spate_block *block) {
  struct requests *requests = of(block);

  if (io_uring_sq_ready(&requests->ring) == 0) return;
  const int sent = io_uring_submit(&requests->ring);
  /* Requests that the kernel cannot accept now stay in the ring until the next submission. */
  if (sent < 0 && sent != -EAGAIN && sent != -EBUSY && sent != -EINTR)
    fail(EXIT_FAILED, "io_uring accepts no requests: %s", strerror(-sent));
}

static unsigned poll_uring(struct spate_block *block, unsigned max) {
  struct requests *requests = of(block);
  struct io_uring_cqe *cqe;
  unsigned reaped = poll_plain(block, max);

  kick_uring(block);
  while (reaped < max && io_uring_peek_cqe(&requests->ring, &cqe) == 0) {
    struct slot *slot = io_uring_cqe_get_data(cqe);
    const int result = cqe->res;
    io_uring_cqe_seen(&requests->ring, cqe);
    if (!advance(requests, slot, result)) queue(requests, slot);
    reaped++;
  }
  kick_uring(block);
  return reaped;
}

/* ---- a request ---- */

static bool is_valid(const struct spate_block *block, const struct spate_io *io) {
  if (io->op == SPATE_FLUSH) return true;
  return io->blocks > 0 && io->lba <= block->blocks && io->blocks <= block->blocks - io->lba &&
         (!moves_data(io->op) || io->blocks <= block->request_blocks_max);
}

static enum spate_error submit(struct spate_block *block, struct spate_io *io) {
  struct requests *requests = of(block);
  struct slot *slot = requests->free;

  if (!is_valid(block, io)) return SPATE_E_INVALID;
  if ((io->op == SPATE_TRIM && !block->can_trim) || (io->op == SPATE_ZERO && !block->can_zero))
    return SPATE_E_UNSUPPORTED;
  if (slot == NULL) return SPATE_E_FULL;
  requests->free = slot->next;
  *slot = (struct slot){.io = io, .offset_bytes = io->lba << block->block_shift};
  if (moves_data(io->op)) {
    slot->vector.iov_base = io->region == NULL ? io->buffer : io->region->start + io->offset_bytes;
    slot->vector.iov_len = (size_t)io_bytes(requests, io); /* request_blocks_max is checked */
  }
  if (requests->uring && !is_device_trim(requests, io)) {
    queue(requests, slot);
  } else {
    *requests->last = slot;
    requests->last = &slot->next;
  }
  return SPATE_OK;
}

static const struct spate_block_ops uring_ops = {submit, kick_uring, poll_uring};
static const struct spate_block_ops plain_ops = {submit, kick_plain, poll_plain};

/* ---- open and close ---- */

bool requests_forbidden(void) {
  struct io_uring ring;
  const int error = io_uring_queue_init(1, &ring, 0);

  if (error == 0) io_uring_queue_exit(&ring);
  return is_forbidden(-error);
}

struct requests *requests_open(const struct requests_config *config, int *wait_fd) {
  struct requests *requests = calloc(1, sizeof *requests);
  struct slot *slots = calloc(config->depth, sizeof *slots);

  if (requests == NULL || slots == NULL) fail(EXIT_FAILED, "no memory for %u requests", (unsigned)config->depth);
  requests->config = *config;
  requests->slots = slots;
  requests->last = &requests->first;
  for (unsigned i = 0; i < config->depth; i++) {
    slots[i].next = requests->free;
    requests->free = &slots[i];
  }
  const int error = io_uring_queue_init(config->depth, &requests->ring, 0);
  if (error != 0 && !is_forbidden(-error))
    (void)fprintf(stderr, "spate: io_uring does not start: %s. Without it recordings need more processor time\n",
                  strerror(-error));
  requests->uring = error == 0;
  if (requests->uring) buffers_open(&requests->buffers, &requests->ring, config->memory);
  const unsigned shift = config->block_bytes == 4096u ? 12u : 9u;
  requests->block = (struct spate_block){.ops = requests->uring ? &uring_ops : &plain_ops,
                                         .blocks = config->bytes >> shift,
                                         .block_shift = (uint8_t)shift,
                                         .volatile_cache = true, /* the page cache or the drive's cache */
                                         .can_trim = true,
                                         .can_zero = true,
                                         .depth = config->depth,
                                         .command_bytes_max = config->request_bytes,
                                         .request_blocks_max = config->request_bytes >> shift};
  *wait_fd = requests->uring ? requests->ring.ring_fd : -1;
  return requests;
}

struct spate_block *requests_block(struct requests *requests) {
  return &requests->block;
}

void requests_wait(void *opaque) {
  struct requests *requests = opaque;
  struct __kernel_timespec limit = {.tv_nsec = 1000000};
  struct io_uring_cqe *cqe;

  if (!requests->uring) return;                                   /* poll_plain() carries out the requests itself */
  (void)io_uring_wait_cqe_timeout(&requests->ring, &cqe, &limit); /* the caller polls next in any case */
}

void requests_close(struct requests *requests) {
  if (requests->uring) {
    buffers_close(&requests->buffers);
    io_uring_queue_exit(&requests->ring);
  }
  free(requests->slots);
  free(requests);
}
