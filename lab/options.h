/* SPDX-License-Identifier: Apache-2.0 */
/* What every experiment can be told. Sizes and rates are numbers with an optional unit: units.h. */
#ifndef SPATE_LAB_OPTIONS_H
#define SPATE_LAB_OPTIONS_H

#include "fail.h"
#include "json.h"
#include <sim.h>
#include <stdbool.h>
#include <stdint.h>

/* A processor, and who says what it costs there. */
struct lab_host {
  const char *name;
  const char *what;
  struct sim_host cost;
};

struct lab_options {
  const char *experiment;

  /* the machine */
  const char *profile;
  const struct lab_host *host;
  uint64_t command_ns; /* of the processor's time for each command; 0: as the host */
  uint64_t seed;
  uint64_t generation, lanes;                               /* 0: the drive's own link */
  uint64_t payload_bytes, read_request_bytes, link_percent; /* MPS, MRRS, share of acknowledge and flow control */
  double fetch_rate; /* that the host's bridge reads memory at for a drive; 0: as the link */
  uint64_t drives, chunk_bytes;
  double filled;  /* share of the drive that was written and not trimmed */
  double celsius; /* the drive begins this hot; 0: as it is when idle */
  double ambient; /* of the air around it; 0: the profile's */

  /* the work */
  const char *op;       /* raw: read, write or alternate */
  uint64_t block_bytes; /* of each request */
  uint64_t depth;       /* requests in flight */
  uint64_t bytes;       /* in all */
  uint64_t turn_bytes;  /* alternate: written, then read */
  uint64_t samples;     /* points of the curve */

  /* files */
  uint64_t file_bytes, cluster_bytes, ring_bytes, checkpoint_ms;
  bool read_back; /* read the files again, through the player */
  bool verify;    /* walk every page of every file afterwards */

  /* a source with a rate of its own */
  double rate;      /* bytes per second; 0: as fast as the drive takes them */
  double slow_rate; /* to which it falls when it is told to; 0: it does not listen */
  uint64_t react_ms;

  /* FatFs */
  const char *format; /* fat32 or exfat */
  bool expand;        /* f_expand() before the first byte */
  uint64_t sync_ms;   /* f_sync() so often; 0: at close only */
};

/* Ends the program with a sentence if something is wrong. */
void lab_options_parse(struct lab_options *options, int count, char **words);

/* All of them, so that a result says what it is of. */
void lab_options_write(const struct lab_options *options, struct json *json);

#endif
