/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what is wrong between the root port and the namespace. Each finding has a sentence about the problem, and one
 * about what to do.
 *
 * The caller gathers facts: about each function on the path, from the root port down to the drive; about the
 * controller's registers; and from the pages of the drive. The functions here judge the facts, and report findings
 * through a callback. They change nothing, never wait, and keep no state. Configuration space is read through a
 * callback (ECAM on a board, sysfs on Linux), so that both get the same judgement and the same texts.
 *
 * Facts may be missing: what is not known is not judged. Values from a device are only compared, and never used as
 * addresses or lengths.
 */
#ifndef SPATE_DOCTOR_H
#define SPATE_DOCTOR_H

#include <spate/nvme.h>
#include <spate/pcie.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How bad a finding is. */
enum spate_doctor_severity {
  SPATE_DOCTOR_NOTE,    /* worth knowing; nothing is wrong */
  SPATE_DOCTOR_WARNING, /* it works, but more slowly than it could, or may fail soon */
  SPATE_DOCTOR_ERROR,   /* it does not work, or data are at risk */
  SPATE_DOCTOR_UNDONE,  /* not a finding: a check could not be made; the advice says how to make it */
};

/* In the order of the path. The texts in src/doctor/texts.c show the meaning of a finding's numbers. */
enum spate_doctor_code {
  /* links */
  SPATE_DOCTOR_SLOT_EMPTY,
  SPATE_DOCTOR_LINK_DOWN,
  SPATE_DOCTOR_LINK_TRAINING,
  SPATE_DOCTOR_DEVICE_SILENT,
  SPATE_DOCTOR_LINK_SLOW,
  SPATE_DOCTOR_LINK_SPEED_LIMITED,
  SPATE_DOCTOR_LINK_NARROW,
  SPATE_DOCTOR_PORT_SLOWER,
  SPATE_DOCTOR_PORT_NARROWER,
  SPATE_DOCTOR_PAYLOAD_UNSUPPORTED,
  SPATE_DOCTOR_PAYLOAD_MISMATCH,
  SPATE_DOCTOR_PAYLOAD_SMALL,
  SPATE_DOCTOR_READ_REQUEST_RESERVED,
  SPATE_DOCTOR_READ_REQUEST_SMALL,
  SPATE_DOCTOR_ASPM_ON,

  /* configuration space */
  SPATE_DOCTOR_FUNCTION_SILENT,
  SPATE_DOCTOR_WRONG_CLASS,
  SPATE_DOCTOR_KNOWN_DRIVE,
  SPATE_DOCTOR_POWER_STATE,
  SPATE_DOCTOR_BUS_NUMBERS,
  SPATE_DOCTOR_MEMORY_OFF,
  SPATE_DOCTOR_BUS_MASTER_OFF,
  SPATE_DOCTOR_BAR_FIXED,
  SPATE_DOCTOR_BAR_UNASSIGNED,
  SPATE_DOCTOR_APERTURE_SMALL,
  SPATE_DOCTOR_BAR_OUTSIDE_WINDOW,

  /* errors on the path */
  SPATE_DOCTOR_CORRECTED_BEFORE,
  SPATE_DOCTOR_UNCORRECTED_BEFORE,
  SPATE_DOCTOR_UNSUPPORTED_BEFORE,
  SPATE_DOCTOR_CORRECTED_DURING,
  SPATE_DOCTOR_UNCORRECTED_DURING,
  SPATE_DOCTOR_TRANSFER_FAILED,

  /* controller */
  SPATE_DOCTOR_REGISTERS_GONE,
  SPATE_DOCTOR_CONTROLLER_FATAL,
  SPATE_DOCTOR_CONTROLLER_NOT_READY,
  SPATE_DOCTOR_CONTROLLER_SHUT_DOWN,
  SPATE_DOCTOR_CONTROLLER_BUSY,
  SPATE_DOCTOR_CONTROLLER_DEAD,
  SPATE_DOCTOR_COMMAND_SET,
  SPATE_DOCTOR_PAGE_SIZE,

  /* drive */
  SPATE_DOCTOR_SPARE_LOW,
  SPATE_DOCTOR_UNRELIABLE,
  SPATE_DOCTOR_READ_ONLY,
  SPATE_DOCTOR_BACKUP_FAILED,
  SPATE_DOCTOR_WORN,
  SPATE_DOCTOR_WEARING,
  SPATE_DOCTOR_MEDIA_ERRORS,
  SPATE_DOCTOR_TOO_HOT,
  SPATE_DOCTOR_HOT,
  SPATE_DOCTOR_TEMPERATURE_WARNING,
  SPATE_DOCTOR_THROTTLED,
  SPATE_DOCTOR_THROTTLED_BEFORE,

