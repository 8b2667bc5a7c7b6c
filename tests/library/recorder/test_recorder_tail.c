/* SPDX-License-Identifier: Apache-2.0 */
/* A source that is slower than a block a second gives the recorder what it has: spate_stream_tail(). It is durable with
 * the next checkpoint, and stays so while its blocks are written again, whatever is torn. The power is cut, too, when
 * SPATE_CUTS is set. */
#include "recorder_fixture.h"

#define SECOND UINT64_C(1000000000)

/* A source that fills one slot slowly. What was pushed is in `sent`, what was not is in the slot. */
struct slow {
  struct fixture *fixture;
  struct source *source;
  uint32_t filled; /* bytes in the slot */
};

static uint8_t *slot(const struct slow *slow) {
  return slow->source->ring + (uint64_t)(slow->source->slot % PIECES) * PIECE;
}

static struct slow begin(uint32_t block_bytes, bool retain) {
  struct slow slow = {.fixture = open_fixture(block_bytes, 16)};
  slow.source = &slow.fixture->sources[0];
  slow.fixture->ram.order = RAM_RANDOM;
  slow.fixture->ram.delay_polls = 2;
  open_source(slow.fixture, slow.source, 5, retain, 0);
  OK(spate_stream_arm(&slow.source->stream, "SLOW.CSV", 4 * MIB));
  return slow;
}

static void receive(struct slow *slow, uint32_t bytes) {
  while (spate_stream_room(&slow->source->stream) == 0) /* the slot still belongs to the recorder */
    work(slow->fixture);
  for (uint32_t i = 0; i < bytes; i++)
    slot(slow)[slow->filled + i] = (uint8_t)(ram_random(&slow->source->seed) >> 11);
  slow->filled += bytes;
}

static enum spate_error give_tail(const struct slow *slow) {
  return spate_stream_tail(&slow->source->stream, (uint64_t)(slow->source->slot % PIECES) * PIECE, slow->filled);
}

/* Pushes the first `bytes` of the slot, and moves the rest to the next one. */
static enum spate_error push_some(struct slow *slow, uint32_t bytes) {
  struct source *source = slow->source;
  const uint8_t *from = slot(slow);
  const enum spate_error error = spate_stream_push(&source->stream, (uint64_t)(source->slot % PIECES) * PIECE, bytes);
  if (error != SPATE_OK) return error;
  memcpy(source->sent + source->sent_bytes, from, bytes);
  source->sent_bytes += bytes;
  source->slot++;
  slow->filled -= bytes;
  memcpy(slot(slow), from + bytes, slow->filled);
  return SPATE_OK;
}

static void must_push(struct slow *slow, uint32_t bytes) {
  enum spate_error error;
  while ((error = push_some(slow, bytes)) == SPATE_E_FULL)
    work(slow->fixture);
  OK(error);
}

static uint64_t published(const struct slow *slow) { return spate_stream_published_bytes(&slow->source->stream); }

/* A second goes by: time enough for a checkpoint. */
static void a_second(struct slow *slow) {
  const uint64_t end = clock_ns + SECOND;
  while (clock_ns < end) {
    work(slow->fixture);
    clock_ns += SECOND / 50;
  }
}

/* Everything that was received, in the slot or pushed, is the file. */
static void is_all(struct slow *slow) {
  uint8_t *all = malloc(slow->source->sent_bytes + slow->filled);
  assert_non_null(all);
  memcpy(all, slow->source->sent, slow->source->sent_bytes);
  memcpy(all + slow->source->sent_bytes, slot(slow), slow->filled);
  file_holds(slow->fixture, "SLOW.CSV", all, slow->source->sent_bytes + slow->filled);
  free(all);
}

static void end(struct slow *slow) {
  OK(spate_recorder_finish(&slow->fixture->recorder));
  is_all(slow);
  close_fixture(slow->fixture);
}

