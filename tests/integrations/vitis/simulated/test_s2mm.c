/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The example of integrations/vitis: AXI DMA's S2MM channel fills a ring, and the drive writes it into a clip. What the
 * file then has is compared with what the source sent. Each way in which the channel can misbehave ends as s2mm.h says.
 */
#include "../s2mm_model.h"
#include "machine/internal.h"
#include "machine/stack.h"
#include <record.h>
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recorded_file.h"

#define DRIVE_BYTES (UINT64_C(256) << 20)
#define PIECE       (64u * 1024u)
#define PIECES      8u
#define PIECES_MANY 32u /* more than a cluster has */
#define CLUSTER     (1u << 20)
#define CLIP_PIECES 100u
#define CLIP_BYTES  ((uint64_t)CLIP_PIECES * PIECE)
#define SLOW_PS     (100 * SIM_PS_PER_US) /* a period that every drive here keeps up with */
#define FAST_PS     (1 * SIM_PS_PER_US)   /* one that none keeps up with */
#define ENDLESS     UINT64_MAX

#define OK(call) assert_int_equal(call, SPATE_OK)

struct fixture {
  struct sim_stack *stack;
  struct spate_exfat volume;
  struct spate_recorder recorder;
  struct spate_stream stream;
  struct spate_piece pieces[PIECES_MANY];
  struct spate_region *ring;
  struct spate_arena memory;
  struct s2mm_model model;
  struct s2mm_config config;
  struct s2mm dma;
  uint64_t overrun_bytes;
};

static void on_event(void *context, struct spate_stream *stream, enum spate_event event, uint64_t value) {
  struct fixture *f = context;
  (void)stream;
  if (event == SPATE_EVENT_OVERRUN) f->overrun_bytes += value;
}

static uint64_t lost_bytes(void *context) { return ((struct fixture *)context)->model.lost_bytes; }

/* A mounted volume, a recorder with one stream, and the model. */
static struct fixture *start_with(const struct s2mm_model *model, uint32_t piece_count) {
  struct fixture *f = calloc(1, sizeof *f);
  const struct sim_stack_config config = {.machine = {.seed = 5}, .options = {.bytes = DRIVE_BYTES}, .depth = 32};
  const struct spate_exfat_format format = {.serial = 1, .cluster_bytes = CLUSTER};

  assert_non_null(f);
  f->stack = sim_stack_new(&config);
  OK(sim_stack_open(f->stack));
  struct spate_exfat_config volume = sim_stack_exfat(f->stack);
  OK(spate_exfat_format(&volume, &format));
  OK(spate_exfat_mount(&f->volume, &volume, NULL));
  f->ring = sim_stack_region(f->stack, piece_count * PIECE, SIM_LOGIC);
  const struct spate_recorder_config recorder = {.event = on_event, .context = f};
  const struct spate_stream_config stream = {.region = f->ring, .pieces = f->pieces, .piece_count = piece_count};
  OK(spate_recorder_open(&f->recorder, &f->volume, &recorder));
  OK(spate_stream_open(&f->recorder, &f->stream, &stream));
  f->memory = (struct spate_arena){.start = sim_memory_take(f->stack->sim, 4096, SIM_QUEUE), .bytes = 4096};
  f->model = *model;
  f->model.piece_bytes = PIECE;
  if (f->model.period_ps == 0) f->model.period_ps = SLOW_PS;
  s2mm_model_open(&f->model, f->stack->sim);
  f->config = (struct s2mm_config){.registers = S2MM_MODEL_BASE,
                                   .length_bits = 23,
                                   .wide_addresses = true,
                                   .ring = f->ring,
                                   .piece_bytes = PIECE,
                                   .piece_count = piece_count,
                                   .memory = &f->memory};
  return f;
}

static struct fixture *start(const struct s2mm_model *model) { return start_with(model, PIECES); }

static void end(struct fixture *f) {
  const char *first;

  OK(spate_recorder_close(&f->recorder));
  OK(spate_exfat_unmount(&f->volume));
  OK(sim_stack_close(f->stack));
  if (sim_take_violations(f->stack->sim, &first) != 0) fail_msg("%s", first);
  sim_stack_free(f->stack);
  free(f);
}

