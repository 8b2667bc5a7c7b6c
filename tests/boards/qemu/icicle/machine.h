/* SPDX-License-Identifier: Apache-2.0 */
/* Hart 0 is the E51, which has no supervisor mode. */
#define MACHINE_HART 1
