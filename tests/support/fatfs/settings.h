/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FatFs with everything that a reader of recordings needs: exFAT, long names as UTF-8, 64-bit addresses, both sector
 * sizes. The Makefile includes this ahead of every file, and ff.h then does not read its own settings.
 */
#ifndef FATFS_SETTINGS_H
#define FATFS_SETTINGS_H

#include <ffconf.h>

#undef FF_FS_EXFAT
#define FF_FS_EXFAT 1
#undef FF_LBA64
#define FF_LBA64 1
#undef FF_USE_EXPAND
#define FF_USE_EXPAND 1
#undef FF_USE_LABEL
#define FF_USE_LABEL 1
#undef FF_LFN_UNICODE
#define FF_LFN_UNICODE 2
#undef FF_LFN_BUF
#define FF_LFN_BUF 765 /* 255 UTF-16 units of 3 bytes; FatFs's default refuses names of more than 255 bytes */
#undef FF_VOLUMES
#define FF_VOLUMES 1

#if !FF_USE_MKFS || FF_USE_LFN == 0 || FF_MAX_LFN != 255 || FF_MIN_SS != 512 || FF_MAX_SS != 4096 || FF_FS_NORTC
#error "FatFs's own settings are not those that this program was written for"
#endif

#endif
