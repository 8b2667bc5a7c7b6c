/* SPDX-License-Identifier: Apache-2.0 */
#include "drive.h"
#include "link.h"
#include <print.h>
#include <spate/port.h>

#define BITMAP_BYTES       (256u * 1024u)
#define LARGE_DRIVE_BYTES  (UINT64_C(64) << 30)
#define TRIM_REQUEST_BYTES (UINT64_C(4) << 30) /* takes about a second; a longer trim may exceed a deadline */

void give_up(const char *step, enum spate_error error) {
  print("\nFAILED at %s: %s. %s\n", step, spate_error_name(error), spate_error_help(error));
  board_exit(1);
}

void must(const char *step, enum spate_error error) {
  if (error != SPATE_OK) give_up(step, error);
}

uint64_t number_argument(const char *name, const char *fallback) {
  uint64_t value = 0;

  for (const char *text = board_argument(name, fallback); *text >= '0' && *text <= '9'; text++)
    value = value * 10u + (uint64_t)(*text - '0');
  return value;
}

const char *size_text(struct size_text *buffer, uint64_t bytes) {
  static const char units[][4] = {"B", "KiB", "MiB", "GiB", "TiB"};
  unsigned unit = 0;
  uint64_t tenths = bytes * 10u;

  while (tenths >= 10240u && unit < 4) {
    tenths >>= 10;
    unit++;
  }
  print_into(buffer->text, sizeof(buffer->text), "%llu.%llu %s", (unsigned long long)(tenths / 10u),
             (unsigned long long)(tenths % 10u), units[unit]);
  return buffer->text;
}

static void print_link(const struct spate_pcie_device *device) {
  const struct spate_pcie_link *link = &device->link;

  print("pcie   %02x:%02x.%u  %04x:%04x  ", device->address.bus, device->address.device, device->address.function,
        device->vendor_id, device->device_id);
  if (link->speed == 0)
    print("link not reported");
  else
    print("link %u MT/s x%u (both ends can do %u x%u)", spate_pcie_speed_mts(link->speed), link->width,
          spate_pcie_speed_mts(link->speed_max), link->width_max);
  print(", payload %u, read requests %u bytes\n", device->payload_bytes, device->read_request_bytes);
}

/* Finds the controller, whatever ends PCIe: the board's own bridge, or an operating system's. */
static void find_controller(struct drive *drive) {
  struct spate_pcie_device *found;

  must("starting PCIe", board_pcie_bring_up(&drive->host));
  if (drive->host.left_out != 0)
    print("pcie   warning: %u bridges or devices left out, the first at %02x:%02x.%u\n", drive->host.left_out,
          drive->host.failed_at.bus, drive->host.failed_at.device, drive->host.failed_at.function);
  must("finding the drive", spate_pcie_find(&drive->host, SPATE_PCIE_CLASS_NVME, 0, &found));
  drive->device = *found;
  print_link(&drive->device);
  must("PCIe link", link_look(&drive->host, &drive->device));
}

static void open_nvme(struct drive *drive, unsigned depth) {
  struct size_text size;

  drive->pcie_bus = (struct spate_nvme_pcie){.host = &drive->host, .device = &drive->device};
  struct spate_nvme_config config = {.registers = drive->device.bar0,
                                     .registers_bytes = drive->device.bar0_bytes,
                                     .queue_memory = board_queue_memory(),
                                     .bus = board_nvme_bus(&drive->pcie_bus)};
  must("starting the controller", spate_nvme_open(&drive->controller, &config));
  const struct spate_nvme_identity *identity = spate_nvme_identity(&drive->controller);
  print("nvme   %s, serial %s, firmware %s, NVMe %u.%u, ", identity->model, identity->serial, identity->firmware,
        identity->version >> 16, identity->version >> 8 & 0xffu);
  if (identity->transfer_bytes_max == 0)
    print("any transfer size\n");
  else
    print("transfers to %s\n", size_text(&size, identity->transfer_bytes_max));

  const struct spate_nvme_queue_config queue_config = {
      .depth = depth, .slots = drive->slots, .slot_count = SPATE_NVME_SLOTS(DRIVE_DEPTH_MAX)};
  must("creating an I/O queue", spate_nvme_queue_open(&drive->controller, &drive->queue, &queue_config));
  const struct spate_block *block = &drive->queue.block;
  print("       namespace %u: %s in %u-byte blocks, %u commands in flight, %s write cache, ", drive->queue.nsid,
        size_text(&size, block->blocks << block->block_shift), spate_block_bytes(block), block->depth,
        block->volatile_cache ? "volatile" : "no volatile");
  const enum spate_error error = spate_nvme_health_read(&drive->controller);
  if (error == SPATE_E_UNSUPPORTED || error == SPATE_E_COMMAND) { /* some drives have no log */
    print("no health log\n");
    return;
  }
  must("reading the health log", error);
  print("%d C\n", spate_nvme_health(&drive->controller)->temperature_c);
}

