/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk layer of FatFs (R0.16) over any spate_block: an NVMe queue, a stripe, a drive in a test.
 * spate_diskio.c has the functions that FatFs calls: disk_initialize(), disk_status(), disk_read(), disk_write() and
 * disk_ioctl(). README.md says what to copy and how to set FatFs's options.
 *
 * What disk_write() and disk_read() do depends on where the buffer is:
 *
 *   in a range registered for the operation     direct and asynchronous: the call returns while the drive transfers
 *   in another registered range                 direct: the call returns when the drive has answered
 *   elsewhere; at no multiple of 4; one sector  copied through bounce memory. A read returns with its data. A write
 *                                               returns when its data are copied, and the drive writes the copy later
 *
 * One sector is always copied, because FatFs's own buffers are one sector each, and FatFs changes them as soon as
 * disk_write() returns. So FATFS, FIL and DIR objects may be in a registered range. The work buffer of f_mkfs() and,
 * with FF_USE_LFN 3, FatFs's heap may not be in a range that is registered for writes.
 *
 * Requests in flight complete in any order. Therefore each request is compared with them before it is submitted: it
 * waits while one of them touches its sectors and either of the two writes, or while one of them touches its memory and
 * either of the two is a read. It does not wait for any other request.
 *
 * A drive is used from one thread at a time, together with everything else that uses its block.
 */
#ifndef SPATE_DISKIO_H
#define SPATE_DISKIO_H

#include <spate/block.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bounce memory is divided into slots of this many bytes. A copy takes slots that follow each other, as many as it
 * needs and are free. */
#define SPATE_DISKIO_SLOT_BYTES 4096u
#define SPATE_DISKIO_SLOTS_MAX  32u

enum spate_diskio_use {
  SPATE_DISKIO_WRITES = 1 << 0, /* disk_write() of this memory is asynchronous */
  /* disk_read() into this memory is asynchronous. Only for files that are open without FA_WRITE: FatFs replaces a
   * sector of what it read by its own newer copy, as soon as disk_read() returns */
  SPATE_DISKIO_READS = 1 << 1,
  SPATE_DISKIO_CPU = 1 << 2, /* the CPU makes or uses the data: cache maintenance as with SPATE_IO_CPU. Buffers that do
                                not start at a multiple of SPATE_DMA_ALIGN are then copied. Without it, logic does */
};

struct spate_diskio;

/* An asynchronous request that failed. */
struct spate_diskio_failure {
  enum spate_error error; /* OK: none */
  uint16_t detail;        /* spate_io.detail */
  bool read;              /* a read; otherwise a write */
  uint64_t lba;           /* of the request */
  uint32_t blocks;
};

/* Registered memory. The caller owns the object; it must not move until it is unregistered. Private, except `failure`:
 * the first since it was registered, or since spate_diskio_range_clear(). */
struct spate_diskio_range {
  struct spate_diskio_failure failure;
  const struct spate_region *region;
  uint8_t *start;
  uint64_t bytes;
  unsigned uses; /* enum spate_diskio_use */
  struct spate_diskio_range *next;
};

/* Private: one request that may be in flight. */
struct spate_diskio_request {
  struct spate_io io;
  struct spate_diskio *disk;
  struct spate_diskio_range *range; /* NULL: a copy */
  const uint8_t *memory;            /* of the range */
  uint32_t slots;                   /* of bounce memory: a bit for each */
  bool in_flight;
  bool waited_for; /* its caller waits, and takes the error */
};

struct spate_diskio_config {
  struct spate_block *block;
  /* As many requests as may be in flight. All that FatFs queues is limited by this, and by the block's depth. */
  struct spate_diskio_request *requests;
  unsigned request_count;
  /* DMA memory with contiguous bus addresses, cached or not: 1 to SPATE_DISKIO_SLOTS_MAX slots, at a multiple of
   * SPATE_DMA_ALIGN. 8 slots are enough for FatFs's metadata. */
  void *bounce;
  size_t bounce_bytes;
};

