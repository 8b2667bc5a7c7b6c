/* SPDX-License-Identifier: Apache-2.0 */
/* Names of status values in texts: figures 126 to 131 of the base specification 1.4. */
#include "internal.h"

struct name {
  uint16_t code; /* type << 8 | code */
  const char *text;
};

static const struct name names[] = {
    {0x000, "Successful Completion"},
    {0x001, "Invalid Command Opcode"},
    {0x002, "Invalid Field in Command"},
    {0x003, "Command ID Conflict"},
    {0x004, "Data Transfer Error"},
    {0x005, "Commands Aborted due to Power Loss Notification"},
    {0x006, "Internal Error"},
    {0x007, "Command Abort Requested"},
    {0x008, "Command Aborted due to SQ Deletion"},
    {0x009, "Command Aborted due to Failed Fused Command"},
    {0x00a, "Command Aborted due to Missing Fused Command"},
    {0x00b, "Invalid Namespace or Format"},
    {0x00c, "Command Sequence Error"},
    {0x00d, "Invalid SGL Segment Descriptor"},
    {0x00e, "Invalid Number of SGL Descriptors"},
    {0x00f, "Data SGL Length Invalid"},
    {0x010, "Metadata SGL Length Invalid"},
    {0x011, "SGL Descriptor Type Invalid"},
    {0x012, "Invalid Use of Controller Memory Buffer"},
    {0x013, "PRP Offset Invalid"},
    {0x014, "Atomic Write Unit Exceeded"},
    {0x015, "Operation Denied"},
    {0x016, "SGL Offset Invalid"},
    {0x018, "Host Identifier Inconsistent Format"},
    {0x019, "Keep Alive Timer Expired"},
    {0x01a, "Keep Alive Timeout Invalid"},
    {0x01b, "Command Aborted due to Preempt and Abort"},
    {0x01c, "Sanitize Failed"},
    {0x01d, "Sanitize In Progress"},
    {0x01e, "SGL Data Block Granularity Invalid"},
    {0x01f, "Command Not Supported for Queue in CMB"},
    {0x020, "Namespace is Write Protected"},
    {0x021, "Command Interrupted"},
    {0x022, "Transient Transport Error"},
    {0x080, "LBA Out of Range"},
    {0x081, "Capacity Exceeded"},
    {0x082, "Namespace Not Ready"},
    {0x083, "Reservation Conflict"},
    {0x084, "Format In Progress"},
    {0x100, "Completion Queue Invalid"},
    {0x101, "Invalid Queue Identifier"},
    {0x102, "Invalid Queue Size"},
    {0x103, "Abort Command Limit Exceeded"},
    {0x105, "Asynchronous Event Request Limit Exceeded"},
    {0x106, "Invalid Firmware Slot"},
    {0x107, "Invalid Firmware Image"},
    {0x108, "Invalid Interrupt Vector"},
    {0x109, "Invalid Log Page"},
    {0x10a, "Invalid Format"},
    {0x10b, "Firmware Activation Requires Conventional Reset"},
    {0x10c, "Invalid Queue Deletion"},
    {0x10d, "Feature Identifier Not Saveable"},
    {0x10e, "Feature Not Changeable"},
    {0x10f, "Feature Not Namespace Specific"},
    {0x110, "Firmware Activation Requires NVM Subsystem Reset"},
    {0x111, "Firmware Activation Requires Controller Level Reset"},
    {0x112, "Firmware Activation Requires Maximum Time Violation"},
    {0x113, "Firmware Activation Prohibited"},
    {0x114, "Overlapping Range"},
    {0x115, "Namespace Insufficient Capacity"},
    {0x116, "Namespace Identifier Unavailable"},
    {0x118, "Namespace Already Attached"},
    {0x119, "Namespace Is Private"},
    {0x11a, "Namespace Not Attached"},
    {0x11b, "Thin Provisioning Not Supported"},
    {0x11c, "Controller List Invalid"},
    {0x11d, "Device Self-test In Progress"},
    {0x11e, "Boot Partition Write Prohibited"},
    {0x11f, "Invalid Controller Identifier"},
    {0x120, "Invalid Secondary Controller State"},
    {0x121, "Invalid Number of Controller Resources"},
    {0x122, "Invalid Resource Identifier"},
    {0x123, "Sanitize Prohibited While Persistent Memory Region is Enabled"},
    {0x124, "ANA Group Identifier Invalid"},
    {0x125, "ANA Attach Failed"},
    {0x180, "Conflicting Attributes"},
    {0x181, "Invalid Protection Information"},
    {0x182, "Attempted Write to Read Only Range"},
    {0x280, "Write Fault"},
    {0x281, "Unrecovered Read Error"},
    {0x282, "End-to-end Guard Check Error"},
    {0x283, "End-to-end Application Tag Check Error"},
    {0x284, "End-to-end Reference Tag Check Error"},
    {0x285, "Compare Failure"},
    {0x286, "Access Denied"},
    {0x287, "Deallocated or Unwritten Logical Block"},
    {0x300, "Internal Path Error"},
    {0x301, "Asymmetric Access Persistent Loss"},
    {0x302, "Asymmetric Access Inaccessible"},
    {0x303, "Asymmetric Access Transition"},
    {0x360, "Controller Pathing Error"},
    {0x370, "Host Pathing Error"},
    {0x371, "Command Aborted By Host"},
};

const char *spate_nvme_status_name(uint16_t status) {
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i].code == NVME_STATUS_CODE(status)) return names[i].text;
  switch (NVME_STATUS_TYPE(status)) {
  case 0: return "Unknown Generic Status";
  case 1: return "Unknown Command Specific Status";
  case 2: return "Unknown Media and Data Integrity Error";
  case 3: return "Unknown Path Related Status";
  case 7: return "Vendor Specific Status";
  default: return "Reserved Status";
  }
}