void drive_open(struct drive *drive, unsigned depth) {
  print("board  %s\n", board_name());
  find_controller(drive);
  open_nvme(drive, depth);
  must("mapping the ring", board_ring_open(&drive->ring));
}

void drive_print_counters(const struct drive *drive) {
  const struct spate_nvme_counters *counters = spate_nvme_counters(&drive->controller);

  if (counters->retries + counters->timeouts + counters->resets + counters->spurious_completions != 0)
    print(
        "nvme   recovered: %u retries, %u timeouts, %u aborts, %u resets, %u times off the bus, %u commands replayed, "
        "%u surplus completions\n",
        counters->retries, counters->timeouts, counters->aborts, counters->resets, counters->reattachments,
        counters->replays, counters->spurious_completions);
}

struct spate_exfat_config drive_volume(struct drive *drive, const struct spate_partition *partition) {
  struct spate_block *block = &drive->queue.block;
  size_t cache_bytes = (size_t)DRIVE_CACHE_BLOCKS << block->block_shift;

  if (drive->cache == NULL) drive->cache = spate_arena_take(board_memory(), cache_bytes, SPATE_DMA_ALIGN);
  if (drive->bitmap == NULL) drive->bitmap = spate_arena_take(board_memory(), BITMAP_BYTES, SPATE_DMA_ALIGN);
  struct spate_exfat_config config = {.block = block,
                                      .first_lba = partition->first_lba,
                                      .blocks = partition->blocks,
                                      .cache = drive->cache,
                                      .cache_bytes = cache_bytes,
                                      .cache_blocks = drive->blocks,
                                      .cache_block_count = DRIVE_CACHE_BLOCKS,
                                      .bitmap = drive->bitmap,
                                      .bitmap_bytes = BITMAP_BYTES,
                                      .now = board_now};
  if (config.cache == NULL || config.bitmap == NULL) give_up("allocating memory for the volume", SPATE_E_MEMORY);
  return config;
}

static void random_bytes(uint8_t *to, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    to[i] = (uint8_t)(board_random() >> 17);
}

static bool wanted(const char *name) { return board_argument(name, "0")[0] == '1'; }

static void check_empty(struct drive *drive, void *scratch) {
  struct spate_partition partition;
  const char *step = "checking that the drive is empty (erase=1 formats it anyway)";

  must(step, spate_partition_check_blank(&drive->queue.block, scratch));
  /* A drive with a partition table is not empty either, even if the table is ours and both boot sectors of its volume
   * are lost. */
  if (spate_partition_find(&drive->queue.block, scratch, &partition) == SPATE_OK) give_up(step, SPATE_E_FOREIGN);
}

static void show_trimmed(void *context, uint64_t blocks_done) {
  const struct spate_block *block = context;
  struct size_text done, all;

  print("\rtrim   %s of %s ", size_text(&done, blocks_done << block->block_shift),
        size_text(&all, block->blocks << block->block_shift));
}

static void trim(struct drive *drive) {
  struct spate_block *block = &drive->queue.block;
  const uint32_t request_blocks = (uint32_t)(TRIM_REQUEST_BYTES >> block->block_shift);

  must("trimming the drive",
       spate_block_erase(block, SPATE_TRIM, 0, block->blocks, request_blocks, show_trimmed, block));
  print("\n");
}

static void write_table(struct drive *drive, void *scratch, struct spate_partition *partition) {
  struct spate_partition_ids ids;
  bool large = drive->queue.block.blocks << drive->queue.block.block_shift >= LARGE_DRIVE_BYTES;
  uint32_t align_bytes = large ? 32u << 20 : 1u << 20; /* the largest cluster size, if the drive is large enough */

  if (board_argument("table", "gpt")[0] == 'n') {
    must("clearing the drive's ends", spate_partition_whole_disk(&drive->queue.block, scratch, true, partition));
    return;
  }
  random_bytes(ids.disk, sizeof(ids.disk));
  random_bytes(ids.partition, sizeof(ids.partition));
  must("writing the partition table",
       spate_partition_write(&drive->queue.block, scratch, &ids, align_bytes, true, partition));
}

void drive_format(struct drive *drive, const char *label, struct spate_partition *partition) {
  struct size_text size, start;
  void *scratch = spate_arena_take(board_memory(), SPATE_PARTITION_SCRATCH_BYTES, SPATE_DMA_ALIGN);

  if (scratch == NULL) give_up("allocating memory for the partition table", SPATE_E_MEMORY);
  if (!wanted("erase")) check_empty(drive, scratch);
  if (wanted("trim")) trim(drive);
  write_table(drive, scratch, partition);

  struct spate_exfat_config config = drive_volume(drive, partition);
  struct spate_exfat_format format = {.label = label, .serial = (uint32_t)board_random()};
  must("formatting", spate_exfat_format(&config, &format));
  print("format %s, exFAT volume of %s at %s, label %s\n",
        partition->table == SPATE_TABLE_GPT ? "GPT with one partition" : "no partition table",
        size_text(&size, partition->blocks << drive->queue.block.block_shift),
        size_text(&start, partition->first_lba << drive->queue.block.block_shift), label);
}
