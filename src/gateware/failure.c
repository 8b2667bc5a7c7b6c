/* SPDX-License-Identifier: Apache-2.0 */
/* Why the core could not bring its drive up, as an error of the library. The names are those of
 * rtl/core/spate_microcode.asm.
 */
#include "internal.h"

static const uint8_t errors[] = {
    [0] = SPATE_E_GONE,          /* ErrNone */
    [1] = SPATE_E_GONE,          /* ErrAccess */
    [2] = SPATE_E_LINK_DOWN,     /* ErrLink */
    [3] = SPATE_E_NO_DEVICE,     /* ErrNoDevice */
    [4] = SPATE_E_WRONG_CLASS,   /* ErrClass */
    [5] = SPATE_E_TOPOLOGY,      /* ErrHeader */
    [6] = SPATE_E_WINDOW,        /* ErrBarType */
    [7] = SPATE_E_WINDOW,        /* ErrBarSize */
    [8] = SPATE_E_UNSUPPORTED,   /* ErrCapability */
    [9] = SPATE_E_UNSUPPORTED,   /* ErrVersion */
    [10] = SPATE_E_COMMAND_SET,  /* ErrCommandSet */
    [11] = SPATE_E_PAGE_SIZE,    /* ErrPageSize */
    [12] = SPATE_E_UNSUPPORTED,  /* ErrQueueSize */
    [13] = SPATE_E_TIMEOUT,      /* ErrDisable */
    [14] = SPATE_E_TIMEOUT,      /* ErrQuiet */
    [15] = SPATE_E_TIMEOUT,      /* ErrEnable */
    [16] = SPATE_E_FATAL,        /* ErrFatal */
    [17] = SPATE_E_TIMEOUT,      /* ErrAdminDeadline */
    [18] = SPATE_E_COMMAND,      /* ErrIdentify */
    [19] = SPATE_E_UNSUPPORTED,  /* ErrEntrySize */
    [20] = SPATE_E_NO_NAMESPACE, /* ErrNoNamespace */
    [21] = SPATE_E_BLOCK_SIZE,   /* ErrBlockSize */
    [22] = SPATE_E_METADATA,     /* ErrMetadata */
    [23] = SPATE_E_UNSUPPORTED,  /* ErrTooLarge */
    [24] = SPATE_E_COMMAND,      /* ErrFeatures */
    [25] = SPATE_E_COMMAND,      /* ErrCreateQueue */
    [26] = SPATE_E_LINK_DOWN,    /* ErrLinkLost */
    [27] = SPATE_E_TIMEOUT,      /* ErrDataPath */
    [28] = SPATE_E_TIMEOUT,      /* ErrSideDeadline */
    [29] = SPATE_E_GONE,         /* ErrShutDown */
    [30] = SPATE_E_TIMEOUT,      /* ErrShutdownDeadline */
    [31] = SPATE_E_GONE,         /* ErrOtherDrive */
};

void spate_gateware_failure(const struct spate_gateware *gateware, struct spate_gateware_failure *failure) {
  const uint32_t bring_up = spate_gateware_read(gateware, SPATE_REGS_BRING_UP);

  *failure = (struct spate_gateware_failure){0};
  failure->error = (uint8_t)((bring_up & SPATE_REGS_BRING_UP_ERROR) >> SPATE_REGS_BRING_UP_ERROR_SHIFT);
  if (failure->error == 0) return;
  failure->step = (uint8_t)(bring_up & SPATE_REGS_BRING_UP_STEP);
  failure->detail = spate_gateware_read(gateware, SPATE_REGS_ERROR_DETAIL);
}

enum spate_error spate_gateware_failure_error(const struct spate_gateware *gateware) {
  struct spate_gateware_failure failure;

  spate_gateware_failure(gateware, &failure);
  return failure.error < sizeof errors ? (enum spate_error)errors[failure.error] : SPATE_E_GONE;
}
