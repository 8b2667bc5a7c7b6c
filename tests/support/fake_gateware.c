/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_gateware.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLUSH, WRITE, READ, DEALLOCATE, SHUTDOWN = 6 };
enum { STREAM, ADDRESS, MAILBOX };

#define STATUS_INVALID     0x8001u
#define STATUS_RANGE       0x8002u
#define STATUS_GONE        0x8004u
#define STATUS_POWER       0x8008u
#define STREAM_STEP_BLOCKS 64u /* of a stream write, per step */

__attribute__((noreturn)) static void die(const char *what) {
  fprintf(stderr, "fake_gateware: %s\n", what);
  abort();
}

uint8_t fake_stream_byte(uint64_t index) {
  uint64_t x = (index >> 3) * UINT64_C(0x9e3779b97f4a7c15);

  x ^= x >> 29;
  return (uint8_t)(x >> (8u * (index & 7u)));
}

void fake_gateware_open(struct fake_gateware *fake, uint64_t blocks, uint8_t block_shift) {
  *fake = (struct fake_gateware){.blocks = blocks,
                                 .block_shift = block_shift,
                                 .volatile_cache = true,
                                 .health_valid = true,
                                 .ready = true,
                                 .version = SPATE_REGS_VERSION_MAJOR_NOW << SPATE_REGS_VERSION_MAJOR_SHIFT |
                                            SPATE_REGS_VERSION_MINOR_NOW,
                                 .unsafe_shutdowns = 7,
                                 .side_steps = 3,
                                 .medium = calloc(blocks, (size_t)1 << block_shift),
                                 .durable = calloc(blocks, (size_t)1 << block_shift)};
  if (fake->medium == NULL || fake->durable == NULL) die("no memory for the drive");
}

void fake_gateware_close(struct fake_gateware *fake) {
  free(fake->medium);
  free(fake->durable);
}

/* ---- the drive ---- */

static void answer(struct fake_gateware *fake, uint16_t tag, uint16_t status, uint64_t done) {
  if (fake->response_count == FAKE_GATEWARE_OPEN_MAX) die("more responses than the queue holds");
  fake->responses[fake->response_count].tag = tag;
  fake->responses[fake->response_count].status = status;
  fake->responses[fake->response_count++].done = done;
}

void fake_gateware_answer(struct fake_gateware *fake, uint16_t tag, uint16_t status) {
  fake->open_count++;
  answer(fake, tag, status, 0);
}

static uint16_t fault_of(struct fake_gateware *fake, const struct fake_command *command) {
  for (unsigned i = 0; i < FAKE_GATEWARE_FAULTS_MAX; i++) {
    struct fake_gateware_fault *fault = &fake->faults[i];
    bool touches =
        fault->lba >= command->lba && fault->lba - command->lba < (command->blocks == 0 ? 1 : command->blocks);
    if (fault->times == 0 || fault->op != command->op || fault->source != command->source || !touches) continue;
    fault->times--;
    return fault->status;
  }
  return 0;
}

static uint8_t *at(uint8_t *base, const struct fake_gateware *fake, uint64_t block) {
  return base + (block << fake->block_shift);
}

static void store(struct fake_gateware *fake, uint64_t lba, const void *from, uint32_t blocks, bool durable) {
  memcpy(at(fake->medium, fake, lba), from, (size_t)blocks << fake->block_shift);
  if (durable || !fake->volatile_cache) memcpy(at(fake->durable, fake, lba), from, (size_t)blocks << fake->block_shift);
}

/* The status of a flush or a shutdown that has been carried out. */
static uint16_t tell(struct fake_gateware *fake) {
  const bool untold = fake->untold;

  fake->untold = false;
  return untold ? STATUS_POWER : 0;
}

static uint16_t side_carry_out(struct fake_gateware *fake, const struct fake_command *command, uint64_t *done) {
  const size_t bytes = (size_t)command->blocks << fake->block_shift;
  uint16_t status = fault_of(fake, command);

  if (fake->gone) return STATUS_GONE;
  if (status != 0) return status;
  if (command->op != FLUSH && command->op != SHUTDOWN && command->lba + command->blocks > fake->blocks)
    return STATUS_RANGE;
  *done = command->blocks;
  switch (command->op) {
  case FLUSH:
    memcpy(fake->durable, fake->medium, (size_t)fake->blocks << fake->block_shift);
    fake->flushes++;
    *done = command->written_blocks;
    return tell(fake);
  case WRITE:
    if (bytes > sizeof fake->mailbox) return STATUS_INVALID;
    store(fake, command->lba, fake->mailbox, command->blocks, command->fua);
    fake->mailbox_writes++;
    fake->fua_writes += command->fua;
    return 0;
  case READ:
    if (bytes > sizeof fake->mailbox) return STATUS_INVALID;
    memcpy(fake->mailbox, at(fake->medium, fake, command->lba), bytes);
    return 0;
  case DEALLOCATE:
    memset(at(fake->medium, fake, command->lba), 0, bytes);
    fake->trims++;
    return 0;
  case SHUTDOWN:
    fake->shutdowns++;
    fake->gone = true;
    fake->ready = false;
    fake->interrupts |= SPATE_REGS_INTERRUPT_STATUS_GONE;
    return tell(fake);
  default: return STATUS_INVALID;
  }
}