/* 100 bytes a second for a minute, through several blocks: what is a second old is durable. */
static void telemetry(uint32_t block_bytes, bool retain) {
  struct slow slow = begin(block_bytes, retain);
  for (unsigned i = 0; i < 60; i++) {
    receive(&slow, 100);
    if (slow.filled >= block_bytes) must_push(&slow, block_bytes);
    drain(slow.fixture, slow.source);
    OK(give_tail(&slow));
    a_second(&slow);
    assert_int_equal(published(&slow), slow.source->sent_bytes + slow.filled);
    is_all(&slow);
  }
  end(&slow);
}

static void what_is_a_second_old_is_durable(void **state) {
  (void)state;
  telemetry(512, false);
  telemetry(4096, false);
  telemetry(512, true);
}

/* The tail is several blocks, and then the source becomes fast. */
static void a_source_that_becomes_fast(void **state) {
  (void)state;
  struct slow slow = begin(512, false);
  receive(&slow, 3000);
  OK(give_tail(&slow));
  a_second(&slow);
  for (unsigned i = 0; i < 20; i++) {
    receive(&slow, PIECE - slow.filled);
    must_push(&slow, PIECE);
  }
  receive(&slow, 77);
  OK(spate_recorder_finish(&slow.fixture->recorder));
  slow.filled = 0; /* it was never given */
  is_all(&slow);
  close_fixture(slow.fixture);
}

/* A piece that is pushed while the tail is written has to wait: both have the same blocks. */
static void pieces_and_tails_wait_for_each_other(void **state) {
  (void)state;
  struct slow slow = begin(512, false);
  receive(&slow, 700);
  OK(give_tail(&slow));
  GIVES(SPATE_E_FULL, give_tail(&slow));
  GIVES(SPATE_E_FULL, push_some(&slow, 512));
  a_second(&slow);
  must_push(&slow, 512);                 /* the other 188 bytes stay promised */
  GIVES(SPATE_E_FULL, give_tail(&slow)); /* the piece is under way */
  drain(slow.fixture, slow.source);
  a_second(&slow);
  assert_int_equal(published(&slow), 700);
  receive(&slow, 1);
  OK(give_tail(&slow));
  a_second(&slow);
  assert_int_equal(published(&slow), 701);
  end(&slow);
}

static enum spate_error answer;
static enum spate_error refuse(struct spate_block *block, struct spate_io *io) {
  (void)block;
  (void)io;
  return answer;
}

/* The device does not accept the write now, or ever. That ends nothing. */
static void a_tail_that_the_device_refuses(void **state) {
  (void)state;
  static const enum spate_error answers[] = {SPATE_E_FULL, SPATE_E_GONE};
  struct slow slow = begin(512, false);
  struct spate_block *block = &slow.fixture->ram.block;
  const struct spate_block_ops *ops = block->ops;
  struct spate_block_ops refusing = *ops;
  refusing.submit = refuse;
  receive(&slow, 100);
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    answer = answers[i];
    block->ops = &refusing;
    GIVES(answer, give_tail(&slow));
    block->ops = ops;
    OK(give_tail(&slow));
    a_second(&slow);
    assert_int_equal(published(&slow), 100);
  }
  receive(&slow, 412);
  must_push(&slow, 512);
  end(&slow);
}

static void what_is_no_tail(void **state) {
  (void)state;
  struct slow slow = begin(512, false);
  struct spate_stream *stream = &slow.source->stream;
  GIVES(SPATE_E_INVALID, spate_stream_tail(stream, 0, 0));
  GIVES(SPATE_E_INVALID, spate_stream_tail(stream, 0, SPATE_PAGE_BYTES + 1));
  GIVES(SPATE_E_INVALID, spate_stream_tail(stream, 1, 100));
  GIVES(SPATE_E_INVALID, spate_stream_tail(stream, RING_BYTES, 100));
  receive(&slow, 100);
  OK(give_tail(&slow));
  a_second(&slow);
  slow.filled = 99;
  GIVES(SPATE_E_INVALID, give_tail(&slow)); /* fewer than before */
  slow.filled = 100;
  stream->config.chunk_bytes = PIECE;
  GIVES(SPATE_E_INVALID, give_tail(&slow));
  stream->config.chunk_bytes = 0;
  must_push(&slow, 100); /* the clip's last piece */
  drain(slow.fixture, slow.source);
  GIVES(SPATE_E_STATE, spate_stream_tail(stream, 0, 100));
  OK(spate_stream_stop(stream));
  GIVES(SPATE_E_STATE, spate_stream_tail(stream, 0, 100));
  end(&slow);
}

