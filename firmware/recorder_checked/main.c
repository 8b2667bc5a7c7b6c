/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest recorder on a board that is checked first: after an error that the doctor finds, it records nothing. The
 * recorder is firmware/recorder_only, compiled with another name for its app_main(). */
#include "../common/checkup_print.h"
#include <board.h>
#include <print.h>
#include <string.h>

int recorder_main(void);

static enum spate_error open_bridge(void *context, struct spate_pcie_host *host) {
  (void)context;
  return board_pcie_bring_up(host);
}

/* What only the check needs. It is in the ring, which is empty yet. */
struct check {
  struct spate_pcie_host host;
  struct spate_checkup checkup;
};

#define BUFFER_BYTES_MAX (8u << 20) /* enough for the full rate */
#define CHECK_BYTES      ((sizeof(struct check) + SPATE_PAGE_BYTES - 1u) & ~(SPATE_PAGE_BYTES - 1u))

/* The test of data is for memory that the processor caches, as the file system's is. On a board that has too little of
 * it the test uses the ring, and says nothing about the caches. */
static void choose_buffer(struct spate_checkup_config *config, const struct spate_region *ring) {
  const struct spate_arena *memory = board_memory();
  const uintptr_t start =
      ((uintptr_t)memory->start + memory->used_bytes + SPATE_PAGE_BYTES - 1u) & ~(uintptr_t)(SPATE_PAGE_BYTES - 1u);
  const uintptr_t end = (uintptr_t)memory->start + memory->bytes;

  config->buffer = ring->start + CHECK_BYTES;
  config->buffer_bytes = (size_t)ring->bytes - CHECK_BYTES;
  if (end < start || end - start < SPATE_CHECKUP_BUFFER_BYTES_MIN) return;
  config->buffer = (void *)start;
  config->buffer_bytes = end - start < BUFFER_BYTES_MAX ? (size_t)(end - start) : BUFFER_BYTES_MAX;
}

/* The recorder takes all queue memory, and the memory of the buffer, again. */
static enum spate_error check_board(struct spate_doctor *doctor) {
  struct spate_arena *queue_memory = board_queue_memory();
  const size_t used_bytes = queue_memory->used_bytes;
  struct spate_region ring;
  const enum spate_error error = board_ring_open(&ring);

  if (error != SPATE_OK) return error;
  queue_memory->used_bytes = used_bytes;
  struct check *check = (struct check *)(void *)ring.start;
  memset(check, 0, sizeof *check);
  struct spate_checkup_config config = {.open = open_bridge,
                                        .host = &check->host,
                                        .ltssm = board_ltssm(),
                                        .queue_memory = queue_memory,
                                        .fact = checkup_print_fact};
  choose_buffer(&config, &ring);
  return spate_checkup(&check->checkup, &config, doctor);
}

int app_main(void) {
  struct spate_doctor doctor = {.found = checkup_print_finding};
  const enum spate_error error = check_board(&doctor);

  if (error != SPATE_OK || doctor.worst == SPATE_DOCTOR_ERROR) {
    print("recorder_checked: nothing was recorded (%s)\n", error != SPATE_OK ? spate_error_name(error) : "see above");
    return 1;
  }
  return recorder_main();
}