static enum spate_error record(struct fixture *f) {
  OK(s2mm_open(&f->dma, &f->config));
  return example_record(&f->dma, &f->recorder, &f->stream, "CLIP.RAW", CLIP_BYTES);
}

static void assert_file_from(struct fixture *f, const char *path, uint64_t first, uint64_t bytes) {
  expect_file(&f->volume, path, first, bytes);
}

static void assert_file(struct fixture *f, uint64_t bytes) { assert_file_from(f, "CLIP.RAW", 0, bytes); }

/* ---- what works ---- */

static void test_a_stream_arrives_in_the_file(void **state) {
  struct fixture *f = start(&(struct s2mm_model){.pieces = CLIP_PIECES});

  OK(record(f));
  assert_int_equal(f->dma.failure, S2MM_OK);
  assert_int_equal(f->dma.pieces, CLIP_PIECES);
  assert_int_equal(f->dma.starved, 0);
  assert_file(f, CLIP_BYTES);
  end(f);
  (void)state;
}

/* The source is faster than the drive: it is held back, and nothing is lost. */
static void test_a_source_that_can_wait_loses_nothing(void **state) {
  struct fixture *f = start(&(struct s2mm_model){.pieces = CLIP_PIECES, .period_ps = FAST_PS});

  OK(record(f));
  assert_true(f->dma.starved > 0);
  assert_int_equal(f->model.lost_bytes, 0);
  assert_int_equal(f->overrun_bytes, 0);
  assert_file(f, CLIP_BYTES);
  end(f);
  (void)state;
}

/* A source that cannot wait: every byte that its logic dropped is reported, and none twice. */
static void test_what_the_logic_drops_is_reported(void **state) {
  struct fixture *f = start(&(struct s2mm_model){.pieces = ENDLESS, .period_ps = FAST_PS, .fifo_pieces = 2});

  f->config.lost_bytes = lost_bytes;
  f->config.context = f;
  OK(record(f));
  assert_true(f->model.lost_bytes > 0);
  assert_int_equal(f->dma.lost_bytes, f->stream.counters.overrun_bytes);
  assert_int_equal(f->overrun_bytes, f->stream.counters.overrun_bytes);
  assert_true(f->overrun_bytes > 0 && f->overrun_bytes <= f->model.lost_bytes);
  assert_file(f, CLIP_BYTES); /* the model numbers the bytes that it takes */
  end(f);
  (void)state;
}

static void test_a_short_packet_ends_the_clip(void **state) {
  struct fixture *f =
      start(&(struct s2mm_model){.variant = S2MM_SHORT_PACKET, .pieces = 13, .at = 12, .short_bytes = 1000});

  OK(record(f));
  assert_int_equal(f->dma.state, S2MM_STOPPED);
  assert_int_equal(f->dma.bytes, 12u * PIECE + 1000u);
  assert_file(f, 12u * PIECE + 1000u);
  end(f);
  (void)state;
}

/* Descriptors decide, not interrupts. */
static void test_interrupts_without_data_and_late_descriptors_do_no_harm(void **state) {
  static const struct s2mm_model models[] = {
      {.variant = S2MM_IOC_WITHOUT_DATA, .pieces = CLIP_PIECES},
      {.variant = S2MM_LATE, .pieces = CLIP_PIECES, .late_ps = 3 * SIM_PS_PER_MS},
      {.variant = S2MM_LATE, .pieces = CLIP_PIECES, .late_ps = 50 * SIM_PS_PER_US, .period_ps = FAST_PS},
  };

  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
    struct fixture *f = start(&models[i]);
    OK(record(f));
    assert_file(f, CLIP_BYTES);
    end(f);
  }
  (void)state;
}