/* Transfer a block between memory and the media. */
static void move_block(struct fake_gateware *fake, const struct fake_command *command) {
  const struct fake_gateware_memory *far = fake->far_memory;
  const size_t bytes = (size_t)1 << fake->block_shift;
  const uint64_t lba = command->lba + command->done_blocks;
  const uint64_t address = command->address + ((uint64_t)command->done_blocks << fake->block_shift);

  if (command->op == WRITE)
    store(fake, lba, far != NULL ? far->load(far->context, address, bytes) : fake->memory + address, 1, command->fua);
  else if (far != NULL)
    far->store(far->context, address, at(fake->medium, fake, lba), bytes);
  else
    memcpy(fake->memory + address, at(fake->medium, fake, lba), bytes);
}

/* A step of the oldest data command. True: the command has ended. */
static bool data_step(struct fake_gateware *fake, struct fake_command *command, uint16_t *status) {
  const uint32_t block_bytes = UINT32_C(1) << fake->block_shift;

  *status = command->done_blocks == 0 ? fault_of(fake, command) : 0;
  if (*status != 0) return true;
  if (command->lba + command->blocks > fake->blocks) {
    *status = STATUS_RANGE;
    return true;
  }
  for (uint32_t i = 0; i < STREAM_STEP_BLOCKS && command->done_blocks < command->blocks; i++) {
    uint8_t *medium = at(fake->medium, fake, command->lba + command->done_blocks);
    if (command->source == ADDRESS) {
      move_block(fake, command);
    } else {
      if (fake->flow_bytes < block_bytes) return false;
      fake->flow_bytes -= block_bytes;
      for (uint32_t byte = 0; byte < block_bytes; byte++)
        medium[byte] = fake_stream_byte(fake->stream_bytes++);
    }
    if (command->op == WRITE) fake->written_blocks++;
    command->done_blocks++;
  }
  return command->done_blocks == command->blocks;
}

void fake_gateware_step(struct fake_gateware *fake) {
  uint16_t status;
  uint64_t done = 0;

  if (fake->unanswering) return;
  if (fake->side_there && (fake->ready || fake->gone) && fake->side.wait_steps-- == 0) {
    fake->side_there = false;
    status = side_carry_out(fake, &fake->side, &done);
    answer(fake, fake->side.tag, status, done);
  }
  if (fake->data_count > 0 && fake->ready && data_step(fake, &fake->data[0], &status)) {
    answer(fake, fake->data[0].tag, status, status == 0 ? fake->data[0].blocks : 0);
    memmove(&fake->data[0], &fake->data[1], --fake->data_count * sizeof fake->data[0]);
  }
}

void fake_gateware_reset(struct fake_gateware *fake, enum fake_power power) {
  fake->interrupts |= SPATE_REGS_INTERRUPT_STATUS_RECOVERY;
  fake->health_valid = fake->ready = false;
  fake->power = power;
  if (power != FAKE_POWER_KEPT) memcpy(fake->medium, fake->durable, (size_t)fake->blocks << fake->block_shift);
}

void fake_gateware_verdict(struct fake_gateware *fake, enum fake_power power) {
  if (power == FAKE_POWER_KEPT) return;
  if (power == FAKE_POWER_LOST) {
    fake->losses++;
    fake->unsafe_shutdowns++;
  } else {
    fake->unknown++;
  }
  fake->untold = true;
  fake->interrupts |= SPATE_REGS_INTERRUPT_STATUS_POWER;
}

void fake_gateware_return(struct fake_gateware *fake) {
  fake_gateware_verdict(fake, fake->power);
  fake->health_valid = fake->ready = true;
}

/* ---- registers ---- */

static void start(struct fake_gateware *fake, uint32_t value) {
  const uint32_t *registers = fake->registers;
  struct fake_command command = {
      .op = (uint8_t)(value & SPATE_REGS_COMMAND_OP),
      .source = (uint8_t)((value & SPATE_REGS_COMMAND_SOURCE) >> SPATE_REGS_COMMAND_SOURCE_SHIFT),
      .fua = (value & SPATE_REGS_COMMAND_FUA) != 0,
      .tag = (uint16_t)(value >> SPATE_REGS_COMMAND_TAG_SHIFT),
      .lba = registers[SPATE_REGS_COMMAND_LBA_LOW / 4] | (uint64_t)registers[SPATE_REGS_COMMAND_LBA_HIGH / 4] << 32,
      .address = registers[SPATE_REGS_COMMAND_ADDRESS_LOW / 4] |
                 (uint64_t)registers[SPATE_REGS_COMMAND_ADDRESS_HIGH / 4] << 32,
      .blocks = registers[SPATE_REGS_COMMAND_BLOCKS / 4],
      .wait_steps = fake->side_steps,
      .written_blocks = fake->written_blocks,
  };

  if (fake->open_count == FAKE_GATEWARE_OPEN_MAX || fake->side_there)
    die("a command was started while its lane was full");
  fake->open_count++;
  fake->starts++;
  if ((command.op == WRITE || command.op == READ) && command.source != MAILBOX) {
    if (command.source != (fake->memory_mode ? ADDRESS : STREAM)) die("a source that this core does not have");
    fake->data[fake->data_count++] = command;
    if (fake->data_count > fake->most_data_open) fake->most_data_open = fake->data_count;
  } else {
    fake->side = command;
    fake->side_there = true;
  }
}

