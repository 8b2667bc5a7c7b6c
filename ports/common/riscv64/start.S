/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From reset in machine mode, or from a loader in supervisor mode, to board_start() in supervisor mode with page tables.
 *
 * Supervisor mode, also where machine mode could be kept: the page tables protect constants, guard and address 0, and
 * tell a wild pointer (page fault) from a bus without an answer (access fault). Machine mode has only the few entries of
 * PMP, whose faults are access faults, too. A loader with SBI (OpenSBI, Microchip's HSS) starts in supervisor mode.
 */
#if __has_include(<machine.h>)
#include <machine.h>
#endif

#ifndef MACHINE_HART
#define MACHINE_HART 0 /* that goes on when all harts start here in machine mode */
#endif

#define PMP_ALL      0x1f      /* an entry that reaches over all addresses: read, write, execute */
#define EXCEPTIONS   0xffff    /* all to supervisor mode */
#define COUNTERS     7         /* supervisor mode may read cycle, time and instret */
#define PREVIOUS_S   (1 << 11) /* mstatus.MPP */
#define SATP_SV39    8

.section .text.start, "ax"
.global _start
_start:
  la t0, at_supervisor
  csrw stvec, t0
  csrr t0, mhartid /* supervisor mode may not ask: it goes on at stvec */
  li t1, MACHINE_HART
  bne t0, t1, park

  csrw mie, zero
  la t0, park
  csrw mtvec, t0
  li t0, -1
  csrw pmpaddr0, t0
  li t0, PMP_ALL
  csrw pmpcfg0, t0
  li t0, EXCEPTIONS
  csrw medeleg, t0
  csrw mideleg, zero
  li t0, COUNTERS
  csrw mcounteren, t0
  li t0, PREVIOUS_S
  csrw mstatus, t0
  la t0, at_supervisor
  csrw mepc, t0
  mret

/* The other harts, and what nobody expects in machine mode. */
.balign 4
park:
  wfi
  j park

.balign 4
at_supervisor:
  csrci sstatus, 2
  csrw sie, zero
  csrw satp, zero
  la t0, fault_entry
  csrw stvec, t0
  la sp, __stack_end

  la t0, __bss_start
  la t1, __bss_end
  call clear
  la t0, __tables_start
  la t1, __tables_end
  call clear
  call mmu_build /* a0: the root */

  srli a0, a0, 12
  li t0, SATP_SV39
  slli t0, t0, 60
  or a0, a0, t0
  sfence.vma
  csrw satp, a0
  sfence.vma
  call board_start
  j park

clear:
  bgeu t0, t1, 1f
  sd zero, 0(t0)
  addi t0, t0, 8
  j clear
1:
  ret

.text
/* RISC-V Semihosting: the debugger knows EBREAK by the two instructions around it, all three uncompressed and in one
 * page. Operation and block are in a0 and a1, the result comes in a0. */
.global semihosting_call
.balign 16
.option push
.option norvc
semihosting_call:
  slli x0, x0, 0x1f
  ebreak
  srai x0, x0, 7
  ret
.option pop

/* The handler uses another stack, because the stack may be the cause. fault_taken() gets all registers as they were. If
 * the run can continue, it returns the address to continue at, with changed registers. */
.balign 4
fault_entry:
  csrw sscratch, sp
  la sp, __fault_stack_end
  addi sp, sp, -256
  .irp n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  sd x\n, 8*\n(sp)
  .endr
  csrr t0, sscratch
  sd t0, 8*2(sp)
  csrr a0, scause
  csrr a1, stval
  csrr a2, sepc
  mv a3, sp
  call fault_taken
  csrw sepc, a0
  .irp n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  ld x\n, 8*\n(sp)
  .endr
  ld sp, 8*2(sp)
  sret

.section .note.GNU-stack, "", %progbits
