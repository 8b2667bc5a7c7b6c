/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As in the fastest firmware published with FatFs. Writes of the stream, recognised by their address in the ring, are
 * queued without waiting, up to a given number in flight. Everything else waits for its own completion and for all that
 * was queued before it. A read first waits until all writes have completed.
 */
#include "disk.h"
#include <experiments.h>

#include <ff.h>
#include <stdlib.h>
#include <string.h>

#include <diskio.h> /* after ff.h, whose types it uses */

/* f_mkfs() aligns the cluster heap to this: 1 MiB with 512-byte sectors. */
#define ALIGN_SECTORS 2048u
#define BOUNCE_BYTES  (1u << 20)

const char *const disk_experiment = "record";

struct request {
  struct spate_io io;
  struct request *next_free;
};

static struct disk {
  struct lab_machine *machine;
  struct spate_block *block;
  uint8_t *bounce; /* DMA memory: FatFs's own buffers may be outside of it */
  struct request *requests, *free;
  uint32_t *in_flight_of_piece;
  uint32_t in_flight;
  uint64_t completed_bytes;
} disk;

void disk_attach(struct lab_machine *machine) {
  uint64_t depth = machine->options->depth;
  uint64_t pieces = machine->ring->bytes / machine->options->block_bytes;

  disk = (struct disk){.machine = machine,
                       .block = &machine->tap.block,
                       .bounce = sim_memory_take(machine->sim, BOUNCE_BYTES, SIM_CACHED),
                       .requests = calloc(depth, sizeof *disk.requests),
                       .in_flight_of_piece = calloc(pieces, sizeof *disk.in_flight_of_piece)};
  if (disk.requests == NULL || disk.in_flight_of_piece == NULL) lab_fail("no memory for the disk layer");
  for (uint64_t i = 0; i < depth; i++) {
    disk.requests[i].next_free = disk.free;
    disk.free = &disk.requests[i];
  }
}

void disk_detach(void) {
  free(disk.requests);
  free(disk.in_flight_of_piece);
}

uint64_t disk_completed_bytes(void) { return disk.completed_bytes; }

void disk_work(uint64_t most_ps) {
  if (spate_block_poll(disk.block, LAB_BATCH) == 0) sim_idle(disk.machine->sim, most_ps);
}

static uint64_t piece_of(uint64_t offset) { return offset / disk.machine->options->block_bytes; }

void disk_wait_piece(uint64_t offset) {
  while (disk.in_flight_of_piece[piece_of(offset)] > 0)
    disk_work(LAB_IDLE_PS);
}

void disk_drain(void) {
  while (disk.in_flight > 0)
    disk_work(LAB_IDLE_PS);
}

static void request_done(struct spate_io *io) {
  struct request *request = io->context;

  lab_expect(io->error, "a write of the stream");
  disk.completed_bytes += (uint64_t)io->blocks << disk.block->block_shift;
  disk.in_flight_of_piece[piece_of(io->offset_bytes)]--;
  disk.in_flight--;
  request->next_free = disk.free;
  disk.free = request;
}

static void queue_write(uint64_t offset, uint64_t lba, uint32_t blocks) {
  while (disk.free == NULL)
    disk_work(LAB_IDLE_PS);
  struct request *request = disk.free;
  disk.free = request->next_free;
  request->io = (struct spate_io){.op = SPATE_WRITE,
                                  .lba = lba,
                                  .blocks = blocks,
                                  .region = disk.machine->ring,
                                  .offset_bytes = offset,
                                  .done = request_done,
                                  .context = request};
  enum spate_error error;
  while ((error = spate_block_submit(disk.block, &request->io)) == SPATE_E_FULL)
    disk_work(LAB_IDLE_PS);
  lab_expect(error, "a write of the stream");
  spate_block_kick(disk.block);
  disk.in_flight++;
  disk.in_flight_of_piece[piece_of(offset)]++;
}

static bool in_ring(const BYTE *buffer) {
  const struct spate_region *ring = disk.machine->ring;

  return buffer >= ring->start && buffer < ring->start + ring->bytes;
}

/* ---- what FatFs calls ---- */

DSTATUS disk_initialize(BYTE pdrv) { return disk_status(pdrv); }

DSTATUS disk_status(BYTE pdrv) { return pdrv == 0 && disk.block != NULL ? 0 : STA_NOINIT; }

static bool within(LBA_t sector, UINT count) {
  return sector <= disk.block->blocks && count <= disk.block->blocks - sector;
}

DRESULT disk_read(BYTE pdrv, BYTE *buff, LBA_t sector, UINT count) {
  if (pdrv != 0 || !within(sector, count)) return RES_PARERR;
  disk_drain();
  for (UINT done = 0; done < count;) {
    UINT now =
        count - done < BOUNCE_BYTES >> disk.block->block_shift ? count - done : BOUNCE_BYTES >> disk.block->block_shift;
    if (spate_block_read(disk.block, sector + done, now, disk.bounce) != SPATE_OK) return RES_ERROR;
    memcpy(buff + ((size_t)done << disk.block->block_shift), disk.bounce, (size_t)now << disk.block->block_shift);
    done += now;
  }
  return RES_OK;
}

DRESULT disk_write(BYTE pdrv, const BYTE *buff, LBA_t sector, UINT count) {
  if (pdrv != 0 || !within(sector, count)) return RES_PARERR;
  if (in_ring(buff)) {
    queue_write((uint64_t)(buff - disk.machine->ring->start), sector, count);
    return RES_OK;
  }
  for (UINT done = 0; done < count;) {
    UINT now =
        count - done < BOUNCE_BYTES >> disk.block->block_shift ? count - done : BOUNCE_BYTES >> disk.block->block_shift;
    memcpy(disk.bounce, buff + ((size_t)done << disk.block->block_shift), (size_t)now << disk.block->block_shift);
    if (spate_block_write(disk.block, sector + done, now, disk.bounce, 0) != SPATE_OK) return RES_ERROR;
    done += now;
  }
  disk_drain();
  return RES_OK;
}

DRESULT disk_ioctl(BYTE pdrv, BYTE cmd, void *buff) {
  if (pdrv != 0) return RES_PARERR;
  switch (cmd) {
  case CTRL_SYNC: disk_drain(); return spate_block_flush(disk.block) == SPATE_OK ? RES_OK : RES_ERROR;
  case GET_SECTOR_COUNT: *(LBA_t *)buff = disk.block->blocks; return RES_OK;
  case GET_SECTOR_SIZE: *(WORD *)buff = (WORD)spate_block_bytes(disk.block); return RES_OK;
  case GET_BLOCK_SIZE: *(DWORD *)buff = ALIGN_SECTORS; return RES_OK;
  default: return RES_PARERR;
  }
}

/* A constant time, so that two runs give the same bytes. */
DWORD get_fattime(void) { return (DWORD)(2026 - 1980) << 25 | 1u << 21 | 1u << 16; }
