/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From top to bottom: requests in flight, bounce memory, the three ways of a transfer (streamed, direct, copied), the
 * functions of spate_diskio.h, the functions that FatFs calls.
 */
#include "spate_diskio.h"

#include <spate/port.h>
#include <string.h>

#include <ff.h>

#include <diskio.h> /* after ff.h, whose types it uses */

#define POLL_BATCH      16u
#define SLOT_SHIFT      12u                 /* SPATE_DISKIO_SLOT_BYTES */
#define TRIM_BYTES_MAX  (UINT32_C(1) << 30) /* one command for a whole drive could exceed any timeout */
#define ALIGNMENT_BYTES (UINT32_C(1) << 20)

static struct spate_diskio *drives[FF_VOLUMES];

/* ---- requests in flight ---- */

/* What a request is compared by. `memory` is NULL if it has none that the caller knows. */
struct extent {
  bool writes, reads; /* the media; a TRIM writes */
  uint64_t lba, blocks;
  const uint8_t *memory;
  uint64_t bytes;
};

static bool meet(uint64_t first, uint64_t count, uint64_t other_first, uint64_t other_count) {
  return first < other_first + other_count && other_first < first + count;
}

static struct extent extent_of(const struct spate_diskio_request *request) {
  return (struct extent){.writes = request->io.op == SPATE_WRITE,
                         .reads = request->io.op == SPATE_READ,
                         .lba = request->io.lba,
                         .blocks = request->io.blocks,
                         .memory = request->memory,
                         .bytes = (uint64_t)request->io.blocks << request->disk->config.block->block_shift};
}

/* A drive may carry out two requests in either order. Does the result depend on it? */
static bool conflict(const struct extent *a, const struct extent *b) {
  if ((a->writes || b->writes) && meet(a->lba, a->blocks, b->lba, b->blocks)) return true;
  return (a->reads || b->reads) && a->memory != NULL && b->memory != NULL &&
         meet((uintptr_t)a->memory, a->bytes, (uintptr_t)b->memory, b->bytes);
}

static bool conflicts(const struct spate_diskio *disk, const struct extent *extent) {
  for (unsigned i = 0; i < disk->config.request_count; i++) {
    const struct spate_diskio_request *request = &disk->config.requests[i];
    if (!request->in_flight) continue;
    const struct extent other = extent_of(request);
    if (conflict(extent, &other)) return true;
  }
  return false;
}

static void wait_for_overlaps(struct spate_diskio *disk, const struct extent *extent) {
  if (!conflicts(disk, extent)) return;
  disk->counters.overlaps++;
  while (conflicts(disk, extent))
    spate_block_yield(disk->config.block);
}

static void note(struct spate_diskio_failure *failure, const struct spate_io *io) {
  if (failure->error != SPATE_OK) return;
  *failure = (struct spate_diskio_failure){
      .error = io->error, .detail = io->detail, .read = io->op == SPATE_READ, .lba = io->lba, .blocks = io->blocks};
}

/*
 * FatFs was told that this request succeeded. A write of a range is the caller's data: FatFs's structures agree with
 * the drive's, and one report to each of the two kinds of calls is enough. A copy is mostly FatFs's own: what it
 * believes to be on the drive is not, so the volume has to be mounted again, as if the media had been changed.
 */
static void fail_late(struct spate_diskio *disk, struct spate_diskio_request *request) {
  disk->counters.failures++;
  note(&disk->failure, &request->io);
  if (request->range != NULL) note(&request->range->failure, &request->io);
  disk->report_to_all = true;
  if (request->io.op == SPATE_READ) return;
  disk->report_to_sync = true;
  if (request->range == NULL) disk->initialized = false;
}

static void done(struct spate_io *io) {
  struct spate_diskio_request *request = io->context;
  struct spate_diskio *disk = request->disk;
  const uint64_t bytes = (uint64_t)io->blocks << disk->config.block->block_shift;

  request->in_flight = false;
  disk->in_flight--;
  disk->in_flight_bytes -= bytes;
  if (request->waited_for) return; /* the caller frees the slots, and takes the error */
  disk->slots_free |= request->slots;
  if (io->error != SPATE_OK)
    fail_late(disk, request);
  else if (request->range != NULL)
    disk->counters.streamed_bytes += bytes;
}

