/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <ff.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <diskio.h> /* after ff.h, whose types it uses */

/* f_mkfs() begins the cluster heap at a multiple of it: 1 MiB with 512-byte sectors. */
#define ALIGN_SECTORS 2048u

static int file = -1;
static unsigned bytes_per_sector;
static uint64_t sector_count;

bool image_open(const char *path, unsigned sector_bytes) {
  struct stat status;
  file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0 || fstat(file, &status) != 0) return false;
  if (status.st_size % (off_t)sector_bytes != 0) {
    errno = EINVAL;
    return false;
  }
  bytes_per_sector = sector_bytes;
  sector_count = (uint64_t)status.st_size / sector_bytes;
  return true;
}

bool image_close(void) { return close(file) == 0; }

DSTATUS disk_initialize(BYTE pdrv) { return disk_status(pdrv); }

DSTATUS disk_status(BYTE pdrv) { return pdrv == 0 && file >= 0 ? 0 : STA_NOINIT; }

static bool within(LBA_t sector, UINT count) { return sector <= sector_count && count <= sector_count - sector; }

DRESULT disk_read(BYTE pdrv, BYTE *buff, LBA_t sector, UINT count) {
  if (pdrv != 0 || !within(sector, count)) return RES_PARERR;
  size_t bytes = (size_t)count * bytes_per_sector;
  return pread(file, buff, bytes, (off_t)(sector * bytes_per_sector)) == (ssize_t)bytes ? RES_OK : RES_ERROR;
}

DRESULT disk_write(BYTE pdrv, const BYTE *buff, LBA_t sector, UINT count) {
  if (pdrv != 0 || !within(sector, count)) return RES_PARERR;
  size_t bytes = (size_t)count * bytes_per_sector;
  return pwrite(file, buff, bytes, (off_t)(sector * bytes_per_sector)) == (ssize_t)bytes ? RES_OK : RES_ERROR;
}

DRESULT disk_ioctl(BYTE pdrv, BYTE cmd, void *buff) {
  if (pdrv != 0) return RES_PARERR;
  switch (cmd) {
  case CTRL_SYNC: return RES_OK; /* written data is in the kernel, where other processes see it */
  case GET_SECTOR_COUNT: *(LBA_t *)buff = sector_count; return RES_OK;
  case GET_SECTOR_SIZE: *(WORD *)buff = (WORD)bytes_per_sector; return RES_OK;
  case GET_BLOCK_SIZE: *(DWORD *)buff = ALIGN_SECTORS; return RES_OK;
  default: return RES_PARERR;
  }
}

/* Bits 31-25 years since 1980, 24-21 month, 20-16 day, 15-11 hour, 10-5 minute, 4-0 pairs of seconds. */
DWORD get_fattime(void) {
  time_t seconds = time(NULL);
  struct tm utc;
  if (gmtime_r(&seconds, &utc) == NULL) return 1u << 21 | 1u << 16;
  return (DWORD)(utc.tm_year - 80) << 25 | (DWORD)(utc.tm_mon + 1) << 21 | (DWORD)utc.tm_mday << 16 |
         (DWORD)utc.tm_hour << 11 | (DWORD)utc.tm_min << 5 | (DWORD)utc.tm_sec / 2;
}
