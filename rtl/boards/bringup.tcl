# SPDX-License-Identifier: Apache-2.0
#
# Texts for the numbers that the core reports: the steps and errors of docs/reference/gateware-bringup.md, and the
# statuses of docs/use/gateware.md. A test compares them with these pages.

namespace eval spate {
  variable steps {
    0 "disabled"
    1 "PERST# low"
    2 "wait for the link"
    3 "root port"
    4 "first configuration read"
    5 "BAR 0"
    6 "PCI Express capabilities"
    7 "CAP and VS"
    8 "controller disabled"
    9 "wait until no old access is under way"
    10 "queues begin again"
    11 "Identify controller"
    12 "list of namespaces"
    13 "features"
    14 "Identify namespace"
    15 "I/O queues created"
    16 "SMART log read"
    17 "ready"
    18 "recovery"
    19 "shutdown"
  }

  # {error {meaning what-to-do}}
  variable errors {
    0 {"none" ""}
    1 {"a register or configuration access failed, or timed out"
       "step 3: the root port's configuration space; 4 to 6: the device's; from 7 on: the BAR's address"}
    2 {"the link did not come up" "reference clock, PERST# wiring, lanes, power"}
    3 {"no device responded" "reference clock, PERST# wiring, lanes, power; or the drive is defective"}
    4 {"not an NVMe controller" "another device is in the slot"}
    5 {"not a plain function" "a bridge or switch is in between: not supported"}
    6 {"BAR 0 is no memory BAR" "this drive is not supported"}
    7 {"BAR 0 is larger than its window, or too small for the doorbells" "this drive is not supported"}
    8 {"no PCI Express capability" "this drive is not supported"}
    9 {"version below 1.0" "if VS reads as zero or ones, the BAR is not reached"}
    10 {"no NVM command set" "this drive is not supported"}
    11 {"pages of 4 KiB are not possible" "this drive is not supported"}
    12 {"queues of one entry" "if CAP reads as zero, the BAR is not reached"}
    13 {"the controller did not stop" "switch the drive's power off and on"}
    14 {"accesses of the drive did not end" "switch the drive's power off and on"}
    15 {"the controller did not get ready" "switch the drive's power off and on"}
    16 {"fatal status" "if CSTS reads as ones, the drive vanished: power, contacts"}
    17 {"an admin command did not complete in time"
        "the drive does not reach the window: is the block generated as build.tcl says?"}
    18 {"Identify failed" "the drive's status is in error_detail"}
    19 {"entries are not 64 and 16 bytes" "if zero, what the drive writes does not arrive"}
    20 {"no namespace, or an empty one" "create one on a PC"}
    21 {"blocks are neither 512 nor 4096 bytes" "format the drive on a PC"}
    22 {"blocks have metadata" "format the drive on a PC, without metadata"}
    23 {"2^40 blocks or more" "this drive is not supported"}
    24 {"the number of queues was refused" "the drive's status is in error_detail"}
    25 {"a queue could not be created" "the drive's status is in error_detail"}
    26 {"the link went down" "contacts, power, signal quality"}
    27 {"a data command's deadline, a doorbell write without a response, or a link that was down for a moment"
        "contacts, power, signal quality"}
    28 {"a side command did not complete in time" "its opcode is in error_detail"}
    29 {"shut down, as asked" "restart_drive brings it up again"}
    30 {"shut down, but the drive did not say that it finished" "wait before you switch the power off"}
    31 {"another drive, or namespace, than before the recovery" "put the old one in again, or restart_drive"}
  }

  # {status {name what-to-do}}
  variable statuses {
    8001 {"invalid" "this is an error of the console"}
    8002 {"range" "the drive has fewer blocks"}
    8003 {"unsupported" "the drive does not have this operation"}
    8004 {"gone" "status tells why; then restart_drive"}
    8005 {"deadline" "the drive did not complete the command after each reset; status tells more"}
    8006 {"busy" "wait for the other commands"}
    8007 {"memory" "this core has no ring in memory: this is an error of the console"}
    8008 {"power" "the drive lost its power, or may have, since the last flush: record again"}
  }
}
