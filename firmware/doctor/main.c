/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings a drive up step by step, and says what it finds, what is wrong, and what to do: spate/checkup.h. The format is
 * that of `spate doctor` on Linux. The exit status is 0 if nothing is wrong, 1 after a warning, 2 after an error.
 *
 *   clock=10                    first counts ten seconds aloud, to compare the clock with a watch
 *   drive=1                     the second drive, if there are several
 *   ltssm=pg054                 how the bridge numbers link states: as pg054 (7 series) or pg213. The default is the
 *                               board's, board_ltssm()
 *   write=1 lba=N blocks=N      measures writes, too, which OVERWRITES these blocks
 */
#include "../common/checkup_print.h"
#include "../common/drive.h"
#include <print.h>
#include <spate/checkup.h>
#include <spate/clock.h>
#include <spate/port.h>
#include <string.h>

#define BUFFER_BYTES_MAX (UINT32_C(8) << 20)
#define SECONDS_MAX      3600u

enum { NOTHING_WRONG, WARNING, WRONG };

static void count_seconds(uint64_t seconds) {
  const uint64_t start_ticks = spate_port_ticks();

  if (seconds == 0 || seconds > SECONDS_MAX || spate_clock_check() != SPATE_OK)
    return; /* the checkup says what is wrong */
  for (uint64_t second = 0; second <= seconds; second++) {
    while (spate_port_ticks() - start_ticks < second * spate_port_ticks_per_second())
      spate_port_relax();
    print("  clock    %u s\n", (unsigned)second);
  }
}

static enum spate_error open_bridge(void *context, struct spate_pcie_host *host) {
  (void)context;
  return board_pcie_bring_up(host);
}

static enum spate_doctor_ltssm link_states(void) {
  const char *guide = board_argument("ltssm", NULL);

  if (guide == NULL) return board_ltssm();
  return strcmp(guide, "pg054") == 0 ? SPATE_DOCTOR_LTSSM_PG054 : SPATE_DOCTOR_LTSSM_PG213;
}

/* As much of the board's memory as the rates need, in whole pages. */
static size_t take_buffer(void **buffer) {
  const struct spate_arena *memory = board_memory();
  size_t bytes = memory->bytes - memory->used_bytes;

  if (bytes < 2u * SPATE_PAGE_BYTES) return 0;
  bytes = (bytes - SPATE_PAGE_BYTES) & ~(size_t)(SPATE_PAGE_BYTES - 1u); /* less what the alignment takes */
  if (bytes > BUFFER_BYTES_MAX) bytes = BUFFER_BYTES_MAX;
  *buffer = spate_arena_take(board_memory(), bytes, SPATE_PAGE_BYTES);
  return bytes;
}

int app_main(void) {
  static struct spate_pcie_host host;
  static struct spate_checkup checkup;
  struct spate_doctor doctor = {.found = checkup_print_finding};
  void *buffer = NULL;
  const size_t buffer_bytes = take_buffer(&buffer);
  const struct spate_checkup_config config = {
      .open = open_bridge,
      .host = &host,
      .drive = (unsigned)number_argument("drive", "0"),
      .ltssm = link_states(),
      .queue_memory = board_queue_memory(),
      .buffer = buffer,
      .buffer_bytes = buffer_bytes,
      .write_lba = number_argument("lba", "0"),
      .write_blocks = board_argument("write", "0")[0] == '1' ? number_argument("blocks", "0") : 0,
      .fact = checkup_print_fact,
  };

  print("doctor   %s, link states of %s\n", board_name(), config.ltssm == SPATE_DOCTOR_LTSSM_PG054 ? "PG054" : "PG213");
  if (board_argument("write", "0")[0] == '1' && (config.write_blocks == 0 || board_argument("lba", NULL) == NULL))
    give_up("reading the arguments (write=1 needs lba=N and blocks=N, the blocks to overwrite)", SPATE_E_INVALID);
  count_seconds(number_argument("clock", "0"));
  must("taking the board's memory", spate_checkup(&checkup, &config, &doctor));
  if (doctor.worst == SPATE_DOCTOR_NOTE) print("  nothing wrong was found\n");
  return doctor.worst == SPATE_DOCTOR_ERROR ? WRONG : doctor.worst == SPATE_DOCTOR_WARNING ? WARNING : NOTHING_WRONG;
}