/* The object of a new request. Waits until one is free. */
static struct spate_diskio_request *request_free(struct spate_diskio *disk) {
  for (;;) {
    for (unsigned i = 0; i < disk->config.request_count; i++)
      if (!disk->config.requests[i].in_flight) return &disk->config.requests[i];
    spate_block_yield(disk->config.block);
  }
}

/* Submits `model`. The caller has waited for what it overlaps. */
static enum spate_error submit(struct spate_diskio *disk, const struct spate_diskio_request *model,
                               struct spate_diskio_request **submitted) {
  struct spate_diskio_request *request = request_free(disk);
  struct spate_block *block = disk->config.block;
  enum spate_error error;

  *request = *model;
  request->disk = disk;
  request->io.done = done;
  request->io.context = request;
  while ((error = spate_block_submit(block, &request->io)) == SPATE_E_FULL)
    spate_block_yield(block);
  if (error != SPATE_OK) return error;
  request->in_flight = true;
  disk->in_flight++;
  disk->in_flight_bytes += (uint64_t)request->io.blocks << block->block_shift;
  if (disk->in_flight > disk->counters.in_flight_max) disk->counters.in_flight_max = disk->in_flight;
  if (request->io.op == SPATE_WRITE) disk->unsynced = true;
  spate_block_kick(block);
  *submitted = request;
  return SPATE_OK;
}

static enum spate_error submit_and_wait(struct spate_diskio *disk, struct spate_diskio_request *model) {
  struct spate_diskio_request *request;

  model->waited_for = true;
  const enum spate_error error = submit(disk, model, &request);
  if (error != SPATE_OK) return error;
  while (request->in_flight)
    spate_block_yield(disk->config.block);
  return request->io.error;
}

/* ---- bounce memory ---- */

