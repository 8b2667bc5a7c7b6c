/* SPDX-License-Identifier: Apache-2.0 */
/* The NVM command set: Flush, Write, Read, Compare, Write Zeroes, Dataset Management (6). */
#include "drive_internal.h"
#include <string.h>

#define RANGE_BYTES 16u
#define DEALLOCATE  4u
#define BROADCAST   UINT32_C(0xffffffff)
#define UNIT_BYTES  512u

#define ONCS_AT      520u
#define ONCS_COMPARE 1u

enum { DEALLOCATED_ZEROS, DEALLOCATED_ONES, DEALLOCATED_OLD, DEALLOCATED_ANY }; /* options.deallocated */

/* As the host counts, from the beginning of the namespace; and on the media. */
static uint64_t host_lba_of(const struct drive_command *command) { return drive_qword(command, 10); }
static uint64_t lba_of(const struct drive_command *command) {
  const uint64_t lba = command->first_lba + host_lba_of(command);

  return drive_has_fault(command, SIM_ELSEWHERE) ? lba + command->fault_value : lba;
}
static uint32_t blocks_of(const struct drive_command *command) { return (command->dwords[12] & 0xffffu) + 1u; }

/* Finds the namespace on the media. False: it takes no I/O. The first takes I/O also if Identify states more blocks
 * than the media has: tests of the driver change this page. */
static bool find_namespace(const struct sim_drive *drive, struct drive_command *command) {
  const uint64_t stated_blocks = spate_get64(drive->identify_namespace);
  uint64_t first_lba = 0;

  for (unsigned i = 0; drive->namespaces[i] != 0; i++) {
    const uint64_t left = drive->blocks - first_lba;
    command->first_lba = first_lba;
    command->reachable_blocks = stated_blocks < left ? stated_blocks : left;
    if (drive->namespaces[i] == command->dwords[1]) return i == 0 || stated_blocks <= left;
    first_lba += command->reachable_blocks;
  }
  return false;
}

static bool is_reachable(const struct drive_command *command, uint64_t host_lba, uint64_t blocks) {
  return host_lba < command->reachable_blocks && blocks <= command->reachable_blocks - host_lba;
}

/* A dword with reserved bits that must be 0: the drive would not do what the host meant by them. */
static void reserve(struct sim_drive *drive, const struct drive_command *command, unsigned dword, uint32_t reserved) {
  if ((command->dwords[dword] & reserved) != 0)
    sim_violate(drive->sim, "reserved bits in dword %u of I/O command %02x: %08x", dword, command->dwords[0] & 0xffu,
                command->dwords[dword]);
}

static void check_reserved(struct sim_drive *drive, const struct drive_command *command) {
  static const uint32_t all = UINT32_MAX;
  const uint8_t opcode = (uint8_t)command->dwords[0];
  const bool moves_data = opcode == IO_READ || opcode == IO_WRITE || opcode == IO_COMPARE;

  reserve(drive, command, 0, 0xff00); /* fused, SGLs */
  for (unsigned dword = 2; dword < 6; dword++)
    reserve(drive, command, dword, all);
  for (unsigned dword = 6; dword < 10 && !moves_data && opcode != IO_DATASET; dword++)
    reserve(drive, command, dword, all);
  for (unsigned dword = 10; dword < 13 && opcode == IO_FLUSH; dword++)
    reserve(drive, command, dword, all);
  if (moves_data) reserve(drive, command, 12, 0x3fff0000);
  if (opcode == IO_WRITE_ZEROES) reserve(drive, command, 12, 0x01ff0000);
  if (opcode == IO_DATASET) {
    reserve(drive, command, 10, 0xffffff00);
    reserve(drive, command, 11, 0xfffffff8);
    reserve(drive, command, 12, all);
  }
  reserve(drive, command, 13, moves_data ? 0xffffff00 : all);
  reserve(drive, command, 14, all);
  reserve(drive, command, 15, all);
}

/* ---- read and write ---- */

static void written(struct sim_drive *drive, struct drive_command *command) {
  const uint64_t now = sim_now_ps(drive->sim);
  const bool fua = (command->dwords[12] & DRIVE_FUA) != 0;
  uint64_t at_ps = command->taken_ps > now ? command->taken_ps : now;

  drive->counters.written_bytes += command->bytes;
  drive->written_units_512 += command->bytes / UNIT_BYTES;
  drive->write_commands++;
  if (fua) drive->counters.fua_writes++;
  at_ps += drive->profile.write_latency_ns * SIM_PS_PER_NS;
  if (drive->profile.volatile_cache && (fua || !drive_cache_on(drive))) at_ps += drive->profile.fua_ns * SIM_PS_PER_NS;
  drive_complete_at(drive, command, at_ps);
}

static void write_listed(struct sim_drive *drive, struct drive_command *command) {
  if (!drive_has_fault(command, SIM_PHANTOM))
    drive_change_begin(drive, command, SIM_JOURNAL_WRITE, lba_of(command), blocks_of(command));
  drive_move(drive, command, false, written);
}

