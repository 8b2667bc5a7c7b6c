/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Did the drive lose power, and with it what it had completed and not flushed?
 *
 * AQA, ASQ and ACQ are the witness. A reset by CC.EN keeps them, a power loss clears them (NVMe 1.4, 7.3.2). If they
 * still have what the driver wrote, there was no power loss, whatever the drive counts. If they are cleared, the drive
 * may have lost power, or only its link, or it has reset itself. Then the counters of the SMART log decide:
 *
 *   registers                log after the reset                               verdict
 *   kept                     any, or none                                      no loss
 *   cleared                  counters known before, and the same               unknown: some drives never count
 *   cleared                  a counter higher or lower, or not known before    loss
 *   cleared                  refused, or without contents                      loss
 *   cleared by a harder      a counter higher, however late the log comes      loss
 *   reset of the driver, or  anything else                                     unknown
 *   at the end of a shutdown
 *   cleared when the driver  a counter higher, however late the log comes      loss
 *   stopped the controller   anything else                                     no loss
 *
 * A rise without any of these is no loss: drives count safe shutdowns, resets by firmware, and more.
 *
 * The registers are read when the controller is disabled. If the driver had to clear CC.EN for that, CC was the witness
 * until then. The last two rows are for a controller that breaks the rule and clears the registers then, too. They do
 * not apply to one that has kept its registers through a stop.
 */
#include "internal.h"

enum power_doubt { NONE, EXCUSED, RESET_BY_US, SUSPECTED };

static void raise_doubt(struct spate_nvme *controller, enum power_doubt doubt) {
  if (controller->power_doubt < doubt) controller->power_doubt = (uint8_t)doubt;
}

bool spate_nvme_power_is_doubtful(const struct spate_nvme *controller) {
  return controller->admin_registers_readable && !spate_nvme_admin_registers_are_ours(controller) &&
         spate_nvme_link_is_up(controller);
}

void spate_nvme_power_doubt(struct spate_nvme *controller) { raise_doubt(controller, RESET_BY_US); }

void spate_nvme_power_look(struct spate_nvme *controller) {
  const bool excused = controller->stopped_by_us && !controller->admin_registers_kept;

  if (!controller->admin_registers_written) return;
  if (!spate_nvme_admin_registers_are_ours(controller))
    raise_doubt(controller, excused ? EXCUSED : SUSPECTED);
  else
    controller->admin_registers_kept = true;
}

void spate_nvme_power_reset(struct spate_nvme *controller) {
  controller->admin_registers_written = false;
  raise_doubt(controller, RESET_BY_US);
}

static void lost(struct spate_nvme *controller) {
  spate_port_log("nvme: the drive lost power, count", ++controller->counters.power_losses);
  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next)
    queue->block.power_losses++;
}

static void unknown(struct spate_nvme *controller) {
  spate_port_log("nvme: the drive may have lost power, count", ++controller->counters.power_unknown);
  for (struct spate_nvme_queue *queue = controller->queues; queue != NULL; queue = queue->next)
    queue->block.power_unknown++;
}

static void judge_by_log(struct spate_nvme *controller) {
  const struct spate_nvme_health *health = &controller->health;
  const bool known = controller->power_counts_known;
  const bool rose =
      health->power_cycles > controller->power_cycles || health->unsafe_shutdowns > controller->unsafe_shutdowns;
  const bool same =
      health->power_cycles == controller->power_cycles && health->unsafe_shutdowns == controller->unsafe_shutdowns;

  switch (controller->power_doubt) {
  case SUSPECTED: known &&same ? unknown(controller) : lost(controller); break;
  case RESET_BY_US: known &&rose ? lost(controller) : unknown(controller); break;
  case EXCUSED:
    if (known && rose) lost(controller);
    break;
  default: break;
  }
  controller->power_doubt = NONE;
  controller->power_cycles = health->power_cycles;
  controller->unsafe_shutdowns = health->unsafe_shutdowns;
  controller->power_counts_known = true;
}

static void judge_without_log(struct spate_nvme *controller) {
  if (controller->power_doubt == SUSPECTED) {
    lost(controller);
    controller->power_doubt = NONE;
    controller->power_counts_known = false; /* a rise in the next log may be this loss again */
  } else if (controller->power_doubt == RESET_BY_US) {
    unknown(controller);
    controller->power_doubt = EXCUSED;
  }
}

void spate_nvme_power_judge(struct spate_nvme *controller, bool good) {
  if (good)
    judge_by_log(controller);
  else
    judge_without_log(controller);
}
