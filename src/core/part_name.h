/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the parts of a recording. */
#ifndef SPATE_CORE_PART_NAME_H
#define SPATE_CORE_PART_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* "DIR/CLIP.RAW", 2 → "DIR/CLIP_0002.RAW", with at least so many digits. False if it does not fit in `to_bytes`. */
bool spate_part_name(char *to, uint32_t to_bytes, const char *base, uint32_t part, uint32_t digits_min);

#endif
