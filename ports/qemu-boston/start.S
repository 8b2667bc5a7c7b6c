/* SPDX-License-Identifier: Apache-2.0 */
/* From the boot code that QEMU generates for -kernel to board_start(), with caches and a guarded stack. */
#include "machine.h"

.set noreorder
.set noat

/* Registers $26 and $27 are reserved for the handler. */
.section .text.vectors, "ax"
fault_vectors:
.irp offset, 0x000, 0x080, 0x100, 0x180, 0x200 /* TLB refill, 64-bit refill, cache error, all others, interrupt */
.org \offset
  dla $26, fault_entry
  jr $26
  nop
.endr

.section .text.start, "ax"
.global _start
_start:
  li $8, 0x00000080 /* Status: 64-bit addresses in kernel mode; error level and boot vectors off, no interrupts */
  mtc0 $8, $12
  dla $8, fault_vectors
  mtc0 $8, $15, 1 /* EBase */
  mfc0 $8, $16
  li $9, ~7
  and $8, $8, $9
  ori $8, $8, 5 /* Config.K0: kseg0 is cached, write-back, coherent between cores */
  mtc0 $8, $16
  ehb

  /* Clears all TLB entries. Each gets its own address, as the architecture requires. */
  mfc0 $8, $16, 1
  srl $8, $8, 25
  andi $8, $8, 0x3f /* highest entry */
  dmtc0 $0, $2
  dmtc0 $0, $3
  mtc0 $0, $5
  dli $9, KSEG0
1:
  mtc0 $8, $0
  dsll $10, $8, 13
  daddu $10, $10, $9
  dmtc0 $10, $10
  ehb
  tlbwi
  bnez $8, 1b
  addiu $8, $8, -1

  /* Entry 0, wired: the stack, as two pages of 64 KiB; writable, valid, global, cached as kseg0. */
  mtc0 $0, $0
  dla $8, __stack
  dli $9, KSEG0
  dsubu $8, $8, $9
  dsrl $8, $8, 6
  ori $8, $8, (5 << 3) | 7
  dmtc0 $8, $2
  daddiu $8, $8, 0x10000 >> 6
  dmtc0 $8, $3
  li $8, 0x1e000
  mtc0 $8, $5
  dli $8, MACHINE_STACK
  dmtc0 $8, $10
  ehb
  tlbwi
  li $8, 1
  mtc0 $8, $6
  ehb
  dli $29, MACHINE_STACK + MACHINE_STACK_BYTES

  dla $8, __bss_start
  dla $9, __bss_end
2:
  beq $8, $9, 3f
  nop
  sd $0, 0($8)
  b 2b
  daddiu $8, $8, 8
3:
  dla $25, board_start
  jalr $25
  nop

.text
/* Unified Hosting Interface: the operation in $25, its arguments from $4 on, the result in $2. */
.global hosting_call
hosting_call:
  move $25, $4
  move $4, $5
  move $5, $6
  move $6, $7
  sdbbp 1
  jr $31
  nop

/* Uses another stack, because this one may be the cause. fault_taken() gets all registers as they were. If the run can
 * continue, it returns the address to continue at, with changed registers. */
fault_entry:
  move $27, $29
  dla $29, __fault_stack_end - 256
  sd $1, 8($29)
  sd $2, 16($29)
  sd $3, 24($29)
  sd $4, 32($29)
  sd $5, 40($29)
  sd $6, 48($29)
  sd $7, 56($29)
  sd $8, 64($29)
  sd $9, 72($29)
  sd $10, 80($29)
  sd $11, 88($29)
  sd $12, 96($29)
  sd $13, 104($29)
  sd $14, 112($29)
  sd $15, 120($29)
  sd $16, 128($29)
  sd $17, 136($29)
  sd $18, 144($29)
  sd $19, 152($29)
  sd $20, 160($29)
  sd $21, 168($29)
  sd $22, 176($29)
  sd $23, 184($29)
  sd $24, 192($29)
  sd $25, 200($29)
  sd $28, 224($29)
  sd $30, 240($29)
  sd $31, 248($29)
  sd $27, 232($29)
  mfc0 $4, $13
  dmfc0 $5, $14
  dmfc0 $6, $8
  move $7, $29
  dla $25, fault_taken
  jalr $25
  nop
  dmtc0 $2, $14
  ld $1, 8($29)
  ld $2, 16($29)
  ld $3, 24($29)
  ld $4, 32($29)
  ld $5, 40($29)
  ld $6, 48($29)
  ld $7, 56($29)
  ld $8, 64($29)
  ld $9, 72($29)
  ld $10, 80($29)
  ld $11, 88($29)
  ld $12, 96($29)
  ld $13, 104($29)
  ld $14, 112($29)
  ld $15, 120($29)
  ld $16, 128($29)
  ld $17, 136($29)
  ld $18, 144($29)
  ld $19, 152($29)
  ld $20, 160($29)
  ld $21, 168($29)
  ld $22, 176($29)
  ld $23, 184($29)
  ld $24, 192($29)
  ld $25, 200($29)
  ld $28, 224($29)
  ld $30, 240($29)
  ld $31, 248($29)
  ld $29, 232($29)
  ehb
  eret

.section .note.GNU-stack, "", %progbits
