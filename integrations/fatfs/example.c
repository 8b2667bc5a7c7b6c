/* SPDX-License-Identifier: Apache-2.0 */
#include "example.h"

FRESULT example_record(struct spate_diskio *disk, const struct spate_diskio_range *ring, const char *path,
                       unsigned count) {
  const unsigned pieces = (unsigned)(ring->bytes / EXAMPLE_PIECE_BYTES);
  static FIL file;
  unsigned next = 0, oldest = 0; /* to be written; to be given back to the source */
  FRESULT result = f_open(&file, path, FA_WRITE | FA_CREATE_NEW);

  if (result != FR_OK) return result;
  while (oldest < count) {
    if (result == FR_OK && next < count && next - oldest < pieces && source_has_filled(next % pieces)) {
      UINT put_bytes = 0;
      result =
          f_write(&file, ring->start + (size_t)(next % pieces) * EXAMPLE_PIECE_BYTES, EXAMPLE_PIECE_BYTES, &put_bytes);
      if (result == FR_OK && put_bytes < EXAMPLE_PIECE_BYTES) result = FR_DENIED; /* the volume is full */
      next++;
    }
    spate_diskio_poll(disk);
    const uint8_t *memory = ring->start + (size_t)(oldest % pieces) * EXAMPLE_PIECE_BYTES;
    if (oldest < next && !spate_diskio_busy(disk, memory, EXAMPLE_PIECE_BYTES))
      source_may_fill_again(oldest++ % pieces);
    if (result != FR_OK && oldest == next) break;
  }
  const FRESULT closed = f_close(&file);     /* waits for all writes, and flushes */
  if (closed != FR_OK) (void)f_close(&file); /* the file object, after the error was reported */
  return result != FR_OK ? result : closed;
}
