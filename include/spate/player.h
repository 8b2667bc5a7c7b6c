/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Playback: streams a file into a ring at the drive's speed.
 *
 * The ring is `slot_count` slots of `slot_bytes` in a region. Reads run ahead while slots are free, and complete in any
 * order. The consumer (a DAC's DMA, a display, a checker) takes filled slots in the file's order and gives them back.
 * Playback ends at the valid length: the rest of a file was never written, and reads as zeros.
 */
#ifndef SPATE_PLAYER_H
#define SPATE_PLAYER_H

#include <spate/block.h>
#include <spate/exfat.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spate_player;

/* One slot. Private. The caller supplies an array of them. */
struct spate_slot {
  struct spate_io io;
  struct spate_player *player;
  uint32_t bytes; /* of the file */
  bool done;
};

/* The ring, and who reads it. `slots` is the caller's. */
struct spate_player_config {
  const struct spate_region *region;
  uint64_t offset_bytes; /* of the ring in the region, a multiple of 4096 */
  uint32_t slot_bytes;   /* a multiple of 4096, at most request_blocks_max blocks */
  struct spate_slot *slots;
  uint32_t slot_count; /* a power of two */
  uint16_t depth;      /* reads in flight; 0 = slot_count */
  bool cpu_consumed;   /* the CPU reads the data: see SPATE_IO_CPU */
};

/* Playback of a file. It must not move until spate_player_ended(). */
struct spate_player {
  struct spate_player_config config;
  struct spate_block *block;
  struct spate_exfat_file *file;
  enum spate_error error; /* of the first read that failed. Slots before it can still be taken. STALE: the file was
                             deleted, and no more slots can be taken */
  /* private */
  uint64_t next_bytes;                         /* file offset of the next read */
  uint64_t run_lba, run_blocks;                /* the rest of the present run */
  uint32_t submitted, filled, taken, returned; /* numbers of slots, which only rise */
  uint32_t in_flight;
};

/* Start playback at byte `from_bytes` (a multiple of the logical block) of an open file. Errors: INVALID
 * (`from_bytes`; the number or the size of the slots; or the ring is outside of the region). */
SPATE_MUST_CHECK enum spate_error spate_player_open(struct spate_player *player, struct spate_exfat_file *file,
                                                    uint64_t from_bytes, const struct spate_player_config *config);

/* Reap and read ahead. In a fragmented file this may wait for a read of the allocation table at the end of a run.
 * Returns player->error. Errors: STALE (the file was deleted), and those of the volume. After an error nothing more is
 * read; slots that were filled before can still be taken, except after STALE. */
SPATE_MUST_CHECK enum spate_error spate_player_work(struct spate_player *player);

/* Take the next filled slot in file order: its offset in the region, and its bytes (less than slot_bytes at the end of
 * a run or of the file). False: no slot is filled yet, or spate_player_ended(). */
bool spate_player_take(struct spate_player *player, uint64_t *offset_bytes, uint32_t *bytes);

/* Give the oldest taken slot back, to be filled again. */
void spate_player_give_back(struct spate_player *player);

/* Whether every byte up to the end of the file, or up to the first error, was taken, and no read is in flight. */
bool spate_player_ended(const struct spate_player *player);

#ifdef __cplusplus
}
#endif
#endif