static void have_read(struct sim_drive *drive, struct drive_command *command) {
  drive->counters.read_bytes += command->bytes;
  drive->read_units_512 += command->bytes / UNIT_BYTES;
  drive->read_commands++;
  drive_complete_at(drive, command, sim_now_ps(drive->sim));
}

static void read_listed(struct sim_drive *drive, struct drive_command *command) {
  const uint64_t now = sim_now_ps(drive->sim);
  const uint64_t first = command->bytes < DRIVE_CHUNK_BYTES ? command->bytes : DRIVE_CHUNK_BYTES;

  command->ready_first_ps = command->ready_last_ps = sim_media_read(&drive->media, now, first);
  if (command->bytes > first) command->ready_last_ps = sim_media_read(&drive->media, now, command->bytes - first);
  drive_check_heat(drive);
  drive_move(drive, command, true, have_read);
}

static uint16_t transfer(struct sim_drive *drive, struct drive_command *command, bool write) {
  const uint64_t bytes = (uint64_t)blocks_of(command) << drive->block_shift;
  const uint8_t mdts = drive->identify_controller[77];

  if (mdts != 0 && mdts < 20 && bytes > (uint64_t)SIM_PAGE << mdts) {
    sim_violate(drive->sim, "%llu bytes in a command, more than MDTS allows", (unsigned long long)bytes);
    return STATUS_FIELD;
  }
  if (!is_reachable(command, host_lba_of(command), blocks_of(command))) {
    sim_violate(drive->sim, "blocks %llu + %u are not on the drive", (unsigned long long)host_lba_of(command),
                blocks_of(command));
    return STATUS_LBA;
  }
  command->at = lba_of(command) << drive->block_shift;
  drive_list(drive, command, bytes, write ? write_listed : read_listed);
  return STATUS_PENDING;
}

/* ---- other commands ---- */

static void compare_arrived(struct sim_drive *drive, struct drive_command *command) {
  uint8_t page[SIM_PAGE];

  if (command->fails) return;
  sim_store_read(drive->store, lba_of(command) << drive->block_shift, page, command->bytes);
  drive_complete(drive, command, memcmp(page, command->buffer, command->bytes) == 0 ? STATUS_OK : STATUS_COMPARE);
}

/* For drives whose Identify page says so (ONCS): of a page at most, which is what the doctor needs. */
static uint16_t compare(struct sim_drive *drive, struct drive_command *command) {
  const uint64_t bytes = (uint64_t)blocks_of(command) << drive->block_shift;

  if (bytes > SIM_PAGE || !is_reachable(command, host_lba_of(command), blocks_of(command))) {
    sim_violate(drive->sim, "Compare of %llu bytes from block %llu", (unsigned long long)bytes,
                (unsigned long long)host_lba_of(command));
    return STATUS_FIELD;
  }
  drive_take_page(drive, command, bytes, compare_arrived);
  return STATUS_PENDING;
}

static uint16_t flush(struct sim_drive *drive, struct drive_command *command) {
  const uint64_t now = sim_now_ps(drive->sim);

  if (drive_has_fault(command, SIM_PHANTOM)) return STATUS_OK;
  drive_change_begin(drive, command, SIM_JOURNAL_FLUSH, 0, 0);
  /* With the cache turned off, every write completed only once it was on the media. Earlier cached writes may still be
   * on their way there. */
  if (drive->profile.volatile_cache && !drive_cache_on(drive))
    drive_complete_at(drive, command, drive->drained_ps > now ? drive->drained_ps : now);
  else
    drive_complete_at(drive, command, sim_media_flush(&drive->media, now));
  return STATUS_PENDING;
}

static void after_short_work(struct sim_drive *drive, struct drive_command *command) {
  drive_complete_at(drive, command, sim_now_ps(drive->sim) + drive->profile.write_latency_ns * SIM_PS_PER_NS);
}

static void discard(struct sim_drive *drive, uint64_t lba, uint64_t blocks) {
  const uint64_t mapped = drive_discard(drive, lba << drive->block_shift, blocks << drive->block_shift);

  sim_media_trim(&drive->media, sim_now_ps(drive->sim), mapped);
}

static uint16_t write_zeroes(struct sim_drive *drive, struct drive_command *command) {
  if (!is_reachable(command, host_lba_of(command), blocks_of(command))) {
    sim_violate(drive->sim, "blocks %llu + %u are not on the drive", (unsigned long long)host_lba_of(command),
                blocks_of(command));
    return STATUS_LBA;
  }
  drive_change_begin(drive, command, SIM_JOURNAL_ZERO, lba_of(command), blocks_of(command));
  discard(drive, lba_of(command), blocks_of(command));
  drive_change_arrived(drive, command, NULL, (uint64_t)blocks_of(command) << drive->block_shift);
  after_short_work(drive, command);
  return STATUS_PENDING;
}

