/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The S2MM channel of AXI DMA with scatter-gather, as PG021 describes it, and a source in front of it that delivers a
 * piece each period. The channel fetches a descriptor, writes the data, writes the descriptor's status, sets IOC, and
 * stops after the tail. It follows the guide where that is unpleasant: a descriptor that is fetched with its completed
 * bit set halts the channel, and so does an address that is no memory. `variant` makes it worse.
 */
#ifndef SPATE_TESTS_S2MM_MODEL_H
#define SPATE_TESTS_S2MM_MODEL_H

#include "machine/sim.h"
#include <stdbool.h>
#include <stdint.h>

#define S2MM_MODEL_BASE UINT64_C(0x04000000)

enum s2mm_variant {
  S2MM_IDEAL,
  S2MM_DATA_SLAVE_ERROR, /* the interconnect refuses the data of piece `at` */
  S2MM_HALTS,            /* it halts at piece `at`, as if somebody had cleared RS */
  S2MM_LATE,             /* the status of each descriptor arrives `late_ps` after IOC */
  S2MM_LOSES_A_STATUS,   /* the status of piece `at` never arrives; the next ones do */
  S2MM_LOSES_THE_LAST,   /* it never arrives for `at` and all behind: the channel is idle */
  S2MM_NO_BYTES,         /* piece `at` is completed with length 0 */
  S2MM_TOO_MANY_BYTES,   /* … with more bytes than its descriptor has */
  S2MM_SHORT_PACKET,     /* TLAST after `short_bytes` of piece `at`; the source then ends */
  S2MM_DESCRIPTOR_ERROR, /* the descriptor of piece `at` has DMADecErr; the channel halts a moment later */
  S2MM_LAST_WORDS,       /* the source ends; the next read of DMASR completes one piece more, and halts with an error */
  S2MM_IOC_WITHOUT_DATA, /* IOC is set in each period, with and without a piece */
  S2MM_RESETS_FOR_EVER,  /* the reset bit stays set */
  S2MM_SIMPLE,           /* built without scatter-gather */
  S2MM_STAYS_HALTED,
  S2MM_ABSENT, /* reads as all ones */
};

struct s2mm_model {
  /* set before s2mm_model_open() */
  enum s2mm_variant variant;
  uint32_t piece_bytes, at, short_bytes;
  uint64_t period_ps, late_ps;
  uint64_t pieces;      /* that the source delivers */
  uint32_t fifo_pieces; /* in front of the channel; 0: the source waits, and loses nothing */

  /* what happened */
  uint64_t delivered, lost_bytes; /* pieces written to memory; bytes dropped in front of the channel */
  uint32_t resets, status_reads;

  /* private */
  struct sim *sim;
  uint32_t control, status;
  uint64_t current, tail, resume;
  uint64_t arrived, generation;
  bool at_tail, failing;
};

void s2mm_model_open(struct s2mm_model *model, struct sim *sim);

/* Byte `at` of the stream. */
uint8_t s2mm_model_byte(uint64_t at);

#endif
