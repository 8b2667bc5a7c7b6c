/* SPDX-License-Identifier: Apache-2.0 */
/* The store compared with a plain array, and its memory use for terabytes. */
#include "nand/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB         (UINT64_C(1) << 20)
#define CHUNK       (2 * MIB)
#define MODEL_BYTES (5 * MIB)
#define MODEL_PAGES (MODEL_BYTES / SIM_PAGE)

static uint64_t random_state;

static uint64_t draw(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

static uint64_t below(uint64_t most) { return draw() % most; }

/* ---- stamps ---- */

static void a_stamp_is_found_and_a_torn_one_is_not(void **state) {
  (void)state;
  uint8_t page[SIM_PAGE], other[SIM_PAGE];
  struct sim_stamp stamp = {0};

  memset(page, 0, sizeof page);
  assert_false(sim_stamp_get(page, &stamp));
  memset(page, 0x5a, sizeof page);
  sim_stamp_put(page, (struct sim_stamp){7, 12 * SIM_PAGE});
  assert_true(sim_stamp_get(page, &stamp));
  assert_int_equal(stamp.clip, 7);
  assert_int_equal(stamp.offset, 12 * SIM_PAGE);
  assert_int_equal(page[SIM_STAMP_BYTES], 0x5a);
  assert_int_equal(page[SIM_PAGE - SIM_STAMP_BYTES - 1], 0x5a);

  /* Half of this page, half of another one. */
  memcpy(other, page, sizeof page);
  sim_stamp_put(other, (struct sim_stamp){7, 13 * SIM_PAGE});
  memcpy(other + 2048, page + 2048, 2048);
  assert_false(sim_stamp_get(other, &stamp));
  /* The head twice: a tail is marked as a tail. */
  memcpy(other, page, sizeof page);
  memcpy(other + SIM_PAGE - SIM_STAMP_BYTES, page, SIM_STAMP_BYTES);
  assert_false(sim_stamp_get(other, &stamp));
}

static void every_bit_of_a_stamp_counts(void **state) {
  (void)state;
  uint8_t page[SIM_PAGE] = {0};
  struct sim_stamp stamp;

  sim_stamp_put(page, (struct sim_stamp){UINT64_C(0x123456789a), UINT64_C(0x7000)});
  for (unsigned bit = 0; bit < 2 * SIM_STAMP_BYTES * 8; bit++) {
    unsigned byte = bit / 8 < SIM_STAMP_BYTES ? bit / 8 : SIM_PAGE - 2 * SIM_STAMP_BYTES + bit / 8;

    page[byte] ^= (uint8_t)(1u << bit % 8);
    assert_false(sim_stamp_get(page, &stamp));
    page[byte] ^= (uint8_t)(1u << bit % 8);
  }
  assert_true(sim_stamp_get(page, &stamp));
  /* Changing both copies alike is noticed, too: the second quadword of each is the clip. */
  page[8] ^= 1;
  page[SIM_PAGE - SIM_STAMP_BYTES + 8] ^= 1;
  assert_false(sim_stamp_get(page, &stamp));
}

/* ---- compared with an array ---- */

struct model {
  struct sim_store *store;
  uint8_t *bytes; /* expected contents */
  uint8_t held[MODEL_PAGES];
  bool is_stamped[MODEL_PAGES]; /* the store should recognise it as stamped */
};

/* The contents that the store keeps of a whole page: of a stamped page only the stamps. */
static void model_write(struct model *model, uint64_t at, const uint8_t *data, uint64_t bytes) {
  struct sim_stamp stamp;
  const uint64_t page = at / SIM_PAGE;

  model->is_stamped[page] = bytes == SIM_PAGE && sim_stamp_get(data, &stamp);
  if (model->is_stamped[page]) {
    memset(model->bytes + at, 0, SIM_PAGE);
    sim_stamp_put(model->bytes + at, stamp);
  } else {
    memcpy(model->bytes + at, data, bytes);
  }
  model->held[page] = 1;
}

static void fill_source(uint8_t *data, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; i += 8)
    memcpy(data + i, &(uint64_t){draw()}, 8);
}

/* A stream's pages, occasionally one that is torn, in the wrong place or not stamped. */
static void fill_pages(uint8_t *data, uint64_t pages, struct sim_stamp first) {
  for (uint64_t i = 0; i < pages; i++) {
    uint8_t *page = data + i * SIM_PAGE;

    sim_stamp_put(page, (struct sim_stamp){first.clip, first.offset + i * SIM_PAGE});
    switch (below(40)) {
    case 0: sim_stamp_put(page, (struct sim_stamp){first.clip, below(1000) * SIM_PAGE}); break;
    case 1: sim_stamp_put(page, (struct sim_stamp){first.clip + 1, first.offset + i * SIM_PAGE}); break;
    case 2: memset(page, (int)below(256), SIM_STAMP_BYTES); break;
    case 3: memset(page + SIM_PAGE - 1, (int)below(256), 1); break;
    case 4: memset(page, 0, SIM_PAGE); break;
    default: break;
    }
  }
}

