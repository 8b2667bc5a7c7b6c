// SPDX-License-Identifier: Apache-2.0
//
// Everything that is not the data path, one action at a time, as microcode: bring-up from PERST# to I/O queues, the
// side commands, health, recovery, shutdown.
//
// Guarantee: from any state of the drive and the link it reaches `ready` or, after bounded time, `gone` with the step
// and the error. Each side command gets one response, whatever happens in between.
`default_nettype none

module spate_admin
  import spate_pkg::*;
  import spate_microcode_pkg::*;
#(
    parameter logic [63:0] WindowBase = 64'h8000_0000,  // base of the aperture, as the drive sees it
    parameter int unsigned WindowBits = CtrlBits + 1,
    parameter logic [63:0] BarBase = 64'he000_0000,  // address assigned to BAR 0: below 4 GiB, a multiple of its window
    parameter int unsigned QueueShiftMax = 7,  // log2 of the largest number of entries of the I/O queues
    parameter int unsigned CommandSectorsLimit = CommandSectorsMax,  // largest command that the buffer allows
    parameter bit XilinxBridge = 1'b1,  // the root port has PG194's registers: enable the bridge through 0x148
    parameter int unsigned PerstMs = 2,  // shortest time for which PERST# is low
    parameter int unsigned HealthMs = 1000,  // time between two reads of the SMART log
    parameter int unsigned DeadlineMs = 8000  // of an admin command; Format NVM has hours, sanitizing no limit
) (
`ifdef FORMAL
    input wire instruction_t any_instruction_i,  // the proof covers any program
`endif
    input wire logic         clk_i,
    input wire logic         rst_ni,
    input wire logic         ms_tick_i,          // a pulse each millisecond
    input wire logic         enable_i,           // low: the drive is held in PERST#

    input  wire logic link_up_i,
    output logic      perst_no,
    output logic      adapter_reset_o,  // high: the adapter drops its state, and the accesses that arrive over the link
    input  wire logic adapter_quiet_i,  // no access of the drive is in the adapter or outstanding at the memory

    output logic              mmio_valid_o,
    input  wire logic         mmio_ready_i,
    output mmio_access_t      mmio_access_o,
    input  wire logic         mmio_done_i,    // a pulse, with the result
    input  wire mmio_result_t mmio_result_i,

    // The buffer's pages: the microcode reads Identify and log pages where they arrived. Dwords 0 … 1023: the admin
    // page.
    output logic             page_valid_o,
    output logic      [10:0] page_dword_o,
    input  wire logic        page_done_i,
    input  wire logic [31:0] page_data_i,

    // The two submission entries that are composed in advance: the admin queue's and the side command's.
    output logic sqe_write_o,
    output sqe_dword_t sqe_o,
    // The admin queue has 4 entries; this is the one that the drive is to read now. The others read as zeros.
    output logic [1:0] admin_entry_o,
    output logic admin_entry_valid_o,
    output logic queues_reset_o,  // a pulse before the controller is enabled: all queues restart in the new epoch
    input wire logic admin_completion_valid_i,  // a pulse
    input wire completion_t admin_completion_i,

    output logic             side_push_o,              // hand the side command's entry to the I/O queue
    input  wire logic        side_push_ready_i,
    input  wire logic        side_completion_valid_i,  // a pulse
    input  wire completion_t side_completion_i,
    output range_t           range_o,                  // content of the deallocate range window

    input  wire logic            command_valid_i,
    output logic                 command_ready_o,
    input  wire command_t        command_i,
    output logic                 response_valid_o,
    input  wire logic            response_ready_i,
    output response_t            response_o,
    output logic          [ 3:0] raw_dword_o,       // of the raw command in the registers
    input  wire logic     [31:0] raw_data_i,        // in the same cycle

    input wire logic recover_i,  // a pulse: the data path's deadline passed, or its queues are broken
    input wire logic slots_idle_i,  // no command of the data path is in flight, or being divided
    input wire logic retired_i,  // a command of the data path was retired
    input wire logic [LbaWidth-1:0] written_blocks_i,  // for a flush's response; sampled when the flush is pushed

    output drive_t    drive_o,
    output logic      recovery_o,  // a pulse: the drive was given up and will be brought up again
    // For the registers.
    output bring_up_t bring_up_o,
    output health_t   health_o,
    output power_t    power_o
);

  if (WindowBits < CtrlBits + 1 || WindowBits > 32 || (WindowBase & ((64'd1 << WindowBits) - 64'd1)) != 0)
  begin : gen_window
    $error("spate_admin: WindowBits must be 22 to 32 and WindowBase a multiple of 2^WindowBits");
  end
  if (BarBase < WindowBase + (64'd1 << WindowBits) && WindowBase < BarBase + 64'(BarWindowBytes)) begin : gen_overlap
    $error("spate_admin: the aperture at WindowBase and BAR 0 at BarBase overlap: the drive would access its own BAR");
  end
  if (BarBase % 64'(BarWindowBytes) != 0 || BarBase[63:32] != '0) begin : gen_bar
    $error("spate_admin: BarBase must be a multiple of 1 MiB below 4 GiB");
  end
  if (QueueShiftMax < 1 || QueueShiftMax > 10) begin : gen_queue
    $error("spate_admin: QueueShiftMax must be 1 to 10");
  end
  if (CommandSectorsLimit < 8) begin : gen_sectors
    $error("spate_admin: CommandSectorsLimit must be at least 8, a page");
  end
  if (PerstMs < 1 || PerstMs > 65535 || HealthMs < 1 || HealthMs > 65535 || DeadlineMs < 1 || DeadlineMs > 65535)
  begin : gen_times
    $error("spate_admin: PerstMs, HealthMs and DeadlineMs must be 1 to 65535");
  end

  // ---- the program ----

  typedef enum logic [2:0] {
    StFetch,  // the instruction is read
    StLatch,  // into the block RAM's output register
    StDecode,
    StOperand,  // operand_q takes the instruction's operand
    StRequest,  // a register access waits to be taken
    StAccess,  // an access is in progress; operand_q takes what was read
    StExecute
  } state_e;

  state_e state_q, state_d;
  logic [AddressWidth-1:0] pc_q, pc_d, catch_q;
  instruction_t instruction;
  do_e operation;
  out_e selected;

`ifdef FORMAL
  always_ff @(posedge clk_i) if (state_q == StLatch) instruction <= any_instruction_i;