/* The clip ends with its tail, also when that is still being written. */
static void a_clip_ends_with_its_tail(void **state) {
  (void)state;
  for (unsigned at_once = 0; at_once < 2; at_once++) {
    struct slow slow = begin(512, false);
    receive(&slow, 100);
    OK(give_tail(&slow));
    if (!at_once) a_second(&slow);
    end(&slow);
  }
}

/* The memory of a tail is that of the next piece. A piece of the next clip would release it while the tail is read. */
static void a_piece_of_the_next_clip_waits_for_a_tail(void **state) {
  (void)state;
  for (unsigned armed_later = 0; armed_later < 2; armed_later++) {
    struct slow slow = begin(512, false);
    struct spate_stream *stream = &slow.source->stream;
    uint8_t tail[512];
    if (!armed_later) OK(spate_stream_arm(stream, "NEXT.CSV", MIB));
    receive(&slow, 100);
    slow.fixture->ram.delay_polls = 3000; /* longer than the arming takes */
    OK(give_tail(&slow));
    slow.fixture->ram.delay_polls = 2;
    OK(spate_stream_cut(stream));
    if (armed_later) OK(spate_stream_arm(stream, "NEXT.CSV", MIB));
    receive(&slow, 412);
    memcpy(tail, slot(&slow), sizeof tail);
    assert_non_null(stream->tail.context);
    GIVES(SPATE_E_FULL, push_some(&slow, 512));
    must_push(&slow, 512);
    assert_null(stream->tail.context);
    drain(slow.fixture, slow.source);
    GIVES(SPATE_E_STATE, (stream->current->last_pushed = true, push_some(&slow, 512))); /* no tail is left to enter */
    OK(spate_recorder_finish(&slow.fixture->recorder));
    file_holds(slow.fixture, "SLOW.CSV", tail, 100);
    file_holds(slow.fixture, "NEXT.CSV", tail, 512);
    close_fixture(slow.fixture);
  }
}

/* The next clip is armed while a tail of this one is written. That clip's last piece is its last one all the same. */
static void a_clip_that_was_armed_beside_a_tail_ends(void **state) {
  (void)state;
  struct slow slow = begin(512, false);
  struct source *source = slow.source;
  while (spate_stream_left_bytes(&source->stream) > 1024) {
    const uint64_t left = spate_stream_left_bytes(&source->stream) - 1024;
    receive(&slow, left < PIECE ? (uint32_t)left : PIECE);
    must_push(&slow, slow.filled);
  }
  drain(slow.fixture, source);
  receive(&slow, 700);
  slow.fixture->ram.delay_polls = 3000;
  OK(give_tail(&slow));
  slow.fixture->ram.delay_polls = 2;
  OK(spate_stream_arm(&source->stream, "NEXT.CSV", MIB));
  assert_non_null(source->stream.tail.context);
  receive(&slow, 4000 - 700);
  must_push(&slow, 4000);
  receive(&slow, 512);
  drain(slow.fixture, source);
  GIVES(SPATE_E_STATE, push_some(&slow, 512));
  OK(spate_recorder_finish(&slow.fixture->recorder));
  close_fixture(slow.fixture);
}

