/* SPDX-License-Identifier: Apache-2.0 */
/* FatFs's one drive: an image file. */
#ifndef FATFS_IMAGE_H
#define FATFS_IMAGE_H

#include <stdbool.h>

/* False: no such file, or not a whole number of sectors; errno says why. */
bool image_open(const char *path, unsigned sector_bytes);

/* False: what was written did not reach the file. */
bool image_close(void);

#endif