static void random_write(struct model *model) {
  static uint8_t data[2 * CHUNK];
  uint64_t at = below(MODEL_BYTES / 512) * 512, bytes = (1 + below(40)) * 512, fresh = 0;

  if (below(4) != 0) { /* whole pages of a stream, few of them or very many */
    uint64_t pages = 1 + below(below(8) == 0 ? 1000 : 20);

    at = at / SIM_PAGE * SIM_PAGE;
    bytes = pages * SIM_PAGE;
    fill_source(data, 512);
    /* Mostly where the stream's offset belongs, so that runs become adjacent. */
    fill_pages(data, pages, (struct sim_stamp){1 + below(2), below(8) == 0 ? below(512) * SIM_PAGE : at});
  } else {
    fill_source(data, bytes);
  }
  if (bytes > MODEL_BYTES - at) bytes = MODEL_BYTES - at;
  for (uint64_t done = 0; done < bytes;) {
    uint64_t now = SIM_PAGE - (at + done) % SIM_PAGE;

    if (now > bytes - done) now = bytes - done;
    if (!model->held[(at + done) / SIM_PAGE]) fresh += now;
    model_write(model, at + done, data + done, now);
    done += now;
  }
  assert_int_equal(sim_store_write(model->store, at, data, bytes), fresh);
}

static void random_discard(struct model *model) {
  const uint64_t at = below(MODEL_BYTES / 512) * 512;
  uint64_t bytes = (1 + below(below(10) == 0 ? 8000 : 64)) * 512, held = 0;

  if (bytes > MODEL_BYTES - at) bytes = MODEL_BYTES - at;
  memset(model->bytes + at, 0, bytes);
  for (uint64_t page = at / SIM_PAGE; page * SIM_PAGE < at + bytes; page++) {
    const bool whole = page * SIM_PAGE >= at && (page + 1) * SIM_PAGE <= at + bytes;

    if (model->held[page]) model->is_stamped[page] = false;
    if (whole) {
      held += model->held[page] * (uint64_t)SIM_PAGE;
      model->held[page] = 0;
    }
  }
  assert_int_equal(sim_store_discard(model->store, at, bytes), held);
}

static void compare(const struct model *model, uint64_t at, uint64_t bytes) {
  static uint8_t data[MODEL_BYTES];

  memset(data, 0xee, bytes);
  sim_store_read(model->store, at, data, bytes);
  assert_memory_equal(data, model->bytes + at, bytes);
}

static void compare_stamps(const struct model *model) {
  for (uint64_t page = 0; page < MODEL_PAGES; page++) {
    struct sim_stamp stamp, should_be;

    assert_int_equal(sim_store_stamp(model->store, page * SIM_PAGE, &stamp), model->is_stamped[page]);
    if (!model->is_stamped[page]) continue;
    assert_true(sim_stamp_get(model->bytes + page * SIM_PAGE, &should_be));
    assert_int_equal(stamp.clip, should_be.clip);
    assert_int_equal(stamp.offset, should_be.offset);
  }
}

static void run_random(uint64_t seed, unsigned steps) {
  struct model *model = calloc(1, sizeof *model);

  assert_non_null(model);
  random_state = seed;
  model->bytes = calloc(1, MODEL_BYTES);
  model->store = sim_store_new(MODEL_BYTES);
  const size_t empty = sim_store_memory(model->store);
  for (unsigned i = 0; i < steps; i++) {
    const uint64_t at = below(MODEL_BYTES);

    if (below(5) == 0)
      random_discard(model);
    else
      random_write(model);
    compare(model, at, below(MODEL_BYTES - at < 3 * SIM_PAGE ? MODEL_BYTES - at : 3 * SIM_PAGE));
  }
  compare(model, 0, MODEL_BYTES);
  compare_stamps(model);
  (void)sim_store_discard(model->store, 0, MODEL_BYTES);
  assert_int_equal(sim_store_memory(model->store), empty);
  sim_store_free(model->store);
  free(model->bytes);
  free(model);
}

static void it_holds_what_an_array_would(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    print_message("seed %u\n", (unsigned)seed);
    run_random(seed * UINT64_C(0x9e3779b97f4a7c15), 600);
  }
}