/* Takes up to `wanted` free slots that follow each other: the first run that there is. Waits until one is free. */
static uint32_t slots_take(struct spate_diskio *disk, uint32_t wanted, unsigned *first) {
  while (disk->slots_free == 0)
    spate_block_yield(disk->config.block);
  unsigned at = 0;
  while ((disk->slots_free >> at & 1u) == 0)
    at++;
  uint32_t taken = 0;
  for (*first = at; at < SPATE_DISKIO_SLOTS_MAX && wanted > 0 && (disk->slots_free >> at & 1u) != 0; at++, wanted--)
    taken |= UINT32_C(1) << at;
  disk->slots_free &= ~taken;
  return taken;
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t slot_count(uint32_t slots) {
  uint32_t count = 0;

  for (; slots != 0; slots &= slots - 1u)
    count++;
  return count;
}

/* ---- the three ways ---- */

/* What is left of a call of FatFs's. */
struct transfer {
  struct spate_diskio *disk;
  enum spate_op op;
  uint64_t lba;
  uint32_t blocks;
  bool one_sector; /* the whole call */
  const uint8_t *memory;
  uint8_t *into; /* of a read: the same memory */
};

static struct spate_diskio_range *range_at(const struct spate_diskio *disk, const uint8_t *memory) {
  struct spate_diskio_range *range = disk->ranges;

  while (range != NULL && !meet((uintptr_t)memory, 1, (uintptr_t)range->start, range->bytes))
    range = range->next;
  return range;
}

/* How many blocks the next request may have if it is direct: up to the end of the range, and one command. A command
 * ends at a multiple of command_bytes_max in its region, where a longer one would be cut. 0: it cannot be direct. */
static uint32_t direct_blocks(const struct transfer *transfer, const struct spate_diskio_range *range) {
  const struct spate_block *block = transfer->disk->config.block;
  const uintptr_t align = (range->uses & SPATE_DISKIO_CPU) != 0 ? SPATE_DMA_ALIGN : 4u;
  const uint64_t offset_bytes = (uint64_t)(transfer->memory - range->region->start);
  const uint64_t left_bytes = range->bytes - (uint64_t)(transfer->memory - range->start);
  uint64_t bytes = block->command_bytes_max - (offset_bytes & (block->command_bytes_max - 1u));

  if (transfer->one_sector || ((uintptr_t)transfer->memory & (align - 1u)) != 0) return 0;
  if (bytes < spate_block_bytes(block)) bytes += block->command_bytes_max;
  if (bytes > left_bytes) bytes = left_bytes;
  uint64_t blocks = bytes >> block->block_shift;
  if (blocks > block->request_blocks_max) blocks = block->request_blocks_max;
  return blocks < transfer->blocks ? (uint32_t)blocks : transfer->blocks;
}

static void advance(struct transfer *transfer, uint32_t blocks) {
  const size_t bytes = (size_t)blocks << transfer->disk->config.block->block_shift;

  transfer->lba += blocks;
  transfer->blocks -= blocks;
  transfer->memory += bytes;
  if (transfer->into != NULL) transfer->into += bytes;
}

static struct extent next_extent(const struct transfer *transfer, uint32_t blocks) {
  return (struct extent){.writes = transfer->op == SPATE_WRITE,
                         .reads = transfer->op == SPATE_READ,
                         .lba = transfer->lba,
                         .blocks = blocks,
                         .memory = transfer->memory,
                         .bytes = (uint64_t)blocks << transfer->disk->config.block->block_shift};
}

static enum spate_error move_direct(struct transfer *transfer, struct spate_diskio_range *range, uint32_t blocks) {
  struct spate_diskio *disk = transfer->disk;
  const unsigned asynchronous = transfer->op == SPATE_WRITE ? SPATE_DISKIO_WRITES : SPATE_DISKIO_READS;
  const struct extent extent = next_extent(transfer, blocks);
  struct spate_diskio_request *request;
  struct spate_diskio_request model = {
      .range = range,
      .memory = transfer->memory,
      .io = {.op = (uint8_t)transfer->op,
             .flags = (range->uses & SPATE_DISKIO_CPU) != 0 ? (uint8_t)SPATE_IO_CPU : 0u,
             .lba = transfer->lba,
             .blocks = blocks,
             .region = range->region,
             .offset_bytes = (uint64_t)(transfer->memory - range->region->start)}};

  wait_for_overlaps(disk, &extent);
  advance(transfer, blocks);
  if ((range->uses & asynchronous) != 0) return submit(disk, &model, &request);
  disk->counters.direct_bytes += extent.bytes;
  return submit_and_wait(disk, &model);
}

/* The CPU is about to copy this memory, or has copied data into it. Where it is in a range that logic fills or empties,
 * the cache must hold nothing of it. It is cleaned first, in case FatFs's own objects are in it. Whole lines, because
 * ranges begin and end with lines. The memory may be in several ranges, and partly in none. */
static void leave_cache(const struct spate_diskio *disk, const uint8_t *memory, size_t bytes) {
  const uintptr_t start = (uintptr_t)memory, end = start + bytes, line = SPATE_DMA_ALIGN;

  for (const struct spate_diskio_range *range = disk->ranges; range != NULL; range = range->next) {
    const uintptr_t first = (uintptr_t)range->start, last = first + (uintptr_t)range->bytes;
    if ((range->uses & SPATE_DISKIO_CPU) != 0 || !meet(start, bytes, first, range->bytes)) continue;
    uint8_t *lines = range->start + (start > first ? (start - first) & ~(line - 1u) : 0);
    const size_t lines_bytes = ((end < last ? end : last) - (uintptr_t)lines + line - 1u) & ~(line - 1u);
    spate_port_cache_clean(lines, lines_bytes);
    spate_port_cache_invalidate(lines, lines_bytes);
  }
}

static enum spate_error copy_out(struct transfer *transfer, struct spate_diskio_request *model, size_t bytes) {
  struct spate_diskio_request *request;

  memcpy(model->io.buffer, transfer->memory, bytes);
  const enum spate_error error = submit(transfer->disk, model, &request);
  if (error != SPATE_OK) transfer->disk->slots_free |= model->slots;
  return error;
}

static enum spate_error copy_in(struct transfer *transfer, struct spate_diskio_request *model, size_t bytes) {
  const enum spate_error error = submit_and_wait(transfer->disk, model);

  if (error == SPATE_OK) memcpy(transfer->into, model->io.buffer, bytes);
  transfer->disk->slots_free |= model->slots;
  return error;
}

static enum spate_error move_copied(struct transfer *transfer) {
  struct spate_diskio *disk = transfer->disk;
  const unsigned slot_shift = SLOT_SHIFT - disk->config.block->block_shift; /* for blocks of a slot */
  unsigned first = 0;
  const uint32_t wanted = ((transfer->blocks - 1u) >> slot_shift) + 1u;
  const uint32_t slots = slots_take(disk, wanted, &first);
  const uint32_t room_blocks = least(slot_count(slots) << slot_shift, disk->config.block->request_blocks_max);
  const uint32_t blocks = least(transfer->blocks, room_blocks);
  const size_t bytes = (size_t)blocks << disk->config.block->block_shift;
  const struct extent extent = next_extent(transfer, blocks);
  struct spate_diskio_request model = {
      .slots = slots,
      .io = {.op = (uint8_t)transfer->op,
             .flags = SPATE_IO_CPU,
             .lba = transfer->lba,
             .blocks = blocks,
             .buffer = (uint8_t *)disk->config.bounce + (size_t)first * SPATE_DISKIO_SLOT_BYTES}};

  wait_for_overlaps(disk, &extent);
  leave_cache(disk, transfer->memory, bytes);
  const enum spate_error error =
      transfer->op == SPATE_WRITE ? copy_out(transfer, &model, bytes) : copy_in(transfer, &model, bytes);
  if (transfer->op == SPATE_READ) leave_cache(disk, transfer->memory, bytes);
  disk->counters.copied_bytes += bytes;
  advance(transfer, blocks);
  return error;
}

static DRESULT move_all(struct transfer *transfer) {
  while (transfer->blocks > 0) {
    struct spate_diskio_range *range = range_at(transfer->disk, transfer->memory);
    const uint32_t blocks = range == NULL ? 0 : direct_blocks(transfer, range);
    const enum spate_error error = blocks > 0 ? move_direct(transfer, range, blocks) : move_copied(transfer);
    if (error != SPATE_OK) return RES_ERROR;
  }
  return RES_OK;
}

/* ---- what FatFs has to be told ---- */

/* The drive lost power, and with it what was written since the last CTRL_SYNC. That includes FatFs's own structures. */
static bool has_lost_power(struct spate_diskio *disk) {
  const uint32_t losses = disk->config.block->power_losses;

  if (losses == disk->power_losses) return false;
  disk->power_losses = losses;
  if (!disk->unsynced) return false;
  note(&disk->failure, &(struct spate_io){.op = SPATE_WRITE, .error = SPATE_E_POWER_LOST});
  disk->counters.failures++;
  disk->initialized = false;
  return true;
}

/* Whether something failed that disk_read() and disk_write() have not reported yet. */
static bool has_failed(struct spate_diskio *disk) {
  const bool failed = has_lost_power(disk) || disk->report_to_all || !disk->initialized;

  disk->report_to_all = false;
  return failed;
}

/* Failures are reported before the transfer, and again after it: it may have waited for a write that failed, and have
 * read what the drive had before. */
static DRESULT transfer_checked(struct transfer *transfer) {
  spate_block_poll(transfer->disk->config.block, POLL_BATCH);
  if (has_failed(transfer->disk)) return RES_ERROR;
  const DRESULT result = move_all(transfer);
  return has_failed(transfer->disk) ? RES_ERROR : result;
}

static void wait_for_all(struct spate_diskio *disk) {
  while (disk->in_flight > 0)
    spate_block_yield(disk->config.block);
}

static DRESULT synchronise(struct spate_diskio *disk) {
  wait_for_all(disk);
  const enum spate_error error = spate_block_flush(disk->config.block);
  if (has_lost_power(disk) || error != SPATE_OK || !disk->initialized) return RES_ERROR;
  disk->unsynced = false;
  if (!disk->report_to_sync) return RES_OK;
  disk->report_to_sync = disk->report_to_all = false;
  return RES_ERROR;
}

/* `sectors`: the first and the last one. */
static DRESULT trim(struct spate_diskio *disk, const LBA_t *sectors) {
  struct spate_block *block = disk->config.block;
  const struct extent extent = {
      .writes = true, .lba = sectors[0], .blocks = (uint64_t)sectors[1] - (uint64_t)sectors[0] + 1u};

  if (sectors[0] > sectors[1] || sectors[1] >= block->blocks || !block->can_trim) return RES_PARERR;
  wait_for_overlaps(disk, &extent);
  return spate_block_erase(block, SPATE_TRIM, extent.lba, extent.blocks, TRIM_BYTES_MAX >> block->block_shift, NULL,
                           NULL) == SPATE_OK
             ? RES_OK
             : RES_ERROR;
}

/* ---- spate_diskio.h ---- */

enum spate_error spate_diskio_open(struct spate_diskio *disk, uint8_t pdrv, const struct spate_diskio_config *config) {
  const size_t slots = config->bounce_bytes / SPATE_DISKIO_SLOT_BYTES;

  if (pdrv >= FF_VOLUMES || config->request_count == 0 || config->requests == NULL || config->bounce == NULL ||
      ((uintptr_t)config->bounce & (SPATE_DMA_ALIGN - 1u)) != 0 || slots == 0 || slots > SPATE_DISKIO_SLOTS_MAX)
    return SPATE_E_INVALID;
  if (drives[pdrv] != NULL) return SPATE_E_OPEN;
  if (spate_block_bytes(config->block) < FF_MIN_SS || spate_block_bytes(config->block) > FF_MAX_SS)
    return SPATE_E_SECTOR_SIZE;
  *disk = (struct spate_diskio){.config = *config, .slots_free = (uint32_t)((UINT64_C(1) << slots) - 1u)};
  memset(config->requests, 0, config->request_count * sizeof config->requests[0]);
  drives[pdrv] = disk;
  return SPATE_OK;
}

enum spate_error spate_diskio_close(struct spate_diskio *disk) {
  wait_for_all(disk);
  for (unsigned pdrv = 0; pdrv < FF_VOLUMES; pdrv++)
    if (drives[pdrv] == disk) drives[pdrv] = NULL;
  return disk->failure.error;
}

enum spate_error spate_diskio_register(struct spate_diskio *disk, struct spate_diskio_range *range,
                                       const struct spate_region *region, uint64_t offset_bytes, uint64_t bytes,
                                       unsigned uses) {
  if (region->start == NULL || bytes == 0 || ((offset_bytes | bytes) & (SPATE_DMA_ALIGN - 1u)) != 0 ||
      bytes > region->bytes || offset_bytes > region->bytes - bytes ||
      uses > (SPATE_DISKIO_WRITES | SPATE_DISKIO_READS | SPATE_DISKIO_CPU))
    return SPATE_E_INVALID;
  uint8_t *start = region->start + offset_bytes;
  for (const struct spate_diskio_range *other = disk->ranges; other != NULL; other = other->next)
    if (other == range || meet((uintptr_t)start, bytes, (uintptr_t)other->start, other->bytes)) return SPATE_E_OPEN;
  *range =
      (struct spate_diskio_range){.region = region, .start = start, .bytes = bytes, .uses = uses, .next = disk->ranges};
  disk->ranges = range;
  return SPATE_OK;
}

enum spate_error spate_diskio_unregister(struct spate_diskio *disk, struct spate_diskio_range *range) {
  struct spate_diskio_range **link = &disk->ranges;

  while (*link != NULL && *link != range)
    link = &(*link)->next;
  if (*link == NULL) return SPATE_E_INVALID;
  const enum spate_error error = spate_diskio_wait(disk, range->start, (size_t)range->bytes);
  *link = range->next;
  return error;
}

void spate_diskio_poll(struct spate_diskio *disk) { spate_block_poll(disk->config.block, POLL_BATCH); }

bool spate_diskio_busy(const struct spate_diskio *disk, const void *memory, size_t bytes) {
  for (unsigned i = 0; i < disk->config.request_count; i++) {
    const struct spate_diskio_request *request = &disk->config.requests[i];
    const struct extent extent = request->in_flight ? extent_of(request) : (struct extent){0};
    if (extent.memory != NULL && meet((uintptr_t)extent.memory, extent.bytes, (uintptr_t)memory, bytes)) return true;
  }
  return false;
}

enum spate_error spate_diskio_wait(struct spate_diskio *disk, const void *memory, size_t bytes) {
  while (spate_diskio_busy(disk, memory, bytes))
    spate_block_yield(disk->config.block);
  for (const struct spate_diskio_range *range = disk->ranges; range != NULL; range = range->next)
    if (range->failure.error != SPATE_OK && meet((uintptr_t)range->start, range->bytes, (uintptr_t)memory, bytes))
      return range->failure.error;
  return SPATE_OK;
}

enum spate_error spate_diskio_wait_all(struct spate_diskio *disk) {
  wait_for_all(disk);
  return disk->failure.error;
}

void spate_diskio_clear(struct spate_diskio *disk) { disk->failure = (struct spate_diskio_failure){0}; }
void spate_diskio_range_clear(struct spate_diskio_range *range) { range->failure = (struct spate_diskio_failure){0}; }

/* ---- what FatFs calls ---- */

static struct spate_diskio *drive_of(BYTE pdrv) { return pdrv < FF_VOLUMES ? drives[pdrv] : NULL; }

DSTATUS disk_status(BYTE pdrv) {
  const struct spate_diskio *disk = drive_of(pdrv);

  return disk != NULL && disk->initialized ? 0 : STA_NOINIT;
}

/* FatFs calls it when it mounts a volume. If the drive was not initialized, no open file is valid any more, so that
 * nothing is left to be reported. */
DSTATUS disk_initialize(BYTE pdrv) {
  struct spate_diskio *disk = drive_of(pdrv);

  if (disk == NULL) return STA_NOINIT;
  wait_for_all(disk);
  if (disk->initialized) return 0;
  disk->report_to_all = disk->report_to_sync = disk->unsynced = false;
  disk->power_losses = disk->config.block->power_losses;
  disk->initialized = true;
  return 0;
}

static bool is_within(const struct spate_diskio *disk, LBA_t sector, UINT count) {
  const uint64_t blocks = disk->config.block->blocks;

  return count > 0 && sector < blocks && count <= blocks - sector;
}

DRESULT disk_read(BYTE pdrv, BYTE *buff, LBA_t sector, UINT count) {
  struct spate_diskio *disk = drive_of(pdrv);

  if (disk == NULL) return RES_NOTRDY;
  if (!is_within(disk, sector, count)) return RES_PARERR;
  return transfer_checked(&(struct transfer){.disk = disk,
                                             .op = SPATE_READ,
                                             .lba = sector,
                                             .blocks = count,
                                             .one_sector = count == 1,
                                             .memory = buff,
                                             .into = buff});
}

DRESULT disk_write(BYTE pdrv, const BYTE *buff, LBA_t sector, UINT count) {
  struct spate_diskio *disk = drive_of(pdrv);

  if (disk == NULL) return RES_NOTRDY;
  if (!is_within(disk, sector, count)) return RES_PARERR;
  return transfer_checked(&(struct transfer){
      .disk = disk, .op = SPATE_WRITE, .lba = sector, .blocks = count, .one_sector = count == 1, .memory = buff});
}

/* A drive of more sectors than FatFs can count has as many as it can count. */
static LBA_t sector_count(const struct spate_block *block) {
  const LBA_t most = (LBA_t)-1;

  return block->blocks < most ? (LBA_t)block->blocks : most;
}

DRESULT disk_ioctl(BYTE pdrv, BYTE cmd, void *buff) {
  struct spate_diskio *disk = drive_of(pdrv);

  if (disk == NULL) return RES_NOTRDY;
  switch (cmd) {
  case CTRL_SYNC: return synchronise(disk);
  case GET_SECTOR_COUNT: *(LBA_t *)buff = sector_count(disk->config.block); return RES_OK;
  case GET_SECTOR_SIZE: *(WORD *)buff = (WORD)spate_block_bytes(disk->config.block); return RES_OK;
  /* f_mkfs() begins the clusters at a multiple of it, counted in sectors. At 1 MiB, no cluster shares a flash page or
   * another unit of the drive's with the FAT, and a request of a whole cluster is aligned. */
  case GET_BLOCK_SIZE: *(DWORD *)buff = ALIGNMENT_BYTES >> disk->config.block->block_shift; return RES_OK;
  case CTRL_TRIM: return trim(disk, buff);
  default: return RES_PARERR;
  }
}
