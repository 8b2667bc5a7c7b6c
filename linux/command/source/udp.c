/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the payloads of datagrams, one after the other. The sender cannot be stopped: while the ring is full,
 * datagrams wait in the socket's buffer, and the kernel counts those that it drops because the buffer is full.
 *
 * Most streams have datagrams of one size. So each datagram is received directly at its place in the slot, as if it had
 * the size of the one before. If a datagram is longer, its rest goes to a separate buffer, and the data are moved.
 */
#include "filling.h"

#include "../text/fail.h"
#include "udp_socket.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH         64u
#define PAYLOAD_BYTES 65536u /* more than any datagram has */
#define USUAL_BYTES   1472u  /* the payload of an Ethernet frame, assumed for the first datagram */
#define LOOK_MS       100

struct receiving {
  struct filling filling;
  int fd;
  uint32_t usual_bytes;
  struct mmsghdr messages[BATCH];
  struct iovec vectors[BATCH][2]; /* the place in the slot, and the rest in `spill` */
  uint8_t *spill;                 /* BATCH × PAYLOAD_BYTES */
  _Alignas(struct cmsghdr) char control[BATCH][CMSG_SPACE(sizeof(struct timespec))]; /* the times of arrival */
  uint32_t drops; /* the kernel's count, modulo 2^32, when it was last read */
};

/* Opens and closes the socket, so that a wrong or used address is reported before the target is opened. Datagrams that
 * arrive while the target is being opened are not part of the recording. */
static void open_udp(struct source *source) {
  int fd;
  const int error = udp_socket_open(source->name, &fd);

  if (error != 0) fail(EXIT_FAILED, "%s: %s", source->name, strerror(error));
  udp_socket_check_buffer(fd, source->name);
  (void)close(fd);
}

/* The kernel stamps each datagram when it arrives. */
static int start(struct source *source) {
  const int one = 1;
  const int error = udp_socket_open(source->name, &source->fd);

  if (error != 0) return error;
  return setsockopt(source->fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one) == 0 ? 0 : errno;
}

/* Uses SO_MEMINFO, because SO_RXQ_OVFL does not count datagrams that were dropped after the last received one. */
static void count_drops(struct receiving *receiving) {
  uint32_t info[SK_MEMINFO_VARS] = {0};
  socklen_t size = sizeof info;

  if (getsockopt(receiving->fd, SOL_SOCKET, SO_MEMINFO, info, &size) != 0) return;
  atomic_fetch_add(&receiving->filling.source->lost_datagrams, info[SK_MEMINFO_DROPS] - receiving->drops);
  receiving->drops = info[SK_MEMINFO_DROPS];
}

/* ---- into slots ---- */

static uint8_t *spill_of(const struct receiving *receiving, unsigned i) {
  return receiving->spill + (size_t)i * PAYLOAD_BYTES;
}

/* Prepares the places of the next datagrams, as if they had the length of the last one. */
static unsigned plan(struct receiving *receiving) {
  const struct filling *filling = &receiving->filling;
  const uint32_t room = filling->source->config.slot_bytes - filling->bytes;
  const uint32_t each = receiving->usual_bytes < room ? receiving->usual_bytes : room;
  const uint32_t fit = room / each;
  const unsigned count = fit < BATCH ? fit : BATCH;

  for (unsigned i = 0; i < count; i++) {
    struct iovec *vectors = receiving->vectors[i];
    vectors[0] = (struct iovec){.iov_base = filling->slot + filling->bytes + (size_t)i * each, .iov_len = each};
    vectors[1] = (struct iovec){.iov_base = spill_of(receiving, i) + each, .iov_len = PAYLOAD_BYTES - each};
    receiving->messages[i].msg_hdr = (struct msghdr){.msg_iov = vectors,
                                                     .msg_iovlen = 2,
                                                     .msg_control = receiving->control[i],
                                                     .msg_controllen = sizeof receiving->control[i]};
  }
  return count;
}

