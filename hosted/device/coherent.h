/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_HOSTED_COHERENT_H
#define SPATE_HOSTED_COHERENT_H

/*
 * Is DMA of this PCI function coherent with the processor's caches? A drive whose accesses bypass them needs queues
 * that are not cached, which user space cannot have: it would read old completions, now and then. Emulators do not show
 * that, so the system's word is taken.
 */
enum coherent { COHERENT_YES, COHERENT_NO, COHERENT_UNKNOWN };
enum coherent coherent_of(const char *address);

/* Ends the program, with a sentence, unless it is. */
void coherent_check(const char *address, enum coherent coherent);

#endif
