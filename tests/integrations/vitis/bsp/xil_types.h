/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XIL_TYPES_H
#define XIL_TYPES_H

#include <stdint.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef uintptr_t UINTPTR;
typedef intptr_t INTPTR;

#endif
