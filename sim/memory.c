/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory in up to four copies. `cpu` is what the processor loads and stores, `device` what devices see. Who stored what
 * is found by comparing with `agreed`, which is `cpu` as it was when both last agreed: bytes that differ were stored by
 * the processor and are in its store buffer (SIM_QUEUE) or in dirty lines (SIM_CACHED). `settled`, for SIM_CACHED, is
 * `device` as of the last read barrier: what an invalidated line is fetched from. `shown` is what makes the order of a
 * barrier and a register write matter: the drive compares it with when the write left the processor.
 *
 * Where there is one view for all, the four are the same bytes.
 */
#include "internal.h"
#include "logic.h"
#include <spate/port.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LINE_BYTES SPATE_DMA_ALIGN
#define PAGE_BYTES ((size_t)4096)
#define WORD_BYTES sizeof(uint64_t)

/* High memory, as on boards whose first gigabytes are elsewhere, and a stretch of nothing behind each piece. */
#define BUS_START     SIM_WINDOWS_END
#define BUS_GAP_BYTES UINT64_C(0x00150000)

struct piece {
  enum sim_memory_kind kind;
  uint64_t address; /* on the bus */
  size_t bytes;
  uint8_t *cpu, *device, *agreed, *settled;
  uint64_t *shown; /* of each quadword: when devices came to see what the processor stored last. NULL: one view */
};

/* The windows of programmable logic, and what was last read from one. */
struct windows {
  struct sim_window all[SIM_DRIVES_MAX];
  unsigned count;
  uint8_t *answer;
  uint64_t room;
};

/* Stored by a device since the last read barrier: not yet certain to be seen. */
struct store {
  size_t piece, at, bytes;
};

struct sim_memory {
  struct sim *sim;
  bool coherent;
  struct piece *pieces; /* ascending on the bus */
  size_t piece_count, piece_room;
  size_t recent; /* the piece found last: mostly the one that is looked for next */
  uint64_t next_address;
  struct windows windows;
  struct store *stores;
  size_t store_count, store_room;
};

struct sim_memory *sim_memory_new(struct sim *sim) {
  struct sim_memory *memory = calloc(1, sizeof *memory);

  if (memory == NULL) abort();
  memory->sim = sim;
  memory->coherent = sim_config_of(sim)->coherent;
  memory->next_address = BUS_START;
  return memory;
}

