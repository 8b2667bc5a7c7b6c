/* SPDX-License-Identifier: Apache-2.0 */
/* A table of chunks of 2 MiB. Each chunk is a sorted list of extents: a run of consecutively stamped pages, or one page
 * in full. A chunk with one extent, as almost all chunks of a recording are, keeps it in the table. */
#include "store.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_PAGES 512u
#define CHUNK_BYTES (CHUNK_PAGES * SIM_PAGE)

/* `count` pages, from page `first` of the chunk on. */
struct extent {
  uint16_t first, count;
  uint64_t clip; /* 0: a page in full, count 1 */
  union {
    uint64_t offset; /* of the first page in the clip */
    uint8_t *page;
  } u;
};

struct chunk {
  uint16_t count, room; /* extents; room 0: `one` is in use */
  union {
    struct extent one;
    struct extent *many;
  } u;
};

struct sim_store {
  uint64_t bytes, chunk_count;
  struct chunk *chunks;
  size_t memory;
};

/* ---- stamps ---- */

#define HEAD_MAGIC UINT64_C(0x6461654865746170)
#define TAIL_MAGIC UINT64_C(0x6c69615465746170)

struct mark {
  uint64_t magic, clip, offset, check;
};
_Static_assert(sizeof(struct mark) == SIM_STAMP_BYTES, "a stamp's size");

static uint64_t check_of(uint64_t clip, uint64_t offset) {
  uint64_t sum = (clip ^ HEAD_MAGIC) * UINT64_C(0x9e3779b97f4a7c15);

  sum = (sum ^ (sum >> 29) ^ offset) * UINT64_C(0xbf58476d1ce4e5b9);
  return sum ^ (sum >> 32);
}

void sim_stamp_put(uint8_t page[SIM_PAGE], struct sim_stamp stamp) {
  const uint64_t check = check_of(stamp.clip, stamp.offset);
  const struct mark head = {HEAD_MAGIC, stamp.clip, stamp.offset, check};
  const struct mark tail = {TAIL_MAGIC, stamp.clip, stamp.offset, ~check};

  assert(stamp.clip != 0 && stamp.offset % SIM_PAGE == 0);
  memcpy(page, &head, sizeof head);
  memcpy(page + SIM_PAGE - sizeof tail, &tail, sizeof tail);
}

bool sim_stamp_get(const uint8_t page[SIM_PAGE], struct sim_stamp *stamp) {
  struct mark head, tail;

  memcpy(&head, page, sizeof head);
  if (head.magic != HEAD_MAGIC) return false;
  memcpy(&tail, page + SIM_PAGE - sizeof tail, sizeof tail);
  if (tail.magic != TAIL_MAGIC || head.clip != tail.clip || head.offset != tail.offset) return false;
  if (head.check != ~tail.check || head.check != check_of(head.clip, head.offset)) return false;
  *stamp = (struct sim_stamp){head.clip, head.offset};
  return head.clip != 0 && head.offset % SIM_PAGE == 0;
}

/* ---- memory ---- */

static void *checked(void *memory) {
  if (memory) return memory;
  (void)fprintf(stderr, "sim_store: out of memory\n");
  abort();
}

struct sim_store *sim_store_new(uint64_t bytes) {
  struct sim_store *store = checked(calloc(1, sizeof *store));

