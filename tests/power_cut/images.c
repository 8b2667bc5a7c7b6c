/* SPDX-License-Identifier: Apache-2.0 */
#include "images.h"

#include <stdlib.h>
#include <string.h>

#define FACTOR_A UINT64_C(0x9e3779b97f4a7c15)
#define FACTOR_B UINT64_C(0xff51afd7ed558ccd)

static uint64_t stir(uint64_t value) {
  value = (value ^ value >> 32) * FACTOR_B;
  return value ^ value >> 29;
}

uint64_t image_block_hash(uint64_t number, const uint8_t *block, uint32_t bytes) {
  uint64_t hash = stir((number + 1) * FACTOR_A);
  uint64_t all = 0;
  for (uint32_t at = 0; at < bytes; at += 8) {
    uint64_t word;
    memcpy(&word, block + at, sizeof word);
    all |= word;
    hash = (hash ^ word) * FACTOR_A;
    hash ^= hash >> 32;
  }
  return all == 0 ? 0 : stir(hash);
}

/* The slot of a number, or the free slot where it belongs. */
static size_t slot_of(const struct number_set *set, uint64_t number) {
  size_t at = (size_t)stir(number) & (set->capacity - 1);
  while (set->slots[at] != 0 && set->slots[at] != number)
    at = (at + 1) & (set->capacity - 1);
  return at;
}

static void grow(struct number_set *set) {
  const struct number_set old = *set;
  set->capacity = old.capacity > 0 ? old.capacity * 2 : 1024;
  set->slots = calloc(set->capacity, sizeof *set->slots);
  if (set->slots == NULL) abort();
  for (size_t i = 0; i < old.capacity; i++)
    if (old.slots[i] != 0) set->slots[slot_of(set, old.slots[i])] = old.slots[i];
  free(old.slots);
}

bool number_set_add(struct number_set *set, uint64_t number) {
  if (number == 0) number = FACTOR_A; /* 0 marks a free slot */
  if (set->count * 2 >= set->capacity) grow(set);
  const size_t at = slot_of(set, number);
  if (set->slots[at] == number) return false;
  set->slots[at] = number;
  set->count++;
  return true;
}

void number_set_free(struct number_set *set) {
  free(set->slots);
  *set = (struct number_set){0};
}

bool images_add(struct images *images, uint64_t image, uint64_t promised) {
  if (!number_set_add(&images->judged, stir(image) ^ promised * FACTOR_A)) return false;
  (void)number_set_add(&images->distinct, image);
  return true;
}
