/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes with every layout of PRPs, and related commands. */
#include "nvme_script_steps.h"

struct shape {
  const char *name;
  uint64_t lba;
  uint32_t blocks;
  uint32_t offset;      /* in the first page */
  uint32_t list_offset; /* of the first entry of the list in its page, in entries */
};

/* PRP1 and PRP2 for `bytes` from page `first` on, at an offset. After the first page the pages are used in descending
 * order, so that a controller that ignores the list is detected. */
static void describe(struct script *s, const struct shape *shape, unsigned first, unsigned list,
                     struct raw_command *command) {
  const uint32_t bytes = shape->blocks * 512u;
  const unsigned pages = (shape->offset + bytes + RAW_PAGE - 1u) / RAW_PAGE;
  unsigned index = shape->list_offset;
  uint8_t *entries = at(s, list);

  command->prp1 = bus(s, first) + shape->offset;
  command->prp2 = 0;
  if (pages == 2) command->prp2 = bus(s, first + 1u);
  if (pages <= 2) return;
  command->prp2 = bus(s, list) + 8u * index;
  for (unsigned left = pages - 1u; left > 0; left--) {
    if (index == RAW_PAGE / 8u - 1u && left > 1) { /* the last entry of its page: the chain to the next list page */
      spate_put64(entries + 8u * index, bus(s, ++list));
      entries = at(s, list);
      index = 0;
    }
    spate_put64(entries + 8u * index++, bus(s, first + left));
  }
}

static uint64_t hash_back(const struct script *s, const struct shape *shape) {
  const uint32_t bytes = shape->blocks * 512u;
  const unsigned pages = (shape->offset + bytes + RAW_PAGE - 1u) / RAW_PAGE;

  return hash(at(s, BACK), (size_t)pages * RAW_PAGE);
}

static void shapes(struct script *s) {
  static const struct shape all[] = {
      {"a block", 0, 1, 0, 0},
      {"a block at an offset", 1, 1, 512, 0},
      {"a block at a dword offset", 2, 1, 36, 0},
      {"a block across two pages", 3, 1, 4000, 0},
      {"a page", 8, 8, 0, 0},
      {"a page at an offset", 16, 8, 1024, 0},
      {"two pages", 24, 16, 0, 0},
      {"two pages at an offset: a list of two", 40, 16, 4, 0},
      {"three pages", 64, 24, 0, 0},
      {"128 KiB", 128, 256, 0, 0},
      {"128 KiB at an offset", 512, 256, 2048, 0},
      {"a list that begins within its page", 1024, 256, 0, 100},
      {"a list that ends with its page", 2048, 264, 0, 480},
      {"a list that continues in a second page", 3000, 272, 0, 480},
      {"a list whose first entry is the last of its page", 4096, 64, 512, 511},
      {"2 MiB", 8192, 4096, 0, 0},
      {"2 MiB at an offset: a full list page and one entry", 16384, 4096, 512, 0},
      {"2 MiB from a late list entry: three list pages", 24576, 4096, 512, 511},
  };

  for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
    const struct shape *shape = &all[i];
    char name[64];
    struct raw_command command = {.opcode = WRITE, .nsid = 1, .dword10 = (uint32_t)shape->lba};
    command.dword12 = shape->blocks - 1u;
    fill(at(s, OUT), (size_t)(shape->blocks + 16u) * 512u, i);
    describe(s, shape, OUT, LISTS, &command);
    (void)snprintf(name, sizeof name, "write %s", shape->name);
    plain(s, name, 1 + i % 2u, command);
    memset(at(s, BACK), 0xee, (size_t)(shape->blocks + 16u) * 512u);
    command.opcode = READ;
    describe(s, shape, BACK, LISTS + LIST_PAGES / 2u, &command);
    (void)snprintf(name, sizeof name, "read %s", shape->name);
    plain(s, name, 1 + (i + 1u) % 2u, command)->value = hash_back(s, shape);
  }
}

