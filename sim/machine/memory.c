/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory in up to four copies. `cpu` is what the processor loads and stores, `device` is what devices see. `agreed` is
 * `cpu` as it was when both last agreed. A byte of `cpu` that differs from it was stored by the processor and is still
 * in the store buffer (SIM_QUEUE) or in a dirty line (SIM_CACHED). `settled` (SIM_CACHED) is `device` as of the last
 * read barrier: an invalidated line is fetched from it. `shown` has time stamps used to check that the barrier precedes
 * the register write: the drive compares them with when the write left the processor.
 *
 * Where there is one view for all, the four pointers are the same.
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

/* High addresses, as on boards whose memory does not begin at 0, and unused addresses after each range. */
#define BUS_START     SIM_WINDOWS_END
#define BUS_GAP_BYTES UINT64_C(0x00150000)

struct range {
  enum sim_memory_kind kind;
  uint64_t address; /* on the bus */
  size_t bytes;
  bool given; /* `cpu` is the program's own memory */
  uint8_t *cpu, *device, *agreed, *settled;
  uint64_t *shown; /* of each quadword: when the processor's last store became visible to devices. NULL: one view */
};

/* The windows of programmable logic, and the data last read from one. */
struct windows {
  struct sim_window all[SIM_DRIVES_MAX];
  unsigned count;
  uint8_t *answer;
  uint64_t room;
};

/* What a device stored since the last read barrier: the processor may not see it yet. */
struct store {
  size_t range, at, bytes;
};

