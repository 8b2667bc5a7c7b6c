/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which images have been judged, and under which promises. An image is known by a hash of 64 bits: the sum over its
 * blocks of a hash of each block's number and content, where blocks of zeros count nothing. So it follows each change
 * of a block, and costs no more than that block.
 */
#ifndef SPATE_TESTS_IMAGES_H
#define SPATE_TESTS_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What this block adds to its image's hash. `bytes` is a multiple of 8. */
uint64_t image_block_hash(uint64_t number, const uint8_t *block, uint32_t bytes);

/* A set of numbers. Zeros: empty. */
struct number_set {
  uint64_t *slots; /* 0: free */
  size_t count, capacity;
};

/* False: it was there. */
bool number_set_add(struct number_set *set, uint64_t number);
void number_set_free(struct number_set *set);

struct images {
  struct number_set judged;   /* of a volume: image and promises */
  struct number_set distinct; /* images alone */
};

/* False: this image was judged already under the same promises, of which `promised` is a hash. */
bool images_add(struct images *images, uint64_t image, uint64_t promised);

#endif
