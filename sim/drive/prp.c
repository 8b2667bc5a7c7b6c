/* SPDX-License-Identifier: Apache-2.0 */
/* Physical Region Page entries and lists (4.3), as a drive reads them. PRP1 and PRP2 come with the command. If PRP2 is
 * the address of a list, the drive fetches its entries over the link, one page of the list at a time.
 *
 * An address of data in the last entry of a list page is allowed, and a violation here: some drives follow it as a
 * pointer (Linux ebefac564796, for O2 Micro 1217:8760). With follows_last_entry the drive does so. */
#include "drive_internal.h"
#include <stdlib.h>

#define ENTRY_BYTES 8u

static void refuse(struct sim_drive *drive, struct drive_command *command, const char *what, uint64_t value) {
  sim_violate(drive->sim, "%s %llx, in command %02x of queue %u", what, (unsigned long long)value,
              command->dwords[0] & 0xffu, command->queue);
  drive_complete(drive, command, STATUS_PRP_OFFSET);
}

static void make_room(struct drive_command *command) {
  if (command->pages_needed <= command->page_room) return;
  uint64_t *pages = realloc(command->pages, command->pages_needed * sizeof *pages);
  if (pages == NULL) abort();
  command->pages = pages;
  command->page_room = command->pages_needed;
}

/* How many entries, from the next one on, are in the same page of the list. */
static uint32_t in_this_page(const struct drive_command *command) {
  return (uint32_t)((SIM_PAGE - command->list % SIM_PAGE) / ENTRY_BYTES);
}

static void fetch_list(struct sim_drive *drive, struct drive_command *command);

static void list_arrived(void *context, uint64_t number) {
  struct sim_drive *drive = context;
  struct drive_command *command = drive_command_of(drive, number);

  if (command == NULL || !drive_may_master(drive)) return;
  const uint32_t needed = command->pages_needed - command->page_count, here = in_this_page(command);
  const uint32_t count = needed < here ? needed : here;
  const uint8_t *entries = sim_memory_device(drive->sim, command->list, (uint64_t)count * ENTRY_BYTES);
  if (entries == NULL) {
    sim_violate(drive->sim, "a PRP list in memory that the host did not provide: %llx",
                (unsigned long long)command->list);
    drive_complete(drive, command, STATUS_TRANSFER);
    return;
  }
  drive_check_shown(drive, "a PRP list", command->list, (uint64_t)count * ENTRY_BYTES, command->submitted);
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t entry = spate_get64(entries + (size_t)i * ENTRY_BYTES);
    if (entry % SIM_PAGE != 0) {
      refuse(drive, command, "an entry of a PRP list with an offset", entry);
      return;
    }
    const bool is_last = i == here - 1u; /* of a page */
    if (is_last && needed == here)
      sim_violate(drive->sim, "an address of data in the last entry of a PRP list page, in command %02x of queue %u",
                  command->dwords[0] & 0xffu, command->queue);
    if (is_last && (needed > here || drive->options.follows_last_entry)) {
      command->list = entry;
      fetch_list(drive, command);
      return;
    }
    command->pages[command->page_count++] = entry;
  }
  command->listed(drive, command);
}

static void fetch_list(struct sim_drive *drive, struct drive_command *command) {
  const uint32_t needed = command->pages_needed - command->page_count, here = in_this_page(command);
  const uint64_t bytes = (uint64_t)(needed < here ? needed : here) * ENTRY_BYTES;

  sim_at(drive->sim, sim_link_drive_read(&drive->link, sim_now_ps(drive->sim), bytes), list_arrived, drive,
         drive_number(drive, command));
}

void drive_list(struct sim_drive *drive, struct drive_command *command, uint64_t bytes, drive_step *listed) {
  const uint64_t first = drive_qword(command, 6), second = drive_qword(command, 8);

  command->bytes = bytes;
  command->pages_needed = (uint32_t)((first % SIM_PAGE + bytes + SIM_PAGE - 1u) / SIM_PAGE);
  make_room(command);
  if (first % 4u != 0) {
    refuse(drive, command, "PRP1 that is not dword aligned:", first);
    return;
  }
  command->pages[0] = first;
  command->page_count = 1;
  if (command->pages_needed == 1 && second != 0)
    sim_violate(drive->sim, "PRP2 is reserved if the data fits one page, and is %llx", (unsigned long long)second);
  if (command->pages_needed > 2) {
    if (second % ENTRY_BYTES != 0) {
      refuse(drive, command, "a PRP list that is not quadword aligned:", second);
      return;
    }
    command->list = second;
    command->listed = listed;
    fetch_list(drive, command);
    return;
  }
  if (command->pages_needed == 2) {
    if (second % SIM_PAGE != 0) {
      refuse(drive, command, "PRP2 with an offset:", second);
      return;
    }
    command->pages[command->page_count++] = second;
  }
  listed(drive, command);
}

/* The address of byte `position` of the data. `*bytes` becomes the number of bytes that follow it there without a gap,
 * at most its former value: consecutive pages count as one range. */
uint64_t drive_data_range(const struct drive_command *command, uint64_t position, uint64_t *bytes) {
  const uint64_t place = command->pages[0] % SIM_PAGE + position;
  const uint64_t *page = &command->pages[place / SIM_PAGE];
  const uint64_t address = place < SIM_PAGE ? command->pages[0] + position : *page + place % SIM_PAGE;
  uint64_t here = SIM_PAGE - place % SIM_PAGE;

  for (; here < *bytes && page[1] == address + here; page++)
    here += SIM_PAGE;
  if (*bytes > here) *bytes = here;
  return address;
}