/* A turn with data reads no register of the DMA. */
static void test_status_is_read_in_turns_without_data_only(void **state) {
  struct fixture *f = start(&(struct s2mm_model){.pieces = PIECES, .period_ps = FAST_PS});

  OK(s2mm_open(&f->dma, &f->config));
  OK(spate_stream_arm(&f->stream, "CLIP.RAW", CLIP_BYTES));
  OK(s2mm_start(&f->dma, &f->stream));
  while (f->model.delivered < PIECES)
    sim_spend(f->stack->sim, SIM_PS_PER_US);
  const uint32_t before = f->model.status_reads;
  OK(s2mm_work(&f->dma, &f->stream));
  assert_int_equal(f->dma.pieces, PIECES);
  assert_int_equal(f->model.status_reads, before);
  OK(s2mm_work(&f->dma, &f->stream));
  assert_int_equal(f->model.status_reads, before + 1u);
  OK(spate_recorder_finish(&f->recorder));
  end(f);
  (void)state;
}

/* The stream has no room for a while, as when a clip is armed. What is completed waits, and nothing fails. */
static void test_a_stream_without_room_is_no_failure(void **state) {
  struct fixture *f = start(&(struct s2mm_model){.pieces = PIECES, .period_ps = FAST_PS});

  OK(s2mm_open(&f->dma, &f->config));
  OK(spate_stream_arm(&f->stream, "CLIP.RAW", CLIP_BYTES));
  OK(s2mm_start(&f->dma, &f->stream));
  OK(spate_stream_push(&f->stream, 0, PIECE)); /* takes the room of one piece */
  for (unsigned i = 0; i < 1000; i++) {
    sim_spend(f->stack->sim, SIM_PS_PER_MS);
    OK(s2mm_work(&f->dma, &f->stream));
  }
  assert_int_equal(f->dma.pieces, PIECES - 1u);
  assert_int_equal(f->dma.starved, 1);
  OK(spate_recorder_finish(&f->recorder));
  end(f);
  (void)state;
}

/* The DMA is reset: it fills nothing more. It starts again from the ring's first piece. */
static void test_a_dma_that_was_stopped_starts_again(void **state) {
  struct fixture *f = start(&(struct s2mm_model){.pieces = ENDLESS});

  OK(s2mm_open(&f->dma, &f->config));
  OK(spate_stream_arm(&f->stream, "CLIP.RAW", CLIP_BYTES));
  OK(s2mm_start(&f->dma, &f->stream));
  while (f->dma.pieces < PIECES / 2u) {
    OK(s2mm_work(&f->dma, &f->stream));
    OK(spate_recorder_work(&f->recorder));
  }
  const uint32_t resets = f->model.resets;
  OK(s2mm_stop(&f->dma));
  assert_int_equal(f->model.resets, resets + 1u);
  assert_int_equal(f->dma.state, S2MM_STOPPED);
  const uint64_t delivered = f->model.delivered;
  sim_spend(f->stack->sim, 10 * SLOW_PS);
  assert_int_equal(f->model.delivered, delivered);
  OK(s2mm_work(&f->dma, &f->stream)); /* nothing */
  OK(spate_recorder_finish(&f->recorder));
  OK(example_record(&f->dma, &f->recorder, &f->stream, "AGAIN.RAW", CLIP_BYTES));
  assert_file(f, PIECES / 2u * (uint64_t)PIECE);
  assert_file_from(f, "AGAIN.RAW", delivered * PIECE, CLIP_BYTES);
  end(f);
  (void)state;
}

/* The DMA has completed more than the clip has room for: the clip is full, and that is no error. */
static void test_a_clip_whose_reservation_is_full_ends_well(void **state) {
  struct fixture *f = start_with(&(struct s2mm_model){.pieces = ENDLESS, .period_ps = FAST_PS}, PIECES_MANY);

  sim_spend(f->stack->sim, PIECES_MANY * FAST_PS); /* the whole ring is filled before the first turn */
  OK(s2mm_open(&f->dma, &f->config));
  OK(example_record(&f->dma, &f->recorder, &f->stream, "CLIP.RAW", CLUSTER));
  assert_int_equal(f->dma.bytes, CLUSTER);
  assert_int_equal(f->dma.state, S2MM_STOPPED);
  assert_true(f->model.delivered >= PIECES_MANY);
  assert_file(f, CLUSTER);
  end(f);
  (void)state;
}

