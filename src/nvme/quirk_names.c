/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the drives in quirks.def. In a file of its own: a program that does not print them is linked without. */
#include "quirks.h"

#include <stddef.h>

#define QUIRK(vendor_id, device_id, needs, source, name) {vendor_id, device_id, name},
static const struct {
  uint16_t vendor_id, device_id;
  const char *name;
} rows[] = {
#include "quirks.def"
};

const char *spate_nvme_known_as(uint16_t vendor_id, uint16_t device_id) {
  for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].vendor_id == vendor_id && rows[i].device_id == device_id) return rows[i].name;
  return NULL;
}
