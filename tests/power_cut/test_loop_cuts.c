/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that go round several times on small volumes, with triggers. The power is cut when SPATE_CUTS is set. In some
 * of the states the loop is opened again after the cut and goes round once more: then each span that a trigger had
 * confirmed is a file, with all its bytes that were there after the cut, in order. */
#include <stdint.h>

static uint32_t part_bytes;
#define PART_BYTES part_bytes
#include "../library/loop/loop_fixture.h"

#include "exfat_image.h"
#include "witness.h"

#define MS           UINT64_C(1000000)
#define BYTES_MAX    (32 * MIB) /* of a file */
#define KEEP         SPATE_LOOP_PARTS_MIN
#define NUMBERS      128u
#define SPANS        4u
#define OTHER        "CAM/OTHER"
#define OTHER_BYTES  10000u
#define PAST_THE_END UINT32_MAX

/* What a trigger has confirmed. */
struct kept {
  char path[32];
  uint64_t since; /* event */
  uint32_t first, last;
};

struct filmed {
  struct looping looping;
  const char *path;
  uint64_t start_bytes[NUMBERS]; /* of part n in what was sent */
  struct kept kept[SPANS];
  unsigned count;
  uint8_t *sent; /* a copy, which the cuts need after the fixture is freed */
  uint64_t sent_bytes;
};

static uint32_t piece_bytes; /* parts last four milliseconds */
static struct filmed filmed[STREAMS];
static unsigned loops;
static uint64_t ready; /* the event from which on the folder and the file of others are there */

static const char *const paths[STREAMS] = {"CAM/A.RAW", "CAM/B.RAW", "CAM/C.RAW", "CAM/D.RAW",
                                           "CAM/E.RAW", "CAM/F.RAW", "CAM/G.RAW", "CAM/H.RAW"};
static const char *const lists[STREAMS] = {"CAM/.A.RAW.list", "CAM/.B.RAW.list", "CAM/.C.RAW.list", "CAM/.D.RAW.list",
                                           "CAM/.E.RAW.list", "CAM/.F.RAW.list", "CAM/.G.RAW.list", "CAM/.H.RAW.list"};

/* ---- the volume ---- */

static void open_recorder(struct fixture *fixture) {
  struct spate_recorder_config config = {
      .checkpoint_ms = 5, .event = on_event, .while_waiting = while_waiting, .context = fixture};

  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  fixture->recorder.period_ticks = 5 * MS;
}

static struct fixture *open_volume(uint32_t block_bytes, uint64_t mib, bool foreign) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  const struct spate_exfat_format format = {.label = "TEST", .serial = 1};

  assert_non_null(fixture);
  ram_block_open(&fixture->ram, mib * MIB / block_bytes, block_bytes);
  fixture->config = (struct spate_exfat_config){.block = &fixture->ram.block,
                                                .blocks = fixture->ram.block.blocks,
                                                .cache = aligned_alloc(4096, CACHE_BYTES),
                                                .cache_bytes = CACHE_BYTES,
                                                .cache_blocks = fixture->blocks,
                                                .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
                                                .bitmap = aligned_alloc(4096, BITMAP_BYTES),
                                                .bitmap_bytes = BITMAP_BYTES,
                                                .now = clock_now};
  part_bytes = foreign ? 16384 : (uint32_t)MIB;
  piece_bytes = foreign ? 4096 : PIECE;
  if (foreign)
    small_format(fixture->ram.memory, mib * MIB, 9, 12);
  else
    OK(spate_exfat_format(&fixture->config, &format));
  fixture->cut_power_at = -1;
  fixture->ram.order = RAM_RANDOM;
  fixture->ram.random = witness_seed();
  fixture->ram.delay_polls = 3;
  fixture->ram.trim_fill = 0x5a;
  return fixture;
}

static void other_bytes(uint8_t *bytes) {
  for (uint32_t i = 0; i < OTHER_BYTES; i++)
    bytes[i] = (uint8_t)(i * 7u + i / 251u);
}

