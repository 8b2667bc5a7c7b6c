/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recommended up-case table (specification, 7.2.5.1), which every formatter writes: 5836 bytes on the volume, kept
 * here as 119 ranges of units with the same distance to their upper case, 6 bytes each. The table's checksum tests the
 * ranges: E619D30Dh.
 */
#include "internal.h"

#define RUN        0xffffu
#define RUN_MIN    512u /* shorter runs are written out, as in the recommended table */
#define UNIT_COUNT 0x10000u

struct range {
  uint16_t first;
  uint16_t distance;   /* to the upper case, modulo 65536 */
  uint8_t count, step; /* step 1: each unit; 2: every second one */
};

static const struct range ranges[] = {
    {0x0061, 0xffe0, 26, 1}, {0x00e0, 0xffe0, 23, 1}, {0x00f8, 0xffe0, 7, 1},  {0x00ff, 0x0079, 1, 1},
    {0x0101, 0xffff, 24, 2}, {0x0133, 0xffff, 3, 2},  {0x013a, 0xffff, 8, 2},  {0x014b, 0xffff, 23, 2},
    {0x017a, 0xffff, 3, 2},  {0x0180, 0x00c3, 1, 1},  {0x0183, 0xffff, 2, 2},  {0x0188, 0xffff, 1, 1},
    {0x018c, 0xffff, 1, 1},  {0x0192, 0xffff, 1, 1},  {0x0195, 0x0061, 1, 1},  {0x0199, 0xffff, 1, 1},
    {0x019a, 0x00a3, 1, 1},  {0x019e, 0x0082, 1, 1},  {0x01a1, 0xffff, 3, 2},  {0x01a8, 0xffff, 1, 1},
    {0x01ad, 0xffff, 1, 1},  {0x01b0, 0xffff, 1, 1},  {0x01b4, 0xffff, 2, 2},  {0x01b9, 0xffff, 1, 1},
    {0x01bd, 0xffff, 1, 1},  {0x01bf, 0x0038, 1, 1},  {0x01c6, 0xfffe, 1, 1},  {0x01c9, 0xfffe, 1, 1},
    {0x01cc, 0xfffe, 1, 1},  {0x01ce, 0xffff, 8, 2},  {0x01dd, 0xffb1, 1, 1},  {0x01df, 0xffff, 9, 2},
    {0x01f3, 0xfffe, 1, 1},  {0x01f5, 0xffff, 1, 1},  {0x01f9, 0xffff, 20, 2}, {0x0223, 0xffff, 9, 2},
    {0x023a, 0x2a2b, 1, 1},  {0x023c, 0xffff, 1, 1},  {0x023e, 0x2a28, 1, 1},  {0x0242, 0xffff, 1, 1},
    {0x0247, 0xffff, 5, 2},  {0x0253, 0xff2e, 1, 1},  {0x0254, 0xff32, 1, 1},  {0x0256, 0xff33, 2, 1},
    {0x0259, 0xff36, 1, 1},  {0x025b, 0xff35, 1, 1},  {0x0260, 0xff33, 1, 1},  {0x0263, 0xff31, 1, 1},
    {0x0268, 0xff2f, 1, 1},  {0x0269, 0xff2d, 1, 1},  {0x026b, 0x29f7, 1, 1},  {0x026f, 0xff2d, 1, 1},
    {0x0272, 0xff2b, 1, 1},  {0x0275, 0xff2a, 1, 1},  {0x027d, 0x29e7, 1, 1},  {0x0280, 0xff26, 1, 1},
    {0x0283, 0xff26, 1, 1},  {0x0288, 0xff26, 1, 1},  {0x0289, 0xffbb, 1, 1},  {0x028a, 0xff27, 2, 1},
    {0x028c, 0xffb9, 1, 1},  {0x0292, 0xff25, 1, 1},  {0x037b, 0x0082, 3, 1},  {0x03ac, 0xffda, 1, 1},
    {0x03ad, 0xffdb, 3, 1},  {0x03b1, 0xffe0, 17, 1}, {0x03c2, 0xffe1, 1, 1},  {0x03c3, 0xffe0, 9, 1},
    {0x03cc, 0xffc0, 1, 1},  {0x03cd, 0xffc1, 2, 1},  {0x03d9, 0xffff, 12, 2}, {0x03f2, 0x0007, 1, 1},
    {0x03f8, 0xffff, 1, 1},  {0x03fb, 0xffff, 1, 1},  {0x0430, 0xffe0, 32, 1}, {0x0450, 0xffb0, 16, 1},
    {0x0461, 0xffff, 17, 2}, {0x048b, 0xffff, 27, 2}, {0x04c2, 0xffff, 7, 2},  {0x04cf, 0xfff1, 1, 1},
    {0x04d1, 0xffff, 34, 2}, {0x0561, 0xffd0, 38, 1}, {0x1d7d, 0x0ee6, 1, 1},  {0x1e01, 0xffff, 75, 2},
    {0x1ea1, 0xffff, 45, 2}, {0x1f00, 0x0008, 8, 1},  {0x1f10, 0x0008, 6, 1},  {0x1f20, 0x0008, 8, 1},
    {0x1f30, 0x0008, 8, 1},  {0x1f40, 0x0008, 6, 1},  {0x1f51, 0x0008, 4, 2},  {0x1f60, 0x0008, 8, 1},
    {0x1f70, 0x004a, 2, 1},  {0x1f72, 0x0056, 4, 1},  {0x1f76, 0x0064, 2, 1},  {0x1f78, 0x0080, 2, 1},
    {0x1f7a, 0x0070, 2, 1},  {0x1f7c, 0x007e, 2, 1},  {0x1f80, 0x0008, 8, 1},  {0x1f90, 0x0008, 8, 1},
    {0x1fa0, 0x0008, 8, 1},  {0x1fb0, 0x0008, 2, 1},  {0x1fb3, 0x0009, 1, 1},  {0x1fcc, 0xfff7, 1, 1},
    {0x1fd0, 0x0008, 2, 1},  {0x1fe0, 0x0008, 2, 1},  {0x1fe5, 0x0007, 1, 1},  {0x1ffc, 0xfff7, 1, 1},
    {0x214e, 0xffe4, 1, 1},  {0x2170, 0xfff0, 16, 1}, {0x2184, 0xffff, 1, 1},  {0x24d0, 0xffe6, 26, 1},
    {0x2c30, 0xffd0, 47, 1}, {0x2c61, 0xffff, 1, 1},  {0x2c68, 0xffff, 3, 2},  {0x2c76, 0xffff, 1, 1},
    {0x2c81, 0xffff, 50, 2}, {0x2d00, 0xe3a0, 38, 1}, {0xff41, 0xffe0, 26, 1}};

