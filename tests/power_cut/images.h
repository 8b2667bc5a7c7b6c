/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which images were judged, and under which promises. An image is identified by a 64-bit hash: the sum over its blocks
 * of a hash of the block's number and contents. Blocks of zeros add nothing. So the hash can be updated with each
 * changed block, at the cost of that block only.
 */
#ifndef SPATE_TESTS_IMAGES_H
#define SPATE_TESTS_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The share of this block in its image's hash. `bytes` is a multiple of 8. */
uint64_t image_block_hash(uint64_t number, const uint8_t *block, uint32_t bytes);

/* A set of numbers. Zeroed: empty. */
struct number_set {
  uint64_t *slots; /* 0: free */
  size_t count, capacity;
};

/* False: it was in the set already. */
bool number_set_add(struct number_set *set, uint64_t number);
void number_set_free(struct number_set *set);

struct images {
  struct number_set judged;   /* for each volume: image and promises together */
  struct number_set distinct; /* images only */
};

/* False: this image was judged already under the same promises. `promised` is a hash of them. */
bool images_add(struct images *images, uint64_t image, uint64_t promised);

#endif