/* The piece over a tail fails while the checkpoint flushes that is to publish it. */
static void a_tail_that_is_destroyed_is_not_published(void **state) {
  (void)state;
  struct slow slow = begin(512, false);
  struct source *source = slow.source;
  receive(&slow, 100);
  OK(give_tail(&slow));
  while (source->stream.tail.context != NULL)
    work(slow.fixture);
  slow.fixture->ram.delay_polls = 3000;
  clock_ns += SECOND;
  work(slow.fixture); /* the flush is under way */
  slow.fixture->ram.delay_polls = 2;
  ram_block_fault(&slow.fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                         .first_lba = source->stream.clips[0].file.first_lba,
                                                         .last_lba = source->stream.clips[0].file.first_lba,
                                                         .times = 1,
                                                         .error = SPATE_E_MEDIA});
  receive(&slow, 412);
  must_push(&slow, 512);
  a_second(&slow);
  for (int i = 0; i < 4000; i++) {
    work(slow.fixture);
    assert_int_equal(source->stream.clips[0].file.published_bytes, 0);
  }
  GIVES(SPATE_E_MEDIA, spate_recorder_finish(&slow.fixture->recorder));
  close_fixture(slow.fixture);
}

/* The drive lost power, and the stream waits for a clip that is being closed before it deals with that. */
static void a_tail_waits_for_a_loss_that_is_not_dealt_with(void **state) {
  (void)state;
  struct slow slow = begin(512, false);
  receive(&slow, 100);
  slow.fixture->ram.block.power_losses++;
  GIVES(SPATE_E_FULL, give_tail(&slow));
  work(slow.fixture);
  OK(give_tail(&slow));
  a_second(&slow);
  end(&slow);
}

/* The next clip begins while the tail of the last one is still being written. */
static void a_tail_of_the_clip_before_is_waited_for(void **state) {
  (void)state;
  struct slow slow = begin(512, false);
  OK(spate_stream_arm(&slow.source->stream, "NEXT.CSV", MIB));
  receive(&slow, 100);
  OK(give_tail(&slow));
  OK(spate_stream_cut(&slow.source->stream));
  GIVES(SPATE_E_FULL, give_tail(&slow));
  a_second(&slow);
  OK(give_tail(&slow));
  OK(spate_recorder_finish(&slow.fixture->recorder));
  file_holds(slow.fixture, "SLOW.CSV", slot(&slow), 100);
  file_holds(slow.fixture, "NEXT.CSV", slot(&slow), 100);
  close_fixture(slow.fixture);
}

/* A clip that ended with a tail leaves nothing of it to the next one in its memory. */
static void the_next_clip_has_no_tail(void **state) {
  (void)state;
  struct slow slow = begin(512, false);
  receive(&slow, 100);
  OK(give_tail(&slow));
  OK(spate_stream_stop(&slow.source->stream));
  close_clips(slow.fixture, slow.source);
  OK(spate_stream_arm(&slow.source->stream, "NEXT.CSV", MIB));
  must_push(&slow, 100); /* the clip's last piece */
  drain(slow.fixture, slow.source);
  GIVES(SPATE_E_STATE, push_some(&slow, 512));
  OK(spate_recorder_finish(&slow.fixture->recorder));
  file_holds(slow.fixture, "NEXT.CSV", slow.source->sent, 100);
  close_fixture(slow.fixture);
}

/* There is no room for the next piece in the reservation. It goes to the next clip with the bytes of the tail, and the
 * first clip ends before them. */
static void a_tail_goes_to_the_next_clip(void **state) {
  (void)state;
  struct slow slow = begin(512, false);
  struct source *source = slow.source;
  OK(spate_stream_arm(&source->stream, "NEXT.CSV", MIB));
  while (spate_stream_left_bytes(&source->stream) > 1024) {
    const uint64_t left = spate_stream_left_bytes(&source->stream) - 1024;
    receive(&slow, left < PIECE ? (uint32_t)left : PIECE);
    must_push(&slow, slow.filled);
  }
  drain(slow.fixture, source);
  receive(&slow, 700);
  OK(give_tail(&slow));
  a_second(&slow);
  assert_int_equal(published(&slow), source->sent_bytes + 700);
  const uint64_t first_bytes = source->sent_bytes;
  receive(&slow, 4096 - 700);
  must_push(&slow, 4096);
  const struct spate_exfat_clip *first = &source->stream.clips[0].file, *next = &source->stream.clips[1].file;
  for (int i = 0; i < 200; i++) { /* at each moment one of the two has published them */
    work(slow.fixture);
    assert_true(next->published_bytes >= 700 || first->published_bytes == first_bytes + 700);
  }
  a_second(&slow);
  OK(spate_recorder_finish(&slow.fixture->recorder));
  assert_int_equal(source->stream.counters.durable_bytes, source->sent_bytes);
  file_holds(slow.fixture, "SLOW.CSV", source->sent, first_bytes);
  file_holds(slow.fixture, "NEXT.CSV", source->sent + first_bytes, 4096);
  close_fixture(slow.fixture);
}

