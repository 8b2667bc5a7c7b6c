/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the experiments. Sizes and rates are numbers with an optional unit: units.h. */
#ifndef SPATE_LAB_OPTIONS_H
#define SPATE_LAB_OPTIONS_H

#include "fail.h"
#include "json.h"
#include <machine/sim.h>
#include <stdbool.h>
#include <stdint.h>

/* A processor, and the cost of its work. */
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
  uint64_t command_ns; /* processor time for each command; 0: the host's */
  /* --host board: the processor's time for each command, completion and doorbell; and above the driver for a push, a
   * turn of the recorder, a piece in it, and a checkpoint */
  uint64_t submit_ps, complete_ps, doorbell_ns, push_ps, turn_ps, piece_ps, checkpoint_ps;
  uint64_t seed;
  uint64_t generation, lanes;                               /* 0: the drive's own link */
  uint64_t payload_bytes, read_request_bytes, link_percent; /* MPS, MRRS, share of acknowledge and flow control */
  double fetch_rate; /* the rate at which the host's bridge reads memory for a drive; 0: the link's */
  uint64_t drives, chunk_bytes;
  double filled;  /* share of the drive that is already written and not trimmed */
  double celsius; /* the drive's temperature at the start; 0: its idle temperature */
  double ambient; /* air temperature; 0: the profile's */

  /* the work */
  const char *op;       /* raw: read, write or alternate */
  uint64_t block_bytes; /* of each request */
  uint64_t depth;       /* requests in flight */
  uint64_t bytes;       /* in total */
  uint64_t turn_bytes;  /* alternate: bytes written, then read */
  uint64_t samples;     /* points of the curve */

  /* files */
  uint64_t file_bytes, cluster_bytes, ring_bytes, checkpoint_ms;
  bool read_back;      /* read the files back through the player */
  bool verify;         /* walk every page of every file afterwards */
  uint64_t keep_bytes; /* of a loop whose parts have file_bytes; 0: files, as many as fit */

  /* a source with a rate of its own */
  double rate;      /* bytes per second; 0: as fast as the drive takes them */
  double slow_rate; /* to which a warned source slows down; 0: it ignores warnings */
  uint64_t react_ms;

  /* FatFs */
  const char *format; /* fat32 or exfat */
  bool expand;        /* f_expand() before the first byte */
  uint64_t sync_ms;   /* interval of f_sync(); 0: at close only */
};

/* Ends the program with a sentence if an option is wrong. */
void lab_options_parse(struct lab_options *options, int count, char **words);

/* Writes all options, so that a result says what it belongs to. */
void lab_options_write(const struct lab_options *options, struct json *json);

#endif
