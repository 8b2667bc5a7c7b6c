// SPDX-License-Identifier: Apache-2.0
//
// The instructions of spate_admin, and the functions with which spate_microcode is written. An instruction does one
// operation on a register and an operand. It takes five cycles, and the time of any access that it waits for.
`default_nettype none

package spate_microcode_pkg;

  // ---- visible to users: docs/reference/gateware-bringup.md has the same two tables with advice ----

  typedef enum logic [7:0] {
    StepDisabled = 8'd0,
    StepPerst = 8'd1,
    StepLink = 8'd2,
    StepRootPort = 8'd3,
    StepDevice = 8'd4,
    StepBar = 8'd5,
    StepCapabilities = 8'd6,
    StepController = 8'd7,
    StepDisable = 8'd8,
    StepQuiet = 8'd9,
    StepEnable = 8'd10,
    StepIdentifyController = 8'd11,
    StepNamespaceList = 8'd12,
    StepFeatures = 8'd13,
    StepIdentifyNamespace = 8'd14,
    StepQueues = 8'd15,
    StepHealth = 8'd16,
    StepReady = 8'd17,
    StepRecovery = 8'd18,
    StepShutdown = 8'd19
  } step_e;

  typedef enum logic [7:0] {
    ErrNone = 8'd0,
    ErrAccess = 8'd1,  // a register or configuration access failed or was not answered
    ErrLink = 8'd2,
    ErrNoDevice = 8'd3,
    ErrClass = 8'd4,
    ErrHeader = 8'd5,
    ErrBarType = 8'd6,
    ErrBarSize = 8'd7,
    ErrCapability = 8'd8,
    ErrVersion = 8'd9,
    ErrCommandSet = 8'd10,
    ErrPageSize = 8'd11,
    ErrQueueSize = 8'd12,
    ErrDisable = 8'd13,
    ErrQuiet = 8'd14,
    ErrEnable = 8'd15,
    ErrFatal = 8'd16,
    ErrAdminDeadline = 8'd17,
    ErrIdentify = 8'd18,
    ErrEntrySize = 8'd19,
    ErrNoNamespace = 8'd20,
    ErrBlockSize = 8'd21,
    ErrMetadata = 8'd22,
    ErrTooLarge = 8'd23,
    ErrFeatures = 8'd24,
    ErrCreateQueue = 8'd25,
    ErrLinkLost = 8'd26,
    ErrDataPath = 8'd27,  // recover_i, or the link dropped for a moment
    ErrSideDeadline = 8'd28,
    ErrShutDown = 8'd29,  // as requested
    ErrShutdownDeadline = 8'd30,
    ErrOtherDrive = 8'd31
  } error_e;

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
    DoFail,  // if condition `rd`: RError = operand, drop all calls, jump to the label of DoCatch
    DoLabel  // not an instruction: the assembler removes it
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

  typedef enum logic [4:0] {
    RValue,  // a value that was read; the detail of an error
    RTemp,
    ROther,
    RPointer,
    RCount,
    RDeadline,
    RPollAt,
    RHealthAt,
    RAttempts,  // bring-ups and recoveries since a command ended or the drive was healthy for 100 ms
    RReruns,  // how often the current side command was started, and two flags
    RRetries,  // left
    RCid,  // of the last admin or side command, in the upper half
    RAdminTail,
    RAdminHead,
    RHeadDoorbell,  // the admin completion queue's
    RWindow,  // lower 32 bits of this epoch's half of the aperture
    RTimeoutMs,  // CAP.TO
    RKnown,  // hash of the identity of the drive before the bring-up; zero: any drive is accepted
    RPayload,
    RQueueEntries,
    RFeatures,  // bit 0 volatile cache, 1 Format NVM, 2 deallocate, 3 sanitize
    RNsid,
    RBlocksLow,
    RBlocksHigh,
    RMailboxBlocks,
    ROpcode,
    RStatus,
    RDoneLow,
    RDoneHigh,
    RShutdownMs,
    RAdminMs,  // deadline of an admin command
    RError = 5'd31
  } reg_e;

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

  typedef struct packed {
    do_e         operation;
    logic [4:0]  rd;         // a register, a condition, an output or a dword
    in_e         source;
    logic [15:0] immediate;  // or the number of the operand's register
  } instruction_t;

  typedef struct packed {
    in_e         source;
    logic [15:0] immediate;
  } operand_t;

  // ---- the vocabulary of the listing ----

  function automatic operand_t imm(logic [15:0] value);
    return '{source: InImmediate, immediate: value};
  endfunction
  function automatic operand_t high(logic [15:0] value);
    return '{source: InHigh, immediate: value};
  endfunction
  function automatic operand_t of(reg_e register);
    return '{source: InRegister, immediate: {11'd0, register}};
  endfunction
  function automatic operand_t get(in_e source);
    return '{source: source, immediate: 16'd0};
  endfunction

  function automatic instruction_t make(do_e operation, logic [4:0] rd, operand_t operand);
    return '{operation: operation, rd: rd, source: operand.source, immediate: operand.immediate};
  endfunction

  function automatic instruction_t load(reg_e rd, operand_t operand);
    return make(DoMove, rd, operand);
  endfunction
  function automatic instruction_t add(reg_e rd, operand_t operand);
    return make(DoAdd, rd, operand);
  endfunction
  function automatic instruction_t sub(reg_e rd, operand_t operand);
    return make(DoSub, rd, operand);
  endfunction
  function automatic instruction_t compare(reg_e rd, operand_t operand);
    return make(DoCompare, rd, operand);
  endfunction
  function automatic instruction_t mask(reg_e rd, operand_t operand);
    return make(DoAnd, rd, operand);
  endfunction
  function automatic instruction_t test(reg_e rd, operand_t operand);
    return make(DoTest, rd, operand);
  endfunction
  function automatic instruction_t flip(reg_e rd, operand_t operand);
    return make(DoXor, rd, operand);
  endfunction
  function automatic instruction_t shift(reg_e rd, logic [4:0] bits);
    return make(DoShift, rd, imm(16'(bits)));
  endfunction
  function automatic instruction_t read(reg_e rd, operand_t address);
    return make(DoRead, rd, address);
  endfunction
  function automatic instruction_t write(operand_t address, reg_e data);
    return make(DoWrite, data, address);
  endfunction
  function automatic instruction_t page(reg_e rd, operand_t dword);
    return make(DoPage, rd, dword);
  endfunction
  function automatic instruction_t out(out_e output_, operand_t operand);
    return make(DoOut, output_, operand);
  endfunction
  function automatic instruction_t entry(logic [3:0] dword, operand_t operand);
    return make(DoEntry, {1'b0, dword}, operand);
  endfunction
  function automatic instruction_t fill(operand_t operand);
    return make(DoFill, 5'd0, operand);
  endfunction
  function automatic instruction_t ret();
    return make(DoReturn, 5'd0, imm(16'd0));
  endfunction
  function automatic instruction_t fail(if_e condition, error_e error);
    return make(DoFail, condition, imm(16'(error)));
  endfunction
  function automatic instruction_t enter(step_e number);
    return make(DoOut, OutStep, imm(16'(number)));
  endfunction

  // Two instructions: any constant.
  function automatic logic [2*$bits(instruction_t)-1:0] wide(reg_e rd, logic [31:0] value);
    return {make(DoMove, rd, high(value[31:16])), make(DoAdd, rd, imm(value[15:0]))};
  endfunction
  // Two instructions: RDeadline is this many milliseconds from now.
  function automatic logic [2*$bits(instruction_t)-1:0] deadline(operand_t ms);
    return {make(DoMove, RDeadline, get(InNow)), make(DoAdd, RDeadline, ms)};
  endfunction

endpackage

`default_nettype wire
