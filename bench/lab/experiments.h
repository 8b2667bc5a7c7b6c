/* SPDX-License-Identifier: Apache-2.0 */
/* The experiments of spate-lab. Each opens a machine, runs, and writes one JSON object into `json`. */
#ifndef SPATE_LAB_EXPERIMENTS_H
#define SPATE_LAB_EXPERIMENTS_H

#include "machine.h"

/* Requests straight to the device at consecutive addresses, with a given number in flight: reads, writes, or
 * alternately. */
void lab_raw(const struct lab_options *options, struct json *json);

/* Records a stream with the library into exFAT files, as fast as the drive takes it or at a given rate. */
void lab_files(const struct lab_options *options, struct json *json);

/* Writes the profiles' values. Uses no machine. */
void lab_profiles(const struct lab_options *options, struct json *json);

/* For every experiment: a processor that found nothing waits for the next event, but at most this long. */
#define LAB_IDLE_PS SIM_PS_PER_MS
#define LAB_BATCH   32u

#endif
