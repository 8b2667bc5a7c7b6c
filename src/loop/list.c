/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list is a file beside the parts: SPATE_LOOP_SPANS blocks of one span each, then entries of 32 bytes, that of part
 * n at n modulo their number. Each change is one write of one block with FUA. An entry is proved by a CRC and by the
 * volume's serial number, so that a list that was copied from another volume names nothing.
 *
 * A part is entered when it is armed, before any data are in it. Between the two a power cut leaves an empty file that
 * no list names, and that stays. An entry is not removed: it means nothing when the file is gone or is another one.
 */
#include "../core/crc32.h"
#include "internal.h"
#include <spate/bytes.h>

/* Twice the parts: a number returns to its entry long after its part was deleted. */
#define LIST_ENTRIES (2u * SPATE_LOOP_PARTS_MAX)
#define ENTRY_BYTES  32u
#define ENTRY_SHIFT  5u
enum { ENTRY_CRC = 0, ENTRY_SERIAL = 4, ENTRY_NUMBER = 8, ENTRY_CLUSTER = 12, ENTRY_CREATED = 16 };
enum { SPAN_CRC = 0, SPAN_SERIAL = 4, SPAN_FIRST = 8, SPAN_LAST = 12, SPAN_STATE = 16, SPAN_GAP = 17, SPAN_PATH = 20 };
#define SPAN_BYTES (SPAN_PATH + SPATE_LOOP_PATH_BYTES_MAX)
/* The length of the span's parts, sealed by itself: older versions neither write nor read it. */
#define LENGTH       216u
#define LENGTH_VALUE 8u
#define LENGTH_BYTES 16u

static struct spate_block *device(const struct spate_loop *loop) { return loop_volume(loop)->config.block; }
/* log2 of the entries of a block */
static uint32_t entries_shift(const struct spate_loop *loop) { return device(loop)->block_shift - ENTRY_SHIFT; }
static uint32_t block_entries(const struct spate_loop *loop) { return UINT32_C(1) << entries_shift(loop); }

static void seal(const struct spate_loop *loop, uint8_t *raw, uint32_t bytes) {
  spate_put32(raw + ENTRY_SERIAL, loop_volume(loop)->serial);
  spate_put32(raw + ENTRY_CRC, spate_crc32(0, raw + ENTRY_SERIAL, bytes - ENTRY_SERIAL));
}

static bool is_sealed(const struct spate_loop *loop, const uint8_t *raw, uint32_t bytes) {
  return spate_get32(raw + ENTRY_SERIAL) == loop_volume(loop)->serial &&
         spate_get32(raw + ENTRY_CRC) == spate_crc32(0, raw + ENTRY_SERIAL, bytes - ENTRY_SERIAL);
}

/* ---- the file ---- */

/* "DIR/NAME.RAW" → "DIR/.NAME.RAW.list" */
static void path_of(const struct spate_loop *loop, char *path) {
  static const char end[] = ".list";
  const char *base = loop->config.path;
  size_t name = 0;
  const size_t length = strlen(base);

  for (size_t i = 0; i < length; i++)
    if (base[i] == '/') name = i + 1;
  memcpy(path, base, name);
  path[name] = '.';
  memcpy(path + name + 1, base + name, length - name);
  memcpy(path + length + 1, end, sizeof end);
}

static uint32_t list_blocks(const struct spate_loop *loop) {
  return SPATE_LOOP_SPANS + (LIST_ENTRIES >> entries_shift(loop));
}

/* Use the list that is there. EXISTS: a file of this name that is no list. */
static enum spate_error use(struct spate_loop *loop, const char *path) {
  uint64_t blocks;
  enum spate_error error = spate_exfat_open(loop_volume(loop), path, &loop->list);

  if (error == SPATE_OK) error = spate_exfat_extent(&loop->list, 0, &loop->list_lba, &blocks);
  if (error != SPATE_OK) return error;
  const bool whole = blocks == list_blocks(loop) && loop->list.bytes == blocks << device(loop)->block_shift;
  return whole ? SPATE_OK : SPATE_E_EXISTS;
}

/* Is the list still where it was? A handle becomes stale after many deletions, too. STALE: it is gone, and its clusters
 * may be another file's by now. */
