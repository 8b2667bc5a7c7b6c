/* SPDX-License-Identifier: Apache-2.0 */
/* Admin commands (5): queues, Abort and Format NVM. The others are in their own files. */
#include "drive_internal.h"

#define CONTIGUOUS 1u
#define FORMAT_PS  (100u * SIM_PS_PER_MS)
#define BROADCAST  UINT32_C(0xffffffff)

static uint16_t refuse(struct sim_drive *drive, const struct drive_command *command, uint16_t status, const char *why) {
  sim_violate(drive->sim, "admin command %02x, dwords 10 and 11 %08x %08x: %s", command->dwords[0] & 0xffu,
              command->dwords[10], command->dwords[11], why);
  return status;
}

/* ---- queues ---- */

static uint16_t id_of(const struct drive_command *command) { return (uint16_t)command->dwords[10]; }

static bool is_id(const struct sim_drive *drive, uint16_t id) { return id != 0 && id <= drive->options.queue_pairs; }

/* The rules that submission and completion queues share. */
static uint16_t check_ring(struct sim_drive *drive, const struct drive_command *command) {
  const uint32_t last = command->dwords[10] >> 16;
  const uint32_t stated = drive->registers.cap & 0xffffu; /* 0: a drive that states nothing, and has 64 entries */

  if (last == 0 || last > (stated == 0 ? 63u : stated))
    return refuse(drive, command, STATUS_QUEUE_SIZE, "fewer than two entries, or more than CAP.MQES");
  if (drive_qword(command, 6) % SIM_PAGE != 0)
    return refuse(drive, command, STATUS_PRP_OFFSET, "a queue that is not page aligned");
  if ((command->dwords[11] & CONTIGUOUS) == 0)
    return refuse(drive, command, STATUS_FIELD, "a queue that is not contiguous, while CAP.CQR is 1");
  return STATUS_OK;
}

static uint16_t create_cq(struct sim_drive *drive, const struct drive_command *command) {
  const uint16_t id = id_of(command);

  if (!is_id(drive, id) || drive->cq[id].entries != 0)
    return refuse(drive, command, STATUS_QUEUE_ID, "an identifier that is out of range or in use");
  const uint16_t status = check_ring(drive, command);
  if (status != STATUS_OK) return status;
  if ((command->dwords[11] & 0xfffcu) != 0) return refuse(drive, command, STATUS_FIELD, "reserved bits");
  if (command->dwords[11] >> 16 != 0)
    return refuse(drive, command, STATUS_VECTOR, "an interrupt vector, but the drive has no MSI-X");
  drive->cq[id] =
      (struct drive_cq){.address = drive_qword(command, 6), .entries = (command->dwords[10] >> 16) + 1u, .phase = true};
  drive_check_phases(drive, &drive->cq[id], command->submitted);
  return STATUS_OK;
}

static uint16_t create_sq(struct sim_drive *drive, const struct drive_command *command) {
  const uint16_t id = id_of(command), cq = (uint16_t)(command->dwords[11] >> 16);

  if (!is_id(drive, cq) || drive->cq[cq].entries == 0)
    return refuse(drive, command, STATUS_CQ_INVALID, "a submission queue before its completion queue");
  if (!is_id(drive, id) || drive->sq[id].entries != 0)
    return refuse(drive, command, STATUS_QUEUE_ID, "an identifier that is out of range or in use");
  const uint16_t status = check_ring(drive, command);
  if (status != STATUS_OK) return status;
  if ((command->dwords[11] & 0xfff8u) != 0) return refuse(drive, command, STATUS_FIELD, "reserved bits");
  drive->sq[id] =
      (struct drive_sq){.address = drive_qword(command, 6), .entries = (command->dwords[10] >> 16) + 1u, .cq = cq};
  return STATUS_OK;
}

static uint16_t delete_sq(struct sim_drive *drive, const struct drive_command *command) {
  const uint16_t id = id_of(command);

  if (!is_id(drive, id) || drive->sq[id].entries == 0)
    return refuse(drive, command, STATUS_QUEUE_ID, "there is no such submission queue");
  drive_drop_queue(drive, id);
  drive->sq[id] = (struct drive_sq){0};
  return STATUS_OK;
}

