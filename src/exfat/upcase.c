/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The volume's up-case table (specification, 7.2). It is read from the volume each time, because a full table would
 * take 128 KiB of memory. One pass over its compressed words maps all units of a name. ASCII names need no pass,
 * because the first 128 mappings are mandatory.
 */
#include "internal.h"

#define RUN        0xffffu /* the next word counts units that map to themselves */
#define ASCII_LAST 0x7fu

static enum spate_error word_at(struct spate_exfat *volume, uint64_t offset_bytes, uint16_t *word) {
  struct spate_exfat_block *block;
  uint8_t *byte;
  enum spate_error error = spate_exfat_chain_get(volume, &volume->upcase, offset_bytes, false, &block, &byte);

  if (error == SPATE_OK) *word = spate_field_get16(byte);
  return error;
}

enum spate_error spate_exfat_upcase_check(struct spate_exfat *volume, uint32_t checksum, bool *whole) {
  uint32_t sum = 0;

  for (uint64_t at = 0; at < volume->upcase.bytes; at += 2) {
    uint16_t word;
    enum spate_error error = word_at(volume, at, &word);
    if (error != SPATE_OK) return error;
    sum = spate_exfat_checksum32(sum, (uint8_t)word);
    sum = spate_exfat_checksum32(sum, (uint8_t)(word >> 8));
  }
  *whole = sum == checksum;
  return SPATE_OK;
}

enum spate_error spate_exfat_upcase(struct spate_exfat *volume, const uint16_t *units, uint32_t count,
                                    uint16_t *upper) {
  uint32_t highest = 0;
  uint32_t unit = 0;

  for (uint32_t i = 0; i < count; i++) {
    bool lower = units[i] >= 'a' && units[i] <= 'z';
    upper[i] = (uint16_t)(lower ? units[i] - ('a' - 'A') : units[i]);
    if (units[i] > highest) highest = units[i];
  }
  if (highest <= ASCII_LAST) return SPATE_OK;
  for (uint64_t at = 0; at < volume->upcase.bytes && unit <= highest; at += 2) {
    uint16_t word;
    enum spate_error error = word_at(volume, at, &word);
    if (error != SPATE_OK) return error;
    if (word == RUN && at + 2 < volume->upcase.bytes) {
      at += 2;
      error = word_at(volume, at, &word);
      if (error != SPATE_OK) return error;
      unit += word;
      continue;
    }
    for (uint32_t i = 0; i < count; i++)
      if (units[i] == unit) upper[i] = word;
    unit++;
  }
  return SPATE_OK;
}