  /* namespace */
  SPATE_DOCTOR_NO_NAMESPACE,
  SPATE_DOCTOR_NAMESPACE_METADATA,
  SPATE_DOCTOR_NAMESPACE_FORMAT,

  /* Linux */
  SPATE_DOCTOR_NO_DRIVE,
  SPATE_DOCTOR_NO_DRIVER,
  SPATE_DOCTOR_FOREIGN_DRIVER,
  SPATE_DOCTOR_TAKEN,
  SPATE_DOCTOR_NOT_COHERENT,
  SPATE_DOCTOR_COHERENCY_UNKNOWN,
  SPATE_DOCTOR_IOMMU_NONE,
  SPATE_DOCTOR_IOMMU_ACTIVE,
  SPATE_DOCTOR_IOMMU_SHARED,
  SPATE_DOCTOR_VFIO_MISSING,
  SPATE_DOCTOR_VFIO_FORBIDDEN,
  SPATE_DOCTOR_MEMORY_LOCK_SMALL,
  SPATE_DOCTOR_HUGE_PAGES_MISSING,
  SPATE_DOCTOR_IO_URING_MISSING,
  SPATE_DOCTOR_IO_URING_FORBIDDEN,

  /* boards without an operating system: spate/checkup.h */
  SPATE_DOCTOR_CLOCK_WRONG,
  SPATE_DOCTOR_CLOCK_RATE,
  SPATE_DOCTOR_NO_BRIDGE,
  SPATE_DOCTOR_NOT_ENUMERATED,
  SPATE_DOCTOR_LEFT_OUT,
  SPATE_DOCTOR_DRIVE_NUMBER,
  SPATE_DOCTOR_LINK_LATE,
  SPATE_DOCTOR_LINK_STATE_ZERO,
  SPATE_DOCTOR_LINK_STATE_UNKNOWN,
  SPATE_DOCTOR_LINK_NO_RECEIVER,
  SPATE_DOCTOR_LINK_POLLING,
  SPATE_DOCTOR_LINK_CONFIGURATION,
  SPATE_DOCTOR_LINK_RECOVERY,
  SPATE_DOCTOR_LINK_DISABLED,
  SPATE_DOCTOR_LANES_REVERSED,
  SPATE_DOCTOR_WINDOW_TRANSLATED,
  SPATE_DOCTOR_REGISTERS_UNREACHED,
  SPATE_DOCTOR_INTERRUPTS_ON,
  SPATE_DOCTOR_POLLED,
  SPATE_DOCTOR_QUEUE_MEMORY_UNREACHED,
  SPATE_DOCTOR_QUEUE_MEMORY_CACHED,
  SPATE_DOCTOR_COMMAND_REFUSED,
  SPATE_DOCTOR_DATA_NOT_COHERENT,
  SPATE_DOCTOR_DATA_UNREACHED,
  SPATE_DOCTOR_DATA_UNSEEN,
  SPATE_DOCTOR_DATA_MISSING,
  SPATE_DOCTOR_STORES_UNSEEN,
  SPATE_DOCTOR_NOT_STARTED,
  SPATE_DOCTOR_WRITE_FAILED,
  SPATE_DOCTOR_DATA_DIFFER,
  SPATE_DOCTOR_NOT_SHUT_DOWN,

  /* not done */
  SPATE_DOCTOR_UNDONE_CONFIGURATION,
  SPATE_DOCTOR_UNDONE_REGISTERS,
  SPATE_DOCTOR_UNDONE_DRIVE,
  SPATE_DOCTOR_UNDONE_TRANSFER,
  SPATE_DOCTOR_UNDONE_STEPS,
  SPATE_DOCTOR_UNDONE_CLOCK,
  SPATE_DOCTOR_UNDONE_COMPARE,

  SPATE_DOCTOR_COUNT
};

/* ---- facts ---- */

/* Errors that a function has recorded since the bits were last cleared, and counts of errors. */
struct spate_doctor_errors {
  bool known;               /* at least one of the following is known */
  uint8_t device_status;    /* Device Status (7.5.3.5): 0 corrected, 1 not fatal, 2 fatal, 3 unsupported request */
  uint32_t correctable;     /* Correctable Error Status (7.8.4.5) */
  uint32_t uncorrectable;   /* Uncorrectable Error Status (7.8.4.2) */
  uint64_t corrected_count; /* counted by the operating system, if it does so */
  uint64_t uncorrected_count;
};

