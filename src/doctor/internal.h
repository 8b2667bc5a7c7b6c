/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this folder. */
#ifndef SPATE_DOCTOR_INTERNAL_H
#define SPATE_DOCTOR_INTERNAL_H

#include <spate/doctor.h>

/*
 * Texts have placeholders for the values of a finding. A digit is an index into its numbers:
 *
 *   {0}   decimal            {0x}  hexadecimal       {0b}  bytes, with a unit     {0s}  link speed
 *   {0d}  power state        {0a}  ASPM states       {0c}  correctable errors     {0u}  uncorrectable errors
 *   {0e}  an error's sentence  {n}   its name            {0|lane}  decimal, and the noun: 1 lane, 2 lanes
 *   {0q}  what a drive needs (nvme/quirks.h)
 */
struct doctor_text {
  const char *name;
  enum spate_doctor_severity severity;
  const char *problem, *advice;
};

/* sentence.c: writes a text with the values of a finding, or with "..." (NULL). Returns `to`. */
char *spate_doctor_write(char *to, size_t bytes, const char *text, const struct spate_doctor_finding *finding);

/* texts.c. Also for invalid codes. Never NULL. */
const struct doctor_text *spate_doctor_text_of(enum spate_doctor_code code);

/* A bit that is not used in Correctable and Uncorrectable Error Status: only Device Status shows that there were
 * errors.
 */
#define ERROR_KIND_UNKNOWN UINT32_C(0x80000000)

/* Values of spate_doctor_ltssm_rank(). */
enum {
  DOCTOR_RANK_OFF,
  DOCTOR_RANK_DETECT,
  DOCTOR_RANK_POLLING,
  DOCTOR_RANK_CONFIGURATION,
  DOCTOR_RANK_RECOVERY,
  DOCTOR_RANK_LINK
};

/* host.c: clears the errors that these functions have recorded (each bit by a 1), and those that happened since. An
 * error of the same kind is then seen again. For boards: an operating system does this itself. */
void spate_doctor_host_clear(struct spate_pcie_host *host, const struct spate_doctor_function *path, unsigned count);

/* header.c: command register, addresses, bus numbers and power of the function at `index` of the path. */
void spate_doctor_judge_header(struct spate_doctor *doctor, const struct spate_doctor_function *path, unsigned count,
                               unsigned index, bool in_use);
/* drive.c: whether the drive throttled itself during a transfer. */
bool spate_doctor_judge_throttled(struct spate_doctor *doctor, const struct spate_nvme_throttling *before,
                                  const struct spate_nvme_throttling *after);
/* links.c: the link above the function at `index`, and its payload sizes. */
void spate_doctor_judge_link(struct spate_doctor *doctor, const struct spate_doctor_function *path, unsigned index);
void spate_doctor_judge_payload(struct spate_doctor *doctor, const struct spate_doctor_function *path, unsigned count);

#endif