/* Without a limit of one's own it is the stream that says so. */
static void test_a_full_reservation_is_told(void **state) {
  struct fixture *f = start_with(&(struct s2mm_model){.pieces = ENDLESS}, PIECES_MANY);
  enum spate_error error = SPATE_OK;

  OK(s2mm_open(&f->dma, &f->config));
  OK(spate_stream_arm(&f->stream, "CLIP.RAW", CLUSTER));
  OK(s2mm_start(&f->dma, &f->stream));
  for (unsigned turns = 0; error == SPATE_OK && turns < 1000000u; turns++) {
    error = s2mm_work(&f->dma, &f->stream);
    OK(spate_recorder_work(&f->recorder));
  }
  assert_int_equal(error, SPATE_E_RESERVATION);
  assert_int_equal(f->dma.failure, S2MM_OK);
  assert_int_equal(f->dma.bytes, CLUSTER);
  OK(s2mm_stop(&f->dma));
  OK(spate_recorder_finish(&f->recorder));
  assert_file(f, CLUSTER);
  end(f);
  (void)state;
}

/* Queue memory and ring of the machine are above 4 GiB: every address needs its upper half. */
static void test_addresses_have_two_halves(void **state) {
  struct fixture *f = start(&(struct s2mm_model){.pieces = CLIP_PIECES});

  OK(s2mm_open(&f->dma, &f->config));
  assert_true(f->ring->first_dma > UINT32_MAX);
  OK(spate_stream_arm(&f->stream, "CLIP.RAW", CLIP_BYTES));
  OK(s2mm_start(&f->dma, &f->stream));
  for (uint32_t i = 0; i < PIECES; i++) {
    const struct s2mm_descriptor *descriptor = &f->dma.descriptors[i];
    const uint64_t next = spate_port_dma_address(&f->dma.descriptors[(i + 1u) % PIECES]);
    assert_int_equal(descriptor->next | (uint64_t)descriptor->next_upper << 32, next);
    assert_int_equal(descriptor->buffer | (uint64_t)descriptor->buffer_upper << 32,
                     f->ring->first_dma + (uint64_t)i * PIECE);
  }
  OK(s2mm_stop(&f->dma));
  OK(spate_recorder_finish(&f->recorder));
  end(f);
  (void)state;
}

/* The lower half of the tail starts the DMA. With pieces waiting, it would run past a tail whose upper half comes
 * later. */
static void test_the_upper_half_of_the_tail_comes_first(void **state) {
  struct fixture *f = start(&(struct s2mm_model){.pieces = CLIP_PIECES, .period_ps = FAST_PS});

  sim_spend(f->stack->sim, CLIP_PIECES * FAST_PS); /* the source holds all of them ready */
  OK(s2mm_open(&f->dma, &f->config));
  OK(spate_stream_arm(&f->stream, "CLIP.RAW", CLIP_BYTES));
  OK(s2mm_start(&f->dma, &f->stream));
  assert_int_equal(f->model.delivered, PIECES);
  OK(s2mm_work(&f->dma, &f->stream));
  assert_int_equal(f->dma.pieces, PIECES);
  OK(s2mm_work(&f->dma, &f->stream)); /* reads the status: no error */
  OK(s2mm_stop(&f->dma));
  OK(spate_recorder_finish(&f->recorder));
  end(f);
  (void)state;
}

/* ---- failures ---- */

/* How each ends, and how many pieces are in the file. */
static void test_each_failure_is_named_and_keeps_what_came_before(void **state) {
  static const struct {
    enum s2mm_variant variant;
    enum s2mm_failure failure;
  } cases[] = {
      {S2MM_DATA_SLAVE_ERROR, S2MM_DATA_ERROR},
      {S2MM_HALTS, S2MM_HALTED},
      {S2MM_LOSES_A_STATUS, S2MM_NOT_COMPLETED},
      {S2MM_LOSES_THE_LAST, S2MM_NOT_COMPLETED},
      {S2MM_NO_BYTES, S2MM_LENGTH},
      {S2MM_TOO_MANY_BYTES, S2MM_LENGTH},
      {S2MM_DESCRIPTOR_ERROR, S2MM_DATA_ERROR},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture *f = start(&(struct s2mm_model){.variant = cases[i].variant, .pieces = CLIP_PIECES, .at = 21});
    assert_int_equal(record(f), SPATE_E_FATAL);
    assert_int_equal(f->dma.failure, cases[i].failure);
    assert_int_equal(f->dma.failed_piece, 21u % PIECES);
    assert_int_equal(f->dma.pieces, 21);
    assert_file(f, 21u * PIECE);
    end(f);
  }
  (void)state;
}

