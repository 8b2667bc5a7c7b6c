/* SPDX-License-Identifier: Apache-2.0 */
/* Registers, bits and order of accesses: PG021 v7.1, "Register Space", "Scatter/Gather Descriptor" and "Programming
 * Sequence". */
#include "s2mm.h"

#include <spate/port.h>

/* Offsets. */
#define CONTROL            0x30u /* S2MM_DMACR */
#define STATUS             0x34u /* S2MM_DMASR */
#define CURRENT_DESCRIPTOR 0x38u /* S2MM_CURDESC, upper half at 0x3C */
#define TAIL_DESCRIPTOR    0x40u /* S2MM_TAILDESC, upper half at 0x44 */
#define UPPER_HALF         0x04u

/* DMACR. No interrupt is enabled: IOC may come without data, and data before IOC. Descriptors decide. */
#define RUN   0x1u
#define RESET 0x4u

/* DMASR. */
#define HALTED         0x001u
#define IDLE           0x002u
#define HAS_SG         0x008u
#define DATA_ERRORS    0x070u /* DMAIntErr, DMASlvErr, DMADecErr */
#define FETCH_ERRORS   0x700u /* SGIntErr, SGSlvErr, SGDecErr */
#define ALL_INTERRUPTS 0x7000u

/* Status of a descriptor. */
#define TRANSFERRED       0x03ffffffu
#define DESCRIPTOR_ERRORS 0x70000000u
#define COMPLETED         0x80000000u

#define LENGTH_BITS_MIN 8u
#define LENGTH_BITS_MAX 26u
#define RESET_MS        100u
#define START_MS        100u
#define BEHIND_MS       100u /* a completed descriptor must be visible so long after the DMA has left it */

static uint64_t ticks_of_ms(uint32_t ms) { return spate_port_ticks_per_second() * ms / 1000u + 1u; }

static uint32_t get(const struct s2mm *dma, uint32_t offset) {
  return spate_port_read32(dma->config.registers + offset);
}

static void put(const struct s2mm *dma, uint32_t offset, uint32_t value) {
  spate_port_write32(dma->config.registers + offset, value);
}

/* The upper half first: the lower half of TAILDESC starts the DMA. */
static void put_address(const struct s2mm *dma, uint32_t offset, const struct s2mm_descriptor *descriptor) {
  const uint64_t address = spate_port_dma_address(descriptor);

  if (dma->config.wide_addresses) put(dma, offset + UPPER_HALF, (uint32_t)(address >> 32));
  put(dma, offset, (uint32_t)address);
}

static struct s2mm_descriptor *descriptor_of(const struct s2mm *dma, uint32_t number) {
  return &dma->descriptors[number & (dma->config.piece_count - 1u)];
}

static enum spate_error fail(struct s2mm *dma, enum s2mm_failure failure, enum spate_error error) {
  dma->state = S2MM_FAILED;
  dma->failure = failure;
  dma->failed_piece = dma->config.piece_count ? dma->next & (dma->config.piece_count - 1u) : 0;
  return error;
}

/* Waits until `wanted` is all that is left of `mask` in the register. */
static bool settles(const struct s2mm *dma, uint32_t offset, uint32_t mask, uint32_t wanted, uint32_t ms) {
  const uint64_t begin = spate_port_ticks(), limit = ticks_of_ms(ms);

  while ((get(dma, offset) & mask) != wanted) {
    if (spate_port_ticks() - begin > limit) return false;
    spate_port_relax();
  }
  return true;
}

/* A reset by either channel resets both. A register that reads as all ones never ends it. */
static enum spate_error reset(struct s2mm *dma) {
  put(dma, CONTROL, RESET);
  if (!settles(dma, CONTROL, RESET, 0, RESET_MS)) return fail(dma, S2MM_NO_RESET, SPATE_E_TIMEOUT);
  dma->state = S2MM_STOPPED;
  return SPATE_OK;
}

static void build(struct s2mm *dma) {
  const struct spate_region *ring = dma->config.ring;

  for (uint32_t i = 0; i < dma->config.piece_count; i++) {
    struct s2mm_descriptor *descriptor = &dma->descriptors[i];
    const uint64_t next = spate_port_dma_address(descriptor_of(dma, i + 1u));
    const uint64_t buffer = ring->first_dma + (uint64_t)i * dma->config.piece_bytes;
    descriptor->next = (uint32_t)next;
    descriptor->next_upper = (uint32_t)(next >> 32);
    descriptor->buffer = (uint32_t)buffer;
    descriptor->buffer_upper = (uint32_t)(buffer >> 32);
    descriptor->control = dma->config.piece_bytes;
    descriptor->status = 0;
  }
}

