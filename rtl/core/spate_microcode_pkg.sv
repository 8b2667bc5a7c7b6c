// SPDX-License-Identifier: Apache-2.0
//
// The instructions of spate_admin. An instruction does one operation on a register and an operand. It takes five
// cycles, and the time of any access that it waits for. tools/rtl/microcode.py reads this file: the assembly's words
// are the names below without their prefix, in small letters (IfNotZero is not_zero).
`default_nettype none

package spate_microcode_pkg;

  // ---- the instruction set ----

  typedef enum logic [4:0] {
    DoMove,  // register = operand. This and all up to DoShift set the flags
    DoAdd,
    DoSub,
    DoCompare,  // sets the flags of register - operand
    DoAnd,
    DoTest,  // sets the flags of register & operand
    DoXor,
    DoShift,  // register >>= operand
    DoRead,  // register = the dword at operand in the space that OutSpace chose; an error jumps to the label of DoCatch
    DoWrite,  // the dword at operand = register
    DoPage,  // register = dword `operand` of the admin page
    DoOut,  // output `rd` = operand
    DoEntry,  // dword `rd` of the submission entry that OutSide chose = operand
    DoFill,  // all dwords of that entry = operand, which is read once for each
    DoJump,  // if condition `rd`
    DoCall,
    DoReturn,
    DoCatch,  // errors jump to this label from now on
    DoFail  // if condition `rd`: register ErrorRegister = operand, drop all calls, jump to the label of DoCatch
  } do_e;

  typedef enum logic [3:0] {
    InImmediate,
    InHigh,  // the immediate in the upper half
    InRegister,
    InNow,  // milliseconds since reset
    InAccess,  // what DoRead read; not for use in the program
    InPage,  // what DoPage read; not for use in the program
    InRaw,  // a dword of the raw command: in a fill the same dword, otherwise the first
    InCommand,  // {address[15:0], lba[39:32], lba is beyond 40 bits, fua, source, op}
    InLba,  // bits 31:0 of the LBA
    InBlocks,
    InAdminStatus,  // {identifier, 0, status} of the last admin completion
    InAdminResult,
    InSideStatus,  // {bits 39:32 of the written blocks, 9'0, status} of the last side completion
    InSideResult,
    InWritten  // bits 31:0 of the written blocks, as they were when the side command was pushed
  } in_e;

  // Bit 0 inverts the condition.
  typedef enum logic [4:0] {
    IfAlways = 5'd0,
    IfNever = 5'd1,
    IfZero = 5'd2,
    IfNotZero = 5'd3,
    IfCarry = 5'd4,  // of an addition; of a subtraction or comparison: register < operand
    IfNotCarry = 5'd5,
    IfNegative = 5'd6,
    IfNotNegative = 5'd7,
    IfLinkUp = 5'd8,
    IfLinkDown = 5'd9,
    IfEnabled = 5'd10,
    IfDisabled = 5'd11,
    IfRecover = 5'd12,
    IfNoRecover = 5'd13,
    IfQuiet = 5'd14,
    IfNotQuiet = 5'd15,
    IfIdle = 5'd16,
    IfNotIdle = 5'd17,
    IfAdminDone = 5'd18,
    IfAdminNotDone = 5'd19,
    IfSideDone = 5'd20,
    IfSideNotDone = 5'd21,
    IfCommand = 5'd22,
    IfNoCommand = 5'd23,
    IfGone = 5'd24,
    IfNotGone = 5'd25,
    IfReady = 5'd26,
    IfNotReady = 5'd27,
    IfProgress = 5'd28,  // a command of either lane ended since PulseForget
    IfNoProgress = 5'd29,
    IfUntold = 5'd30,  // spate_power has a verdict that the current command's side does not know
    IfTold = 5'd31
  } if_e;

  typedef enum logic [4:0] {
    OutStep,
    OutError,
    OutDetail,
    OutPerst,  // 1: released
    OutAdapterReset,
    OutReady,
    OutGone,
    OutPulse,  // one or more of pulse_e
    OutSpace,
    OutSide,  // which submission entry is written: 0 admin, 1 side
    OutAdminEntry,  // {valid, index}
    OutPush,
    OutBlock4096,
    OutBlocksLow,
    OutBlocksHigh,
    OutNsid,
    OutSectorsMax,
    OutQueueShift,
    OutStride,
    OutLinkStatus,
    OutCapLow,
    OutVolatileCache,
    OutHealth0,  // dwords 0 and 1 of the SMART log, and the low dwords of three counters
    OutHealth1,
    OutMediaErrors,
    OutPowerCycles,
    OutUnsafeShutdowns,
    OutHealthValid,
    OutPower,  // one of power_event_e
    OutDone,  // shifts in a dword: the high one first, then the low one
    OutRespond  // respond with this status
  } out_e;

  typedef enum logic [15:0] {
    PulseQueues = 16'd1,  // all queues restart in the other epoch
    PulseForget = 16'd2,  // clears the requests of recover_i and of a link drop, and what IfProgress tests
    PulseRecovery = 16'd4,
    PulseAdminTaken = 16'd8  // the admin completion was read
  } pulse_e;

  localparam int unsigned AddressWidth = 10;  // of the program
  localparam int unsigned CallDepth = 8;  // calls that have not returned, at most; a power of two
  localparam logic [4:0] ErrorRegister = 5'd31;

  typedef struct packed {
    do_e         operation;
    logic [4:0]  rd;         // a register, a condition, an output or a dword
    in_e         source;
    logic [15:0] immediate;  // or the number of the operand's register
  } instruction_t;

endpackage

`default_nettype wire