`else
  spate_microcode #(
      .WindowBase(WindowBase),
      .WindowBits(WindowBits),
      .BarBase(BarBase),
      .QueueShiftMax(QueueShiftMax),
      .CommandSectorsLimit(CommandSectorsLimit),
      .XilinxBridge(XilinxBridge),
      .PerstMs(PerstMs),
      .HealthMs(HealthMs),
      .DeadlineMs(DeadlineMs)
  ) u_microcode (
      .clk_i,
      .fetch_i(state_q == StFetch),
      .address_i(pc_q),
      .instruction_o(instruction)
  );
`endif

  assign operation = instruction.operation;
  assign selected = out_e'(instruction.rd);

  logic executing, reads_q, register_access_q, page_access_q, access_done;
  assign executing = state_q == StExecute;
  // Decoded in StDecode, looked at from StOperand on.
  always_ff @(posedge clk_i) begin
    register_access_q <= operation == DoRead || operation == DoWrite;
    page_access_q <= operation == DoPage;
    reads_q <= operation == DoRead || operation == DoPage;
  end
  assign access_done = page_access_q ? page_done_i : mmio_done_i;

  // ---- inputs are kept until the program looks at them ----

  logic power_untold;
  logic [31:0] operand_q;
  logic [31:0] now_q;  // milliseconds
  logic recover_q, progress_q, disabled_q, busy_q, response_valid_q;
  logic admin_done_q, side_done_q, push_q;
  logic [31:0] admin_result_q, side_result_q;
  logic [14:0] admin_status_q, side_status_q;
  cid_t admin_cid_q;
  logic [LbaWidth-1:0] written_q;
  command_t command_q;

  logic is_out;
  logic [15:0] pulses;
  assign is_out = executing && operation == DoOut;
  assign pulses = is_out && selected == OutPulse ? operand_q[15:0] : '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      now_q <= '0;
      recover_q <= 1'b0;
      progress_q <= 1'b0;
      disabled_q <= 1'b0;
      busy_q <= 1'b0;
      response_valid_q <= 1'b0;
      admin_done_q <= 1'b0;
      side_done_q <= 1'b0;
      push_q <= 1'b0;
    end else begin
      if (ms_tick_i) now_q <= now_q + 32'd1;
      // A link drop, however short, is remembered: the adapter has dropped the drive's accesses.
      recover_q <= recover_i || !link_up_i || (recover_q && (pulses & PulseForget) == '0);
      progress_q <= retired_i || (is_out && selected == OutRespond) || (progress_q && (pulses & PulseForget) == '0);
      disabled_q <= !enable_i || (disabled_q && !(is_out && selected == OutGone));  // remembered, however short it was
      admin_done_q <= admin_completion_valid_i || (admin_done_q && (pulses & PulseAdminTaken) == '0);
      side_done_q <= side_completion_valid_i || (side_done_q && !(is_out && selected == OutPush));
      if (is_out && selected == OutPush) push_q <= operand_q[0];
      else if (side_push_ready_i) push_q <= 1'b0;
      if (is_out && selected == OutRespond) response_valid_q <= 1'b1;
      else if (response_ready_i) response_valid_q <= 1'b0;
      if (command_valid_i && command_ready_o) busy_q <= 1'b1;
      else if (response_valid_q && response_ready_i) busy_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (admin_completion_valid_i) begin
      admin_result_q <= admin_completion_i.result;
      admin_status_q <= admin_completion_i.status;
      admin_cid_q <= admin_completion_i.cid;
    end
    if (side_completion_valid_i) begin
      side_result_q <= side_completion_i.result;
      side_status_q <= side_completion_i.status;
    end
    if (push_q && side_push_ready_i) written_q <= written_blocks_i;
    if (command_valid_i && command_ready_o) command_q <= command_i;
  end

  assign command_ready_o = !busy_q;
  assign side_push_o = push_q;
  assign range_o = '{lba: command_q.lba[LbaWidth-1:0], blocks: command_q.blocks};

  // ---- registers, operand, arithmetic ----
  //
  // There is one read port: `rd` is read in StDecode, the operand's register in StOperand. Other operands are chosen in
  // StDecode, except a dword of the raw command: a fill repeats StOperand without StDecode, and needs the next dword.
  // The result is written, and the flags are set, while the next instruction is fetched.

  logic [31:0] registers[32];
  logic [4:0] register_address, result_address_q;
  logic [31:0] register_data, value_q, value, input_, input_q, operand, result, result_q;
  logic again, shifting_q, result_valid_q, sets_flags_q, result_carry_q;  // shifting_q: the value is the last result
  logic [32:0] sum;
  logic [4:0] count_q;  // bits left of a shift, or dwords left of a fill
  logic subtract, zero_q, carry_q, negative_q, sets_flags, writes_register, condition, condition_q, failing;

  assign register_address = state_q == StOperand ? instruction.immediate[4:0] : instruction.rd;
  assign register_data = registers[register_address];

  always_comb begin
    unique case (instruction.source)
      InNow: input_ = now_q;
      InCommand:
      input_ = {
        command_q.address[15:0],
        command_q.lba[39:32],
        command_q.lba[63:40] != '0,
        command_q.fua,
        command_q.source,
        command_q.op
      };
      InLba: input_ = command_q.lba[31:0];
      InBlocks: input_ = command_q.blocks;
      InAdminStatus: input_ = {admin_cid_q, 1'b0, admin_status_q};
      InAdminResult: input_ = admin_result_q;
      InSideStatus: input_ = {written_q[39:32], 9'd0, side_status_q};
      InSideResult: input_ = side_result_q;
      InWritten: input_ = written_q[31:0];
      default: input_ = {16'd0, instruction.immediate};
    endcase
  end
  always_ff @(posedge clk_i) input_q <= input_;

  in_e origin_q;  // where the operand comes from, decided a cycle before operand_q takes it
  always_ff @(posedge clk_i) begin
    if (state_q == StDecode) origin_q <= instruction.source;
    else if (state_q == StOperand && (register_access_q || page_access_q))
      origin_q <= page_access_q ? InPage : InAccess;
  end

  always_comb begin
    unique case (origin_q)
      InHigh: operand = {instruction.immediate, 16'd0};
      InRegister: operand = register_data;
      InAccess: operand = mmio_result_i.data;
      InPage: operand = page_data_i;
      InRaw: operand = raw_data_i;
      default: operand = input_q;
    endcase
  end

  assign subtract = operation == DoSub || operation == DoCompare;
  assign value = shifting_q ? result_q : value_q;
  assign sum = {1'b0, value} + {1'b0, operand_q ^ {32{subtract}}} + 33'(subtract);

  always_comb begin
    unique case (operation)
      DoAdd, DoSub, DoCompare: result = sum[31:0];
      DoAnd, DoTest: result = value & operand_q;
      DoXor: result = value ^ operand_q;
      DoShift: result = {1'b0, value[31:1]};
      default: result = operand_q;
    endcase
  end

  assign sets_flags = operation <= DoShift || reads_q;
  assign writes_register = (sets_flags && operation != DoCompare && operation != DoTest) || failing;

  always_ff @(posedge clk_i) begin
    if (state_q == StDecode) value_q <= register_data;
    result_q <= result;
    result_carry_q <= sum[32] ^ subtract;
    result_address_q <= operation == DoFail ? ErrorRegister : instruction.rd;
    result_valid_q <= rst_ni && executing && writes_register;
    sets_flags_q <= rst_ni && executing && sets_flags;
    shifting_q <= executing && operation == DoShift && again;
    if (result_valid_q) registers[result_address_q] <= result_q;
    if (sets_flags_q) begin
      zero_q <= result_q == '0;
      negative_q <= result_q[31];
      carry_q <= result_carry_q;
    end
    if (state_q == StOperand || (state_q == StAccess && reads_q && access_done)) operand_q <= operand;
  end

  always_comb begin
    unique case (instruction.rd[4:1])
      IfAlways[4:1]: condition = 1'b1;
      IfZero[4:1]: condition = zero_q;
      IfCarry[4:1]: condition = carry_q;
      IfNegative[4:1]: condition = negative_q;
      IfLinkUp[4:1]: condition = link_up_i;
      IfEnabled[4:1]: condition = enable_i && !disabled_q;
      IfRecover[4:1]: condition = recover_q;
      IfQuiet[4:1]: condition = adapter_quiet_i;
      IfIdle[4:1]: condition = slots_idle_i;
      IfAdminDone[4:1]: condition = admin_done_q;
      IfSideDone[4:1]: condition = side_done_q;
      IfCommand[4:1]: condition = busy_q && !response_valid_q;
      IfGone[4:1]: condition = drive_o.gone;
      IfProgress[4:1]: condition = progress_q;
      IfUntold[4:1]: condition = power_untold;
      default: condition = drive_o.ready;
    endcase
    if (instruction.rd[0]) condition = !condition;
  end
  always_ff @(posedge clk_i) condition_q <= condition;  // looked at in StOperand, acted on in StExecute

  assign failing = operation == DoFail && condition_q;

  // ---- the sequence ----

  logic access_error, caught;
  logic [AddressWidth-1:0] stack[CallDepth];
  logic [$clog2(CallDepth)-1:0] depth_q;

  assign again = (operation == DoShift || operation == DoFill) && count_q != '0;
  assign access_error = state_q == StAccess && register_access_q && mmio_done_i && mmio_result_i.error;
  assign caught = access_error || (executing && failing);

  always_comb begin
    unique case (state_q)
      StFetch: state_d = StLatch;
      StLatch: state_d = StDecode;
      StDecode: state_d = StOperand;
      StOperand: state_d = register_access_q ? StRequest : page_access_q ? StAccess : StExecute;
      StRequest: state_d = mmio_ready_i ? StAccess : StRequest;
      StAccess: state_d = access_error ? StFetch : access_done ? StExecute : StAccess;
      default: state_d = !again ? StFetch : operation == DoFill ? StOperand : StExecute;
    endcase
  end

  always_comb begin
    pc_d = pc_q;
    if (caught) pc_d = catch_q;
    else if (executing && (operation == DoCall || (operation == DoJump && condition_q)))
      pc_d = operand_q[AddressWidth-1:0];
    else if (executing && operation == DoReturn) pc_d = stack[depth_q-1'b1];
    else if (state_q == StFetch) pc_d = pc_q + 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StFetch;
      pc_q <= '0;
      depth_q <= '0;
      count_q <= '0;
    end else begin
      state_q <= state_d;
      pc_q <= pc_d;
      if (caught) depth_q <= '0;
      else if (executing && operation == DoCall) depth_q <= depth_q + 1'b1;
      else if (executing && operation == DoReturn) depth_q <= depth_q - 1'b1;
      if (state_q == StDecode)
        count_q <= operation == DoFill ? 5'd15 : operation == DoShift ? instruction.immediate[4:0] - 5'd1 : 5'd0;
      else if (executing && again) count_q <= count_q - 5'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (executing && operation == DoCall) stack[depth_q] <= pc_q;
    if (executing && operation == DoCatch) catch_q <= operand_q[AddressWidth-1:0];
  end

  // ---- accesses and submission entries ----

  space_e space_q;
  logic side_q;

  assign mmio_valid_o = state_q == StRequest;
  assign mmio_access_o = '{space: space_q, write: operation == DoWrite, address: operand_q, data: value_q};
  assign page_valid_o = state_q == StAccess && page_access_q;
  assign page_dword_o = operand_q[10:0];
  assign sqe_write_o = executing && (operation == DoEntry || operation == DoFill);
  assign sqe_o = '{side: side_q, dword: operation == DoFill ? count_q[3:0] : instruction.rd[3:0], data: operand_q};
  assign raw_dword_o = count_q[3:0];

  // ---- did the drive lose power? ----
  //
  // spate_power gets the operand a cycle after its instruction. operand_q does not change so soon.

  logic power_event_q, power_cycles_q, unsafe_shutdowns_q;
  always_ff @(posedge clk_i) begin
    power_event_q <= rst_ni && is_out && selected == OutPower;
    power_cycles_q <= rst_ni && is_out && selected == OutPowerCycles;
    unsafe_shutdowns_q <= rst_ni && is_out && selected == OutUnsafeShutdowns;
  end

  spate_power u_power (
      .clk_i,
      .rst_ni,
      .ready_i(drive_o.ready),
      .event_valid_i(power_event_q),
      .event_i(power_event_e'(operand_q[3:0])),
      .cycles_valid_i(power_cycles_q),
      .unsafe_valid_i(unsafe_shutdowns_q),
      .count_i(operand_q),
      .power_o,
      .from_registers_i(command_q.from_registers),
      .untold_o(power_untold)
  );

  // ---- outputs ----

  logic perst_n_q;
  logic [15:0] status_q;
  logic [63:0] done_q;

  assign perst_no = perst_n_q && enable_i;
  assign response_valid_o = response_valid_q;
  assign response_o = '{
          from_registers: command_q.from_registers,
          tag: command_q.tag,
          status: status_q,
          done: done_q
      };

  always_ff @(posedge clk_i) begin
    queues_reset_o <= 1'b0;
    recovery_o <= 1'b0;
    if (!rst_ni) begin
      perst_n_q <= 1'b0;
      adapter_reset_o <= 1'b1;
      drive_o <= '0;
      admin_entry_valid_o <= 1'b0;
      admin_entry_o <= '0;
      bring_up_o <= '0;
      health_o <= '0;
      space_q <= SpaceLocal;
      side_q <= 1'b0;
    end else if (executing && operation == DoOut) begin
      unique case (selected)
        OutStep: bring_up_o.step <= operand_q[7:0];
        OutError: bring_up_o.error <= operand_q[7:0];
        OutDetail: bring_up_o.error_detail <= operand_q;
        OutPerst: perst_n_q <= operand_q[0];
        OutAdapterReset: adapter_reset_o <= operand_q[0];
        OutReady: drive_o.ready <= operand_q[0];
        OutGone: drive_o.gone <= operand_q[0];
        OutPulse: begin
          queues_reset_o <= |(pulses & PulseQueues);
          recovery_o <= |(pulses & PulseRecovery);
          if (|(pulses & PulseQueues)) drive_o.epoch <= !drive_o.epoch;
        end
        OutSpace: space_q <= space_e'(operand_q[1:0]);
        OutSide: side_q <= operand_q[0];
        OutAdminEntry: {admin_entry_valid_o, admin_entry_o} <= operand_q[2:0];
        OutBlock4096: drive_o.block_4096 <= operand_q[0];
        OutBlocksLow: drive_o.blocks[31:0] <= operand_q;
        OutBlocksHigh: drive_o.blocks[LbaWidth-1:32] <= operand_q[LbaWidth-33:0];
        OutNsid: drive_o.nsid <= operand_q;
        OutSectorsMax: drive_o.command_sectors_max <= operand_q[SectorsWidth-1:0];
        OutQueueShift: drive_o.queue_shift <= operand_q[3:0];
        OutStride: drive_o.doorbell_stride <= operand_q[3:0];
        OutLinkStatus: bring_up_o.link_status <= operand_q[15:0];
        OutCapLow: bring_up_o.cap_low <= operand_q;
        OutVolatileCache: bring_up_o.volatile_cache <= operand_q[0];
        OutHealth0: {health_o.spare_percent, health_o.temperature_k, health_o.critical_warning} <= operand_q;
        OutHealth1: {health_o.used_percent, health_o.spare_threshold_percent} <= operand_q[15:0];
        OutMediaErrors: health_o.media_errors <= operand_q;
        OutHealthValid: health_o.valid <= operand_q[0];
        OutDone: done_q <= {done_q[31:0], operand_q};
        OutRespond: status_q <= operand_q[15:0];
        default: ;
      endcase
    end
  end

`ifdef FORMAL
  logic past_reset_q = 1'b0;
  logic [7:0] taken_q, answered_q;

  always_ff @(posedge clk_i) begin
    past_reset_q <= 1'b1;
    assume (rst_ni == past_reset_q);
    if (!rst_ni) begin
      taken_q <= '0;
      answered_q <= '0;
    end else begin
      taken_q <= taken_q + 8'(command_valid_i && command_ready_o);
      answered_q <= answered_q + 8'(response_valid_o && response_ready_i);
    end
  end

  // The program's contract: it responds only while there is a command, and does not change a response that is shown.
  always_comb begin
    if (is_out && selected == OutRespond) assume (busy_q && !response_valid_q);
    if (is_out && selected == OutDone) assume (!response_valid_q);
  end

  always_ff @(posedge clk_i) begin
    if (past_reset_q && rst_ni && $past(rst_ni)) begin
      // each command that was taken gets one response, which stays until it is taken
      assert (8'(taken_q - answered_q) == 8'(busy_q) && (!response_valid_q || busy_q));
      if ($past(response_valid_o && !response_ready_i)) assert (response_valid_o && response_o == $past(response_o));
      if ($past(mmio_valid_o && !mmio_ready_i)) assert (mmio_valid_o && mmio_access_o == $past(mmio_access_o));
      if ($past(page_valid_o && !page_done_i)) assert (page_valid_o && page_dword_o == $past(page_dword_o));
      if ($past(side_push_o && !side_push_ready_i && !(is_out && selected == OutPush))) assert (side_push_o);
      // no pulse is missed
      if ($past(recover_i || !link_up_i)) assert (recover_q);
      if ($past(admin_completion_valid_i)) assert (admin_done_q && admin_status_q == $past(admin_completion_i.status));
      if ($past(side_completion_valid_i)) assert (side_done_q && side_status_q == $past(side_completion_i.status));
      if (!enable_i) assert (!perst_no);
      cover (answered_q == 8'd1);
      cover ($past(page_valid_o && page_done_i));
      cover ($past(mmio_valid_o && mmio_ready_i && mmio_access_o.write));
    end
  end
`endif

endmodule

`default_nettype wire
