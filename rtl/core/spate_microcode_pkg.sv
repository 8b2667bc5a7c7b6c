// SPDX-License-Identifier: Apache-2.0
//
// The instructions of spate_admin, and the words in which spate_microcode is written. An instruction does one thing with
// a register and an operand; what it costs is three cycles, and as long as what it waits for.
package spate_microcode_pkg;

  // ---- what users see of it: docs/reference/gateware-bringup.md has the same two tables with advice ----

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
    ErrDataPath = 8'd27,  // recover_i, or the link was away for a moment
    ErrSideDeadline = 8'd28,
    ErrShutDown = 8'd29,  // as it was asked to
    ErrShutdownDeadline = 8'd30,
    ErrOtherDrive = 8'd31
  } error_e;

  // ---- the machine ----

  typedef enum logic [4:0] {
    DoMove,  // register = operand. All from here to DoShift set the flags
    DoAdd,
    DoSub,
    DoCompare,  // the flags of register - operand
    DoAnd,
    DoTest,  // the flags of register & operand
    DoXor,
    DoShift,  // register >>= operand
    DoRead,  // register = the dword at operand in the space that OutSpace chose; an error goes where DoCatch said
    DoWrite,  // the dword at operand = register
    DoPage,  // register = dword `operand` of the admin page
    DoOut,  // output `rd` = operand
    DoEntry,  // dword `rd` of the submission entry that OutSide chose = operand
    DoFill,  // all its dwords = operand, which is read once for each
    DoJump,  // if condition `rd`
    DoCall,
    DoReturn,
    DoCatch,  // from now on errors go to this label
    DoFail,  // if condition `rd`: RError = operand, calls are forgotten, go where DoCatch said
    DoLabel  // not an instruction: the assembler takes it out
  } do_e;

  typedef enum logic [3:0] {
    InImmediate,
    InHigh,  // the immediate in the upper half
    InRegister,
    InNow,  // milliseconds since reset
    InAccess,  // what DoRead got; not for use in the program
    InPage,  // what DoPage got; not for use in the program
    InRaw,  // a dword of the raw command: in a fill the one that is filled, otherwise the first
    InCommand,  // {address[15:0], lba[39:32], lba is beyond 40 bits, fua, source, op}
    InLba,  // its lower 32 bits
    InBlocks,
    InAdminStatus,  // {identifier, 0, status} of the last admin completion
    InAdminResult,
    InSideStatus,  // {upper 8 of the written blocks, 9'0, status} of the last side completion
    InSideResult,
    InWritten  // lower 32 of the written blocks, as they were when the side command was pushed
  } in_e;

  typedef enum logic [4:0] {
    RValue,  // what is being looked at; an error's detail
    RTemp,
    ROther,
    RPointer,
    RCount,
    RDeadline,
    RPollAt,
    RHealthAt,
    RAttempts,  // bring-ups and recoveries in a row, no command having ended nor 100 ms of peace between them
    RReruns,  // how often the side command that is waiting was begun, and two bits
    RRetries,  // left
    RCid,  // of the last admin or side command, in the upper half
    RAdminTail,
    RAdminHead,
    RHeadDoorbell,  // the admin completion queue's
    RWindow,  // lower 32 bits of this epoch's half of the aperture
    RTimeoutMs,  // CAP.TO
    RKnown,  // the fold of what names the drive that is brought up again; zero: any will do
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

  // Bit 0 turns the condition round.
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
    IfProgress = 5'd28,  // since OutForget a command ended, of either lane
    IfNoProgress = 5'd29
  } if_e;

  typedef enum logic [4:0] {
    OutStep,
    OutError,
    OutDetail,
    OutPerst,  // 1: released
    OutAdapterReset,
    OutReady,
    OutGone,
    OutQueuesReset,  // all queues begin again, in the other epoch
    OutRecovery,  // a pulse
    OutForget,  // what recover_i asked for, or the link, and what IfProgress tells of
    OutSpace,
    OutSide,  // which submission entry is written: 0 admin, 1 side
    OutAdminEntry,  // {valid, index}
    OutAdminTaken,  // the admin completion was looked at
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
    OutHealth0,  // dword 0 of the SMART log, dword 1, and the low dwords of two counters
    OutHealth1,
    OutMediaErrors,
    OutUnsafeShutdowns,
    OutHealthValid,
    OutDone,  // the upper half is what was the lower before, so: high, then low
    OutRespond  // with this status
  } out_e;

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

  // ---- the words of the listing ----

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
