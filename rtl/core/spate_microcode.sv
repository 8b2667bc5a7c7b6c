// SPDX-License-Identifier: Apache-2.0
//
// The program of spate_admin: a listing in chapters, which spate_program assembles. Any error (`fail`, or a register
// access that failed) drops all calls and jumps to the label of the last `catch_at`: LFailed during bring-up, LRecover
// later.
//
// Guarantee: every loop that waits for the drive or the link has a deadline.
`default_nettype none

module spate_microcode
  import spate_pkg::*;
  import spate_microcode_pkg::*;
#(
    parameter logic [63:0] WindowBase = 64'h8000_0000,
    parameter int unsigned WindowBits = CtrlBits + 1,
    parameter logic [63:0] BarBase = 64'he000_0000,
    parameter int unsigned QueueShiftMax = 7,
    parameter int unsigned CommandSectorsLimit = CommandSectorsMax,
    parameter bit XilinxBridge = 1'b1,
    parameter int unsigned PerstMs = 2,
    parameter int unsigned HealthMs = 1000,
    parameter int unsigned DeadlineMs = 8000
) (
    input  wire logic                       clk_i,
    input  wire logic                       fetch_i,
    input  wire logic    [AddressWidth-1:0] address_i,
    output instruction_t                    instruction_o  // from two cycles after fetch_i to one after the next
);

  // ---- constants used more than once or computed ----

  // From link-up to the first access to the device (PCI Express base specification 4.0, 6.6.1).
  localparam int unsigned TrainedWaitMs = 100;
  localparam int unsigned LinkMs = 1000;
  // A root port reports a link as up until Recovery has timed out: 24 ms after the other end became silent, or more if
  // it tries again.
  localparam int unsigned LinkFallMs = 200;
  localparam int unsigned LinkReturnMs = 2000;  // of a link that was up before
  localparam int unsigned DeviceMs = 1000;  // for configuration retry
  localparam int unsigned QuietMs = 100;
  localparam int unsigned PollMs = 100;  // between two reads of CSTS
  localparam int unsigned RetryMs = 4;
  localparam int unsigned AttemptsMax = 3;
  localparam int unsigned RerunsMax = 3;

  localparam logic [31:0] BarLast = BarBase[31:0] + BarWindowBytes - 32'd1;
  localparam logic [31:0] BridgeWindow = {BarLast[31:20], 4'h0, BarBase[31:20], 4'h0};
  localparam bit Limited = CommandSectorsLimit < CommandSectorsMax;
  localparam int unsigned SectorsMax = Limited ? CommandSectorsLimit : CommandSectorsMax;

  // Registers of the controller (3.1), in the configuration space, and of the admin queue.
  localparam logic [15:0] RegCapLow = 16'h00, RegCapHigh = 16'h04, RegVs = 16'h08, RegIntms = 16'h0c, RegCc = 16'h14;
  localparam logic [15:0] RegCsts = 16'h1c, RegAqa = 16'h24, RegAsqLow = 16'h28, RegAsqHigh = 16'h2c;
  localparam logic [15:0] RegAcqLow = 16'h30, RegAcqHigh = 16'h34, RegDoorbells = 16'h1000;
  localparam logic [15:0] CfgId = 16'h00, CfgCommand = 16'h04, CfgClass = 16'h08, CfgHeader = 16'h0c, CfgBar0 = 16'h10;
  localparam logic [15:0] CfgBar1 = 16'h14, CfgBuses = 16'h18, CfgMemory = 16'h20, CfgPrefetch = 16'h24;
  localparam logic [15:0] CfgCapabilities = 16'h34, CfgBridgeControl = 16'h3c, CfgBridgeEnable = 16'h148;
  localparam logic [15:0] BusReset = 16'h0040;  // Secondary Bus Reset, in the upper half of CfgBridgeControl
  localparam logic [15:0] CommandQuiet = 16'h0400, CommandMemory = 16'h0402, CommandMaster = 16'h0406;  // INTx off
  localparam logic [31:0] Aqa = 32'h0003_0003;  // both admin queues have 4 entries
  localparam logic [31:0] CcEnabled = 32'h0046_0001, CcShutdown = 32'h0046_4001;
  localparam logic [15:0] DoNotRetry = 16'h4000;
  // Flags of RReruns. JustBringUp: only the bring-up after the command is repeated, not the command. AnyDrive: the
  // bring-up may find another drive, or the same one with another block format.
  localparam logic [15:0] JustBringUp = 16'h0080, AnyDrive = 16'h0100;

  // Registers of side commands serve other purposes during bring-up.
  localparam reg_e RBarUnits = RStatus;  // size of the BAR in 16 bytes
  localparam reg_e RMark = ROther;  // hash of the drive's identity, as far as it was read

  typedef enum logic [7:0] {
    LDisabled,
    LDisabledWait,
    LStart,
    LSameDrive,
    LPerst,
    LHold,
    LLinkFall,
    LRelease,
    LReleased,
    LLinkWait,
    LLinkPoll,
    LRootPort,
    LBridgeEnabled,
    LBuses,
    LProbe,
    LProbeAgain,
    LDevice,
    LBarDone,
    LNoRootCapability,
    LPayload,
    LController,
    LStride,
    LStrideDone,
    LQueueShift,
    LQueueShiftDone,
    LQuietPoll,
    LQueuesReset,
    LEnablePoll,
    LIdentifyController,
    LMdts,
    LMdtsLimit,
    LMdtsDone,
    LNoCache,
    LNoFormat,
    LNoDeallocate,
    LNoSanitize,
    LNamespaceOne,
    LFeatures,
    LNoPowerStates,
    LNoHostBuffer,
    LBlock4096,
    LBlockDone,
    LNewDrive,
    LQueueSize,
    LIdle,
    LReady,
    LCommand,
    LRecover,
    LRebuild,
    LNoProgress,
    LRelink,
    LReturned,
    LFailed,
    LGone,
    LGoneWait,
    LRefuse,
    LOk,
    LInvalid,
    LUnsupported,
    LLost,
    LRespond,
    LDispatch,
    LRawAdmin,
    LFlush,
    LDurable,
    LMailboxWrite,
    LMailboxRead,
    LTransfer,
    LNoFua,
    LBlocksRespond,
    LDeallocate,
    LFormat,
    LFormatAlone,
    LFormatEnd,
    LRestart,
    LSanitize,
    LSanitizePoll,
    LShutdown,
    LShutdownQueues,
    LShutdownPoll,
    LShutdownEnd,
    LAdminClear,
    LAdminIdentify,
    LAdminPage,
    LAdmin,
    LAdminOnce,
    LAdminTry,
    LAdminWait,
    LAdminCompletion,
    LAdminReturn,
    LSideClear,
    LSide,
    LSideWait,
    LSideDone,
    LCheckRange,
    LEndLow,
    LEndHigh,
    LReturnStatus,
    LDrain,
    LDrainPoll,
    LRawPages,
    LPrp,
    LHealth,
    LNoHealth,
    LWatch,
    LReturn,
    LGiveUp,
    LGivingUp,
    LGivenUp,
    LDisableController,
    LDisabling,
    LDisablePoll,
    LWitness,
    LCleared,
    LFindCapability,
    LNextCapability,
    LFound,
    LTimeout,
    LFold,
    LDelay,
    LDelayed
  } label_e;

  function automatic instruction_t at(label_e label);
    return make(DoLabel, 5'd0, imm(16'(label)));
  endfunction
  function automatic instruction_t jump(if_e condition, label_e label);
    return make(DoJump, condition, imm(16'(label)));
  endfunction
  function automatic instruction_t go(label_e label);
    return make(DoJump, IfAlways, imm(16'(label)));
  endfunction
  function automatic instruction_t call(label_e label);
    return make(DoCall, 5'd0, imm(16'(label)));
  endfunction
  function automatic instruction_t catch_at(label_e label);
    return make(DoCatch, 5'd0, imm(16'(label)));
  endfunction
  // The epoch's bit of the aperture.
  function automatic operand_t epoch_bit();
    return WindowBits > 16 ? high(16'(32'd1 << (WindowBits - 17))) : imm(16'(32'd1 << (WindowBits - 1)));
  endfunction

  // ---- from PERST# to a function with a BAR ----

  // The width follows from the number of instructions.
  // verilog_lint: waive explicit-parameter-storage-type
  localparam Start = {
    load(RCid, imm(16'd0)),
    load(RReruns, imm(16'd0)),
    load(RKnown, imm(16'd0)),
    wide(RWindow, WindowBase[31:0]),
    jump(IfEnabled, LStart),

    at(LDisabled),
    enter(StepDisabled),
    call(LGiveUp),
    at(LDisabledWait),
    out(OutGone, imm(16'd1)),  // repeated while `enable` is high: clears the memory that `enable` was low
    jump(IfEnabled, LStart),
    jump(IfNoCommand, LDisabledWait),
    go(LRefuse),

    at(LStart),
    jump(IfNotGone, LSameDrive),
    load(RKnown, imm(16'd0)),
    at(LSameDrive),
    out(OutGone, imm(16'd0)),
    load(RAttempts, imm(16'd0)),
    at(LPerst),
    enter(StepPerst),
    out(OutPower, imm(16'(PowerReset))),
    load(RError, imm(16'(ErrAccess))),
    catch_at(LFailed),
    out(OutHealthValid, imm(16'd0)),
    out(OutReady, imm(16'd0)),
    out(OutPush, imm(16'd0)),
    out(OutPerst, imm(16'd0)),
    // Reset the root port's secondary bus as well, because the logic may not control PERST#.
    jump(
        IfLinkDown, LHold
    ),
    catch_at(LHold),
    out(OutSpace, imm(16'(SpaceLocal))),
    read(RTemp, imm(CfgBridgeControl)),
    test(RTemp, high(BusReset)),
    jump(IfNotZero, LHold),
    add(RTemp, high(BusReset)),
    write(imm(CfgBridgeControl), RTemp),
    at(LHold),
    catch_at(LFailed),
    out(OutAdapterReset, imm(16'd1)),
    load(RTemp, imm(16'(PerstMs))),
    call(LDelay),
    out(OutAdapterReset, imm(16'd0)),
    load(RTemp, imm(16'd4)),  // time for the adapter to show the link's real state
    call(LDelay),
    // A link that is still up is the one from before the reset.
    deadline(
        imm(16'(LinkFallMs))
    ),
    at(LLinkFall),
    jump(IfLinkDown, LRelease),
    compare(RDeadline, get(InNow)),
    jump(IfNotNegative, LLinkFall),
    at(LRelease),
    catch_at(LReleased),
    out(OutSpace, imm(16'(SpaceLocal))),
    read(RTemp, imm(CfgBridgeControl)),
    test(RTemp, high(BusReset)),
    jump(IfZero, LReleased),
    sub(RTemp, high(BusReset)),
    write(imm(CfgBridgeControl), RTemp),
    at(LReleased),
    catch_at(LFailed),
    out(OutPerst, imm(16'd1)),
    deadline(imm(16'(LinkMs))),

    at(LLinkWait),  // until RDeadline
    enter(StepLink),
    at(LLinkPoll),
    jump(IfLinkUp, LRootPort),
    fail(IfDisabled, ErrLink),
    compare(RDeadline, get(InNow)),
    fail(IfNegative, ErrLink),
    go(LLinkPoll),

    at(LRootPort),
    enter(StepRootPort),
    out(OutSpace, imm(16'(SpaceLocal))),
    jump(XilinxBridge ? IfNever : IfAlways, LBuses),
    read(RValue, imm(CfgBridgeEnable)),
    test(RValue, imm(16'd1)),
    jump(IfNotZero, LBridgeEnabled),
    add(RValue, imm(16'd1)),
    at(LBridgeEnabled),
    write(imm(CfgBridgeEnable), RValue),
    at(LBuses),
    wide(RValue, 32'h0001_0100),  // primary 0, secondary 1, subordinate 1
    write(imm(CfgBuses), RValue),
    wide(RValue, BridgeWindow),
    write(imm(CfgMemory), RValue),
    load(RValue, imm(16'hfff0)),  // base above limit: no window
    write(imm(CfgPrefetch), RValue),
    load(RValue, imm(CommandMaster)),
    write(imm(CfgCommand), RValue),

    load(RTemp, imm(16'(TrainedWaitMs))),
    call(LDelay),

    // A device that is still starting answers with a retry status, which bridges show in different ways.
    enter(
        StepDevice
    ),
    out(OutSpace, imm(16'(SpaceDevice))),
    deadline(imm(16'(DeviceMs))),
    catch_at(LProbeAgain),
    at(LProbe),
    read(RValue, imm(CfgId)),
    load(RTemp, of(RValue)),
    mask(RTemp, imm(16'hffff)),
    jump(IfZero, LProbeAgain),
    compare(RTemp, imm(16'h0001)),
    jump(IfZero, LProbeAgain),
    compare(RTemp, imm(16'hffff)),
    jump(IfNotZero, LDevice),
    at(LProbeAgain),
    catch_at(LFailed),
    fail(IfLinkDown, ErrLinkLost),
    compare(RDeadline, get(InNow)),
    fail(IfNegative, ErrNoDevice),
    load(RTemp, imm(16'd1)),
    call(LDelay),
    catch_at(LProbeAgain),
    go(LProbe),

    at(LDevice),
    catch_at(LFailed),
    read(RValue, imm(CfgClass)),
    load(RTemp, of(RValue)),
    shift(RTemp, 5'd8),
    sub(RTemp, high(16'h0001)),
    compare(RTemp, imm(16'h0802)),
    fail(IfNotZero, ErrClass),
    read(RValue, imm(CfgHeader)),
    test(RValue, high(16'h007f)),
    fail(IfNotZero, ErrHeader),

    // Units of 16 bytes make a BAR's size fit and drop the type bits.
    enter(
        StepBar
    ),
    load(RValue, imm(CommandQuiet)),
    write(imm(CfgCommand), RValue),
    read(RValue, imm(CfgBar0)),
    load(RPointer, of(RValue)),
    test(RValue, imm(16'h0003)),  // an I/O BAR, or one below 1 MiB, is refused
    fail(IfNotZero, ErrBarType),
    load(RTemp, imm(16'd0)),
    sub(RTemp, imm(16'd1)),
    write(imm(CfgBar0), RTemp),
    read(RTemp, imm(CfgBar0)),
    shift(RTemp, 5'd4),
    load(RBarUnits, high(16'h1000)),
    sub(RBarUnits, of(RTemp)),
    load(RValue, of(RBarUnits)),
    wide(RTemp, BarWindowBytes >> 4),
    compare(RTemp, of(RBarUnits)),
    fail(IfCarry, ErrBarSize),
    wide(RTemp, BarBase[31:0]),
    write(imm(CfgBar0), RTemp),
    test(RPointer, imm(16'h0004)),  // 64-bit BAR
    jump(IfZero, LBarDone),
    wide(RTemp, BarBase[63:32]),
    write(imm(CfgBar1), RTemp),
    at(LBarDone),

    // Both ends get the smaller of their payload sizes, read requests of 512 bytes, no relaxed ordering and no
    // no-snoop. Both wait for completions for 50 ms at most, which is less than spate_mmio waits.
    enter(
        StepCapabilities
    ),
    call(LFindCapability),
    fail(IfZero, ErrCapability),
    call(LTimeout),
    load(RDoneLow, of(RPointer)),
    add(RPointer, imm(16'h04)),
    read(ROther, of(RPointer)),  // Device Capabilities
    add(RPointer, imm(16'h0c)),
    read(RValue, of(RPointer)),
    shift(RValue, 5'd16),
    out(OutLinkStatus, of(RValue)),
    out(OutSpace, imm(16'(SpaceLocal))),
    load(RPayload, imm(16'd0)),
    call(LFindCapability),
    jump(IfZero, LNoRootCapability),
    call(LTimeout),
    load(RDoneHigh, of(RPointer)),
    add(RPointer, imm(16'h04)),
    read(RPayload, of(RPointer)),
    mask(RPayload, imm(16'd7)),
    at(LNoRootCapability),
    load(RTemp, of(ROther)),
    mask(RTemp, imm(16'd7)),
    compare(RTemp, of(RPayload)),
    jump(IfNotCarry, LPayload),
    load(RPayload, of(RTemp)),
    at(LPayload),
    add(RPayload, of(RPayload)),
    add(RPayload, of(RPayload)),
    add(RPayload, of(RPayload)),
    add(RPayload, of(RPayload)),
    add(RPayload, of(RPayload)),
    add(RPayload, imm(16'h2000)),
    test(RPointer, imm(16'hffff)),  // of the root port; without the capability there is nothing to set
    jump(IfZero, LController),
    add(RDoneHigh, imm(16'h08)),
    write(of(RDoneHigh), RPayload),

    at(LController),
    out(OutSpace, imm(16'(SpaceDevice))),
    mask(ROther, imm(16'h0020)),  // extended tags, if the device has them
    add(ROther, of(ROther)),
    add(ROther, of(ROther)),
    add(ROther, of(ROther)),
    add(RPayload, of(ROther)),
    add(RDoneLow, imm(16'h08)),
    write(of(RDoneLow), RPayload),
    load(RValue, imm(CommandMemory)),
    write(imm(CfgCommand), RValue)
  };

  // ---- from the controller's registers to an admin queue ----

  // The width follows from the number of instructions.
  // verilog_lint: waive explicit-parameter-storage-type
  localparam Controller = {
    enter(StepController),
    out(OutSpace, imm(16'(SpaceBar))),
    read(RValue, imm(RegCapLow)),
    out(OutCapLow, of(RValue)),
    load(RQueueEntries, of(RValue)),
    mask(RQueueEntries, imm(16'hffff)),
    add(RQueueEntries, imm(16'd1)),
    load(RTimeoutMs, of(RValue)),  // in units of 500 ms, treated as 512 ms
    shift(RTimeoutMs, 5'd16),
    mask(RTimeoutMs, imm(16'hff00)),
    add(RTimeoutMs, of(RTimeoutMs)),
    add(RTimeoutMs, imm(16'd512)),
    read(RValue, imm(RegCapHigh)),
    test(RValue, imm(16'h0020)),
    fail(IfZero, ErrCommandSet),
    test(RValue, high(16'h000f)),
    fail(IfNotZero, ErrPageSize),
    mask(RValue, imm(16'h000f)),
    out(OutStride, of(RValue)),
    load(RHeadDoorbell, imm(16'd4)),
    at(LStride),
    sub(RValue, imm(16'd1)),
    jump(IfCarry, LStrideDone),
    add(RHeadDoorbell, of(RHeadDoorbell)),
    go(LStride),
    at(LStrideDone),
    load(RTemp, of(RHeadDoorbell)),  // four doorbells, in 16 bytes
    shift(RTemp, 5'd2),
    add(RTemp, imm(RegDoorbells >> 4)),
    add(RHeadDoorbell, imm(RegDoorbells)),
    load(RValue, of(RBarUnits)),
    compare(RBarUnits, of(RTemp)),
    fail(IfCarry, ErrBarSize),
    read(RValue, imm(RegVs)),
    compare(RValue, high(16'h0001)),
    fail(IfCarry, ErrVersion),
    load(RValue, of(RQueueEntries)),
    load(RCount, imm(16'(QueueShiftMax))),
    load(RTemp, imm(16'(32'd1 << QueueShiftMax))),
    at(LQueueShift),
    compare(RQueueEntries, of(RTemp)),
    jump(IfNotCarry, LQueueShiftDone),
    shift(RTemp, 5'd1),
    sub(RCount, imm(16'd1)),
    go(LQueueShift),
    at(LQueueShiftDone),
    load(RQueueEntries, of(RTemp)),
    out(OutQueueShift, of(RCount)),
    test(RCount, imm(16'hffff)),
    fail(IfZero, ErrQueueSize),

    enter(StepDisable),
    load(RTemp, imm(16'd0)),
    sub(RTemp, imm(16'd1)),
    write(imm(RegIntms), RTemp),
    call(LDisableController),

    // The reads above pushed the drive's writes. Writes that arrive from now on are of the old epoch.
    enter(
        StepQuiet
    ),
    deadline(imm(16'(QuietMs))),
    at(LQuietPoll),
    jump(IfQuiet, LQueuesReset),
    compare(RDeadline, get(InNow)),
    fail(IfNegative, ErrQuiet),
    go(LQuietPoll),
    at(LQueuesReset),
    flip(RWindow, epoch_bit()),
    flip(RCid, high(16'h8000)),
    load(RAdminMs, imm(16'(DeadlineMs))),
    load(RAdminTail, imm(16'd0)),
    load(RAdminHead, imm(16'd0)),
    out(OutAdminEntry, imm(16'd0)),
    out(OutPulse, imm(PulseQueues | PulseForget)),
    out(OutSpace, imm(16'(SpaceDevice))),
    load(RValue, imm(CommandMaster)),
    write(imm(CfgCommand), RValue),
    out(OutSpace, imm(16'(SpaceBar))),

    enter(StepEnable),
    wide(RTemp, Aqa),
    write(imm(RegAqa), RTemp),
    load(RTemp, of(RWindow)),
    write(imm(RegAsqLow), RTemp),
    add(RTemp, imm(OffsetAdminCq[15:0])),
    write(imm(RegAcqLow), RTemp),
    wide(RTemp, WindowBase[63:32]),
    write(imm(RegAsqHigh), RTemp),
    write(imm(RegAcqHigh), RTemp),
    wide(RTemp, CcEnabled),
    write(imm(RegCc), RTemp),
    out(OutPower, imm(16'(PowerWritten))),
    deadline(of(RTimeoutMs)),
    load(RPollAt, get(InNow)),
    add(RPollAt, imm(16'(PollMs))),
    at(LEnablePoll),
    read(RValue, imm(RegCsts)),
    test(RValue, imm(16'h0002)),
    fail(IfNotZero, ErrFatal),
    test(RValue, imm(16'h0001)),
    jump(IfNotZero, LIdentifyController),
    compare(RDeadline, get(InNow)),
    fail(IfNegative, ErrEnable),
    fail(IfLinkDown, ErrLinkLost),
    load(RTemp, imm(16'd0)),
    call(LDelay),
    go(LEnablePoll)
  };

  // ---- Identify; features; the I/O queues ----

  // The width follows from the number of instructions.
  // verilog_lint: waive explicit-parameter-storage-type
  localparam Identify = {
    at(LIdentifyController),
    enter(StepIdentifyController),
    call(LAdminClear),
    entry(4'd10, imm(16'd1)),
    call(LAdminIdentify),
    fail(IfNotZero, ErrIdentify),
    page(RValue, imm(16'd128)),  // SQES, CQES: required size in the low half, maximum in the high half
    load(RTemp, of(RValue)),
    mask(RTemp, imm(16'h000f)),
    compare(RTemp, imm(16'd7)),
    fail(IfNotCarry, ErrEntrySize),
    load(RTemp, of(RValue)),
    mask(RTemp, imm(16'h00f0)),
    compare(RTemp, imm(16'h0060)),
    fail(IfCarry, ErrEntrySize),
    load(RTemp, of(RValue)),
    mask(RTemp, imm(16'h0f00)),
    compare(RTemp, imm(16'h0500)),
    fail(IfNotCarry, ErrEntrySize),
    load(RTemp, of(RValue)),
    mask(RTemp, imm(16'hf000)),
    compare(RTemp, imm(16'h4000)),
    fail(IfCarry, ErrEntrySize),

    load(RMark, imm(16'd1)),
    load(RPointer, imm(16'd1)),  // the serial number
    load(RCount, imm(16'd5)),
    call(LFold),

    load(RTemp, imm(16'(SectorsMax))),
    page(RCount, imm(16'd19)),  // MDTS, byte 77: none, or log2 of 4 KiB pages
    shift(RCount, 5'd8),
    mask(RCount, imm(16'h00ff)),
    jump(IfZero, LMdtsDone),
    load(RTemp, imm(16'd8)),
    at(LMdts),
    compare(RTemp, imm(16'(SectorsMax))),
    jump(IfNotCarry, LMdtsLimit),
    sub(RCount, imm(16'd1)),
    jump(IfCarry, LMdtsDone),
    add(RTemp, of(RTemp)),
    go(LMdts),
    at(LMdtsLimit),
    load(RTemp, imm(16'(SectorsMax))),
    at(LMdtsDone),
    load(RPayload, of(RTemp)),

    page(RShutdownMs, imm(16'd22)),  // RTD3E, in µs; DeadlineMs is added
    shift(RShutdownMs, 5'd10),
    add(RShutdownMs, imm(16'(DeadlineMs))),
    load(RFeatures, imm(16'd0)),
    page(RTemp, imm(16'd131)),  // VWC, byte 525
    test(RTemp, imm(16'h0100)),
    jump(IfZero, LNoCache),
    add(RFeatures, imm(16'd1)),
    at(LNoCache),
    out(OutVolatileCache, of(RFeatures)),
    page(RTemp, imm(16'd64)),  // OACS
    test(RTemp, imm(16'd2)),
    jump(IfZero, LNoFormat),
    add(RFeatures, imm(16'd2)),
    at(LNoFormat),
    page(RTemp, imm(16'd130)),  // ONCS
    test(RTemp, imm(16'd4)),
    jump(IfZero, LNoDeallocate),
    add(RFeatures, imm(16'd4)),
    at(LNoDeallocate),
    page(RTemp, imm(16'd82)),  // SANICAP
    test(RTemp, imm(16'd7)),
    jump(IfZero, LNoSanitize),
    add(RFeatures, imm(16'd8)),
    at(LNoSanitize),
    page(RDoneLow, imm(16'd66)),  // APSTA, byte 265
    page(RDoneHigh, imm(16'd68)),  // HMPRE

    // Controllers of version 1.0 do not have the list.
    enter(
        StepNamespaceList
    ),
    call(LAdminClear),
    entry(4'd10, imm(16'd2)),
    call(LAdminIdentify),
    jump(IfNotZero, LNamespaceOne),
    page(RNsid, imm(16'd0)),
    fail(IfZero, ErrNoNamespace),
    go(LFeatures),
    at(LNamespaceOne),
    load(RNsid, imm(16'd1)),

    // Power states and host memory buffer: if the drive refuses a change, it works without it.
    at(
        LFeatures
    ),
    out(OutNsid, of(RNsid)),
    enter(StepFeatures),
    load(ROpcode, imm(16'h09)),
    test(RDoneLow, imm(16'h0100)),
    jump(IfZero, LNoPowerStates),
    call(LAdminClear),
    entry(4'd10, imm(16'h0c)),
    load(RTemp, imm(OffsetAdminPage[15:0] + 16'h800)),  // the end of the namespace list: zeros
    call(LPrp),
    call(LAdmin),
    at(LNoPowerStates),
    test(RDoneHigh, imm(16'hffff)),
    jump(IfZero, LNoHostBuffer),
    call(LAdminClear),
    entry(4'd10, imm(16'h0d)),
    call(LAdmin),
    at(LNoHostBuffer),
    call(LAdminClear),
    entry(4'd10, imm(16'h07)),  // one queue pair
    call(LAdmin),
    fail(IfNotZero, ErrFeatures),

    enter(StepIdentifyNamespace),
    call(LAdminClear),
    entry(4'd1, of(RNsid)),
    call(LAdminIdentify),
    fail(IfNotZero, ErrIdentify),
    page(RBlocksLow, imm(16'd0)),
    page(RBlocksHigh, imm(16'd1)),
    load(RValue, of(RBlocksHigh)),
    compare(RValue, imm(16'h0100)),
    fail(IfNotCarry, ErrTooLarge),
    load(RPointer, imm(16'd0)),  // its size
    load(RCount, imm(16'd2)),
    call(LFold),
    load(RPointer, imm(16'd26)),  // NGUID, EUI64
    load(RCount, imm(16'd6)),
    call(LFold),
    page(RTemp, imm(16'd6)),  // FLBAS, byte 26: bits 3:0 and 6:5
    shift(RTemp, 5'd16),
    load(RPointer, of(RTemp)),
    mask(RPointer, imm(16'h000f)),
    shift(RTemp, 5'd1),
    mask(RTemp, imm(16'h0030)),
    add(RPointer, of(RTemp)),
    add(RPointer, imm(16'd32)),
    page(RValue, of(RPointer)),  // the block's format
    test(RValue, imm(16'hffff)),
    fail(IfNotZero, ErrMetadata),
    load(RTemp, of(RValue)),
    shift(RTemp, 5'd16),
    mask(RTemp, imm(16'h00ff)),
    compare(RTemp, imm(16'd12)),
    jump(IfZero, LBlock4096),
    compare(RTemp, imm(16'd9)),
    fail(IfNotZero, ErrBlockSize),
    load(RMailboxBlocks, imm(16'd8)),
    go(LBlockDone),
    at(LBlock4096),
    load(RMailboxBlocks, imm(16'd1)),
    mask(RPayload, imm(16'hfff8)),
    at(LBlockDone),
    load(RTemp, of(RBlocksLow)),
    shift(RTemp, 5'd1),
    add(RTemp, of(RBlocksHigh)),  // not zero unless there is at most one block
    fail(IfZero, ErrNoNamespace),

    // Another drive must not get the commands that wait: they would destroy its data, and its block size may differ.
    load(
        RCount, imm(16'd1)
    ),  // the block's format
    call(LFold),
    load(RTemp, of(RKnown)),
    jump(IfZero, LNewDrive),
    compare(RTemp, of(RMark)),
    jump(IfZero, LNewDrive),
    test(RReruns, imm(AnyDrive)),
    fail(IfZero, ErrOtherDrive),
    out(OutGone, imm(16'd1)),  // makes all modules end the commands of the drive before
    out(OutGone, imm(16'd0)),
    at(LNewDrive),
    mask(RReruns, imm(16'h00ff)),
    load(RKnown, of(RMark)),
    out(OutBlocksLow, of(RBlocksLow)),
    out(OutBlocksHigh, of(RBlocksHigh)),
    out(OutBlock4096, of(RMailboxBlocks)),  // 1 or 8: bit 0 tells
    out(OutSectorsMax, of(RPayload)),

    enter(StepQueues),
    load(RCount, of(RQueueEntries)),  // dword 10: entries - 1 in the upper half, the queue's identifier 1 in the lower
    sub(RCount, imm(16'd1)),
    load(RPointer, imm(16'd16)),
    at(LQueueSize),
    add(RCount, of(RCount)),
    sub(RPointer, imm(16'd1)),
    jump(IfNotZero, LQueueSize),
    add(RCount, imm(16'd1)),
    call(LAdminClear),
    load(ROpcode, imm(16'h05)),
    entry(4'd10, of(RCount)),
    entry(4'd11, imm(16'd1)),  // contiguous, no interrupts
    load(RTemp, high(16'(OffsetCq >> 16))),
    call(LPrp),
    call(LAdmin),
    fail(IfNotZero, ErrCreateQueue),
    call(LAdminClear),
    load(ROpcode, imm(16'h01)),
    entry(4'd10, of(RCount)),
    wide(RTemp, 32'h0001_0001),  // completion queue 1, contiguous
    entry(4'd11, of(RTemp)),
    load(RTemp, high(16'(OffsetSq >> 16))),
    call(LPrp),
    call(LAdmin),
    fail(IfNotZero, ErrCreateQueue),

    // The log is read before `ready`: it is known whether power was lost before any later command.
    enter(
        StepHealth
    ),
    call(LHealth),
    enter(StepReady),
    catch_at(LRecover),
    out(OutPulse, imm(PulseForget)),
    load(RPollAt, get(InNow)),
    add(RPollAt, imm(16'(PollMs))),
    out(OutReady, imm(16'd1))
  };

  // ---- ready, recovering, gone ----

  // The width follows from the number of instructions.
  // verilog_lint: waive explicit-parameter-storage-type
  localparam Loop = {
    at(LIdle),
    jump(IfGone, LGoneWait),
    at(LReady),
    call(LWatch),
    compare(RHealthAt, get(InNow)),
    jump(IfNotNegative, LCommand),
    call(LHealth),
    at(LCommand),
    jump(IfCommand, LDispatch),
    go(LReady),

    at(LRecover),
    out(OutError, of(RError)),
    out(OutDetail, of(RValue)),
    at(LRebuild),
    load(RError, imm(16'(ErrAccess))),
    out(OutHealthValid, imm(16'd0)),
    out(OutReady, imm(16'd0)),
    out(OutPush, imm(16'd0)),
    out(OutPulse, imm(PulseRecovery)),
    jump(IfDisabled, LDisabled),
    enter(StepRecovery),
    // A command that makes the drive fail becomes the oldest in the end, and spate_deadline then ends it.
    jump(
        IfNoProgress, LNoProgress
    ),
    load(RAttempts, imm(16'd0)),
    at(LNoProgress),
    add(RAttempts, imm(16'd1)),
    compare(RAttempts, imm(16'(AttemptsMax + 1))),
    jump(IfNotCarry, LGone),
    jump(IfLinkDown, LRelink),
    // The controller is stopped while it can still finish its accesses. A controller that does not stop is reset.
    catch_at(
        LPerst
    ),
    out(OutSpace, imm(16'(SpaceBar))),
    call(LDisableController),
    out(OutSpace, imm(16'(SpaceDevice))),
    load(RValue, imm(CommandMemory)),
    write(imm(CfgCommand), RValue),
    at(LRelink),
    catch_at(LFailed),
    jump(IfLinkUp, LReturned),
    out(OutAdapterReset, imm(16'd1)),
    load(RTemp, imm(16'd0)),
    call(LDelay),
    out(OutAdapterReset, imm(16'd0)),
    at(LReturned),
    deadline(imm(16'(LinkReturnMs))),
    go(LLinkWait),

    at(LFailed),
    out(OutError, of(RError)),
    out(OutDetail, of(RValue)),
    jump(IfDisabled, LDisabled),
    add(RAttempts, imm(16'd1)),
    compare(RAttempts, imm(16'(AttemptsMax))),
    jump(IfCarry, LPerst),
    at(LGone),
    call(LGiveUp),
    at(LGoneWait),
    jump(IfDisabled, LDisabled),
    jump(IfNoCommand, LGoneWait),
    load(RTemp, get(InCommand)),
    mask(RTemp, imm(16'h000f)),
    compare(RTemp, imm(16'(OpRestart))),
    jump(IfNotZero, LRefuse),
    test(RReruns, imm(16'hffff)),
    jump(IfNotZero, LRefuse),  // this command was the restart, and it failed
    load(RReruns, imm(JustBringUp)),
    go(LStart),
    at(LRefuse),
    load(RDoneLow, imm(16'd0)),
    load(RDoneHigh, imm(16'd0)),
    load(RStatus, imm(16'(StatusGone))),
    go(LRespond)
  };

  // ---- side commands ----

  // The width follows from the number of instructions.
  // verilog_lint: waive explicit-parameter-storage-type
  localparam Commands = {
    at(LOk),
    load(RStatus, imm(16'(StatusOk))),
    go(LRespond),
    at(LInvalid),
    load(RStatus, imm(16'(StatusInvalid))),
    go(LRespond),
    at(LUnsupported),
    load(RStatus, imm(16'(StatusUnsupported))),
    go(LRespond),
    at(LLost),
    load(RStatus, imm(16'(StatusDeadline))),
    at(LRespond),
    out(OutDone, of(RDoneHigh)),
    out(OutDone, of(RDoneLow)),
    out(OutRespond, of(RStatus)),
    load(RReruns, imm(16'd0)),
    go(LIdle),

    // A command that a reset interrupted still waits. It is started again if repeating it does no harm.
    at(
        LDispatch
    ),
    load(RDoneLow, imm(16'd0)),
    load(RDoneHigh, imm(16'd0)),
    add(RReruns, imm(16'd1)),
    compare(RReruns, imm(JustBringUp + 16'd1)),
    jump(IfZero, LOk),
    compare(RReruns, imm(16'(RerunsMax + 2))),
    jump(IfNotCarry, LLost),
    load(ROther, get(InCommand)),
    mask(ROther, imm(16'h000f)),
    jump(IfZero, LFlush),
    compare(ROther, imm(16'(OpWrite))),
    jump(IfZero, LMailboxWrite),
    compare(ROther, imm(16'(OpRead))),
    jump(IfZero, LMailboxRead),
    compare(ROther, imm(16'(OpDeallocate))),
    jump(IfZero, LDeallocate),
    compare(ROther, imm(16'(OpSanitize))),
    jump(IfZero, LSanitize),
    compare(ROther, imm(16'(OpShutdown))),
    jump(IfZero, LShutdown),
    compare(RReruns, imm(16'd1)),
    jump(IfNotZero, LLost),
    compare(ROther, imm(16'(OpFormat))),
    jump(IfZero, LFormat),
    compare(ROther, imm(16'(OpRestart))),
    jump(IfZero, LRestart),
    compare(ROther, imm(16'(OpRawAdmin))),
    jump(IfZero, LRawAdmin),
    compare(ROther, imm(16'(OpRawIo))),
    jump(IfNotZero, LInvalid),

    out(OutSide, imm(16'd1)),
    fill(get(InRaw)),
    call(LRawPages),
    load(RRetries, imm(16'd0)),
    call(LSide),
    load(RDoneLow, get(InSideResult)),
    go(LRespond),

    at(LRawAdmin),
    load(ROpcode, get(InRaw)),
    mask(ROpcode, imm(16'h00fa)),
    jump(IfZero, LInvalid),  // 0, 1, 4, 5 delete and create queues
    out(OutSide, imm(16'd0)),
    fill(get(InRaw)),
    call(LRawPages),
    compare(ROpcode, imm(16'h000c)),  // Asynchronous Event Request: has no answer until an event occurs
    jump(IfZero, LInvalid),
    compare(ROpcode, imm(16'h000d)),  // these three change the namespace without the core's knowledge
    jump(IfZero, LInvalid),
    compare(ROpcode, imm(16'h0015)),
    jump(IfZero, LInvalid),
    compare(ROpcode, imm(16'h0080)),
    jump(IfZero, LInvalid),
    call(LAdminOnce),
    load(RDoneLow, get(InAdminResult)),
    go(LRespond),

    at(LFlush),
    call(LSideClear),
    load(ROpcode, imm(16'h00)),
    call(LSide),
    jump(IfNotZero, LRespond),
    load(RDoneLow, get(InWritten)),
    load(RDoneHigh, get(InSideStatus)),
    shift(RDoneHigh, 5'd24),
    // RStatus is StatusOk. What had completed before a loss of power is not durable, although the drive has flushed.
    at(
        LDurable
    ),
    test(RFeatures, imm(16'd1)),
    jump(IfZero, LRespond),
    jump(IfTold, LRespond),
    out(OutPower, imm(16'(PowerTold))),
    load(RStatus, imm(16'(StatusPower))),
    go(LRespond),

    at(LMailboxWrite),
    load(ROpcode, imm(16'h01)),
    go(LTransfer),
    at(LMailboxRead),
    load(ROpcode, imm(16'h02)),
    at(LTransfer),
    load(RTemp, get(InCommand)),
    mask(RTemp, imm(16'h0030)),
    compare(RTemp, imm(16'(SourceMailbox) << 4)),
    jump(IfNotZero, LInvalid),
    load(RTemp, get(InBlocks)),
    compare(RMailboxBlocks, of(RTemp)),
    jump(IfCarry, LInvalid),
    call(LCheckRange),
    jump(IfNotZero, LRespond),
    call(LSideClear),
    entry(4'd10, get(InLba)),
    load(ROther, get(InCommand)),
    shift(ROther, 5'd8),
    mask(ROther, imm(16'h00ff)),
    entry(4'd11, of(ROther)),
    load(RTemp, get(InBlocks)),
    sub(RTemp, imm(16'd1)),
    load(ROther, get(InCommand)),
    test(ROther, imm(16'h0040)),
    jump(IfZero, LNoFua),
    add(RTemp, high(16'h4000)),
    at(LNoFua),
    entry(4'd12, of(RTemp)),
    load(RTemp, imm(OffsetMailbox[15:0])),
    at(LBlocksRespond),
    call(LPrp),
    call(LSide),
    jump(IfNotZero, LRespond),
    load(RDoneLow, get(InBlocks)),
    go(LRespond),

    at(LDeallocate),
    test(RFeatures, imm(16'd4)),
    jump(IfZero, LUnsupported),
    call(LCheckRange),
    jump(IfNotZero, LRespond),
    call(LSideClear),
    load(ROpcode, imm(16'h09)),
    entry(4'd11, imm(16'd4)),
    load(RTemp, imm(OffsetRange[15:0])),
    go(LBlocksRespond),

    // The block size may change, so the drive is brought up again afterwards.
    at(
        LFormat
    ),
    test(RFeatures, imm(16'd2)),
    jump(IfZero, LUnsupported),
    call(LDrain),
    jump(IfNotZero, LRespond),
    // No command may begin meanwhile or be split with the old block size.
    out(
        OutReady, imm(16'd0)
    ),
    load(RStatus, imm(16'(StatusBusy))),
    jump(IfIdle, LFormatAlone),
    at(LFormatEnd),
    out(OutReady, imm(16'd1)),
    go(LRespond),
    at(LFormatAlone),
    call(LAdminClear),
    entry(4'd1, of(RNsid)),
    load(RTemp, get(InCommand)),
    shift(RTemp, 5'd16),
    entry(4'd10, of(RTemp)),
    load(ROpcode, imm(16'h80)),
    load(RAdminMs, high(16'h0100)),  // more than four hours
    add(RReruns, imm(AnyDrive)),  // a format that a reset interrupted may have been carried out
    call(LAdmin),
    mask(RReruns, imm(16'h00ff)),
    load(RAdminMs, imm(16'(DeadlineMs))),
    test(RStatus, imm(16'hffff)),
    jump(IfNotZero, LFormatEnd),
    load(RReruns, imm(JustBringUp | AnyDrive)),
    go(LRebuild),

    // Commands that wait in the data path are for this drive only.
    at(
        LRestart
    ),
    load(RReruns, imm(JustBringUp | AnyDrive)),
    out(OutReady, imm(16'd0)),
    out(OutPulse, imm(PulseRecovery)),
    jump(IfIdle, LStart),
    load(RReruns, imm(JustBringUp)),
    go(LStart),

    // A reset does not stop a sanitize operation: a repeated command ends with "sanitize in progress" (1Dh), and the
    // program waits for the operation's end. The repetition is needed because only it tells whether the first command
    // reached the drive: the log may be of an older operation that succeeded.
    at(
        LSanitize
    ),
    test(RFeatures, imm(16'd8)),
    jump(IfZero, LUnsupported),
    call(LDrain),
    jump(IfNotZero, LRespond),
    call(LAdminClear),
    load(RTemp, get(InCommand)),
    shift(RTemp, 5'd16),
    entry(4'd10, of(RTemp)),
    load(ROpcode, imm(16'h84)),
    call(LAdmin),
    jump(IfZero, LSanitizePoll),
    load(RTemp, of(RStatus)),
    mask(RTemp, imm(16'h07ff)),
    compare(RTemp, imm(16'h001d)),
    jump(IfNotZero, LRespond),
    at(LSanitizePoll),
    load(RTemp, imm(16'(PollMs))),
    call(LDelay),
    call(LWatch),
    call(LAdminClear),
    wide(RTemp, 32'h007f_0081),
    entry(4'd10, of(RTemp)),
    load(ROpcode, imm(16'h02)),
    call(LAdminPage),
    jump(IfNotZero, LRespond),
    page(RTemp, imm(16'd0)),
    shift(RTemp, 5'd16),
    mask(RTemp, imm(16'h0007)),
    compare(RTemp, imm(16'd2)),
    jump(IfZero, LSanitizePoll),
    compare(RTemp, imm(16'd1)),
    jump(IfZero, LOk),
    compare(RTemp, imm(16'd4)),
    jump(IfZero, LOk),  // completed, without deallocation
    load(RStatus, imm(16'h001c)),  // sanitize failed, or there was no such operation
    go(LRespond),

    at(LShutdown),
    call(LDrain),
    load(ROther, of(RStatus)),  // the error of what could not be done before it; the drive is shut down nevertheless
    enter(StepShutdown),
    test(RFeatures, imm(16'd1)),
    jump(IfZero, LShutdownQueues),
    call(LSideClear),
    load(ROpcode, imm(16'h00)),
    call(LSide),
    jump(IfZero, LShutdownQueues),
    load(ROther, of(RStatus)),
    at(LShutdownQueues),
    out(OutReady, imm(16'd0)),
    call(LAdminClear),
    load(ROpcode, imm(16'h00)),  // delete the submission queue
    entry(4'd10, imm(16'd1)),
    call(LAdmin),
    load(ROpcode, imm(16'h04)),  // delete the completion queue
    call(LAdmin),
    wide(RTemp, CcShutdown),
    write(imm(RegCc), RTemp),
    deadline(of(RShutdownMs)),
    at(LShutdownPoll),
    read(RValue, imm(RegCsts)),
    load(RTemp, of(RValue)),
    mask(RTemp, imm(16'h000c)),
    load(RStatus, imm(16'(ErrShutDown))),
    compare(RTemp, imm(16'h0008)),
    jump(IfZero, LShutdownEnd),
    load(RStatus, imm(16'(ErrShutdownDeadline))),
    compare(RDeadline, get(InNow)),
    jump(IfNegative, LShutdownEnd),
    load(RTemp, imm(16'd0)),
    call(LDelay),
    go(LShutdownPoll),
    at(LShutdownEnd),
    out(OutError, of(RStatus)),
    out(OutDetail, of(RValue)),
    call(LGiveUp),
    compare(RStatus, imm(16'(ErrShutDown))),
    jump(IfNotZero, LLost),
    out(OutPower, imm(16'(PowerSafe))),
    load(RStatus, of(ROther)),
    jump(IfZero, LDurable),
    go(LRespond)
  };

  // ---- routines ----

  // The width follows from the number of instructions.
  // verilog_lint: waive explicit-parameter-storage-type
  localparam Routines = {
    // An admin command. The caller writes dwords after LAdminClear and sets ROpcode. RStatus and the zero flag have the
    // status.
    at(
        LAdminClear
    ),
    out(OutSide, imm(16'd0)),
    fill(imm(16'd0)),
    ret(),
    at(LAdminIdentify),
    load(ROpcode, imm(16'h06)),
    at(LAdminPage),
    load(RTemp, imm(OffsetAdminPage[15:0])),
    call(LPrp),
    at(LAdmin),
    load(RRetries, imm(16'd3)),
    go(LAdminTry),
    at(LAdminOnce),
    load(RRetries, imm(16'd0)),
    at(LAdminTry),
    add(RCid, high(16'd1)),
    mask(RCid, high(16'h80ff)),
    load(RTemp, of(RCid)),
    add(RTemp, of(ROpcode)),
    entry(4'd0, of(RTemp)),
    load(RTemp, of(RAdminTail)),
    add(RTemp, imm(16'd4)),
    out(OutPulse, imm(PulseAdminTaken)),
    out(OutAdminEntry, of(RTemp)),
    add(RAdminTail, imm(16'd1)),
    mask(RAdminTail, imm(16'd3)),
    write(imm(RegDoorbells), RAdminTail),
    deadline(of(RAdminMs)),
    at(LAdminWait),
    jump(IfAdminDone, LAdminCompletion),
    call(LWatch),
    load(RValue, of(ROpcode)),
    compare(RDeadline, get(InNow)),
    fail(IfNegative, ErrAdminDeadline),
    go(LAdminWait),
    at(LAdminCompletion),
    load(RStatus, get(InAdminStatus)),
    out(OutPulse, imm(PulseAdminTaken)),
    add(RAdminHead, imm(16'd1)),
    mask(RAdminHead, imm(16'd3)),
    write(of(RHeadDoorbell), RAdminHead),
    load(RTemp, of(RStatus)),
    mask(RTemp, high(16'hffff)),
    compare(RTemp, of(RCid)),
    jump(IfNotZero, LAdminWait),  // a completion of an earlier command: keep waiting
    mask(RStatus, imm(16'h7fff)),
    jump(IfZero, LAdminReturn),
    test(RStatus, imm(DoNotRetry)),
    jump(IfNotZero, LAdminReturn),
    sub(RRetries, imm(16'd1)),
    jump(IfCarry, LAdminReturn),
    load(RTemp, imm(16'(RetryMs))),
    call(LDelay),
    go(LAdminTry),
    at(LAdminReturn),
    out(OutAdminEntry, imm(16'd0)),
    load(RValue, of(RStatus)),
    ret(),

    // The same for a side command.
    at(
        LSideClear
    ),
    out(OutSide, imm(16'd1)),
    fill(imm(16'd0)),
    entry(4'd1, of(RNsid)),
    load(RRetries, imm(16'd7)),
    ret(),
    at(LSide),
    add(RCid, high(16'd1)),
    mask(RCid, high(16'h80ff)),
    load(RTemp, of(RCid)),
    add(RTemp, high(16'h0100)),
    add(RTemp, of(ROpcode)),
    entry(4'd0, of(RTemp)),
    out(OutPush, imm(16'd1)),
    deadline(imm(16'(DeadlineMs))),
    at(LSideWait),
    jump(IfSideDone, LSideDone),
    call(LWatch),
    load(RValue, of(ROpcode)),
    compare(RDeadline, get(InNow)),
    fail(IfNegative, ErrSideDeadline),
    go(LSideWait),
    at(LSideDone),
    load(RStatus, get(InSideStatus)),
    mask(RStatus, imm(16'h7fff)),
    jump(IfZero, LReturnStatus),
    test(RStatus, imm(DoNotRetry)),
    jump(IfNotZero, LReturnStatus),
    sub(RRetries, imm(16'd1)),
    jump(IfCarry, LReturnStatus),
    load(RTemp, imm(16'(RetryMs))),
    call(LDelay),
    go(LSide),

    // Checks for at least one block, and none beyond the namespace. RStatus and the zero flag have the status.
    at(
        LCheckRange
    ),
    load(RStatus, imm(16'(StatusInvalid))),
    load(RPointer, get(InBlocks)),
    jump(IfZero, LReturnStatus),
    load(RStatus, imm(16'(StatusRange))),
    load(RTemp, get(InCommand)),
    test(RTemp, imm(16'h0080)),
    jump(IfNotZero, LReturnStatus),
    shift(RTemp, 5'd8),
    mask(RTemp, imm(16'h00ff)),
    add(RPointer, get(InLba)),
    jump(IfNotCarry, LEndLow),
    add(RTemp, imm(16'd1)),
    at(LEndLow),
    compare(RBlocksLow, of(RPointer)),
    jump(IfNotCarry, LEndHigh),
    add(RTemp, imm(16'd1)),
    at(LEndHigh),
    compare(RBlocksHigh, of(RTemp)),
    jump(IfCarry, LReturnStatus),
    load(RStatus, imm(16'(StatusOk))),
    at(LReturnStatus),
    test(RStatus, imm(16'hffff)),
    ret(),

    // Waits until no command of the data path is in flight, or sets RStatus to StatusBusy.
    at(
        LDrain
    ),
    deadline(imm(16'(DeadlineMs))),
    at(LDrainPoll),
    load(RStatus, imm(16'(StatusOk))),
    jump(IfIdle, LReturnStatus),
    call(LWatch),
    load(RStatus, imm(16'(StatusBusy))),
    compare(RDeadline, get(InNow)),
    jump(IfNegative, LReturnStatus),
    go(LDrainPoll),

    // The core sets the pointers of a raw command: no metadata; the mailbox as data, if the opcode transfers data.
    at(
        LRawPages
    ),
    load(ROpcode, get(InRaw)),
    mask(ROpcode, imm(16'h00ff)),
    entry(4'd4, imm(16'd0)),
    entry(4'd5, imm(16'd0)),
    entry(4'd6, imm(16'd0)),
    entry(4'd7, imm(16'd0)),
    entry(4'd8, imm(16'd0)),
    entry(4'd9, imm(16'd0)),
    test(ROpcode, imm(16'h0003)),
    jump(IfZero, LReturn),
    load(RTemp, imm(OffsetMailbox[15:0])),
    at(LPrp),  // PRP1 = RTemp in this epoch's half
    add(RTemp, of(RWindow)),
    entry(4'd6, of(RTemp)),
    wide(RTemp, WindowBase[63:32]),
    entry(4'd7, of(RTemp)),
    ret(),

    at(LHealth),
    call(LAdminClear),
    load(RTemp, imm(16'd0)),
    sub(RTemp, imm(16'd1)),
    entry(4'd1, of(RTemp)),  // of the whole controller
    wide(RTemp, 32'h007f_0002),  // 512 bytes of the SMART log
    entry(4'd10, of(RTemp)),
    load(ROpcode, imm(16'h02)),
    call(LAdminPage),
    load(RHealthAt, get(InNow)),
    add(RHealthAt, imm(16'(HealthMs))),
    test(RStatus, imm(16'hffff)),
    jump(IfNotZero, LNoHealth),
    page(RTemp, imm(16'd0)),
    jump(IfZero, LNoHealth),  // 0 K and no spare: a log without contents
    out(OutHealth0, of(RTemp)),
    page(RTemp, imm(16'd28)),
    out(OutPowerCycles, of(RTemp)),
    page(RTemp, imm(16'd1)),
    out(OutHealth1, of(RTemp)),
    page(RTemp, imm(16'd40)),
    out(OutMediaErrors, of(RTemp)),
    page(RTemp, imm(16'd36)),
    out(OutUnsafeShutdowns, of(RTemp)),
    out(OutPower, imm(16'(PowerLog))),
    out(OutHealthValid, imm(16'd1)),
    ret(),
    at(LNoHealth),
    out(OutPower, imm(16'(PowerNoLog))),
    ret(),

    // Checks for failures while the program waits for something else.
    at(
        LWatch
    ),
    fail(IfDisabled, ErrAccess),
    fail(IfLinkDown, ErrLinkLost),
    fail(IfRecover, ErrDataPath),
    compare(RPollAt, get(InNow)),
    jump(IfNotNegative, LReturn),
    read(RValue, imm(RegCsts)),
    test(RValue, imm(16'h0002)),
    fail(IfNotZero, ErrFatal),
    load(RPollAt, get(InNow)),
    add(RPollAt, imm(16'(PollMs))),
    jump(IfNotReady, LReturn),
    load(RAttempts, imm(16'd0)),  // it was healthy for a while
    at(LReturn),
    ret(),

    // In memory mode a response tells that the drive is done with the memory, so wait for its last writes.
    at(
        LGiveUp
    ),
    out(OutHealthValid, imm(16'd0)),
    out(OutReady, imm(16'd0)),
    out(OutPush, imm(16'd0)),
    out(OutPerst, imm(16'd0)),
    out(OutAdapterReset, imm(16'd1)),
    deadline(imm(16'(QuietMs))),
    at(LGivingUp),
    jump(IfQuiet, LGivenUp),
    compare(RDeadline, get(InNow)),
    jump(IfNotNegative, LGivingUp),
    at(LGivenUp),
    out(OutGone, imm(16'd1)),
    ret(),

    at(LDisableController),
    read(RValue, imm(RegCc)),
    test(RValue, imm(16'h0001)),
    jump(IfZero, LDisabling),
    sub(RValue, imm(16'd1)),
    write(imm(RegCc), RValue),
    test(RValue, high(16'hff00)),
    jump(IfNotZero, LDisabling),  // all ones: the drive did not answer
    out(OutPower, imm(16'(PowerStopped))),
    at(LDisabling),
    deadline(of(RTimeoutMs)),
    at(LDisablePoll),
    read(RValue, imm(RegCsts)),
    test(RValue, imm(16'h0001)),
    jump(IfZero, LWitness),
    fail(IfLinkDown, ErrLinkLost),
    compare(RDeadline, get(InNow)),
    fail(IfNegative, ErrDisable),
    load(RTemp, imm(16'd0)),
    call(LDelay),
    go(LDisablePoll),

    // Does the controller still have the admin queue that this core gave it? A VS of zeros or ones is no answer.
    at(
        LWitness
    ),
    wide(RTemp, Aqa),
    read(RValue, imm(RegAqa)),
    compare(RTemp, of(RValue)),
    jump(IfNotZero, LCleared),
    load(RTemp, of(RWindow)),
    read(RValue, imm(RegAsqLow)),
    compare(RTemp, of(RValue)),
    jump(IfNotZero, LCleared),
    add(RTemp, imm(OffsetAdminCq[15:0])),
    read(RValue, imm(RegAcqLow)),
    compare(RTemp, of(RValue)),
    jump(IfNotZero, LCleared),
    wide(RTemp, WindowBase[63:32]),
    read(RValue, imm(RegAsqHigh)),
    compare(RTemp, of(RValue)),
    jump(IfNotZero, LCleared),
    read(RValue, imm(RegAcqHigh)),
    compare(RTemp, of(RValue)),
    jump(IfNotZero, LCleared),
    out(OutPower, imm(16'(PowerKept))),
    ret(),
    at(LCleared),
    read(RValue, imm(RegVs)),
    fail(IfZero, ErrAccess),
    add(RValue, imm(16'd1)),
    fail(IfZero, ErrAccess),
    out(OutPower, imm(16'(PowerCleared))),
    ret(),

    // RPointer = the PCI Express capability in the chosen space, RTemp = its first dword; RPointer = 0 if there is
    // none.
    at(
        LFindCapability
    ),
    load(RCount, imm(16'd48)),
    read(RPointer, imm(CfgCapabilities)),
    at(LNextCapability),
    mask(RPointer, imm(16'h00fc)),
    jump(IfZero, LReturn),
    read(RTemp, of(RPointer)),
    load(RValue, of(RTemp)),
    mask(RValue, imm(16'h00ff)),
    compare(RValue, imm(16'h0010)),
    jump(IfZero, LFound),
    load(RPointer, of(RTemp)),
    shift(RPointer, 5'd8),
    sub(RCount, imm(16'd1)),
    jump(IfNotZero, LNextCapability),
    load(RPointer, imm(16'd0)),
    ret(),
    at(LFound),
    test(RPointer, imm(16'hffff)),
    ret(),

    // Device Control 2 of the capability at RPointer, whose first dword is RTemp: set the default completion time-out
    // range, 50 us to 50 ms, and clear all other bits. A capability of version 1 has no such register.
    at(
        LTimeout
    ),
    test(RTemp, high(16'h000e)),
    jump(IfZero, LReturn),
    load(RTemp, of(RPointer)),
    add(RTemp, imm(16'h28)),
    load(RValue, imm(16'd0)),
    write(of(RTemp), RValue),
    ret(),

    // Mixes RCount dwords of the page, from RPointer on, into the hash RMark. Their order matters.
    at(
        LFold
    ),
    load(RTemp, of(RMark)),
    add(RMark, of(RMark)),
    add(RMark, of(RTemp)),
    load(RTemp, of(RMark)),
    shift(RTemp, 5'd7),
    flip(RMark, of(RTemp)),
    page(RTemp, of(RPointer)),
    flip(RMark, of(RTemp)),
    add(RPointer, imm(16'd1)),
    sub(RCount, imm(16'd1)),
    jump(IfNotZero, LFold),
    ret(),

    // Waits for at least RTemp milliseconds.
    at(
        LDelay
    ),
    add(RTemp, get(InNow)),
    at(LDelayed),
    compare(RTemp, get(InNow)),
    jump(IfNotNegative, LDelayed),
    ret()
  };

  // ---- all of it ----

  // The width follows from the number of instructions.
  // verilog_lint: waive explicit-parameter-storage-type
  localparam Listing = {Start, Controller, Identify, Loop, Commands, Routines};

  spate_program #(
      .Lines($bits(Listing) / $bits(instruction_t)),
      .Listing(Listing)
  ) u_program (
      .clk_i,
      .fetch_i,
      .address_i,
      .instruction_o
  );

endmodule

`default_nettype wire