/* A status that never arrives is noticed by the next descriptor, before the ring is full. */
static void test_a_lost_status_is_noticed_soon(void **state) {
  struct fixture *f = start(&(struct s2mm_model){
      .variant = S2MM_LOSES_A_STATUS, .pieces = CLIP_PIECES, .at = 21, .period_ps = 60 * SIM_PS_PER_MS});

  assert_int_equal(record(f), SPATE_E_FATAL);
  assert_int_equal(f->dma.failure, S2MM_NOT_COMPLETED);
  assert_in_range(f->model.delivered, 21 + 3, 21 + 4);
  end(f);
  (void)state;
}

/* A piece that is completed right before the error is in the file. */
static void test_what_comes_right_before_an_error_is_kept(void **state) {
  struct fixture *f = start(&(struct s2mm_model){.variant = S2MM_LAST_WORDS, .pieces = 21});

  assert_int_equal(record(f), SPATE_E_FATAL);
  assert_int_equal(f->dma.failure, S2MM_DATA_ERROR);
  assert_int_equal(f->dma.status_register & 0x20u, 0x20u);
  assert_file(f, 22u * PIECE);
  end(f);
  (void)state;
}

/* After a failure the same ring records again, once the drive has fetched what is in it. */
static void test_it_starts_again_after_a_failure(void **state) {
  struct fixture *f =
      start(&(struct s2mm_model){.variant = S2MM_DATA_SLAVE_ERROR, .pieces = 3 * CLIP_PIECES, .at = 21});

  assert_int_equal(record(f), SPATE_E_FATAL);
  f->model.variant = S2MM_IDEAL;
  f->config.memory = NULL;
  OK(s2mm_open(&f->dma, &f->config));
  OK(example_record(&f->dma, &f->recorder, &f->stream, "AGAIN.RAW", CLIP_BYTES));
  assert_file_from(f, "AGAIN.RAW", 21u * PIECE, CLIP_BYTES);
  assert_file(f, 21u * PIECE);
  end(f);
  (void)state;
}

static void test_it_does_not_overwrite_what_the_drive_still_reads(void **state) {
  struct fixture *f = start(&(struct s2mm_model){.pieces = 0});

  OK(s2mm_open(&f->dma, &f->config));
  OK(spate_stream_arm(&f->stream, "CLIP.RAW", CLIP_BYTES));
  OK(spate_stream_push(&f->stream, 0, PIECE));
  assert_int_equal(s2mm_start(&f->dma, &f->stream), SPATE_E_BUSY);
  OK(spate_recorder_finish(&f->recorder));
  OK(s2mm_start(&f->dma, &f->stream));
  assert_int_equal(s2mm_start(&f->dma, &f->stream), SPATE_E_STATE);
  end(f);
  (void)state;
}

/* Descriptors where the DMA finds no memory: the upper half of their address is missing. */
static void test_a_descriptor_that_cannot_be_fetched(void **state) {
  struct fixture *f = start(&(struct s2mm_model){.pieces = CLIP_PIECES});

  OK(s2mm_open(&f->dma, &f->config));
  f->dma.config.wide_addresses = false;
  assert_int_equal(example_record(&f->dma, &f->recorder, &f->stream, "CLIP.RAW", CLIP_BYTES), SPATE_E_FATAL);
  assert_int_equal(f->dma.failure, S2MM_FETCH_ERROR);
  end(f);
  (void)state;
}