/* What kind of function it is, from its PCI Express capability. */
enum spate_doctor_kind {
  SPATE_DOCTOR_KIND_UNKNOWN, /* its PCI Express capability could not be read, or it has none */
  SPATE_DOCTOR_ENDPOINT,
  SPATE_DOCTOR_INTEGRATED, /* an endpoint without a link */
  SPATE_DOCTOR_ROOT_PORT,
  SPATE_DOCTOR_UPSTREAM_PORT,
  SPATE_DOCTOR_DOWNSTREAM_PORT,
};

/* A function on the path. Values that were not read are 0. */
struct spate_doctor_function {
  struct spate_pcie_address address;

  /* the header */
  bool header_known;
  bool silent; /* its vendor and device id read all ones, or zeros */
  bool bridge;
  uint16_t vendor_id, device_id;
  uint16_t command;
  uint32_t class_code;                           /* 24 bits */
  uint64_t bar0;                                 /* the bus address; 0: not assigned. Not for bridges */
  uint64_t bar0_bytes;                           /* from the enumeration or the operating system; 0: not known */
  bool bar0_fixed;                               /* it kept none of the ones that enumeration wrote to it */
  uint8_t secondary_bus, subordinate_bus;        /* of a bridge */
  struct spate_pcie_window memory, prefetchable; /* of a bridge. bytes 0: closed */

  /* PCI Express capability */
  enum spate_doctor_kind kind;
  struct spate_pcie_link link; /* speed_max and width_max are those of this function alone; speed 0: not known */
  bool link_reported;          /* a port that reports whether its link is up (link.up) or in training */
  bool link_training;
  bool slot, present; /* the port has a slot, and a device is in it */
  uint8_t target_speed;
  uint8_t aspm; /* the states that are turned on: 1 L0s, 2 L1 */
  uint16_t payload_bytes, payload_bytes_max;
  uint8_t read_request_code; /* 128 << code bytes */

  bool power_known;
  uint8_t power_state; /* 0 … 3: D0 … D3hot */
  bool msi, msix;      /* interrupts that are turned on */
  struct spate_doctor_errors errors;
};

/* NVMe 1.4, 3.1. Each reads as all ones if the drive is gone. */
struct spate_doctor_registers {
  uint64_t capabilities;
  uint32_t configuration, status;
};

/* What the drive reported before and after a transfer. throttling_after is NULL if there was no transfer. */
struct spate_doctor_drive {
  const struct spate_nvme_identity *identity;
  const struct spate_nvme_health *health;
  const struct spate_nvme_throttling *throttling, *throttling_after;
};

/* ---- findings ---- */

#define SPATE_DOCTOR_NUMBERS 4u

/* A finding. What it points to is valid during the call of `found`. */
struct spate_doctor_finding {
  enum spate_doctor_code code;
  const struct spate_doctor_function *function; /* where; NULL: the drive itself, or the machine */
  uint64_t numbers[SPATE_DOCTOR_NUMBERS];
  const char *name; /* for the texts, for example of a driver; NULL: none */
};

/* The receiver of findings. `worst` is the worst severity so far; spate_doctor_report() raises it. */
struct spate_doctor {
  void (*found)(void *context, const struct spate_doctor_finding *finding);
  void *context;
  enum spate_doctor_severity worst; /* never UNDONE */
};

/* Raise `worst` to the severity of this finding, and pass the finding to `found`. */
void spate_doctor_report(struct spate_doctor *doctor, const struct spate_doctor_finding *finding);

/* The code's name without the prefix, e.g. "LINK_SLOW". Never NULL. */
const char *spate_doctor_name(enum spate_doctor_code code);
/* The severity that every finding of this code has. */
enum spate_doctor_severity spate_doctor_severity_of(enum spate_doctor_code code);
/* "note", "warning", "error", "not done". */
const char *spate_doctor_severity_name(enum spate_doctor_severity severity);

#define SPATE_DOCTOR_SENTENCE_BYTES 512u

/* Write the problem: a sentence, NUL-terminated, truncated to `bytes`. Returns `to`. Without a finding (NULL) numbers
 * and names are "...". */