/* One copy, with a page on either side that nobody can touch: who runs over the end is caught in the act. */
static uint8_t *map(size_t bytes) {
  uint8_t *start = mmap(NULL, bytes + 2 * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  if (start == MAP_FAILED || mprotect(start + PAGE_BYTES, bytes, PROT_READ | PROT_WRITE) != 0) abort();
  return start + PAGE_BYTES;
}

static void unmap(uint8_t *copy, size_t bytes) {
  if (munmap(copy - PAGE_BYTES, bytes + 2 * PAGE_BYTES) != 0) abort();
}

void sim_memory_free(struct sim_memory *memory) {
  for (size_t i = 0; i < memory->piece_count; i++) {
    const struct piece *piece = &memory->pieces[i];
    if (piece->shown != NULL) unmap((uint8_t *)piece->shown, piece->bytes);
    if (piece->settled != piece->device) unmap(piece->settled, piece->bytes);
    if (piece->agreed != piece->cpu) unmap(piece->agreed, piece->bytes);
    if (piece->device != piece->cpu) unmap(piece->device, piece->bytes);
    unmap(piece->cpu, piece->bytes);
  }
  free(memory->pieces);
  free(memory->windows.answer);
  free(memory->stores);
  free(memory);
}

static void *grow(void *array, size_t *room, size_t size) {
  *room = *room == 0 ? 16 : *room * 2;
  void *larger = realloc(array, *room * size);
  if (larger == NULL) abort();
  return larger;
}

void *sim_memory_take(struct sim *sim, size_t bytes, enum sim_memory_kind kind) {
  struct sim_memory *memory = sim_memory_of(sim);

  if (memory->piece_count == memory->piece_room)
    memory->pieces = grow(memory->pieces, &memory->piece_room, sizeof *memory->pieces);
  struct piece *piece = &memory->pieces[memory->piece_count++];
  *piece = (struct piece){
      .kind = kind, .address = memory->next_address, .bytes = (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1)};
  memory->next_address += piece->bytes + BUS_GAP_BYTES;
  piece->cpu = piece->device = piece->agreed = piece->settled = map(piece->bytes);
  if (memory->coherent || kind == SIM_LOGIC) return piece->cpu;
  piece->device = piece->settled = map(piece->bytes);
  piece->agreed = map(piece->bytes);
  piece->shown = (uint64_t *)(void *)map(piece->bytes);
  if (kind == SIM_CACHED) piece->settled = map(piece->bytes);
  return piece->cpu;
}

static bool is_shared(const struct piece *piece) { return piece->cpu == piece->device; }

/* ---- who is at an address ---- */

static bool has_cpu(const struct piece *piece, uintptr_t cpu) { return cpu - (uintptr_t)piece->cpu < piece->bytes; }

static bool has_bus(const struct piece *piece, uint64_t address, uint64_t bytes) {
  const uint64_t at = address - piece->address;

  return at < piece->bytes && bytes <= piece->bytes - at;
}

static struct piece *find_cpu(struct sim_memory *memory, const volatile void *cpu) {
  if (memory->piece_count != 0 && has_cpu(&memory->pieces[memory->recent], (uintptr_t)cpu))
    return &memory->pieces[memory->recent];
  for (size_t i = 0; i < memory->piece_count; i++) {
    if (!has_cpu(&memory->pieces[i], (uintptr_t)cpu)) continue;
    memory->recent = i;
    return &memory->pieces[i];
  }
  return NULL;
}

static struct piece *find_bus(struct sim_memory *memory, uint64_t address, uint64_t bytes) {
  if (memory->piece_count != 0 && has_bus(&memory->pieces[memory->recent], address, bytes))
    return &memory->pieces[memory->recent];
  for (size_t i = 0; i < memory->piece_count; i++) {
    if (!has_bus(&memory->pieces[i], address, bytes)) continue;
    memory->recent = i;
    return &memory->pieces[i];
  }
  return NULL;
}

/* ---- windows ---- */

void sim_window_add(struct sim *sim, const struct sim_window *window) {
  struct windows *windows = &sim_memory_of(sim)->windows;

  if (windows->count == SIM_DRIVES_MAX || window->bytes == 0 || window->bytes > SIM_WINDOWS_END ||
      window->address > SIM_WINDOWS_END - window->bytes)
    abort();
  windows->all[windows->count++] = *window;
}

static const struct sim_window *find_window(const struct sim_memory *memory, uint64_t address, uint64_t bytes) {
  for (unsigned i = 0; i < memory->windows.count; i++) {
    const struct sim_window *window = &memory->windows.all[i];
    const uint64_t at = address - window->address;
    if (at < window->bytes && bytes <= window->bytes - at) return window;
  }
  return NULL;
}

bool sim_memory_is_window(struct sim *sim, uint64_t address) {
  return find_window(sim_memory_of(sim), address, 1) != NULL;
}

static uint8_t *ask_window(struct windows *windows, const struct sim_window *window, uint64_t address, uint64_t bytes) {
  if (bytes > windows->room) {
    windows->room = bytes;
    windows->answer = realloc(windows->answer, (size_t)bytes);
    if (windows->answer == NULL) abort();
  }
  if (bytes != 0) window->read(window->context, address, windows->answer, bytes);
  return windows->answer;
}

uint64_t sim_memory_address(struct sim *sim, const volatile void *cpu) {
  const struct piece *piece = find_cpu(sim_memory_of(sim), cpu);

  if (piece != NULL) return piece->address + ((uintptr_t)cpu - (uintptr_t)piece->cpu);
  sim_violate(sim, "memory that no device can reach is asked for its bus address");
  return (uintptr_t)cpu & (PAGE_BYTES - 1); /* in the first page of the bus, where nothing is */
}

uint8_t *sim_memory_device(struct sim *sim, uint64_t address, uint64_t bytes) {
  struct sim_memory *memory = sim_memory_of(sim);
  const struct sim_window *window = find_window(memory, address, bytes);

  if (window != NULL) return ask_window(&memory->windows, window, address, bytes);
  const struct piece *piece = find_bus(memory, address, bytes);
  return piece == NULL ? NULL : piece->device + (address - piece->address);
}

bool sim_memory_was_shown(struct sim *sim, uint64_t address, uint64_t bytes, uint64_t sequence) {
  const struct piece *piece = find_bus(sim_memory_of(sim), address, bytes);

  if (piece == NULL || piece->shown == NULL || bytes == 0) return true;
  const uint64_t at = address - piece->address;
  for (uint64_t word = at / WORD_BYTES; word <= (at + bytes - 1) / WORD_BYTES; word++)
    if (piece->shown[word] > sequence) return false;
  return true;
}

/* Devices come to see `bytes` from `at` on, whole words, as the processor has stored them. */
static void mark_shown(struct sim_memory *memory, struct piece *piece, size_t at, size_t bytes) {
  const uint64_t sequence = sim_next_sequence(memory->sim);

  for (size_t word = at / WORD_BYTES; word < (at + bytes) / WORD_BYTES; word++)
    if (memcmp(piece->cpu + word * WORD_BYTES, piece->agreed + word * WORD_BYTES, WORD_BYTES) != 0)
      piece->shown[word] = sequence;
}

/* ---- a device stores ---- */

static size_t line_of(size_t at) { return at / LINE_BYTES * LINE_BYTES; }

static bool is_dirty(const struct piece *piece, size_t line) {
  return memcmp(piece->cpu + line, piece->agreed + line, LINE_BYTES) != 0;
}

/* A line leaves the cache. It takes all of its bytes along, not only those that were stored to. */
static void evict(struct sim_memory *memory, struct piece *piece, size_t line) {
  mark_shown(memory, piece, line, LINE_BYTES);
  memcpy(piece->device + line, piece->cpu + line, LINE_BYTES);
  memcpy(piece->settled + line, piece->cpu + line, LINE_BYTES);
  memcpy(piece->agreed + line, piece->cpu + line, LINE_BYTES);
}

static void is_late(struct sim_memory *memory, const struct piece *piece, size_t at, size_t bytes) {
  if (memory->store_count == memory->store_room)
    memory->stores = grow(memory->stores, &memory->store_room, sizeof *memory->stores);
  memory->stores[memory->store_count++] =
      (struct store){.piece = (size_t)(piece - memory->pieces), .at = at, .bytes = bytes};
}

static bool store_in_window(struct sim *sim, const struct sim_window *window, uint64_t address, const void *data,
                            uint64_t bytes) {
  if (bytes == 0) return true;
  sim_tell(sim, SIM_ACCESS_STORE, address, data, bytes);
  window->write(window->context, address, data, bytes);
  return true;
}

bool sim_memory_store(struct sim *sim, uint64_t address, const void *data, uint64_t bytes) {
  struct sim_memory *memory = sim_memory_of(sim);
  const struct sim_window *window = find_window(memory, address, bytes);

  if (window != NULL) return store_in_window(sim, window, address, data, bytes);
  struct piece *piece = find_bus(memory, address, bytes);
  if (piece == NULL || bytes == 0) return piece != NULL;
  const size_t at = (size_t)(address - piece->address);
  memcpy(piece->device + at, data, (size_t)bytes);
  sim_tell(sim, SIM_ACCESS_STORE, address, data, bytes);
  if (is_shared(piece)) return true;
  is_late(memory, piece, at, (size_t)bytes);
  if (piece->kind != SIM_CACHED) return true;
  for (size_t line = line_of(at); line < at + bytes; line += LINE_BYTES)
    if (is_dirty(piece, line)) evict(memory, piece, line);
  return true;
}

/* From `at` on the processor sees what devices stored. */
static void show(struct piece *piece, size_t at, size_t bytes) {
  memcpy(piece->cpu + at, piece->device + at, bytes);
  memcpy(piece->agreed + at, piece->device + at, bytes);
}

bool sim_memory_store_completion(struct sim *sim, uint64_t address, const void *entry) {
  struct sim_memory *memory = sim_memory_of(sim);

  if (!sim_memory_store(sim, address, entry, 16)) return false;
  struct piece *piece = find_bus(memory, address, 16);
  if (piece == NULL) return true; /* a window's logic: no processor is to find it */
  if (!is_shared(piece) && piece->kind == SIM_QUEUE) show(piece, (size_t)(address - piece->address) + 8, 8);
  sim_completion_seen(sim);
  return true;
}

/* ---- what the port's calls come to ---- */

/* Stores leave their buffer. In pages, as most have none. */
static void drain(struct sim_memory *memory, struct piece *piece) {
  for (size_t page = 0; page < piece->bytes; page += PAGE_BYTES) {
    if (memcmp(piece->cpu + page, piece->agreed + page, PAGE_BYTES) == 0) continue;
    mark_shown(memory, piece, page, PAGE_BYTES);
    for (size_t i = page; i < page + PAGE_BYTES; i++) {
      if (piece->cpu[i] == piece->agreed[i]) continue;
      piece->agreed[i] = piece->cpu[i];
      piece->device[i] = piece->cpu[i];
    }
  }
}

void sim_memory_write_barrier(struct sim *sim) {
  struct sim_memory *memory = sim_memory_of(sim);

  sim_tell(sim, SIM_ACCESS_WRITE_BARRIER, 0, NULL, 0);
  for (size_t i = 0; i < memory->piece_count; i++)
    if (memory->pieces[i].kind == SIM_QUEUE && !is_shared(&memory->pieces[i])) drain(memory, &memory->pieces[i]);
}

void sim_memory_read_barrier(struct sim *sim) {
  struct sim_memory *memory = sim_memory_of(sim);

  sim_tell(sim, SIM_ACCESS_READ_BARRIER, 0, NULL, 0);
  for (size_t i = 0; i < memory->store_count; i++) {
    const struct store *store = &memory->stores[i];
    struct piece *piece = &memory->pieces[store->piece];
    if (piece->kind == SIM_QUEUE)
      show(piece, store->at, store->bytes);
    else
      memcpy(piece->settled + store->at, piece->device + store->at, store->bytes);
  }
  memory->store_count = 0;
}

/* ---- the processor reaches logic's registers ---- */

bool sim_window_load32(struct sim *sim, uint64_t address, uint32_t *value) {
  const struct sim_window *window = find_window(sim_memory_of(sim), address, sizeof *value);

  if (window != NULL) window->read(window->context, address, (uint8_t *)value, sizeof *value);
  return window != NULL;
}

bool sim_window_store32(struct sim *sim, uint64_t address, uint32_t value) {
  const struct sim_window *window = find_window(sim_memory_of(sim), address, sizeof value);

  if (window != NULL) window->write(window->context, address, (const uint8_t *)&value, sizeof value);
  return window != NULL;
}

/* ---- caches ---- */

/* The lines that `bytes` at `start` touch, of cached memory that has two views; none of any other. */
static struct piece *lines_of(struct sim *sim, enum sim_access_kind kind, const void *start, size_t bytes,
                              size_t *first, size_t *end) {
  struct piece *piece = find_cpu(sim_memory_of(sim), start);

  if (piece == NULL) {
    sim_violate(sim, "cache maintenance of memory that no device can reach");
    return NULL;
  }
  const size_t at = (size_t)((const uint8_t *)start - piece->cpu);
  if (bytes > piece->bytes - at) {
    sim_violate(sim, "cache maintenance beyond the end of a piece of memory");
    return NULL;
  }
  sim_tell(sim, kind, piece->address + at, start, bytes);
  if (piece->kind != SIM_CACHED || is_shared(piece)) return NULL;
  *first = line_of(at);
  *end = bytes == 0 ? *first : line_of(at + bytes - 1) + LINE_BYTES;
  return piece;
}

void sim_memory_clean(struct sim *sim, const void *start, size_t bytes) {
  size_t line, end;
  struct piece *piece = lines_of(sim, SIM_ACCESS_CLEAN, start, bytes, &line, &end);

  if (piece == NULL) return;
  for (; line < end; line += LINE_BYTES)
    if (is_dirty(piece, line)) evict(sim_memory_of(sim), piece, line);
}

void sim_memory_invalidate(struct sim *sim, void *start, size_t bytes) {
  size_t first, end;
  struct piece *piece = lines_of(sim, SIM_ACCESS_INVALIDATE, start, bytes, &first, &end);

  if (piece == NULL) return;
  memcpy(piece->cpu + first, piece->settled + first, end - first);
  memcpy(piece->agreed + first, piece->settled + first, end - first);
}