  store->bytes = bytes;
  store->chunk_count = (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
  store->chunks = checked(calloc(store->chunk_count, sizeof *store->chunks));
  store->memory = sizeof *store + store->chunk_count * sizeof *store->chunks;
  return store;
}

static struct extent *extents(struct chunk *chunk) { return chunk->room > 0 ? chunk->u.many : &chunk->u.one; }

static const struct extent *extents_of(const struct chunk *chunk) {
  return chunk->room > 0 ? chunk->u.many : &chunk->u.one;
}

static void drop(struct sim_store *store, const struct extent *extent) {
  if (extent->clip != 0) return;
  free(extent->u.page);
  store->memory -= SIM_PAGE;
}

void sim_store_free(struct sim_store *store) {
  if (!store) return;
  for (uint64_t i = 0; i < store->chunk_count; i++) {
    struct chunk *chunk = &store->chunks[i];

    for (unsigned k = 0; k < chunk->count; k++)
      drop(store, &extents(chunk)[k]);
    if (chunk->room > 0) free(chunk->u.many);
  }
  free(store->chunks);
  free(store);
}

size_t sim_store_memory(const struct sim_store *store) { return store->memory; }

/* Makes room for this many extents. A single extent moves back into the table. */
static void set_room(struct sim_store *store, struct chunk *chunk, unsigned wanted) {
  const struct extent one = chunk->count > 0 ? extents(chunk)[0] : (struct extent){0};
  unsigned room = chunk->room > 0 ? chunk->room : 2;

  if (wanted <= 1) {
    if (chunk->room > 0) free(chunk->u.many);
    store->memory -= chunk->room * sizeof one;
    chunk->room = 0;
    chunk->u.one = one;
    return;
  }
  while (room < wanted)
    room *= 2;
  if (room == chunk->room) return;
  chunk->u.many = checked(realloc(chunk->room > 0 ? chunk->u.many : NULL, room * sizeof one));
  if (chunk->room == 0) chunk->u.many[0] = one;
  store->memory += (room - chunk->room) * sizeof one;
  chunk->room = (uint16_t)room;
}

/* ---- extents of a chunk ---- */

static unsigned end_of(const struct extent *extent) { return extent->first + (unsigned)extent->count; }

/* The first extent that ends behind `page`. The chunk's count if there is none. */
static unsigned find(const struct chunk *chunk, unsigned page) {
  const struct extent *list = extents_of(chunk);
  unsigned low = 0, high = chunk->count;

  if (high > 0 && end_of(&list[high - 1]) <= page) return high;
  while (low < high) {
    unsigned middle = (low + high) / 2;

    if (end_of(&list[middle]) <= page)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The extent with this page. NULL: the page is empty. */
static const struct extent *at_page(const struct chunk *chunk, unsigned page) {
  unsigned i = find(chunk, page);

  return i < chunk->count && extents_of(chunk)[i].first <= page ? &extents_of(chunk)[i] : NULL;
}

static uint64_t offset_at(const struct extent *extent, unsigned page) {
  return extent->u.offset + (uint64_t)(page - extent->first) * SIM_PAGE;
}

static bool follows(const struct extent *a, const struct extent *b) {
  return a->clip != 0 && a->clip == b->clip && end_of(a) == b->first && offset_at(a, b->first) == b->u.offset;
}

/* The part of a stamped run from page `first` up to `end`. */
static struct extent part_of(const struct extent *run, unsigned first, unsigned end) {
  return (struct extent){
      .first = (uint16_t)first,
      .count = (uint16_t)(end - first),
      .clip = run->clip,
      .u.offset = offset_at(run, first),
  };
}

static void append(struct extent *list, unsigned *count, struct extent extent) {
  if (*count > 0 && follows(&list[*count - 1], &extent))
    list[*count - 1].count = (uint16_t)(list[*count - 1].count + extent.count);
  else
    list[(*count)++] = extent;
}

/* Replaces extents low … high − 1 of the chunk by `list`. */
static void splice(struct sim_store *store, struct chunk *chunk, unsigned low, unsigned high, const struct extent *list,
                   unsigned count) {
  const unsigned tail = chunk->count - high;
  const unsigned total = low + count + tail;

  if (total > 1) set_room(store, chunk, total);
  memmove(extents(chunk) + low + count, extents(chunk) + high, tail * sizeof *list);
  for (unsigned i = 0; i < count; i++)
    extents(chunk)[low + i] = list[i];
  chunk->count = (uint16_t)total;
  if (total <= 1) set_room(store, chunk, total);
}

/* Replaces the pages from `first` up to `end` by `with` (NULL: empty). Returns how many of them were not empty. */
static unsigned replace(struct sim_store *store, struct chunk *chunk, unsigned first, unsigned end,
                        const struct extent *with) {
  const struct extent *old = extents_of(chunk);
  struct extent list[5];
  unsigned low = find(chunk, first), high = low, count = 0, held = 0;
  struct extent right = {0};

  if (low < chunk->count && old[low].first < first) append(list, &count, part_of(&old[low], old[low].first, first));
  for (; high < chunk->count && old[high].first < end; high++) {
    unsigned from = old[high].first > first ? old[high].first : first;
    unsigned to = end_of(&old[high]) < end ? end_of(&old[high]) : end;

    held += to - from;
    if (end_of(&old[high]) > end) right = part_of(&old[high], end, end_of(&old[high]));
    drop(store, &old[high]);
  }
  if (low > 0 && count == 0) append(list, &count, old[--low]);
  if (with) append(list, &count, *with);
  if (right.count > 0) append(list, &count, right);
  if (high < chunk->count) append(list, &count, old[high++]);
  splice(store, chunk, low, high, list, count);
  return held;
}

/* ---- pages ---- */

static struct chunk *chunk_at(struct sim_store *store, uint64_t at) { return &store->chunks[at / CHUNK_BYTES]; }

static unsigned page_at(uint64_t at) { return (unsigned)(at % CHUNK_BYTES / SIM_PAGE); }

static void make_page(const struct extent *extent, unsigned page, uint8_t *data) {
  if (extent && extent->clip == 0) {
    assert(extent->u.page);
    memcpy(data, extent->u.page, SIM_PAGE);
    return;
  }
  memset(data, 0, SIM_PAGE);
  if (extent) sim_stamp_put(data, (struct sim_stamp){extent->clip, offset_at(extent, page)});
}

/* The memory of a page that is stored in full, with the page's former contents. */
static uint8_t *full_page(struct sim_store *store, struct chunk *chunk, unsigned page) {
  const struct extent *old = at_page(chunk, page);
  const struct extent plain = {.first = (uint16_t)page, .count = 1};
  struct extent *extent;
  uint8_t before[SIM_PAGE];

  if (old && old->clip == 0) return old->u.page;
  make_page(old, page, before);
  (void)replace(store, chunk, page, page + 1, &plain);
  extent = &extents(chunk)[find(chunk, page)];
  extent->u.page = checked(malloc(SIM_PAGE));
  store->memory += SIM_PAGE;
  memcpy(extent->u.page, before, SIM_PAGE);
  return extent->u.page;
}

/* Writes a part of a page, or a page without a stamp. `data` NULL: zeros. */
static uint64_t write_plain(struct sim_store *store, uint64_t at, const uint8_t *data, uint32_t bytes) {
  struct chunk *chunk = chunk_at(store, at);
  const uint64_t fresh = at_page(chunk, page_at(at)) ? 0 : bytes;
  uint8_t *to = full_page(store, chunk, page_at(at)) + at % SIM_PAGE;

  if (data)
    memcpy(to, data, bytes);
  else
    memset(to, 0, bytes);
  return fresh;
}

/* The run of stamped pages at the start of `data`, within this chunk. Count 0: the first page is an ordinary one. */
static struct extent stamped_run(uint64_t at, const uint8_t *data, uint64_t bytes) {
  const unsigned first = page_at(at);
  struct extent run = {.first = (uint16_t)first};
  struct sim_stamp stamp;

  while (first + run.count < CHUNK_PAGES && bytes >= SIM_PAGE && sim_stamp_get(data, &stamp)) {
    if (run.count == 0) {
      run.clip = stamp.clip;
      run.u.offset = stamp.offset;
    } else if (stamp.clip != run.clip || stamp.offset != offset_at(&run, first + run.count)) {
      break;
    }
    run.count++;
    data += SIM_PAGE;
    bytes -= SIM_PAGE;
  }
  return run;
}

/* The usual case: the pages continue the chunk's last run. */
static bool extend_last(struct chunk *chunk, const struct extent *run) {
  struct extent *last;

  if (chunk->count == 0) return false;
  last = &extents(chunk)[chunk->count - 1];
  if (!follows(last, run)) return false;
  last->count = (uint16_t)(last->count + run->count);
  return true;
}

uint64_t sim_store_write(struct sim_store *store, uint64_t at, const uint8_t *data, uint64_t bytes) {
  uint64_t fresh = 0;

  assert(data);
  assert(at % 512 == 0 && bytes % 512 == 0 && at <= store->bytes && bytes <= store->bytes - at);
  while (bytes > 0) {
    uint32_t now = SIM_PAGE - (uint32_t)(at % SIM_PAGE);
    struct extent run = {0};

    if (now > bytes) now = (uint32_t)bytes;
    if (now == SIM_PAGE) run = stamped_run(at, data, bytes);
    if (run.count > 0) {
      now = run.count * SIM_PAGE;
      fresh += now;
      if (!extend_last(chunk_at(store, at), &run))
        fresh -= (uint64_t)SIM_PAGE * replace(store, chunk_at(store, at), run.first, end_of(&run), &run);
    } else {
      fresh += write_plain(store, at, data, now);
    }
    at += now;
    data += now;
    bytes -= now;
  }
  return fresh;
}

void sim_store_read(const struct sim_store *store, uint64_t at, uint8_t *data, uint64_t bytes) {
  uint8_t whole[SIM_PAGE];

  assert(at <= store->bytes && bytes <= store->bytes - at);
  while (bytes > 0) {
    const struct chunk *chunk = &store->chunks[at / CHUNK_BYTES];
    const struct extent *extent = at_page(chunk, page_at(at));
    uint64_t now = SIM_PAGE - at % SIM_PAGE;

    if (now > bytes) now = bytes;
    if (now == SIM_PAGE) {
      make_page(extent, page_at(at), data);
    } else {
      make_page(extent, page_at(at), whole);
      memcpy(data, whole + at % SIM_PAGE, now);
    }
    at += now;
    data += now;
    bytes -= now;
  }
}

static void zero_part(struct sim_store *store, uint64_t at, uint64_t bytes) {
  if (bytes > 0 && at_page(chunk_at(store, at), page_at(at))) (void)write_plain(store, at, NULL, (uint32_t)bytes);
}

uint64_t sim_store_discard(struct sim_store *store, uint64_t at, uint64_t bytes) {
  const uint64_t first = (at + SIM_PAGE - 1) / SIM_PAGE * SIM_PAGE;
  const uint64_t end = (at + bytes) / SIM_PAGE * SIM_PAGE;
  uint64_t held = 0;

  assert(at % 512 == 0 && bytes % 512 == 0 && at <= store->bytes && bytes <= store->bytes - at);
  if (first > end) { /* within one page */
    zero_part(store, at, bytes);
    return 0;
  }
  zero_part(store, at, first - at);
  zero_part(store, end, at + bytes - end);
  for (uint64_t from = first; from < end;) {
    uint64_t to = (from / CHUNK_BYTES + 1) * CHUNK_BYTES;

    if (to > end) to = end;
    held += SIM_PAGE * (uint64_t)replace(store, chunk_at(store, from), page_at(from),
                                         page_at(from) + (unsigned)((to - from) / SIM_PAGE), NULL);
    from = to;
  }
  return held;
}

bool sim_store_next(const struct sim_store *store, uint64_t *at) {
  unsigned page = page_at(*at);

  assert(*at % SIM_PAGE == 0);
  for (uint64_t i = *at / CHUNK_BYTES; i < store->chunk_count; i++, page = 0) {
    const struct chunk *chunk = &store->chunks[i];
    const unsigned found = find(chunk, page);
    if (found == chunk->count) continue;
    const unsigned first = extents_of(chunk)[found].first;
    *at = i * CHUNK_BYTES + (uint64_t)(first > page ? first : page) * SIM_PAGE;
    return true;
  }
  return false;
}

bool sim_store_stamp(const struct sim_store *store, uint64_t at, struct sim_stamp *stamp) {
  const struct extent *extent;

  assert(at % SIM_PAGE == 0 && at < store->bytes);
  extent = at_page(&store->chunks[at / CHUNK_BYTES], page_at(at));
  if (!extent || extent->clip == 0) return false;
  *stamp = (struct sim_stamp){extent->clip, offset_at(extent, page_at(at))};
  return true;
}
