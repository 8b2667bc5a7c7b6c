/* SPDX-License-Identifier: Apache-2.0 */
/* What a player requires of its slots and of its start. */
#include "recorder_fixture.h"

static const struct {
  enum spate_error error;
  uint64_t from_bytes, offset_bytes;
  uint32_t slot_count, slot_bytes;
} cases[] = {
    {SPATE_OK, 0, 0, 1, 4096},
    {SPATE_OK, 512, 0, 4, 4096},
    {SPATE_OK, 0, 0, 16, PIECE},                      /* all of the region */
    {SPATE_OK, 0, RING_BYTES - 8192, 2, 4096},        /* its end */
    {SPATE_E_INVALID, 0, RING_BYTES - 4096, 2, 4096}, /* beyond it */
    {SPATE_E_INVALID, 0, 4096, 16, PIECE},            /* beyond it */
    {SPATE_E_INVALID, 0, 0, 32, PIECE},               /* beyond it */
    {SPATE_E_INVALID, 0, 0, 0, 4096},                 /* no slots */
    {SPATE_E_INVALID, 0, 0, 3, 4096},                 /* no power of two */
    {SPATE_E_INVALID, 0, 0, 6, 4096},                 /* no power of two */
    {SPATE_E_INVALID, 0, 0, 4, 0},                    /* slots of no bytes */
    {SPATE_E_INVALID, 0, 0, 4, 2048},                 /* less than a page */
    {SPATE_E_INVALID, 0, 0, 4, 4096 + 512},           /* not whole pages */
    {SPATE_E_INVALID, 0, 512, 4, 4096},               /* not at the start of a page */
    {SPATE_E_INVALID, 1, 0, 4, 4096},                 /* not at the start of a block of the file */
    {SPATE_E_INVALID, 256, 0, 4, 4096},               /* not at the start of a block of the file */
};

static void slots_and_start_are_checked(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  struct spate_slot slots[32];
  struct spate_exfat_file file;

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  stream_pieces(fixture, source, 4);
  OK(spate_recorder_finish(&fixture->recorder));
  OK(spate_exfat_open(&fixture->volume, "A.RAW", &file));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct spate_player player;
    const struct spate_player_config config = {.region = &source->region,
                                               .slots = slots,
                                               .slot_count = cases[i].slot_count,
                                               .slot_bytes = cases[i].slot_bytes,
                                               .offset_bytes = cases[i].offset_bytes};
    if (spate_player_open(&player, &file, cases[i].from_bytes, &config) != cases[i].error) fail_msg("case %zu", i);
  }
  close_fixture(fixture);
}

/* A slot is read with one request, so it is no longer than the device's limit. */
static void a_slot_is_no_longer_than_a_request(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  struct spate_slot slots[4];
  struct spate_player player;
  struct spate_exfat_file file;

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  stream_pieces(fixture, source, 4);
  OK(spate_recorder_finish(&fixture->recorder));
  OK(spate_exfat_open(&fixture->volume, "A.RAW", &file));
  struct spate_player_config config = {.region = &source->region, .slots = slots, .slot_count = 4, .slot_bytes = PIECE};
  fixture->ram.block.request_blocks_max = PIECE / 512;
  OK(spate_player_open(&player, &file, 0, &config));
  fixture->ram.block.request_blocks_max = PIECE / 512 - 1;
  GIVES(SPATE_E_INVALID, spate_player_open(&player, &file, 0, &config));
  fixture->ram.block.request_blocks_max = 16384;
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slots_and_start_are_checked),
      cmocka_unit_test(a_slot_is_no_longer_than_a_request),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
