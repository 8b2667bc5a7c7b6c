/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a PCI function from the kernel's driver, and gives it back.
 *
 * `driver_override` marks a function that was taken. So a function that a killed program left can be given back later.
 */
#ifndef SPATE_COMMAND_BINDING_H
#define SPATE_COMMAND_BINDING_H

#include <stdbool.h>

/*
 * Binds the function to `driver` ("vfio-pci"; NULL: to none). Without `bind` the function must have that driver
 * already. Ends the program if it has not, if the function is not an NVMe drive, if something holds it exclusively (a
 * mount, swap, md, LVM, dm), or if the driver does not bind. True: it was taken from the kernel's driver, and must be
 * given back.
 */
bool binding_take(const char *address, const char *driver, bool bind);
/* False: it did not go back to the kernel's driver; a message is on standard error. */
bool binding_give_back(const char *address);

/* True if binding_take() took it, and it was not given back. */
bool binding_taken(const char *address);

#endif