/* The next clip fails, so the tail stays in the first one. */
static void a_tail_stays_if_the_next_clip_fails(void **state) {
  (void)state;
  for (unsigned kind = 0; kind < 2; kind++) { /* its data; its length */
    struct slow slow = begin(512, false);
    struct source *source = slow.source;
    OK(spate_stream_arm(&source->stream, "NEXT.CSV", MIB));
    while (spate_stream_left_bytes(&source->stream) > 1024) {
      const uint64_t left = spate_stream_left_bytes(&source->stream) - 1024;
      receive(&slow, left < PIECE ? (uint32_t)left : PIECE);
      must_push(&slow, slow.filled);
    }
    drain(slow.fixture, source);
    receive(&slow, 700);
    OK(give_tail(&slow));
    a_second(&slow);
    const uint64_t first_bytes = source->sent_bytes;
    const struct spate_exfat_clip *next = &source->stream.clips[1].file;
    const uint64_t lba = kind == 0 ? next->first_lba : next->block->lba;
    ram_block_fault(
        &slow.fixture->ram,
        (struct ram_fault){
            .ops = RAM_OP(SPATE_WRITE), .first_lba = lba, .last_lba = lba, .times = 1, .error = SPATE_E_MEDIA});
    receive(&slow, 4096 - 700);
    must_push(&slow, 4096);
    const uint64_t end = clock_ns + SECOND;
    enum spate_error error = SPATE_OK;
    while (clock_ns < end) {
      const enum spate_error now = spate_recorder_work(&slow.fixture->recorder);
      if (error == SPATE_OK) error = now;
      clock_ns += SECOND / 50;
    }
    GIVES(kind == 0 ? SPATE_OK : SPATE_E_MEDIA, error);
    GIVES(kind == 0 ? SPATE_E_MEDIA : SPATE_OK, spate_recorder_finish(&slow.fixture->recorder));
    file_holds(slow.fixture, "SLOW.CSV", source->sent, first_bytes + 700);
    if (kind == 1) file_holds(slow.fixture, "NEXT.CSV", source->sent + first_bytes, 4096);
    close_fixture(slow.fixture);
  }
}

static void there_is_no_room_for_a_tail(void **state) {
  (void)state;
  struct slow slow = begin(512, false);
  while (spate_stream_left_bytes(&slow.source->stream) > 0) {
    receive(&slow, PIECE);
    must_push(&slow, PIECE);
  }
  drain(slow.fixture, slow.source);
  receive(&slow, 1);
  GIVES(SPATE_E_RESERVATION, give_tail(&slow));
  slow.filled = 0;
  end(&slow);
}

/* A rewrite fails, of a tail or of the piece over it, and destroys the block: the file ends before it. With nothing
 * before it, there is no file. */