static bool append(struct filling *filling, const uint8_t *data, uint32_t bytes) {
  if (bytes > filling->left) bytes = (uint32_t)filling->left;
  while (bytes > 0) {
    const uint32_t room = filling->source->config.slot_bytes - filling->bytes, now = bytes < room ? bytes : room;
    uint8_t *to = filling->slot + filling->bytes;
    if (to != data) memmove(to, data, now);
    if (!filling_add(filling, now)) return false;
    data += now;
    bytes -= now;
  }
  return true;
}

/* Moves all datagrams from `first` on to their spill buffers: a longer datagram will overwrite their places. */
static void move_out(struct receiving *receiving, unsigned first, unsigned count) {
  for (unsigned i = first; i < count; i++) {
    const struct iovec *there = &receiving->vectors[i][0];
    const uint32_t bytes = receiving->messages[i].msg_len;
    memcpy(spill_of(receiving, i), there->iov_base, bytes < there->iov_len ? bytes : there->iov_len);
  }
}

static bool take(struct receiving *receiving, unsigned count) {
  bool moved = false;

  for (unsigned i = 0; i < count; i++) {
    const struct iovec *there = &receiving->vectors[i][0];
    const uint32_t bytes = receiving->messages[i].msg_len;
    if (bytes > 0) receiving->usual_bytes = bytes;
    if (!moved && bytes > there->iov_len) {
      move_out(receiving, i, count);
      moved = true;
    }
    if (!append(&receiving->filling, moved ? spill_of(receiving, i) : there->iov_base, bytes)) return false;
  }
  return true;
}

/* When the kernel got it, in ns since 1970; 0: not told. */
static uint64_t arrived_ns(const struct mmsghdr *message) {
  const struct cmsghdr *header = CMSG_FIRSTHDR(&message->msg_hdr);
  struct timespec time;

  if (header == NULL || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_TIMESTAMPNS) return 0;
  memcpy(&time, CMSG_DATA(header), sizeof time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void note_times(struct receiving *receiving, unsigned count) {
  struct source *source = receiving->filling.source;

  if (source->first_ns == 0) source->first_ns = arrived_ns(&receiving->messages[0]);
  source->last_ns = arrived_ns(&receiving->messages[count - 1u]);
}

static int receive(struct receiving *receiving) {
  const struct source *source = receiving->filling.source;
  struct pollfd input = {.fd = receiving->fd, .events = POLLIN};

  while (receiving->filling.left > 0 && !atomic_load(&source->stop)) {
    if (!filling_hand_over(&receiving->filling)) return 0;
    count_drops(receiving);
    if (poll(&input, 1, LOOK_MS) == 0) continue;
    const int got = recvmmsg(receiving->fd, receiving->messages, plan(receiving), MSG_DONTWAIT, NULL);
    if (got < 0 && errno != EAGAIN && errno != EINTR) return errno;
    if (got <= 0) continue;
    note_times(receiving, (unsigned)got);
    if (!take(receiving, (unsigned)got)) return 0;
  }
  return 0;
}

static void *run(void *opaque) {
  struct source *source = opaque;
  struct receiving *receiving = calloc(1, sizeof *receiving);
  uint8_t *spill = malloc((size_t)BATCH * PAYLOAD_BYTES);

  source->error = ENOMEM;
  if (receiving != NULL && spill != NULL) {
    receiving->fd = source->fd;
    receiving->spill = spill;
    receiving->usual_bytes = USUAL_BYTES;
    source->error = filling_begin(&receiving->filling, source) ? receive(receiving) : 0;
    count_drops(receiving);
    filling_end(&receiving->filling);
  }
  free(spill);
  free(receiving);
  atomic_store(&source->ended, true);
  return NULL;
}

const struct source_kind source_udp = {.is = udp_socket_is, .open = open_udp, .start = start, .run = run, .cuts = true};
