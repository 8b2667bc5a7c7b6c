/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gateware's registers over a drive in memory: what docs/reference/registers.md says, no kinder. A command takes
 * some steps; there is a step with each register access and whenever the test says so. The data lane answers in order,
 * the side lane one command at a time beside it. Stream writes take their data from a pattern, as far as the test lets
 * it flow.
 *
 * Misuse that hardware could not report ends the program with a sentence.
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
  uint64_t written_blocks; /* a flush: when it was submitted */
};

/* Commands of `op` on `source` that touch `lba` end with `status`, `times` times. */
struct fake_gateware_fault {
  uint8_t op, source;
  uint64_t lba;
  uint32_t times;
  uint16_t status;
};

/* Memory as the drive sees it, where that is not what the processor sees. */
struct fake_gateware_memory {
  const uint8_t *(*load)(void *context, uint64_t address, size_t bytes);
  void (*store)(void *context, uint64_t address, const uint8_t *data, size_t bytes);
  void *context;
};

struct fake_gateware {
  /* the drive: set before use, or through fake_gateware_open() */
  uint8_t *medium;
  uint64_t blocks;
  uint8_t block_shift;
  bool volatile_cache;
  bool memory_mode;
  uint8_t *memory;                               /* memory mode: device address 0 */
  const struct fake_gateware_memory *far_memory; /* or this */

  /* the test's hand */
  uint32_t side_steps; /* a side command takes so many */
  uint64_t flow_bytes; /* that the write stream may still give */
  bool deaf;           /* nothing is answered any more */
  bool vanished;       /* registers read all ones */
  bool health_valid;   /* a log was read since the last recovery */
  bool ready, gone;
  uint8_t step, error;
  uint32_t error_detail, unsafe_shutdowns;
  struct fake_gateware_fault faults[FAKE_GATEWARE_FAULTS_MAX];

  /* what happened */
  uint64_t stream_bytes; /* taken from the write stream so far: byte i of it is fake_stream_byte(i) */
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
  uint8_t *durable; /* the medium as a loss of power would leave it */
};

uint8_t fake_stream_byte(uint64_t index);

void fake_gateware_open(struct fake_gateware *fake, uint64_t blocks, uint8_t block_shift);
void fake_gateware_close(struct fake_gateware *fake);

uint32_t fake_gateware_read(struct fake_gateware *fake, uint32_t offset);
void fake_gateware_write(struct fake_gateware *fake, uint32_t offset, uint32_t value);
void fake_gateware_step(struct fake_gateware *fake);

/* The core resets the drive and goes on; the health log is not there yet. With `power_lost` everything goes that was
 * not flushed, and the log will say so. */
void fake_gateware_recover(struct fake_gateware *fake, bool power_lost);

/* An answer that nobody asked for, as from before the processor's restart. */
void fake_gateware_answer(struct fake_gateware *fake, uint16_t tag, uint16_t status);

#endif