static void a_rewrite_that_fails_ends_the_clip_before_the_tail(void **state) {
  (void)state;
  for (unsigned kind = 0; kind < 4; kind++) {
    const bool piece = (kind & 1u) != 0, empty = (kind & 2u) != 0;
    struct slow slow = begin(512, false);
    struct source *source = slow.source;
    if (!empty) {
      receive(&slow, 2048);
      must_push(&slow, 2048);
      drain(slow.fixture, source);
    }
    receive(&slow, 100);
    OK(give_tail(&slow));
    a_second(&slow);
    const uint64_t lba = source->stream.clips[0].file.first_lba + source->sent_bytes / 512;
    ram_block_fault(
        &slow.fixture->ram,
        (struct ram_fault){
            .ops = RAM_OP(SPATE_WRITE), .first_lba = lba, .last_lba = lba, .times = 1, .error = SPATE_E_MEDIA});
    receive(&slow, 412);
    const uint64_t sent_bytes = source->sent_bytes;
    if (piece)
      must_push(&slow, 512);
    else
      OK(give_tail(&slow));
    a_second(&slow);
    GIVES(SPATE_E_MEDIA, source->stream.error);
    GIVES(SPATE_E_MEDIA, push_some(&slow, 512));
    GIVES(SPATE_E_STATE, give_tail(&slow));
    GIVES(SPATE_E_MEDIA, spate_recorder_finish(&slow.fixture->recorder));
    struct spate_exfat_entry entry;
    if (empty)
      GIVES(SPATE_E_NOT_FOUND, spate_exfat_stat(&slow.fixture->volume, "SLOW.CSV", &entry));
    else
      file_holds(slow.fixture, "SLOW.CSV", source->sent, sent_bytes);
    assert_int_equal(source->stream.counters.lost_bytes, piece ? 512 : 0);
    close_fixture(slow.fixture);
  }
}

/* The drive loses power. A tail that was not flushed is gone, and given again; one that was flushed stays. */
static void a_power_loss_takes_what_was_not_flushed(void **state) {
  (void)state;
  for (unsigned flushed = 0; flushed < 2; flushed++) {
    struct slow slow = begin(512, false);
    slow.fixture->ram.keep_log = true;
    receive(&slow, 100);
    OK(give_tail(&slow));
    if (flushed) a_second(&slow);
    for (int i = 0; i < 20; i++) /* no checkpoint is due yet */
      work(slow.fixture);
    assert_int_equal(published(&slow), flushed ? 100 : 0);
    cut_the_drives_power(slow.fixture);
    a_second(&slow);
    assert_int_equal(published(&slow), flushed ? 100 : 0);
    receive(&slow, 50);
    OK(give_tail(&slow));
    a_second(&slow);
    assert_int_equal(published(&slow), 150);
    end(&slow);
  }
}

/* The power is lost while the tail is written: what completes afterwards may be gone in part. */
static void a_power_loss_while_a_tail_is_written(void **state) {
  (void)state;
  struct slow slow = begin(512, false);
  slow.fixture->ram.keep_log = true;
  receive(&slow, 100);
  OK(give_tail(&slow));
  cut_the_drives_power(slow.fixture);
  a_second(&slow);
  assert_int_equal(published(&slow), 0);
  OK(give_tail(&slow));
  a_second(&slow);
  assert_int_equal(published(&slow), 100);
  end(&slow);
}

/* ---- any order ---- */

#define CLIPS_MAX 24u

/* What was received from `begin` on, in the order of the clips, up to the next one's begin. */
struct life {
  struct slow slow;
  uint64_t random, begins[CLIPS_MAX + 1u];
  unsigned clips;
  uint32_t tail_bytes; /* the last tail that was accepted, and is not a piece yet */
};

static uint32_t below(struct life *life, uint32_t count) { return (uint32_t)(ram_random(&life->random) % count); }

static void push_any(struct life *life, uint32_t block_bytes) {
  const uint32_t bytes = life->slow.filled & ~(block_bytes - 1u);
  if (bytes == 0 || push_some(&life->slow, bytes) != SPATE_OK) return;
  life->tail_bytes = life->tail_bytes > bytes ? life->tail_bytes - bytes : 0;
}

static void tail_any(struct life *life) {
  if (life->slow.filled == 0 || life->slow.filled > SPATE_PAGE_BYTES) return;
  if (give_tail(&life->slow) == SPATE_OK) life->tail_bytes = life->slow.filled;
}

