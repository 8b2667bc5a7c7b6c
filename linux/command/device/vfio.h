/* SPDX-License-Identifier: Apache-2.0 */
/* The VFIO container, which is one IOMMU address space for all drives of the program, and the groups in it. */
#ifndef SPATE_COMMAND_VFIO_H
#define SPATE_COMMAND_VFIO_H

#include <stddef.h>

/* Ends the program with a message if the function is not behind an IOMMU. Call it before binding_take(). */
void vfio_check(const char *address);

/* Adds the function's group to the container and sets the container's IOMMU. On an error, ends the program with a
 * message that says what is missing and how to get it. `group` becomes the group's file descriptor, for vfio_leave().
 */
void vfio_join(const char *address, int *group);
/* Removes the group. With the last group the container is closed. */
void vfio_leave(int group);

/* Lists the other functions of its IOMMU group that the kernel's drivers use: " 0000:03:00.0 (xhci_hcd)"; "" if there
 * are none. */
void vfio_others(const char *address, char *others, size_t others_bytes);

#endif
