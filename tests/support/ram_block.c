/* SPDX-License-Identifier: Apache-2.0 */
#include "ram_block.h"

#include <spate/port.h> /* SPATE_DMA_ALIGN */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noreturn)) static void die(const char *what) {
  (void)fprintf(stderr, "ram_block: %s\n", what);
  abort();
}

uint64_t ram_random(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static struct ram_block *ram_of(struct spate_block *block) { return (struct ram_block *)block; }

static uint64_t data_bytes(const struct ram_block *ram, const struct spate_io *io) {
  return (uint64_t)io->blocks << ram->block.block_shift;
}

/* The CPU's pointer to byte `at` of a request's data, and how many contiguous bytes follow it. Pages of a region
 * without a start are at the addresses in its table, which are pointers on the host. */
static uint8_t *data_at(const struct spate_io *io, uint64_t at, uint64_t *piece_bytes) {
  if (io->region == NULL) return (uint8_t *)io->buffer + at;
  uint64_t offset = io->offset_bytes + at;
  if (io->region->start != NULL) return io->region->start + offset;
  uint64_t in_page = offset & (SPATE_PAGE_BYTES - 1);
  if (*piece_bytes > SPATE_PAGE_BYTES - in_page) *piece_bytes = SPATE_PAGE_BYTES - in_page;
  return (uint8_t *)(uintptr_t)(spate_region_page_dma(io->region, offset >> SPATE_PAGE_SHIFT) + in_page);
}

enum direction { TO_CALLER, FROM_CALLER, POISON_CALLER };

static void move_data(const struct spate_io *io, uint8_t *medium, uint64_t bytes, enum direction direction) {
  for (uint64_t at = 0; at < bytes;) {
    uint64_t piece_bytes = bytes - at;
    uint8_t *caller = data_at(io, at, &piece_bytes);
    if (direction == TO_CALLER) memcpy(caller, medium + at, piece_bytes);
    if (direction == FROM_CALLER) memcpy(medium + at, caller, piece_bytes);
    if (direction == POISON_CALLER) memset(caller, RAM_POISON, piece_bytes);
    at += piece_bytes;
  }
}

static void fill(struct ram_block *ram, const struct spate_io *io, int byte) {
  uint8_t *start = ram->memory + (io->lba << ram->block.block_shift);
  uint64_t bytes = data_bytes(ram, io);
  /* Give whole pages of zeros back to the system, so that erasing a terabyte needs no memory. */
  bool aligned = ((uintptr_t)start & 4095u) == 0 && (bytes & 4095u) == 0;
  if (byte == 0 && aligned && ram->fd < 0 && madvise(start, bytes, MADV_DONTNEED) == 0) return;
  memset(start, byte, bytes);
}

static void keep_entry(struct ram_block *ram, const struct spate_io *io) {
  if (ram->log_count == ram->log_capacity) {
    ram->log_capacity = ram->log_capacity ? ram->log_capacity * 2 : 64;
    struct ram_log_entry *larger = realloc(ram->log, ram->log_capacity * sizeof *larger);
    if (larger == NULL) die("no memory for the log");
    ram->log = larger;
  }
  struct ram_log_entry *entry = &ram->log[ram->log_count++];
  *entry = (struct ram_log_entry){.op = io->op,
                                  .flags = io->flags,
                                  .blocks = io->blocks,
                                  .lba = io->lba,
                                  .submitted_at = ram->events,
                                  .completed_at = UINT64_MAX};
  if (ram->keep_data && io->op == SPATE_WRITE) {
    entry->data = malloc(data_bytes(ram, io));
    if (entry->data == NULL) die("no memory for the log's data");
    move_data(io, entry->data, data_bytes(ram, io), FROM_CALLER);
  }
}

/* A drive may carry out requests in flight in any order, so two requests that touch a block race if one of them
 * writes. */
static bool races(const struct spate_io *a, const struct spate_io *b) {
  if (a->op == SPATE_READ && b->op == SPATE_READ) return false;
  return a->lba < b->lba + b->blocks && b->lba < a->lba + a->blocks;
}

static enum spate_error check_data(const struct ram_block *ram, const struct spate_io *io) {
  uint64_t bytes = data_bytes(ram, io);
  if (io->blocks > ram->block.request_blocks_max) return SPATE_E_INVALID;
  if ((io->region == NULL) == (io->buffer == NULL)) return SPATE_E_INVALID;
  uint64_t start = io->region ? io->offset_bytes : (uintptr_t)io->buffer;
  if ((start & 3u) != 0) return SPATE_E_INVALID;
  if (io->region && (io->offset_bytes > io->region->bytes || bytes > io->region->bytes - io->offset_bytes))
    return SPATE_E_INVALID;
  if ((io->flags & SPATE_IO_CPU) && ((start | bytes) & (SPATE_DMA_ALIGN - 1)) != 0) return SPATE_E_INVALID;
  return SPATE_OK;
}

static enum spate_error check(const struct ram_block *ram, const struct spate_io *io) {
  if (io->op >= RAM_OPS || io->done == NULL) return SPATE_E_INVALID;
  if (io->op == SPATE_FLUSH) return io->lba || io->blocks ? SPATE_E_INVALID : SPATE_OK;
  if (io->op == SPATE_TRIM && !ram->block.can_trim) return SPATE_E_UNSUPPORTED;
  if (io->op == SPATE_ZERO && !ram->block.can_zero) return SPATE_E_UNSUPPORTED;
  if (io->blocks == 0 || io->lba >= ram->block.blocks || io->blocks > ram->block.blocks - io->lba)
    return SPATE_E_INVALID;
  return io->op == SPATE_READ || io->op == SPATE_WRITE ? check_data(ram, io) : SPATE_OK;
}

/* Memory outside regions belongs to the CPU: where its caches are not coherent, the device would see old contents. */
static bool carries_stale_data(const struct spate_io *io) {
  bool has_data = io->op == SPATE_READ || io->op == SPATE_WRITE;
  return has_data && io->region == NULL && (io->flags & SPATE_IO_CPU) == 0;
}

static enum spate_error ram_submit(struct spate_block *block, struct spate_io *io) {
  struct ram_block *ram = ram_of(block);
  for (unsigned i = 0; i < ram->pending_count; i++)
    if (ram->pending[i].io == io) die("a request was submitted while still in flight");

  enum spate_error error = check(ram, io);
  if (error != SPATE_OK) return error;
  if (carries_stale_data(io))
    die("a request on CPU memory without SPATE_IO_CPU: the library does no cache maintenance for it");
  if (ram->pending_count >= ram->block.depth || ram->pending_count == RAM_DEPTH_MAX) {
    ram->full_count++;
    return SPATE_E_FULL;
  }

  ram->events++;
  ram->count[io->op]++;
  if (io->flags & SPATE_IO_FUA) ram->fua_count++;
  bool race = false;
  for (unsigned i = 0; i < ram->pending_count; i++)
    race |= races(io, ram->pending[i].io);
  ram->overlaps += race;
  if (io->op == SPATE_READ) move_data(io, NULL, data_bytes(ram, io), POISON_CALLER);
  if (ram->keep_log) keep_entry(ram, io);
  size_t log_index = ram->keep_log ? ram->log_count - 1 : SIZE_MAX;
  ram->pending[ram->pending_count++] = (struct ram_pending){io, log_index, UINT64_MAX};
  if (ram->pending_count > ram->pending_max) ram->pending_max = ram->pending_count;
  if (ram->observer != NULL) ram->observer->taken(ram->observer->context, ram, io);
  return SPATE_OK;
}

static void start_queued(struct ram_block *ram) {
  for (unsigned i = 0; i < ram->pending_count; i++)
    if (ram->pending[i].ready_at_poll == UINT64_MAX) ram->pending[i].ready_at_poll = ram->polls + ram->delay_polls;
}

static void ram_kick(struct spate_block *block) {
  ram_of(block)->kicks++;
  start_queued(ram_of(block));
}

/* Which of the ready requests completes next; pending_count if none is ready. */
static unsigned choose(struct ram_block *ram) {
  unsigned ready[RAM_DEPTH_MAX];
  unsigned count = 0;
  for (unsigned i = 0; i < ram->pending_count; i++) {
    const struct ram_pending *pending = &ram->pending[i];
    if (pending->ready_at_poll <= ram->polls && !(RAM_OP(pending->io->op) & ram->held_ops)) ready[count++] = i;
  }
  if (count == 0) return ram->pending_count;
  if (ram->order == RAM_IN_ORDER) return ready[0];
  if (ram->order == RAM_REVERSED) return ready[count - 1];
  return ready[ram_random(&ram->random) % count];
}

static const struct ram_fault *find_fault(struct ram_block *ram, const struct spate_io *io) {
  for (unsigned i = 0; i < ram->fault_count; i++) {
    struct ram_fault *fault = &ram->faults[i];
    if (!(fault->ops & RAM_OP(io->op)) || fault->times == 0) continue;
    bool touches = io->op == SPATE_FLUSH || (io->lba <= fault->last_lba && fault->first_lba < io->lba + io->blocks);
    if (!touches) continue;
    if (fault->skip > 0) {
      fault->skip--;
      continue;
    }
    if (fault->times != RAM_ALWAYS) fault->times--;
    return fault;
  }
  return NULL;
}

/* What becomes of this write. */
static struct ram_lie take_lie(struct ram_block *ram, const struct spate_io *io) {
  struct ram_lie lie = ram->lie;
  bool touches = io->op == SPATE_WRITE && io->lba <= lie.last_lba && lie.first_lba < io->lba + io->blocks;
  if (touches && lie.skip > 0) ram->lie.skip--;
  if (!touches || lie.skip > 0) return (struct ram_lie){.kind = RAM_HONEST};
  ram->lie.kind = RAM_HONEST;
  return lie;
}

static void carry_out(struct ram_block *ram, const struct spate_io *io, const struct ram_lie *lie) {
  if (io->op == SPATE_FLUSH || lie->kind == RAM_PHANTOM) return;
  uint64_t lba = lie->kind == RAM_ELSEWHERE ? lie->other_lba : io->lba;
  uint8_t *medium = ram->memory + (lba << ram->block.block_shift);
  if (io->op == SPATE_READ) move_data(io, medium, data_bytes(ram, io), TO_CALLER);
  if (io->op == SPATE_WRITE) move_data(io, medium, data_bytes(ram, io), FROM_CALLER);
  if (io->op == SPATE_ZERO) fill(ram, io, 0);
  if (io->op == SPATE_TRIM && ram->trim_fill >= 0) fill(ram, io, ram->trim_fill);
}

static void complete(struct ram_block *ram, unsigned index) {
  struct ram_pending pending = ram->pending[index];
  struct spate_io *io = pending.io;
  ram->pending_count--;
  memmove(&ram->pending[index], &ram->pending[index + 1], (ram->pending_count - index) * sizeof pending);

  const struct ram_fault *fault = find_fault(ram, io);
  io->error = fault ? fault->error : SPATE_OK;
  io->detail = fault ? fault->detail : 0;
  const struct ram_lie lie = fault ? (struct ram_lie){.kind = RAM_HONEST} : take_lie(ram, io);
  if (fault == NULL) carry_out(ram, io, &lie);

  ram->events++;
  if (pending.log_index != SIZE_MAX) {
    struct ram_log_entry *entry = &ram->log[pending.log_index];
    entry->completed_at = ram->events;
    entry->error = io->error;
    if (entry->data && fault == NULL && lie.kind == RAM_HONEST &&
        memcmp(entry->data, ram->memory + (io->lba << ram->block.block_shift), data_bytes(ram, io)) != 0)
      die("the data of a write changed while it was in flight");
  }
  if (ram->observer != NULL) ram->observer->over(ram->observer->context, ram, io);
  io->done(io);
}

static unsigned ram_poll(struct spate_block *block, unsigned max) {
  struct ram_block *ram = ram_of(block);
  if (ram->polling) die("poll was called from a completion");
  ram->polling = true;
  start_queued(ram);
  ram->polls++;
  unsigned reaped = 0;
  for (; reaped < max; reaped++) {
    unsigned index = choose(ram);
    if (index == ram->pending_count) break;
    complete(ram, index);
  }
  ram->polling = false;
  return reaped;
}

void ram_block_open_memory(struct ram_block *ram, uint8_t *memory, uint64_t bytes, uint32_t block_bytes, int fd) {
  static const struct spate_block_ops ops = {ram_submit, ram_kick, ram_poll};
  uint8_t shift = block_bytes == 4096 ? 12 : 9;
  if (block_bytes != 512 && block_bytes != 4096) die("blocks have 512 or 4096 bytes");
  *ram = (struct ram_block){
      .block = {.ops = &ops,
                .blocks = bytes >> shift,
                .block_shift = shift,
                .volatile_cache = true,
                .can_trim = true,
                .can_zero = true,
                .depth = 32,
                .command_bytes_max = UINT32_C(1) << 20,
                .request_blocks_max = (UINT32_C(8) << 20) >> shift},
      .memory = memory,
      .bytes = bytes,
      .fd = fd,
  };
}

void ram_block_open(struct ram_block *ram, uint64_t blocks, uint32_t block_bytes) {
  uint64_t bytes = blocks * block_bytes;
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) die("no address space for the drive");
  ram_block_open_memory(ram, memory, bytes, block_bytes, -1);
}