/* The clip ends with its tail, and the next one continues after it. */
static void cut_any(struct life *life) {
  struct source *source = life->slow.source;
  char path[16];
  if (life->clips == CLIPS_MAX || source->stream.tail.context != NULL || source->stream.following != NULL) return;
  (void)snprintf(path, sizeof path, "%u.CSV", life->clips);
  if (spate_stream_arm(&source->stream, path, MIB) != SPATE_OK) return;
  OK(spate_stream_cut(&source->stream));
  memcpy(source->sent + source->sent_bytes, slot(&life->slow), life->tail_bytes);
  source->sent_bytes += life->tail_bytes;
  life->slow.filled -= life->tail_bytes;
  memmove(slot(&life->slow), slot(&life->slow) + life->tail_bytes, life->slow.filled);
  life->tail_bytes = 0;
  life->begins[life->clips++] = source->sent_bytes;
}

static void live(uint64_t seed) {
  const uint32_t block_bytes = seed % 3 == 0 ? 4096 : 512;
  struct life life = {.slow = begin(block_bytes, seed % 2 == 0), .random = seed};
  struct source *source = life.slow.source;
  char path[16];
  for (unsigned step = 0; step < 400; step++) {
    switch (below(&life, 8)) {
    case 0:
    case 1:
      if (life.slow.filled < PIECE / 2) receive(&life.slow, 1 + below(&life, 900));
      break;
    case 2: push_any(&life, block_bytes); break;
    case 3:
    case 4: tail_any(&life); break;
    case 5: clock_ns += below(&life, SECOND / 2); break;
    case 6:
      if (below(&life, 6) == 0) cut_any(&life);
      break;
    default: life.slow.fixture->ram.delay_polls = below(&life, 12);
    }
    for (unsigned turns = below(&life, 4); turns > 0; turns--)
      work(life.slow.fixture);
  }
  while (source->stream.tail.context != NULL)
    work(life.slow.fixture);
  OK(spate_recorder_finish(&life.slow.fixture->recorder));
  memcpy(source->sent + source->sent_bytes, slot(&life.slow), life.tail_bytes);
  life.begins[life.clips] = source->sent_bytes + life.tail_bytes;
  for (unsigned i = 0; i <= life.clips; i++) {
    const uint64_t begin_bytes = i == 0 ? 0 : life.begins[i - 1u];
    struct spate_exfat_entry entry;
    (void)snprintf(path, sizeof path, "%u.CSV", i - 1u);
    if (life.begins[i] > begin_bytes)
      file_holds(life.slow.fixture, i == 0 ? "SLOW.CSV" : path, source->sent + begin_bytes,
                 life.begins[i] - begin_bytes);
    else
      GIVES(SPATE_E_NOT_FOUND, spate_exfat_stat(&life.slow.fixture->volume, i == 0 ? "SLOW.CSV" : path, &entry));
  }
  close_fixture(life.slow.fixture);
}

/* Tails, pieces and cuts in any order: the clips hold what was received, one after the other. */
static void what_was_given_is_in_the_clips(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 40; seed++)
    live(seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_a_second_old_is_durable),
      cmocka_unit_test(a_source_that_becomes_fast),
      cmocka_unit_test(pieces_and_tails_wait_for_each_other),
      cmocka_unit_test(a_tail_that_the_device_refuses),
      cmocka_unit_test(what_is_no_tail),
      cmocka_unit_test(a_clip_ends_with_its_tail),
      cmocka_unit_test(a_tail_of_the_clip_before_is_waited_for),
      cmocka_unit_test(the_next_clip_has_no_tail),
      cmocka_unit_test(a_tail_goes_to_the_next_clip),
      cmocka_unit_test(a_tail_stays_if_the_next_clip_fails),
      cmocka_unit_test(a_piece_of_the_next_clip_waits_for_a_tail),
      cmocka_unit_test(a_clip_that_was_armed_beside_a_tail_ends),
      cmocka_unit_test(a_tail_that_is_destroyed_is_not_published),
      cmocka_unit_test(a_tail_waits_for_a_loss_that_is_not_dealt_with),
      cmocka_unit_test(what_was_given_is_in_the_clips),
      cmocka_unit_test(there_is_no_room_for_a_tail),
      cmocka_unit_test(a_rewrite_that_fails_ends_the_clip_before_the_tail),
      cmocka_unit_test(a_power_loss_takes_what_was_not_flushed),
      cmocka_unit_test(a_power_loss_while_a_tail_is_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
