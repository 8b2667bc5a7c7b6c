/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of queue entries (4.2, 4.6) and of the dwords in them that several commands share. Entries are stored and
 * read as they are: both sides are little endian.
 */
#ifndef SPATE_NVME_ENTRIES_H
#define SPATE_NVME_ENTRIES_H

#include <stdint.h>

/* A submission entry is stored by quadwords. The ones without a name are never written and stay zero. */
enum nvme_sqe_qword {
  NVME_SQE_CDW0_NSID = 0, /* opcode in bits 7:0, command identifier in bits 31:16, namespace in bits 63:32 */
  NVME_SQE_PRP1 = 3,
  NVME_SQE_PRP2 = 4,
  NVME_SQE_CDW10_11 = 5,
  NVME_SQE_SLBA = NVME_SQE_CDW10_11, /* of Read, Write and Write Zeroes */
  NVME_SQE_CDW12_13 = 6,
  NVME_SQE_NLB = NVME_SQE_CDW12_13, /* of the same: bits 15:0, blocks less one */
  NVME_SQE_CDW14_15 = 7,
  NVME_SQE_QWORDS = 8,
};

#define NVME_NLB_FUA          (UINT64_C(1) << 30) /* in the quadword of NLB */
#define NVME_CDW11_DEALLOCATE (UINT64_C(4) << 32) /* Dataset Management (6.7), in the quadword CDW10_11 */

/* A range of Dataset Management: context attributes in bits 31:0, length in bits 63:32; then SLBA. */
enum nvme_range_qword { NVME_RANGE_ATTRIBUTES_LENGTH = 0, NVME_RANGE_SLBA = 1, NVME_RANGE_QWORDS = 2 };

#define NVME_RANGE_LENGTH(blocks) ((uint64_t)(blocks) << 32)

static inline uint64_t nvme_sqe_cdw0_nsid(uint32_t opcode, uint32_t cid, uint32_t nsid) {
  return (uint64_t)nsid << 32 | cid << 16 | opcode;
}

static inline uint32_t nvme_sqe_cid(uint64_t cdw0_nsid) { return (uint16_t)(cdw0_nsid >> 16); }

/* A completion entry is read by dwords on the admin queue, by quadwords on the data path. */
enum nvme_cqe_dword { NVME_CQE_DW0 = 0, NVME_CQE_DW2 = 2, NVME_CQE_DW3 = 3, NVME_CQE_DWORDS = 4 };
enum nvme_cqe_qword { NVME_CQE_DW2_3 = 1, NVME_CQE_QWORDS = 2 };

#define NVME_CQE_PHASE (UINT64_C(1) << 48) /* in DW2_3 */

static inline uint32_t nvme_cqe_dw3(uint64_t dw2_3) { return (uint32_t)(dw2_3 >> 32); }

static inline uint32_t nvme_cqe_sqid(uint32_t dw2) { return dw2 >> 16; }

static inline uint32_t nvme_cqe_cid(uint32_t dw3) { return dw3 & 0xffffu; }

static inline uint32_t nvme_cqe_phase(uint32_t dw3) { return dw3 >> 16 & 1u; }

/* The status field without the phase bit (4.6.1). */
static inline uint16_t nvme_cqe_status(uint32_t dw3) { return (uint16_t)(dw3 >> 17); }

/* SQID in bits 15:0, the command identifier in bits 31:16, phase and status above: the command identifier is where
 * CDW0_NSID of a submission entry has it. */
static inline uint64_t nvme_cqe_from_sqid(uint64_t dw2_3) { return dw2_3 >> 16; }

/* The slot of a command is in bits 7:0 of its identifier. */
static inline uint32_t nvme_cid_slot(uint32_t cid) { return cid & 0xffu; }

/* Dwords of admin commands. */
static inline uint32_t nvme_abort_cdw10(uint32_t sqid, uint32_t cid) { return cid << 16 | sqid; }

#define NVME_PRIORITY_MEDIUM (2u << 1) /* QPRIO, in dword 11 of Create I/O Submission Queue (5.4) */

static inline uint32_t nvme_create_queue_cdw10(uint32_t qid, uint32_t entries) { return (entries - 1u) << 16 | qid; }

/* NUMDL, with RAE and LSP 0, and LID. */
static inline uint32_t nvme_get_log_cdw10(uint32_t page, uint32_t bytes) { return (bytes / 4u - 1u) << 16 | page; }

/* Number of Queues: NCQR and NSQR. */
static inline uint32_t nvme_queue_count_cdw11(uint32_t pairs) { return (pairs - 1u) << 16 | (pairs - 1u); }

#endif
