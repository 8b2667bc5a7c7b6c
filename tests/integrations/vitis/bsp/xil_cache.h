/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XIL_CACHE_H
#define XIL_CACHE_H

void Xil_DCacheFlush(void);

#endif
