/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partition tables of an image file, from the command line:
 *   part IMAGE BLOCK_BYTES find           prints "gpt|mbr|whole INDEX FIRST_LBA BLOCKS primary|backup"
 *   part IMAGE BLOCK_BYTES check          prints "blank"
 *   part IMAGE BLOCK_BYTES write ALIGN_BYTES SEED [erase]
 * An error is printed by name, and the exit status is 1; 2 is for a wrong call.
 */
#include "file_block.h"

#include <inttypes.h>
#include <spate/partition.h>
#include <spate/port.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(SPATE_DMA_ALIGN) uint8_t scratch[SPATE_PARTITION_SCRATCH_BYTES];

static void print_partition(const struct spate_partition *partition) {
  static const char *const tables[] = {"none", "mbr", "gpt", "whole"};
  printf("%s %u %" PRIu64 " %" PRIu64 " %s\n", tables[partition->table], partition->index, partition->first_lba,
         partition->blocks, partition->from_backup ? "backup" : "primary");
}

static enum spate_error write_table(struct spate_block *block, uint32_t align_bytes, uint64_t seed, bool erase) {
  struct spate_partition_ids ids;
  struct spate_partition partition;

  for (unsigned i = 0; i < sizeof ids.disk; i++) {
    ids.disk[i] = (uint8_t)ram_random(&seed);
    ids.partition[i] = (uint8_t)ram_random(&seed);
  }
  enum spate_error error = spate_partition_write(block, scratch, &ids, align_bytes, erase, &partition);
  if (error == SPATE_OK) print_partition(&partition);
  return error;
}

static enum spate_error run(struct spate_block *block, int count, char **words) {
  if (strcmp(words[0], "find") == 0) {
    struct spate_partition partition;
    enum spate_error error = spate_partition_find(block, scratch, &partition);
    if (error == SPATE_OK) print_partition(&partition);
    return error;
  }
  if (strcmp(words[0], "check") == 0) {
    enum spate_error error = spate_partition_check_blank(block, scratch);
    if (error == SPATE_OK) puts("blank");
    return error;
  }
  if (strcmp(words[0], "write") == 0 && count >= 3)
    return write_table(block, (uint32_t)strtoul(words[1], NULL, 0), strtoull(words[2], NULL, 0),
                       count > 3 && strcmp(words[3], "erase") == 0);
  exit(2);
}

int main(int argc, char **argv) {
  struct ram_block ram;

  if (argc < 4) return 2;
  if (file_block_open(&ram, argv[1], (uint32_t)strtoul(argv[2], NULL, 0), strcmp(argv[3], "write") == 0) != 0) {
    perror(argv[1]);
    return 2;
  }
  enum spate_error error = run(&ram.block, argc - 3, argv + 3);
  if (error != SPATE_OK) puts(spate_error_name(error));
  ram_block_close(&ram);
  return error == SPATE_OK ? 0 : 1;
}
