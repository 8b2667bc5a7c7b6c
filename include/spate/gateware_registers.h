/* SPDX-License-Identifier: Apache-2.0 */
/* Generated from rtl/regs/spate_regs.rdl by tools/rtl/registers.py: do not edit.
 * Fields and what they mean: docs/reference/registers.md. */
#ifndef SPATE_GATEWARE_REGISTERS_H
#define SPATE_GATEWARE_REGISTERS_H

#include <stdint.h>

#define SPATE_REGS_MAGIC                              0x000u
#define SPATE_REGS_MAGIC_VALUE_NOW                    UINT32_C(0x53505445)
#define SPATE_REGS_VERSION                            0x004u
#define SPATE_REGS_VERSION_MINOR                      UINT32_C(0xffff)
#define SPATE_REGS_VERSION_MINOR_NOW                  UINT32_C(0x0)
#define SPATE_REGS_VERSION_MAJOR                      UINT32_C(0xffff0000)
#define SPATE_REGS_VERSION_MAJOR_SHIFT                16u
#define SPATE_REGS_VERSION_MAJOR_NOW                  UINT32_C(0x1)
#define SPATE_REGS_PARAMETERS                         0x008u
#define SPATE_REGS_PARAMETERS_DATA_BYTES              UINT32_C(0xff)
#define SPATE_REGS_PARAMETERS_SLOTS                   UINT32_C(0x1ff0000)
#define SPATE_REGS_PARAMETERS_SLOTS_SHIFT             16u
#define SPATE_REGS_PARAMETERS_MEMORY_MODE             UINT32_C(0x80000000)
#define SPATE_REGS_RING                               0x00cu
#define SPATE_REGS_CONTROL                            0x010u
#define SPATE_REGS_CONTROL_ENABLE                     UINT32_C(0x1)
#define SPATE_REGS_INTERRUPT_STATUS                   0x014u
#define SPATE_REGS_INTERRUPT_STATUS_RESPONSE          UINT32_C(0x1)
#define SPATE_REGS_INTERRUPT_STATUS_READY_CHANGED     UINT32_C(0x2)
#define SPATE_REGS_INTERRUPT_STATUS_GONE              UINT32_C(0x4)
#define SPATE_REGS_INTERRUPT_STATUS_HEALTH_WARNING    UINT32_C(0x8)
#define SPATE_REGS_INTERRUPT_STATUS_COMMAND_REFUSED   UINT32_C(0x10)
#define SPATE_REGS_INTERRUPT_STATUS_RECOVERY          UINT32_C(0x20)
#define SPATE_REGS_INTERRUPT_ENABLE                   0x018u
#define SPATE_REGS_INTERRUPT_ENABLE_ENABLE            UINT32_C(0x3f)
#define SPATE_REGS_STATUS                             0x01cu
#define SPATE_REGS_STATUS_READY                       UINT32_C(0x1)
#define SPATE_REGS_STATUS_GONE                        UINT32_C(0x2)
#define SPATE_REGS_STATUS_EPOCH                       UINT32_C(0x4)
#define SPATE_REGS_STATUS_LINK_UP                     UINT32_C(0x8)
#define SPATE_REGS_STATUS_HEALTH_VALID                UINT32_C(0x10)
#define SPATE_REGS_STATUS_VOLATILE_CACHE              UINT32_C(0x20)
#define SPATE_REGS_STATUS_BLOCK_4096                  UINT32_C(0x40)
#define SPATE_REGS_STATUS_COMMAND_READY               UINT32_C(0x100)
#define SPATE_REGS_STATUS_RESPONSE_VALID              UINT32_C(0x200)
#define SPATE_REGS_STATUS_TAP_LOST                    UINT32_C(0x400)
#define SPATE_REGS_BRING_UP                           0x020u
#define SPATE_REGS_BRING_UP_STEP                      UINT32_C(0xff)
#define SPATE_REGS_BRING_UP_ERROR                     UINT32_C(0xff00)
#define SPATE_REGS_BRING_UP_ERROR_SHIFT               8u
#define SPATE_REGS_BRING_UP_LINK_STATUS               UINT32_C(0xffff0000)
#define SPATE_REGS_BRING_UP_LINK_STATUS_SHIFT         16u
#define SPATE_REGS_ERROR_DETAIL                       0x024u
#define SPATE_REGS_BLOCKS_LOW                         0x028u
#define SPATE_REGS_BLOCKS_HIGH                        0x02cu
#define SPATE_REGS_BLOCKS_HIGH_HIGH                   UINT32_C(0xff)
#define SPATE_REGS_GEOMETRY                           0x030u
#define SPATE_REGS_GEOMETRY_COMMAND_SECTORS_MAX       UINT32_C(0x1fff)
#define SPATE_REGS_GEOMETRY_QUEUE_SHIFT               UINT32_C(0xf0000)
#define SPATE_REGS_GEOMETRY_QUEUE_SHIFT_SHIFT         16u
#define SPATE_REGS_NSID                               0x034u
#define SPATE_REGS_CAP_LOW                            0x038u
#define SPATE_REGS_COMMAND_LBA_LOW                    0x040u
#define SPATE_REGS_COMMAND_LBA_HIGH                   0x044u
#define SPATE_REGS_COMMAND_BLOCKS                     0x048u
#define SPATE_REGS_COMMAND_ADDRESS_LOW                0x04cu
#define SPATE_REGS_COMMAND_ADDRESS_HIGH               0x050u
#define SPATE_REGS_COMMAND                            0x054u
#define SPATE_REGS_COMMAND_OP                         UINT32_C(0xf)
#define SPATE_REGS_COMMAND_SOURCE                     UINT32_C(0x30)
#define SPATE_REGS_COMMAND_SOURCE_SHIFT               4u
#define SPATE_REGS_COMMAND_FUA                        UINT32_C(0x40)
#define SPATE_REGS_COMMAND_START                      UINT32_C(0x80)
#define SPATE_REGS_COMMAND_TAG                        UINT32_C(0xffff0000)
#define SPATE_REGS_COMMAND_TAG_SHIFT                  16u
#define SPATE_REGS_RESPONSE                           0x058u
#define SPATE_REGS_RESPONSE_TAG                       UINT32_C(0xffff)
#define SPATE_REGS_RESPONSE_STATUS                    UINT32_C(0xffff0000)
#define SPATE_REGS_RESPONSE_STATUS_SHIFT              16u
#define SPATE_REGS_RESPONSE_DONE_LOW                  0x05cu
#define SPATE_REGS_RESPONSE_DONE_HIGH                 0x060u
#define SPATE_REGS_RESPONSE_TAKE                      0x064u
#define SPATE_REGS_RESPONSE_TAKE_TAKE                 UINT32_C(0x1)
#define SPATE_REGS_HEALTH                             0x068u
#define SPATE_REGS_HEALTH_CRITICAL_WARNING            UINT32_C(0xff)
#define SPATE_REGS_HEALTH_TEMPERATURE_K               UINT32_C(0xffff0000)
#define SPATE_REGS_HEALTH_TEMPERATURE_K_SHIFT         16u
#define SPATE_REGS_WEAR                               0x06cu
#define SPATE_REGS_WEAR_SPARE_PERCENT                 UINT32_C(0xff)
#define SPATE_REGS_WEAR_SPARE_THRESHOLD_PERCENT       UINT32_C(0xff00)
#define SPATE_REGS_WEAR_SPARE_THRESHOLD_PERCENT_SHIFT 8u
#define SPATE_REGS_WEAR_USED_PERCENT                  UINT32_C(0xff0000)
#define SPATE_REGS_WEAR_USED_PERCENT_SHIFT            16u
#define SPATE_REGS_MEDIA_ERRORS                       0x070u
#define SPATE_REGS_UNSAFE_SHUTDOWNS                   0x074u
#define SPATE_REGS_WRITTEN_LOW                        0x078u
#define SPATE_REGS_WRITTEN_HIGH                       0x07cu
#define SPATE_REGS_WRITTEN_HIGH_HIGH                  UINT32_C(0xff)
#define SPATE_REGS_RAW                                0x080u
#define SPATE_REGS_RAW_WORDS                          16u
#define SPATE_REGS_COUNTERS                           0x0c0u
#define SPATE_REGS_COUNTERS_WORDS                     16u
#define SPATE_REGS_MAILBOX                            0x1000u
#define SPATE_REGS_MAILBOX_WORDS                      1024u
#define SPATE_REGS_ADMIN_PAGE                         0x2000u
#define SPATE_REGS_ADMIN_PAGE_WORDS                   1024u
#define SPATE_REGS_BYTES                              0x3000u

#endif
