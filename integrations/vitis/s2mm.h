/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream from logic through AXI DMA's S2MM channel (PG021) into a clip: scatter-gather, one descriptor for each piece
 * of the ring, polled. The processor touches no byte of the data.
 *
 * Back-pressure: the DMA gets a descriptor back when the drive has fetched its piece. When it has none, it holds
 * TREADY low. A source that can wait loses nothing then. One that cannot wait loses data in front of the DMA, where
 * only the logic can count them: `lost_bytes`.
 *
 * TLAST: a packet ends its descriptor. Each packet has the bytes of a piece, or the logic sends no TLAST at all. A
 * shorter packet is the end of the clip.
 */
#ifndef SPATE_S2MM_H
#define SPATE_S2MM_H

#include <spate/dma.h>
#include <spate/recorder.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define S2MM_DESCRIPTOR_BYTES 64u

enum s2mm_state {
  S2MM_STOPPED,
  S2MM_RUNNING,
  S2MM_ENDED, /* a packet was shorter than a piece: the clip has all of it */
  S2MM_FAILED,
};

enum s2mm_failure {
  S2MM_OK,
  S2MM_NO_RESET,      /* the reset does not end: no clock, no AXI DMA at this address, or no S2MM channel */
  S2MM_NOT_SG,        /* DMASR.SGIncld is 0: the DMA was built without scatter-gather */
  S2MM_NOT_STARTED,   /* DMASR.Halted stays set after RS was set */
  S2MM_DATA_ERROR,    /* DMASR or a descriptor: DMAIntErr, DMASlvErr, DMADecErr */
  S2MM_FETCH_ERROR,   /* DMASR: SGIntErr, SGSlvErr, SGDecErr */
  S2MM_HALTED,        /* halted, without an error bit */
  S2MM_NOT_COMPLETED, /* the DMA is idle behind a descriptor, or has completed a later one, and this one not */
  S2MM_LENGTH,        /* a completed descriptor with no bytes, or with more than a piece */
  S2MM_FAILURES
};

struct s2mm_config {
  uintptr_t registers;        /* base address of AXI DMA */
  unsigned length_bits;       /* width of the buffer length register, as set in the IP (8 to 26) */
  bool wide_addresses;        /* the IP has more than 32 address bits */
  struct spate_region *ring;  /* its first piece_count * piece_bytes bytes */
  uint32_t piece_bytes;       /* whole logical blocks, a multiple of 64; below 2^length_bits */
  uint32_t piece_count;       /* a power of two: spate_stream_config.piece_count of the stream */
  struct spate_arena *memory; /* not cached: S2MM_DESCRIPTOR_BYTES for each piece */
  /* May be NULL. What the logic in front of the DMA has dropped since it started, as its own counter says. */
  uint64_t (*lost_bytes)(void *context);
  void *context;
};

/* A descriptor (PG021, "Scatter/Gather Descriptor"). The DMA reads and writes it. */
struct s2mm_descriptor {
  volatile uint32_t next, next_upper, buffer, buffer_upper, reserved[2], control, status;
  volatile uint32_t unused[8];
};

struct s2mm {
  struct s2mm_config config;
  enum s2mm_state state;
  enum s2mm_failure failure;
  uint32_t status_register; /* DMASR when it failed */
  uint32_t failed_piece;    /* index in the ring */
  uint64_t pieces, bytes;   /* handed to the stream */
  uint32_t starved;         /* how often the DMA stopped because the ring was full */
  uint64_t lost_bytes;      /* reported to the stream */
  /* private */
  struct s2mm_descriptor *descriptors;
  uint32_t next;            /* descriptor that completes next, free-running */
  uint32_t given;           /* descriptors that the DMA has had, free-running */
  uint32_t released_before; /* spate_stream_released() when it started */
  bool is_starved;
  uint64_t behind_ticks; /* since when `next` is behind the DMA; 0: it is not (at tick 0 it is noticed a turn later) */
};

/* Reset the DMA, and build its descriptors. Call it once, and after a failure with the same object and `memory` 0.
 * Errors: INVALID (the configuration), MEMORY, TIMEOUT (NO_RESET), UNSUPPORTED (NOT_SG). */
SPATE_MUST_CHECK enum spate_error s2mm_open(struct s2mm *dma, const struct s2mm_config *config);

/* The stream has a clip: let the DMA fill the ring, from its first piece on. Errors: TIMEOUT (NOT_STARTED), STATE (it
 * runs), BUSY (the drive still reads pieces of the ring: call spate_recorder_work()). */
SPATE_MUST_CHECK enum spate_error s2mm_start(struct s2mm *dma, const struct spate_stream *stream);

/*
 * Push what the DMA has completed, and give it the descriptors whose pieces are released. Never waits. Call it as often
 * as spate_recorder_work(). Errors: those of spate_stream_push() except FULL; FATAL: the DMA failed, `failure` says
 * how, and what it completed before is pushed.
 */
SPATE_MUST_CHECK enum spate_error s2mm_work(struct s2mm *dma, struct spate_stream *stream);

/* Stop the DMA by a reset. What is in descriptors that are not completed is lost. Errors: TIMEOUT (NO_RESET). */
SPATE_MUST_CHECK enum spate_error s2mm_stop(struct s2mm *dma);

/* One sentence: what happened, and what to do. */
const char *s2mm_help(enum s2mm_failure failure);

#ifdef __cplusplus
}
#endif
#endif