struct sim_memory {
  struct sim *sim;
  bool coherent;
  struct range *ranges; /* in ascending bus addresses */
  size_t range_count, range_room;
  size_t recent; /* the range found last: the next search mostly finds it again */
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

/* One copy, with an inaccessible page on either side: an access beyond its end faults. */
static uint8_t *map(size_t bytes) {
  uint8_t *start = mmap(NULL, bytes + 2 * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  if (start == MAP_FAILED || mprotect(start + PAGE_BYTES, bytes, PROT_READ | PROT_WRITE) != 0) abort();
  return start + PAGE_BYTES;
}

static void unmap(uint8_t *copy, size_t bytes) {
  if (munmap(copy - PAGE_BYTES, bytes + 2 * PAGE_BYTES) != 0) abort();
}

void sim_memory_free(struct sim_memory *memory) {
  for (size_t i = 0; i < memory->range_count; i++) {
    const struct range *range = &memory->ranges[i];
    if (range->shown != NULL) unmap((uint8_t *)range->shown, range->bytes);
    if (range->settled != range->device) unmap(range->settled, range->bytes);
    if (range->agreed != range->cpu) unmap(range->agreed, range->bytes);
    if (range->device != range->cpu) unmap(range->device, range->bytes);
    if (!range->given) unmap(range->cpu, range->bytes);
  }
  free(memory->ranges);
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

/* `in_page`: how many bytes after the start of a page it begins. */
static struct range *new_range(struct sim_memory *memory, size_t bytes, size_t in_page, enum sim_memory_kind kind) {
  if (memory->range_count == memory->range_room)
    memory->ranges = grow(memory->ranges, &memory->range_room, sizeof *memory->ranges);
  struct range *range = &memory->ranges[memory->range_count++];
  *range = (struct range){
      .kind = kind, .address = memory->next_address + in_page, .bytes = (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1)};
  memory->next_address += range->bytes + BUS_GAP_BYTES;
  return range;
}

/* The other views. They begin as copies of the processor's. */
static void add_views(const struct sim_memory *memory, struct range *range) {
  range->device = range->agreed = range->settled = range->cpu;
  if (memory->coherent || range->kind == SIM_LOGIC) return;
  range->device = range->settled = map(range->bytes);
  range->agreed = map(range->bytes);
  range->shown = (uint64_t *)(void *)map(range->bytes);
  if (range->kind == SIM_CACHED) range->settled = map(range->bytes);
  if (!range->given) return;
  memcpy(range->device, range->cpu, range->bytes);
  memcpy(range->agreed, range->cpu, range->bytes);
  memcpy(range->settled, range->cpu, range->bytes);
}

void *sim_memory_take(struct sim *sim, size_t bytes, enum sim_memory_kind kind) {
  struct sim_memory *memory = sim_memory_of(sim);
  struct range *range = new_range(memory, bytes, 0, kind);

  range->cpu = map(range->bytes);
  add_views(memory, range);
  return range->cpu;
}

void sim_memory_give(struct sim *sim, void *start, size_t bytes, enum sim_memory_kind kind) {
  struct sim_memory *memory = sim_memory_of(sim);
  const size_t in_page = (uintptr_t)start % PAGE_BYTES;

  if (in_page % LINE_BYTES != 0 || bytes % PAGE_BYTES != 0) abort();
  struct range *range = new_range(memory, bytes, in_page, kind);
  range->cpu = start;
  range->given = true;
  add_views(memory, range);
}

static bool is_shared(const struct range *range) { return range->cpu == range->device; }

/* ---- which range an address belongs to ---- */

static bool has_cpu(const struct range *range, uintptr_t cpu) { return cpu - (uintptr_t)range->cpu < range->bytes; }

static bool has_bus(const struct range *range, uint64_t address, uint64_t bytes) {
  const uint64_t at = address - range->address;

  return at < range->bytes && bytes <= range->bytes - at;
}

static struct range *find_cpu(struct sim_memory *memory, const volatile void *cpu) {
  if (memory->range_count != 0 && has_cpu(&memory->ranges[memory->recent], (uintptr_t)cpu))
    return &memory->ranges[memory->recent];
  for (size_t i = 0; i < memory->range_count; i++) {
    if (!has_cpu(&memory->ranges[i], (uintptr_t)cpu)) continue;
    memory->recent = i;
    return &memory->ranges[i];
  }
  return NULL;
}

static struct range *find_bus(struct sim_memory *memory, uint64_t address, uint64_t bytes) {
  if (memory->range_count != 0 && has_bus(&memory->ranges[memory->recent], address, bytes))
    return &memory->ranges[memory->recent];
  for (size_t i = 0; i < memory->range_count; i++) {
    if (!has_bus(&memory->ranges[i], address, bytes)) continue;
    memory->recent = i;
    return &memory->ranges[i];
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
    uint8_t *larger = realloc(windows->answer, (size_t)bytes);
    if (larger == NULL) abort();
    windows->answer = larger;
  }
  if (bytes != 0) window->read(window->context, address, windows->answer, bytes);
  return windows->answer;
}

uint64_t sim_memory_address(struct sim *sim, const volatile void *cpu) {
  const struct range *range = find_cpu(sim_memory_of(sim), cpu);

  if (range != NULL) return range->address + ((uintptr_t)cpu - (uintptr_t)range->cpu);
  sim_violate(sim, "bus address requested for memory that no device can reach");
  return (uintptr_t)cpu & (PAGE_BYTES - 1); /* in the first page of the bus, which is unused */
}

uint8_t *sim_memory_device(struct sim *sim, uint64_t address, uint64_t bytes) {
  struct sim_memory *memory = sim_memory_of(sim);
  const struct sim_window *window = find_window(memory, address, bytes);

  if (window != NULL) return ask_window(&memory->windows, window, address, bytes);
  const struct range *range = find_bus(memory, address, bytes);
  return range == NULL ? NULL : range->device + (address - range->address);
}

bool sim_memory_was_shown(struct sim *sim, uint64_t address, uint64_t bytes, uint64_t sequence) {
  const struct range *range = find_bus(sim_memory_of(sim), address, bytes);

  if (range == NULL || range->shown == NULL || bytes == 0) return true;
  const uint64_t at = address - range->address;
  for (uint64_t word = at / WORD_BYTES; word <= (at + bytes - 1) / WORD_BYTES; word++)
    if (range->shown[word] > sequence) return false;
  return true;
}

/* Has the processor stored in this quadword, and no device has seen it? Two loads, because the sanitizers check each
 * call of memcmp. */
static bool is_stored(const struct range *range, size_t word) {
  uint64_t cpu, agreed;

  memcpy(&cpu, range->cpu + word * WORD_BYTES, WORD_BYTES);
  memcpy(&agreed, range->agreed + word * WORD_BYTES, WORD_BYTES);
  return cpu != agreed;
}

/* Records that devices now see the processor's stores in `bytes` from `at` on, in whole quadwords. */
static void mark_shown(struct sim_memory *memory, struct range *range, size_t at, size_t bytes) {
  const uint64_t sequence = sim_next_sequence(memory->sim);

  for (size_t word = at / WORD_BYTES; word < (at + bytes) / WORD_BYTES; word++)
    if (is_stored(range, word)) range->shown[word] = sequence;
}

/* ---- a device stores ---- */

static size_t line_of(size_t at) { return at / LINE_BYTES * LINE_BYTES; }

static bool is_dirty(const struct range *range, size_t line) {
  return memcmp(range->cpu + line, range->agreed + line, LINE_BYTES) != 0;
}

/* A line leaves the cache. All of its bytes are written, not only those that the processor stored. */
static void evict(struct sim_memory *memory, struct range *range, size_t line) {
  mark_shown(memory, range, line, LINE_BYTES);
  memcpy(range->device + line, range->cpu + line, LINE_BYTES);
  memcpy(range->settled + line, range->cpu + line, LINE_BYTES);
  memcpy(range->agreed + line, range->cpu + line, LINE_BYTES);
}

static void record_store(struct sim_memory *memory, const struct range *range, size_t at, size_t bytes) {
  if (memory->store_count == memory->store_room)
    memory->stores = grow(memory->stores, &memory->store_room, sizeof *memory->stores);
  memory->stores[memory->store_count++] =
      (struct store){.range = (size_t)(range - memory->ranges), .at = at, .bytes = bytes};
}

static bool store_in_window(struct sim *sim, const struct sim_window *window, uint64_t address, const void *data,
                            uint64_t bytes) {
  if (bytes == 0) return true;
  sim_tell(sim, SIM_ACCESS_STORE, address, data, bytes);
  window->write(window->context, address, data, bytes);
  return true;
}

static bool store(struct sim *sim, uint64_t address, const void *data, uint64_t bytes) {
  struct sim_memory *memory = sim_memory_of(sim);
  const struct sim_window *window = find_window(memory, address, bytes);

  if (window != NULL) return store_in_window(sim, window, address, data, bytes);
  struct range *range = find_bus(memory, address, bytes);
  if (range == NULL || bytes == 0) return range != NULL;
  const size_t at = (size_t)(address - range->address);
  memcpy(range->device + at, data, (size_t)bytes);
  sim_tell(sim, SIM_ACCESS_STORE, address, data, bytes);
  if (is_shared(range)) return true;
  record_store(memory, range, at, (size_t)bytes);
  if (range->kind != SIM_CACHED) return true;
  for (size_t line = line_of(at); line < at + bytes; line += LINE_BYTES)
    if (is_dirty(range, line)) evict(memory, range, line);
  return true;
}

bool sim_memory_store(struct sim *sim, uint64_t address, const void *data, uint64_t bytes) {
  const uint8_t *from = data;
  bool stored = bytes != 0 || store(sim, address, data, 0);

  for (uint64_t here; stored && bytes != 0; address += here, from += here, bytes -= here) {
    here = sim_msi_up_to(sim, address, bytes);
    stored = sim_msi_takes(sim, address, *from) || store(sim, address, from, here);
  }
  return stored;
}

/* The processor sees from now on what devices stored in `bytes` from `at` on. */
static void copy_to_cpu(struct range *range, size_t at, size_t bytes) {
  memcpy(range->cpu + at, range->device + at, bytes);
  memcpy(range->agreed + at, range->device + at, bytes);
}

bool sim_memory_store_completion(struct sim *sim, uint64_t address, const void *entry) {
  struct sim_memory *memory = sim_memory_of(sim);

  if (!sim_memory_store(sim, address, entry, 16)) return false;
  struct range *range = find_bus(memory, address, 16);
  if (range == NULL) return true; /* in a window: the processor does not look for it */
  if (!is_shared(range) && range->kind == SIM_QUEUE) copy_to_cpu(range, (size_t)(address - range->address) + 8, 8);
  sim_completion_seen(sim);
  return true;
}

/* ---- what the port's calls do ---- */

/* Only the bytes that the processor stored: a device may have stored beside them. */
static void drain_word(struct range *range, size_t word) {
  for (size_t i = word * WORD_BYTES; i < (word + 1u) * WORD_BYTES; i++) {
    if (range->cpu[i] == range->agreed[i]) continue;
    range->agreed[i] = range->cpu[i];
    range->device[i] = range->cpu[i];
  }
}

/* The store buffer drains. Compares page by page first, because most pages have no stores in it. */
static void drain(struct sim_memory *memory, struct range *range) {
  for (size_t page = 0; page < range->bytes; page += PAGE_BYTES) {
    if (memcmp(range->cpu + page, range->agreed + page, PAGE_BYTES) == 0) continue;
    mark_shown(memory, range, page, PAGE_BYTES);
    for (size_t word = page / WORD_BYTES; word < (page + PAGE_BYTES) / WORD_BYTES; word++) {
      if (is_stored(range, word)) drain_word(range, word);
    }
  }
}

void sim_memory_write_barrier(struct sim *sim) {
  struct sim_memory *memory = sim_memory_of(sim);

  sim_tell(sim, SIM_ACCESS_WRITE_BARRIER, 0, NULL, 0);
  for (size_t i = 0; i < memory->range_count; i++)
    if (memory->ranges[i].kind == SIM_QUEUE && !is_shared(&memory->ranges[i])) drain(memory, &memory->ranges[i]);
}

void sim_memory_read_barrier(struct sim *sim) {
  struct sim_memory *memory = sim_memory_of(sim);

  sim_tell(sim, SIM_ACCESS_READ_BARRIER, 0, NULL, 0);
  for (size_t i = 0; i < memory->store_count; i++) {
    const struct store *store = &memory->stores[i];
    struct range *range = &memory->ranges[store->range];
    if (range->kind == SIM_QUEUE)
      copy_to_cpu(range, store->at, store->bytes);
    else
      memcpy(range->settled + store->at, range->device + store->at, store->bytes);
  }
  memory->store_count = 0;
}

/* ---- the processor accesses registers of logic ---- */

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

/* The lines that `bytes` at `start` touch, if they are in cached memory with two views. Otherwise NULL. */
static struct range *lines_of(struct sim *sim, enum sim_access_kind kind, const void *start, size_t bytes,
                              size_t *first, size_t *end) {
  struct range *range = find_cpu(sim_memory_of(sim), start);

  if (range == NULL) {
    sim_violate(sim, "cache maintenance of memory that no device can reach");
    return NULL;
  }
  const size_t at = (size_t)((const uint8_t *)start - range->cpu);
  if (bytes > range->bytes - at) {
    sim_violate(sim, "cache maintenance beyond the end of a range of memory");
    return NULL;
  }
  sim_tell(sim, kind, range->address + at, start, bytes);
  if (range->kind != SIM_CACHED || is_shared(range)) return NULL;
  *first = line_of(at);
  *end = bytes == 0 ? *first : line_of(at + bytes - 1) + LINE_BYTES;
  return range;
}

void sim_memory_clean(struct sim *sim, const void *start, size_t bytes) {
  size_t line, end;
  struct range *range = lines_of(sim, SIM_ACCESS_CLEAN, start, bytes, &line, &end);

  if (range == NULL) return;
  for (; line < end; line += LINE_BYTES)
    if (is_dirty(range, line)) evict(sim_memory_of(sim), range, line);
}

void sim_memory_invalidate(struct sim *sim, void *start, size_t bytes) {
  size_t first, end;
  struct range *range = lines_of(sim, SIM_ACCESS_INVALIDATE, start, bytes, &first, &end);

  if (range == NULL) return;
  memcpy(range->cpu + first, range->settled + first, end - first);
  memcpy(range->agreed + first, range->settled + first, end - first);
}