static void bad_prps(struct script *s) {
  const uint64_t out = bus(s, OUT), list = bus(s, LISTS);
  uint8_t *entries = at(s, LISTS);

  plain(s, "PRP2 with an offset", 1,
        (struct raw_command){
            .opcode = WRITE, .nsid = 1, .prp1 = out, .prp2 = out + RAW_PAGE + 512, .dword10 = 0, .dword12 = 15});
  for (unsigned i = 0; i < 512; i++)
    spate_put64(entries + 8u * i, out + RAW_PAGE * (i + 1u));
  spate_put64(entries + 8, out + RAW_PAGE + 512);
  plain(s, "a list entry with an offset", 1,
        (struct raw_command){.opcode = READ, .nsid = 1, .prp1 = bus(s, BACK), .prp2 = list, .dword12 = 31});
  spate_put64(entries + 8, out + 2u * RAW_PAGE);
  spate_put64(entries + 8u * 511u, bus(s, LISTS + 1u) + 8u);
  plain(s, "a chain with an offset", 1,
        (struct raw_command){.opcode = READ, .nsid = 1, .prp1 = bus(s, BACK), .prp2 = list + 8u * 510u, .dword12 = 39});
  plain(s, "a good write afterwards", 1, (struct raw_command){.opcode = FLUSH, .nsid = 1});
}

static void blocks(struct script *s) {
  const uint64_t out = bus(s, OUT), back = bus(s, BACK);
  const uint32_t end = (uint32_t)BLOCKS;

  plain(s, "read the last block", 1,
        (struct raw_command){.opcode = READ, .nsid = 1, .prp1 = back, .dword10 = end - 1u});
  plain(s, "read past the last block", 1,
        (struct raw_command){.opcode = READ, .nsid = 1, .prp1 = back, .dword10 = end});
  plain(s, "write across the end", 1,
        (struct raw_command){.opcode = WRITE, .nsid = 1, .prp1 = out, .dword10 = end - 1u, .dword12 = 1});
  plain(s, "read at 2^63", 1,
        (struct raw_command){.opcode = READ, .nsid = 1, .prp1 = back, .dword11 = UINT32_C(1) << 31});
  plain(s, "read at 2^64 - 1, two blocks", 1,
        (struct raw_command){
            .opcode = READ, .nsid = 1, .prp1 = back, .dword10 = BROADCAST, .dword11 = BROADCAST, .dword12 = 1});
  plain(s, "write more than MDTS", 1,
        (struct raw_command){.opcode = WRITE, .nsid = 1, .prp1 = out, .prp2 = bus(s, LISTS), .dword12 = 4096});
  plain(s, "write to namespace 0", 1, (struct raw_command){.opcode = WRITE, .prp1 = out});
  plain(s, "read from namespace 1000", 1, (struct raw_command){.opcode = READ, .nsid = 1000, .prp1 = back});
  plain(s, "read from namespace FFFFFFFFh", 1, (struct raw_command){.opcode = READ, .nsid = BROADCAST, .prp1 = back});
  plain(s, "I/O opcode 7Fh", 1, (struct raw_command){.opcode = 0x7f, .nsid = 1});
  plain(s, "I/O opcode 80h", 1, (struct raw_command){.opcode = 0x80, .nsid = 1});
  plain(
      s, "write with FUA", 1,
      (struct raw_command){.opcode = WRITE, .nsid = 1, .prp1 = out, .dword10 = 100, .dword12 = UINT32_C(1) << 30 | 7u});
  plain(s, "flush", 1, (struct raw_command){.opcode = FLUSH, .nsid = 1});
  plain(s, "flush of all namespaces", 1, (struct raw_command){.opcode = FLUSH, .nsid = BROADCAST});
  plain(s, "flush of namespace 0", 1, (struct raw_command){.opcode = FLUSH});
}

void nvme_script_read_back(struct script *s, const char *name, uint32_t lba, uint32_t count) {
  const struct shape shape = {"", lba, count, 0, 0};
  struct raw_command command = {.opcode = READ, .nsid = 1, .dword10 = lba, .dword12 = count - 1u};

  memset(at(s, BACK), 0xee, (size_t)(count + 16u) * 512u);
  describe(s, &shape, BACK, LISTS, &command);
  plain(s, name, 2, command)->value = hash_back(s, &shape);
}

