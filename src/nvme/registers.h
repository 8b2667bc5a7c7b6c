/* SPDX-License-Identifier: Apache-2.0 */
/* Controller registers, opcodes, features and statuses. Section numbers are those of the NVM Express base
 * specification 1.4. */
#ifndef SPATE_NVME_REGISTERS_H
#define SPATE_NVME_REGISTERS_H

#include <stdint.h>

/* Controller registers (3.1). */
enum {
  NVME_CAP = 0x00,
  NVME_VS = 0x08,
  NVME_CC = 0x14,
  NVME_CSTS = 0x1c,
  NVME_NSSR = 0x20,
  NVME_AQA = 0x24,
  NVME_ASQ = 0x28,
  NVME_ACQ = 0x30,
  NVME_DOORBELLS = 0x1000,
};

#define NVME_CC_ENABLE          UINT32_C(1)
#define NVME_CC_SHUTDOWN_NORMAL (UINT32_C(1) << 14)
/* IOCQES 4: entries of 16 bytes. IOSQES 6: entries of 64 bytes. MPS 0: 4 KiB pages. AMS 0: round robin. CSS 0: NVM
 * command set. */
#define NVME_CC_START (UINT32_C(4) << 20 | UINT32_C(6) << 16 | NVME_CC_ENABLE)

#define NVME_CSTS_READY             UINT32_C(1)
#define NVME_CSTS_FATAL             UINT32_C(2)
#define NVME_CSTS_SHUTDOWN_MASK     UINT32_C(0xc)
#define NVME_CSTS_SHUTDOWN_COMPLETE UINT32_C(0x8)
#define NVME_ALL_ONES               UINT32_C(0xffffffff) /* returned for a device that is off the bus */

#define NVME_AQA_BOTH(entries) (((entries)-1u) << 16 | ((entries)-1u)) /* ACQS and ASQS */

enum nvme_admin_opcode {
  NVME_DELETE_SQ = 0x00,
  NVME_CREATE_SQ = 0x01,
  NVME_GET_LOG = 0x02,
  NVME_DELETE_CQ = 0x04,
  NVME_CREATE_CQ = 0x05,
  NVME_IDENTIFY = 0x06,
  NVME_ABORT = 0x08,
  NVME_SET_FEATURES = 0x09,
  NVME_GET_FEATURES = 0x0a,
  NVME_ASYNC_EVENT = 0x0c,
  NVME_NAMESPACE_MANAGEMENT = 0x0d,
  NVME_FIRMWARE_DOWNLOAD = 0x11,
  NVME_NAMESPACE_ATTACHMENT = 0x15,
  NVME_DIRECTIVE_SEND = 0x19,
  NVME_DIRECTIVE_RECEIVE = 0x1a,
  NVME_VIRTUALIZATION = 0x1c,
  NVME_DOORBELL_BUFFER = 0x7c,
  NVME_FORMAT = 0x80,
  NVME_SECURITY_SEND = 0x81,
  NVME_SECURITY_RECEIVE = 0x82,
  NVME_SANITIZE = 0x84,
};

enum nvme_opcode {
  NVME_FLUSH = 0,
  NVME_WRITE = 1,
  NVME_READ = 2,
  NVME_COMPARE = 5,
  NVME_WRITE_ZEROES = 8,
  NVME_DATASET = 9
};

enum nvme_feature {
  NVME_FEATURE_POWER = 0x02,
  NVME_FEATURE_WRITE_CACHE = 0x06,
  NVME_FEATURE_QUEUES = 0x07,
  NVME_FEATURE_EVENTS = 0x0b,
  NVME_FEATURE_AUTONOMOUS_POWER = 0x0c,
  NVME_FEATURE_HOST_BUFFER = 0x0d,
  NVME_FEATURE_TIMESTAMP = 0x0e,
  NVME_FEATURE_KEEP_ALIVE = 0x0f,
  NVME_FEATURE_HOST_BEHAVIOR = 0x16,
};

enum nvme_identify { NVME_IDENTIFY_NAMESPACE = 0, NVME_IDENTIFY_CONTROLLER = 1, NVME_IDENTIFY_ACTIVE = 2 };

#define NVME_LOG_HEALTH     0x02u
#define NVME_ZERO_CELSIUS_K 273u
#define NVME_LOG_BYTES      512u
#define NVME_ALL_NAMESPACES UINT32_C(0xffffffff)
#define NVME_ADMIN_ENTRIES  64u /* a page of submission entries: some drives do not work with fewer */

/* Status field without the phase bit (4.6.1). */
#define NVME_STATUS_CODE(status)  ((status)&0x7ffu) /* code and type */
#define NVME_STATUS_TYPE(status)  (((status) >> 8) & 7u)
#define NVME_STATUS_DELAY(status) (((status) >> 11) & 3u) /* CRD */
#define NVME_STATUS_DO_NOT_RETRY  0x4000u
#define NVME_STATUS_MEDIA         2u
#define NVME_STATUS_ABORTED       0x007u
#define NVME_STATUS_NAMESPACE     0x00bu /* Invalid Namespace or Format */
#define NVME_STATUS_NOT_READY     0x082u /* Namespace Not Ready */

#define NVME_STALE_FATAL_MS 10u /* CSTS.CFS of before was seen 1 ms after CC.EN was set */

#endif
