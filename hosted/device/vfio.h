/* SPDX-License-Identifier: Apache-2.0 */
/* The container of VFIO: one IOMMU address space for all drives of the program, and the groups in it. */
#ifndef SPATE_HOSTED_VFIO_H
#define SPATE_HOSTED_VFIO_H

#include <stddef.h>

/* Ends the program, with a sentence, if the function is behind no IOMMU. Before it is taken from anybody. */
void vfio_check(const char *address);

/* The group of this function, in the container, which has its IOMMU then. Ends the program, with a sentence that says
 * what is missing and how to get it. `group` is its file descriptor, which is vfio_leave()'s, as soon as there is one.
 */
void vfio_join(const char *address, int *group);
/* With the last group the container goes. */
void vfio_leave(int group);

/* The other functions of its IOMMU group whose drivers stand in the way: " 0000:03:00.0 (xhci_hcd)", "" where there is
 * none. */
void vfio_others(const char *address, char *others, size_t others_bytes);

#endif
