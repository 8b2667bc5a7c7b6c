/* SPDX-License-Identifier: Apache-2.0 */
/* What a checkup says, on the board's console, in the format of `spate doctor` on Linux. */
#ifndef SPATE_FIRMWARE_CHECKUP_PRINT_H
#define SPATE_FIRMWARE_CHECKUP_PRINT_H

#include <spate/checkup.h>

/* For spate_checkup_config.fact and spate_doctor.found. `context` is not used. */
void checkup_print_fact(void *context, const struct spate_checkup_fact *fact);
void checkup_print_finding(void *context, const struct spate_doctor_finding *finding);

#endif