static enum spate_error check(struct spate_loop *loop) {
  char path[SPATE_RECORDER_PATH_BYTES_MAX];
  const uint64_t lba = loop->list_lba;
  enum spate_error error = spate_exfat_check(&loop->list);

  if (error != SPATE_E_STALE) return error;
  path_of(loop, path);
  error = use(loop, path);
  if (error == SPATE_OK && loop->list_lba == lba) return SPATE_OK;
  loop->list_lba = lba;
  return error == SPATE_OK || error == SPATE_E_NOT_FOUND || error == SPATE_E_EXISTS ? SPATE_E_STALE : error;
}

/* ---- entries ---- */

static void put_time(uint8_t *raw, const struct spate_exfat_time *time) {
  const uint8_t fields[6] = {time->month, time->day, time->hour, time->minute, time->second, time->centisecond};

  spate_put16(raw, time->year);
  memcpy(raw + 2, fields, sizeof fields);
}

static void get_time(const uint8_t *raw, struct spate_exfat_time *time) {
  *time = (struct spate_exfat_time){.year = spate_get16(raw),
                                    .month = raw[2],
                                    .day = raw[3],
                                    .hour = raw[4],
                                    .minute = raw[5],
                                    .second = raw[6],
                                    .centisecond = raw[7]};
}

static uint64_t lba_of(const struct spate_loop *loop, uint32_t entry) {
  return loop->list_lba + SPATE_LOOP_SPANS + (entry >> entries_shift(loop));
}

enum spate_error spate_loop_list_part(struct spate_loop *loop, const struct spate_loop_part *part) {
  const uint32_t entry = part->number % LIST_ENTRIES;
  uint8_t *block = loop->config.memory;
  uint8_t *raw = block + (entry & (block_entries(loop) - 1u)) * ENTRY_BYTES;
  enum spate_error error = check(loop);

  if (error == SPATE_OK) error = spate_block_read(device(loop), lba_of(loop, entry), 1, block);
  if (error != SPATE_OK) return error;
  memset(raw, 0, ENTRY_BYTES);
  spate_put32(raw + ENTRY_NUMBER, part->number);
  spate_put32(raw + ENTRY_CLUSTER, part->first_cluster);
  put_time(raw + ENTRY_CREATED, &part->created);
  seal(loop, raw, ENTRY_BYTES);
  return spate_block_write(device(loop), lba_of(loop, entry), 1, block, SPATE_IO_FUA);
}

enum spate_error spate_loop_list_look(struct spate_loop *loop, uint32_t number, struct spate_loop_part *part,
                                      bool *listed) {
  const uint32_t entry = number % LIST_ENTRIES;
  const uint8_t *raw = (const uint8_t *)loop->config.memory + (entry & (block_entries(loop) - 1u)) * ENTRY_BYTES;
  enum spate_error error = spate_block_read(device(loop), lba_of(loop, entry), 1, loop->config.memory);

  *listed = error == SPATE_OK && is_sealed(loop, raw, ENTRY_BYTES) && spate_get32(raw + ENTRY_NUMBER) == number;
  if (!*listed) return error;
  *part = (struct spate_loop_part){.number = number, .first_cluster = spate_get32(raw + ENTRY_CLUSTER)};
  get_time(raw + ENTRY_CREATED, &part->created);
  return SPATE_OK;
}

/* ---- spans ---- */

/* Three bytes, which are zero in lists that older versions wrote: 0: there is no gap. All ones: the span is broken.
 * Otherwise the gap follows the first part, the second, and so on. */
#define GAP_BROKEN UINT32_C(0xFFFFFF)

static void put_gap(uint8_t *raw, const struct spate_loop_span *span) {
  uint32_t gap = span->gap != 0 ? span->gap - span->first + 1u : 0;

  if (span->broken || gap > GAP_BROKEN) gap = GAP_BROKEN;
  spate_put16(raw, (uint16_t)(gap & 0xFFFFu));
  raw[2] = (uint8_t)(gap >> 16);
}

