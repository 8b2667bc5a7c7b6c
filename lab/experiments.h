/* SPDX-License-Identifier: Apache-2.0 */
/* The experiments of spate-lab. Each brings a machine up, works, and writes one JSON object into `json`. */
#ifndef SPATE_LAB_EXPERIMENTS_H
#define SPATE_LAB_EXPERIMENTS_H

#include "machine.h"

/* Requests straight to the device, one behind the other, so many in flight: reads, writes, or turns of each. */
void lab_raw(const struct lab_options *options, struct json *json);

/* A stream recorded by the library into exFAT files, as fast as the drive takes it or at a rate of its own. */
void lab_files(const struct lab_options *options, struct json *json);

/* What the profiles say: no machine. */
void lab_profiles(const struct lab_options *options, struct json *json);

/* For every experiment: a processor that found nothing waits for the next event, at most so long. */
#define LAB_IDLE_PS SIM_PS_PER_MS
#define LAB_BATCH   32u

#endif
