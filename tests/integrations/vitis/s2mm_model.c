/* SPDX-License-Identifier: Apache-2.0 */
#include "s2mm_model.h"

#include "machine/logic.h"
#include "machine/memory.h"
#include <spate/bytes.h>
#include <stdlib.h>
#include <string.h>

#define RANGE_BYTES 0x1000u

enum { CONTROL = 0x30, STATUS = 0x34, CURRENT = 0x38, CURRENT_UPPER = 0x3c, TAIL = 0x40, TAIL_UPPER = 0x44 };
enum { RUN = 1, RESET = 4 };
enum {
  HALTED = 1,
  IDLE = 2,
  HAS_SG = 8,
  DATA_SLAVE_ERROR = 0x20,
  DATA_DECODE_ERROR = 0x40,
  FETCH_INTERNAL_ERROR = 0x100,
  FETCH_DECODE_ERROR = 0x400,
  IOC = 0x1000,
  ERROR_INTERRUPT = 0x4000,
};

/* Offsets in a descriptor. */
enum { NEXT = 0x00, BUFFER = 0x08, LENGTH = 0x18, RESULT = 0x1c, DESCRIPTOR_BYTES = 0x40 };
#define COMPLETED        0x80000000u
#define RESULT_DECODE    0x40000000u
#define START_AND_END    0x0c000000u
#define LENGTH_MASK      0x03ffffffu
#define INTERRUPT_LAG_PS (2 * SIM_PS_PER_US)

uint8_t s2mm_model_byte(uint64_t at) { return (uint8_t)((at * UINT64_C(0x9e3779b97f4a7c15)) >> 56); }

static void halt(struct s2mm_model *model, uint32_t errors) {
  model->status |= HALTED | errors | (errors ? ERROR_INTERRUPT : 0u);
  model->control &= ~(uint32_t)RUN;
}

static void late_halt(void *context, uint64_t generation) {
  struct s2mm_model *model = context;
  if (model->generation == generation) halt(model, DATA_DECODE_ERROR);
}

struct late_status {
  struct s2mm_model *model;
  uint64_t address;
  uint32_t result;
};

static void write_status(struct s2mm_model *model, uint64_t address, uint32_t result) {
  uint8_t bytes[4];
  spate_put32(bytes, result);
  if (!sim_memory_store(model->sim, address + RESULT, bytes, sizeof bytes)) halt(model, FETCH_DECODE_ERROR);
}

static void status_arrives(void *context, uint64_t number) {
  struct late_status *late = context;
  (void)number;
  write_status(late->model, late->address, late->result);
  free(late);
}

static void complete(struct s2mm_model *model, uint64_t address, uint32_t result) {
  model->status |= IOC;
  if (model->variant == S2MM_LOSES_A_STATUS && model->delivered == model->at) return;
  if (model->variant == S2MM_LOSES_THE_LAST && model->delivered >= model->at) return;
  if (model->variant != S2MM_LATE) {
    write_status(model, address, result);
    return;
  }
  struct late_status *late = malloc(sizeof *late);
  if (late == NULL) abort();
  *late = (struct late_status){model, address, result};
  sim_at(model->sim, sim_now_ps(model->sim) + model->late_ps, status_arrives, late, 0);
}

/* What the variant makes of the bytes of this piece. */
static uint32_t result_of(const struct s2mm_model *model, uint32_t length) {
  const bool this_one = model->delivered == model->at;
  uint32_t bytes = model->piece_bytes < length ? model->piece_bytes : length;

  if (this_one && model->variant == S2MM_NO_BYTES) bytes = 0;
  if (this_one && model->variant == S2MM_TOO_MANY_BYTES) bytes = length + 1u;
  if (this_one && model->variant == S2MM_SHORT_PACKET) bytes = model->short_bytes;
  return COMPLETED | START_AND_END | bytes;
}

static bool write_data(struct s2mm_model *model, uint64_t address, uint32_t bytes) {
  uint8_t *data = malloc(bytes);
  if (data == NULL) abort();
  for (uint32_t i = 0; i < bytes; i++)
    data[i] = s2mm_model_byte(model->delivered * model->piece_bytes + i);
  const bool stored = sim_memory_store(model->sim, address, data, bytes);
  free(data);
  return stored;
}

