/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which driver has a PCI function: taken from the kernel's, and given back.
 *
 * A function that was taken is known by its `driver_override`. So what a killed program left can be given back later.
 */
#ifndef SPATE_HOSTED_BINDING_H
#define SPATE_HOSTED_BINDING_H

#include <stdbool.h>

/*
 * Make `driver` ("vfio-pci"; NULL: none) have the function. Without `bind` it must be so already. Ends the program when
 * it is not, when the function is no NVMe drive, when something holds it exclusively (a mount, swap, md, LVM, dm), or
 * when the driver does not take it. True: it was taken from the kernel's, and is to be given back.
 */
bool binding_take(const char *address, const char *driver, bool bind);
/* False, with a sentence on standard error: it did not come back. */
bool binding_give_back(const char *address);

/* Is it one that binding_take() took, and nobody gave back? */
bool binding_taken(const char *address);

#endif
