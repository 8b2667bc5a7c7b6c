/* SPDX-License-Identifier: Apache-2.0 */
/* FatFs for the tests of integrations/fatfs: as for the other tests, and two drives, relative paths and TRIM. */
#ifndef FATFS_SETTINGS_OF_DISKIO_H
#define FATFS_SETTINGS_OF_DISKIO_H

#include "../support/fatfs/settings.h"

#undef FF_VOLUMES
#define FF_VOLUMES 2
#undef FF_FS_RPATH
#define FF_FS_RPATH 2
#undef FF_USE_TRIM
#define FF_USE_TRIM 1

#endif
