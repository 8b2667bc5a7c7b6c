// SPDX-License-Identifier: Apache-2.0
//
// Numbers of docs/reference/gateware-bringup.md, of rtl/spate_pkg.sv and of the specifications, as the tests expect
// them.
#ifndef SPATE_ADMIN_NAMES_H
#define SPATE_ADMIN_NAMES_H

#include <cstdint>

namespace testbench {

// Steps of the bring-up.
enum class Step : uint8_t {
  Disabled,
  Perst,
  Link,
  RootPort,
  Device,
  Bar,
  Capabilities,
  Controller,
  Disable,
  Quiet,
  Enable,
  IdentifyController,
  NamespaceList,
  Features,
  IdentifyNamespace,
  Queues,
  Health,
  Ready,
  Recovery,
  Shutdown
};

// Errors of the bring-up.
enum class Error : uint8_t {
  None,
  Access,
  Link,
  NoDevice,
  Class,
  Header,
  BarType,
  BarSize,
  Capability,
  Version,
  CommandSet,
  PageSize,
  QueueSize,
  Disable,
  Quiet,
  Enable,
  Fatal,
  AdminDeadline,
  Identify,
  EntrySize,
  NoNamespace,
  BlockSize,
  Metadata,
  TooLarge,
  Features,
  CreateQueue,
  LinkLost,
  DataPath,
  SideDeadline,
  ShutDown,
  ShutdownDeadline,
  OtherDrive
};

// Operations and data sources of a command.
enum class Op : uint8_t { Flush, Write, Read, Deallocate, Format, Sanitize, Shutdown, Restart, RawAdmin, RawIo };
enum class Source : uint8_t { Stream, Memory, Mailbox };

// Statuses of a response that are the core's own.
constexpr uint16_t kOk = 0, kInvalid = 0x8001, kRange = 0x8002, kUnsupported = 0x8003, kGone = 0x8004,
                   kDeadline = 0x8005, kBusy = 0x8006, kPower = 0x8008;

// Statuses of a completion.
constexpr uint16_t kDoNotRetry = 0x4000;
constexpr uint16_t kInvalidField = 0x0002, kInternalError = 0x0006, kInvalidNamespace = 0x000b,
                   kSanitizeFailed = 0x001c, kSanitizeInProgress = 0x001d, kInvalidFormat = 0x010a,
                   kMediaError = 0x0281;

// Opcodes of the admin queue.
constexpr uint8_t kDeleteSq = 0, kCreateSq = 1, kGetLog = 2, kDeleteCq = 4, kCreateCq = 5, kIdentify = 6,
                  kSetFeatures = 9, kFormat = 0x80, kSanitize = 0x84;
constexpr uint8_t kSmartLog = 0x02, kSanitizeLog = 0x81;

// Spaces of a register access, and registers in them.
enum class Space : uint8_t { Local, Device, Bar };
constexpr uint32_t kBridgeControl = 0x3c; // of the root port; bit 22 resets its bus
constexpr uint32_t kBridgeEnable = 0x148; // of the Xilinx bridge
constexpr uint32_t kLocalControl = 0x68, kDeviceControl = 0x78;
constexpr uint32_t kLocalControl2 = 0x88, kDeviceControl2 = 0x98; // bits 4:0 are the completion timeout
constexpr uint32_t kTimeout210Ms = 0x0006;                        // 65 ms and more; the value before bring-up
constexpr uint32_t kCapLow = 0x00, kCapHigh = 0x04, kVs = 0x08, kCc = 0x14, kCsts = 0x1c, kAqa = 0x24, kAsq = 0x28,
                   kAcq = 0x30, kDoorbells = 0x1000;

// Pages of the window.
constexpr uint64_t kAdminCqOffset = 0x1000, kPageOffset = 0x2000, kMailboxOffset = 0x3000, kRangeOffset = 0x4000,
                   kSqOffset = 0x10000, kCqOffset = 0x20000;

} // namespace testbench

#endif