void fake_gateware_write(struct fake_gateware *fake, uint32_t offset, uint32_t value) {
  fake_gateware_step(fake);
  if (offset >= SPATE_REGS_MAILBOX && offset < SPATE_REGS_MAILBOX + sizeof fake->mailbox) {
    if (fake->side_there && fake->side.source == MAILBOX) die("the mailbox was written while a command used it");
    fake->mailbox[(offset - SPATE_REGS_MAILBOX) / 4] = value;
    return;
  }
  if (offset == SPATE_REGS_RESPONSE_TAKE && fake->response_count > 0) {
    memmove(&fake->responses[0], &fake->responses[1], --fake->response_count * sizeof fake->responses[0]);
    fake->open_count--;
  } else if (offset == SPATE_REGS_COMMAND && (value & SPATE_REGS_COMMAND_START) != 0) {
    start(fake, value);
  } else if (offset == SPATE_REGS_INTERRUPT_STATUS) {
    fake->interrupts &= ~value;
  } else if (offset < sizeof fake->registers) {
    fake->registers[offset / 4] = value;
  }
}

static uint32_t status_register(const struct fake_gateware *fake) {
  const bool room = fake->open_count < FAKE_GATEWARE_OPEN_MAX && !fake->side_there;

  return (fake->ready ? SPATE_REGS_STATUS_READY : 0) | (fake->gone ? SPATE_REGS_STATUS_GONE : 0) |
         (fake->health_valid ? SPATE_REGS_STATUS_HEALTH_VALID : 0) |
         (fake->volatile_cache ? SPATE_REGS_STATUS_VOLATILE_CACHE : 0) |
         (fake->block_shift == 12 ? SPATE_REGS_STATUS_BLOCK_4096 : 0) | (room ? SPATE_REGS_STATUS_COMMAND_READY : 0) |
         (fake->response_count > 0 ? SPATE_REGS_STATUS_RESPONSE_VALID : 0);
}

uint32_t fake_gateware_read(struct fake_gateware *fake, uint32_t offset) {
  fake_gateware_step(fake);
  if (fake->vanished) return UINT32_MAX;
  fake->vanished = fake->reads_left == 1;
  if (fake->reads_left > 0) fake->reads_left--;
  if (offset >= SPATE_REGS_MAILBOX && offset < SPATE_REGS_MAILBOX + sizeof fake->mailbox)
    return fake->mailbox[(offset - SPATE_REGS_MAILBOX) / 4];
  switch (offset) {
  case SPATE_REGS_MAGIC: return SPATE_REGS_MAGIC_VALUE_NOW;
  case SPATE_REGS_VERSION: return fake->version;
  case SPATE_REGS_RING: return fake->memory_mode ? 0 : 262144 - 8192;
  case SPATE_REGS_STATUS: return status_register(fake);
  case SPATE_REGS_INTERRUPT_STATUS: return fake->interrupts | (fake->response_count > 0);
  case SPATE_REGS_BRING_UP: return fake->step | (uint32_t)fake->error << SPATE_REGS_BRING_UP_ERROR_SHIFT;
  case SPATE_REGS_ERROR_DETAIL: return fake->error_detail;
  case SPATE_REGS_BLOCKS_LOW: return (uint32_t)fake->blocks;
  case SPATE_REGS_BLOCKS_HIGH: return (uint32_t)(fake->blocks >> 32);
  case SPATE_REGS_RESPONSE:
    return fake->responses[0].tag | (uint32_t)fake->responses[0].status << SPATE_REGS_RESPONSE_STATUS_SHIFT;
  case SPATE_REGS_RESPONSE_DONE_LOW: return (uint32_t)fake->responses[0].done;
  case SPATE_REGS_RESPONSE_DONE_HIGH: return (uint32_t)(fake->responses[0].done >> 32);
  case SPATE_REGS_HEALTH: return 300u << SPATE_REGS_HEALTH_TEMPERATURE_K_SHIFT;
  case SPATE_REGS_WEAR: return 100;
  case SPATE_REGS_UNSAFE_SHUTDOWNS: return fake->unsafe_shutdowns;
  case SPATE_REGS_POWER: return (uint32_t)fake->unknown << SPATE_REGS_POWER_UNKNOWN_SHIFT | fake->losses;
  case SPATE_REGS_WRITTEN_LOW: return (uint32_t)fake->written_blocks;
  case SPATE_REGS_WRITTEN_HIGH: return (uint32_t)(fake->written_blocks >> 32);
  default: return 0;
  }
}
