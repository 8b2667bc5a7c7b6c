/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_HOSTED_COHERENT_H
#define SPATE_HOSTED_COHERENT_H

/* Ends the program, with a sentence, unless the system says that DMA of this PCI function is coherent with the
 * processor's caches. */
void coherent_check(const char *address);

#endif
