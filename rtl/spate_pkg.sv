// SPDX-License-Identifier: Apache-2.0
//
// The types that the parts of the host core share: the user's commands and responses, what bring-up found out about the
// drive, and the layout of the windows. docs/understand/gateware.md explains the structure. Section numbers are those
// of the NVM Express base specification 1.4.
`default_nettype none

package spate_pkg;

  // ---- the user's commands and responses ----

  typedef enum logic [3:0] {
    OpFlush = 4'd0,  // when it completes, all writes that completed before it was submitted are durable
    OpWrite = 4'd1,
    OpRead = 4'd2,
    OpDeallocate = 4'd3,  // the range's contents are no longer needed
    OpFormat = 4'd4,  // Format NVM: dword 10 = `address`[15:0]; the size may change: bring-up runs again
    OpSanitize = 4'd5,  // dword 10 = `address`[15:0]; the response comes when the drive has finished
    OpShutdown = 4'd6,  // flush, delete the queues, normal shutdown notification; the core then waits for OpRestart
    OpRestart = 4'd7,  // PERST#, and bring-up again
    OpRawAdmin = 4'd8,  // the 16 dwords given through the registers; data, at most 4 KiB, in the mailbox
    OpRawIo = 4'd9
  } op_e;

  typedef enum logic [1:0] {
    SourceStream = 2'd0,  // data are in the streams and pass through the ring
    SourceAddress = 2'd1,  // data are in memory, at `address`; the drive accesses it directly
    SourceMailbox = 2'd2,  // data are in the 4 KiB page behind the registers: for metadata
    SourceFrame = 2'd3  // OpWrite: data are in the stream, up to `tlast`; `blocks` is the limit
  } source_e;

  typedef struct packed {
    logic        from_registers;  // the response goes to the registers
    op_e         op;
    source_e     source;
    logic        fua;             // OpWrite: durable when it completes
    logic [15:0] tag;             // returned with the response
    logic [63:0] lba;
    logic [31:0] blocks;          // at least 1, except for operations without a range
    logic [63:0] address;         // SourceAddress: of the data, as the drive sees it; a multiple of 4
  } command_t;

  // Reads and writes go through the data lane, except those of the mailbox. Every other command is a side command.
  function automatic logic is_data_command(command_t command);
    return (command.op == OpWrite || command.op == OpRead) && command.source != SourceMailbox;
  endfunction

  typedef struct packed {
    logic        from_registers;
    logic [15:0] tag;
    logic [15:0] status;          // 0, an NVMe status field (bit 15 clear: SC, SCT, CRD, More, DNR), or a status_e
    // OpRead, OpWrite: the number of good blocks, counted from the first. OpFlush: the number of blocks that are
    // durable now: the sum of `done` over all stream and address writes since the core's reset, taken when the flush
    // was submitted. It includes the good blocks of the write that was being retired then. OpRawAdmin, OpRawIo: dword 0
    // of the completion.
    logic [63:0] done;
  } response_t;

  // Statuses that the core itself produces: the drive did not get the command, or did not complete it.
  typedef enum logic [15:0] {
    StatusOk = 16'h0000,
    StatusInvalid = 16'h8001,  // zero blocks, an unaligned address, or a source or operation that the core lacks
    StatusRange = 16'h8002,  // beyond the namespace
    StatusUnsupported = 16'h8003,  // the drive does not have the operation
    StatusGone = 16'h8004,  // the drive was given up or shut down: see the bring-up error
    StatusDeadline = 16'h8005,  // not completed, although the drive was reset and the command sent again several times
    StatusBusy = 16'h8006,  // the data path did not become empty, which format and sanitize need
    StatusMemory = 16'h8007,  // spate_ring_ddr: the memory responded with an error
    StatusPower = 16'h8008  // flush, shutdown: done, but since this side's last flush the drive lost power, or may have
  } status_e;

  // ---- limits ----

  localparam int unsigned LbaWidth = 40;  // 512 TiB of 512-byte blocks; bring-up refuses more
  localparam int unsigned PageShift = 12;  // CC.MPS = 0
  localparam int unsigned SectorShift = 9;  // lengths are counted in sectors of 512 bytes, the smallest block
  // A command's data are described by PRP1 and one list page. Lists are never chained. 511 pages that may begin
  // anywhere in a page need at most 511 entries: the last entry of a list page is never one of data, because some
  // drives follow it as a pointer to another list page.
  localparam int unsigned CommandSectorsMax = 4088;
  localparam int unsigned SectorsWidth = 13;  // counts 0 … CommandSectorsMax

  // ---- windows: what the drive accesses, as offsets in its half of the aperture (docs/understand/gateware.md,
  // "Addresses") ----
  //
  //   bit WindowBits-1   epoch: flips with each bring-up, so that accesses from before a reset are recognised
  //   bit WindowBits-2   stream mode only. 1: the ring, mapped twice in a row; 0: control, CtrlBits of it. Memory mode
  //                      has only control and no such bit:
  //
  //     0x000000  admin submission queue      0x001000  admin completion queue
  //     0x002000  admin page (Identify, log)  0x003000  mailbox page            0x004000  deallocate range
  //     0x010000  I/O submission queue        0x020000  I/O completion queue
  //     0x100000  PRP lists, a page for each of up to 256 slots

  localparam int unsigned CtrlBits = 21;

  typedef enum logic [3:0] {
    RegionNone,  // nothing is mapped: reads return zeros, writes are dropped, both are counted
    RegionAdminSq,
    RegionAdminCq,
    RegionAdminPage,
    RegionMailbox,
    RegionRange,
    RegionSq,
    RegionCq,
    RegionPrp,
    RegionRing
  } region_e;

  localparam logic [CtrlBits-1:0] OffsetAdminSq = 21'h000000;
  localparam logic [CtrlBits-1:0] OffsetAdminCq = 21'h001000;
  localparam logic [CtrlBits-1:0] OffsetAdminPage = 21'h002000;
  localparam logic [CtrlBits-1:0] OffsetMailbox = 21'h003000;
  localparam logic [CtrlBits-1:0] OffsetRange = 21'h004000;
  localparam logic [CtrlBits-1:0] OffsetSq = 21'h010000;
  localparam logic [CtrlBits-1:0] OffsetCq = 21'h020000;
  localparam logic [CtrlBits-1:0] OffsetPrp = 21'h100000;

  localparam int unsigned BarWindowBytes = 32'h0010_0000;  // the largest BAR 0 that is accepted

  // The address width of the aperture of a core whose buffer has `ram_bytes`. Two pages of the buffer are not in the
  // ring.
  function automatic int unsigned window_bits(int unsigned ram_bytes);
    int unsigned data_bits;
    if (ram_bytes <= 8192) return CtrlBits + 1;
    data_bits = $clog2(2 * (ram_bytes - 8192));
    return (data_bits > CtrlBits ? data_bits : CtrlBits) + 2;
  endfunction

  // The largest command of a core with such a buffer, unless a parameter says otherwise: an eighth of the ring.
  function automatic int unsigned command_sectors_limit(int unsigned ram_bytes);
    if (ram_bytes <= 8192) return CommandSectorsMax;
    return (ram_bytes - 8192) / 4096 < CommandSectorsMax ? (ram_bytes - 8192) / 4096 : CommandSectorsMax;
  endfunction

  function automatic region_e ctrl_region(logic [CtrlBits-1:0] offset);
    if (offset[20]) return RegionPrp;
    unique case (offset[19:16])
      4'd0: begin
        unique case (offset[15:12])
          4'd0: return RegionAdminSq;
          4'd1: return RegionAdminCq;
          4'd2: return RegionAdminPage;
          4'd3: return RegionMailbox;
          4'd4: return RegionRange;
          default: return RegionNone;
        endcase
      end
      4'd1: return RegionSq;
      4'd2: return RegionCq;
      default: return RegionNone;
    endcase
  endfunction

  // ---- requests of an adapter to the windows ----
  //
  // Addresses are offsets in the aperture, which has at most 4 GiB. In a smaller aperture the upper bits are zero. Data
  // and strobes are separate ports beside these records, because their width is the core's parameter (`DataWidth`).

  // A read: the bytes from an address on, in whole beats.
  typedef struct packed {
    logic        stray;    // outside the aperture: `address` is meaningless
    logic [31:0] address;  // of the first byte
    logic [8:0]  beats;    // 1 … 257
  } window_read_t;

  // A write: where a beat goes.
  typedef struct packed {
    logic        stray;    // outside the aperture: `address` is meaningless
    logic [31:0] address;  // a multiple of the beat's size
  } window_write_t;

  // ---- identifiers ----
  //
  // {epoch, a 6-bit count of the slot's uses, side, slot}: this exposes a completion of another epoch, of an earlier
  // use of the slot, or of no slot.

  typedef struct packed {
    logic       epoch;
    logic [5:0] uses;
    logic       side;   // the side command (flush, deallocate, mailbox, raw); `slot` is then its number, `uses` is 0
    logic [7:0] slot;
  } cid_t;

  // ---- a command to the drive: the splitter issues it, a slot keeps it, spate_retire retires it ----
  //
  // The place of its data is a separate port, because its width is the core's parameter (`BaseBits`; see
  // spate_splitter).

  // As it is issued.
  typedef struct packed {
    logic                    write;           // otherwise a read
    logic                    fua;             // of a write: durable when it completes
    logic                    stream;          // its data are in the ring
    logic                    block_4096;      // split in blocks of 4096 bytes, otherwise of 512
    logic                    last;            // the last command of its request
    logic                    from_registers;  // as in its request
    logic [15:0]             tag;             // as in its request
    logic [LbaWidth-1:0]     lba;             // its first block
    logic [SectorsWidth-1:0] sectors;         // of 512 bytes, whatever the block size; 0 only if `status` is an error
    logic [15:0]             status;          // not StatusOk: it ends with this status and is never sent to the drive
  } slot_issue_t;

  // As the drive reads it: the windows compose the submission entry and the PRP list from these fields.
  typedef struct packed {
    logic                    write;    // otherwise a read
    logic                    fua;      // of a write
    logic [LbaWidth-1:0]     lba;      // its first block
    logic [SectorsWidth-1:0] sectors;  // of 512 bytes, at least 1
    cid_t                    cid;      // the identifier that its completion must have
  } slot_entry_t;

  // As it is retired: the fields with which it was issued, and its final status.
  typedef struct packed {
    logic                    write;
    logic                    stream;
    logic                    block_4096;
    logic                    last;
    logic                    from_registers;
    logic [15:0]             tag;
    logic [SectorsWidth-1:0] sectors;
    logic [15:0]             status;          // as in response_t
  } slot_retire_t;

  // ---- a part of a striped read or write: the stretch within one chunk of the array ----
  //
  // Its member and its number of blocks are separate ports, because their widths are the array's parameters.

  typedef struct packed {
    logic                write;           // otherwise a read
    logic                fua;             // of a write: durable when it completes
    source_e             source;          // SourceStream or SourceAddress
    logic                beyond;          // its request goes beyond the array: the member must refuse it
    logic                last;            // the last part of its request
    logic                from_registers;  // as in its request
    logic [15:0]         tag;             // as in its request
    logic [LbaWidth-1:0] lba;             // its first block on the member
    logic [63:0]         address;         // SourceAddress: of its data, in bytes
  } stripe_part_t;

  // ---- a part of a request, from spate_ring_cut to spate_ring_order ----
  // Its place and its number of sectors are separate ports, because their widths are the ring's parameters.

  typedef struct packed {
    logic                write;           // otherwise a read
    logic                fua;             // of a write: durable when it completes
    logic                beyond;          // its request goes beyond the namespace: the drive must refuse it
    logic                invalid;         // it has no sectors, and its request ends with StatusInvalid
    logic                gone;            // its drive is gone: it must not be given to the next one
    logic                last;            // the last part of its request
    logic                from_registers;  // as in its request
    logic [15:0]         tag;             // as in its request
    logic [LbaWidth-1:0] lba;             // its first block
  } ring_part_t;

  // ---- a part that ended, from spate_ring_order to spate_ring_deliver; place, sectors and blocks done beside it ----

  typedef struct packed {
    logic        read;            // its beats are in the ring
    logic        write;
    logic        last;            // the last part of its request
    logic        failed;          // the status is not StatusOk
    logic        from_registers;  // as in its request
    logic [15:0] tag;             // as in its request
    logic [15:0] status;
  } ring_ended_t;

  // ---- what bring-up found, for the data path. Stable while `ready` is high ----

  typedef struct packed {
    logic                    ready;                // the I/O queues exist: entries may be pushed, doorbells rung
    logic                    gone;                 // given up or shut down: every command ends with StatusGone
    logic                    epoch;
    logic                    block_4096;           // logical blocks of 4096 bytes, otherwise 512
    logic [LbaWidth-1:0]     blocks;               // of the namespace
    logic [31:0]             nsid;
    logic [SectorsWidth-1:0] command_sectors_max;  // the least of what MDTS, CommandSectorsMax and the buffer allow
    logic [3:0]              queue_shift;          // log2 of the entries of the I/O queues, 1 … 10
    logic [3:0]              doorbell_stride;      // CAP.DSTRD
  } drive_t;

  // ---- what bring-up and the SMART log report, for the registers ----

  typedef struct packed {
    logic [7:0]  step;            // the current step, or the one that failed: docs/reference/gateware-bringup.md
    logic [7:0]  error;           // 0: none
    logic [31:0] error_detail;    // meaningful only with an error
    logic [15:0] link_status;     // as the device's Link Status register
    logic [31:0] cap_low;         // bits 31:0 of CAP
    logic        volatile_cache;  // the drive has a volatile write cache
  } bring_up_t;

  typedef struct packed {
    logic        valid;                    // the fields below are from this bring-up
    logic [7:0]  critical_warning;         // as in the log
    logic [15:0] temperature_k;            // composite temperature, in kelvins
    logic [7:0]  spare_percent;            // available spare
    logic [7:0]  spare_threshold_percent;  // the drive warns below it
    logic [7:0]  used_percent;             // of the drive's rated life; may exceed 100
    logic [31:0] media_errors;             // the low 32 bits
  } health_t;

  typedef struct packed {
    logic [15:0] losses;            // of power, since the core's reset
    logic [15:0] unknown;           // resets since then after which the drive does not report whether it lost power
    logic [31:0] unsafe_shutdowns;  // from the SMART log, the low 32 bits
  } power_t;

  // What spate_power learns.
  typedef enum logic [3:0] {
    PowerWritten,  // AQA, ASQ and ACQ, and CC.EN was set
    PowerStopped,  // CC.EN was cleared
    PowerReset,  // by PERST#
    PowerKept,  // AQA, ASQ and ACQ have what was written
    PowerCleared,  // they do not
    PowerSafe,  // the drive has reported that its shutdown is complete
    PowerLog,  // the two counters are from a log with contents
    PowerNoLog,  // the log was refused or has no contents
    PowerTold  // the current command's side
  } power_event_e;

  // ---- what the microcode composes for the drive to read ----

  // A dword of one of the two submission entries that the microcode writes in advance.
  typedef struct packed {
    logic        side;   // in the side command's entry, otherwise in the admin queue's
    logic [3:0]  dword;  // its index in the entry
    logic [31:0] data;   // its value
  } sqe_dword_t;

  // The deallocate range.
  typedef struct packed {
    logic [LbaWidth-1:0] lba;     // its first block
    logic [31:0]         blocks;  // at least 1
  } range_t;

  // ---- a completion entry that passed all checks (4.6) ----

  typedef struct packed {
    logic [31:0] result;   // dword 0
    logic [15:0] sq_head;
    cid_t        cid;
    logic [14:0] status;   // without the phase bit
  } completion_t;

  // ---- accesses to registers and configuration space, between the core and an adapter ----

  typedef enum logic [1:0] {
    SpaceLocal,  // the root port's own configuration space, and the registers of a bridge
    SpaceDevice,  // configuration space of the device: bus 1, device 0, function 0
    SpaceBar  // BAR 0 of the device
  } space_e;

  typedef struct packed {
    space_e      space;
    logic        write;    // otherwise a read
    logic [31:0] address;  // offset in bytes, a multiple of 4
    logic [31:0] data;     // of a write
  } mmio_access_t;

  typedef struct packed {
    logic        error;  // a slave error, an unsupported request, a completion timeout
    logic [31:0] data;   // of a read that succeeded
  } mmio_result_t;

  // The identifier toggles with each request. A response carries the identifier of its request, so that a response
  // after the deadline is recognised and dropped.
  typedef struct packed {
    logic                 id;
    mmio_access_t access;
  } mmio_request_t;

  typedef struct packed {
    logic         id;
    mmio_result_t result;
  } mmio_response_t;

  // ---- the buffer's two pages, accessed a dword at a time ----

  typedef struct packed {
    logic        write;  // otherwise a read
    logic [10:0] dword;  // bit 10: in the mailbox, otherwise in the admin page
    logic [31:0] data;   // of a write
  } page_access_t;

  // ---- protocol violations and recoveries: each field is a pulse that the registers count ----

  typedef struct packed {
    logic stray_read;     // a read outside the windows, or of an entry that does not exist now
    logic stray_write;
    logic stale_access;   // an access with the other epoch
    logic cq_phase;       // a completion with the wrong phase
    logic cq_index;       // a completion that is not at the next entry
    logic cq_id;          // a completion for no command in flight
    logic sq_head;        // a completion whose SQ head is not between the last good one and the tail
    logic retry;          // a command was sent again
    logic recovery;       // the drive was reset and brought up again
    logic command_error;  // a command ended with an error
  } events_t;

endpackage

`default_nettype wire