static void test_a_channel_that_is_not_there_or_not_usable(void **state) {
  static const struct {
    enum s2mm_variant variant;
    enum spate_error error;
    enum s2mm_failure failure;
  } cases[] = {
      {S2MM_ABSENT, SPATE_E_TIMEOUT, S2MM_NO_RESET},
      {S2MM_RESETS_FOR_EVER, SPATE_E_TIMEOUT, S2MM_NO_RESET},
      {S2MM_SIMPLE, SPATE_E_UNSUPPORTED, S2MM_NOT_SG},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture *f = start(&(struct s2mm_model){.variant = cases[i].variant});
    assert_int_equal(s2mm_open(&f->dma, &f->config), cases[i].error);
    assert_int_equal(f->dma.failure, cases[i].failure);
    end(f);
  }
  struct fixture *f = start(&(struct s2mm_model){.variant = S2MM_STAYS_HALTED});
  assert_int_equal(record(f), SPATE_E_TIMEOUT);
  assert_int_equal(f->dma.failure, S2MM_NOT_STARTED);
  end(f);
  (void)state;
}

static void test_wrong_configurations_are_refused(void **state) {
  struct fixture *f = start(&(struct s2mm_model){.pieces = 0});
  const struct s2mm_config good = f->config;
  struct s2mm_config config;

#define REFUSED(change)                                                                                                \
  config = good;                                                                                                       \
  config.change;                                                                                                       \
  assert_int_equal(s2mm_open(&f->dma, &config), SPATE_E_INVALID)

  REFUSED(registers = 0);
  REFUSED(length_bits = 7);
  REFUSED(length_bits = 27);
  REFUSED(length_bits = 16); /* 65536 bytes need 17 */
  REFUSED(piece_bytes = 0);
  REFUSED(piece_bytes = PIECE - 4);
  REFUSED(piece_count = 6);
  REFUSED(piece_count = 1);
  REFUSED(piece_count = 2 * PIECES); /* larger than the ring */
  REFUSED(wide_addresses = false);   /* the machine's memory is above 4 GiB */
  f->memory.used_bytes = f->memory.bytes;
  assert_int_equal(s2mm_open(&f->dma, &good), SPATE_E_MEMORY);
  end(f);
  (void)state;
}

static void test_each_failure_has_a_sentence(void **state) {
  for (unsigned i = 0; i < S2MM_FAILURES; i++) {
    const char *text = s2mm_help((enum s2mm_failure)i);
    assert_non_null(text);
    for (unsigned other = 0; other < i; other++)
      assert_string_not_equal(text, s2mm_help((enum s2mm_failure)other));
  }
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_stream_arrives_in_the_file),
      cmocka_unit_test(test_a_source_that_can_wait_loses_nothing),
      cmocka_unit_test(test_what_the_logic_drops_is_reported),
      cmocka_unit_test(test_a_short_packet_ends_the_clip),
      cmocka_unit_test(test_interrupts_without_data_and_late_descriptors_do_no_harm),
      cmocka_unit_test(test_status_is_read_in_turns_without_data_only),
      cmocka_unit_test(test_a_stream_without_room_is_no_failure),
      cmocka_unit_test(test_a_dma_that_was_stopped_starts_again),
      cmocka_unit_test(test_a_clip_whose_reservation_is_full_ends_well),
      cmocka_unit_test(test_a_full_reservation_is_told),
      cmocka_unit_test(test_addresses_have_two_halves),
      cmocka_unit_test(test_the_upper_half_of_the_tail_comes_first),
      cmocka_unit_test(test_each_failure_is_named_and_keeps_what_came_before),
      cmocka_unit_test(test_a_lost_status_is_noticed_soon),
      cmocka_unit_test(test_what_comes_right_before_an_error_is_kept),
      cmocka_unit_test(test_it_starts_again_after_a_failure),
      cmocka_unit_test(test_it_does_not_overwrite_what_the_drive_still_reads),
      cmocka_unit_test(test_a_descriptor_that_cannot_be_fetched),
      cmocka_unit_test(test_a_channel_that_is_not_there_or_not_usable),
      cmocka_unit_test(test_wrong_configurations_are_refused),
      cmocka_unit_test(test_each_failure_has_a_sentence),
  };
  return cmocka_run_group_tests_name("s2mm", tests, NULL, NULL);
}
