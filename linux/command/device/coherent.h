/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_COMMAND_COHERENT_H
#define SPATE_COMMAND_COHERENT_H

/*
 * Reports whether DMA of this PCI function is coherent with the processor's caches. A drive whose accesses bypass the
 * caches needs queues in uncached memory, which user space cannot get. With cached memory the program would sometimes
 * read old completions. An emulator does not show this, so a test cannot find it: the system's description decides.
 */
enum coherent { COHERENT_YES, COHERENT_NO, COHERENT_UNKNOWN };
enum coherent coherent_of(const char *address);

/* Ends the program with a message, unless it is COHERENT_YES. */
void coherent_check(const char *address, enum coherent coherent);

#endif
