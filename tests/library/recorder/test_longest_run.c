/* SPDX-License-Identifier: Apache-2.0 */
/* Clips without a length, on a volume whose free space shrinks while they are armed. Not in the crash gate: the volume
 * is written past the device. */
#include "exfat_image.h"
#include "recorder_fixture.h"

/* On a volume of another formatter, without a reservation record: its file, and the root directory that grows again
 * and again, take clusters of the run that the clip looked for. */
static void without_a_length_a_directory_that_grows_is_no_obstacle(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  const struct spate_recorder_config config = {.event = on_event, .context = fixture};
  char path[200];

  OK(spate_recorder_close(&fixture->recorder));
  OK(spate_exfat_unmount(&fixture->volume));
  memset(fixture->ram.memory, 0, VOLUME_MIB * MIB);
  small_format(fixture->ram.memory, VOLUME_MIB * MIB, 9, 12);
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  open_source(fixture, &fixture->sources[0], 3, false, 0);
  for (unsigned i = 0; i < 20; i++) {
    (void)snprintf(path, sizeof path, "%0190u", i); /* eight such sets fill a cluster */
    OK(spate_stream_arm(&fixture->sources[0].stream, path, 0));
    stream_pieces(fixture, &fixture->sources[0], 1);
    OK(spate_recorder_finish(&fixture->recorder));
  }
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(without_a_length_a_directory_that_grows_is_no_obstacle)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