struct writer {
  const struct spate_exfat_config *config;
  uint64_t lba;
  uint32_t used_bytes; /* of the block */
  struct exfat_table table;
};

static enum spate_error put_block(struct writer *writer) {
  writer->used_bytes = 0;
  return spate_block_write(writer->config->block, writer->lba++, 1, writer->config->cache, 0);
}

static enum spate_error put_word(struct writer *writer, uint32_t word) {
  uint8_t *block = writer->config->cache;

  spate_field_put16(block + writer->used_bytes, (uint16_t)word);
  writer->used_bytes += 2;
  writer->table.bytes += 2;
  writer->table.checksum = spate_exfat_checksum32(writer->table.checksum, (uint8_t)word);
  writer->table.checksum = spate_exfat_checksum32(writer->table.checksum, (uint8_t)(word >> 8));
  return writer->used_bytes == spate_block_bytes(writer->config->block) ? put_block(writer) : SPATE_OK;
}

/* Units up to `end` that are their own upper case. */
static enum spate_error put_identity(struct writer *writer, uint32_t unit, uint32_t end) {
  enum spate_error error = SPATE_OK;

  if (end - unit >= RUN_MIN) {
    error = put_word(writer, RUN);
    return error == SPATE_OK ? put_word(writer, end - unit) : error;
  }
  while (error == SPATE_OK && unit < end)
    error = put_word(writer, unit++);
  return error;
}

static enum spate_error put_range(struct writer *writer, const struct range *range) {
  enum spate_error error = SPATE_OK;

  for (uint32_t i = 0; error == SPATE_OK && i < range->count; i++) {
    uint32_t unit = range->first + i * range->step;
    error = put_word(writer, unit + range->distance);
    if (error == SPATE_OK && range->step == 2 && i + 1u < range->count) error = put_word(writer, unit + 1u);
  }
  return error;
}

enum spate_error spate_exfat_upcase_write(const struct spate_exfat_config *config, uint64_t lba,
                                          struct exfat_table *table) {
  struct writer writer = {.config = config, .lba = lba};
  enum spate_error error = SPATE_OK;
  uint32_t unit = 0;

  for (uint32_t i = 0; error == SPATE_OK && i < sizeof ranges / sizeof ranges[0]; i++) {
    error = put_identity(&writer, unit, ranges[i].first);
    if (error == SPATE_OK) error = put_range(&writer, &ranges[i]);
    unit = ranges[i].first + (ranges[i].count - 1u) * ranges[i].step + 1u;
  }
  if (error == SPATE_OK) error = put_identity(&writer, unit, UNIT_COUNT);
  if (error == SPATE_OK && writer.used_bytes > 0) error = put_block(&writer);
  *table = writer.table;
  return error;
}
