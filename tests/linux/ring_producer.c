/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A producer of pieces with checkable contents: ring_producer NAME SLOT_BYTES SLOTS COUNT [OPTION...]
 *
 *   --piece BYTES   the length of each piece (default: a slot)
 *   --last BYTES    the length of the last piece
 *   --write         use spate_ring_write()
 *   --live          wait for room only for the last piece, and count the pieces that are lost
 *   --nap US        sleep after each piece
 *   --await         begin when a recorder has the ring
 *   --hold          wait for the end of standard input before the end
 *   --leave         close the ring without ending it
 *   --detach        detach from the ring, which stays open
 *
 * Piece i begins with i. The 64-bit words that follow are computed from i. Prints the counts as JSON.
 */
#include <spate/ring.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct options {
  const char *name;
  uint32_t slot_bytes, slots, piece_bytes, last_bytes;
  uint64_t count;
  long nap_us;
  bool write, live, await, hold, leave, detach;
};

static void paint(void *memory, uint64_t index, uint32_t bytes) {
  uint64_t *words = memory;

  words[0] = index;
  for (uint32_t i = 1; i < bytes / sizeof *words; i++)
    words[i] = (index << 24) + i;
  memset(words + bytes / sizeof *words, (int)(index & 0xffu), bytes % sizeof *words);
}

static bool flag(struct options *options, char ***word) {
  const char *name = **word;

  if (strcmp(name, "--write") == 0) return options->write = true;
  if (strcmp(name, "--live") == 0) return options->live = true;
  if (strcmp(name, "--await") == 0) return options->await = true;
  if (strcmp(name, "--hold") == 0) return options->hold = true;
  if (strcmp(name, "--leave") == 0) return options->leave = true;
  if (strcmp(name, "--detach") == 0) return options->detach = true;
  const long value = strtol(*++*word, NULL, 10);
  if (strcmp(name, "--piece") == 0) options->piece_bytes = (uint32_t)value;
  if (strcmp(name, "--last") == 0) options->last_bytes = (uint32_t)value;
  if (strcmp(name, "--nap") == 0) options->nap_us = value;
  return true;
}

static struct options parse(char **words) {
  struct options options = {.name = words[1],
                            .slot_bytes = (uint32_t)strtoul(words[2], NULL, 10),
                            .slots = (uint32_t)strtoul(words[3], NULL, 10),
                            .count = strtoull(words[4], NULL, 10)};

  options.piece_bytes = options.slot_bytes;
  for (char **word = words + 5; *word != NULL; word++)
    (void)flag(&options, &word);
  return options;
}

/* Returns 0 or an errno value. EAGAIN: the piece is lost, and counted. */
static int send_piece(struct spate_ring *ring, const struct options *options, void *buffer, uint64_t index,
                      uint32_t bytes) {
  const int timeout_ms = options->live && index + 1u < options->count ? 0 : -1;

  if (options->write) {
    paint(buffer, index, bytes);
    return spate_ring_write(ring, buffer, bytes, timeout_ms);
  }
  void *slot = spate_ring_claim(ring, timeout_ms);
  if (slot == NULL && errno == EAGAIN) {
    spate_ring_lost(ring, bytes);
    return EAGAIN;
  }
  if (slot == NULL) return errno;
  paint(slot, index, bytes);
  return spate_ring_publish(ring, bytes);
}

static void nap(long us) {
  const struct timespec time = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

  if (us > 0) (void)nanosleep(&time, NULL);
}

static int run(struct spate_ring *ring, const struct options *options) {
  void *buffer = malloc(options->piece_bytes);
  uint64_t published = 0, published_bytes = 0;
  struct spate_ring_counts counts;
  int error = 0;

  while (options->await && !spate_ring_has_recorder(ring))
    nap(1000);
  for (uint64_t i = 0; buffer != NULL && i < options->count && (error == 0 || error == EAGAIN); i++) {
    const uint32_t bytes =
        i + 1u == options->count && options->last_bytes > 0 ? options->last_bytes : options->piece_bytes;
    error = send_piece(ring, options, buffer, i, bytes);
    if (error == 0) published++, published_bytes += bytes;
    nap(options->nap_us);
  }
  free(buffer);
  while (options->hold && getchar() != EOF) {
  }
  spate_ring_count(ring, &counts);
  (void)printf("{\"published\": %" PRIu64 ", \"published_bytes\": %" PRIu64 ", \"lost_bytes\": %" PRIu64 "}\n",
               published, published_bytes, counts.lost_bytes);
  return error == EAGAIN ? 0 : error;
}

int main(int count, char **words) {
  struct spate_ring *ring;

  if (count < 5) return 2;
  const struct options options = parse(words);
  int error = spate_ring_create(&ring, options.name, options.slot_bytes, options.slots);
  if (error == 0) {
    error = run(ring, &options);
    if (options.detach) {
      spate_ring_detach(ring);
    } else {
      if (!options.leave) spate_ring_end(ring);
      spate_ring_close(ring);
    }
  }
  if (error != 0) (void)fprintf(stderr, "ring_producer: %s\n", spate_ring_sentence(error));
  return error != 0;
}
