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

  localparam int unsigned Instructions = 1020;
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
    {DoCall, 5'd0, InImmediate, 16'h0398},  // 007  call    give_up
    // disabled_wait:
    {DoOut, OutGone, InImmediate, 16'h0001},  // 008  out     gone, 1
    {DoJump, IfEnabled, InImmediate, 16'h000c},  // 009  jump    enabled, start
    {DoJump, IfNoCommand, InImmediate, 16'h0008},  // 00a  jump    no_command, disabled_wait
    {DoJump, IfAlways, InImmediate, 16'h0208},  // 00b  jump    refuse
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
    {DoCatch, 5'd0, InImmediate, 16'h01f7},  // 013  catch   failed
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
    {DoCatch, 5'd0, InImmediate, 16'h01f7},  // 020  catch   failed
    {DoOut, OutAdapterReset, InImmediate, 16'h0001},  // 021  out     adapter_reset, 1
    {DoMove, 5'd1, InImmediate, 16'(PerstMs)},  // 022  move    temp, PerstMs
    {DoCall, 5'd0, InImmediate, 16'h03f8},  // 023  call    delay
    {DoOut, OutAdapterReset, InImmediate, 16'h0000},  // 024  out     adapter_reset, 0
    {DoMove, 5'd1, InImmediate, 16'h0004},  // 025  move    temp, AdapterMs
    {DoCall, 5'd0, InImmediate, 16'h03f8},  // 026  call    delay
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
    {DoCatch, 5'd0, InImmediate, 16'h01f7},  // 033  catch   failed
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
    {DoCall, 5'd0, InImmediate, 16'h03f8},  // 050  call    delay
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
    {DoCatch, 5'd0, InImmediate, 16'h01f7},  // 05e  catch   failed
    {DoFail, IfLinkDown, InImmediate, 16'h001a},  // 05f  fail    link_down, ErrLinkLost
    {DoCompare, 5'd5, InNow, 16'h0000},  // 060  compare device_deadline, now
    {DoFail, IfNegative, InImmediate, 16'h0003},  // 061  fail    negative, ErrNoDevice
    {DoMove, 5'd1, InImmediate, 16'h0001},  // 062  move    temp, 1
    {DoCall, 5'd0, InImmediate, 16'h03f8},  // 063  call    delay
    {DoCatch, 5'd0, InImmediate, 16'h005e},  // 064  catch   probe_again
    {DoJump, IfAlways, InImmediate, 16'h0056},  // 065  jump    probe
    // device:
    {DoCatch, 5'd0, InImmediate, 16'h01f7},  // 066  catch   failed
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
    {DoMove, 5'd1, InHigh, 16'h0001},  // 07f  move    temp, BarWindowBytes >> 4
    {DoCompare, 5'd1, InRegister, 16'h001a},  // 080  compare temp, bar_units
    {DoFail, IfCarry, InImmediate, 16'h0007},  // 081  fail    carry, ErrBarSize
    {DoMove, 5'd1, InHigh, 16'((32'(BarBase[31:0])) >> 16)},  // 082  wide    temp, BarBase[31:0]
    {DoAdd, 5'd1, InImmediate, 16'(32'(BarBase[31:0]))},  // 083
    {DoWrite, 5'd1, InImmediate, 16'h0010},  // 084  write   CfgBar0, temp
    {DoTest, 5'd3, InImmediate, 16'h0004},  // 085  test    bar, Bar64
    {DoJump, IfZero, InImmediate, 16'h008a},  // 086  jump    zero, bar_done
    {DoMove, 5'd1, InHigh, 16'((32'(BarBase[63:32])) >> 16)},  // 087  wide    temp, BarBase[63:32]
    {DoAdd, 5'd1, InImmediate, 16'(32'(BarBase[63:32]))},  // 088
    {DoWrite, 5'd1, InImmediate, 16'h0014},  // 089  write   CfgBar1, temp
    // bar_done:
    {DoOut, OutStep, InImmediate, 16'h0006},  // 08a  enter   StepCapabilities
    {DoCall, 5'd0, InImmediate, 16'h03d4},  // 08b  call    find_capability
    {DoFail, IfZero, InImmediate, 16'h0008},  // 08c  fail    zero, ErrCapability
    {DoCall, 5'd0, InImmediate, 16'h03e5},  // 08d  call    timeout
    {DoMove, 5'd27, InRegister, 16'h0003},  // 08e  move    device_express, pointer
    {DoAdd, 5'd3, InImmediate, 16'h0004},  // 08f  add     pointer, ExpressDevice
    {DoRead, 5'd2, InRegister, 16'h0003},  // 090  read    device_capabilities, pointer
    {DoAdd, 5'd3, InImmediate, 16'h000c},  // 091  add     pointer, ExpressLink - ExpressDevice
    {DoRead, 5'd0, InRegister, 16'h0003},  // 092  read    value, pointer
    {DoShift, 5'd0, InImmediate, 16'h0010},  // 093  shift   value, 16
    {DoOut, OutLinkStatus, InRegister, 16'h0000},  // 094  out     link_status, value
    {DoOut, OutSpace, InImmediate, 16'h0000},  // 095  out     space, SpaceLocal
    {DoMove, 5'd18, InImmediate, 16'h0000},  // 096  move    device_control, 0
    {DoCall, 5'd0, InImmediate, 16'h03d4},  // 097  call    find_capability
    {DoJump, IfZero, InImmediate, 16'h009e},  // 098  jump    zero, no_root_capability
    {DoCall, 5'd0, InImmediate, 16'h03e5},  // 099  call    timeout
    {DoMove, 5'd28, InRegister, 16'h0003},  // 09a  move    root_express, pointer
    {DoAdd, 5'd3, InImmediate, 16'h0004},  // 09b  add     pointer, ExpressDevice
    {DoRead, 5'd18, InRegister, 16'h0003},  // 09c  read    device_control, pointer
    {DoAnd, 5'd18, InImmediate, 16'h0007},  // 09d  and     device_control, PayloadBits
    // no_root_capability:
    {DoMove, 5'd1, InRegister, 16'h0002},  // 09e  move    temp, device_capabilities
    {DoAnd, 5'd1, InImmediate, 16'h0007},  // 09f  and     temp, PayloadBits
    {DoCompare, 5'd1, InRegister, 16'h0012},  // 0a0  compare temp, device_control
    {DoJump, IfNotCarry, InImmediate, 16'h00a3},  // 0a1  jump    not_carry, payload
    {DoMove, 5'd18, InRegister, 16'h0001},  // 0a2  move    device_control, temp
    // payload:
    {DoAdd, 5'd18, InRegister, 16'h0012},  // 0a3  add     device_control, device_control
    {DoAdd, 5'd18, InRegister, 16'h0012},  // 0a4  add     device_control, device_control
    {DoAdd, 5'd18, InRegister, 16'h0012},  // 0a5  add     device_control, device_control
    {DoAdd, 5'd18, InRegister, 16'h0012},  // 0a6  add     device_control, device_control
    {DoAdd, 5'd18, InRegister, 16'h0012},  // 0a7  add     device_control, device_control
    {DoAdd, 5'd18, InImmediate, 16'h2000},  // 0a8  add     device_control, ReadSize512
    {DoTest, 5'd3, InImmediate, 16'hffff},  // 0a9  test    pointer, LowerHalf
    {DoJump, IfZero, InImmediate, 16'h00ad},  // 0aa  jump    zero, controller
    {DoAdd, 5'd28, InImmediate, 16'h0008},  // 0ab  add     root_express, ExpressControl
    {DoWrite, 5'd18, InRegister, 16'h001c},  // 0ac  write   root_express, device_control
    // controller:
    {DoOut, OutSpace, InImmediate, 16'h0001},  // 0ad  out     space, SpaceDevice
    {DoAnd, 5'd2, InImmediate, 16'h0020},  // 0ae  and     device_capabilities, ExtendedTag
    {DoAdd, 5'd2, InRegister, 16'h0002},  // 0af  add     device_capabilities, device_capabilities
    {DoAdd, 5'd2, InRegister, 16'h0002},  // 0b0  add     device_capabilities, device_capabilities
    {DoAdd, 5'd2, InRegister, 16'h0002},  // 0b1  add     device_capabilities, device_capabilities
    {DoAdd, 5'd18, InRegister, 16'h0002},  // 0b2  add     device_control, device_capabilities
    {DoAdd, 5'd27, InImmediate, 16'h0008},  // 0b3  add     device_express, ExpressControl
    {DoWrite, 5'd18, InRegister, 16'h001b},  // 0b4  write   device_express, device_control
    {DoMove, 5'd0, InImmediate, 16'h0402},  // 0b5  move    value, CommandMemory
    {DoWrite, 5'd0, InImmediate, 16'h0004},  // 0b6  write   CfgCommand, value

    // ---- from the controller's registers to an admin queue ----

    {DoOut, OutStep, InImmediate, 16'h0007},  // 0b7  enter   StepController
    {DoOut, OutSpace, InImmediate, 16'h0002},  // 0b8  out     space, SpaceBar
    {DoRead, 5'd0, InImmediate, 16'h0000},  // 0b9  read    value, RegCapLow
    {DoOut, OutCapLow, InRegister, 16'h0000},  // 0ba  out     cap_low, value
    {DoMove, 5'd19, InRegister, 16'h0000},  // 0bb  move    queue_entries, value
    {DoAnd, 5'd19, InImmediate, 16'hffff},  // 0bc  and     queue_entries, CapMqes
    {DoAdd, 5'd19, InImmediate, 16'h0001},  // 0bd  add     queue_entries, 1
    {DoMove, 5'd16, InRegister, 16'h0000},  // 0be  move    timeout_ms, value
    {DoShift, 5'd16, InImmediate, 16'h0010},  // 0bf  shift   timeout_ms, 16
    {DoAnd, 5'd16, InImmediate, 16'hff00},  // 0c0  and     timeout_ms, CapTo
    {DoAdd, 5'd16, InRegister, 16'h0010},  // 0c1  add     timeout_ms, timeout_ms
    {DoAdd, 5'd16, InImmediate, 16'h0200},  // 0c2  add     timeout_ms, 512
    {DoRead, 5'd0, InImmediate, 16'h0004},  // 0c3  read    value, RegCapHigh
    {DoTest, 5'd0, InImmediate, 16'h0020},  // 0c4  test    value, CapNvm
    {DoFail, IfZero, InImmediate, 16'h000a},  // 0c5  fail    zero, ErrCommandSet
    {DoTest, 5'd0, InHigh, 16'h000f},  // 0c6  test    value, CapMpsmin
    {DoFail, IfNotZero, InImmediate, 16'h000b},  // 0c7  fail    not_zero, ErrPageSize
    {DoAnd, 5'd0, InImmediate, 16'h000f},  // 0c8  and     value, CapDstrd
    {DoOut, OutStride, InRegister, 16'h0000},  // 0c9  out     stride, value
    {DoMove, 5'd14, InImmediate, 16'h0004},  // 0ca  move    head_doorbell, 4
    // stride:
    {DoSub, 5'd0, InImmediate, 16'h0001},  // 0cb  sub     value, 1
    {DoJump, IfCarry, InImmediate, 16'h00cf},  // 0cc  jump    carry, stride_done
    {DoAdd, 5'd14, InRegister, 16'h000e},  // 0cd  add     head_doorbell, head_doorbell
    {DoJump, IfAlways, InImmediate, 16'h00cb},  // 0ce  jump    stride
    // stride_done:
    {DoMove, 5'd1, InRegister, 16'h000e},  // 0cf  move    temp, head_doorbell
    {DoShift, 5'd1, InImmediate, 16'h0002},  // 0d0  shift   temp, 2
    {DoAdd, 5'd1, InImmediate, 16'h0100},  // 0d1  add     temp, RegDoorbells >> 4
    {DoAdd, 5'd14, InImmediate, 16'h1000},  // 0d2  add     head_doorbell, RegDoorbells
    {DoMove, 5'd0, InRegister, 16'h001a},  // 0d3  move    value, bar_units
    {DoCompare, 5'd26, InRegister, 16'h0001},  // 0d4  compare bar_units, temp
    {DoFail, IfCarry, InImmediate, 16'h0007},  // 0d5  fail    carry, ErrBarSize
    {DoRead, 5'd0, InImmediate, 16'h0008},  // 0d6  read    value, RegVs
    {DoCompare, 5'd0, InHigh, 16'h0001},  // 0d7  compare value, Version1
    {DoFail, IfCarry, InImmediate, 16'h0009},  // 0d8  fail    carry, ErrVersion
    {DoMove, 5'd0, InRegister, 16'h0013},  // 0d9  move    value, queue_entries
    {DoMove, 5'd4, InImmediate, 16'(QueueShiftMax)},  // 0da  move    count, QueueShiftMax
    {DoMove, 5'd1, InImmediate, 16'(32'd1 << 32'(QueueShiftMax))},  // 0db  move    temp, 1 << QueueShiftMax
    // queue_shift:
    {DoCompare, 5'd19, InRegister, 16'h0001},  // 0dc  compare queue_entries, temp
    {DoJump, IfNotCarry, InImmediate, 16'h00e1},  // 0dd  jump    not_carry, queue_shift_done
    {DoShift, 5'd1, InImmediate, 16'h0001},  // 0de  shift   temp, 1
    {DoSub, 5'd4, InImmediate, 16'h0001},  // 0df  sub     count, 1
    {DoJump, IfAlways, InImmediate, 16'h00dc},  // 0e0  jump    queue_shift
    // queue_shift_done:
    {DoMove, 5'd19, InRegister, 16'h0001},  // 0e1  move    queue_entries, temp
    {DoOut, OutQueueShift, InRegister, 16'h0004},  // 0e2  out     queue_shift, count
    {DoTest, 5'd4, InImmediate, 16'hffff},  // 0e3  test    count, LowerHalf
    {DoFail, IfZero, InImmediate, 16'h000c},  // 0e4  fail    zero, ErrQueueSize
    {DoOut, OutStep, InImmediate, 16'h0008},  // 0e5  enter   StepDisable
    {DoMove, 5'd1, InImmediate, 16'h0000},  // 0e6  move    temp, 0
    {DoSub, 5'd1, InImmediate, 16'h0001},  // 0e7  sub     temp, 1
    {DoWrite, 5'd1, InImmediate, 16'h000c},  // 0e8  write   RegIntms, temp
    {DoCall, 5'd0, InImmediate, 16'h03a4},  // 0e9  call    disable_controller
    {DoOut, OutStep, InImmediate, 16'h0009},  // 0ea  enter   StepQuiet
    {DoMove, 5'd5, InNow, 16'h0000},  // 0eb  arm     quiet_deadline, QuietMs
    {DoAdd, 5'd5, InImmediate, 16'h0064},  // 0ec
    // quiet_poll:
    {DoJump, IfQuiet, InImmediate, 16'h00f1},  // 0ed  jump    quiet, queues_reset
    {DoCompare, 5'd5, InNow, 16'h0000},  // 0ee  compare quiet_deadline, now
    {DoFail, IfNegative, InImmediate, 16'h000e},  // 0ef  fail    negative, ErrQuiet
    {DoJump, IfAlways, InImmediate, 16'h00ed},  // 0f0  jump    quiet_poll
    // queues_reset:
    {DoXor, 5'd15, (32'(WindowBits) - 32'd1) >= 32'd16 ? InHigh : InImmediate, 16'(32'd1 << ((32'(WindowBits) - 32'd1) % 32'd16))},  // 0f1  xor     window, bit(WindowBits - 1)
    {DoXor, 5'd11, InHigh, 16'h8000},  // 0f2  xor     cid, CidEpoch
    {DoMove, 5'd30, InImmediate, 16'(DeadlineMs)},  // 0f3  move    admin_ms, DeadlineMs
    {DoMove, 5'd12, InImmediate, 16'h0000},  // 0f4  move    admin_tail, 0
    {DoMove, 5'd13, InImmediate, 16'h0000},  // 0f5  move    admin_head, 0
    {DoOut, OutAdminEntry, InImmediate, 16'h0000},  // 0f6  out     admin_entry, 0
    {DoOut, OutPulse, InImmediate, 16'h0003},  // 0f7  out     pulse, PulseQueues | PulseForget
    {DoOut, OutSpace, InImmediate, 16'h0001},  // 0f8  out     space, SpaceDevice
    {DoMove, 5'd0, InImmediate, 16'h0406},  // 0f9  move    value, CommandMaster
    {DoWrite, 5'd0, InImmediate, 16'h0004},  // 0fa  write   CfgCommand, value
    {DoOut, OutSpace, InImmediate, 16'h0002},  // 0fb  out     space, SpaceBar
    {DoOut, OutStep, InImmediate, 16'h000a},  // 0fc  enter   StepEnable
    {DoMove, 5'd1, InHigh, 16'h0003},  // 0fd  wide    temp, Aqa
    {DoAdd, 5'd1, InImmediate, 16'h0003},  // 0fe
    {DoWrite, 5'd1, InImmediate, 16'h0024},  // 0ff  write   RegAqa, temp
    {DoMove, 5'd1, InRegister, 16'h000f},  // 100  move    temp, window
    {DoWrite, 5'd1, InImmediate, 16'h0028},  // 101  write   RegAsqLow, temp
    {DoAdd, 5'd1, InImmediate, 16'h1000},  // 102  add     temp, OffsetAdminCq
    {DoWrite, 5'd1, InImmediate, 16'h0030},  // 103  write   RegAcqLow, temp
    {DoMove, 5'd1, InHigh, 16'((32'(WindowBase[63:32])) >> 16)},  // 104  wide    temp, WindowBase[63:32]
    {DoAdd, 5'd1, InImmediate, 16'(32'(WindowBase[63:32]))},  // 105
    {DoWrite, 5'd1, InImmediate, 16'h002c},  // 106  write   RegAsqHigh, temp
    {DoWrite, 5'd1, InImmediate, 16'h0034},  // 107  write   RegAcqHigh, temp
    {DoMove, 5'd1, InHigh, 16'h0046},  // 108  wide    temp, CcEnabled
    {DoAdd, 5'd1, InImmediate, 16'h0001},  // 109
    {DoWrite, 5'd1, InImmediate, 16'h0014},  // 10a  write   RegCc, temp
    {DoOut, OutPower, InImmediate, 16'h0000},  // 10b  out     power, PowerWritten
    {DoMove, 5'd5, InNow, 16'h0000},  // 10c  arm     enable_deadline, timeout_ms
    {DoAdd, 5'd5, InRegister, 16'h0010},  // 10d
    {DoMove, 5'd6, InNow, 16'h0000},  // 10e  arm     poll_at, PollMs
    {DoAdd, 5'd6, InImmediate, 16'h0064},  // 10f
    // enable_poll:
    {DoRead, 5'd0, InImmediate, 16'h001c},  // 110  read    value, RegCsts
    {DoTest, 5'd0, InImmediate, 16'h0002},  // 111  test    value, CstsCfs
    {DoFail, IfNotZero, InImmediate, 16'h0010},  // 112  fail    not_zero, ErrFatal
    {DoTest, 5'd0, InImmediate, 16'h0001},  // 113  test    value, CstsRdy
    {DoJump, IfNotZero, InImmediate, 16'h011b},  // 114  jump    not_zero, identify_controller
    {DoCompare, 5'd5, InNow, 16'h0000},  // 115  compare enable_deadline, now
    {DoFail, IfNegative, InImmediate, 16'h000f},  // 116  fail    negative, ErrEnable
    {DoFail, IfLinkDown, InImmediate, 16'h001a},  // 117  fail    link_down, ErrLinkLost
    {DoMove, 5'd1, InImmediate, 16'h0000},  // 118  move    temp, 0
    {DoCall, 5'd0, InImmediate, 16'h03f8},  // 119  call    delay
    {DoJump, IfAlways, InImmediate, 16'h0110},  // 11a  jump    enable_poll

    // ---- Identify; features; the I/O queues ----

    // identify_controller:
    {DoOut, OutStep, InImmediate, 16'h000b},  // 11b  enter   StepIdentifyController
    {DoCall, 5'd0, InImmediate, 16'h02f0},  // 11c  call    admin_clear
    {DoEntry, 5'd10, InImmediate, 16'h0001},  // 11d  entry   10, IdController
    {DoCall, 5'd0, InImmediate, 16'h02f3},  // 11e  call    admin_identify
    {DoFail, IfNotZero, InImmediate, 16'h0012},  // 11f  fail    not_zero, ErrIdentify
    {DoPage, 5'd0, InImmediate, 16'h0080},  // 120  page    value, IdSqes / 4
    {DoMove, 5'd1, InRegister, 16'h0000},  // 121  move    temp, value
    {DoAnd, 5'd1, InImmediate, 16'h000f},  // 122  and     temp, 0x000f
    {DoCompare, 5'd1, InImmediate, 16'h0007},  // 123  compare temp, 6 + 1
    {DoFail, IfNotCarry, InImmediate, 16'h0013},  // 124  fail    not_carry, ErrEntrySize
    {DoMove, 5'd1, InRegister, 16'h0000},  // 125  move    temp, value
    {DoAnd, 5'd1, InImmediate, 16'h00f0},  // 126  and     temp, 0x00f0
    {DoCompare, 5'd1, InImmediate, 16'h0060},  // 127  compare temp, 6 << 4
    {DoFail, IfCarry, InImmediate, 16'h0013},  // 128  fail    carry, ErrEntrySize
    {DoMove, 5'd1, InRegister, 16'h0000},  // 129  move    temp, value
    {DoAnd, 5'd1, InImmediate, 16'h0f00},  // 12a  and     temp, 0x0f00
    {DoCompare, 5'd1, InImmediate, 16'h0500},  // 12b  compare temp, (4 + 1) << 8
    {DoFail, IfNotCarry, InImmediate, 16'h0013},  // 12c  fail    not_carry, ErrEntrySize
    {DoMove, 5'd1, InRegister, 16'h0000},  // 12d  move    temp, value
    {DoAnd, 5'd1, InImmediate, 16'hf000},  // 12e  and     temp, 0xf000
    {DoCompare, 5'd1, InImmediate, 16'h4000},  // 12f  compare temp, 4 << 12
    {DoFail, IfCarry, InImmediate, 16'h0013},  // 130  fail    carry, ErrEntrySize
    {DoMove, 5'd2, InImmediate, 16'h0001},  // 131  move    mark, 1
    {DoMove, 5'd3, InImmediate, 16'h0001},  // 132  move    pointer, IdSn / 4
    {DoMove, 5'd4, InImmediate, 16'h0005},  // 133  move    count, IdSnBytes / 4
    {DoCall, 5'd0, InImmediate, 16'h03ec},  // 134  call    fold
    {DoMove, 5'd1, InImmediate, 16'(SectorsMax)},  // 135  move    temp, SectorsMax
    {DoPage, 5'd4, InImmediate, 16'h0013},  // 136  page    count, IdMdts / 4
    {DoShift, 5'd4, InImmediate, 16'h0008},  // 137  shift   count, IdMdts % 4 * 8
    {DoAnd, 5'd4, InImmediate, 16'h00ff},  // 138  and     count, 0x00ff
    {DoJump, IfZero, InImmediate, 16'h0142},  // 139  jump    zero, mdts_done
    {DoMove, 5'd1, InImmediate, 16'h0008},  // 13a  move    temp, PageSectorsMin
    // mdts:
    {DoCompare, 5'd1, InImmediate, 16'(SectorsMax)},  // 13b  compare temp, SectorsMax
    {DoJump, IfNotCarry, InImmediate, 16'h0141},  // 13c  jump    not_carry, mdts_limit
    {DoSub, 5'd4, InImmediate, 16'h0001},  // 13d  sub     count, 1
    {DoJump, IfCarry, InImmediate, 16'h0142},  // 13e  jump    carry, mdts_done
    {DoAdd, 5'd1, InRegister, 16'h0001},  // 13f  add     temp, temp
    {DoJump, IfAlways, InImmediate, 16'h013b},  // 140  jump    mdts
    // mdts_limit:
    {DoMove, 5'd1, InImmediate, 16'(SectorsMax)},  // 141  move    temp, SectorsMax
    // mdts_done:
    {DoMove, 5'd18, InRegister, 16'h0001},  // 142  move    sectors_max, temp
    {DoPage, 5'd29, InImmediate, 16'h0016},  // 143  page    shutdown_ms, IdRtd3e / 4
    {DoShift, 5'd29, InImmediate, 16'h000a},  // 144  shift   shutdown_ms, 10
    {DoAdd, 5'd29, InImmediate, 16'(DeadlineMs)},  // 145  add     shutdown_ms, DeadlineMs
    {DoMove, 5'd20, InImmediate, 16'h0000},  // 146  move    features, 0
    {DoPage, 5'd1, InImmediate, 16'h0083},  // 147  page    temp, IdVwc / 4
    {DoTest, 5'd1, InImmediate, 16'h0100},  // 148  test    temp, VwcPresent
    {DoJump, IfZero, InImmediate, 16'h014b},  // 149  jump    zero, no_cache
    {DoAdd, 5'd20, InImmediate, 16'h0001},  // 14a  add     features, FeatureCache
    // no_cache:
    {DoOut, OutVolatileCache, InRegister, 16'h0014},  // 14b  out     volatile_cache, features
    {DoPage, 5'd1, InImmediate, 16'h0040},  // 14c  page    temp, IdOacs / 4
    {DoTest, 5'd1, InImmediate, 16'h0002},  // 14d  test    temp, OacsFormat
    {DoJump, IfZero, InImmediate, 16'h0150},  // 14e  jump    zero, no_format
    {DoAdd, 5'd20, InImmediate, 16'h0002},  // 14f  add     features, FeatureFormat
    // no_format:
    {DoPage, 5'd1, InImmediate, 16'h0082},  // 150  page    temp, IdOncs / 4
    {DoTest, 5'd1, InImmediate, 16'h0004},  // 151  test    temp, OncsDeallocate
    {DoJump, IfZero, InImmediate, 16'h0154},  // 152  jump    zero, no_deallocate
    {DoAdd, 5'd20, InImmediate, 16'h0004},  // 153  add     features, FeatureDeallocate
    // no_deallocate:
    {DoPage, 5'd1, InImmediate, 16'h0052},  // 154  page    temp, IdSanicap / 4
    {DoTest, 5'd1, InImmediate, 16'h0007},  // 155  test    temp, SanicapMethods
    {DoJump, IfZero, InImmediate, 16'h0158},  // 156  jump    zero, no_sanitize
    {DoAdd, 5'd20, InImmediate, 16'h0008},  // 157  add     features, FeatureSanitize
    // no_sanitize:
    {DoPage, 5'd27, InImmediate, 16'h0042},  // 158  page    apsta, IdApsta / 4
    {DoPage, 5'd28, InImmediate, 16'h0044},  // 159  page    host_buffer, IdHmpre / 4
    {DoOut, OutStep, InImmediate, 16'h000c},  // 15a  enter   StepNamespaceList
    {DoCall, 5'd0, InImmediate, 16'h02f0},  // 15b  call    admin_clear
    {DoEntry, 5'd10, InImmediate, 16'h0002},  // 15c  entry   10, IdNamespaceList
    {DoCall, 5'd0, InImmediate, 16'h02f3},  // 15d  call    admin_identify
    {DoJump, IfNotZero, InImmediate, 16'h0162},  // 15e  jump    not_zero, namespace_one
    {DoPage, 5'd21, InImmediate, 16'h0000},  // 15f  page    nsid, 0
    {DoFail, IfZero, InImmediate, 16'h0014},  // 160  fail    zero, ErrNoNamespace
    {DoJump, IfAlways, InImmediate, 16'h0163},  // 161  jump    set_features
    // namespace_one:
    {DoMove, 5'd21, InImmediate, 16'h0001},  // 162  move    nsid, 1
    // set_features:
    {DoOut, OutNsid, InRegister, 16'h0015},  // 163  out     nsid, nsid
    {DoOut, OutStep, InImmediate, 16'h000d},  // 164  enter   StepFeatures
    {DoMove, 5'd25, InImmediate, 16'h0009},  // 165  move    opcode, AdminSetFeatures
    {DoTest, 5'd27, InImmediate, 16'h0100},  // 166  test    apsta, ApstaSupported
    {DoJump, IfZero, InImmediate, 16'h016d},  // 167  jump    zero, no_power_states
    {DoCall, 5'd0, InImmediate, 16'h02f0},  // 168  call    admin_clear
    {DoEntry, 5'd10, InImmediate, 16'h000c},  // 169  entry   10, FeatureApst
    {DoMove, 5'd1, InImmediate, 16'h2800},  // 16a  move    temp, OffsetAdminPage + 0x800
    {DoCall, 5'd0, InImmediate, 16'h0368},  // 16b  call    prp
    {DoCall, 5'd0, InImmediate, 16'h02f6},  // 16c  call    admin
    // no_power_states:
    {DoTest, 5'd28, InImmediate, 16'hffff},  // 16d  test    host_buffer, LowerHalf
    {DoJump, IfZero, InImmediate, 16'h0172},  // 16e  jump    zero, no_host_buffer
    {DoCall, 5'd0, InImmediate, 16'h02f0},  // 16f  call    admin_clear
    {DoEntry, 5'd10, InImmediate, 16'h000d},  // 170  entry   10, FeatureHostBuffer
    {DoCall, 5'd0, InImmediate, 16'h02f6},  // 171  call    admin
    // no_host_buffer:
    {DoCall, 5'd0, InImmediate, 16'h02f0},  // 172  call    admin_clear
    {DoEntry, 5'd10, InImmediate, 16'h0007},  // 173  entry   10, FeatureQueues
    {DoCall, 5'd0, InImmediate, 16'h02f6},  // 174  call    admin
    {DoFail, IfNotZero, InImmediate, 16'h0018},  // 175  fail    not_zero, ErrFeatures
    {DoOut, OutStep, InImmediate, 16'h000e},  // 176  enter   StepIdentifyNamespace
    {DoCall, 5'd0, InImmediate, 16'h02f0},  // 177  call    admin_clear
    {DoEntry, 5'd1, InRegister, 16'h0015},  // 178  entry   1, nsid
    {DoCall, 5'd0, InImmediate, 16'h02f3},  // 179  call    admin_identify
    {DoFail, IfNotZero, InImmediate, 16'h0012},  // 17a  fail    not_zero, ErrIdentify
    {DoPage, 5'd22, InImmediate, 16'h0000},  // 17b  page    blocks_low, NsNsze / 4
    {DoPage, 5'd23, InImmediate, 16'h0001},  // 17c  page    blocks_high, NsNsze / 4 + 1
    {DoMove, 5'd0, InRegister, 16'h0017},  // 17d  move    value, blocks_high
    {DoCompare, 5'd0, InImmediate, 16'h0100},  // 17e  compare value, BlocksHighLimit
    {DoFail, IfNotCarry, InImmediate, 16'h0017},  // 17f  fail    not_carry, ErrTooLarge
    {DoMove, 5'd3, InImmediate, 16'h0000},  // 180  move    pointer, NsNsze / 4
    {DoMove, 5'd4, InImmediate, 16'h0002},  // 181  move    count, 2
    {DoCall, 5'd0, InImmediate, 16'h03ec},  // 182  call    fold
    {DoMove, 5'd3, InImmediate, 16'h001a},  // 183  move    pointer, NsNguid / 4
    {DoMove, 5'd4, InImmediate, 16'h0006},  // 184  move    count, NsNguidBytes / 4
    {DoCall, 5'd0, InImmediate, 16'h03ec},  // 185  call    fold
    {DoPage, 5'd1, InImmediate, 16'h0006},  // 186  page    temp, NsFlbas / 4
    {DoShift, 5'd1, InImmediate, 16'h0010},  // 187  shift   temp, NsFlbas % 4 * 8
    {DoMove, 5'd3, InRegister, 16'h0001},  // 188  move    pointer, temp
    {DoAnd, 5'd3, InImmediate, 16'h000f},  // 189  and     pointer, 0x000f
    {DoShift, 5'd1, InImmediate, 16'h0001},  // 18a  shift   temp, 1
    {DoAnd, 5'd1, InImmediate, 16'h0030},  // 18b  and     temp, 0x0030
    {DoAdd, 5'd3, InRegister, 16'h0001},  // 18c  add     pointer, temp
    {DoAdd, 5'd3, InImmediate, 16'h0020},  // 18d  add     pointer, NsLbaf0 / 4
    {DoPage, 5'd0, InRegister, 16'h0003},  // 18e  page    value, pointer
    {DoTest, 5'd0, InImmediate, 16'hffff},  // 18f  test    value, LbafMs
    {DoFail, IfNotZero, InImmediate, 16'h0016},  // 190  fail    not_zero, ErrMetadata
    {DoMove, 5'd1, InRegister, 16'h0000},  // 191  move    temp, value
    {DoShift, 5'd1, InImmediate, 16'h0010},  // 192  shift   temp, 16
    {DoAnd, 5'd1, InImmediate, 16'h00ff},  // 193  and     temp, LbadsBits
    {DoCompare, 5'd1, InImmediate, 16'h000c},  // 194  compare temp, Lbads4096
    {DoJump, IfZero, InImmediate, 16'h019a},  // 195  jump    zero, block_4096
    {DoCompare, 5'd1, InImmediate, 16'h0009},  // 196  compare temp, Lbads512
    {DoFail, IfNotZero, InImmediate, 16'h0015},  // 197  fail    not_zero, ErrBlockSize
    {DoMove, 5'd24, InImmediate, 16'h0008},  // 198  move    mailbox_blocks, 8
    {DoJump, IfAlways, InImmediate, 16'h019c},  // 199  jump    block_done
    // block_4096:
    {DoMove, 5'd24, InImmediate, 16'h0001},  // 19a  move    mailbox_blocks, 1
    {DoAnd, 5'd18, InImmediate, 16'hfff8},  // 19b  and     sectors_max, 0xfff8
    // block_done:
    {DoMove, 5'd1, InRegister, 16'h0016},  // 19c  move    temp, blocks_low
    {DoShift, 5'd1, InImmediate, 16'h0001},  // 19d  shift   temp, 1
    {DoAdd, 5'd1, InRegister, 16'h0017},  // 19e  add     temp, blocks_high
    {DoFail, IfZero, InImmediate, 16'h0014},  // 19f  fail    zero, ErrNoNamespace
    {DoMove, 5'd4, InImmediate, 16'h0001},  // 1a0  move    count, 1
    {DoCall, 5'd0, InImmediate, 16'h03ec},  // 1a1  call    fold
    {DoMove, 5'd1, InRegister, 16'h0011},  // 1a2  move    temp, known
    {DoJump, IfZero, InImmediate, 16'h01aa},  // 1a3  jump    zero, new_drive
    {DoCompare, 5'd1, InRegister, 16'h0002},  // 1a4  compare temp, mark
    {DoJump, IfZero, InImmediate, 16'h01aa},  // 1a5  jump    zero, new_drive
    {DoTest, 5'd9, InImmediate, 16'h0100},  // 1a6  test    reruns, AnyDrive
    {DoFail, IfZero, InImmediate, 16'h001f},  // 1a7  fail    zero, ErrOtherDrive
    {DoOut, OutGone, InImmediate, 16'h0001},  // 1a8  out     gone, 1
    {DoOut, OutGone, InImmediate, 16'h0000},  // 1a9  out     gone, 0
    // new_drive:
    {DoAnd, 5'd9, InImmediate, 16'h00ff},  // 1aa  and     reruns, RerunsCount
    {DoMove, 5'd17, InRegister, 16'h0002},  // 1ab  move    known, mark
    {DoOut, OutBlocksLow, InRegister, 16'h0016},  // 1ac  out     blocks_low, blocks_low
    {DoOut, OutBlocksHigh, InRegister, 16'h0017},  // 1ad  out     blocks_high, blocks_high
    {DoOut, OutBlock4096, InRegister, 16'h0018},  // 1ae  out     block4096, mailbox_blocks
    {DoOut, OutSectorsMax, InRegister, 16'h0012},  // 1af  out     sectors_max, sectors_max
    {DoOut, OutStep, InImmediate, 16'h000f},  // 1b0  enter   StepQueues
    {DoMove, 5'd4, InRegister, 16'h0013},  // 1b1  move    count, queue_entries
    {DoSub, 5'd4, InImmediate, 16'h0001},  // 1b2  sub     count, 1
    {DoMove, 5'd3, InImmediate, 16'h0010},  // 1b3  move    pointer, 16
    // queue_size:
    {DoAdd, 5'd4, InRegister, 16'h0004},  // 1b4  add     count, count
    {DoSub, 5'd3, InImmediate, 16'h0001},  // 1b5  sub     pointer, 1
    {DoJump, IfNotZero, InImmediate, 16'h01b4},  // 1b6  jump    not_zero, queue_size
    {DoAdd, 5'd4, InImmediate, 16'h0001},  // 1b7  add     count, 1
    {DoCall, 5'd0, InImmediate, 16'h02f0},  // 1b8  call    admin_clear
    {DoMove, 5'd25, InImmediate, 16'h0005},  // 1b9  move    opcode, AdminCreateCq
    {DoEntry, 5'd10, InRegister, 16'h0004},  // 1ba  entry   10, count
    {DoEntry, 5'd11, InImmediate, 16'h0001},  // 1bb  entry   11, Contiguous
    {DoMove, 5'd1, InHigh, 16'h0002},  // 1bc  move    temp, OffsetCq
    {DoCall, 5'd0, InImmediate, 16'h0368},  // 1bd  call    prp
    {DoCall, 5'd0, InImmediate, 16'h02f6},  // 1be  call    admin
    {DoFail, IfNotZero, InImmediate, 16'h0019},  // 1bf  fail    not_zero, ErrCreateQueue
    {DoCall, 5'd0, InImmediate, 16'h02f0},  // 1c0  call    admin_clear
    {DoMove, 5'd25, InImmediate, 16'h0001},  // 1c1  move    opcode, AdminCreateSq
    {DoEntry, 5'd10, InRegister, 16'h0004},  // 1c2  entry   10, count
    {DoMove, 5'd1, InHigh, 16'h0001},  // 1c3  wide    temp, SqOfCq1
    {DoAdd, 5'd1, InImmediate, 16'h0001},  // 1c4
    {DoEntry, 5'd11, InRegister, 16'h0001},  // 1c5  entry   11, temp
    {DoMove, 5'd1, InHigh, 16'h0001},  // 1c6  move    temp, OffsetSq
    {DoCall, 5'd0, InImmediate, 16'h0368},  // 1c7  call    prp
    {DoCall, 5'd0, InImmediate, 16'h02f6},  // 1c8  call    admin
    {DoFail, IfNotZero, InImmediate, 16'h0019},  // 1c9  fail    not_zero, ErrCreateQueue
    {DoOut, OutStep, InImmediate, 16'h0010},  // 1ca  enter   StepHealth
    {DoCall, 5'd0, InImmediate, 16'h036e},  // 1cb  call    health
    {DoOut, OutStep, InImmediate, 16'h0011},  // 1cc  enter   StepReady
    {DoCatch, 5'd0, InImmediate, 16'h01d9},  // 1cd  catch   recover
    {DoOut, OutPulse, InImmediate, 16'h0002},  // 1ce  out     pulse, PulseForget
    {DoMove, 5'd6, InNow, 16'h0000},  // 1cf  arm     poll_at, PollMs
    {DoAdd, 5'd6, InImmediate, 16'h0064},  // 1d0
    {DoOut, OutReady, InImmediate, 16'h0001},  // 1d1  out     ready, 1

    // ---- ready, recovering, gone ----

    // idle:
    {DoJump, IfGone, InImmediate, 16'h01fe},  // 1d2  jump    gone, gone_wait
    // ready:
    {DoCall, 5'd0, InImmediate, 16'h038b},  // 1d3  call    watch
    {DoCompare, 5'd7, InNow, 16'h0000},  // 1d4  compare health_at, now
    {DoJump, IfNotNegative, InImmediate, 16'h01d7},  // 1d5  jump    not_negative, command
    {DoCall, 5'd0, InImmediate, 16'h036e},  // 1d6  call    health
    // command:
    {DoJump, IfCommand, InImmediate, 16'h0218},  // 1d7  jump    command, dispatch
    {DoJump, IfAlways, InImmediate, 16'h01d3},  // 1d8  jump    ready
    // recover:
    {DoOut, OutError, InRegister, 16'h001f},  // 1d9  out     error, error
    {DoOut, OutDetail, InRegister, 16'h0000},  // 1da  out     detail, any value
    // rebuild:
    {DoMove, 5'd31, InImmediate, 16'h0001},  // 1db  move    error, ErrAccess
    {DoOut, OutHealthValid, InImmediate, 16'h0000},  // 1dc  out     health_valid, 0
    {DoOut, OutReady, InImmediate, 16'h0000},  // 1dd  out     ready, 0
    {DoOut, OutPush, InImmediate, 16'h0000},  // 1de  out     push, 0
    {DoOut, OutPulse, InImmediate, 16'h0004},  // 1df  out     pulse, PulseRecovery
    {DoJump, IfDisabled, InImmediate, 16'h0006},  // 1e0  jump    disabled, disabled
    {DoOut, OutStep, InImmediate, 16'h0012},  // 1e1  enter   StepRecovery
    {DoJump, IfNoProgress, InImmediate, 16'h01e4},  // 1e2  jump    no_progress, no_progress
    {DoMove, 5'd8, InImmediate, 16'h0000},  // 1e3  move    attempts, 0
    // no_progress:
    {DoAdd, 5'd8, InImmediate, 16'h0001},  // 1e4  add     attempts, 1
    {DoCompare, 5'd8, InImmediate, 16'h0004},  // 1e5  compare attempts, AttemptsMax + 1
    {DoJump, IfNotCarry, InImmediate, 16'h01fd},  // 1e6  jump    not_carry, gone
    {DoJump, IfLinkDown, InImmediate, 16'h01ee},  // 1e7  jump    link_down, relink
    {DoCatch, 5'd0, InImmediate, 16'h0010},  // 1e8  catch   perst
    {DoOut, OutSpace, InImmediate, 16'h0002},  // 1e9  out     space, SpaceBar
    {DoCall, 5'd0, InImmediate, 16'h03a4},  // 1ea  call    disable_controller
    {DoOut, OutSpace, InImmediate, 16'h0001},  // 1eb  out     space, SpaceDevice
    {DoMove, 5'd0, InImmediate, 16'h0402},  // 1ec  move    value, CommandMemory
    {DoWrite, 5'd0, InImmediate, 16'h0004},  // 1ed  write   CfgCommand, value
    // relink:
    {DoCatch, 5'd0, InImmediate, 16'h01f7},  // 1ee  catch   failed
    {DoJump, IfLinkUp, InImmediate, 16'h01f4},  // 1ef  jump    link_up, returned
    {DoOut, OutAdapterReset, InImmediate, 16'h0001},  // 1f0  out     adapter_reset, 1
    {DoMove, 5'd1, InImmediate, 16'h0000},  // 1f1  move    temp, 0
    {DoCall, 5'd0, InImmediate, 16'h03f8},  // 1f2  call    delay
    {DoOut, OutAdapterReset, InImmediate, 16'h0000},  // 1f3  out     adapter_reset, 0
    // returned:
    {DoMove, 5'd5, InNow, 16'h0000},  // 1f4  arm     link_deadline, LinkReturnMs
    {DoAdd, 5'd5, InImmediate, 16'h07d0},  // 1f5
    {DoJump, IfAlways, InImmediate, 16'h0037},  // 1f6  jump    link_wait
    // failed:
    {DoOut, OutError, InRegister, 16'h001f},  // 1f7  out     error, error
    {DoOut, OutDetail, InRegister, 16'h0000},  // 1f8  out     detail, any value
    {DoJump, IfDisabled, InImmediate, 16'h0006},  // 1f9  jump    disabled, disabled
    {DoAdd, 5'd8, InImmediate, 16'h0001},  // 1fa  add     attempts, 1
    {DoCompare, 5'd8, InImmediate, 16'h0003},  // 1fb  compare attempts, AttemptsMax
    {DoJump, IfCarry, InImmediate, 16'h0010},  // 1fc  jump    carry, perst
    // gone:
    {DoCall, 5'd0, InImmediate, 16'h0398},  // 1fd  call    give_up
    // gone_wait:
    {DoJump, IfDisabled, InImmediate, 16'h0006},  // 1fe  jump    disabled, disabled
    {DoJump, IfNoCommand, InImmediate, 16'h01fe},  // 1ff  jump    no_command, gone_wait
    {DoMove, 5'd1, InCommand, 16'h0000},  // 200  move    temp, command
    {DoAnd, 5'd1, InImmediate, 16'h000f},  // 201  and     temp, OpBits
    {DoCompare, 5'd1, InImmediate, 16'h0007},  // 202  compare temp, OpRestart
    {DoJump, IfNotZero, InImmediate, 16'h0208},  // 203  jump    not_zero, refuse
    {DoTest, 5'd9, InImmediate, 16'hffff},  // 204  test    reruns, LowerHalf
    {DoJump, IfNotZero, InImmediate, 16'h0208},  // 205  jump    not_zero, refuse
    {DoMove, 5'd9, InImmediate, 16'h0080},  // 206  move    reruns, JustBringUp
    {DoJump, IfAlways, InImmediate, 16'h000c},  // 207  jump    start
    // refuse:
    {DoMove, 5'd27, InImmediate, 16'h0000},  // 208  move    done_low, 0
    {DoMove, 5'd28, InImmediate, 16'h0000},  // 209  move    done_high, 0
    {DoMove, 5'd26, InImmediate, 16'h8004},  // 20a  move    status, StatusGone
    {DoJump, IfAlways, InImmediate, 16'h0213},  // 20b  jump    respond

    // ---- side commands ----

    // ok:
    {DoMove, 5'd26, InImmediate, 16'h0000},  // 20c  move    status, StatusOk
    {DoJump, IfAlways, InImmediate, 16'h0213},  // 20d  jump    respond
    // invalid:
    {DoMove, 5'd26, InImmediate, 16'h8001},  // 20e  move    status, StatusInvalid
    {DoJump, IfAlways, InImmediate, 16'h0213},  // 20f  jump    respond
    // unsupported:
    {DoMove, 5'd26, InImmediate, 16'h8003},  // 210  move    status, StatusUnsupported
    {DoJump, IfAlways, InImmediate, 16'h0213},  // 211  jump    respond
    // lost:
    {DoMove, 5'd26, InImmediate, 16'h8005},  // 212  move    status, StatusDeadline
    // respond:
    {DoOut, OutDone, InRegister, 16'h001c},  // 213  out     done, done_high
    {DoOut, OutDone, InRegister, 16'h001b},  // 214  out     done, done_low
    {DoOut, OutRespond, InRegister, 16'h001a},  // 215  out     respond, status
    {DoMove, 5'd9, InImmediate, 16'h0000},  // 216  move    reruns, 0
    {DoJump, IfAlways, InImmediate, 16'h01d2},  // 217  jump    idle
    // dispatch:
    {DoMove, 5'd27, InImmediate, 16'h0000},  // 218  move    done_low, 0
    {DoMove, 5'd28, InImmediate, 16'h0000},  // 219  move    done_high, 0
    {DoAdd, 5'd9, InImmediate, 16'h0001},  // 21a  add     reruns, 1
    {DoCompare, 5'd9, InImmediate, 16'h0081},  // 21b  compare reruns, JustBringUp + 1
    {DoJump, IfZero, InImmediate, 16'h020c},  // 21c  jump    zero, ok
    {DoCompare, 5'd9, InImmediate, 16'h0005},  // 21d  compare reruns, RerunsMax + 2
    {DoJump, IfNotCarry, InImmediate, 16'h0212},  // 21e  jump    not_carry, lost
    {DoMove, 5'd2, InCommand, 16'h0000},  // 21f  move    operation, command
    {DoAnd, 5'd2, InImmediate, 16'h000f},  // 220  and     operation, OpBits
    {DoJump, IfZero, InImmediate, 16'h024e},  // 221  jump    zero, flush
    {DoCompare, 5'd2, InImmediate, 16'h0001},  // 222  compare operation, OpWrite
    {DoJump, IfZero, InImmediate, 16'h025b},  // 223  jump    zero, mailbox_write
    {DoCompare, 5'd2, InImmediate, 16'h0002},  // 224  compare operation, OpRead
    {DoJump, IfZero, InImmediate, 16'h025d},  // 225  jump    zero, mailbox_read
    {DoCompare, 5'd2, InImmediate, 16'h0003},  // 226  compare operation, OpDeallocate
    {DoJump, IfZero, InImmediate, 16'h027a},  // 227  jump    zero, deallocate
    {DoCompare, 5'd2, InImmediate, 16'h0005},  // 228  compare operation, OpSanitize
    {DoJump, IfZero, InImmediate, 16'h02a1},  // 229  jump    zero, sanitize
    {DoCompare, 5'd2, InImmediate, 16'h0006},  // 22a  compare operation, OpShutdown
    {DoJump, IfZero, InImmediate, 16'h02c5},  // 22b  jump    zero, shutdown
    {DoCompare, 5'd9, InImmediate, 16'h0001},  // 22c  compare reruns, 1
    {DoJump, IfNotZero, InImmediate, 16'h0212},  // 22d  jump    not_zero, lost
    {DoCompare, 5'd2, InImmediate, 16'h0004},  // 22e  compare operation, OpFormat
    {DoJump, IfZero, InImmediate, 16'h0283},  // 22f  jump    zero, format
    {DoCompare, 5'd2, InImmediate, 16'h0007},  // 230  compare operation, OpRestart
    {DoJump, IfZero, InImmediate, 16'h029b},  // 231  jump    zero, restart
    {DoCompare, 5'd2, InImmediate, 16'h0008},  // 232  compare operation, OpRawAdmin
    {DoJump, IfZero, InImmediate, 16'h023d},  // 233  jump    zero, raw_admin
    {DoCompare, 5'd2, InImmediate, 16'h0009},  // 234  compare operation, OpRawIo
    {DoJump, IfNotZero, InImmediate, 16'h020e},  // 235  jump    not_zero, invalid
    {DoOut, OutSide, InImmediate, 16'h0001},  // 236  out     side, 1
    {DoFill, 5'd0, InRaw, 16'h0000},  // 237  fill    raw
    {DoCall, 5'd0, InImmediate, 16'h035d},  // 238  call    raw_pages
    {DoMove, 5'd10, InImmediate, 16'h0000},  // 239  move    retries, 0
    {DoCall, 5'd0, InImmediate, 16'h0327},  // 23a  call    side
    {DoMove, 5'd27, InSideResult, 16'h0000},  // 23b  move    done_low, side_result
    {DoJump, IfAlways, InImmediate, 16'h0213},  // 23c  jump    respond
    // raw_admin:
    {DoMove, 5'd25, InRaw, 16'h0000},  // 23d  move    opcode, raw
    {DoAnd, 5'd25, InImmediate, 16'h00fa},  // 23e  and     opcode, NotQueues
    {DoJump, IfZero, InImmediate, 16'h020e},  // 23f  jump    zero, invalid
    {DoOut, OutSide, InImmediate, 16'h0000},  // 240  out     side, 0
    {DoFill, 5'd0, InRaw, 16'h0000},  // 241  fill    raw
    {DoCall, 5'd0, InImmediate, 16'h035d},  // 242  call    raw_pages
    {DoCompare, 5'd25, InImmediate, 16'h000c},  // 243  compare opcode, AdminAsyncEvent
    {DoJump, IfZero, InImmediate, 16'h020e},  // 244  jump    zero, invalid
    {DoCompare, 5'd25, InImmediate, 16'h000d},  // 245  compare opcode, AdminNamespaces
    {DoJump, IfZero, InImmediate, 16'h020e},  // 246  jump    zero, invalid
    {DoCompare, 5'd25, InImmediate, 16'h0015},  // 247  compare opcode, AdminAttach
    {DoJump, IfZero, InImmediate, 16'h020e},  // 248  jump    zero, invalid
    {DoCompare, 5'd25, InImmediate, 16'h0080},  // 249  compare opcode, AdminFormat
    {DoJump, IfZero, InImmediate, 16'h020e},  // 24a  jump    zero, invalid
    {DoCall, 5'd0, InImmediate, 16'h02f8},  // 24b  call    admin_once
    {DoMove, 5'd27, InAdminResult, 16'h0000},  // 24c  move    done_low, admin_result
    {DoJump, IfAlways, InImmediate, 16'h0213},  // 24d  jump    respond
    // flush:
    {DoCall, 5'd0, InImmediate, 16'h0322},  // 24e  call    side_clear
    {DoMove, 5'd25, InImmediate, 16'h0000},  // 24f  move    opcode, NvmFlush
    {DoCall, 5'd0, InImmediate, 16'h0327},  // 250  call    side
    {DoJump, IfNotZero, InImmediate, 16'h0213},  // 251  jump    not_zero, respond
    {DoMove, 5'd27, InWritten, 16'h0000},  // 252  move    done_low, written
    {DoMove, 5'd28, InSideStatus, 16'h0000},  // 253  move    done_high, side_status
    {DoShift, 5'd28, InImmediate, 16'h0018},  // 254  shift   done_high, 24
    // durable:
    {DoTest, 5'd20, InImmediate, 16'h0001},  // 255  test    features, FeatureCache
    {DoJump, IfZero, InImmediate, 16'h0213},  // 256  jump    zero, respond
    {DoJump, IfTold, InImmediate, 16'h0213},  // 257  jump    told, respond
    {DoOut, OutPower, InImmediate, 16'h0008},  // 258  out     power, PowerTold
    {DoMove, 5'd26, InImmediate, 16'h8008},  // 259  move    status, StatusPower
    {DoJump, IfAlways, InImmediate, 16'h0213},  // 25a  jump    respond
    // mailbox_write:
    {DoMove, 5'd25, InImmediate, 16'h0001},  // 25b  move    opcode, NvmWrite
    {DoJump, IfAlways, InImmediate, 16'h025e},  // 25c  jump    transfer
    // mailbox_read:
    {DoMove, 5'd25, InImmediate, 16'h0002},  // 25d  move    opcode, NvmRead
    // transfer:
    {DoMove, 5'd1, InCommand, 16'h0000},  // 25e  move    temp, command
    {DoAnd, 5'd1, InImmediate, 16'h0030},  // 25f  and     temp, SourceBits
    {DoCompare, 5'd1, InImmediate, 16'h0020},  // 260  compare temp, SourceIsMailbox
    {DoJump, IfNotZero, InImmediate, 16'h020e},  // 261  jump    not_zero, invalid
    {DoMove, 5'd1, InBlocks, 16'h0000},  // 262  move    temp, blocks
    {DoCompare, 5'd24, InRegister, 16'h0001},  // 263  compare mailbox_blocks, temp
    {DoJump, IfCarry, InImmediate, 16'h020e},  // 264  jump    carry, invalid
    {DoCall, 5'd0, InImmediate, 16'h0340},  // 265  call    check_range
    {DoJump, IfNotZero, InImmediate, 16'h0213},  // 266  jump    not_zero, respond
    {DoCall, 5'd0, InImmediate, 16'h0322},  // 267  call    side_clear
    {DoEntry, 5'd10, InLba, 16'h0000},  // 268  entry   10, lba
    {DoMove, 5'd2, InCommand, 16'h0000},  // 269  move    other, command
    {DoShift, 5'd2, InImmediate, 16'h0008},  // 26a  shift   other, 8
    {DoAnd, 5'd2, InImmediate, 16'h00ff},  // 26b  and     other, LbaHigh
    {DoEntry, 5'd11, InRegister, 16'h0002},  // 26c  entry   11, other
    {DoMove, 5'd1, InBlocks, 16'h0000},  // 26d  move    temp, blocks
    {DoSub, 5'd1, InImmediate, 16'h0001},  // 26e  sub     temp, 1
    {DoMove, 5'd2, InCommand, 16'h0000},  // 26f  move    other, command
    {DoTest, 5'd2, InImmediate, 16'h0040},  // 270  test    other, CommandFua
    {DoJump, IfZero, InImmediate, 16'h0273},  // 271  jump    zero, no_fua
    {DoAdd, 5'd1, InHigh, 16'h4000},  // 272  add     temp, Fua
    // no_fua:
    {DoEntry, 5'd12, InRegister, 16'h0001},  // 273  entry   12, temp
    {DoMove, 5'd1, InImmediate, 16'h3000},  // 274  move    temp, OffsetMailbox
    // blocks_respond:
    {DoCall, 5'd0, InImmediate, 16'h0368},  // 275  call    prp
    {DoCall, 5'd0, InImmediate, 16'h0327},  // 276  call    side
    {DoJump, IfNotZero, InImmediate, 16'h0213},  // 277  jump    not_zero, respond
    {DoMove, 5'd27, InBlocks, 16'h0000},  // 278  move    done_low, blocks
    {DoJump, IfAlways, InImmediate, 16'h0213},  // 279  jump    respond
    // deallocate:
    {DoTest, 5'd20, InImmediate, 16'h0004},  // 27a  test    features, FeatureDeallocate
    {DoJump, IfZero, InImmediate, 16'h0210},  // 27b  jump    zero, unsupported
    {DoCall, 5'd0, InImmediate, 16'h0340},  // 27c  call    check_range
    {DoJump, IfNotZero, InImmediate, 16'h0213},  // 27d  jump    not_zero, respond
    {DoCall, 5'd0, InImmediate, 16'h0322},  // 27e  call    side_clear
    {DoMove, 5'd25, InImmediate, 16'h0009},  // 27f  move    opcode, NvmDatasets
    {DoEntry, 5'd11, InImmediate, 16'h0004},  // 280  entry   11, Deallocate
    {DoMove, 5'd1, InImmediate, 16'h4000},  // 281  move    temp, OffsetRange
    {DoJump, IfAlways, InImmediate, 16'h0275},  // 282  jump    blocks_respond
    // format:
    {DoTest, 5'd20, InImmediate, 16'h0002},  // 283  test    features, FeatureFormat
    {DoJump, IfZero, InImmediate, 16'h0210},  // 284  jump    zero, unsupported
    {DoCall, 5'd0, InImmediate, 16'h0354},  // 285  call    drain
    {DoJump, IfNotZero, InImmediate, 16'h0213},  // 286  jump    not_zero, respond
    {DoOut, OutReady, InImmediate, 16'h0000},  // 287  out     ready, 0
    {DoMove, 5'd26, InImmediate, 16'h8006},  // 288  move    status, StatusBusy
    {DoJump, IfIdle, InImmediate, 16'h028c},  // 289  jump    idle, format_alone
    // format_end:
    {DoOut, OutReady, InImmediate, 16'h0001},  // 28a  out     ready, 1
    {DoJump, IfAlways, InImmediate, 16'h0213},  // 28b  jump    respond
    // format_alone:
    {DoCall, 5'd0, InImmediate, 16'h02f0},  // 28c  call    admin_clear
    {DoEntry, 5'd1, InRegister, 16'h0015},  // 28d  entry   1, nsid
    {DoMove, 5'd1, InCommand, 16'h0000},  // 28e  move    temp, command
    {DoShift, 5'd1, InImmediate, 16'h0010},  // 28f  shift   temp, 16
    {DoEntry, 5'd10, InRegister, 16'h0001},  // 290  entry   10, temp
    {DoMove, 5'd25, InImmediate, 16'h0080},  // 291  move    opcode, AdminFormat
    {DoMove, 5'd30, InHigh, 16'h0100},  // 292  move    admin_ms, FormatMs
    {DoAdd, 5'd9, InImmediate, 16'h0100},  // 293  add     reruns, AnyDrive
    {DoCall, 5'd0, InImmediate, 16'h02f6},  // 294  call    admin
    {DoAnd, 5'd9, InImmediate, 16'h00ff},  // 295  and     reruns, RerunsCount
    {DoMove, 5'd30, InImmediate, 16'(DeadlineMs)},  // 296  move    admin_ms, DeadlineMs
    {DoTest, 5'd26, InImmediate, 16'hffff},  // 297  test    status, LowerHalf
    {DoJump, IfNotZero, InImmediate, 16'h028a},  // 298  jump    not_zero, format_end
    {DoMove, 5'd9, InImmediate, 16'h0180},  // 299  move    reruns, JustBringUp | AnyDrive
    {DoJump, IfAlways, InImmediate, 16'h01db},  // 29a  jump    rebuild
    // restart:
    {DoMove, 5'd9, InImmediate, 16'h0180},  // 29b  move    reruns, JustBringUp | AnyDrive
    {DoOut, OutReady, InImmediate, 16'h0000},  // 29c  out     ready, 0
    {DoOut, OutPulse, InImmediate, 16'h0004},  // 29d  out     pulse, PulseRecovery
    {DoJump, IfIdle, InImmediate, 16'h000c},  // 29e  jump    idle, start
    {DoMove, 5'd9, InImmediate, 16'h0080},  // 29f  move    reruns, JustBringUp
    {DoJump, IfAlways, InImmediate, 16'h000c},  // 2a0  jump    start
    // sanitize:
    {DoTest, 5'd20, InImmediate, 16'h0008},  // 2a1  test    features, FeatureSanitize
    {DoJump, IfZero, InImmediate, 16'h0210},  // 2a2  jump    zero, unsupported
    {DoCall, 5'd0, InImmediate, 16'h0354},  // 2a3  call    drain
    {DoJump, IfNotZero, InImmediate, 16'h0213},  // 2a4  jump    not_zero, respond
    {DoCall, 5'd0, InImmediate, 16'h02f0},  // 2a5  call    admin_clear
    {DoMove, 5'd1, InCommand, 16'h0000},  // 2a6  move    temp, command
    {DoShift, 5'd1, InImmediate, 16'h0010},  // 2a7  shift   temp, 16
    {DoEntry, 5'd10, InRegister, 16'h0001},  // 2a8  entry   10, temp
    {DoMove, 5'd25, InImmediate, 16'h0084},  // 2a9  move    opcode, AdminSanitize
    {DoCall, 5'd0, InImmediate, 16'h02f6},  // 2aa  call    admin
    {DoJump, IfZero, InImmediate, 16'h02b0},  // 2ab  jump    zero, sanitize_poll
    {DoMove, 5'd1, InRegister, 16'h001a},  // 2ac  move    temp, status
    {DoAnd, 5'd1, InImmediate, 16'h07ff},  // 2ad  and     temp, StatusCode
    {DoCompare, 5'd1, InImmediate, 16'h001d},  // 2ae  compare temp, SanitizeRunning
    {DoJump, IfNotZero, InImmediate, 16'h0213},  // 2af  jump    not_zero, respond
    // sanitize_poll:
    {DoMove, 5'd1, InImmediate, 16'h0064},  // 2b0  move    temp, PollMs
    {DoCall, 5'd0, InImmediate, 16'h03f8},  // 2b1  call    delay
    {DoCall, 5'd0, InImmediate, 16'h038b},  // 2b2  call    watch
    {DoCall, 5'd0, InImmediate, 16'h02f0},  // 2b3  call    admin_clear
    {DoMove, 5'd1, InHigh, 16'h007f},  // 2b4  wide    temp, GetSanitize
    {DoAdd, 5'd1, InImmediate, 16'h0081},  // 2b5
    {DoEntry, 5'd10, InRegister, 16'h0001},  // 2b6  entry   10, temp
    {DoMove, 5'd25, InImmediate, 16'h0002},  // 2b7  move    opcode, AdminGetLog
    {DoCall, 5'd0, InImmediate, 16'h02f4},  // 2b8  call    admin_page
    {DoJump, IfNotZero, InImmediate, 16'h0213},  // 2b9  jump    not_zero, respond
    {DoPage, 5'd1, InImmediate, 16'h0000},  // 2ba  page    temp, SanitizeSstat / 4
    {DoShift, 5'd1, InImmediate, 16'h0010},  // 2bb  shift   temp, SanitizeSstat % 4 * 8
    {DoAnd, 5'd1, InImmediate, 16'h0007},  // 2bc  and     temp, SstatBits
    {DoCompare, 5'd1, InImmediate, 16'h0002},  // 2bd  compare temp, SstatRunning
    {DoJump, IfZero, InImmediate, 16'h02b0},  // 2be  jump    zero, sanitize_poll
    {DoCompare, 5'd1, InImmediate, 16'h0001},  // 2bf  compare temp, SstatDone
    {DoJump, IfZero, InImmediate, 16'h020c},  // 2c0  jump    zero, ok
    {DoCompare, 5'd1, InImmediate, 16'h0004},  // 2c1  compare temp, SstatDoneNoDeallocate
    {DoJump, IfZero, InImmediate, 16'h020c},  // 2c2  jump    zero, ok
    {DoMove, 5'd26, InImmediate, 16'h001c},  // 2c3  move    status, SanitizeFailed
    {DoJump, IfAlways, InImmediate, 16'h0213},  // 2c4  jump    respond
    // shutdown:
    {DoCall, 5'd0, InImmediate, 16'h0354},  // 2c5  call    drain
    {DoMove, 5'd2, InRegister, 16'h001a},  // 2c6  move    refusal, status
    {DoOut, OutStep, InImmediate, 16'h0013},  // 2c7  enter   StepShutdown
    {DoTest, 5'd20, InImmediate, 16'h0001},  // 2c8  test    features, FeatureCache
    {DoJump, IfZero, InImmediate, 16'h02cf},  // 2c9  jump    zero, shutdown_queues
    {DoCall, 5'd0, InImmediate, 16'h0322},  // 2ca  call    side_clear
    {DoMove, 5'd25, InImmediate, 16'h0000},  // 2cb  move    opcode, NvmFlush
    {DoCall, 5'd0, InImmediate, 16'h0327},  // 2cc  call    side
    {DoJump, IfZero, InImmediate, 16'h02cf},  // 2cd  jump    zero, shutdown_queues
    {DoMove, 5'd2, InRegister, 16'h001a},  // 2ce  move    refusal, status
    // shutdown_queues:
    {DoOut, OutReady, InImmediate, 16'h0000},  // 2cf  out     ready, 0
    {DoCall, 5'd0, InImmediate, 16'h02f0},  // 2d0  call    admin_clear
    {DoMove, 5'd25, InImmediate, 16'h0000},  // 2d1  move    opcode, AdminDeleteSq
    {DoEntry, 5'd10, InImmediate, 16'h0001},  // 2d2  entry   10, 1
    {DoCall, 5'd0, InImmediate, 16'h02f6},  // 2d3  call    admin
    {DoMove, 5'd25, InImmediate, 16'h0004},  // 2d4  move    opcode, AdminDeleteCq
    {DoCall, 5'd0, InImmediate, 16'h02f6},  // 2d5  call    admin
    {DoMove, 5'd1, InHigh, 16'h0046},  // 2d6  wide    temp, CcShutdown
    {DoAdd, 5'd1, InImmediate, 16'h4001},  // 2d7
    {DoWrite, 5'd1, InImmediate, 16'h0014},  // 2d8  write   RegCc, temp
    {DoMove, 5'd5, InNow, 16'h0000},  // 2d9  arm     shutdown_deadline, shutdown_ms
    {DoAdd, 5'd5, InRegister, 16'h001d},  // 2da
    // shutdown_poll:
    {DoRead, 5'd0, InImmediate, 16'h001c},  // 2db  read    value, RegCsts
    {DoMove, 5'd1, InRegister, 16'h0000},  // 2dc  move    temp, value
    {DoAnd, 5'd1, InImmediate, 16'h000c},  // 2dd  and     temp, CstsShst
    {DoMove, 5'd26, InImmediate, 16'h001d},  // 2de  move    status, ErrShutDown
    {DoCompare, 5'd1, InImmediate, 16'h0008},  // 2df  compare temp, CstsShutDown
    {DoJump, IfZero, InImmediate, 16'h02e7},  // 2e0  jump    zero, shutdown_end
    {DoMove, 5'd26, InImmediate, 16'h001e},  // 2e1  move    status, ErrShutdownDeadline
    {DoCompare, 5'd5, InNow, 16'h0000},  // 2e2  compare shutdown_deadline, now
    {DoJump, IfNegative, InImmediate, 16'h02e7},  // 2e3  jump    negative, shutdown_end
    {DoMove, 5'd1, InImmediate, 16'h0000},  // 2e4  move    temp, 0
    {DoCall, 5'd0, InImmediate, 16'h03f8},  // 2e5  call    delay
    {DoJump, IfAlways, InImmediate, 16'h02db},  // 2e6  jump    shutdown_poll
    // shutdown_end:
    {DoOut, OutError, InRegister, 16'h001a},  // 2e7  out     error, status
    {DoOut, OutDetail, InRegister, 16'h0000},  // 2e8  out     detail, value
    {DoCall, 5'd0, InImmediate, 16'h0398},  // 2e9  call    give_up
    {DoCompare, 5'd26, InImmediate, 16'h001d},  // 2ea  compare status, ErrShutDown
    {DoJump, IfNotZero, InImmediate, 16'h0212},  // 2eb  jump    not_zero, lost
    {DoOut, OutPower, InImmediate, 16'h0005},  // 2ec  out     power, PowerSafe
    {DoMove, 5'd26, InRegister, 16'h0002},  // 2ed  move    status, refusal
    {DoJump, IfZero, InImmediate, 16'h0255},  // 2ee  jump    zero, durable
    {DoJump, IfAlways, InImmediate, 16'h0213},  // 2ef  jump    respond

    // ---- routines ----

    // admin_clear:
    {DoOut, OutSide, InImmediate, 16'h0000},  // 2f0  out     side, 0
    {DoFill, 5'd0, InImmediate, 16'h0000},  // 2f1  fill    0
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 2f2  return
    // admin_identify:
    {DoMove, 5'd25, InImmediate, 16'h0006},  // 2f3  move    opcode, AdminIdentify
    // admin_page:
    {DoMove, 5'd1, InImmediate, 16'h2000},  // 2f4  move    temp, OffsetAdminPage
    {DoCall, 5'd0, InImmediate, 16'h0368},  // 2f5  call    prp
    // admin:
    {DoMove, 5'd10, InImmediate, 16'h0003},  // 2f6  move    retries, AdminRetries
    {DoJump, IfAlways, InImmediate, 16'h02f9},  // 2f7  jump    admin_try
    // admin_once:
    {DoMove, 5'd10, InImmediate, 16'h0000},  // 2f8  move    retries, 0
    // admin_try:
    {DoAdd, 5'd11, InHigh, 16'h0001},  // 2f9  add     cid, CidOne
    {DoAnd, 5'd11, InHigh, 16'h80ff},  // 2fa  and     cid, CidBits
    {DoMove, 5'd1, InRegister, 16'h000b},  // 2fb  move    temp, cid
    {DoAdd, 5'd1, InRegister, 16'h0019},  // 2fc  add     temp, opcode
    {DoEntry, 5'd0, InRegister, 16'h0001},  // 2fd  entry   0, temp
    {DoMove, 5'd1, InRegister, 16'h000c},  // 2fe  move    temp, admin_tail
    {DoAdd, 5'd1, InImmediate, 16'h0004},  // 2ff  add     temp, AdminEntryValid
    {DoOut, OutPulse, InImmediate, 16'h0008},  // 300  out     pulse, PulseAdminTaken
    {DoOut, OutAdminEntry, InRegister, 16'h0001},  // 301  out     admin_entry, temp
    {DoAdd, 5'd12, InImmediate, 16'h0001},  // 302  add     admin_tail, 1
    {DoAnd, 5'd12, InImmediate, 16'h0003},  // 303  and     admin_tail, AdminTailMask
    {DoWrite, 5'd12, InImmediate, 16'h1000},  // 304  write   RegDoorbells, admin_tail
    {DoMove, 5'd5, InNow, 16'h0000},  // 305  arm     admin_deadline, admin_ms
    {DoAdd, 5'd5, InRegister, 16'h001e},  // 306
    // admin_wait:
    {DoJump, IfAdminDone, InImmediate, 16'h030d},  // 307  jump    admin_done, admin_completion
    // admin_late:
    {DoCall, 5'd0, InImmediate, 16'h038b},  // 308  call    watch
    {DoMove, 5'd0, InRegister, 16'h0019},  // 309  move    value, opcode
    {DoCompare, 5'd5, InNow, 16'h0000},  // 30a  compare admin_deadline, now
    {DoFail, IfNegative, InImmediate, 16'h0011},  // 30b  fail    negative, ErrAdminDeadline
    {DoJump, IfAlways, InImmediate, 16'h0307},  // 30c  jump    admin_wait
    // admin_completion:
    {DoMove, 5'd26, InAdminStatus, 16'h0000},  // 30d  move    status, admin_status
    {DoOut, OutPulse, InImmediate, 16'h0008},  // 30e  out     pulse, PulseAdminTaken
    {DoAdd, 5'd13, InImmediate, 16'h0001},  // 30f  add     admin_head, 1
    {DoAnd, 5'd13, InImmediate, 16'h0003},  // 310  and     admin_head, AdminTailMask
    {DoWrite, 5'd13, InRegister, 16'h000e},  // 311  write   head_doorbell, admin_head
    {DoMove, 5'd1, InRegister, 16'h001a},  // 312  move    temp, status
    {DoAnd, 5'd1, InHigh, 16'hffff},  // 313  and     temp, UpperHalf
    {DoCompare, 5'd1, InRegister, 16'h000b},  // 314  compare temp, cid
    {DoJump, IfNotZero, InImmediate, 16'h0308},  // 315  jump    not_zero, admin_late
    {DoAnd, 5'd26, InImmediate, 16'h7fff},  // 316  and     status, StatusBits
    {DoJump, IfZero, InImmediate, 16'h031f},  // 317  jump    zero, admin_return
    {DoTest, 5'd26, InImmediate, 16'h4000},  // 318  test    status, DoNotRetry
    {DoJump, IfNotZero, InImmediate, 16'h031f},  // 319  jump    not_zero, admin_return
    {DoSub, 5'd10, InImmediate, 16'h0001},  // 31a  sub     retries, 1
    {DoJump, IfCarry, InImmediate, 16'h031f},  // 31b  jump    carry, admin_return
    {DoMove, 5'd1, InImmediate, 16'h0004},  // 31c  move    temp, RetryMs
    {DoCall, 5'd0, InImmediate, 16'h03f8},  // 31d  call    delay
    {DoJump, IfAlways, InImmediate, 16'h02f9},  // 31e  jump    admin_try
    // admin_return:
    {DoOut, OutAdminEntry, InImmediate, 16'h0000},  // 31f  out     admin_entry, 0
    {DoMove, 5'd0, InRegister, 16'h001a},  // 320  move    value, status
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 321  return
    // side_clear:
    {DoOut, OutSide, InImmediate, 16'h0001},  // 322  out     side, 1
    {DoFill, 5'd0, InImmediate, 16'h0000},  // 323  fill    0
    {DoEntry, 5'd1, InRegister, 16'h0015},  // 324  entry   1, nsid
    {DoMove, 5'd10, InImmediate, 16'h0007},  // 325  move    retries, SideRetries
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 326  return
    // side:
    {DoAdd, 5'd11, InHigh, 16'h0001},  // 327  add     cid, CidOne
    {DoAnd, 5'd11, InHigh, 16'h80ff},  // 328  and     cid, CidBits
    {DoMove, 5'd1, InRegister, 16'h000b},  // 329  move    temp, cid
    {DoAdd, 5'd1, InHigh, 16'h0100},  // 32a  add     temp, CidSide
    {DoAdd, 5'd1, InRegister, 16'h0019},  // 32b  add     temp, opcode
    {DoEntry, 5'd0, InRegister, 16'h0001},  // 32c  entry   0, temp
    {DoOut, OutPush, InImmediate, 16'h0001},  // 32d  out     push, 1
    {DoMove, 5'd5, InNow, 16'h0000},  // 32e  arm     side_deadline, DeadlineMs
    {DoAdd, 5'd5, InImmediate, 16'(DeadlineMs)},  // 32f
    // side_wait:
    {DoJump, IfSideDone, InImmediate, 16'h0336},  // 330  jump    side_done, side_ended
    {DoCall, 5'd0, InImmediate, 16'h038b},  // 331  call    watch
    {DoMove, 5'd0, InRegister, 16'h0019},  // 332  move    value, opcode
    {DoCompare, 5'd5, InNow, 16'h0000},  // 333  compare side_deadline, now
    {DoFail, IfNegative, InImmediate, 16'h001c},  // 334  fail    negative, ErrSideDeadline
    {DoJump, IfAlways, InImmediate, 16'h0330},  // 335  jump    side_wait
    // side_ended:
    {DoMove, 5'd26, InSideStatus, 16'h0000},  // 336  move    status, side_status
    {DoAnd, 5'd26, InImmediate, 16'h7fff},  // 337  and     status, StatusBits
    {DoJump, IfZero, InImmediate, 16'h0352},  // 338  jump    zero, return_status
    {DoTest, 5'd26, InImmediate, 16'h4000},  // 339  test    status, DoNotRetry
    {DoJump, IfNotZero, InImmediate, 16'h0352},  // 33a  jump    not_zero, return_status
    {DoSub, 5'd10, InImmediate, 16'h0001},  // 33b  sub     retries, 1
    {DoJump, IfCarry, InImmediate, 16'h0352},  // 33c  jump    carry, return_status
    {DoMove, 5'd1, InImmediate, 16'h0004},  // 33d  move    temp, RetryMs
    {DoCall, 5'd0, InImmediate, 16'h03f8},  // 33e  call    delay
    {DoJump, IfAlways, InImmediate, 16'h0327},  // 33f  jump    side
    // check_range:
    {DoMove, 5'd26, InImmediate, 16'h8001},  // 340  move    status, StatusInvalid
    {DoMove, 5'd3, InBlocks, 16'h0000},  // 341  move    pointer, blocks
    {DoJump, IfZero, InImmediate, 16'h0352},  // 342  jump    zero, return_status
    {DoMove, 5'd26, InImmediate, 16'h8002},  // 343  move    status, StatusRange
    {DoMove, 5'd1, InCommand, 16'h0000},  // 344  move    temp, command
    {DoTest, 5'd1, InImmediate, 16'h0080},  // 345  test    temp, LbaTooLarge
    {DoJump, IfNotZero, InImmediate, 16'h0352},  // 346  jump    not_zero, return_status
    {DoShift, 5'd1, InImmediate, 16'h0008},  // 347  shift   temp, 8
    {DoAnd, 5'd1, InImmediate, 16'h00ff},  // 348  and     temp, LbaHigh
    {DoAdd, 5'd3, InLba, 16'h0000},  // 349  add     pointer, lba
    {DoJump, IfNotCarry, InImmediate, 16'h034c},  // 34a  jump    not_carry, end_low
    {DoAdd, 5'd1, InImmediate, 16'h0001},  // 34b  add     temp, 1
    // end_low:
    {DoCompare, 5'd22, InRegister, 16'h0003},  // 34c  compare blocks_low, pointer
    {DoJump, IfNotCarry, InImmediate, 16'h034f},  // 34d  jump    not_carry, end_high
    {DoAdd, 5'd1, InImmediate, 16'h0001},  // 34e  add     temp, 1
    // end_high:
    {DoCompare, 5'd23, InRegister, 16'h0001},  // 34f  compare blocks_high, temp
    {DoJump, IfCarry, InImmediate, 16'h0352},  // 350  jump    carry, return_status
    {DoMove, 5'd26, InImmediate, 16'h0000},  // 351  move    status, StatusOk
    // return_status:
    {DoTest, 5'd26, InImmediate, 16'hffff},  // 352  test    status, LowerHalf
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 353  return
    // drain:
    {DoMove, 5'd5, InNow, 16'h0000},  // 354  arm     drain_deadline, DeadlineMs
    {DoAdd, 5'd5, InImmediate, 16'(DeadlineMs)},  // 355
    // drain_poll:
    {DoMove, 5'd26, InImmediate, 16'h0000},  // 356  move    status, StatusOk
    {DoJump, IfIdle, InImmediate, 16'h0352},  // 357  jump    idle, return_status
    {DoCall, 5'd0, InImmediate, 16'h038b},  // 358  call    watch
    {DoMove, 5'd26, InImmediate, 16'h8006},  // 359  move    status, StatusBusy
    {DoCompare, 5'd5, InNow, 16'h0000},  // 35a  compare drain_deadline, now
    {DoJump, IfNegative, InImmediate, 16'h0352},  // 35b  jump    negative, return_status
    {DoJump, IfAlways, InImmediate, 16'h0356},  // 35c  jump    drain_poll
    // raw_pages:
    {DoMove, 5'd25, InRaw, 16'h0000},  // 35d  move    opcode, raw
    {DoAnd, 5'd25, InImmediate, 16'h00ff},  // 35e  and     opcode, OpcodeBits
    {DoEntry, 5'd4, InImmediate, 16'h0000},  // 35f  entry   4, 0
    {DoEntry, 5'd5, InImmediate, 16'h0000},  // 360  entry   5, 0
    {DoEntry, 5'd6, InImmediate, 16'h0000},  // 361  entry   6, 0
    {DoEntry, 5'd7, InImmediate, 16'h0000},  // 362  entry   7, 0
    {DoEntry, 5'd8, InImmediate, 16'h0000},  // 363  entry   8, 0
    {DoEntry, 5'd9, InImmediate, 16'h0000},  // 364  entry   9, 0
    {DoTest, 5'd25, InImmediate, 16'h0003},  // 365  test    opcode, OpcodeData
    {DoJump, IfZero, InImmediate, 16'h0397},  // 366  jump    zero, unchanged
    {DoMove, 5'd1, InImmediate, 16'h3000},  // 367  move    temp, OffsetMailbox
    // prp:
    {DoAdd, 5'd1, InRegister, 16'h000f},  // 368  add     temp, window
    {DoEntry, 5'd6, InRegister, 16'h0001},  // 369  entry   6, temp
    {DoMove, 5'd1, InHigh, 16'((32'(WindowBase[63:32])) >> 16)},  // 36a  wide    temp, WindowBase[63:32]
    {DoAdd, 5'd1, InImmediate, 16'(32'(WindowBase[63:32]))},  // 36b
    {DoEntry, 5'd7, InRegister, 16'h0001},  // 36c  entry   7, temp
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 36d  return
    // health:
    {DoCall, 5'd0, InImmediate, 16'h02f0},  // 36e  call    admin_clear
    {DoMove, 5'd1, InImmediate, 16'h0000},  // 36f  move    temp, 0
    {DoSub, 5'd1, InImmediate, 16'h0001},  // 370  sub     temp, 1
    {DoEntry, 5'd1, InRegister, 16'h0001},  // 371  entry   1, temp
    {DoMove, 5'd1, InHigh, 16'h007f},  // 372  wide    temp, GetHealth
    {DoAdd, 5'd1, InImmediate, 16'h0002},  // 373
    {DoEntry, 5'd10, InRegister, 16'h0001},  // 374  entry   10, temp
    {DoMove, 5'd25, InImmediate, 16'h0002},  // 375  move    opcode, AdminGetLog
    {DoCall, 5'd0, InImmediate, 16'h02f4},  // 376  call    admin_page
    {DoMove, 5'd7, InNow, 16'h0000},  // 377  arm     health_at, HealthMs
    {DoAdd, 5'd7, InImmediate, 16'(HealthMs)},  // 378
    {DoTest, 5'd26, InImmediate, 16'hffff},  // 379  test    status, LowerHalf
    {DoJump, IfNotZero, InImmediate, 16'h0389},  // 37a  jump    not_zero, no_health
    {DoPage, 5'd1, InImmediate, 16'h0000},  // 37b  page    temp, HealthWarning / 4
    {DoJump, IfZero, InImmediate, 16'h0389},  // 37c  jump    zero, no_health
    {DoOut, OutHealth0, InRegister, 16'h0001},  // 37d  out     health0, temp
    {DoPage, 5'd1, InImmediate, 16'h001c},  // 37e  page    temp, HealthPowerCycles / 4
    {DoOut, OutPowerCycles, InRegister, 16'h0001},  // 37f  out     power_cycles, temp
    {DoPage, 5'd1, InImmediate, 16'h0001},  // 380  page    temp, HealthThreshold / 4
    {DoOut, OutHealth1, InRegister, 16'h0001},  // 381  out     health1, temp
    {DoPage, 5'd1, InImmediate, 16'h0028},  // 382  page    temp, HealthMediaErrors / 4
    {DoOut, OutMediaErrors, InRegister, 16'h0001},  // 383  out     media_errors, temp
    {DoPage, 5'd1, InImmediate, 16'h0024},  // 384  page    temp, HealthUnsafeShutdowns / 4
    {DoOut, OutUnsafeShutdowns, InRegister, 16'h0001},  // 385  out     unsafe_shutdowns, temp
    {DoOut, OutPower, InImmediate, 16'h0006},  // 386  out     power, PowerLog
    {DoOut, OutHealthValid, InImmediate, 16'h0001},  // 387  out     health_valid, 1
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 388  return
    // no_health:
    {DoOut, OutPower, InImmediate, 16'h0007},  // 389  out     power, PowerNoLog
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 38a  return
    // watch:
    {DoFail, IfDisabled, InImmediate, 16'h0001},  // 38b  fail    disabled, ErrAccess
    {DoFail, IfLinkDown, InImmediate, 16'h001a},  // 38c  fail    link_down, ErrLinkLost
    {DoFail, IfRecover, InImmediate, 16'h001b},  // 38d  fail    recover, ErrDataPath
    {DoCompare, 5'd6, InNow, 16'h0000},  // 38e  compare poll_at, now
    {DoJump, IfNotNegative, InImmediate, 16'h0397},  // 38f  jump    not_negative, unchanged
    {DoRead, 5'd0, InImmediate, 16'h001c},  // 390  read    value, RegCsts
    {DoTest, 5'd0, InImmediate, 16'h0002},  // 391  test    value, CstsCfs
    {DoFail, IfNotZero, InImmediate, 16'h0010},  // 392  fail    not_zero, ErrFatal
    {DoMove, 5'd6, InNow, 16'h0000},  // 393  arm     poll_at, PollMs
    {DoAdd, 5'd6, InImmediate, 16'h0064},  // 394
    {DoJump, IfNotReady, InImmediate, 16'h0397},  // 395  jump    not_ready, unchanged
    {DoMove, 5'd8, InImmediate, 16'h0000},  // 396  move    attempts, 0
    // unchanged:
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 397  return
    // give_up:
    {DoOut, OutHealthValid, InImmediate, 16'h0000},  // 398  out     health_valid, 0
    {DoOut, OutReady, InImmediate, 16'h0000},  // 399  out     ready, 0
    {DoOut, OutPush, InImmediate, 16'h0000},  // 39a  out     push, 0
    {DoOut, OutPerst, InImmediate, 16'h0000},  // 39b  out     perst, 0
    {DoOut, OutAdapterReset, InImmediate, 16'h0001},  // 39c  out     adapter_reset, 1
    {DoMove, 5'd5, InNow, 16'h0000},  // 39d  arm     give_up_deadline, QuietMs
    {DoAdd, 5'd5, InImmediate, 16'h0064},  // 39e
    // giving_up:
    {DoJump, IfQuiet, InImmediate, 16'h03a2},  // 39f  jump    quiet, given_up
    {DoCompare, 5'd5, InNow, 16'h0000},  // 3a0  compare give_up_deadline, now
    {DoJump, IfNotNegative, InImmediate, 16'h039f},  // 3a1  jump    not_negative, giving_up
    // given_up:
    {DoOut, OutGone, InImmediate, 16'h0001},  // 3a2  out     gone, 1
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 3a3  return
    // disable_controller:
    {DoRead, 5'd0, InImmediate, 16'h0014},  // 3a4  read    value, RegCc
    {DoTest, 5'd0, InImmediate, 16'h0001},  // 3a5  test    value, CcEn
    {DoJump, IfZero, InImmediate, 16'h03ac},  // 3a6  jump    zero, disabling
    {DoSub, 5'd0, InImmediate, 16'h0001},  // 3a7  sub     value, CcEn
    {DoWrite, 5'd0, InImmediate, 16'h0014},  // 3a8  write   RegCc, value
    {DoTest, 5'd0, InHigh, 16'hff00},  // 3a9  test    value, CcHigh
    {DoJump, IfNotZero, InImmediate, 16'h03ac},  // 3aa  jump    not_zero, disabling
    {DoOut, OutPower, InImmediate, 16'h0001},  // 3ab  out     power, PowerStopped
    // disabling:
    {DoMove, 5'd5, InNow, 16'h0000},  // 3ac  arm     disable_deadline, timeout_ms
    {DoAdd, 5'd5, InRegister, 16'h0010},  // 3ad
    // disable_poll:
    {DoRead, 5'd0, InImmediate, 16'h001c},  // 3ae  read    value, RegCsts
    {DoTest, 5'd0, InImmediate, 16'h0001},  // 3af  test    value, CstsRdy
    {DoJump, IfZero, InImmediate, 16'h03b7},  // 3b0  jump    zero, witness
    {DoFail, IfLinkDown, InImmediate, 16'h001a},  // 3b1  fail    link_down, ErrLinkLost
    {DoCompare, 5'd5, InNow, 16'h0000},  // 3b2  compare disable_deadline, now
    {DoFail, IfNegative, InImmediate, 16'h000d},  // 3b3  fail    negative, ErrDisable
    {DoMove, 5'd1, InImmediate, 16'h0000},  // 3b4  move    temp, 0
    {DoCall, 5'd0, InImmediate, 16'h03f8},  // 3b5  call    delay
    {DoJump, IfAlways, InImmediate, 16'h03ae},  // 3b6  jump    disable_poll
    // witness:
    {DoMove, 5'd1, InHigh, 16'h0003},  // 3b7  wide    temp, Aqa
    {DoAdd, 5'd1, InImmediate, 16'h0003},  // 3b8
    {DoRead, 5'd0, InImmediate, 16'h0024},  // 3b9  read    value, RegAqa
    {DoCompare, 5'd1, InRegister, 16'h0000},  // 3ba  compare temp, value
    {DoJump, IfNotZero, InImmediate, 16'h03ce},  // 3bb  jump    not_zero, cleared
    {DoMove, 5'd1, InRegister, 16'h000f},  // 3bc  move    temp, window
    {DoRead, 5'd0, InImmediate, 16'h0028},  // 3bd  read    value, RegAsqLow
    {DoCompare, 5'd1, InRegister, 16'h0000},  // 3be  compare temp, value
    {DoJump, IfNotZero, InImmediate, 16'h03ce},  // 3bf  jump    not_zero, cleared
    {DoAdd, 5'd1, InImmediate, 16'h1000},  // 3c0  add     temp, OffsetAdminCq
    {DoRead, 5'd0, InImmediate, 16'h0030},  // 3c1  read    value, RegAcqLow
    {DoCompare, 5'd1, InRegister, 16'h0000},  // 3c2  compare temp, value
    {DoJump, IfNotZero, InImmediate, 16'h03ce},  // 3c3  jump    not_zero, cleared
    {DoMove, 5'd1, InHigh, 16'((32'(WindowBase[63:32])) >> 16)},  // 3c4  wide    temp, WindowBase[63:32]
    {DoAdd, 5'd1, InImmediate, 16'(32'(WindowBase[63:32]))},  // 3c5
    {DoRead, 5'd0, InImmediate, 16'h002c},  // 3c6  read    value, RegAsqHigh
    {DoCompare, 5'd1, InRegister, 16'h0000},  // 3c7  compare temp, value
    {DoJump, IfNotZero, InImmediate, 16'h03ce},  // 3c8  jump    not_zero, cleared
    {DoRead, 5'd0, InImmediate, 16'h0034},  // 3c9  read    value, RegAcqHigh
    {DoCompare, 5'd1, InRegister, 16'h0000},  // 3ca  compare temp, value
    {DoJump, IfNotZero, InImmediate, 16'h03ce},  // 3cb  jump    not_zero, cleared
    {DoOut, OutPower, InImmediate, 16'h0003},  // 3cc  out     power, PowerKept
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 3cd  return
    // cleared:
    {DoRead, 5'd0, InImmediate, 16'h0008},  // 3ce  read    value, RegVs
    {DoFail, IfZero, InImmediate, 16'h0001},  // 3cf  fail    zero, ErrAccess
    {DoAdd, 5'd0, InImmediate, 16'h0001},  // 3d0  add     value, 1
    {DoFail, IfZero, InImmediate, 16'h0001},  // 3d1  fail    zero, ErrAccess
    {DoOut, OutPower, InImmediate, 16'h0004},  // 3d2  out     power, PowerCleared
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 3d3  return
    // find_capability:
    {DoMove, 5'd4, InImmediate, 16'h0030},  // 3d4  move    count, CapabilitiesMax
    {DoRead, 5'd3, InImmediate, 16'h0034},  // 3d5  read    pointer, CfgCapabilities
    // next_capability:
    {DoAnd, 5'd3, InImmediate, 16'h00fc},  // 3d6  and     pointer, 0x00fc
    {DoJump, IfZero, InImmediate, 16'h0397},  // 3d7  jump    zero, unchanged
    {DoRead, 5'd1, InRegister, 16'h0003},  // 3d8  read    temp, pointer
    {DoMove, 5'd0, InRegister, 16'h0001},  // 3d9  move    value, temp
    {DoAnd, 5'd0, InImmediate, 16'h00ff},  // 3da  and     value, 0x00ff
    {DoCompare, 5'd0, InImmediate, 16'h0010},  // 3db  compare value, CapabilityExpress
    {DoJump, IfZero, InImmediate, 16'h03e3},  // 3dc  jump    zero, found
    {DoMove, 5'd3, InRegister, 16'h0001},  // 3dd  move    pointer, temp
    {DoShift, 5'd3, InImmediate, 16'h0008},  // 3de  shift   pointer, 8
    {DoSub, 5'd4, InImmediate, 16'h0001},  // 3df  sub     count, 1
    {DoJump, IfNotZero, InImmediate, 16'h03d6},  // 3e0  jump    not_zero, next_capability
    {DoMove, 5'd3, InImmediate, 16'h0000},  // 3e1  move    pointer, 0
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 3e2  return
    // found:
    {DoTest, 5'd3, InImmediate, 16'hffff},  // 3e3  test    pointer, LowerHalf
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 3e4  return
    // timeout:
    {DoTest, 5'd1, InHigh, 16'h000e},  // 3e5  test    temp, ExpressVersion
    {DoJump, IfZero, InImmediate, 16'h0397},  // 3e6  jump    zero, unchanged
    {DoMove, 5'd1, InRegister, 16'h0003},  // 3e7  move    temp, pointer
    {DoAdd, 5'd1, InImmediate, 16'h0028},  // 3e8  add     temp, ExpressControl2
    {DoMove, 5'd0, InImmediate, 16'h0000},  // 3e9  move    value, 0
    {DoWrite, 5'd0, InRegister, 16'h0001},  // 3ea  write   temp, value
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 3eb  return
    // fold:
    {DoMove, 5'd1, InRegister, 16'h0002},  // 3ec  move    temp, mark
    {DoAdd, 5'd2, InRegister, 16'h0002},  // 3ed  add     mark, mark
    {DoAdd, 5'd2, InRegister, 16'h0001},  // 3ee  add     mark, temp
    {DoMove, 5'd1, InRegister, 16'h0002},  // 3ef  move    temp, mark
    {DoShift, 5'd1, InImmediate, 16'h0007},  // 3f0  shift   temp, 7
    {DoXor, 5'd2, InRegister, 16'h0001},  // 3f1  xor     mark, temp
    {DoPage, 5'd1, InRegister, 16'h0003},  // 3f2  page    temp, pointer
    {DoXor, 5'd2, InRegister, 16'h0001},  // 3f3  xor     mark, temp
    {DoAdd, 5'd3, InImmediate, 16'h0001},  // 3f4  add     pointer, 1
    {DoSub, 5'd4, InImmediate, 16'h0001},  // 3f5  sub     count, 1
    {DoJump, IfNotZero, InImmediate, 16'h03ec},  // 3f6  jump    not_zero, fold
    {DoReturn, 5'd0, InImmediate, 16'h0000},  // 3f7  return
    // delay:
    {DoAdd, 5'd1, InNow, 16'h0000},  // 3f8  add     temp, now
    // delayed:
    {DoCompare, 5'd1, InNow, 16'h0000},  // 3f9  compare temp, now
    {DoJump, IfNotNegative, InImmediate, 16'h03f9},  // 3fa  jump    not_negative, delayed
    {DoReturn, 5'd0, InImmediate, 16'h0000}  // 3fb  return
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
