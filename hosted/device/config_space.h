/* SPDX-License-Identifier: Apache-2.0 */
/* The command register in a function's configuration space (base specification 4.0, 7.5.1.1), by a file that shows it:
 * VFIO's, at an offset, or sysfs's. */
#ifndef SPATE_HOSTED_CONFIG_SPACE_H
#define SPATE_HOSTED_CONFIG_SPACE_H

#include <stdbool.h>
#include <stdint.h>

/* Does the function answer? */
bool config_space_answers(int fd, uint64_t offset_bytes);
/* Memory space and bus mastering on, without which a drive does not start (CSTS.CFS), and no interrupt by wire, as the
 * library polls. False: it did not take them. */
bool config_space_on(int fd, uint64_t offset_bytes);
/* Memory space alone, so that its registers can be reached while it reaches no memory. */
bool config_space_registers(int fd, uint64_t offset_bytes);
/* Bus mastering off: it reaches no memory any more. False: that is not known, as of a function that does not
 * answer. */
bool config_space_off(int fd, uint64_t offset_bytes);

#endif
