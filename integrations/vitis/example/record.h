/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_VITIS_EXAMPLE_RECORD_H
#define SPATE_VITIS_EXAMPLE_RECORD_H

#include <s2mm.h>
#include <spate/recorder.h>

/* Records up to `bytes` (a multiple of the DMA's piece_bytes) into a new file, until the source ends or the DMA fails.
 * The file has what arrived before. Returns the first error; FATAL: dma->failure says which. */
SPATE_MUST_CHECK enum spate_error example_record(struct s2mm *dma, struct spate_recorder *recorder,
                                                 struct spate_stream *stream, const char *path, uint64_t bytes);

#endif