/* A file that is no part, in the loop's folder. */
static void make_other(struct fixture *fixture) {
  static _Alignas(4096) uint8_t bytes[12288];
  struct spate_exfat_clip clip;

  other_bytes(bytes);
  OK(spate_exfat_arm(&fixture->volume, &clip, OTHER, sizeof bytes));
  OK(spate_block_write(&fixture->ram.block, clip.first_lba, sizeof bytes >> fixture->ram.block.block_shift, bytes, 0));
  OK(spate_exfat_close(&clip, OTHER_BYTES));
}

/* ---- after a cut ---- */

static uint64_t bytes_at(struct spate_exfat *volume, const char *path, bool *directory) {
  struct spate_exfat_entry entry;
  const enum spate_error error = spate_exfat_stat(volume, path, &entry);

  *directory = error == SPATE_OK && entry.directory;
  return error == SPATE_OK && !entry.directory ? entry.bytes : 0;
}

/* How much of the span there is, as parts or as a file. */
static uint64_t span_bytes(struct spate_exfat *volume, const struct filmed *of, const struct kept *kept) {
  bool directory, ignored;
  char path[64];
  uint64_t bytes = bytes_at(volume, kept->path, &directory);

  for (uint32_t number = kept->first; directory && number <= kept->last && number < NUMBERS; number++) {
    (void)snprintf(path, sizeof path, "%.5s_%08u.RAW", of->path, number);
    bytes += bytes_at(volume, path, &ignored);
    (void)snprintf(path, sizeof path, "%s/%c_%08u.RAW", kept->path, of->path[4], number);
    bytes += bytes_at(volume, path, &ignored);
  }
  return bytes;
}

static bool holds_at(struct spate_exfat *volume, const char *path, const uint8_t *bytes, uint64_t bytes_max,
                     uint64_t least, uint64_t most) {
  static uint8_t data[BYTES_MAX];
  struct spate_exfat_file file;
  size_t got;

  if (spate_exfat_open(volume, path, &file) != SPATE_OK) return false;
  if (spate_exfat_read(&file, 0, data, sizeof data, &got) != SPATE_OK) return false;
  return got >= least && got <= most && got <= bytes_max && memcmp(data, bytes, got) == 0;
}

static unsigned parts_of(struct spate_exfat *volume, const char *path) {
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  unsigned count = 0;
  bool more = true;

  if (spate_exfat_list(volume, "CAM", &directory) != SPATE_OK) return UINT32_MAX;
  while (spate_exfat_list_next(&directory, &entry, &more) == SPATE_OK && more)
    count += entry.name[0] == path[4] && entry.name[1] == '_' ? 1u : 0u;
  return count;
}

/* A host that has restarted: its memory. */
struct host {
  struct spate_recorder recorder;
  struct source source;
  struct spate_loop loop;
  struct spate_loop_part parts[PARTS];
  _Alignas(4096) uint8_t list[4096];
};

static enum spate_error host_turn(struct host *host) {
  const enum spate_error error = spate_recorder_work(&host->recorder);

  clock_ns += MS / 10;
  return error == SPATE_OK ? spate_loop_work(&host->loop) : error;
}

static enum spate_error go_round(struct host *host) {
  enum spate_error error = SPATE_OK;
  const uint32_t pieces = (KEEP + 2u) * PART_BYTES / piece_bytes;