static uint16_t delete_cq(struct sim_drive *drive, const struct drive_command *command) {
  const uint16_t id = id_of(command);

  if (!is_id(drive, id) || drive->cq[id].entries == 0)
    return refuse(drive, command, STATUS_QUEUE_ID, "there is no such completion queue");
  for (unsigned i = 1; i <= drive->options.queue_pairs; i++)
    if (drive->sq[i].entries != 0 && drive->sq[i].cq == id)
      return refuse(drive, command, STATUS_QUEUE_DELETION, "a completion queue before its submission queue");
  drive->cq[id] = (struct drive_cq){0};
  return STATUS_OK;
}

/* ---- abort ---- */

/* Aborts only a command that a fault has stalled. All others are too far in progress, which the specification
 * allows. */
static uint16_t abort_command(struct sim_drive *drive, struct drive_command *command) {
  const uint16_t queue = id_of(command), id = (uint16_t)(command->dwords[10] >> 16);

  command->result = 1;
  if (queue > drive->options.queue_pairs || drive->sq[queue].entries == 0)
    return refuse(drive, command, STATUS_FIELD, "there is no such submission queue");
  struct drive_command *victim = drive_find(drive, queue, id);
  if (victim == NULL || !victim->stalled) return STATUS_OK;
  victim->stalled = false;
  command->result = 0;
  drive_complete(drive, victim, STATUS_ABORTED);
  return STATUS_OK;
}

/* ---- format ---- */

static uint16_t format(struct sim_drive *drive, struct drive_command *command) {
  const uint32_t index = command->dwords[10] & 0xfu, nsid = command->dwords[1];
  const uint32_t format_dword = spate_get32(drive->identify_namespace + 128 + (size_t)4 * index);
  const uint8_t shift = (uint8_t)(format_dword >> 16);

  if (drive_sanitize_status(drive) != STATUS_OK) return drive_sanitize_status(drive);
  if (nsid != drive->namespaces[0] && nsid != BROADCAST)
    return refuse(drive, command, STATUS_NAMESPACE, "there is no such namespace");
  if ((command->dwords[10] & 0xfffff000u) != 0) return refuse(drive, command, STATUS_FIELD, "reserved bits");
  if (index > drive->identify_namespace[25] || (shift != 9 && shift != 12) || (format_dword & 0xffffu) != 0 ||
      (command->dwords[10] & 0x1f0u) != 0)
    return refuse(drive, command, STATUS_FORMAT, "a format that the drive does not have");
  const uint64_t mapped = drive_discard(drive, 0, drive->options.bytes);
  sim_media_trim(&drive->media, sim_now_ps(drive->sim), mapped);
  drive_changes_formatted(drive);
  drive_geometry(drive, shift);
  drive->identify_namespace[26] = (uint8_t)index;
  drive_complete_at(drive, command, sim_now_ps(drive->sim) + FORMAT_PS);
  return STATUS_PENDING;
}

/* ---- dispatch ---- */

static void check_reserved(struct sim_drive *drive, const struct drive_command *command) {
  if ((command->dwords[0] & 0xff00u) != 0)
    (void)refuse(drive, command, 0, "fused or with SGLs, which no admin command may be");
  if (command->dwords[2] != 0 || command->dwords[3] != 0 || command->dwords[4] != 0 || command->dwords[5] != 0)
    (void)refuse(drive, command, 0, "reserved dwords 2 to 5 are not zero");
}

uint16_t drive_admin(struct sim_drive *drive, struct drive_command *command) {
  check_reserved(drive, command);
  switch (command->dwords[0] & 0xffu) {
  case ADMIN_DELETE_SQ: return delete_sq(drive, command);
  case ADMIN_CREATE_SQ: return create_sq(drive, command);
  case ADMIN_GET_LOG: return drive_get_log(drive, command);
  case ADMIN_DELETE_CQ: return delete_cq(drive, command);
  case ADMIN_CREATE_CQ: return create_cq(drive, command);
  case ADMIN_IDENTIFY: return drive_identify(drive, command);
  case ADMIN_ABORT: return abort_command(drive, command);
  case ADMIN_SET_FEATURES: return drive_set_feature(drive, command);
  case ADMIN_GET_FEATURES: return drive_get_feature(drive, command);
  case ADMIN_EVENT: return drive_event_request(drive, command);
  case ADMIN_FORMAT: return format(drive, command);
  case ADMIN_SANITIZE: return drive_sanitize(drive, command);
  default: return refuse(drive, command, STATUS_OPCODE, "the drive does not have it");
  }
}
