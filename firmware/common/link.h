/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_FIRMWARE_LINK_H
#define SPATE_FIRMWARE_LINK_H

#include <spate/pcie.h>

/* Checks a drive's link, for all applications. A link that is slower or narrower than both ends support works: this
 * prints a warning and returns OK. Errors: LINK_DOWN. */
SPATE_MUST_CHECK enum spate_error link_look(struct spate_pcie_host *host, struct spate_pcie_device *device);

#endif
