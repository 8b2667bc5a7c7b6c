/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gateware's registers over a drive in memory. The model does what docs/reference/registers.md says, and tolerates
 * nothing beyond it. A command takes some steps; a step happens with each register access, and when the test calls it.
 * The data lane answers in order. The side lane runs beside it, one command at a time. Stream writes take their data
 * from a pattern, as far as the test lets it flow. Misuse that hardware could not report ends the program with a
 * message.
 */
#ifndef SPATE_TESTS_FAKE_GATEWARE_H
#define SPATE_TESTS_FAKE_GATEWARE_H

#include <spate/gateware_registers.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_GATEWARE_OPEN_MAX   16u
#define FAKE_GATEWARE_FAULTS_MAX 4u

struct fake_command {
  uint8_t op, source;
  bool fua;
  uint16_t tag;
  uint64_t lba, address;
  uint32_t blocks, done_blocks;
  uint32_t wait_steps;
  uint64_t written_blocks; /* of a flush: the blocks written when it was submitted */
};

/* Commands of `op` on `source` that touch `lba` end with `status`, `times` times. */
struct fake_gateware_fault {
  uint8_t op, source;
  uint64_t lba;
  uint32_t times;
  uint16_t status;
};

/* Memory as the drive sees it, where this differs from the processor's view. */
struct fake_gateware_memory {
  const uint8_t *(*load)(void *context, uint64_t address, size_t bytes);
  void (*store)(void *context, uint64_t address, const uint8_t *data, size_t bytes);
  void *context;
};

enum fake_power { FAKE_POWER_KEPT, FAKE_POWER_LOST, FAKE_POWER_UNKNOWN };

struct fake_gateware {
  /* the drive: set before use, or through fake_gateware_open() */
  uint8_t *medium;
  uint64_t blocks;
  uint8_t block_shift;
  bool volatile_cache;
  bool memory_mode;
  uint8_t *memory;                               /* memory mode: device address 0 */
  const struct fake_gateware_memory *far_memory; /* or this */

  /* controlled by the test */
  uint32_t side_steps; /* how many steps a side command takes */
  uint64_t flow_bytes; /* bytes that the write stream may still deliver */
  bool unanswering;    /* the core answers nothing any more */
  bool vanished;       /* registers read all ones */
  uint32_t reads_left; /* then it vanishes; 0: it does not */
  bool health_valid;   /* a log was read since the last recovery */
  bool ready, gone;
  uint32_t version;
  uint16_t losses, unknown; /* the register `power` */
  uint8_t step, error;
  uint32_t error_detail, unsafe_shutdowns;
  struct fake_gateware_fault faults[FAKE_GATEWARE_FAULTS_MAX];

  /* results */
  uint64_t stream_bytes; /* taken from the write stream so far: byte i is fake_stream_byte(i) */
  uint64_t flushes, fua_writes, trims, shutdowns, mailbox_writes, most_data_open, starts;
  uint64_t written_blocks;

  /* private */
  uint32_t registers[SPATE_REGS_RAW / 4u];
  uint32_t mailbox[SPATE_REGS_MAILBOX_WORDS];
  uint32_t interrupts;
  struct fake_command data[FAKE_GATEWARE_OPEN_MAX], side;
  uint32_t data_count;
  bool side_there;
  struct {
    uint16_t tag, status;
    uint64_t done;
  } responses[FAKE_GATEWARE_OPEN_MAX];
  uint32_t response_count, open_count;
  uint8_t *durable;      /* the media after a loss of power */
  enum fake_power power; /* of the reset that has not returned */
  bool untold;           /* the next flush tells of a loss */
};

uint8_t fake_stream_byte(uint64_t index);

void fake_gateware_open(struct fake_gateware *fake, uint64_t blocks, uint8_t block_shift);
void fake_gateware_close(struct fake_gateware *fake);

uint32_t fake_gateware_read(struct fake_gateware *fake, uint32_t offset);
void fake_gateware_write(struct fake_gateware *fake, uint32_t offset, uint32_t value);
void fake_gateware_step(struct fake_gateware *fake);

/* The core resets the drive. Unless power was kept, all unflushed data are gone. */
void fake_gateware_reset(struct fake_gateware *fake, enum fake_power power);
/* The core has counted what the reset was, and is ready again. */
void fake_gateware_return(struct fake_gateware *fake);
/* The core counts it now: a log that came late shows a loss. */
void fake_gateware_verdict(struct fake_gateware *fake, enum fake_power power);

/* A response that belongs to no command of this run, as after a restart of the processor. */
void fake_gateware_answer(struct fake_gateware *fake, uint16_t tag, uint16_t status);

#endif
