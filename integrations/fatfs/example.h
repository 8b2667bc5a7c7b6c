/* SPDX-License-Identifier: Apache-2.0 */
/* A recorder on FatFs: example.c, with the functions of a source that this program has to supply. */
#ifndef SPATE_DISKIO_EXAMPLE_H
#define SPATE_DISKIO_EXAMPLE_H

#include "spate_diskio.h"

#include <ff.h>

#define EXAMPLE_PIECE_BYTES (64u * 1024u) /* whole clusters, so that FatFs passes whole pieces on */

/* The source fills the pieces of the ring in turn. */
bool source_has_filled(unsigned piece);
void source_may_fill_again(unsigned piece);

/* Records `count` pieces into a new file. The ring is registered with SPATE_DISKIO_WRITES. */
FRESULT example_record(struct spate_diskio *disk, const struct spate_diskio_range *ring, const char *path,
                       unsigned count);

#endif