  for (uint32_t pushed = 0, turns = 0; pushed < pieces || spate_loop_keeps(&host->loop); turns++) {
    if (turns == 100000) return SPATE_E_TIMEOUT;
    error =
        pushed < pieces ? spate_loop_push(&host->loop, (uint64_t)(pushed % PIECES) * PIECE, piece_bytes) : SPATE_E_FULL;
    if (error == SPATE_OK) pushed++;
    if (error != SPATE_OK && error != SPATE_E_FULL) return error;
    error = host_turn(host);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

static enum spate_error open_host(struct host *host, struct spate_exfat *volume, const char *path) {
  const struct spate_recorder_config config = {.checkpoint_ms = 5};
  struct spate_stream_config stream = {
      .region = &host->source.region, .pieces = host->source.pieces, .piece_count = PIECES, .cpu_filled = true};
  const struct spate_loop_config loop = {.stream = &host->source.stream,
                                         .path = path,
                                         .part_bytes = PART_BYTES,
                                         .keep_bytes = KEEP * PART_BYTES,
                                         .parts = host->parts,
                                         .part_count = PARTS,
                                         .memory = host->list};
  static _Alignas(4096) uint8_t ring[RING_BYTES];
  static _Alignas(4096) uint8_t table[SPATE_REGION_TABLE_BYTES(RING_BYTES)];
  struct spate_arena arena = {.start = table, .bytes = sizeof table};

  volume->config.now = clock_now;
  enum spate_error error = spate_recorder_open(&host->recorder, volume, &config);
  if (error == SPATE_OK) error = spate_region_init(&host->source.region, ring, RING_BYTES, &arena);
  if (error == SPATE_OK) error = spate_stream_open(&host->recorder, &host->source.stream, &stream);
  return error == SPATE_OK ? spate_loop_open(&host->loop, &loop) : error;
}

static enum spate_error use_again(struct spate_exfat *volume, const char *path) {
  static struct host host;

  memset(&host, 0, sizeof host);
  enum spate_error error = open_host(&host, volume, path);
  if (error == SPATE_OK) error = go_round(&host);
  if (error == SPATE_OK) error = spate_recorder_finish(&host.recorder);
  if (error == SPATE_OK) error = spate_loop_close(&host.loop);
  if (error == SPATE_OK) error = spate_recorder_close(&host.recorder);
  return error;
}

static const char *wrong_after(const struct filmed *of, struct spate_exfat *volume, uint64_t at,
                               const uint64_t *least) {
  static char wrong[160];
  static uint8_t other[OTHER_BYTES];

  for (unsigned i = 0; i < of->count; i++) {
    const struct kept *kept = &of->kept[i];
    const uint64_t start = of->start_bytes[kept->first];
    const uint64_t most = i + 1 < of->count ? of->start_bytes[of->kept[i + 1].first] - start : UINT64_MAX;
    if (at != UINT64_MAX && least[i] == 0) continue; /* nothing of it was published: an empty folder stays */
    if (kept->since > at || holds_at(volume, kept->path, of->sent + start, of->sent_bytes - start, least[i],
                                     of->kept[i + 1 < of->count ? i + 1 : i].since <= at ? most : UINT64_MAX))
      continue;
    (void)snprintf(wrong, sizeof wrong, "%s is not what was kept", kept->path);
    return wrong;
  }
  other_bytes(other);
  if (!holds_at(volume, OTHER, other, sizeof other, sizeof other, sizeof other)) return "a file of others is not whole";
  return parts_of(volume, of->path) > KEEP + 3 ? "parts that no loop deletes" : NULL;
}

static const char *after_cut(void *context, struct spate_exfat *volume, uint64_t at) {
  const struct filmed *of = &filmed[at % loops];
  uint64_t least[SPANS];
  static char wrong[96];

  (void)context;
  if (at < ready) return NULL;
  for (unsigned i = 0; i < of->count; i++)
    least[i] = span_bytes(volume, of, &of->kept[i]);
  const enum spate_error error = use_again(volume, of->path);
  if (error != SPATE_OK) {
    (void)snprintf(wrong, sizeof wrong, "the loop: %s", spate_error_name(error));
    return wrong;
  }
  return wrong_after(of, volume, at, least);
}

/* ---- the loop ---- */

static void open_loops(struct fixture *fixture, unsigned count) {
  loops = count;
  for (unsigned i = 0; i < count; i++) {
    filmed[i] = (struct filmed){.path = paths[i]};
    open_loop(&filmed[i].looping, fixture, i, paths[i], KEEP * PART_BYTES);
  }
}

/* Lists, and a file of others. The cuts begin after them, when `made`. */
static struct fixture *begin(uint32_t block_bytes, uint64_t mib, bool foreign, unsigned count, bool made) {
  struct fixture *fixture = open_volume(block_bytes, mib, foreign);

  for (unsigned i = 0; i < count; i++)
    if (!made) witness_changes(lists[i]);
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  open_recorder(fixture);
  OK(spate_exfat_mkdir(&fixture->volume, "CAM"));
  make_other(fixture);
  ready = witness_now();
  if (made) {
    open_loops(fixture, count);
    for (unsigned i = 0; i < count; i++) {
      OK(spate_recorder_finish(&fixture->recorder));
      close_loop(&filmed[i].looping);
      close_source(filmed[i].looping.source);
    }
    OK(spate_recorder_close(&fixture->recorder));
    OK(spate_exfat_unmount(&fixture->volume));
    witness_again();
    ready = 0;
    for (unsigned i = 0; i < count; i++)
      witness_changes(lists[i]);
    OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
    open_recorder(fixture);
  }
  if (witness_on()) witness_after(after_cut, NULL);
  open_loops(fixture, count);
  return fixture;
}

/* Parts that a span has are not to be deleted, and where does the present one begin? */
static void note(struct filmed *of) {
  const struct spate_loop *loop = &of->looping.loop;
  const struct spate_stream *stream = &of->looping.source->stream;
  char path[64];

  if (loop->streaming == 0 || loop->streaming_clip != stream->current) return; /* its next work sees it */
  assert_true(loop->streaming < NUMBERS);
  of->start_bytes[loop->streaming] = of->looping.source->sent_bytes - spate_stream_progress(stream).pushed_bytes;
  for (unsigned i = 0; i < SPATE_LOOP_SPANS && of->count > 0; i++)
    if (loop->spans[i].first == of->kept[of->count - 1].first && loop->spans[i].last > 0)
      of->kept[of->count - 1].last = loop->spans[i].last;
  for (unsigned i = 0; i < of->count; i++)
    for (uint32_t n = of->kept[i].first; of->kept[i].last == PAST_THE_END && n <= loop->streaming; n++) {
      (void)snprintf(path, sizeof path, "%.5s_%08u.RAW", of->path, n);
      witness_kept(path);
    }
}

static void step(unsigned turns) {
  for (unsigned i = 0; i < turns; i++) {
    work(filmed[0].looping.fixture);
    for (unsigned n = 0; n < loops; n++) {
      OK(spate_loop_work(&filmed[n].looping.loop));
      note(&filmed[n]);
    }
    clock_ns += MS / 10;
  }
}

static void run(uint32_t pieces) {
  for (uint32_t i = 0; i < pieces; i++) {
    for (unsigned n = 0; n < loops; n++) {
      enum spate_error error;
      while ((error = loop_push(&filmed[n].looping, piece_bytes)) != SPATE_OK) {
        GIVES(SPATE_E_FULL, error);
        step(1);
      }
      note(&filmed[n]);
    }
    step(10u * piece_bytes * 4u / PART_BYTES);
  }
}

static void run_parts(uint32_t parts) { run(parts * PART_BYTES / piece_bytes); }

static void trigger(struct filmed *of, const char *path, uint64_t before_ms, uint64_t after_ms, bool extends) {
  struct spate_loop *loop = &of->looping.loop;
  bool extended;

  OK(spate_loop_trigger(loop, path, before_ms, after_ms, &extended));
  assert_int_equal(extended, extends);
  if (extends) return;
  struct kept *kept = &of->kept[of->count++];
  *kept = (struct kept){.last = PAST_THE_END, .since = witness_now()};
  (void)snprintf(kept->path, sizeof kept->path, "%s", path);
  for (unsigned i = 0; i < SPATE_LOOP_SPANS; i++)
    if (strcmp(loop->spans[i].path, path) == 0) kept->first = loop->spans[i].first;
  assert_true(kept->first > 0);
  note(of);
}

static void settle(void) {
  for (unsigned n = 0; n < loops; n++)
    for (int i = 0; i < 10000 && spate_loop_keeps(&filmed[n].looping.loop); i++)
      step(1);
}

/* From the span's first part to the one past it. */
static uint64_t length_of(const struct filmed *of, const struct kept *kept) {
  const uint64_t end_bytes = of->start_bytes[kept->last + 1u];

  assert_true(end_bytes > of->start_bytes[kept->first]);
  return end_bytes - of->start_bytes[kept->first];
}

static void end(struct fixture *fixture) {
  OK(spate_recorder_finish(&fixture->recorder));
  for (unsigned closed = 0, tries = 0; closed < loops && tries < 1000; tries++) {
    closed = 0;
    for (unsigned n = 0; n < loops; n++) {
      const enum spate_error error = spate_loop_close(&filmed[n].looping.loop);
      assert_true(error == SPATE_OK || error == SPATE_E_BUSY);
      closed += error == SPATE_OK ? 1u : 0u;
    }
  }
  for (unsigned n = 0; n < loops; n++) {
    const struct source *source = filmed[n].looping.source;
    filmed[n].sent = malloc(source->sent_bytes);
    assert_non_null(filmed[n].sent);
    filmed[n].sent_bytes = source->sent_bytes;
    memcpy(filmed[n].sent, source->sent, source->sent_bytes);
  }
  if (!witness_on())
    for (unsigned n = 0; n < loops; n++) {
      uint64_t least[SPANS] = {0};
      for (unsigned i = 0; i < filmed[n].count; i++)
        least[i] = length_of(&filmed[n], &filmed[n].kept[i]);
      const char *wrong = wrong_after(&filmed[n], &fixture->volume, UINT64_MAX, least);
      if (wrong != NULL) fail_msg("%s", wrong);
    }
  for (unsigned n = 0; n < loops; n++) {
    assert_int_equal(filmed[n].looping.told.count[SPATE_LOOP_FOLDER], 0);
    assert_int_equal(filmed[n].looping.told.count[SPATE_LOOP_KEPT], filmed[n].count);
    free(filmed[n].looping.config.memory);
  }
  close_fixture(fixture);
  for (unsigned n = 0; n < loops; n++)
    free(filmed[n].sent);
}

/* ---- scenarios ---- */

static void one_trigger(uint32_t block_bytes, uint64_t mib, bool foreign) {
  struct fixture *fixture = begin(block_bytes, mib, foreign, 1, true);

  run_parts(10);
  trigger(&filmed[0], "EVENT.RAW", 14, 6, false);
  run_parts(14); /* the loop goes round, and the file stays */
  end(fixture);
}

static void test_a_trigger(void **state) {
  (void)state;
  one_trigger(512, 32, false);
  one_trigger(4096, 32, false);
}

static void test_a_volume_of_another_system(void **state) {
  (void)state;
  one_trigger(512, 2, true);
}

/* The list is made, and the volume's first parts. */
static void test_the_first_run(void **state) {
  (void)state;
  struct fixture *fixture = begin(512, 2, true, 1, false);

  run_parts(3);
  trigger(&filmed[0], "EVENT.RAW", 100, 0, false);
  run_parts(3);
  end(fixture);
}

/* One that makes an open span longer, one that comes while the first span becomes a file, and one past that. */
static void test_several_triggers(void **state) {
  (void)state;
  struct fixture *fixture = begin(512, 2, true, 1, true);

  run_parts(9);
  trigger(&filmed[0], "ONE.RAW", 10, 9, false);
  run_parts(1);
  trigger(&filmed[0], "NEVER.RAW", 10, 12, true);
  while (filmed[0].looping.loop.spans[0].last == 0)
    run(1);
  assert_true(spate_loop_keeps(&filmed[0].looping.loop));
  trigger(&filmed[0], "TWO.RAW", 100, 3, false);
  run_parts(5);
  settle();
  trigger(&filmed[0], "THREE.RAW", 0, 0, false);
  run_parts(9);
  end(fixture);
}

/* All of the loop is kept, and then the host is late: meanwhile its parts have become too old to be kept. */
static void test_a_trigger_for_all_of_it(void **state) {
  (void)state;
  struct fixture *fixture = begin(512, 2, true, 1, true);
  filmed[0].looping.loop.config.keep_ms = 60;
  run_parts(9);
  trigger(&filmed[0], "EVENT.RAW", 100000, 10, false);
  clock_ns += 100 * MS;
  run_parts(12);
  end(fixture);
}

/* As many streams as a recorder has: one instant, eight files. */
static void test_eight_streams(void **state) {
  (void)state;
  char path[32];
  struct fixture *fixture = begin(512, 6, true, STREAMS, true);

  run_parts(5);
  for (unsigned n = 0; n < STREAMS; n++) {
    (void)snprintf(path, sizeof path, "KEPT %u", n);
    trigger(&filmed[n], path, 8, 2, false);
  }
  run_parts(6);
  end(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_trigger),     cmocka_unit_test(test_a_volume_of_another_system),
      cmocka_unit_test(test_the_first_run), cmocka_unit_test(test_several_triggers),
      cmocka_unit_test(test_eight_streams), cmocka_unit_test(test_a_trigger_for_all_of_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
