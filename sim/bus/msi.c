/* SPDX-License-Identifier: Apache-2.0 */
/* PG194, "MSI Interrupt": writes of the drive to a page that the bridge takes for MSIs are not forwarded. The low six
 * bits of the data are the vector. */
#include "../machine/internal.h"

bool sim_msi_takes(struct sim *sim, uint64_t address, uint8_t data) {
  struct sim_msi_page *msi = sim_msi_of(sim);

  if (msi == NULL || address - msi->base >= SIM_MSI_PAGE_BYTES) return false;
  msi->writes++;
  msi->decode[data >> 5 & 1] |= UINT32_C(1) << (data & 31);
  return true;
}

uint64_t sim_msi_up_to(struct sim *sim, uint64_t address, uint64_t bytes) {
  const struct sim_msi_page *msi = sim_msi_of(sim);

  if (msi == NULL) return bytes;
  const uint64_t start = msi->base, end = start + SIM_MSI_PAGE_BYTES;
  if (address < start) return start - address < bytes ? start - address : bytes;
  return address < end && end - address < bytes ? end - address : bytes;
}
