/* SPDX-License-Identifier: Apache-2.0 */
/* FatFs's one drive: an image file. */
#ifndef FATFS_IMAGE_H
#define FATFS_IMAGE_H

#include <stdbool.h>

/* False: the file does not exist, or is not a whole number of sectors; errno says which. */
bool image_open(const char *path, unsigned sector_bytes);

/* False: the written data did not reach the file. */
bool image_close(void);

#endif