struct spate_diskio_counters {
  uint64_t streamed_bytes; /* asynchronous and direct, completed */
  uint64_t direct_bytes;   /* direct and waited for */
  uint64_t copied_bytes;
  uint64_t overlaps; /* requests that waited for one that they overlap */
  uint32_t in_flight_max;
  uint32_t failures; /* of asynchronous requests */
};

/* The caller owns the object. To be read by the caller; not to be changed. */
struct spate_diskio {
  uint32_t in_flight;                  /* requests */
  uint64_t in_flight_bytes;            /* of all requests, copies included */
  struct spate_diskio_failure failure; /* the first since spate_diskio_open() or spate_diskio_clear() */
  struct spate_diskio_counters counters;

  /* private */
  struct spate_diskio_config config;
  struct spate_diskio_range *ranges;
  uint32_t slots_free; /* a bit for each */
  uint32_t power_losses;
  bool initialized;
  bool unsynced;                      /* something was written since the last CTRL_SYNC that succeeded */
  bool report_to_sync, report_to_all; /* a failure that CTRL_SYNC, or disk_read() or disk_write(), has to report */
};

/*
 * Make the block FatFs's physical drive `pdrv`. `disk` must not move until it is closed. The sectors are the block's
 * logical blocks. Errors: INVALID (pdrv >= FF_VOLUMES, no request, bounce memory), OPEN (pdrv is in use), SECTOR_SIZE
 * (FF_MIN_SS and FF_MAX_SS do not allow the block's size).
 */
SPATE_MUST_CHECK enum spate_error spate_diskio_open(struct spate_diskio *disk, uint8_t pdrv,
                                                    const struct spate_diskio_config *config);

/* Wait for all requests, and detach the drive from FatFs. Unmount the volume first. Returns as wait_all() does. */
enum spate_error spate_diskio_close(struct spate_diskio *disk);

/*
 * Register `bytes` of a region, from `offset_bytes` on. Both are multiples of SPATE_DMA_ALIGN. The region has a
 * `start`, because FatFs passes addresses of the CPU. `uses` are flags of enum spate_diskio_use; 0: direct, and waited
 * for. Errors: INVALID, OPEN (another range has some of this memory).
 */
SPATE_MUST_CHECK enum spate_error spate_diskio_register(struct spate_diskio *disk, struct spate_diskio_range *range,
                                                        const struct spate_region *region, uint64_t offset_bytes,
                                                        uint64_t bytes, unsigned uses);

/* Wait for the requests of this range, and forget it. The memory is then copied as any other. `range->failure` stays.
 * Returns its error. INVALID: it is not registered. */
enum spate_error spate_diskio_unregister(struct spate_diskio *disk, struct spate_diskio_range *range);

/* Reap completions. Never waits. Call it while the main loop waits for something else: requests complete in it, and
 * the block's error recovery advances. */
void spate_diskio_poll(struct spate_diskio *disk);

/* Whether a request in flight uses any of this memory, as of the last poll. While it does, a buffer that is written
 * must not change, and a buffer that is read has no data yet. */
bool spate_diskio_busy(const struct spate_diskio *disk, const void *memory, size_t bytes);

/* Wait until no request uses this memory. Returns the first error of a range that has some of it: for asynchronous
 * reads this is the answer. It stays until spate_diskio_range_clear(). */
enum spate_error spate_diskio_wait(struct spate_diskio *disk, const void *memory, size_t bytes);

/* Wait for all requests. Returns disk->failure.error. It does not flush: CTRL_SYNC does, which f_sync() calls. */
enum spate_error spate_diskio_wait_all(struct spate_diskio *disk);

/* Forget the first failure, so that the next one is noted. What CTRL_SYNC and others still have to report stays. */
void spate_diskio_clear(struct spate_diskio *disk);
void spate_diskio_range_clear(struct spate_diskio_range *range);

#ifdef __cplusplus
}
#endif
#endif
