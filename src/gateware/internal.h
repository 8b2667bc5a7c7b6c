/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the backend. The numbers are those of rtl/spate_pkg.sv. */
#ifndef SPATE_GATEWARE_INTERNAL_H
#define SPATE_GATEWARE_INTERNAL_H

#include "../core/ticks.h"
#include <spate/gateware.h>
#include <spate/gateware_registers.h>
#include <spate/port.h>

enum gateware_op {
  GATEWARE_FLUSH = 0,
  GATEWARE_WRITE = 1,
  GATEWARE_READ = 2,
  GATEWARE_DEALLOCATE = 3,
  GATEWARE_SHUTDOWN = 6
};

enum gateware_source { GATEWARE_STREAM = 0, GATEWARE_ADDRESS = 1, GATEWARE_MAILBOX = 2 };

enum gateware_status {
  GATEWARE_STATUS_INVALID = 0x8001,
  GATEWARE_STATUS_RANGE = 0x8002,
  GATEWARE_STATUS_UNSUPPORTED = 0x8003,
  GATEWARE_STATUS_GONE = 0x8004,
  GATEWARE_STATUS_DEADLINE = 0x8005,
  GATEWARE_STATUS_BUSY = 0x8006,
  GATEWARE_STATUS_MEMORY = 0x8007, /* of the ring's memory. It counts as the media until the drive has the data */
  GATEWARE_STATUS_POWER = 0x8008,  /* flush or shutdown done, after a loss of power or what may be one */
};

#define GATEWARE_IO_SHUTDOWN   (SPATE_ZERO + 1) /* spate_io.op, only for the backend itself */
#define GATEWARE_MAILBOX_BYTES (SPATE_REGS_MAILBOX_WORDS * 4u)

/* A tag is a slot and how often the slot was used, so that a response to earlier software is recognised. */
#define TAG_PLACE_MASK 0xffu
#define TAG_USES_SHIFT 8u
#define TAG_SIDE       0x80u /* the slot of the side lane */

struct gateware_command {
  uint64_t lba, address;
  uint32_t blocks;
  uint16_t tag;
  uint8_t op, source;
  bool fua;
};

static inline uint32_t spate_gateware_read(const struct spate_gateware *gateware, uint32_t offset) {
  return spate_port_read32(gateware->config.registers + offset);
}

static inline void spate_gateware_write(const struct spate_gateware *gateware, uint32_t offset, uint32_t value) {
  spate_port_write32(gateware->config.registers + offset, value);
}

static inline bool spate_gateware_in_memory_mode(const struct spate_gateware *gateware) {
  return gateware->region.bytes == 0;
}

/* failure.c: the core's error code as an error of the library. */
enum spate_error spate_gateware_failure_error(const struct spate_gateware *gateware);

/* command.c. False: the core has no room. */
bool spate_gateware_start(const struct spate_gateware *gateware, const struct gateware_command *command);
enum spate_error spate_gateware_status_error(const struct spate_gateware *gateware, uint16_t status);

/* side.c: requests through the mailbox, one at a time. */
void spate_gateware_side_add(struct spate_gateware *gateware, struct spate_io *io);
void spate_gateware_side_start(struct spate_gateware *gateware);
void spate_gateware_side_done(struct spate_gateware *gateware, uint16_t status, uint64_t done);
void spate_gateware_side_fail(struct spate_gateware *gateware);
void *spate_gateware_data_of(const struct spate_io *io);

/* lanes.c */
extern const struct spate_block_ops spate_gateware_ops;

#endif