void ram_block_close(struct ram_block *ram) {
  ram_block_clear_log(ram);
  free(ram->log);
  if (munmap(ram->memory, ram->bytes) != 0) die("munmap failed");
  if (ram->fd >= 0 && close(ram->fd) != 0) die("close failed");
  ram->memory = NULL;
}

void ram_block_fault(struct ram_block *ram, struct ram_fault fault) {
  if (ram->fault_count == RAM_FAULTS_MAX) die("too many faults");
  ram->faults[ram->fault_count++] = fault;
}

void ram_block_clear_faults(struct ram_block *ram) { ram->fault_count = 0; }

void ram_block_clear_log(struct ram_block *ram) {
  for (size_t i = 0; i < ram->log_count; i++)
    free(ram->log[i].data);
  /* Requests in flight do not find their entry in the log any more. */
  for (unsigned i = 0; i < ram->pending_count; i++)
    ram->pending[i].log_index = SIZE_MAX;
  ram->log_count = 0;
  memset(ram->count, 0, sizeof ram->count);
  ram->fua_count = ram->full_count = ram->kicks = ram->overlaps = 0;
  ram->pending_max = ram->pending_count;
}

void ram_block_data(const struct ram_block *ram, const struct spate_io *io, uint8_t *to) {
  move_data(io, to, data_bytes(ram, io), FROM_CALLER);
}

void ram_block_drop_pending(struct ram_block *ram) {
  ram->pending_count = 0;
  if (ram->observer != NULL) ram->observer->dropped(ram->observer->context, ram);
}