static bool is_valid(const struct s2mm_config *config) {
  if (config->registers == 0 || config->ring == NULL || config->ring->first_dma == 0) return false;
  if (config->length_bits < LENGTH_BITS_MIN || config->length_bits > LENGTH_BITS_MAX) return false;
  if (config->piece_bytes == 0 || config->piece_bytes % S2MM_DESCRIPTOR_BYTES != 0 ||
      config->piece_bytes >> config->length_bits != 0)
    return false;
  if (config->piece_count < 2 || (config->piece_count & (config->piece_count - 1u)) != 0) return false;
  const uint64_t bytes = (uint64_t)config->piece_bytes * config->piece_count;
  if (bytes > config->ring->bytes) return false;
  return config->wide_addresses || config->ring->first_dma + bytes - 1u <= UINT32_MAX;
}

enum spate_error s2mm_open(struct s2mm *dma, const struct s2mm_config *config) {
  struct s2mm_descriptor *descriptors = config->memory == NULL ? dma->descriptors : NULL;

  if (!is_valid(config)) return SPATE_E_INVALID;
  if (descriptors == NULL && config->memory != NULL)
    descriptors =
        spate_arena_take(config->memory, (size_t)config->piece_count * S2MM_DESCRIPTOR_BYTES, S2MM_DESCRIPTOR_BYTES);
  if (descriptors == NULL) return SPATE_E_MEMORY;
  *dma = (struct s2mm){.config = *config, .descriptors = descriptors};
  if (!config->wide_addresses && spate_port_dma_address(descriptors + config->piece_count) - 1u > UINT32_MAX)
    return SPATE_E_INVALID;
  const enum spate_error error = reset(dma);
  if (error != SPATE_OK) return error;
  if (!(get(dma, STATUS) & HAS_SG)) return fail(dma, S2MM_NOT_SG, SPATE_E_UNSUPPORTED);
  return SPATE_OK;
}

enum spate_error s2mm_start(struct s2mm *dma, const struct spate_stream *stream) {
  if (dma->state == S2MM_RUNNING) return SPATE_E_STATE;
  if (spate_stream_room(stream) != dma->config.piece_count) return SPATE_E_BUSY;
  if (dma->state == S2MM_FAILED || dma->state == S2MM_ENDED) {
    const enum spate_error error = reset(dma);
    if (error != SPATE_OK) return error;
  }
  build(dma);
  dma->failure = S2MM_OK;
  dma->next = 0;
  dma->given = dma->config.piece_count;
  dma->released_before = spate_stream_released(stream);
  dma->is_starved = false;
  dma->behind_ticks = 0;
  put_address(dma, CURRENT_DESCRIPTOR, descriptor_of(dma, 0)); /* writable while it is halted only */
  put(dma, CONTROL, RUN);
  if (!settles(dma, STATUS, HALTED, 0, START_MS)) return fail(dma, S2MM_NOT_STARTED, SPATE_E_TIMEOUT);
  spate_port_dma_write_barrier(); /* the descriptors, before the register write that lets the DMA read them */
  put_address(dma, TAIL_DESCRIPTOR, descriptor_of(dma, dma->given - 1u));
  dma->state = S2MM_RUNNING;
  return SPATE_OK;
}

/* Pushes completed descriptors, in order. `any`: at least one. */
static enum spate_error push_completed(struct s2mm *dma, struct spate_stream *stream, bool *any) {
  *any = false;
  while (dma->state == S2MM_RUNNING && dma->next != dma->given) {
    const uint32_t status = descriptor_of(dma, dma->next)->status;
    const uint32_t bytes = status & TRANSFERRED;
    if (!(status & COMPLETED)) return SPATE_OK;
    if (status & DESCRIPTOR_ERRORS) return fail(dma, S2MM_DATA_ERROR, SPATE_E_FATAL);
    if (bytes == 0 || bytes > dma->config.piece_bytes) return fail(dma, S2MM_LENGTH, SPATE_E_FATAL);
    const uint64_t index = dma->next & (dma->config.piece_count - 1u);
    const enum spate_error error = spate_stream_push(stream, index * dma->config.piece_bytes, bytes);
    if (error == SPATE_E_FULL) return SPATE_OK; /* the next clip is being armed: in a later turn */
    if (error != SPATE_OK) return error;
    *any = true;
    dma->next++;
    dma->pieces++;
    dma->bytes += bytes;
    dma->behind_ticks = 0;
    if (bytes < dma->config.piece_bytes) dma->state = S2MM_ENDED;
  }
  return SPATE_OK;
}

/* A descriptor may be fetched again only when its status is cleared: a set COMPLETED is an error (SGIntErr). */
static void give_back(struct s2mm *dma, const struct spate_stream *stream) {
  const uint32_t target = spate_stream_released(stream) - dma->released_before + dma->config.piece_count;

  if (dma->given == target) return;
  while (dma->given != target)
    descriptor_of(dma, dma->given++)->status = 0;
  dma->is_starved = false;
  spate_port_dma_write_barrier(); /* status, before the DMA may fetch the descriptor */
  put_address(dma, TAIL_DESCRIPTOR, descriptor_of(dma, dma->given - 1u));
}