/* Sets every byte of the blocks to `value`. */
static void fill(struct sim_drive *drive, uint64_t lba, uint64_t blocks, uint8_t value) {
  uint8_t page[SIM_PAGE];
  uint64_t at = lba << drive->block_shift;

  memset(page, value, sizeof page);
  for (uint64_t left = blocks << drive->block_shift; left > 0;) {
    uint64_t here = SIM_PAGE - at % SIM_PAGE;
    if (here > left) here = left;
    (void)sim_store_write(drive->store, at, page, here);
    at += here;
    left -= here;
  }
}

/* Decides what trimmed blocks read as from now on. Anything but zeros is stored as data. */
static void deallocate(struct sim_drive *drive, uint64_t lba, uint64_t blocks) {
  switch (drive->options.deallocated) {
  case DEALLOCATED_ZEROS: discard(drive, lba, blocks); return;
  case DEALLOCATED_ONES: fill(drive, lba, blocks, 0xff); break;
  case DEALLOCATED_OLD: break;
  case DEALLOCATED_ANY:
    for (uint64_t i = 0; i < blocks; i++) {
      const uint64_t choice = sim_random(drive->sim) % 3u;
      if (choice < 2) fill(drive, lba + i, 1, choice == 0 ? 0x00 : 0xff);
    }
    break;
  default: sim_violate(drive->sim, "options.deallocated is %u: there is no such mode", drive->options.deallocated);
  }
  sim_media_trim(&drive->media, sim_now_ps(drive->sim), blocks << drive->block_shift);
}

static void dataset_arrived(struct sim_drive *drive, struct drive_command *command) {
  const uint32_t ranges = (command->dwords[10] & 0xffu) + 1u;

  if (drive->options.reads_4k_of_ranges)
    for (uint32_t i = ranges * RANGE_BYTES; i < SIM_PAGE; i++)
      if (command->buffer[i] != 0) {
        sim_violate(drive->sim, "byte %u behind the ranges of Dataset Management is %02x", i, command->buffer[i]);
        break;
      }
  for (uint32_t i = 0; i < ranges && !command->fails; i++) {
    const uint8_t *range = command->buffer + (size_t)i * RANGE_BYTES;
    const uint64_t host_lba = spate_get64(range + 8), lba = command->first_lba + host_lba;
    const uint32_t blocks = spate_get32(range + 4);
    if (!is_reachable(command, host_lba, blocks)) {
      sim_violate(drive->sim, "blocks %llu + %u to be trimmed are not on the drive", (unsigned long long)host_lba,
                  blocks);
      drive_complete(drive, command, STATUS_LBA);
      return;
    }
    if ((command->dwords[11] & DEALLOCATE) == 0 || blocks == 0) continue;
    drive_change_begin(drive, command, SIM_JOURNAL_TRIM, lba, blocks);
    deallocate(drive, lba, blocks);
    drive_change_arrived(drive, command, NULL, (uint64_t)blocks << drive->block_shift);
  }
  after_short_work(drive, command);
}

/* Phison's E12 reads 4 KiB, and for a list that does not begin a page continues at PRP2, which is reserved: "nvme:
 * Discard workaround for non-conformant devices", Linux 530436c45ef2. */
static uint16_t dataset(struct sim_drive *drive, struct drive_command *command) {
  const uint64_t bytes = (uint64_t)((command->dwords[10] & 0xffu) + 1u) * RANGE_BYTES;

  drive_take_page(drive, command, drive->options.reads_4k_of_ranges ? SIM_PAGE : bytes, dataset_arrived);
  return STATUS_PENDING;
}

uint16_t drive_io(struct sim_drive *drive, struct drive_command *command) {
  const uint8_t opcode = (uint8_t)command->dwords[0];
  const uint32_t nsid = command->dwords[1];

  if (!find_namespace(drive, command) && !(nsid == BROADCAST && opcode == IO_FLUSH)) {
    sim_violate(drive->sim, "I/O command %02x for namespace %x, which takes none", opcode, nsid);
    return nsid == 0 || (nsid != BROADCAST && nsid > spate_get32(drive->identify_controller + 516)) ? STATUS_NAMESPACE
                                                                                                    : STATUS_FIELD;
  }
  if (opcode == IO_FLUSH || opcode == IO_WRITE || opcode == IO_READ || opcode == IO_WRITE_ZEROES ||
      opcode == IO_DATASET || opcode == IO_COMPARE)
    check_reserved(drive, command);
  if (drive_sanitize_status(drive) != STATUS_OK) return drive_sanitize_status(drive);
  switch (opcode) {
  case IO_FLUSH: return flush(drive, command);
  case IO_WRITE: return transfer(drive, command, true);
  case IO_READ: return transfer(drive, command, false);
  case IO_COMPARE:
    if ((drive->identify_controller[ONCS_AT] & ONCS_COMPARE) != 0) return compare(drive, command);
    break;
  case IO_WRITE_ZEROES: return write_zeroes(drive, command);
  case IO_DATASET: return dataset(drive, command);
  default: break;
  }
  sim_violate(drive->sim, "I/O command %02x, which the drive does not have", opcode);
  return STATUS_OPCODE;
}