static void write_out(struct script *s, const char *name, uint32_t lba, uint32_t count, uint32_t seed) {
  const struct shape shape = {"", lba, count, 0, 0};
  struct raw_command command = {.opcode = WRITE, .nsid = 1, .dword10 = lba, .dword12 = count - 1u};

  fill(at(s, OUT), (size_t)(count + 16u) * 512u, seed);
  describe(s, &shape, OUT, LISTS, &command);
  plain(s, name, 2, command);
}

static void range(struct script *s, unsigned index, uint32_t lba, uint32_t count) {
  uint8_t *entry = at(s, OUT) + (size_t)16 * index;
  spate_put32(entry, 0);
  spate_put32(entry + 4, count);
  spate_put64(entry + 8, lba);
}

static void zeroes_and_trim(struct script *s) {
  const uint64_t out = bus(s, OUT);
  const uint32_t end = (uint32_t)BLOCKS;

  write_out(s, "write 1 MiB", 40000, 2048, 77);
  plain(s, "write zeroes into it", 2,
        (struct raw_command){.opcode = ZEROES, .nsid = 1, .dword10 = 40003, .dword12 = 498});
  plain(s, "write zeroes across the end", 2,
        (struct raw_command){.opcode = ZEROES, .nsid = 1, .dword10 = end - 1u, .dword12 = 1});
  nvme_script_read_back(s, "read it back", 40000, 2048);
  range(s, 0, 41000, 1024); /* QEMU zeroes only whole 4 KiB pages */
  plain(s, "trim", 2, (struct raw_command){.opcode = DATASET, .nsid = 1, .prp1 = out, .dword10 = 0, .dword11 = 4});
  nvme_script_read_back(s, "read what was trimmed", 40000, 2048);
  range(s, 0, 40000, 0);
  range(s, 1, 40000, 8);
  plain(s, "trim nothing and a page", 2,
        (struct raw_command){.opcode = DATASET, .nsid = 1, .prp1 = out, .dword10 = 1, .dword11 = 4});
  nvme_script_read_back(s, "read the page", 40000, 16);
  range(s, 0, end - 1u, 2);
  plain(s, "trim across the end", 2,
        (struct raw_command){.opcode = DATASET, .nsid = 1, .prp1 = out, .dword10 = 0, .dword11 = 4});
  range(s, 0, 40008, 8);
  plain(s, "a hint that does not deallocate", 2,
        (struct raw_command){.opcode = DATASET, .nsid = 1, .prp1 = out, .dword10 = 0, .dword11 = 1});
  nvme_script_read_back(s, "read what was hinted at", 40008, 8);
}

/* ---- several at once ---- */

/* As many commands as a queue can hold, with one write of the doorbell, and across the end of the queue. They complete
 * in any order, each once. */
static void batches(struct script *s) {
  for (unsigned lap = 0; lap < 3; lap++) {
    uint64_t seen = 0;
    uint16_t first = 0;
    for (unsigned i = 0; i < RAW_ENTRIES - 1u; i++) {
      const struct raw_command command = {.opcode = i % 3u == 0 ? WRITE : READ,
                                          .nsid = 1,
                                          .prp1 = bus(s, (i % 3u == 0 ? OUT : BACK) + i),
                                          .dword10 = 8u * (lap * RAW_ENTRIES + i),
                                          .dword12 = 7};
      const uint16_t id = raw_put(s->raw, 3, &command);
      if (i == 0) first = id;
    }
    __sync_synchronize();
    raw_ring(s->raw, 3);
    for (unsigned i = 0; i < RAW_ENTRIES - 1u; i++) {
      const struct raw_completion c = raw_take(s->raw, 3);
      if (c.missing || c.status != 0 || c.queue != 3) give_up("a full batch", "a command failed");
      seen |= UINT64_C(1) << (uint16_t)(c.id - first);
    }
    value(s, "a full batch", seen);
    plain(s, "the head after it", 3, (struct raw_command){.opcode = FLUSH, .nsid = 1});
  }
}

void nvme_script_data(struct script *s) {
  shapes(s);
  bad_prps(s);
  blocks(s);
  zeroes_and_trim(s);
  batches(s);
}