static void get_gap(const uint8_t *raw, struct spate_loop_span *span) {
  const uint32_t gap = spate_get16(raw) | (uint32_t)raw[2] << 16;

  span->broken = gap == GAP_BROKEN;
  if (gap > 0 && gap < GAP_BROKEN) span->gap = span->first + gap - 1u;
}

enum spate_error spate_loop_list_span(struct spate_loop *loop, uint32_t index) {
  const struct spate_loop_span *span = &loop->spans[index];
  uint8_t *raw = loop->config.memory;
  enum spate_error error = check(loop);

  if (error != SPATE_OK) return error;
  memset(raw, 0, spate_block_bytes(device(loop)));
  spate_put32(raw + SPAN_FIRST, span->first);
  spate_put32(raw + SPAN_LAST, span->last);
  raw[SPAN_STATE] = span->state;
  put_gap(raw + SPAN_GAP, span);
  memcpy(raw + SPAN_PATH, span->path, sizeof span->path);
  seal(loop, raw, SPAN_BYTES);
  spate_put64(raw + LENGTH + LENGTH_VALUE, span->part_bytes);
  seal(loop, raw + LENGTH, LENGTH_BYTES);
  return spate_block_write(device(loop), loop->list_lba + index, 1, raw, SPATE_IO_FUA);
}

static enum spate_error read_spans(struct spate_loop *loop) {
  uint32_t count = 0;

  for (uint32_t i = 0; i < SPATE_LOOP_SPANS; i++) {
    const uint8_t *raw = loop->config.memory;
    struct spate_loop_span *span = &loop->spans[count];
    enum spate_error error = spate_block_read(device(loop), loop->list_lba + i, 1, loop->config.memory);
    if (error != SPATE_OK) return error;
    if (!is_sealed(loop, raw, SPAN_BYTES)) continue;
    if (raw[SPAN_STATE] != SPAN_OPEN && raw[SPAN_STATE] != SPAN_ENDED) continue;
    *span = (struct spate_loop_span){
        .state = raw[SPAN_STATE], .first = spate_get32(raw + SPAN_FIRST), .last = spate_get32(raw + SPAN_LAST)};
    get_gap(raw + SPAN_GAP, span);
    const bool has_length = is_sealed(loop, raw + LENGTH, LENGTH_BYTES);
    span->part_bytes = has_length ? spate_get64(raw + LENGTH + LENGTH_VALUE) : loop->config.part_bytes;
    memcpy(span->path, raw + SPAN_PATH, sizeof span->path);
    if (span->path[sizeof span->path - 1u] == '\0') count++;
  }
  return SPATE_OK;
}

/* ---- open ---- */

/* Without data in it the file must not be found: zeros first, then its length. */
static enum spate_error make(struct spate_loop *loop, const char *path) {
  const uint32_t blocks = list_blocks(loop);
  const uint64_t bytes = (uint64_t)blocks << device(loop)->block_shift;
  struct spate_exfat_clip clip;
  enum spate_error error = spate_exfat_arm(loop_volume(loop), &clip, path, bytes);

  if (error != SPATE_OK) return error;
  memset(loop->config.memory, 0, spate_block_bytes(device(loop)));
  for (uint32_t i = 0; error == SPATE_OK && i < blocks; i++)
    error = spate_block_write(device(loop), clip.first_lba + i, 1, loop->config.memory, 0);
  if (error != SPATE_OK) {
    const enum spate_error undone = spate_exfat_discard(&clip);
    return undone == SPATE_OK ? error : undone;
  }
  return spate_exfat_close(&clip, bytes);
}

enum spate_error spate_loop_list_open(struct spate_loop *loop) {
  char path[SPATE_RECORDER_PATH_BYTES_MAX];

  path_of(loop, path);
  enum spate_error error = use(loop, path);
  /* A power cut while the list was made, and a repair of another system, leave an empty file. */
  if (error == SPATE_E_EXISTS && loop->list.bytes == 0) {
    error = spate_exfat_delete_untrimmed(loop_volume(loop), path);
    if (error == SPATE_OK) error = SPATE_E_NOT_FOUND;
  }
  if (error == SPATE_E_NOT_FOUND) {
    error = make(loop, path);
    if (error == SPATE_OK) error = use(loop, path);
  }
  return error == SPATE_OK ? read_spans(loop) : error;
}