/* One descriptor. False: the channel stops. */
static bool carry_out(struct s2mm_model *model) {
  const bool this_one = model->delivered == model->at;
  const uint8_t *shown = sim_memory_device(model->sim, model->current, DESCRIPTOR_BYTES);
  uint8_t descriptor[DESCRIPTOR_BYTES];

  if (shown == NULL) return halt(model, FETCH_DECODE_ERROR), false;
  memcpy(descriptor, shown, sizeof descriptor);
  if (spate_get32(descriptor + RESULT) & COMPLETED) return halt(model, FETCH_INTERNAL_ERROR), false;
  if (this_one && model->variant == S2MM_HALTS) return halt(model, 0), false;
  if (this_one && model->variant == S2MM_DATA_SLAVE_ERROR) return halt(model, DATA_SLAVE_ERROR), false;
  if (this_one && model->variant == S2MM_DESCRIPTOR_ERROR) {
    write_status(model, model->current, COMPLETED | RESULT_DECODE);
    model->failing = true;
    sim_at(model->sim, sim_now_ps(model->sim) + INTERRUPT_LAG_PS, late_halt, model, model->generation);
    return false;
  }
  const uint32_t result = result_of(model, spate_get32(descriptor + LENGTH) & LENGTH_MASK);
  uint32_t bytes = result & LENGTH_MASK;
  if (bytes > model->piece_bytes) bytes = model->piece_bytes;
  if (bytes > 0 && !write_data(model, spate_get64(descriptor + BUFFER), bytes))
    return halt(model, DATA_DECODE_ERROR), false;
  complete(model, model->current, result);
  model->delivered++;
  model->resume = spate_get64(descriptor + NEXT);
  if (model->current == model->tail) {
    model->at_tail = true;
    model->status |= IDLE;
    return false;
  }
  model->current = model->resume;
  return true;
}

static void carry_out_all(struct s2mm_model *model) {
  while (model->delivered < model->arrived && (model->control & RUN) && !(model->status & (HALTED | IDLE)) &&
         !model->failing && model->tail != 0 && carry_out(model))
    continue;
}

static uint64_t waiting(const struct s2mm_model *model) { return model->arrived - model->delivered; }

static void piece_arrives(void *context, uint64_t number) {
  struct s2mm_model *model = context;

  if (model->variant == S2MM_IOC_WITHOUT_DATA) model->status |= IOC;
  if (model->fifo_pieces > 0 && waiting(model) >= model->fifo_pieces)
    model->lost_bytes += model->piece_bytes;
  else
    model->arrived++;
  carry_out_all(model);
  if (number + 1u < model->pieces)
    sim_at(model->sim, sim_now_ps(model->sim) + model->period_ps, piece_arrives, model, number + 1u);
}

static void reset(struct s2mm_model *model) {
  model->control = model->variant == S2MM_RESETS_FOR_EVER ? RESET : 0;
  model->status = HALTED | (model->variant == S2MM_SIMPLE ? 0u : (uint32_t)HAS_SG);
  model->current = model->tail = 0;
  model->at_tail = model->failing = false;
  model->generation++;
  model->resets++;
}

static void start(struct s2mm_model *model) {
  if (model->control & RUN || model->variant == S2MM_STAYS_HALTED) return;
  model->control |= RUN;
  model->status &= ~(uint32_t)HALTED;
}

static void new_tail(struct s2mm_model *model, uint32_t low) {
  if (!(model->control & RUN)) return;
  model->tail = (model->tail & ~(uint64_t)UINT32_MAX) | low;
  if (model->at_tail) model->current = model->resume;
  model->at_tail = false;
  model->status &= ~(uint32_t)IDLE;
  carry_out_all(model);
}

static void upper(uint64_t *address, uint32_t value) { *address = (*address & UINT32_MAX) | (uint64_t)value << 32; }

static void write_register(void *context, uint64_t address, const uint8_t *data, uint64_t bytes) {
  struct s2mm_model *model = context;
  const uint32_t value = spate_get32(data);

  (void)bytes;
  switch (address - S2MM_MODEL_BASE) {
  case CONTROL:
    if (value & RESET)
      reset(model);
    else if (value & RUN)
      start(model);
    break;
  case STATUS: model->status &= ~(value & 0x7000u); break;
  case CURRENT:
    if (model->status & HALTED) model->current = (model->current & ~(uint64_t)UINT32_MAX) | value;
    break;
  case CURRENT_UPPER:
    if (model->status & HALTED) upper(&model->current, value);
    break;
  case TAIL: new_tail(model, value); break;
  case TAIL_UPPER: upper(&model->tail, value); break;
  default: break;
  }
}

static void say_last_words(struct s2mm_model *model) {
  if (model->delivered < model->pieces || model->status & HALTED) return;
  model->arrived++;
  (void)carry_out(model);
  halt(model, DATA_SLAVE_ERROR);
}

static void read_register(void *context, uint64_t address, uint8_t *data, uint64_t bytes) {
  struct s2mm_model *model = context;
  uint32_t value = 0;

  (void)bytes;
  switch (address - S2MM_MODEL_BASE) {
  case CONTROL: value = model->control; break;
  case STATUS:
    if (model->variant == S2MM_LAST_WORDS && model->pieces > 0) say_last_words(model);
    value = model->status;
    model->status_reads++;
    break;
  default: break;
  }
  spate_put32(data, model->variant == S2MM_ABSENT ? UINT32_MAX : value);
}

void s2mm_model_open(struct s2mm_model *model, struct sim *sim) {
  const struct sim_window window = {S2MM_MODEL_BASE, RANGE_BYTES, read_register, write_register, model};

  model->sim = sim;
  reset(model);
  model->resets = 0;
  sim_window_add(sim, &window);
  if (model->pieces > 0) sim_at(sim, sim_now_ps(sim) + model->period_ps, piece_arrives, model, 0);
}
