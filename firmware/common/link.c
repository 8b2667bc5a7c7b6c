/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"
#include <print.h>

enum spate_error link_look(struct spate_pcie_host *host, struct spate_pcie_device *device) {
  const enum spate_error error = spate_pcie_link_check(host, device);

  if (error != SPATE_E_LINK_DEGRADED) return error;
  print("pcie   warning: %s\n", spate_error_help(error));
  return SPATE_OK;
}
