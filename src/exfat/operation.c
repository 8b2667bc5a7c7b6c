/* SPDX-License-Identifier: Apache-2.0 */
/* One operation at a time. A change has a beginning (the volume is repaired, and the record's file exists) and an end
 * (the volume is marked clean if it may be). */
#include "internal.h"

enum spate_error spate_exfat_begin(struct spate_exfat *volume) {
  if (volume->mounted != volume) return SPATE_E_NOT_MOUNTED;
  if (volume->busy) return SPATE_E_BUSY;
  volume->busy = true;
  volume->power_mark = spate_block_power_mark(volume->config.block);
  return SPATE_OK;
}

void spate_exfat_end(struct spate_exfat *volume) { volume->busy = false; }

enum spate_error spate_exfat_begin_removal(struct spate_exfat *volume, enum spate_error *no_record) {
  *no_record = SPATE_OK;
  if (volume->config.read_only) return SPATE_E_READ_ONLY;
  enum spate_error error = spate_exfat_begin(volume);

  if (error != SPATE_OK) return error;
  error = volume->untrusted ? SPATE_E_CORRUPT : volume->failed;
  if (error == SPATE_OK) error = spate_exfat_boot_repair(volume);
  if (error == SPATE_OK && volume->record_lba == 0) error = volume->repairs->record(volume);
  if (error == SPATE_E_NO_SPACE || error == SPATE_E_FRAGMENTED || error == SPATE_E_EXISTS) {
    *no_record = error;
    return SPATE_OK;
  }
  return error == SPATE_OK ? SPATE_OK : spate_exfat_end_change(volume, error);
}

enum spate_error spate_exfat_begin_change(struct spate_exfat *volume) {
  enum spate_error no_record;
  enum spate_error error = spate_exfat_begin_removal(volume, &no_record);

  return error == SPATE_OK && no_record != SPATE_OK ? spate_exfat_end_change(volume, no_record) : error;
}

enum spate_error spate_exfat_end_change(struct spate_exfat *volume, enum spate_error error) {
  enum spate_error clean_error = spate_exfat_clean(volume, UINT32_MAX);

  spate_exfat_end(volume);
  return error == SPATE_OK ? clean_error : error;
}
