/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_APPS_LINK_H
#define SPATE_APPS_LINK_H

#include <spate/pcie.h>

/* What became of a drive's link, for every application alike. One that is slower or narrower than both ends can do
 * works: it is told, and no error. Errors: LINK_DOWN. */
SPATE_MUST_CHECK enum spate_error link_look(struct spate_pcie_host *host, struct spate_pcie_device *device);

#endif
