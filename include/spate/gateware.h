/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gateware's host core (docs/understand/gateware.md) as a block device, through its registers
 * (docs/reference/registers.md).
 *
 * Metadata goes through the core's mailbox, 4 KiB at a time, copied by the CPU. Bulk data does not pass the CPU:
 *
 *   - A request on spate_gateware_region() uses the core's data streams: a WRITE takes its blocks from the write
 *     stream, and a READ sends its blocks to the read stream, in the order of submission. The region is not memory:
 *     offset_bytes may be any offset inside, and nothing is stored. So a recorder's stream on this region
 *     (spate/recorder.h) records what the logic sends: pieces are pushed before their data arrive, and released when
 *     they are on the drive. Such a stream has cpu_filled and retain false, because the stream cannot send its data
 *     again.
 *   - A core in memory mode moves the data of any other region between memory and the drive. The pages of each request
 *     must be contiguous in bus addresses.
 *
 * A stream request takes exactly its blocks: a source that ends in the middle of a piece pads the piece. A clip that
 * ends inside a block is pushed with its true length in bytes. The padding of the last block is written to the drive,
 * but is not part of the file.
 *
 * The core does resets and retries by itself; they are not visible here. If the drive lost power, block.power_losses
 * rises, and stream writes in flight end with POWER_LOST. If it may have lost power, block.power_unknown rises. Both
 * rise before anything that happened after the loss is reported. A loss that only a later health log shows is counted
 * later.
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

/* Where the core is, and its timeouts. */
struct spate_gateware_config {
  uintptr_t registers;         /* of the core, at the CPU's address; SPATE_REGS_BYTES of spate/gateware_registers.h */
  uint32_t ready_timeout_ms;   /* how long open waits for the drive to be ready; 0 = 30000 */
  uint32_t command_timeout_ms; /* of a command without stream data, including the core's recoveries; 0 = 60000 */
};

/* From the drive's SMART log. */
struct spate_gateware_health {
  int16_t temperature_c;
  uint8_t critical_warning; /* bits as in the log */
  uint8_t spare_percent, spare_threshold_percent, used_percent;
  uint32_t media_errors, unsafe_shutdowns; /* low 32 bits */
};

/* The core as a block device. It must not move while it is open. */
struct spate_gateware {
  struct spate_block block; /* first: hand out &gateware.block */

  uint64_t flushed_blocks; /* durable blocks of stream and memory requests, in order since the core's reset, as of the
                              last flush */
  uint32_t recoveries;     /* number of resets of the drive */

  /* private */
  struct spate_gateware_config config;
  struct spate_region region;  /* the streams */
  struct spate_io *first;      /* list of side lane requests; the first one is being carried out */
  struct spate_io **last_link; /* the end of the list */
  uint32_t done_blocks;        /* of the first request */
  uint32_t step_blocks;        /* of the command in flight */
  bool side_busy;              /* a command of the first request is in flight */
  uint8_t side_uses;           /* the count in the command's tag */
  uint8_t side_attempts;       /* of the command */
  uint64_t side_ticks;         /* when the command was started */
  struct {
    struct spate_io *io; /* NULL: free */
    uint32_t losses;     /* block.power_losses when the request was submitted */
    uint8_t uses;        /* the count in its tag */
    uint64_t ticks;      /* when it was submitted */
  } data[SPATE_GATEWARE_DEPTH];
  uint32_t data_count;
  bool settling;  /* after a recovery: it is not known yet whether the drive lost power */
  uint32_t power; /* the register, at the last read */
  uint64_t command_timeout_ticks;
  enum spate_error error; /* not OK: the drive has failed, and accepts no more requests */
  bool lost;              /* the core no longer responds */
};

/*
 * Find the core, wait for its drive, and read the geometry. The object must not move afterwards.
 * Errors: NO_BRIDGE (no core at that address), UNSUPPORTED (registers of another major or an older minor version, or a
 * drive that the core cannot use), and those of a drive that cannot be brought up (spate_gateware_failure() has the
 * step): LINK_DOWN, NO_DEVICE, WRONG_CLASS, COMMAND_SET, PAGE_SIZE, NO_NAMESPACE, BLOCK_SIZE, METADATA, WINDOW,
 * TOPOLOGY, COMMAND, FATAL, GONE, TIMEOUT.
 */
SPATE_MUST_CHECK enum spate_error spate_gateware_open(struct spate_gateware *gateware,
                                                      const struct spate_gateware_config *config);

/* The data streams as a region: see above. Returns NULL in memory mode. */
const struct spate_region *spate_gateware_region(const struct spate_gateware *gateware);

/* Why the drive failed: the core's step, error and detail (docs/reference/gateware-bringup.md). All 0: the drive did
 * not fail. */
struct spate_gateware_failure {
  uint8_t step, error;
  uint32_t detail;
};

/* Read why the drive failed. */
void spate_gateware_failure(const struct spate_gateware *gateware, struct spate_gateware_failure *failure);

/* The health that the core read last; about once a second. False: no log was read since the last bring-up. */
bool spate_gateware_health(const struct spate_gateware *gateware, struct spate_gateware_health *health);

/* Blocks that stream and memory writes have completed, in order since the core's reset. Not all are durable. */
uint64_t spate_gateware_written_blocks(const struct spate_gateware *gateware);

/*
 * Flush, and prepare the drive for power-off. Waits. After OK requests end with GONE. After POWER_LOST they do, too,
 * but what had completed since the last flush may be lost. That flush may be one of a program that ran before. Errors:
 * BUSY (requests are in flight), POWER_LOST, GONE (the drive was shut down already), and other errors of the device.
 */
SPATE_MUST_CHECK enum spate_error spate_gateware_shutdown(struct spate_gateware *gateware);

#ifdef __cplusplus
}
#endif
#endif