/* ---- terabytes ---- */

static void stamp_all(uint8_t *data, uint64_t bytes, struct sim_stamp first) {
  for (uint64_t i = 0; i < bytes; i += SIM_PAGE)
    sim_stamp_put(data + i, (struct sim_stamp){first.clip, first.offset + i});
}

static void two_terabytes_of_stream_take_less_than_64_mib(void **state) {
  (void)state;
  struct sim_store *store = sim_store_new(UINT64_C(2000000000000));
  const size_t empty = sim_store_memory(store);
  const uint64_t start = 123 * CHUNK + 5 * SIM_PAGE, written = UINT64_C(8) << 30;
  static uint8_t data[128 * 1024];
  struct sim_stamp stamp;

  /* Eight GiB of it in the order of a queue of depth 32: each group of 16 pieces is reversed. */
  for (uint64_t group = 0; group < written; group += 16 * sizeof data) {
    for (uint64_t i = 16; i > 0; i--) {
      const uint64_t offset = group + (i - 1) * sizeof data;

      stamp_all(data, sizeof data, (struct sim_stamp){9, offset});
      assert_int_equal(sim_store_write(store, start + offset, data, sizeof data), sizeof data);
    }
  }
  for (uint64_t offset = 0; offset < written; offset += SIM_PAGE * 37) {
    assert_true(sim_store_stamp(store, start + offset, &stamp));
    assert_true(stamp.clip == 9 && stamp.offset == offset);
  }
  assert_false(sim_store_stamp(store, start + written, &stamp));
  /* In any order, nothing is needed beyond the table, whose size covers the whole drive. */
  assert_int_equal(sim_store_memory(store), empty);
  assert_true(empty < 64 * MIB);
  sim_store_free(store);
}

static void a_member_of_a_stripe_takes_little_more(void **state) {
  (void)state;
  struct sim_store *store = sim_store_new(UINT64_C(1) << 30);
  const size_t empty = sim_store_memory(store);
  static uint8_t data[512 * 1024];

  for (uint64_t i = 0; i < 2048; i++) {
    stamp_all(data, sizeof data, (struct sim_stamp){3, 2 * i * sizeof data});
    (void)sim_store_write(store, i * sizeof data, data, sizeof data);
  }
  /* Four runs in each chunk. */
  assert_int_equal(sim_store_memory(store) - empty, 512 * 4 * 24);
  sim_store_free(store);
}

static void ordinary_pages_come_and_go(void **state) {
  (void)state;
  struct sim_store *store = sim_store_new(16 * MIB);
  const size_t empty = sim_store_memory(store);
  uint8_t page[SIM_PAGE], back[SIM_PAGE];

  memset(page, 1, sizeof page);
  assert_int_equal(sim_store_write(store, 3 * SIM_PAGE, page, SIM_PAGE), SIM_PAGE);
  assert_int_equal(sim_store_write(store, 3 * SIM_PAGE, page, SIM_PAGE), 0);
  assert_int_equal(sim_store_memory(store), empty + SIM_PAGE);
  sim_stamp_put(page, (struct sim_stamp){1, 0});
  assert_int_equal(sim_store_write(store, 3 * SIM_PAGE, page, SIM_PAGE), 0);
  assert_int_equal(sim_store_memory(store), empty);
  /* Overwriting a part of a page makes it an ordinary one, with its stamps still in place. */
  memset(page, 2, sizeof page);
  assert_int_equal(sim_store_write(store, 3 * SIM_PAGE + 512, page, 512), 0);
  assert_int_equal(sim_store_memory(store), empty + SIM_PAGE);
  assert_false(sim_store_stamp(store, 3 * SIM_PAGE, &(struct sim_stamp){0}));
  sim_store_read(store, 3 * SIM_PAGE, back, SIM_PAGE);
  assert_true(sim_stamp_get(back, &(struct sim_stamp){0}));
  assert_int_equal(back[511], 0);
  assert_int_equal(back[512], 2);
  assert_int_equal(sim_store_discard(store, 0, 16 * MIB), SIM_PAGE);
  assert_int_equal(sim_store_memory(store), empty);
  sim_store_free(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stamp_is_found_and_a_torn_one_is_not),
      cmocka_unit_test(every_bit_of_a_stamp_counts),
      cmocka_unit_test(it_holds_what_an_array_would),
      cmocka_unit_test(two_terabytes_of_stream_take_less_than_64_mib),
      cmocka_unit_test(a_member_of_a_stripe_takes_little_more),
      cmocka_unit_test(ordinary_pages_come_and_go),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
