/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gateware's host core (docs/understand/gateware.md) as a block device, through its registers
 * (docs/reference/registers.md).
 *
 * Metadata goes through the core's mailbox, 4 KiB at a time, copied by the CPU. Bulk data does not pass the CPU:
 *
 *   - A request on spate_gateware_region() moves the core's own data streams: a WRITE takes its blocks from the write
 *     stream, a READ gives them to the read stream, in the order of submission. The region is no memory: offset_bytes
 *     is any place inside, nothing is stored. So a recorder's stream on this region (spate/recorder.h) makes a file of
 *     what logic sends: pieces are pushed ahead, before their data come, and released when they are on the drive.
 *     Config of such a stream: cpu_filled and retain false (what was taken from a stream cannot be taken again).
 *   - A core in memory mode moves the data of any other region between memory and the drive, where the request's pages
 *     follow each other for devices.
 *
 * A stream request takes exactly its blocks: the source that ends in mid-piece fills the piece up. A clip that ends
 * inside a block is pushed with its true length in bytes; the padding of the last block is written, and not part of the
 * file.
 *
 * Resets and retries are the core's, unseen here. When the drive lost power on the way, block.power_losses rises before
 * anything that came after the loss is reported, and stream writes that were under way end with POWER_LOST.
 */
#ifndef SPATE_GATEWARE_H
#define SPATE_GATEWARE_H

#include <spate/block.h>
#include <spate/dma.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPATE_GATEWARE_DEPTH 14u /* stream and memory requests in flight; the core has room for 16 of all kinds */

struct spate_gateware_config {
  uintptr_t registers;         /* of the core, for the CPU; SPATE_REGS_BYTES of spate/gateware_registers.h */
  uint32_t ready_timeout_ms;   /* for open to find the drive ready; 0 = 30000 */
  uint32_t command_timeout_ms; /* for a command without stream data, the core's own recoveries included; 0 = 60000 */
};

/* From the drive's SMART log. */
struct spate_gateware_health {
  int16_t temperature_c;
  uint8_t critical_warning; /* bits as in the log */
  uint8_t spare_percent, spare_threshold_percent, used_percent;
  uint32_t media_errors, unsafe_shutdowns; /* low 32 bits */
};

struct spate_gateware {
  struct spate_block block; /* first: hand out &gateware.block */

  uint64_t flushed_blocks; /* in order since the core's reset, by streams and memory requests: durable; from the last
                              flush */
  uint32_t recoveries;     /* resets of the drive that were noticed here */

  /* private */
  struct spate_gateware_config config;
  struct spate_region region;  /* the streams */
  struct spate_io *first;      /* mailbox, flush, trim: the first one is being carried out */
  struct spate_io **last_link; /* where the next is put */
  uint32_t done_blocks;        /* of the first */
  uint32_t step_blocks;        /* of the command in flight */
  bool side_busy;              /* a command of the first is in flight */
  uint8_t side_uses;           /* in its tag */
  uint8_t side_attempts;       /* of it */
  uint64_t side_ticks;         /* when it was started */
  struct {
    struct spate_io *io; /* NULL: free */
    uint32_t losses;     /* of the device when it was submitted */
    uint8_t uses;        /* in its tag */
    uint64_t ticks;
  } data[SPATE_GATEWARE_DEPTH];
  uint32_t data_count;
  bool settling; /* after a recovery: whether the drive lost power is not known yet */
  uint64_t settling_ticks;
  uint32_t unsafe_shutdowns; /* when last looked at */
  uint64_t command_timeout_ticks;
  enum spate_error error; /* the drive is at its end: no more requests */
  bool lost;              /* and no answers are to be expected */
};

/*
 * Find the core, wait for its drive, read the geometry. The object stays in place.
 * Errors: NO_BRIDGE (no core at that address), UNSUPPORTED (registers of another major version), and those of a drive
 * that cannot be brought up (spate_gateware_failure() has the step): LINK_DOWN, NO_DEVICE, WRONG_CLASS, COMMAND_SET,
 * PAGE_SIZE, NO_NAMESPACE, BLOCK_SIZE, METADATA, WINDOW, TOPOLOGY, COMMAND, FATAL, GONE, TIMEOUT.
 */
SPATE_MUST_CHECK enum spate_error spate_gateware_open(struct spate_gateware *gateware,
                                                      const struct spate_gateware_config *config);

/* The data streams as a region: see above. Not in memory mode: NULL. */
const struct spate_region *spate_gateware_region(const struct spate_gateware *gateware);

/* Why the drive failed: the core's step, error and detail (docs/reference/gateware-bringup.md). All 0: it did not. */
struct spate_gateware_failure {
  uint8_t step, error;
  uint32_t detail;
};
void spate_gateware_failure(const struct spate_gateware *gateware, struct spate_gateware_failure *failure);

/* As last read by the core, about once a second. False: no log was read since the drive was last brought up. */
bool spate_gateware_health(const struct spate_gateware *gateware, struct spate_gateware_health *health);

/* Blocks that stream and memory writes have completed, in order, since the core's reset. Not all are durable. */
uint64_t spate_gateware_written_blocks(const struct spate_gateware *gateware);

/* Flush and tell the drive that its power may go. Waits. BUSY: requests are in flight. The drive answers GONE then. */
SPATE_MUST_CHECK enum spate_error spate_gateware_shutdown(struct spate_gateware *gateware);

#ifdef __cplusplus
}
#endif
#endif
