/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_HOSTED_COHERENT_H
#define SPATE_HOSTED_COHERENT_H

#include <stdbool.h>
#include <stddef.h>

/* Is DMA of this PCI function coherent with the processor's caches, as far as the system says? Otherwise why it is not
 * known to be. */
bool coherent_device(const char *address, char *why, size_t why_bytes);

#endif