char *spate_doctor_problem(char *to, size_t bytes, enum spate_doctor_code code,
                           const struct spate_doctor_finding *finding);
/* The same for the advice. */
char *spate_doctor_advice(char *to, size_t bytes, enum spate_doctor_code code,
                          const struct spate_doctor_finding *finding);

/* ---- gathering ---- */

/* The configuration space of a function: `read` returns the dword at a multiple of 4 below `bytes`. `bytes` is 4096,
 * 256, or 64 if capabilities cannot be read (Linux without root). */
struct spate_doctor_space {
  uint32_t (*read)(const void *context, unsigned offset);
  const void *context;
  unsigned bytes;
};

/* Read all facts from configuration space. At most 700 reads, whatever the contents are. */
void spate_doctor_function_read(struct spate_doctor_function *function, struct spate_pcie_address address,
                                const struct spate_doctor_space *space);

#define SPATE_DOCTOR_PATH_MAX (SPATE_PCIE_BRIDGES_MAX + 1u)

/* The same for a whole path on a board, from the first bridge down to this device, which spate_pcie_enumerate() found.
 * Returns the number of functions. Call it before and after a transfer. */
unsigned spate_doctor_host_read(struct spate_pcie_host *host, const struct spate_pcie_device *device,
                                struct spate_doctor_function path[SPATE_DOCTOR_PATH_MAX]);

/* ---- judging ---- */

/*
 * Judge the `count` functions from the root port (or the first function that is known) down to the drive. `in_use`: a
 * driver uses the drive, so that memory decoding and bus mastering have to be on.
 */
void spate_doctor_judge_path(struct spate_doctor *doctor, const struct spate_doctor_function *path, unsigned count,
                             bool in_use);
/* Judge a port with nothing below it. */
void spate_doctor_judge_port(struct spate_doctor *doctor, const struct spate_doctor_function *port);

/* Judge the interrupts of a drive that a program polls. */
void spate_doctor_judge_interrupts(struct spate_doctor *doctor, const struct spate_doctor_function *drive);

/* How a bridge numbers the states of its link (spate_pcie_phy.ltssm). */
enum spate_doctor_ltssm {
  SPATE_DOCTOR_LTSSM_PG213, /* UltraScale, UltraScale+, Versal (PG156, PG213, PG343): L0 is 0x10 */
  SPATE_DOCTOR_LTSSM_PG054, /* 7 series, Zynq-7000 (PG054): L0 is 0x16 */
};
/* The name in the base specification (4.2.5), such as "Polling.Active"; "unknown" if the number is reserved. */
const char *spate_doctor_ltssm_name(enum spate_doctor_ltssm numbers, uint8_t state);
/* How far link training has come in this state: 1 Detect, 2 Polling, 3 Configuration, 4 Recovery, 5 L0 and the states
 * of power management; 0: disabled, in loopback or in reset, or not known. From 2 on, the port has detected a receiver
 * on a lane. */
unsigned spate_doctor_ltssm_rank(enum spate_doctor_ltssm numbers, uint8_t state);
/* Judge the link of the bridge. While a link does not come up, its state changes all the time: `phy->ltssm` should be
 * the one of the highest rank that was seen. */
void spate_doctor_judge_phy(struct spate_doctor *doctor, const struct spate_pcie_phy *phy,
                            enum spate_doctor_ltssm numbers);

/* Judge the errors that the functions of the path had recorded before a transfer. */
void spate_doctor_judge_errors_before(struct spate_doctor *doctor, const struct spate_doctor_function *path,
                                      unsigned count);
/* Judge the errors that they recorded during it. `before` and `after` are the same functions, read twice. */
void spate_doctor_judge_errors_during(struct spate_doctor *doctor, const struct spate_doctor_function *before,
                                      const struct spate_doctor_function *after, unsigned count);

/* Judge the controller's registers. `in_use`: a driver uses the drive, so that the controller has to be ready. */
void spate_doctor_judge_registers(struct spate_doctor *doctor, const struct spate_doctor_registers *registers,
                                  bool in_use);
/* Judge the drive's health, temperatures, and throttling. What is NULL is not judged. */
void spate_doctor_judge_drive(struct spate_doctor *doctor, const struct spate_doctor_drive *drive);
/* Judge the active namespaces. A drive without any is a finding, too. */
void spate_doctor_judge_namespaces(struct spate_doctor *doctor, const struct spate_nvme_namespace *namespaces,
                                   unsigned count);

#ifdef __cplusplus
}
#endif
#endif