static bool is_completed(const struct s2mm *dma, uint32_t number) {
  return descriptor_of(dma, number)->status & COMPLETED;
}

/* Is the oldest descriptor not completed, although the DMA has left it? */
static bool is_behind(const struct s2mm *dma, uint32_t status) {
  if (dma->next == dma->given || is_completed(dma, dma->next)) return false;
  if (status & IDLE) return true;
  return dma->next + 1u != dma->given && is_completed(dma, dma->next + 1u);
}

static enum spate_error look(struct s2mm *dma) {
  const uint32_t status = get(dma, STATUS);

  dma->status_register = status;
  if (status & ALL_INTERRUPTS) put(dma, STATUS, ALL_INTERRUPTS); /* a bit is cleared by writing 1 */
  if (status & FETCH_ERRORS) return fail(dma, S2MM_FETCH_ERROR, SPATE_E_FATAL);
  if (status & DATA_ERRORS) return fail(dma, S2MM_DATA_ERROR, SPATE_E_FATAL);
  if (status & HALTED) return fail(dma, S2MM_HALTED, SPATE_E_FATAL);
  if ((status & IDLE) && is_completed(dma, dma->given - 1u) && !dma->is_starved) {
    dma->is_starved = true;
    dma->starved++;
  }
  if (!is_behind(dma, status)) {
    dma->behind_ticks = 0;
    return SPATE_OK;
  }
  const uint64_t now = spate_port_ticks();
  if (dma->behind_ticks == 0) dma->behind_ticks = now;
  if (now - dma->behind_ticks > ticks_of_ms(BEHIND_MS)) return fail(dma, S2MM_NOT_COMPLETED, SPATE_E_FATAL);
  return SPATE_OK;
}

static void report_losses(struct s2mm *dma, struct spate_stream *stream) {
  if (dma->config.lost_bytes == NULL) return;
  const uint64_t lost = dma->config.lost_bytes(dma->config.context);
  if (lost > dma->lost_bytes) spate_stream_overrun(stream, lost - dma->lost_bytes);
  dma->lost_bytes = lost;
}

/* The DMA's status is read in turns without data only: a read of a register costs more than a turn. Before an error is
 * reported, descriptors are looked at once more: the DMA writes them before it halts. */
enum spate_error s2mm_work(struct s2mm *dma, struct spate_stream *stream) {
  bool any;

  if (dma->state == S2MM_FAILED) return SPATE_E_FATAL;
  report_losses(dma, stream);
  if (dma->state != S2MM_RUNNING) return SPATE_OK;
  spate_port_dma_read_barrier(); /* what was loaded in the last turn does not count */
  enum spate_error error = push_completed(dma, stream, &any);
  if (error != SPATE_OK || dma->state != S2MM_RUNNING) return error;
  give_back(dma, stream);
  if (any) return SPATE_OK;
  const enum spate_error found = look(dma);
  if (found == SPATE_OK) return SPATE_OK;
  const enum s2mm_failure failure = dma->failure;
  dma->state = S2MM_RUNNING;
  spate_port_dma_read_barrier();
  error = push_completed(dma, stream, &any);
  return error != SPATE_OK ? error : fail(dma, failure, found);
}

enum spate_error s2mm_stop(struct s2mm *dma) { return reset(dma); }

const char *s2mm_help(enum s2mm_failure failure) {
  static const char *const texts[S2MM_FAILURES] = {
      [S2MM_OK] = "no failure",
      [S2MM_NO_RESET] = "The reset of AXI DMA does not end. Check the base address, the clock of the DMA, and that its "
                        "S2MM channel is enabled.",
      [S2MM_NOT_SG] = "AXI DMA was built without scatter-gather. Enable the Scatter Gather Engine in the IP.",
      [S2MM_NOT_STARTED] = "AXI DMA stays halted. Check axi_resetn and the clock of M_AXI_SG.",
      [S2MM_DATA_ERROR] = "AXI DMA could not write data. Check that its M_AXI_S2MM reaches the ring in the address "
                          "editor, and that a packet is not longer than a piece.",
      [S2MM_FETCH_ERROR] = "AXI DMA could not read or write a descriptor. Check that its M_AXI_SG reaches the queue "
                           "memory in the address editor, and that this memory is not cached.",
      [S2MM_HALTED] = "AXI DMA halted without an error. Something else has stopped or reset it.",
      [S2MM_NOT_COMPLETED] = "AXI DMA has left a descriptor without completing it. Check that the queue memory is not "
                             "cached, and that nothing else uses this DMA.",
      [S2MM_LENGTH] = "A descriptor was completed with a length that no piece has. Check piece_bytes, length_bits, and "
                      "that the logic sends no empty packet.",
  };
  return failure < S2MM_FAILURES ? texts[failure] : "unknown failure";
}
