// SPDX-License-Identifier: Apache-2.0
// Generated from rtl/core/spate_microcode.asm by tools/rtl/microcode.py: do not edit.
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

  localparam logic [31:0] BarLast = BarBase[31:0] + BarWindowBytes - 32'd1;
  localparam logic [31:0] BridgeWindow = {BarLast[31:20], 4'h0, BarBase[31:20], 4'h0};
  localparam bit Limited = CommandSectorsLimit < CommandSectorsMax;
  localparam int unsigned SectorsMax = Limited ? CommandSectorsLimit : CommandSectorsMax;

  localparam int unsigned Instructions = 1021;
  localparam int unsigned Width = $bits(instruction_t);
  localparam logic [Instructions-1:0][Width-1:0] Program = {

    // ---- from PERST# to a function with a BAR ----

    {DoMove, 5'd11, InImmediate, 16'h0000},  // 000  move    cid, 0
    {DoMove, 5'd9, InImmediate, 16'h0000},  // 001  move    reruns, 0
    {DoMove, 5'd17, InImmediate, 16'h0000},  // 002  move    known, 0
    {DoMove, 5'd15, InHigh, 16'((32'(WindowBase[31:0])) >> 16)},  // 003  wide    window, WindowBase[31:0]
    {DoAdd, 5'd15, InImmediate, 16'(32'(WindowBase[31:0]))},  // 004
    {DoJump, IfEnabled, InImmediate, 16'h000c},  // 005  jump    enabled, start
    // disabled:
    {DoOut, OutStep, InImmediate, 16'h0000},  // 006  enter   StepDisabled
    {DoCall, 5'd0, InImmediate, 16'h0399},  // 007  call    give_up
    // disabled_wait:
    {DoOut, OutGone, InImmediate, 16'h0001},  // 008  out     gone, 1
    {DoJump, IfEnabled, InImmediate, 16'h000c},  // 009  jump    enabled, start
    {DoJump, IfNoCommand, InImmediate, 16'h0008},  // 00a  jump    no_command, disabled_wait
    {DoJump, IfAlways, InImmediate, 16'h0209},  // 00b  jump    refuse
    // start:
    {DoJump, IfNotGone, InImmediate, 16'h000e},  // 00c  jump    not_gone, same_drive
    {DoMove, 5'd17, InImmediate, 16'h0000},  // 00d  move    known, 0
    // same_drive:
    {DoOut, OutGone, InImmediate, 16'h0000},  // 00e  out     gone, 0
    {DoMove, 5'd8, InImmediate, 16'h0000},  // 00f  move    attempts, 0
    // perst:
    {DoOut, OutStep, InImmediate, 16'h0001},  // 010  enter   StepPerst
    {DoOut, OutPower, InImmediate, 16'h0002},  // 011  out     power, PowerReset
    {DoMove, 5'd31, InImmediate, 16'h0001},  // 012  move    error, ErrAccess
    {DoCatch, 5'd0, InImmediate, 16'h01f8},  // 013  catch   failed
    {DoOut, OutHealthValid, InImmediate, 16'h0000},  // 014  out     health_valid, 0
    {DoOut, OutReady, InImmediate, 16'h0000},  // 015  out     ready, 0
    {DoOut, OutPush, InImmediate, 16'h0000},  // 016  out     push, 0
    {DoOut, OutPerst, InImmediate, 16'h0000},  // 017  out     perst, 0
    {DoJump, IfLinkDown, InImmediate, 16'h0020},  // 018  jump    link_down, hold
    {DoCatch, 5'd0, InImmediate, 16'h0020},  // 019  catch   hold
    {DoOut, OutSpace, InImmediate, 16'h0000},  // 01a  out     space, SpaceLocal
    {DoRead, 5'd1, InImmediate, 16'h003c},  // 01b  read    temp, CfgBridgeControl
    {DoTest, 5'd1, InHigh, 16'h0040},  // 01c  test    temp, BusReset
    {DoJump, IfNotZero, InImmediate, 16'h0020},  // 01d  jump    not_zero, hold
    {DoAdd, 5'd1, InHigh, 16'h0040},  // 01e  add     temp, BusReset
    {DoWrite, 5'd1, InImmediate, 16'h003c},  // 01f  write   CfgBridgeControl, temp
    // hold:
    {DoCatch, 5'd0, InImmediate, 16'h01f8},  // 020  catch   failed
    {DoOut, OutAdapterReset, InImmediate, 16'h0001},  // 021  out     adapter_reset, 1
    {DoMove, 5'd1, InImmediate, 16'(PerstMs)},  // 022  move    temp, PerstMs
    {DoCall, 5'd0, InImmediate, 16'h03f9},  // 023  call    delay
    {DoOut, OutAdapterReset, InImmediate, 16'h0000},  // 024  out     adapter_reset, 0
    {DoMove, 5'd1, InImmediate, 16'h0004},  // 025  move    temp, AdapterMs
    {DoCall, 5'd0, InImmediate, 16'h03f9},  // 026  call    delay
    {DoMove, 5'd5, InNow, 16'h0000},  // 027  arm     fall_deadline, LinkFallMs
    {DoAdd, 5'd5, InImmediate, 16'h00c8},  // 028
    // link_fall:
    {DoJump, IfLinkDown, InImmediate, 16'h002c},  // 029  jump    link_down, release
    {DoCompare, 5'd5, InNow, 16'h0000},  // 02a  compare fall_deadline, now
    {DoJump, IfNotNegative, InImmediate, 16'h0029},  // 02b  jump    not_negative, link_fall
    // release:
    {DoCatch, 5'd0, InImmediate, 16'h0033},  // 02c  catch   released
    {DoOut, OutSpace, InImmediate, 16'h0000},  // 02d  out     space, SpaceLocal
    {DoRead, 5'd1, InImmediate, 16'h003c},  // 02e  read    temp, CfgBridgeControl
    {DoTest, 5'd1, InHigh, 16'h0040},  // 02f  test    temp, BusReset
    {DoJump, IfZero, InImmediate, 16'h0033},  // 030  jump    zero, released
    {DoSub, 5'd1, InHigh, 16'h0040},  // 031  sub     temp, BusReset
    {DoWrite, 5'd1, InImmediate, 16'h003c},  // 032  write   CfgBridgeControl, temp
    // released:
    {DoCatch, 5'd0, InImmediate, 16'h01f8},  // 033  catch   failed
    {DoOut, OutPerst, InImmediate, 16'h0001},  // 034  out     perst, 1
    {DoMove, 5'd5, InNow, 16'h0000},  // 035  arm     link_deadline, LinkMs
    {DoAdd, 5'd5, InImmediate, 16'h03e8},  // 036
    // link_wait:
    {DoOut, OutStep, InImmediate, 16'h0002},  // 037  enter   StepLink
    // link_poll:
    {DoJump, IfLinkUp, InImmediate, 16'h003d},  // 038  jump    link_up, root_port
    {DoFail, IfDisabled, InImmediate, 16'h0002},  // 039  fail    disabled, ErrLink
    {DoCompare, 5'd5, InNow, 16'h0000},  // 03a  compare link_deadline, now
    {DoFail, IfNegative, InImmediate, 16'h0002},  // 03b  fail    negative, ErrLink
    {DoJump, IfAlways, InImmediate, 16'h0038},  // 03c  jump    link_poll
    // root_port:
    {DoOut, OutStep, InImmediate, 16'h0003},  // 03d  enter   StepRootPort
    {DoOut, OutSpace, InImmediate, 16'h0000},  // 03e  out     space, SpaceLocal
    {DoJump, !XilinxBridge ? IfAlways : IfNever, InImmediate, 16'h0045},  // 03f  jump    when(!XilinxBridge), buses
    {DoRead, 5'd0, InImmediate, 16'h0148},  // 040  read    value, CfgBridgeEnable
    {DoTest, 5'd0, InImmediate, 16'h0001},  // 041  test    value, BridgeEnable
    {DoJump, IfNotZero, InImmediate, 16'h0044},  // 042  jump    not_zero, bridge_enabled
    {DoAdd, 5'd0, InImmediate, 16'h0001},  // 043  add     value, BridgeEnable
    // bridge_enabled:
    {DoWrite, 5'd0, InImmediate, 16'h0148},  // 044  write   CfgBridgeEnable, value
    // buses:
    {DoMove, 5'd0, InHigh, 16'h0001},  // 045  wide    value, BusNumbers
    {DoAdd, 5'd0, InImmediate, 16'h0100},  // 046
    {DoWrite, 5'd0, InImmediate, 16'h0018},  // 047  write   CfgBuses, value
    {DoMove, 5'd0, InHigh, 16'((32'(BridgeWindow)) >> 16)},  // 048  wide    value, BridgeWindow
    {DoAdd, 5'd0, InImmediate, 16'(BridgeWindow)},  // 049
    {DoWrite, 5'd0, InImmediate, 16'h0020},  // 04a  write   CfgMemory, value
    {DoMove, 5'd0, InImmediate, 16'hfff0},  // 04b  move    value, NoWindow
    {DoWrite, 5'd0, InImmediate, 16'h0024},  // 04c  write   CfgPrefetch, value
    {DoMove, 5'd0, InImmediate, 16'h0406},  // 04d  move    value, CommandMaster
    {DoWrite, 5'd0, InImmediate, 16'h0004},  // 04e  write   CfgCommand, value
    {DoMove, 5'd1, InImmediate, 16'h0064},  // 04f  move    temp, TrainedWaitMs
    {DoCall, 5'd0, InImmediate, 16'h03f9},  // 050  call    delay
    {DoOut, OutStep, InImmediate, 16'h0004},  // 051  enter   StepDevice
    {DoOut, OutSpace, InImmediate, 16'h0001},  // 052  out     space, SpaceDevice
    {DoMove, 5'd5, InNow, 16'h0000},  // 053  arm     device_deadline, DeviceMs
    {DoAdd, 5'd5, InImmediate, 16'h03e8},  // 054
    {DoCatch, 5'd0, InImmediate, 16'h005e},  // 055  catch   probe_again
    // probe:
    {DoRead, 5'd0, InImmediate, 16'h0000},  // 056  read    value, CfgId
    {DoMove, 5'd1, InRegister, 16'h0000},  // 057  move    temp, value
    {DoAnd, 5'd1, InImmediate, 16'hffff},  // 058  and     temp, VendorBits
    {DoJump, IfZero, InImmediate, 16'h005e},  // 059  jump    zero, probe_again
    {DoCompare, 5'd1, InImmediate, 16'h0001},  // 05a  compare temp, RetryVendor
    {DoJump, IfZero, InImmediate, 16'h005e},  // 05b  jump    zero, probe_again
    {DoCompare, 5'd1, InImmediate, 16'hffff},  // 05c  compare temp, VendorBits
    {DoJump, IfNotZero, InImmediate, 16'h0066},  // 05d  jump    not_zero, device
    // probe_again:
    {DoCatch, 5'd0, InImmediate, 16'h01f8},  // 05e  catch   failed
    {DoFail, IfLinkDown, InImmediate, 16'h001a},  // 05f  fail    link_down, ErrLinkLost
    {DoCompare, 5'd5, InNow, 16'h0000},  // 060  compare device_deadline, now
    {DoFail, IfNegative, InImmediate, 16'h0003},  // 061  fail    negative, ErrNoDevice
    {DoMove, 5'd1, InImmediate, 16'h0001},  // 062  move    temp, 1
    {DoCall, 5'd0, InImmediate, 16'h03f9},  // 063  call    delay
    {DoCatch, 5'd0, InImmediate, 16'h005e},  // 064  catch   probe_again
    {DoJump, IfAlways, InImmediate, 16'h0056},  // 065  jump    probe
    // device:
    {DoCatch, 5'd0, InImmediate, 16'h01f8},  // 066  catch   failed
    {DoRead, 5'd0, InImmediate, 16'h0008},  // 067  read    value, CfgClass
    {DoMove, 5'd1, InRegister, 16'h0000},  // 068  move    temp, value
    {DoShift, 5'd1, InImmediate, 16'h0008},  // 069  shift   temp, 8
    {DoSub, 5'd1, InHigh, 16'h0001},  // 06a  sub     temp, ClassNvmeHigh
    {DoCompare, 5'd1, InImmediate, 16'h0802},  // 06b  compare temp, ClassNvmeLow
    {DoFail, IfNotZero, InImmediate, 16'h0004},  // 06c  fail    not_zero, ErrClass
    {DoRead, 5'd0, InImmediate, 16'h000c},  // 06d  read    value, CfgHeader
    {DoTest, 5'd0, InHigh, 16'h007f},  // 06e  test    value, HeaderLayout
    {DoFail, IfNotZero, InImmediate, 16'h0005},  // 06f  fail    not_zero, ErrHeader
    {DoOut, OutStep, InImmediate, 16'h0005},  // 070  enter   StepBar
    {DoMove, 5'd0, InImmediate, 16'h0400},  // 071  move    value, CommandQuiet
    {DoWrite, 5'd0, InImmediate, 16'h0004},  // 072  write   CfgCommand, value
    {DoRead, 5'd0, InImmediate, 16'h0010},  // 073  read    value, CfgBar0
    {DoMove, 5'd3, InRegister, 16'h0000},  // 074  move    bar, value
    {DoTest, 5'd0, InImmediate, 16'h0003},  // 075  test    value, BarRefused
    {DoFail, IfNotZero, InImmediate, 16'h0006},  // 076  fail    not_zero, ErrBarType
    {DoMove, 5'd1, InImmediate, 16'h0000},  // 077  move    temp, 0
    {DoSub, 5'd1, InImmediate, 16'h0001},  // 078  sub     temp, 1
    {DoWrite, 5'd1, InImmediate, 16'h0010},  // 079  write   CfgBar0, temp
    {DoRead, 5'd1, InImmediate, 16'h0010},  // 07a  read    temp, CfgBar0
    {DoShift, 5'd1, InImmediate, 16'h0004},  // 07b  shift   temp, 4
    {DoMove, 5'd26, InHigh, 16'h1000},  // 07c  move    bar_units, SizeUnits
    {DoSub, 5'd26, InRegister, 16'h0001},  // 07d  sub     bar_units, temp
    {DoMove, 5'd0, InRegister, 16'h001a},  // 07e  move    value, bar_units
    {DoMove, 5'd1, InHigh, 16'h0001},  // 07f  wide    temp, BarWindowBytes >> 4
    {DoAdd, 5'd1, InImmediate, 16'h0000},  // 080
    {DoCompare, 5'd1, InRegister, 16'h001a},  // 081  compare temp, bar_units
    {DoFail, IfCarry, InImmediate, 16'h0007},  // 082  fail    carry, ErrBarSize
    {DoMove, 5'd1, InHigh, 16'((32'(BarBase[31:0])) >> 16)},  // 083  wide    temp, BarBase[31:0]
    {DoAdd, 5'd1, InImmediate, 16'(32'(BarBase[31:0]))},  // 084
    {DoWrite, 5'd1, InImmediate, 16'h0010},  // 085  write   CfgBar0, temp
    {DoTest, 5'd3, InImmediate, 16'h0004},  // 086  test    bar, Bar64
    {DoJump, IfZero, InImmediate, 16'h008b},  // 087  jump    zero, bar_done
    {DoMove, 5'd1, InHigh, 16'((32'(BarBase[63:32])) >> 16)},  // 088  wide    temp, BarBase[63:32]
    {DoAdd, 5'd1, InImmediate, 16'(32'(BarBase[63:32]))},  // 089
    {DoWrite, 5'd1, InImmediate, 16'h0014},  // 08a  write   CfgBar1, temp
    // bar_done:
    {DoOut, OutStep, InImmediate, 16'h0006},  // 08b  enter   StepCapabilities
    {DoCall, 5'd0, InImmediate, 16'h03d5},  // 08c  call    find_capability
    {DoFail, IfZero, InImmediate, 16'h0008},  // 08d  fail    zero, ErrCapability
    {DoCall, 5'd0, InImmediate, 16'h03e6},  // 08e  call    timeout
    {DoMove, 5'd27, InRegister, 16'h0003},  // 08f  move    device_express, pointer
    {DoAdd, 5'd3, InImmediate, 16'h0004},  // 090  add     pointer, ExpressDevice
    {DoRead, 5'd2, InRegister, 16'h0003},  // 091  read    device_capabilities, pointer
    {DoAdd, 5'd3, InImmediate, 16'h000c},  // 092  add     pointer, ExpressLink - ExpressDevice
    {DoRead, 5'd0, InRegister, 16'h0003},  // 093  read    value, pointer
    {DoShift, 5'd0, InImmediate, 16'h0010},  // 094  shift   value, 16
    {DoOut, OutLinkStatus, InRegister, 16'h0000},  // 095  out     link_status, value
    {DoOut, OutSpace, InImmediate, 16'h0000},  // 096  out     space, SpaceLocal
    {DoMove, 5'd18, InImmediate, 16'h0000},  // 097  move    device_control, 0
    {DoCall, 5'd0, InImmediate, 16'h03d5},  // 098  call    find_capability
    {DoJump, IfZero, InImmediate, 16'h009f},  // 099  jump    zero, no_root_capability
    {DoCall, 5'd0, InImmediate, 16'h03e6},  // 09a  call    timeout
    {DoMove, 5'd28, InRegister, 16'h0003},  // 09b  move    root_express, pointer
    {DoAdd, 5'd3, InImmediate, 16'h0004},  // 09c  add     pointer, ExpressDevice
    {DoRead, 5'd18, InRegister, 16'h0003},  // 09d  read    device_control, pointer
    {DoAnd, 5'd18, InImmediate, 16'h0007},  // 09e  and     device_control, PayloadBits
    // no_root_capability:
    {DoMove, 5'd1, InRegister, 16'h0002},  // 09f  move    temp, device_capabilities
    {DoAnd, 5'd1, InImmediate, 16'h0007},  // 0a0  and     temp, PayloadBits
    {DoCompare, 5'd1, InRegister, 16'h0012},  // 0a1  compare temp, device_control
    {DoJump, IfNotCarry, InImmediate, 16'h00a4},  // 0a2  jump    not_carry, payload
    {DoMove, 5'd18, InRegister, 16'h0001},  // 0a3  move    device_control, temp
    // payload:
    {DoAdd, 5'd18, InRegister, 16'h0012},  // 0a4  add     device_control, device_control
    {DoAdd, 5'd18, InRegister, 16'h0012},  // 0a5  add     device_control, device_control
    {DoAdd, 5'd18, InRegister, 16'h0012},  // 0a6  add     device_control, device_control
    {DoAdd, 5'd18, InRegister, 16'h0012},  // 0a7  add     device_control, device_control
    {DoAdd, 5'd18, InRegister, 16'h0012},  // 0a8  add     device_control, device_control
    {DoAdd, 5'd18, InImmediate, 16'h2000},  // 0a9  add     device_control, ReadSize512
    {DoTest, 5'd3, InImmediate, 16'hffff},  // 0aa  test    pointer, LowerHalf
    {DoJump, IfZero, InImmediate, 16'h00ae},  // 0ab  jump    zero, controller
    {DoAdd, 5'd28, InImmediate, 16'h0008},  // 0ac  add     root_express, ExpressControl
    {DoWrite, 5'd18, InRegister, 16'h001c},  // 0ad  write   root_express, device_control
    // controller:
    {DoOut, OutSpace, InImmediate, 16'h0001},  // 0ae  out     space, SpaceDevice
    {DoAnd, 5'd2, InImmediate, 16'h0020},  // 0af  and     device_capabilities, ExtendedTag
    {DoAdd, 5'd2, InRegister, 16'h0002},  // 0b0  add     device_capabilities, device_capabilities
    {DoAdd, 5'd2, InRegister, 16'h0002},  // 0b1  add     device_capabilities, device_capabilities
    {DoAdd, 5'd2, InRegister, 16'h0002},  // 0b2  add     device_capabilities, device_capabilities
    {DoAdd, 5'd18, InRegister, 16'h0002},  // 0b3  add     device_control, device_capabilities
    {DoAdd, 5'd27, InImmediate, 16'h0008},  // 0b4  add     device_express, ExpressControl
    {DoWrite, 5'd18, InRegister, 16'h001b},  // 0b5  write   device_express, device_control
    {DoMove, 5'd0, InImmediate, 16'h0402},  // 0b6  move    value, CommandMemory
    {DoWrite, 5'd0, InImmediate, 16'h0004},  // 0b7  write   CfgCommand, value

    // ---- from the controller's registers to an admin queue ----

    {DoOut, OutStep, InImmediate, 16'h0007},  // 0b8  enter   StepController
    {DoOut, OutSpace, InImmediate, 16'h0002},  // 0b9  out     space, SpaceBar
    {DoRead, 5'd0, InImmediate, 16'h0000},  // 0ba  read    value, RegCapLow
    {DoOut, OutCapLow, InRegister, 16'h0000},  // 0bb  out     cap_low, value
    {DoMove, 5'd19, InRegister, 16'h0000},  // 0bc  move    queue_entries, value
    {DoAnd, 5'd19, InImmediate, 16'hffff},  // 0bd  and     queue_entries, CapMqes
    {DoAdd, 5'd19, InImmediate, 16'h0001},  // 0be  add     queue_entries, 1
    {DoMove, 5'd16, InRegister, 16'h0000},  // 0bf  move    timeout_ms, value
    {DoShift, 5'd16, InImmediate, 16'h0010},  // 0c0  shift   timeout_ms, 16
    {DoAnd, 5'd16, InImmediate, 16'hff00},  // 0c1  and     timeout_ms, CapTo
    {DoAdd, 5'd16, InRegister, 16'h0010},  // 0c2  add     timeout_ms, timeout_ms
    {DoAdd, 5'd16, InImmediate, 16'h0200},  // 0c3  add     timeout_ms, 512
    {DoRead, 5'd0, InImmediate, 16'h0004},  // 0c4  read    value, RegCapHigh
    {DoTest, 5'd0, InImmediate, 16'h0020},  // 0c5  test    value, CapNvm
    {DoFail, IfZero, InImmediate, 16'h000a},  // 0c6  fail    zero, ErrCommandSet
    {DoTest, 5'd0, InHigh, 16'h000f},  // 0c7  test    value, CapMpsmin
    {DoFail, IfNotZero, InImmediate, 16'h000b},  // 0c8  fail    not_zero, ErrPageSize
    {DoAnd, 5'd0, InImmediate, 16'h000f},  // 0c9  and     value, CapDstrd
    {DoOut, OutStride, InRegister, 16'h0000},  // 0ca  out     stride, value
    {DoMove, 5'd14, InImmediate, 16'h0004},  // 0cb  move    head_doorbell, 4
    // stride:
    {DoSub, 5'd0, InImmediate, 16'h0001},  // 0cc  sub     value, 1
    {DoJump, IfCarry, InImmediate, 16'h00d0},  // 0cd  jump    carry, stride_done
    {DoAdd, 5'd14, InRegister, 16'h000e},  // 0ce  add     head_doorbell, head_doorbell
    {DoJump, IfAlways, InImmediate, 16'h00cc},  // 0cf  jump    stride
    // stride_done:
    {DoMove, 5'd1, InRegister, 16'h000e},  // 0d0  move    temp, head_doorbell
    {DoShift, 5'd1, InImmediate, 16'h0002},  // 0d1  shift   temp, 2
    {DoAdd, 5'd1, InImmediate, 16'h0100},  // 0d2  add     temp, RegDoorbells >> 4
    {DoAdd, 5'd14, InImmediate, 16'h1000},  // 0d3  add     head_doorbell, RegDoorbells
    {DoMove, 5'd0, InRegister, 16'h001a},  // 0d4  move    value, bar_units
    {DoCompare, 5'd26, InRegister, 16'h0001},  // 0d5  compare bar_units, temp
    {DoFail, IfCarry, InImmediate, 16'h0007},  // 0d6  fail    carry, ErrBarSize
    {DoRead, 5'd0, InImmediate, 16'h0008},  // 0d7  read    value, RegVs
    {DoCompare, 5'd0, InHigh, 16'h0001},  // 0d8  compare value, Version1
    {DoFail, IfCarry, InImmediate, 16'h0009},  // 0d9  fail    carry, ErrVersion
    {DoMove, 5'd0, InRegister, 16'h0013},  // 0da  move    value, queue_entries
    {DoMove, 5'd4, InImmediate, 16'(QueueShiftMax)},  // 0db  move    count, QueueShiftMax
    {DoMove, 5'd1, InImmediate, 16'(32'd1 << 32'(QueueShiftMax))},  // 0dc  move    temp, 1 << QueueShiftMax
    // queue_shift:
    {DoCompare, 5'd19, InRegister, 16'h0001},  // 0dd  compare queue_entries, temp
    {DoJump, IfNotCarry, InImmediate, 16'h00e2},  // 0de  jump    not_carry, queue_shift_done
    {DoShift, 5'd1, InImmediate, 16'h0001},  // 0df  shift   temp, 1
    {DoSub, 5'd4, InImmediate, 16'h0001},  // 0e0  sub     count, 1
    {DoJump, IfAlways, InImmediate, 16'h00dd},  // 0e1  jump    queue_shift
    // queue_shift_done:
    {DoMove, 5'd19, InRegister, 16'h0001},  // 0e2  move    queue_entries, temp
    {DoOut, OutQueueShift, InRegister, 16'h0004},  // 0e3  out     queue_shift, count
    {DoTest, 5'd4, InImmediate, 16'hffff},  // 0e4  test    count, LowerHalf
    {DoFail, IfZero, InImmediate, 16'h000c},  // 0e5  fail    zero, ErrQueueSize
    {DoOut, OutStep, InImmediate, 16'h0008},  // 0e6  enter   StepDisable
    {DoMove, 5'd1, InImmediate, 16'h0000},  // 0e7  move    temp, 0
    {DoSub, 5'd1, InImmediate, 16'h0001},  // 0e8  sub     temp, 1
    {DoWrite, 5'd1, InImmediate, 16'h000c},  // 0e9  write   RegIntms, temp
    {DoCall, 5'd0, InImmediate, 16'h03a5},  // 0ea  call    disable_controller
    {DoOut, OutStep, InImmediate, 16'h0009},  // 0eb  enter   StepQuiet
    {DoMove, 5'd5, InNow, 16'h0000},  // 0ec  arm     quiet_deadline, QuietMs
    {DoAdd, 5'd5, InImmediate, 16'h0064},  // 0ed
    // quiet_poll:
    {DoJump, IfQuiet, InImmediate, 16'h00f2},  // 0ee  jump    quiet, queues_reset
    {DoCompare, 5'd5, InNow, 16'h0000},  // 0ef  compare quiet_deadline, now
    {DoFail, IfNegative, InImmediate, 16'h000e},  // 0f0  fail    negative, ErrQuiet
    {DoJump, IfAlways, InImmediate, 16'h00ee},  // 0f1  jump    quiet_poll
    // queues_reset:
    {DoXor, 5'd15, (32'(WindowBits) - 32'd1) >= 32'd16 ? InHigh : InImmediate, 16'(32'd1 << ((32'(WindowBits) - 32'd1) % 32'd16))},  // 0f2  xor     window, bit(WindowBits - 1)
    {DoXor, 5'd11, InHigh, 16'h8000},  // 0f3  xor     cid, CidEpoch
    {DoMove, 5'd30, InImmediate, 16'(DeadlineMs)},  // 0f4  move    admin_ms, DeadlineMs
    {DoMove, 5'd12, InImmediate, 16'h0000},  // 0f5  move    admin_tail, 0
    {DoMove, 5'd13, InImmediate, 16'h0000},  // 0f6  move    admin_head, 0
    {DoOut, OutAdminEntry, InImmediate, 16'h0000},  // 0f7  out     admin_entry, 0
    {DoOut, OutPulse, InImmediate, 16'h0003},  // 0f8  out     pulse, PulseQueues | PulseForget
    {DoOut, OutSpace, InImmediate, 16'h0001},  // 0f9  out     space, SpaceDevice
    {DoMove, 5'd0, InImmediate, 16'h0406},  // 0fa  move    value, CommandMaster
    {DoWrite, 5'd0, InImmediate, 16'h0004},  // 0fb  write   CfgCommand, value
    {DoOut, OutSpace, InImmediate, 16'h0002},  // 0fc  out     space, SpaceBar
    {DoOut, OutStep, InImmediate, 16'h000a},  // 0fd  enter   StepEnable
    {DoMove, 5'd1, InHigh, 16'h0003},  // 0fe  wide    temp, Aqa
    {DoAdd, 5'd1, InImmediate, 16'h0003},  // 0ff
    {DoWrite, 5'd1, InImmediate, 16'h0024},  // 100  write   RegAqa, temp
    {DoMove, 5'd1, InRegister, 16'h000f},  // 101  move    temp, window
    {DoWrite, 5'd1, InImmediate, 16'h0028},  // 102  write   RegAsqLow, temp
    {DoAdd, 5'd1, InImmediate, 16'h1000},  // 103  add     temp, OffsetAdminCq
    {DoWrite, 5'd1, InImmediate, 16'h0030},  // 104  write   RegAcqLow, temp
    {DoMove, 5'd1, InHigh, 16'((32'(WindowBase[63:32])) >> 16)},  // 105  wide    temp, WindowBase[63:32]
    {DoAdd, 5'd1, InImmediate, 16'(32'(WindowBase[63:32]))},  // 106
    {DoWrite, 5'd1, InImmediate, 16'h002c},  // 107  write   RegAsqHigh, temp
    {DoWrite, 5'd1, InImmediate, 16'h0034},  // 108  write   RegAcqHigh, temp
    {DoMove, 5'd1, InHigh, 16'h0046},  // 109  wide    temp, CcEnabled
    {DoAdd, 5'd1, InImmediate, 16'h0001},  // 10a
    {DoWrite, 5'd1, InImmediate, 16'h0014},  // 10b  write   RegCc, temp
    {DoOut, OutPower, InImmediate, 16'h0000},  // 10c  out     power, PowerWritten
    {DoMove, 5'd5, InNow, 16'h0000},  // 10d  arm     enable_deadline, timeout_ms
    {DoAdd, 5'd5, InRegister, 16'h0010},  // 10e
    {DoMove, 5'd6, InNow, 16'h0000},  // 10f  arm     poll_at, PollMs
    {DoAdd, 5'd6, InImmediate, 16'h0064},  // 110
    // enable_poll:
    {DoRead, 5'd0, InImmediate, 16'h001c},  // 111  read    value, RegCsts
    {DoTest, 5'd0, InImmediate, 16'h0002},  // 112  test    value, CstsCfs
    {DoFail, IfNotZero, InImmediate, 16'h0010},  // 113  fail    not_zero, ErrFatal
    {DoTest, 5'd0, InImmediate, 16'h0001},  // 114  test    value, CstsRdy
    {DoJump, IfNotZero, InImmediate, 16'h011c},  // 115  jump    not_zero, identify_controller
    {DoCompare, 5'd5, InNow, 16'h0000},  // 116  compare enable_deadline, now
    {DoFail, IfNegative, InImmediate, 16'h000f},  // 117  fail    negative, ErrEnable
    {DoFail, IfLinkDown, InImmediate, 16'h001a},  // 118  fail    link_down, ErrLinkLost
    {DoMove, 5'd1, InImmediate, 16'h0000},  // 119  move    temp, 0
    {DoCall, 5'd0, InImmediate, 16'h03f9},  // 11a  call    delay
    {DoJump, IfAlways, InImmediate, 16'h0111},  // 11b  jump    enable_poll

    // ---- Identify; features; the I/O queues ----

    // identify_controller:
    {DoOut, OutStep, InImmediate, 16'h000b},  // 11c  enter   StepIdentifyController
    {DoCall, 5'd0, InImmediate, 16'h02f1},  // 11d  call    admin_clear
    {DoEntry, 5'd10, InImmediate, 16'h0001},  // 11e  entry   10, IdController
    {DoCall, 5'd0, InImmediate, 16'h02f4},  // 11f  call    admin_identify
    {DoFail, IfNotZero, InImmediate, 16'h0012},  // 120  fail    not_zero, ErrIdentify
    {DoPage, 5'd0, InImmediate, 16'h0080},  // 121  page    value, IdSqes / 4
    {DoMove, 5'd1, InRegister, 16'h0000},  // 122  move    temp, value
    {DoAnd, 5'd1, InImmediate, 16'h000f},  // 123  and     temp, 0x000f
    {DoCompare, 5'd1, InImmediate, 16'h0007},  // 124  compare temp, 6 + 1
    {DoFail, IfNotCarry, InImmediate, 16'h0013},  // 125  fail    not_carry, ErrEntrySize
    {DoMove, 5'd1, InRegister, 16'h0000},  // 126  move    temp, value
    {DoAnd, 5'd1, InImmediate, 16'h00f0},  // 127  and     temp, 0x00f0
    {DoCompare, 5'd1, InImmediate, 16'h0060},  // 128  compare temp, 6 << 4
    {DoFail, IfCarry, InImmediate, 16'h0013},  // 129  fail    carry, ErrEntrySize
    {DoMove, 5'd1, InRegister, 16'h0000},  // 12a  move    temp, value
    {DoAnd, 5'd1, InImmediate, 16'h0f00},  // 12b  and     temp, 0x0f00
    {DoCompare, 5'd1, InImmediate, 16'h0500},  // 12c  compare temp, (4 + 1) << 8
    {DoFail, IfNotCarry, InImmediate, 16'h0013},  // 12d  fail    not_carry, ErrEntrySize
    {DoMove, 5'd1, InRegister, 16'h0000},  // 12e  move    temp, value
    {DoAnd, 5'd1, InImmediate, 16'hf000},  // 12f  and     temp, 0xf000
    {DoCompare, 5'd1, InImmediate, 16'h4000},  // 130  compare temp, 4 << 12
    {DoFail, IfCarry, InImmediate, 16'h0013},  // 131  fail    carry, ErrEntrySize
    {DoMove, 5'd2, InImmediate, 16'h0001},  // 132  move    mark, 1
    {DoMove, 5'd3, InImmediate, 16'h0001},  // 133  move    pointer, IdSn / 4
    {DoMove, 5'd4, InImmediate, 16'h0005},  // 134  move    count, IdSnBytes / 4
    {DoCall, 5'd0, InImmediate, 16'h03ed},  // 135  call    fold
    {DoMove, 5'd1, InImmediate, 16'(SectorsMax)},  // 136  move    temp, SectorsMax
    {DoPage, 5'd4, InImmediate, 16'h0013},  // 137  page    count, IdMdts / 4
    {DoShift, 5'd4, InImmediate, 16'h0008},  // 138  shift   count, IdMdts % 4 * 8
    {DoAnd, 5'd4, InImmediate, 16'h00ff},  // 139  and     count, 0x00ff
    {DoJump, IfZero, InImmediate, 16'h0143},  // 13a  jump    zero, mdts_done
    {DoMove, 5'd1, InImmediate, 16'h0008},  // 13b  move    temp, PageSectorsMin
    // mdts:
    {DoCompare, 5'd1, InImmediate, 16'(SectorsMax)},  // 13c  compare temp, SectorsMax
    {DoJump, IfNotCarry, InImmediate, 16'h0142},  // 13d  jump    not_carry, mdts_limit
    {DoSub, 5'd4, InImmediate, 16'h0001},  // 13e  sub     count, 1
    {DoJump, IfCarry, InImmediate, 16'h0143},  // 13f  jump    carry, mdts_done
    {DoAdd, 5'd1, InRegister, 16'h0001},  // 140  add     temp, temp
    {DoJump, IfAlways, InImmediate, 16'h013c},  // 141  jump    mdts
    // mdts_limit:
    {DoMove, 5'd1, InImmediate, 16'(SectorsMax)},  // 142  move    temp, SectorsMax
    // mdts_done:
    {DoMove, 5'd18, InRegister, 16'h0001},  // 143  move    sectors_max, temp
    {DoPage, 5'd29, InImmediate, 16'h0016},  // 144  page    shutdown_ms, IdRtd3e / 4
    {DoShift, 5'd29, InImmediate, 16'h000a},  // 145  shift   shutdown_ms, 10
    {DoAdd, 5'd29, InImmediate, 16'(DeadlineMs)},  // 146  add     shutdown_ms, DeadlineMs
    {DoMove, 5'd20, InImmediate, 16'h0000},  // 147  move    features, 0
    {DoPage, 5'd1, InImmediate, 16'h0083},  // 148  page    temp, IdVwc / 4
    {DoTest, 5'd1, InImmediate, 16'h0100},  // 149  test    temp, VwcPresent
    {DoJump, IfZero, InImmediate, 16'h014c},  // 14a  jump    zero, no_cache
    {DoAdd, 5'd20, InImmediate, 16'h0001},  // 14b  add     features, FeatureCache
    // no_cache:
    {DoOut, OutVolatileCache, InRegister, 16'h0014},  // 14c  out     volatile_cache, features
    {DoPage, 5'd1, InImmediate, 16'h0040},  // 14d  page    temp, IdOacs / 4
    {DoTest, 5'd1, InImmediate, 16'h0002},  // 14e  test    temp, OacsFormat
    {DoJump, IfZero, InImmediate, 16'h0151},  // 14f  jump    zero, no_format
    {DoAdd, 5'd20, InImmediate, 16'h0002},  // 150  add     features, FeatureFormat
    // no_format:
    {DoPage, 5'd1, InImmediate, 16'h0082},  // 151  page    temp, IdOncs / 4
    {DoTest, 5'd1, InImmediate, 16'h0004},  // 152  test    temp, OncsDeallocate
    {DoJump, IfZero, InImmediate, 16'h0155},  // 153  jump    zero, no_deallocate
    {DoAdd, 5'd20, InImmediate, 16'h0004},  // 154  add     features, FeatureDeallocate
    // no_deallocate:
    {DoPage, 5'd1, InImmediate, 16'h0052},  // 155  page    temp, IdSanicap / 4
    {DoTest, 5'd1, InImmediate, 16'h0007},  // 156  test    temp, SanicapMethods
    {DoJump, IfZero, InImmediate, 16'h0159},  // 157  jump    zero, no_sanitize
    {DoAdd, 5'd20, InImmediate, 16'h0008},  // 158  add     features, FeatureSanitize
    // no_sanitize:
    {DoPage, 5'd27, InImmediate, 16'h0042},  // 159  page    apsta, IdApsta / 4
    {DoPage, 5'd28, InImmediate, 16'h0044},  // 15a  page    host_buffer, IdHmpre / 4
    {DoOut, OutStep, InImmediate, 16'h000c},  // 15b  enter   StepNamespaceList
    {DoCall, 5'd0, InImmediate, 16'h02f1},  // 15c  call    admin_clear
    {DoEntry, 5'd10, InImmediate, 16'h0002},  // 15d  entry   10, IdNamespaceList
    {DoCall, 5'd0, InImmediate, 16'h02f4},  // 15e  call    admin_identify
    {DoJump, IfNotZero, InImmediate, 16'h0163},  // 15f  jump    not_zero, namespace_one
    {DoPage, 5'd21, InImmediate, 16'h0000},  // 160  page    nsid, 0
    {DoFail, IfZero, InImmediate, 16'h0014},  // 161  fail    zero, ErrNoNamespace
    {DoJump, IfAlways, InImmediate, 16'h0164},  // 162  jump    set_features
    // namespace_one:
    {DoMove, 5'd21, InImmediate, 16'h0001},  // 163  move    nsid, 1
    // set_features:
    {DoOut, OutNsid, InRegister, 16'h0015},  // 164  out     nsid, nsid
    {DoOut, OutStep, InImmediate, 16'h000d},  // 165  enter   StepFeatures
    {DoMove, 5'd25, InImmediate, 16'h0009},  // 166  move    opcode, AdminSetFeatures
    {DoTest, 5'd27, InImmediate, 16'h0100},  // 167  test    apsta, ApstaSupported
    {DoJump, IfZero, InImmediate, 16'h016e},  // 168  jump    zero, no_power_states
    {DoCall, 5'd0, InImmediate, 16'h02f1},  // 169  call    admin_clear
    {DoEntry, 5'd10, InImmediate, 16'h000c},  // 16a  entry   10, FeatureApst
    {DoMove, 5'd1, InImmediate, 16'h2800},  // 16b  move    temp, OffsetAdminPage + 0x800
    {DoCall, 5'd0, InImmediate, 16'h0369},  // 16c  call    prp
    {DoCall, 5'd0, InImmediate, 16'h02f7},  // 16d  call    admin
    // no_power_states:
    {DoTest, 5'd28, InImmediate, 16'hffff},  // 16e  test    host_buffer, LowerHalf
    {DoJump, IfZero, InImmediate, 16'h0173},  // 16f  jump    zero, no_host_buffer
    {DoCall, 5'd0, InImmediate, 16'h02f1},  // 170  call    admin_clear
    {DoEntry, 5'd10, InImmediate, 16'h000d},  // 171  entry   10, FeatureHostBuffer
    {DoCall, 5'd0, InImmediate, 16'h02f7},  // 172  call    admin
    // no_host_buffer:
    {DoCall, 5'd0, InImmediate, 16'h02f1},  // 173  call    admin_clear
    {DoEntry, 5'd10, InImmediate, 16'h0007},  // 174  entry   10, FeatureQueues
    {DoCall, 5'd0, InImmediate, 16'h02f7},  // 175  call    admin
    {DoFail, IfNotZero, InImmediate, 16'h0018},  // 176  fail    not_zero, ErrFeatures
    {DoOut, OutStep, InImmediate, 16'h000e},  // 177  enter   StepIdentifyNamespace
    {DoCall, 5'd0, InImmediate, 16'h02f1},  // 178  call    admin_clear
    {DoEntry, 5'd1, InRegister, 16'h0015},  // 179  entry   1, nsid
    {DoCall, 5'd0, InImmediate, 16'h02f4},  // 17a  call    admin_identify
    {DoFail, IfNotZero, InImmediate, 16'h0012},  // 17b  fail    not_zero, ErrIdentify
    {DoPage, 5'd22, InImmediate, 16'h0000},  // 17c  page    blocks_low, NsNsze / 4
    {DoPage, 5'd23, InImmediate, 16'h0001},  // 17d  page    blocks_high, NsNsze / 4 + 1
    {DoMove, 5'd0, InRegister, 16'h0017},  // 17e  move    value, blocks_high
    {DoCompare, 5'd0, InImmediate, 16'h0100},  // 17f  compare value, BlocksHighLimit
    {DoFail, IfNotCarry, InImmediate, 16'h0017},  // 180  fail    not_carry, ErrTooLarge
    {DoMove, 5'd3, InImmediate, 16'h0000},  // 181  move    pointer, NsNsze / 4
    {DoMove, 5'd4, InImmediate, 16'h0002},  // 182  move    count, 2
    {DoCall, 5'd0, InImmediate, 16'h03ed},  // 183  call    fold
    {DoMove, 5'd3, InImmediate, 16'h001a},  // 184  move    pointer, NsNguid / 4
    {DoMove, 5'd4, InImmediate, 16'h0006},  // 185  move    count, NsNguidBytes / 4
    {DoCall, 5'd0, InImmediate, 16'h03ed},  // 186  call    fold
    {DoPage, 5'd1, InImmediate, 16'h0006},  // 187  page    temp, NsFlbas / 4
    {DoShift, 5'd1, InImmediate, 16'h0010},  // 188  shift   temp, NsFlbas % 4 * 8
    {DoMove, 5'd3, InRegister, 16'h0001},  // 189  move    pointer, temp
    {DoAnd, 5'd3, InImmediate, 16'h000f},  // 18a  and     pointer, 0x000f
    {DoShift, 5'd1, InImmediate, 16'h0001},  // 18b  shift   temp, 1
    {DoAnd, 5'd1, InImmediate, 16'h0030},  // 18c  and     temp, 0x0030
    {DoAdd, 5'd3, InRegister, 16'h0001},  // 18d  add     pointer, temp
    {DoAdd, 5'd3, InImmediate, 16'h0020},  // 18e  add     pointer, NsLbaf0 / 4
    {DoPage, 5'd0, InRegister, 16'h0003},  // 18f  page    value, pointer
    {DoTest, 5'd0, InImmediate, 16'hffff},  // 190  test    value, LbafMs
    {DoFail, IfNotZero, InImmediate, 16'h0016},  // 191  fail    not_zero, ErrMetadata
    {DoMove, 5'd1, InRegister, 16'h0000},  // 192  move    temp, value
    {DoShift, 5'd1, InImmediate, 16'h0010},  // 193  shift   temp, 16
    {DoAnd, 5'd1, InImmediate, 16'h00ff},  // 194  and     temp, LbadsBits
    {DoCompare, 5'd1, InImmediate, 16'h000c},  // 195  compare temp, Lbads4096
    {DoJump, IfZero, InImmediate, 16'h019b},  // 196  jump    zero, block_4096
    {DoCompare, 5'd1, InImmediate, 16'h0009},  // 197  compare temp, Lbads512
    {DoFail, IfNotZero, InImmediate, 16'h0015},  // 198  fail    not_zero, ErrBlockSize
    {DoMove, 5'd24, InImmediate, 16'h0008},  // 199  move    mailbox_blocks, 8
    {DoJump, IfAlways, InImmediate, 16'h019d},  // 19a  jump    block_done
    // block_4096:
    {DoMove, 5'd24, InImmediate, 16'h0001},  // 19b  move    mailbox_blocks, 1
    {DoAnd, 5'd18, InImmediate, 16'hfff8},  // 19c  and     sectors_max, 0xfff8
    // block_done:
    {DoMove, 5'd1, InRegister, 16'h0016},  // 19d  move    temp, blocks_low
    {DoShift, 5'd1, InImmediate, 16'h0001},  // 19e  shift   temp, 1
    {DoAdd, 5'd1, InRegister, 16'h0017},  // 19f  add     temp, blocks_high
    {DoFail, IfZero, InImmediate, 16'h0014},  // 1a0  fail    zero, ErrNoNamespace
    {DoMove, 5'd4, InImmediate, 16'h0001},  // 1a1  move    count, 1
    {DoCall, 5'd0, InImmediate, 16'h03ed},  // 1a2  call    fold
    {DoMove, 5'd1, InRegister, 16'h0011},  // 1a3  move    temp, known
    {DoJump, IfZero, InImmediate, 16'h01ab},  // 1a4  jump    zero, new_drive
    {DoCompare, 5'd1, InRegister, 16'h0002},  // 1a5  compare temp, mark
    {DoJump, IfZero, InImmediate, 16'h01ab},  // 1a6  jump    zero, new_drive
    {DoTest, 5'd9, InImmediate, 16'h0100},  // 1a7  test    reruns, AnyDrive
    {DoFail, IfZero, InImmediate, 16'h001f},  // 1a8  fail    zero, ErrOtherDrive
    {DoOut, OutGone, InImmediate, 16'h0001},  // 1a9  out     gone, 1
    {DoOut, OutGone, InImmediate, 16'h0000},  // 1aa  out     gone, 0
    // new_drive:
    {DoAnd, 5'd9, InImmediate, 16'h00ff},  // 1ab  and     reruns, RerunsCount
    {DoMove, 5'd17, InRegister, 16'h0002},  // 1ac  move    known, mark
    {DoOut, OutBlocksLow, InRegister, 16'h0016},  // 1ad  out     blocks_low, blocks_low
    {DoOut, OutBlocksHigh, InRegister, 16'h0017},  // 1ae  out     blocks_high, blocks_high
    {DoOut, OutBlock4096, InRegister, 16'h0018},  // 1af  out     block4096, mailbox_blocks
    {DoOut, OutSectorsMax, InRegister, 16'h0012},  // 1b0  out     sectors_max, sectors_max
    {DoOut, OutStep, InImmediate, 16'h000f},  // 1b1  enter   StepQueues
    {DoMove, 5'd4, InRegister, 16'h0013},  // 1b2  move    count, queue_entries
    {DoSub, 5'd4, InImmediate, 16'h0001},  // 1b3  sub     count, 1
    {DoMove, 5'd3, InImmediate, 16'h0010},  // 1b4  move    pointer, 16
    // queue_size:
    {DoAdd, 5'd4, InRegister, 16'h0004},  // 1b5  add     count, count
    {DoSub, 5'd3, InImmediate, 16'h0001},  // 1b6  sub     pointer, 1
    {DoJump, IfNotZero, InImmediate, 16'h01b5},  // 1b7  jump    not_zero, queue_size
    {DoAdd, 5'd4, InImmediate, 16'h0001},  // 1b8  add     count, 1
    {DoCall, 5'd0, InImmediate, 16'h02f1},  // 1b9  call    admin_clear
    {DoMove, 5'd25, InImmediate, 16'h0005},  // 1ba  move    opcode, AdminCreateCq
    {DoEntry, 5'd10, InRegister, 16'h0004},  // 1bb  entry   10, count
    {DoEntry, 5'd11, InImmediate, 16'h0001},  // 1bc  entry   11, Contiguous
    {DoMove, 5'd1, InHigh, 16'h0002},  // 1bd  move    temp, OffsetCq
    {DoCall, 5'd0, InImmediate, 16'h0369},  // 1be  call    prp
    {DoCall, 5'd0, InImmediate, 16'h02f7},  // 1bf  call    admin
    {DoFail, IfNotZero, InImmediate, 16'h0019},  // 1c0  fail    not_zero, ErrCreateQueue
    {DoCall, 5'd0, InImmediate, 16'h02f1},  // 1c1  call    admin_clear
    {DoMove, 5'd25, InImmediate, 16'h0001},  // 1c2  move    opcode, AdminCreateSq
    {DoEntry, 5'd10, InRegister, 16'h0004},  // 1c3  entry   10, count
    {DoMove, 5'd1, InHigh, 16'h0001},  // 1c4  wide    temp, SqOfCq1
    {DoAdd, 5'd1, InImmediate, 16'h0001},  // 1c5
    {DoEntry, 5'd11, InRegister, 16'h0001},  // 1c6  entry   11, temp
    {DoMove, 5'd1, InHigh, 16'h0001},  // 1c7  move    temp, OffsetSq
    {DoCall, 5'd0, InImmediate, 16'h0369},  // 1c8  call    prp
    {DoCall, 5'd0, InImmediate, 16'h02f7},  // 1c9  call    admin
    {DoFail, IfNotZero, InImmediate, 16'h0019},  // 1ca  fail    not_zero, ErrCreateQueue
    {DoOut, OutStep, InImmediate, 16'h0010},  // 1cb  enter   StepHealth
    {DoCall, 5'd0, InImmediate, 16'h036f},  // 1cc  call    health
    {DoOut, OutStep, InImmediate, 16'h0011},  // 1cd  enter   StepReady
    {DoCatch, 5'd0, InImmediate, 16'h01da},  // 1ce  catch   recover
    {DoOut, OutPulse, InImmediate, 16'h0002},  // 1cf  out     pulse, PulseForget
    {DoMove, 5'd6, InNow, 16'h0000},  // 1d0  arm     poll_at, PollMs
    {DoAdd, 5'd6, InImmediate, 16'h0064},  // 1d1
    {DoOut, OutReady, InImmediate, 16'h0001},  // 1d2  out     ready, 1

    // ---- ready, recovering, gone ----

    // idle:
    {DoJump, IfGone, InImmediate, 16'h01ff},  // 1d3  jump    gone, gone_wait
    // ready:
    {DoCall, 5'd0, InImmediate, 16'h038c},  // 1d4  call    watch
    {DoCompare, 5'd7, InNow, 16'h0000},  // 1d5  compare health_at, now
    {DoJump, IfNotNegative, InImmediate, 16'h01d8},  // 1d6  jump    not_negative, command
    {DoCall, 5'd0, InImmediate, 16'h036f},  // 1d7  call    health
    // command:
    {DoJump, IfCommand, InImmediate, 16'h0219},  // 1d8  jump    command, dispatch
    {DoJump, IfAlways, InImmediate, 16'h01d4},  // 1d9  jump    ready
    // recover:
    {DoOut, OutError, InRegister, 16'h001f},  // 1da  out     error, error
    {DoOut, OutDetail, InRegister, 16'h0000},  // 1db  out     detail, any value
    // rebuild:
    {DoMove, 5'd31, InImmediate, 16'h0001},  // 1dc  move    error, ErrAccess
    {DoOut, OutHealthValid, InImmediate, 16'h0000},  // 1dd  out     health_valid, 0
    {DoOut, OutReady, InImmediate, 16'h0000},  // 1de  out     ready, 0
    {DoOut, OutPush, InImmediate, 16'h0000},  // 1df  out     push, 0
    {DoOut, OutPulse, InImmediate, 16'h0004},  // 1e0  out     pulse, PulseRecovery
    {DoJump, IfDisabled, InImmediate, 16'h0006},  // 1e1  jump    disabled, disabled
    {DoOut, OutStep, InImmediate, 16'h0012},  // 1e2  enter   StepRecovery
    {DoJump, IfNoProgress, InImmediate, 16'h01e5},  // 1e3  jump    no_progress, no_progress
    {DoMove, 5'd8, InImmediate, 16'h0000},  // 1e4  move    attempts, 0
    // no_progress:
    {DoAdd, 5'd8, InImmediate, 16'h0001},  // 1e5  add     attempts, 1
    {DoCompare, 5'd8, InImmediate, 16'h0004},  // 1e6  compare attempts, AttemptsMax + 1
    {DoJump, IfNotCarry, InImmediate, 16'h01fe},  // 1e7  jump    not_carry, gone
    {DoJump, IfLinkDown, InImmediate, 16'h01ef},  // 1e8  jump    link_down, relink
    {DoCatch, 5'd0, InImmediate, 16'h0010},  // 1e9  catch   perst
    {DoOut, OutSpace, InImmediate, 16'h0002},  // 1ea  out     space, SpaceBar
    {DoCall, 5'd0, InImmediate, 16'h03a5},  // 1eb  call    disable_controller
    {DoOut, OutSpace, InImmediate, 16'h0001},  // 1ec  out     space, SpaceDevice
    {DoMove, 5'd0, InImmediate, 16'h0402},  // 1ed  move    value, CommandMemory
    {DoWrite, 5'd0, InImmediate, 16'h0004},  // 1ee  write   CfgCommand, value
    // relink:
    {DoCatch, 5'd0, InImmediate, 16'h01f8},  // 1ef  catch   failed
    {DoJump, IfLinkUp, InImmediate, 16'h01f5},  // 1f0  jump    link_up, returned
    {DoOut, OutAdapterReset, InImmediate, 16'h0001},  // 1f1  out     adapter_reset, 1
    {DoMove, 5'd1, InImmediate, 16'h0000},  // 1f2  move    temp, 0
    {DoCall, 5'd0, InImmediate, 16'h03f9},  // 1f3  call    delay
    {DoOut, OutAdapterReset, InImmediate, 16'h0000},  // 1f4  out     adapter_reset, 0
    // returned:
    {DoMove, 5'd5, InNow, 16'h0000},  // 1f5  arm     link_deadline, LinkReturnMs
    {DoAdd, 5'd5, InImmediate, 16'h07d0},  // 1f6
    {DoJump, IfAlways, InImmediate, 16'h0037},  // 1f7  jump    link_wait
    // failed:
    {DoOut, OutError, InRegister, 16'h001f},  // 1f8  out     error, error
    {DoOut, OutDetail, InRegister, 16'h0000},  // 1f9  out     detail, any value
    {DoJump, IfDisabled, InImmediate, 16'h0006},  // 1fa  jump    disabled, disabled
    {DoAdd, 5'd8, InImmediate, 16'h0001},  // 1fb  add     attempts, 1
    {DoCompare, 5'd8, InImmediate, 16'h0003},  // 1fc  compare attempts, AttemptsMax
    {DoJump, IfCarry, InImmediate, 16'h0010},  // 1fd  jump    carry, perst
    // gone:
    {DoCall, 5'd0, InImmediate, 16'h0399},  // 1fe  call    give_up
    // gone_wait:
    {DoJump, IfDisabled, InImmediate, 16'h0006},  // 1ff  jump    disabled, disabled
    {DoJump, IfNoCommand, InImmediate, 16'h01ff},  // 200  jump    no_command, gone_wait
    {DoMove, 5'd1, InCommand, 16'h0000},  // 201  move    temp, command
    {DoAnd, 5'd1, InImmediate, 16'h000f},  // 202  and     temp, OpBits
    {DoCompare, 5'd1, InImmediate, 16'h0007},  // 203  compare temp, OpRestart
    {DoJump, IfNotZero, InImmediate, 16'h0209},  // 204  jump    not_zero, refuse
    {DoTest, 5'd9, InImmediate, 16'hffff},  // 205  test    reruns, LowerHalf
    {DoJump, IfNotZero, InImmediate, 16'h0209},  // 206  jump    not_zero, refuse
    {DoMove, 5'd9, InImmediate, 16'h0080},  // 207  move    reruns, JustBringUp
    {DoJump, IfAlways, InImmediate, 16'h000c},  // 208  jump    start
    // refuse:
    {DoMove, 5'd27, InImmediate, 16'h0000},  // 209  move    done_low, 0
    {DoMove, 5'd28, InImmediate, 16'h0000},  // 20a  move    done_high, 0
    {DoMove, 5'd26, InImmediate, 16'h8004},  // 20b  move    status, StatusGone
    {DoJump, IfAlways, InImmediate, 16'h0214},  // 20c  jump    respond

    // ---- side commands ----

    // ok:
    {DoMove, 5'd26, InImmediate, 16'h0000},  // 20d  move    status, StatusOk
    {DoJump, IfAlways, InImmediate, 16'h0214},  // 20e  jump    respond
    // invalid:
    {DoMove, 5'd26, InImmediate, 16'h8001},  // 20f  move    status, StatusInvalid
    {DoJump, IfAlways, InImmediate, 16'h0214},  // 210  jump    respond
    // unsupported:
    {DoMove, 5'd26, InImmediate, 16'h8003},  // 211  move    status, StatusUnsupported
    {DoJump, IfAlways, InImmediate, 16'h0214},  // 212  jump    respond
    // lost:
    {DoMove, 5'd26, InImmediate, 16'h8005},  // 213  move    status, StatusDeadline
    // respond:
    {DoOut, OutDone, InRegister, 16'h001c},  // 214  out     done, done_high
    {DoOut, OutDone, InRegister, 16'h001b},  // 215  out     done, done_low
    {DoOut, OutRespond, InRegister, 16'h001a},  // 216  out     respond, status
    {DoMove, 5'd9, InImmediate, 16'h0000},  // 217  move    reruns, 0
    {DoJump, IfAlways, InImmediate, 16'h01d3},  // 218  jump    idle
    // dispatch:
    {DoMove, 5'd27, InImmediate, 16'h0000},  // 219  move    done_low, 0
    {DoMove, 5'd28, InImmediate, 16'h0000},  // 21a  move    done_high, 0
    {DoAdd, 5'd9, InImmediate, 16'h0001},  // 21b  add     reruns, 1
    {DoCompare, 5'd9, InImmediate, 16'h0081},  // 21c  compare reruns, JustBringUp + 1
    {DoJump, IfZero, InImmediate, 16'h020d},  // 21d  jump    zero, ok
    {DoCompare, 5'd9, InImmediate, 16'h0005},  // 21e  compare reruns, RerunsMax + 2
    {DoJump, IfNotCarry, InImmediate, 16'h0213},  // 21f  jump    not_carry, lost
    {DoMove, 5'd2, InCommand, 16'h0000},  // 220  move    operation, command
    {DoAnd, 5'd2, InImmediate, 16'h000f},  // 221  and     operation, OpBits
    {DoJump, IfZero, InImmediate, 16'h024f},  // 222  jump    zero, flush
    {DoCompare, 5'd2, InImmediate, 16'h0001},  // 223  compare operation, OpWrite
    {DoJump, IfZero, InImmediate, 16'h025c},  // 224  jump    zero, mailbox_write
    {DoCompare, 5'd2, InImmediate, 16'h0002},  // 225  compare operation, OpRead
    {DoJump, IfZero, InImmediate, 16'h025e},  // 226  jump    zero, mailbox_read
    {DoCompare, 5'd2, InImmediate, 16'h0003},  // 227  compare operation, OpDeallocate
    {DoJump, IfZero, InImmediate, 16'h027b},  // 228  jump    zero, deallocate
    {DoCompare, 5'd2, InImmediate, 16'h0005},  // 229  compare operation, OpSanitize
    {DoJump, IfZero, InImmediate, 16'h02a2},  // 22a  jump    zero, sanitize
    {DoCompare, 5'd2, InImmediate, 16'h0006},  // 22b  compare operation, OpShutdown
    {DoJump, IfZero, InImmediate, 16'h02c6},  // 22c  jump    zero, shutdown
    {DoCompare, 5'd9, InImmediate, 16'h0001},  // 22d  compare reruns, 1
    {DoJump, IfNotZero, InImmediate, 16'h0213},  // 22e  jump    not_zero, lost
    {DoCompare, 5'd2, InImmediate, 16'h0004},  // 22f  compare operation, OpFormat
    {DoJump, IfZero, InImmediate, 16'h0284},  // 230  jump    zero, format
    {DoCompare, 5'd2, InImmediate, 16'h0007},  // 231  compare operation, OpRestart
    {DoJump, IfZero, InImmediate, 16'h029c},  // 232  jump    zero, restart
    {DoCompare, 5'd2, InImmediate, 16'h0008},  // 233  compare operation, OpRawAdmin
    {DoJump, IfZero, InImmediate, 16'h023e},  // 234  jump    zero, raw_admin
    {DoCompare, 5'd2, InImmediate, 16'h0009},  // 235  compare operation, OpRawIo
    {DoJump, IfNotZero, InImmediate, 16'h020f},  // 236  jump    not_zero, invalid
    {DoOut, OutSide, InImmediate, 16'h0001},  // 237  out     side, 1
    {DoFill, 5'd0, InRaw, 16'h0000},  // 238  fill    raw
    {DoCall, 5'd0, InImmediate, 16'h035e},  // 239  call    raw_pages
    {DoMove, 5'd10, InImmediate, 16'h0000},  // 23a  move    retries, 0
    {DoCall, 5'd0, InImmediate, 16'h0328},  // 23b  call    side
    {DoMove, 5'd27, InSideResult, 16'h0000},  // 23c  move    done_low, side_result
    {DoJump, IfAlways, InImmediate, 16'h0214},  // 23d  jump    respond
    // raw_admin:
    {DoMove, 5'd25, InRaw, 16'h0000},  // 23e  move    opcode, raw
    {DoAnd, 5'd25, InImmediate, 16'h00fa},  // 23f  and     opcode, NotQueues
    {DoJump, IfZero, InImmediate, 16'h020f},  // 240  jump    zero, invalid
    {DoOut, OutSide, InImmediate, 16'h0000},  // 241  out     side, 0
    {DoFill, 5'd0, InRaw, 16'h0000},  // 242  fill    raw
    {DoCall, 5'd0, InImmediate, 16'h035e},  // 243  call    raw_pages
    {DoCompare, 5'd25, InImmediate, 16'h000c},  // 244  compare opcode, AdminAsyncEvent
    {DoJump, IfZero, InImmediate, 16'h020f},  // 245  jump    zero, invalid
    {DoCompare, 5'd25, InImmediate, 16'h000d},  // 246  compare opcode, AdminNamespaces
    {DoJump, IfZero, InImmediate, 16'h020f},  // 247  jump    zero, invalid
    {DoCompare, 5'd25, InImmediate, 16'h0015},  // 248  compare opcode, AdminAttach
    {DoJump, IfZero, InImmediate, 16'h020f},  // 249  jump    zero, invalid
    {DoCompare, 5'd25, InImmediate, 16'h0080},  // 24a  compare opcode, AdminFormat
    {DoJump, IfZero, InImmediate, 16'h020f},  // 24b  jump    zero, invalid
    {DoCall, 5'd0, InImmediate, 16'h02f9},  // 24c  call    admin_once
    {DoMove, 5'd27, InAdminResult, 16'h0000},  // 24d  move    done_low, admin_result
    {DoJump, IfAlways, InImmediate, 16'h0214},  // 24e  jump    respond
    // flush:
    {DoCall, 5'd0, InImmediate, 16'h0323},  // 24f  call    side_clear
    {DoMove, 5'd25, InImmediate, 16'h0000},  // 250  move    opcode, NvmFlush
    {DoCall, 5'd0, InImmediate, 16'h0328},  // 251  call    side
    {DoJump, IfNotZero, InImmediate, 16'h0214},  // 252  jump    not_zero, respond
    {DoMove, 5'd27, InWritten, 16'h0000},  // 253  move    done_low, written
    {DoMove, 5'd28, InSideStatus, 16'h0000},  // 254  move    done_high, side_status
    {DoShift, 5'd28, InImmediate, 16'h0018},  // 255  shift   done_high, 24
    // durable:
    {DoTest, 5'd20, InImmediate, 16'h0001},  // 256  test    features, FeatureCache
    {DoJump, IfZero, InImmediate, 16'h0214},  // 257  jump    zero, respond
    {DoJump, IfTold, InImmediate, 16'h0214},  // 258  jump    told, respond
    {DoOut, OutPower, InImmediate, 16'h0008},  // 259  out     power, PowerTold
    {DoMove, 5'd26, InImmediate, 16'h8008},  // 25a  move    status, StatusPower
    {DoJump, IfAlways, InImmediate, 16'h0214},  // 25b  jump    respond
    // mailbox_write:
    {DoMove, 5'd25, InImmediate, 16'h0001},  // 25c  move    opcode, NvmWrite
    {DoJump, IfAlways, InImmediate, 16'h025f},  // 25d  jump    transfer
    // mailbox_read:
    {DoMove, 5'd25, InImmediate, 16'h0002},  // 25e  move    opcode, NvmRead
    // transfer:
    {DoMove, 5'd1, InCommand, 16'h0000},  // 25f  move    temp, command
    {DoAnd, 5'd1, InImmediate, 16'h0030},  // 260  and     temp, SourceBits
    {DoCompare, 5'd1, InImmediate, 16'h0020},  // 261  compare temp, SourceIsMailbox
    {DoJump, IfNotZero, InImmediate, 16'h020f},  // 262  jump    not_zero, invalid
    {DoMove, 5'd1, InBlocks, 16'h0000},  // 263  move    temp, blocks
    {DoCompare, 5'd24, InRegister, 16'h0001},  // 264  compare mailbox_blocks, temp
    {DoJump, IfCarry, InImmediate, 16'h020f},  // 265  jump    carry, invalid
    {DoCall, 5'd0, InImmediate, 16'h0341},  // 266  call    check_range
    {DoJump, IfNotZero, InImmediate, 16'h0214},  // 267  jump    not_zero, respond
    {DoCall, 5'd0, InImmediate, 16'h0323},  // 268  call    side_clear
    {DoEntry, 5'd10, InLba, 16'h0000},  // 269  entry   10, lba
    {DoMove, 5'd2, InCommand, 16'h0000},  // 26a  move    other, command
    {DoShift, 5'd2, InImmediate, 16'h0008},  // 26b  shift   other, 8
    {DoAnd, 5'd2, InImmediate, 16'h00ff},  // 26c  and     other, LbaHigh
    {DoEntry, 5'd11, InRegister, 16'h0002},  // 26d  entry   11, other
    {DoMove, 5'd1, InBlocks, 16'h0000},  // 26e  move    temp, blocks
    {DoSub, 5'd1, InImmediate, 16'h0001},  // 26f  sub     temp, 1
    {DoMove, 5'd2, InCommand, 16'h0000},  // 270  move    other, command
    {DoTest, 5'd2, InImmediate, 16'h0040},  // 271  test    other, CommandFua
    {DoJump, IfZero, InImmediate, 16'h0274},  // 272  jump    zero, no_fua
    {DoAdd, 5'd1, InHigh, 16'h4000},  // 273  add     temp, Fua
    // no_fua:
    {DoEntry, 5'd12, InRegister, 16'h0001},  // 274  entry   12, temp
    {DoMove, 5'd1, InImmediate, 16'h3000},  // 275  move    temp, OffsetMailbox
    // blocks_respond:
    {DoCall, 5'd0, InImmediate, 16'h0369},  // 276  call    prp
    {DoCall, 5'd0, InImmediate, 16'h0328},  // 277  call    side
    {DoJump, IfNotZero, InImmediate, 16'h0214},  // 278  jump    not_zero, respond
    {DoMove, 5'd27, InBlocks, 16'h0000},  // 279  move    done_low, blocks
    {DoJump, IfAlways, InImmediate, 16'h0214},  // 27a  jump    respond
    // deallocate:
    {DoTest, 5'd20, InImmediate, 16'h0004},  // 27b  test    features, FeatureDeallocate
    {DoJump, IfZero, InImmediate, 16'h0211},  // 27c  jump    zero, unsupported
    {DoCall, 5'd0, InImmediate, 16'h0341},  // 27d  call    check_range
    {DoJump, IfNotZero, InImmediate, 16'h0214},  // 27e  jump    not_zero, respond
    {DoCall, 5'd0, InImmediate, 16'h0323},  // 27f  call    side_clear
    {DoMove, 5'd25, InImmediate, 16'h0009},  // 280  move    opcode, NvmDatasets
    {DoEntry, 5'd11, InImmediate, 16'h0004},  // 281  entry   11, Deallocate
    {DoMove, 5'd1, InImmediate, 16'h4000},  // 282  move    temp, OffsetRange
    {DoJump, IfAlways, InImmediate, 16'h0276},  // 283  jump    blocks_respond
    // format:
    {DoTest, 5'd20, InImmediate, 16'h0002},  // 284  test    features, FeatureFormat
    {DoJump, IfZero, InImmediate, 16'h0211},  // 285  jump    zero, unsupported
    {DoCall, 5'd0, InImmediate, 16'h0355},  // 286  call    drain
    {DoJump, IfNotZero, InImmediate, 16'h0214},  // 287  jump    not_zero, respond
    {DoOut, OutReady, InImmediate, 16'h0000},  // 288  out     ready, 0
    {DoMove, 5'd26, InImmediate, 16'h8006},  // 289  move    status, StatusBusy
    {DoJump, IfIdle, InImmediate, 16'h028d},  // 28a  jump    idle, format_alone
    // format_end:
    {DoOut, OutReady, InImmediate, 16'h0001},  // 28b  out     ready, 1
    {DoJump, IfAlways, InImmediate, 16'h0214},  // 28c  jump    respond
    // format_alone:
    {DoCall, 5'd0, InImmediate, 16'h02f1},  // 28d  call    admin_clear
    {DoEntry, 5'd1, InRegister, 16'h0015},  // 28e  entry   1, nsid
    {DoMove, 5'd1, InCommand, 16'h0000},  // 28f  move    temp, command
    {DoShift, 5'd1, InImmediate, 16'h0010},  // 290  shift   temp, 16
    {DoEntry, 5'd10, InRegister, 16'h0001},  // 291  entry   10, temp
    {DoMove, 5'd25, InImmediate, 16'h0080},  // 292  move    opcode, AdminFormat
    {DoMove, 5'd30, InHigh, 16'h0100},  // 293  move    admin_ms, FormatMs
    {DoAdd, 5'd9, InImmediate, 16'h0100},  // 294  add     reruns, AnyDrive
    {DoCall, 5'd0, InImmediate, 16'h02f7},  // 295  call    admin
    {DoAnd, 5'd9, InImmediate, 16'h00ff},  // 296  and     reruns, RerunsCount
    {DoMove, 5'd30, InImmediate, 16'(DeadlineMs)},  // 297  move    admin_ms, DeadlineMs
    {DoTest, 5'd26, InImmediate, 16'hffff},  // 298  test    status, LowerHalf
    {DoJump, IfNotZero, InImmediate, 16'h028b},  // 299  jump    not_zero, format_end
    {DoMove, 5'd9, InImmediate, 16'h0180},  // 29a  move    reruns, JustBringUp | AnyDrive
    {DoJump, IfAlways, InImmediate, 16'h01dc},  // 29b  jump    rebuild
    // restart:
    {DoMove, 5'd9, InImmediate, 16'h0180},  // 29c  move    reruns, JustBringUp | AnyDrive
    {DoOut, OutReady, InImmediate, 16'h0000},  // 29d  out     ready, 0
    {DoOut, OutPulse, InImmediate, 16'h0004},  // 29e  out     pulse, PulseRecovery
    {DoJump, IfIdle, InImmediate, 16'h000c},  // 29f  jump    idle, start
    {DoMove, 5'd9, InImmediate, 16'h0080},  // 2a0  move    reruns, JustBringUp
    {DoJump, IfAlways, InImmediate, 16'h000c},  // 2a1  jump    start
    // sanitize:
    {DoTest, 5'd20, InImmediate, 16'h0008},  // 2a2  test    features, FeatureSanitize
    {DoJump, IfZero, InImmediate, 16'h0211},  // 2a3  jump    zero, unsupported
    {DoCall, 5'd0, InImmediate, 16'h0355},  // 2a4  call    drain
    {DoJump, IfNotZero, InImmediate, 16'h0214},  // 2a5  jump    not_zero, respond
    {DoCall, 5'd0, InImmediate, 16'h02f1},  // 2a6  call    admin_clear
    {DoMove, 5'd1, InCommand, 16'h0000},  // 2a7  move    temp, command
    {DoShift, 5'd1, InImmediate, 16'h0010},  // 2a8  shift   temp, 16
    {DoEntry, 5'd10, InRegister, 16'h0001},  // 2a9  entry   10, temp
    {DoMove, 5'd25, InImmediate, 16'h0084},  // 2aa  move    opcode, AdminSanitize
    {DoCall, 5'd0, InImmediate, 16'h02f7},  // 2ab  call    admin
    {DoJump, IfZero, InImmediate, 16'h02b1},  // 2ac  jump    zero, sanitize_poll
    {DoMove, 5'd1, InRegister, 16'h001a},  // 2ad  move    temp, status
    {DoAnd, 5'd1, InImmediate, 16'h07ff},  // 2ae  and     temp, StatusCode
    {DoCompare, 5'd1, InImmediate, 16'h001d},  // 2af  compare temp, SanitizeRunning
    {DoJump, IfNotZero, InImmediate, 16'h0214},  // 2b0  jump    not_zero, respond
    // sanitize_poll:
    {DoMove, 5'd1, InImmediate, 16'h0064},  // 2b1  move    temp, PollMs
    {DoCall, 5'd0, InImmediate, 16'h03f9},  // 2b2  call    delay
    {DoCall, 5'd0, InImmediate, 16'h038c},  // 2b3  call    watch
    {DoCall, 5'd0, InImmediate, 16'h02f1},  // 2b4  call    admin_clear
    {DoMove, 5'd1, InHigh, 16'h007f},  // 2b5  wide    temp, GetSanitize
    {DoAdd, 5'd1, InImmediate, 16'h0081},  // 2b6
    {DoEntry, 5'd10, InRegister, 16'h0001},  // 2b7  entry   10, temp
    {DoMove, 5'd25, InImmediate, 16'h0002},  // 2b8  move    opcode, AdminGetLog
    {DoCall, 5'd0, InImmediate, 16'h02f5},  // 2b9  call    admin_page
    {DoJump, IfNotZero, InImmediate, 16'h0214},  // 2ba  jump    not_zero, respond
    {DoPage, 5'd1, InImmediate, 16'h0000},  // 2bb  page    temp, SanitizeSstat / 4
    {DoShift, 5'd1, InImmediate, 16'h0010},  // 2bc  shift   temp, SanitizeSstat % 4 * 8
    {DoAnd, 5'd1, InImmediate, 16'h0007},  // 2bd  and     temp, SstatBits
    {DoCompare, 5'd1, InImmediate, 16'h0002},  // 2be  compare temp, SstatRunning
    {DoJump, IfZero, InImmediate, 16'h02b1},  // 2bf  jump    zero, sanitize_poll
    {DoCompare, 5'd1, InImmediate, 16'h0001},  // 2c0  compare temp, SstatDone
    {DoJump, IfZero, InImmediate, 16'h020d},  // 2c1  jump    zero, ok
    {DoCompare, 5'd1, InImmediate, 16'h0004},  // 2c2  compare temp, SstatDoneNoDeallocate
    {DoJump, IfZero, InImmediate, 16'h020d},  // 2c3  jump    zero, ok
    {DoMove, 5'd26, InImmediate, 16'h001c},  // 2c4  move    status, SanitizeFailed
    {DoJump, IfAlways, InImmediate, 16'h0214},  // 2c5  jump    respond
    // shutdown:
    {DoCall, 5'd0, InImmediate, 16'h0355},  // 2c6  call    drain
    {DoMove, 5'd2, InRegister, 16'h001a},  // 2c7  move    refusal, status
    {DoOut, OutStep, InImmediate, 16'h0013},  // 2c8  enter   StepShutdown
    {DoTest, 5'd20, InImmediate, 16'h0001},  // 2c9  test    features, FeatureCache
    {DoJump, IfZero, InImmediate, 16'h02d0},  // 2ca  jump    zero, shutdown_queues
    {DoCall, 5'd0, InImmediate, 16'h0323},  // 2cb  call    side_clear
    {DoMove, 5'd25, InImmediate, 16'h0000},  // 2cc  move    opcode, NvmFlush
    {DoCall, 5'd0, InImmediate, 16'h0328},  // 2cd  call    side
    {DoJump, IfZero, InImmediate, 16'h02d0},  // 2ce  jump    zero, shutdown_queues
    {DoMove, 5'd2, InRegister, 16'h001a},  // 2cf  move    refusal, status
    // shutdown_queues:
    {DoOut, OutReady, InImmediate, 16'h0000},  // 2d0  out     ready, 0
    {DoCall, 5'd0, InImmediate, 16'h02f1},  // 2d1  call    admin_clear
    {DoMove, 5'd25, InImmediate, 16'h0000},  // 2d2  move    opcode, AdminDeleteSq
    {DoEntry, 5'd10, InImmediate, 16'h0001},  // 2d3  entry   10, 1
    {DoCall, 5'd0, InImmediate, 16'h02f7},  // 2d4  call    admin
    {DoMove, 5'd25, InImmediate, 16'h0004},  // 2d5  move    opcode, AdminDeleteCq
    {DoCall, 5'd0, InImmediate, 16'h02f7},  // 2d6  call    admin
    {DoMove, 5'd1, InHigh, 16'h0046},  // 2d7  wide    temp, CcShutdown
    {DoAdd, 5'd1, InImmediate, 16'h4001},  // 2d8
    {DoWrite, 5'd1, InImmediate, 16'h0014},  // 2d9  write   RegCc, temp
    {DoMove, 5'd5, InNow, 16'h0000},  // 2da  arm     shutdown_deadline, shutdown_ms
    {DoAdd, 5'd5, InRegister, 16'h001d},  // 2db
    // shutdown_poll:
    {DoRead, 5'd0, InImmediate, 16'h001c},  // 2dc  read    value, RegCsts
    {DoMove, 5'd1, InRegister, 16'h0000},  // 2dd  move    temp, value
    {DoAnd, 5'd1, InImmediate, 16'h000c},  // 2de  and     temp, CstsShst
    {DoMove, 5'd26, InImmediate, 16'h001d},  // 2df  move    status, ErrShutDown
    {DoCompare, 5'd1, InImmediate, 16'h0008},  // 2e0  compare temp, CstsShutDown
    {DoJump, IfZero, InImmediate, 16'h02e8},  // 2e1  jump    zero, shutdown_end
    {DoMove, 5'd26, InImmediate, 16'h001e},  // 2e2  move    status, ErrShutdownDeadline
    {DoCompare, 5'd5, InNow, 16'h0000},  // 2e3  compare shutdown_deadline, now
    {DoJump, IfNegative, InImmediate, 16'h02e8},  // 2e4  jump    negative, shutdown_end
    {DoMove, 5'd1, InImmediate, 16'h0000},  // 2e5  move    temp, 0
    {DoCall, 5'd0, InImmediate, 16'h03f9},  // 2e6  call    delay
    {DoJump, IfAlways, InImmediate, 16'h02dc},  // 2e7  jump    shutdown_poll
    // shutdown_end:
    {DoOut, OutError, InRegister, 16'h001a},  // 2e8  out     error, status
    {DoOut, OutDetail, InRegister, 16'h0000},  // 2e9  out     detail, value
    {DoCall, 5'd0, InImmediate, 16'h0399},  // 2ea  call    give_up
    {DoCompare, 5'd26, InImmediate, 16'h001d},  // 2eb  compare status, ErrShutDown
    {DoJump, IfNotZero, InImmediate, 16'h0213},  // 2ec  jump    not_zero, lost
    {DoOut, OutPower, InImmediate, 16'h0005},  // 2ed  out     power, PowerSafe
    {DoMove, 5'd26, InRegister, 16'h0002},  // 2ee  move    status, refusal
    {DoJump, IfZero, InImmediate, 16'h0256},  // 2ef  jump    zero, durable
    {DoJump, IfAlways, InImmediate, 16'h0214},  // 2f0  jump    respond

    // ---- routines ----

    // admin_clear:
    {DoOut, OutSide, InImmediate, 16'h0000},  // 2f1  out     side, 0
    {DoFill, 5'd0, InImmediate, 16'h0000},  // 2f2  fill    0
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 2f3  return
    // admin_identify:
    {DoMove, 5'd25, InImmediate, 16'h0006},  // 2f4  move    opcode, AdminIdentify
    // admin_page:
    {DoMove, 5'd1, InImmediate, 16'h2000},  // 2f5  move    temp, OffsetAdminPage
    {DoCall, 5'd0, InImmediate, 16'h0369},  // 2f6  call    prp
    // admin:
    {DoMove, 5'd10, InImmediate, 16'h0003},  // 2f7  move    retries, AdminRetries
    {DoJump, IfAlways, InImmediate, 16'h02fa},  // 2f8  jump    admin_try
    // admin_once:
    {DoMove, 5'd10, InImmediate, 16'h0000},  // 2f9  move    retries, 0
    // admin_try:
    {DoAdd, 5'd11, InHigh, 16'h0001},  // 2fa  add     cid, CidOne
    {DoAnd, 5'd11, InHigh, 16'h80ff},  // 2fb  and     cid, CidBits
    {DoMove, 5'd1, InRegister, 16'h000b},  // 2fc  move    temp, cid
    {DoAdd, 5'd1, InRegister, 16'h0019},  // 2fd  add     temp, opcode
    {DoEntry, 5'd0, InRegister, 16'h0001},  // 2fe  entry   0, temp
    {DoMove, 5'd1, InRegister, 16'h000c},  // 2ff  move    temp, admin_tail
    {DoAdd, 5'd1, InImmediate, 16'h0004},  // 300  add     temp, AdminEntryValid
    {DoOut, OutPulse, InImmediate, 16'h0008},  // 301  out     pulse, PulseAdminTaken
    {DoOut, OutAdminEntry, InRegister, 16'h0001},  // 302  out     admin_entry, temp
    {DoAdd, 5'd12, InImmediate, 16'h0001},  // 303  add     admin_tail, 1
    {DoAnd, 5'd12, InImmediate, 16'h0003},  // 304  and     admin_tail, AdminTailMask
    {DoWrite, 5'd12, InImmediate, 16'h1000},  // 305  write   RegDoorbells, admin_tail
    {DoMove, 5'd5, InNow, 16'h0000},  // 306  arm     admin_deadline, admin_ms
    {DoAdd, 5'd5, InRegister, 16'h001e},  // 307
    // admin_wait:
    {DoJump, IfAdminDone, InImmediate, 16'h030e},  // 308  jump    admin_done, admin_completion
    // admin_late:
    {DoCall, 5'd0, InImmediate, 16'h038c},  // 309  call    watch
    {DoMove, 5'd0, InRegister, 16'h0019},  // 30a  move    value, opcode
    {DoCompare, 5'd5, InNow, 16'h0000},  // 30b  compare admin_deadline, now
    {DoFail, IfNegative, InImmediate, 16'h0011},  // 30c  fail    negative, ErrAdminDeadline
    {DoJump, IfAlways, InImmediate, 16'h0308},  // 30d  jump    admin_wait
    // admin_completion:
    {DoMove, 5'd26, InAdminStatus, 16'h0000},  // 30e  move    status, admin_status
    {DoOut, OutPulse, InImmediate, 16'h0008},  // 30f  out     pulse, PulseAdminTaken
    {DoAdd, 5'd13, InImmediate, 16'h0001},  // 310  add     admin_head, 1
    {DoAnd, 5'd13, InImmediate, 16'h0003},  // 311  and     admin_head, AdminTailMask
    {DoWrite, 5'd13, InRegister, 16'h000e},  // 312  write   head_doorbell, admin_head
    {DoMove, 5'd1, InRegister, 16'h001a},  // 313  move    temp, status
    {DoAnd, 5'd1, InHigh, 16'hffff},  // 314  and     temp, UpperHalf
    {DoCompare, 5'd1, InRegister, 16'h000b},  // 315  compare temp, cid
    {DoJump, IfNotZero, InImmediate, 16'h0309},  // 316  jump    not_zero, admin_late
    {DoAnd, 5'd26, InImmediate, 16'h7fff},  // 317  and     status, StatusBits
    {DoJump, IfZero, InImmediate, 16'h0320},  // 318  jump    zero, admin_return
    {DoTest, 5'd26, InImmediate, 16'h4000},  // 319  test    status, DoNotRetry
    {DoJump, IfNotZero, InImmediate, 16'h0320},  // 31a  jump    not_zero, admin_return
    {DoSub, 5'd10, InImmediate, 16'h0001},  // 31b  sub     retries, 1
    {DoJump, IfCarry, InImmediate, 16'h0320},  // 31c  jump    carry, admin_return
    {DoMove, 5'd1, InImmediate, 16'h0004},  // 31d  move    temp, RetryMs
    {DoCall, 5'd0, InImmediate, 16'h03f9},  // 31e  call    delay
    {DoJump, IfAlways, InImmediate, 16'h02fa},  // 31f  jump    admin_try
    // admin_return:
    {DoOut, OutAdminEntry, InImmediate, 16'h0000},  // 320  out     admin_entry, 0
    {DoMove, 5'd0, InRegister, 16'h001a},  // 321  move    value, status
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 322  return
    // side_clear:
    {DoOut, OutSide, InImmediate, 16'h0001},  // 323  out     side, 1
    {DoFill, 5'd0, InImmediate, 16'h0000},  // 324  fill    0
    {DoEntry, 5'd1, InRegister, 16'h0015},  // 325  entry   1, nsid
    {DoMove, 5'd10, InImmediate, 16'h0007},  // 326  move    retries, SideRetries
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 327  return
    // side:
    {DoAdd, 5'd11, InHigh, 16'h0001},  // 328  add     cid, CidOne
    {DoAnd, 5'd11, InHigh, 16'h80ff},  // 329  and     cid, CidBits
    {DoMove, 5'd1, InRegister, 16'h000b},  // 32a  move    temp, cid
    {DoAdd, 5'd1, InHigh, 16'h0100},  // 32b  add     temp, CidSide
    {DoAdd, 5'd1, InRegister, 16'h0019},  // 32c  add     temp, opcode
    {DoEntry, 5'd0, InRegister, 16'h0001},  // 32d  entry   0, temp
    {DoOut, OutPush, InImmediate, 16'h0001},  // 32e  out     push, 1
    {DoMove, 5'd5, InNow, 16'h0000},  // 32f  arm     side_deadline, DeadlineMs
    {DoAdd, 5'd5, InImmediate, 16'(DeadlineMs)},  // 330
    // side_wait:
    {DoJump, IfSideDone, InImmediate, 16'h0337},  // 331  jump    side_done, side_ended
    {DoCall, 5'd0, InImmediate, 16'h038c},  // 332  call    watch
    {DoMove, 5'd0, InRegister, 16'h0019},  // 333  move    value, opcode
    {DoCompare, 5'd5, InNow, 16'h0000},  // 334  compare side_deadline, now
    {DoFail, IfNegative, InImmediate, 16'h001c},  // 335  fail    negative, ErrSideDeadline
    {DoJump, IfAlways, InImmediate, 16'h0331},  // 336  jump    side_wait
    // side_ended:
    {DoMove, 5'd26, InSideStatus, 16'h0000},  // 337  move    status, side_status
    {DoAnd, 5'd26, InImmediate, 16'h7fff},  // 338  and     status, StatusBits
    {DoJump, IfZero, InImmediate, 16'h0353},  // 339  jump    zero, return_status
    {DoTest, 5'd26, InImmediate, 16'h4000},  // 33a  test    status, DoNotRetry
    {DoJump, IfNotZero, InImmediate, 16'h0353},  // 33b  jump    not_zero, return_status
    {DoSub, 5'd10, InImmediate, 16'h0001},  // 33c  sub     retries, 1
    {DoJump, IfCarry, InImmediate, 16'h0353},  // 33d  jump    carry, return_status
    {DoMove, 5'd1, InImmediate, 16'h0004},  // 33e  move    temp, RetryMs
    {DoCall, 5'd0, InImmediate, 16'h03f9},  // 33f  call    delay
    {DoJump, IfAlways, InImmediate, 16'h0328},  // 340  jump    side
    // check_range:
    {DoMove, 5'd26, InImmediate, 16'h8001},  // 341  move    status, StatusInvalid
    {DoMove, 5'd3, InBlocks, 16'h0000},  // 342  move    pointer, blocks
    {DoJump, IfZero, InImmediate, 16'h0353},  // 343  jump    zero, return_status
    {DoMove, 5'd26, InImmediate, 16'h8002},  // 344  move    status, StatusRange
    {DoMove, 5'd1, InCommand, 16'h0000},  // 345  move    temp, command
    {DoTest, 5'd1, InImmediate, 16'h0080},  // 346  test    temp, LbaTooLarge
    {DoJump, IfNotZero, InImmediate, 16'h0353},  // 347  jump    not_zero, return_status
    {DoShift, 5'd1, InImmediate, 16'h0008},  // 348  shift   temp, 8
    {DoAnd, 5'd1, InImmediate, 16'h00ff},  // 349  and     temp, LbaHigh
    {DoAdd, 5'd3, InLba, 16'h0000},  // 34a  add     pointer, lba
    {DoJump, IfNotCarry, InImmediate, 16'h034d},  // 34b  jump    not_carry, end_low
    {DoAdd, 5'd1, InImmediate, 16'h0001},  // 34c  add     temp, 1
    // end_low:
    {DoCompare, 5'd22, InRegister, 16'h0003},  // 34d  compare blocks_low, pointer
    {DoJump, IfNotCarry, InImmediate, 16'h0350},  // 34e  jump    not_carry, end_high
    {DoAdd, 5'd1, InImmediate, 16'h0001},  // 34f  add     temp, 1
    // end_high:
    {DoCompare, 5'd23, InRegister, 16'h0001},  // 350  compare blocks_high, temp
    {DoJump, IfCarry, InImmediate, 16'h0353},  // 351  jump    carry, return_status
    {DoMove, 5'd26, InImmediate, 16'h0000},  // 352  move    status, StatusOk
    // return_status:
    {DoTest, 5'd26, InImmediate, 16'hffff},  // 353  test    status, LowerHalf
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 354  return
    // drain:
    {DoMove, 5'd5, InNow, 16'h0000},  // 355  arm     drain_deadline, DeadlineMs
    {DoAdd, 5'd5, InImmediate, 16'(DeadlineMs)},  // 356
    // drain_poll:
    {DoMove, 5'd26, InImmediate, 16'h0000},  // 357  move    status, StatusOk
    {DoJump, IfIdle, InImmediate, 16'h0353},  // 358  jump    idle, return_status
    {DoCall, 5'd0, InImmediate, 16'h038c},  // 359  call    watch
    {DoMove, 5'd26, InImmediate, 16'h8006},  // 35a  move    status, StatusBusy
    {DoCompare, 5'd5, InNow, 16'h0000},  // 35b  compare drain_deadline, now
    {DoJump, IfNegative, InImmediate, 16'h0353},  // 35c  jump    negative, return_status
    {DoJump, IfAlways, InImmediate, 16'h0357},  // 35d  jump    drain_poll
    // raw_pages:
    {DoMove, 5'd25, InRaw, 16'h0000},  // 35e  move    opcode, raw
    {DoAnd, 5'd25, InImmediate, 16'h00ff},  // 35f  and     opcode, OpcodeBits
    {DoEntry, 5'd4, InImmediate, 16'h0000},  // 360  entry   4, 0
    {DoEntry, 5'd5, InImmediate, 16'h0000},  // 361  entry   5, 0
    {DoEntry, 5'd6, InImmediate, 16'h0000},  // 362  entry   6, 0
    {DoEntry, 5'd7, InImmediate, 16'h0000},  // 363  entry   7, 0
    {DoEntry, 5'd8, InImmediate, 16'h0000},  // 364  entry   8, 0
    {DoEntry, 5'd9, InImmediate, 16'h0000},  // 365  entry   9, 0
    {DoTest, 5'd25, InImmediate, 16'h0003},  // 366  test    opcode, OpcodeData
    {DoJump, IfZero, InImmediate, 16'h0398},  // 367  jump    zero, unchanged
    {DoMove, 5'd1, InImmediate, 16'h3000},  // 368  move    temp, OffsetMailbox
    // prp:
    {DoAdd, 5'd1, InRegister, 16'h000f},  // 369  add     temp, window
    {DoEntry, 5'd6, InRegister, 16'h0001},  // 36a  entry   6, temp
    {DoMove, 5'd1, InHigh, 16'((32'(WindowBase[63:32])) >> 16)},  // 36b  wide    temp, WindowBase[63:32]
    {DoAdd, 5'd1, InImmediate, 16'(32'(WindowBase[63:32]))},  // 36c
    {DoEntry, 5'd7, InRegister, 16'h0001},  // 36d  entry   7, temp
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 36e  return
    // health:
    {DoCall, 5'd0, InImmediate, 16'h02f1},  // 36f  call    admin_clear
    {DoMove, 5'd1, InImmediate, 16'h0000},  // 370  move    temp, 0
    {DoSub, 5'd1, InImmediate, 16'h0001},  // 371  sub     temp, 1
    {DoEntry, 5'd1, InRegister, 16'h0001},  // 372  entry   1, temp
    {DoMove, 5'd1, InHigh, 16'h007f},  // 373  wide    temp, GetHealth
    {DoAdd, 5'd1, InImmediate, 16'h0002},  // 374
    {DoEntry, 5'd10, InRegister, 16'h0001},  // 375  entry   10, temp
    {DoMove, 5'd25, InImmediate, 16'h0002},  // 376  move    opcode, AdminGetLog
    {DoCall, 5'd0, InImmediate, 16'h02f5},  // 377  call    admin_page
    {DoMove, 5'd7, InNow, 16'h0000},  // 378  arm     health_at, HealthMs
    {DoAdd, 5'd7, InImmediate, 16'(HealthMs)},  // 379
    {DoTest, 5'd26, InImmediate, 16'hffff},  // 37a  test    status, LowerHalf
    {DoJump, IfNotZero, InImmediate, 16'h038a},  // 37b  jump    not_zero, no_health
    {DoPage, 5'd1, InImmediate, 16'h0000},  // 37c  page    temp, HealthWarning / 4
    {DoJump, IfZero, InImmediate, 16'h038a},  // 37d  jump    zero, no_health
    {DoOut, OutHealth0, InRegister, 16'h0001},  // 37e  out     health0, temp
    {DoPage, 5'd1, InImmediate, 16'h001c},  // 37f  page    temp, HealthPowerCycles / 4
    {DoOut, OutPowerCycles, InRegister, 16'h0001},  // 380  out     power_cycles, temp
    {DoPage, 5'd1, InImmediate, 16'h0001},  // 381  page    temp, HealthThreshold / 4
    {DoOut, OutHealth1, InRegister, 16'h0001},  // 382  out     health1, temp
    {DoPage, 5'd1, InImmediate, 16'h0028},  // 383  page    temp, HealthMediaErrors / 4
    {DoOut, OutMediaErrors, InRegister, 16'h0001},  // 384  out     media_errors, temp
    {DoPage, 5'd1, InImmediate, 16'h0024},  // 385  page    temp, HealthUnsafeShutdowns / 4
    {DoOut, OutUnsafeShutdowns, InRegister, 16'h0001},  // 386  out     unsafe_shutdowns, temp
    {DoOut, OutPower, InImmediate, 16'h0006},  // 387  out     power, PowerLog
    {DoOut, OutHealthValid, InImmediate, 16'h0001},  // 388  out     health_valid, 1
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 389  return
    // no_health:
    {DoOut, OutPower, InImmediate, 16'h0007},  // 38a  out     power, PowerNoLog
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 38b  return
    // watch:
    {DoFail, IfDisabled, InImmediate, 16'h0001},  // 38c  fail    disabled, ErrAccess
    {DoFail, IfLinkDown, InImmediate, 16'h001a},  // 38d  fail    link_down, ErrLinkLost
    {DoFail, IfRecover, InImmediate, 16'h001b},  // 38e  fail    recover, ErrDataPath
    {DoCompare, 5'd6, InNow, 16'h0000},  // 38f  compare poll_at, now
    {DoJump, IfNotNegative, InImmediate, 16'h0398},  // 390  jump    not_negative, unchanged
    {DoRead, 5'd0, InImmediate, 16'h001c},  // 391  read    value, RegCsts
    {DoTest, 5'd0, InImmediate, 16'h0002},  // 392  test    value, CstsCfs
    {DoFail, IfNotZero, InImmediate, 16'h0010},  // 393  fail    not_zero, ErrFatal
    {DoMove, 5'd6, InNow, 16'h0000},  // 394  arm     poll_at, PollMs
    {DoAdd, 5'd6, InImmediate, 16'h0064},  // 395
    {DoJump, IfNotReady, InImmediate, 16'h0398},  // 396  jump    not_ready, unchanged
    {DoMove, 5'd8, InImmediate, 16'h0000},  // 397  move    attempts, 0
    // unchanged:
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 398  return
    // give_up:
    {DoOut, OutHealthValid, InImmediate, 16'h0000},  // 399  out     health_valid, 0
    {DoOut, OutReady, InImmediate, 16'h0000},  // 39a  out     ready, 0
    {DoOut, OutPush, InImmediate, 16'h0000},  // 39b  out     push, 0
    {DoOut, OutPerst, InImmediate, 16'h0000},  // 39c  out     perst, 0
    {DoOut, OutAdapterReset, InImmediate, 16'h0001},  // 39d  out     adapter_reset, 1
    {DoMove, 5'd5, InNow, 16'h0000},  // 39e  arm     give_up_deadline, QuietMs
    {DoAdd, 5'd5, InImmediate, 16'h0064},  // 39f
    // giving_up:
    {DoJump, IfQuiet, InImmediate, 16'h03a3},  // 3a0  jump    quiet, given_up
    {DoCompare, 5'd5, InNow, 16'h0000},  // 3a1  compare give_up_deadline, now
    {DoJump, IfNotNegative, InImmediate, 16'h03a0},  // 3a2  jump    not_negative, giving_up
    // given_up:
    {DoOut, OutGone, InImmediate, 16'h0001},  // 3a3  out     gone, 1
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 3a4  return
    // disable_controller:
    {DoRead, 5'd0, InImmediate, 16'h0014},  // 3a5  read    value, RegCc
    {DoTest, 5'd0, InImmediate, 16'h0001},  // 3a6  test    value, CcEn
    {DoJump, IfZero, InImmediate, 16'h03ad},  // 3a7  jump    zero, disabling
    {DoSub, 5'd0, InImmediate, 16'h0001},  // 3a8  sub     value, CcEn
    {DoWrite, 5'd0, InImmediate, 16'h0014},  // 3a9  write   RegCc, value
    {DoTest, 5'd0, InHigh, 16'hff00},  // 3aa  test    value, CcHigh
    {DoJump, IfNotZero, InImmediate, 16'h03ad},  // 3ab  jump    not_zero, disabling
    {DoOut, OutPower, InImmediate, 16'h0001},  // 3ac  out     power, PowerStopped
    // disabling:
    {DoMove, 5'd5, InNow, 16'h0000},  // 3ad  arm     disable_deadline, timeout_ms
    {DoAdd, 5'd5, InRegister, 16'h0010},  // 3ae
    // disable_poll:
    {DoRead, 5'd0, InImmediate, 16'h001c},  // 3af  read    value, RegCsts
    {DoTest, 5'd0, InImmediate, 16'h0001},  // 3b0  test    value, CstsRdy
    {DoJump, IfZero, InImmediate, 16'h03b8},  // 3b1  jump    zero, witness
    {DoFail, IfLinkDown, InImmediate, 16'h001a},  // 3b2  fail    link_down, ErrLinkLost
    {DoCompare, 5'd5, InNow, 16'h0000},  // 3b3  compare disable_deadline, now
    {DoFail, IfNegative, InImmediate, 16'h000d},  // 3b4  fail    negative, ErrDisable
    {DoMove, 5'd1, InImmediate, 16'h0000},  // 3b5  move    temp, 0
    {DoCall, 5'd0, InImmediate, 16'h03f9},  // 3b6  call    delay
    {DoJump, IfAlways, InImmediate, 16'h03af},  // 3b7  jump    disable_poll
    // witness:
    {DoMove, 5'd1, InHigh, 16'h0003},  // 3b8  wide    temp, Aqa
    {DoAdd, 5'd1, InImmediate, 16'h0003},  // 3b9
    {DoRead, 5'd0, InImmediate, 16'h0024},  // 3ba  read    value, RegAqa
    {DoCompare, 5'd1, InRegister, 16'h0000},  // 3bb  compare temp, value
    {DoJump, IfNotZero, InImmediate, 16'h03cf},  // 3bc  jump    not_zero, cleared
    {DoMove, 5'd1, InRegister, 16'h000f},  // 3bd  move    temp, window
    {DoRead, 5'd0, InImmediate, 16'h0028},  // 3be  read    value, RegAsqLow
    {DoCompare, 5'd1, InRegister, 16'h0000},  // 3bf  compare temp, value
    {DoJump, IfNotZero, InImmediate, 16'h03cf},  // 3c0  jump    not_zero, cleared
    {DoAdd, 5'd1, InImmediate, 16'h1000},  // 3c1  add     temp, OffsetAdminCq
    {DoRead, 5'd0, InImmediate, 16'h0030},  // 3c2  read    value, RegAcqLow
    {DoCompare, 5'd1, InRegister, 16'h0000},  // 3c3  compare temp, value
    {DoJump, IfNotZero, InImmediate, 16'h03cf},  // 3c4  jump    not_zero, cleared
    {DoMove, 5'd1, InHigh, 16'((32'(WindowBase[63:32])) >> 16)},  // 3c5  wide    temp, WindowBase[63:32]
    {DoAdd, 5'd1, InImmediate, 16'(32'(WindowBase[63:32]))},  // 3c6
    {DoRead, 5'd0, InImmediate, 16'h002c},  // 3c7  read    value, RegAsqHigh
    {DoCompare, 5'd1, InRegister, 16'h0000},  // 3c8  compare temp, value
    {DoJump, IfNotZero, InImmediate, 16'h03cf},  // 3c9  jump    not_zero, cleared
    {DoRead, 5'd0, InImmediate, 16'h0034},  // 3ca  read    value, RegAcqHigh
    {DoCompare, 5'd1, InRegister, 16'h0000},  // 3cb  compare temp, value
    {DoJump, IfNotZero, InImmediate, 16'h03cf},  // 3cc  jump    not_zero, cleared
    {DoOut, OutPower, InImmediate, 16'h0003},  // 3cd  out     power, PowerKept
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 3ce  return
    // cleared:
    {DoRead, 5'd0, InImmediate, 16'h0008},  // 3cf  read    value, RegVs
    {DoFail, IfZero, InImmediate, 16'h0001},  // 3d0  fail    zero, ErrAccess
    {DoAdd, 5'd0, InImmediate, 16'h0001},  // 3d1  add     value, 1
    {DoFail, IfZero, InImmediate, 16'h0001},  // 3d2  fail    zero, ErrAccess
    {DoOut, OutPower, InImmediate, 16'h0004},  // 3d3  out     power, PowerCleared
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 3d4  return
    // find_capability:
    {DoMove, 5'd4, InImmediate, 16'h0030},  // 3d5  move    count, CapabilitiesMax
    {DoRead, 5'd3, InImmediate, 16'h0034},  // 3d6  read    pointer, CfgCapabilities
    // next_capability:
    {DoAnd, 5'd3, InImmediate, 16'h00fc},  // 3d7  and     pointer, 0x00fc
    {DoJump, IfZero, InImmediate, 16'h0398},  // 3d8  jump    zero, unchanged
    {DoRead, 5'd1, InRegister, 16'h0003},  // 3d9  read    temp, pointer
    {DoMove, 5'd0, InRegister, 16'h0001},  // 3da  move    value, temp
    {DoAnd, 5'd0, InImmediate, 16'h00ff},  // 3db  and     value, 0x00ff
    {DoCompare, 5'd0, InImmediate, 16'h0010},  // 3dc  compare value, CapabilityExpress
    {DoJump, IfZero, InImmediate, 16'h03e4},  // 3dd  jump    zero, found
    {DoMove, 5'd3, InRegister, 16'h0001},  // 3de  move    pointer, temp
    {DoShift, 5'd3, InImmediate, 16'h0008},  // 3df  shift   pointer, 8
    {DoSub, 5'd4, InImmediate, 16'h0001},  // 3e0  sub     count, 1
    {DoJump, IfNotZero, InImmediate, 16'h03d7},  // 3e1  jump    not_zero, next_capability
    {DoMove, 5'd3, InImmediate, 16'h0000},  // 3e2  move    pointer, 0
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 3e3  return
    // found:
    {DoTest, 5'd3, InImmediate, 16'hffff},  // 3e4  test    pointer, LowerHalf
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 3e5  return
    // timeout:
    {DoTest, 5'd1, InHigh, 16'h000e},  // 3e6  test    temp, ExpressVersion
    {DoJump, IfZero, InImmediate, 16'h0398},  // 3e7  jump    zero, unchanged
    {DoMove, 5'd1, InRegister, 16'h0003},  // 3e8  move    temp, pointer
    {DoAdd, 5'd1, InImmediate, 16'h0028},  // 3e9  add     temp, ExpressControl2
    {DoMove, 5'd0, InImmediate, 16'h0000},  // 3ea  move    value, 0
    {DoWrite, 5'd0, InRegister, 16'h0001},  // 3eb  write   temp, value
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 3ec  return
    // fold:
    {DoMove, 5'd1, InRegister, 16'h0002},  // 3ed  move    temp, mark
    {DoAdd, 5'd2, InRegister, 16'h0002},  // 3ee  add     mark, mark
    {DoAdd, 5'd2, InRegister, 16'h0001},  // 3ef  add     mark, temp
    {DoMove, 5'd1, InRegister, 16'h0002},  // 3f0  move    temp, mark
    {DoShift, 5'd1, InImmediate, 16'h0007},  // 3f1  shift   temp, 7
    {DoXor, 5'd2, InRegister, 16'h0001},  // 3f2  xor     mark, temp
    {DoPage, 5'd1, InRegister, 16'h0003},  // 3f3  page    temp, pointer
    {DoXor, 5'd2, InRegister, 16'h0001},  // 3f4  xor     mark, temp
    {DoAdd, 5'd3, InImmediate, 16'h0001},  // 3f5  add     pointer, 1
    {DoSub, 5'd4, InImmediate, 16'h0001},  // 3f6  sub     count, 1
    {DoJump, IfNotZero, InImmediate, 16'h03ed},  // 3f7  jump    not_zero, fold
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 3f8  return
    // delay:
    {DoAdd, 5'd1, InNow, 16'h0000},  // 3f9  add     temp, now
    // delayed:
    {DoCompare, 5'd1, InNow, 16'h0000},  // 3fa  compare temp, now
    {DoJump, IfNotNegative, InImmediate, 16'h03fa},  // 3fb  jump    not_negative, delayed
    {DoReturn, 5'd0, InImmediate, 16'h0000}  // 3fc  return
  };

  // instruction_o is the block RAM's output register, so no path of logic begins at the array.
  (* rom_style = "block" *) logic [Width-1:0] words[2**AddressWidth];
  logic [Width-1:0] word_q;
  initial begin
    for (int unsigned i = 0; i < 2 ** AddressWidth; i++)
      words[i] = i < Instructions ? Program[Instructions-1-i] : '0;  // the first one is the leftmost
  end
  always_ff @(posedge clk_i) begin
    if (fetch_i) word_q <= words[address_i];
    instruction_o <= instruction_t'(word_q);
  end

endmodule

`default_nettype wire
