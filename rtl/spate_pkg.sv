// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the host core share: commands and responses as users see them, what bring-up found out about the
// drive, and where the windows are. docs/understand/gateware.md argues for the shape. Section numbers are those of the
// NVM Express base specification 1.4.
package spate_pkg;

  // ---- the user's commands and responses ----

  typedef enum logic [3:0] {
    OpFlush = 4'd0,  // writes completed before it was submitted are durable when it completes
    OpWrite = 4'd1,
    OpRead = 4'd2,
    OpDeallocate = 4'd3,  // the range's contents are no longer needed
    OpFormat = 4'd4,  // Format NVM: dword 10 = `address`[15:0]; the size may change: bring-up runs again
    OpSanitize = 4'd5,  // dword 10 = `address`[15:0]; responds when the drive has finished
    OpShutdown = 4'd6,  // flush, delete the queues, normal shutdown notification; the core then waits for OpRestart
    OpRestart = 4'd7,  // PERST#, and bring-up again
    OpRawAdmin = 4'd8,  // the 16 dwords given through the registers; data, at most 4 KiB, in the mailbox
    OpRawIo = 4'd9
  } op_e;

  typedef enum logic [1:0] {
    SourceStream = 2'd0,  // data streams, through the ring
    SourceAddress = 2'd1,  // memory that the drive reads and writes past the core, at `address`
    SourceMailbox = 2'd2  // the 4 KiB page behind the registers: metadata
  } source_e;

  typedef struct packed {
    logic        from_registers;  // the response goes back there
    logic [15:0] tag;             // comes back with the response
    op_e         op;
    source_e     source;
    logic        fua;             // OpWrite: durable when it completes
    logic [63:0] address;         // SourceAddress: of the data, as the drive sees it, a multiple of 4
    logic [63:0] lba;
    logic [31:0] blocks;          // at least 1, but for operations without a range
  } command_t;

  typedef struct packed {
    logic        from_registers;
    logic [15:0] tag;
    logic [15:0] status;          // 0, an NVMe status field (bit 15 clear: SC, SCT, CRD, More, DNR), or a status_e
    // OpRead, OpWrite: blocks from the first on that are good. OpFlush: what is durable now: the sum of that over the
    // stream and address writes, the one that was being retired included, since the core's reset, as it was when the
    // flush was submitted. OpRawAdmin, OpRawIo: dword 0 of the completion.
    logic [63:0] done;
  } response_t;

  // Statuses that the core gives itself. The drive was not asked, or never answered.
  typedef enum logic [15:0] {
    StatusOk = 16'h0000,
    StatusInvalid = 16'h8001,  // zero blocks, an unaligned address, a source or operation that this core does not have
    StatusRange = 16'h8002,  // beyond the namespace
    StatusUnsupported = 16'h8003,  // the drive does not have the operation
    StatusGone = 16'h8004,  // the drive failed for good, or was shut down: see the bring-up error
    StatusDeadline = 16'h8005,  // no answer, each time that the drive was reset and the command sent again
    StatusBusy = 16'h8006,  // the data path did not become empty: format and sanitize need that
    StatusMemory = 16'h8007  // spate_ring_ddr: the memory answered with an error
  } status_e;

  // ---- limits ----

  localparam int unsigned LbaWidth = 40;  // 512 TiB of 512-byte blocks; bring-up refuses more
  localparam int unsigned PageShift = 12;  // CC.MPS = 0
  localparam int unsigned SectorShift = 9;  // what lengths are counted in inside: the smallest block
  // A command's data: PRP1 and one list page, never chained.
  localparam int unsigned CommandSectorsMax = 4096;
  localparam int unsigned SectorsWidth = 13;  // counts 0 … CommandSectorsMax

  // ---- windows: what the drive reaches, as offsets in its half of the aperture ----
  //
  // docs/understand/gateware.md, "Addresses".
  //
  //   bit WindowBits-1   epoch: flips with each bring-up, so that what a drive still does after a reset is known
  //   bit WindowBits-2   stream mode: 1: the ring, twice in a row; 0: control, CtrlBits of it. Memory mode has control
  //                      only, and not this bit:
  //
  //     0x000000  admin submission queue      0x001000  admin completion queue
  //     0x002000  admin page (Identify, log)  0x003000  mailbox page            0x004000  deallocate range
  //     0x010000  I/O submission queue        0x020000  I/O completion queue
  //     0x100000  PRP lists, a page for each of up to 256 slots

  localparam int unsigned CtrlBits = 21;

  typedef enum logic [3:0] {
    RegionNone,  // nothing is there: reads are zero, writes dropped, both counted
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

  localparam int unsigned BarWindowBytes = 32'h0010_0000;  // the most that BAR 0 may be

  // The aperture of a core whose buffer has `ram_bytes`, two pages of which are not the ring.
  function automatic int unsigned window_bits(int unsigned ram_bytes);
    int unsigned data_bits;
    if (ram_bytes <= 8192) return CtrlBits + 1;
    data_bits = $clog2(2 * (ram_bytes - 8192));
    return (data_bits > CtrlBits ? data_bits : CtrlBits) + 2;
  endfunction

  // What a command of a core with such a buffer can be at most, unless told otherwise: an eighth of the ring.
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

  // ---- what an adapter asks the windows for ----
  //
  // Addresses are offsets in the aperture, of which there is at most 4 GiB: of a smaller one the bits above its own are
  // zeros. Data and strobes travel beside these records, as their width is the core's own (`DataWidth`).

  // The bytes from an address on, in whole beats.
  typedef struct packed {
    logic        stray;    // not in the aperture: `address` means nothing
    logic [31:0] address;  // of the first byte
    logic [8:0]  beats;    // 1 … 257
  } window_read_t;

  // Where a beat is to be written.
  typedef struct packed {
    logic        stray;    // not in the aperture: `address` means nothing
    logic [31:0] address;  // a multiple of the beat's size
  } window_write_t;

  // ---- identifiers ----
  //
  // {epoch, 6 bits of how often the slot was used, side, slot}: a completion of another epoch, of an earlier use of the
  // slot, or of no slot is known for what it is.

  typedef struct packed {
    logic       epoch;
    logic [5:0] uses;
    logic       side;   // the one side command (flush, deallocate, mailbox, raw); `slot` counts them, `uses` is 0
    logic [7:0] slot;
  } cid_t;

  // ---- a command to the drive: issued by the splitter, kept in a slot, retired ----
  //
  // Where its data are travels beside these records, as its width is the core's own (`BaseBits`; see spate_splitter).

  // What it is issued with.
  typedef struct packed {
    logic                    write;           // otherwise a read
    logic                    fua;             // of a write: durable when it completes
    logic                    stream;          // its data are in the ring: `sectors` of it
    logic                    block_4096;      // cut in blocks of 4096 bytes, otherwise of 512
    logic                    last;            // the last one of its request
    logic                    from_registers;  // as in its request
    logic [15:0]             tag;             // as in its request
    logic [LbaWidth-1:0]     lba;             // its first block
    logic [SectorsWidth-1:0] sectors;         // of 512 bytes, whatever the block size; 0 only with a status
    logic [15:0]             status;          // not StatusOk: it ends with this, never at the drive
  } slot_issue_t;

  // What the drive reads of it: the windows compose its submission entry and its PRP list from this.
  typedef struct packed {
    logic                    write;    // otherwise a read
    logic                    fua;      // of a write
    logic [LbaWidth-1:0]     lba;      // its first block
    logic [SectorsWidth-1:0] sectors;  // of 512 bytes, at least 1
    cid_t                    cid;      // that its completion must have
  } slot_entry_t;

  // What is retired when it has ended. As it was issued, but for the status.
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

  // ---- a part of a striped read or write: what is in one chunk of the array ----
  //
  // Which member has it, and of how many blocks it is, travels beside: these widths are the array's own.

  typedef struct packed {
    logic                write;           // otherwise a read
    logic                fua;             // of a write: durable when it completes
    source_e             source;          // SourceStream or SourceAddress
    logic                beyond;          // its request goes beyond the array: the member is to refuse it
    logic                last;            // the last one of its request
    logic                from_registers;  // as in its request
    logic [15:0]         tag;             // as in its request
    logic [LbaWidth-1:0] lba;             // its first block on the member
    logic [63:0]         address;         // SourceAddress: of its data, in bytes
  } stripe_part_t;

  // ---- what bring-up found, for the data path. Stable while `ready` ----

  typedef struct packed {
    logic                    ready;                // the I/O queues exist: entries may be pushed, doorbells rung
    logic                    gone;                 // given up, or shut down: every command ends with StatusGone
    logic                    epoch;
    logic                    block_4096;           // logical blocks of 4096 bytes, otherwise 512
    logic [LbaWidth-1:0]     blocks;               // of the namespace
    logic [31:0]             nsid;
    logic [SectorsWidth-1:0] command_sectors_max;  // MDTS, CommandSectorsMax and the buffer, whichever is least
    logic [3:0]              queue_shift;          // log2 of the entries of the I/O queues, 1 … 10
    logic [3:0]              doorbell_stride;      // CAP.DSTRD
  } drive_t;

  // ---- what bring-up and the SMART log say, for the registers ----

  typedef struct packed {
    logic [7:0]  step;            // what is being done, or what failed: docs/reference/gateware-bringup.md
    logic [7:0]  error;           // 0: none
    logic [31:0] error_detail;    // means something with an error
    logic [15:0] link_status;     // as the device's Link Status register
    logic [31:0] cap_low;         // bits 31:0 of CAP
    logic        volatile_cache;  // the drive has a volatile write cache
  } bring_up_t;

  typedef struct packed {
    logic        valid;                    // the fields below are of this bring-up
    logic [7:0]  critical_warning;         // as in the log
    logic [15:0] temperature_k;            // composite temperature, in kelvins
    logic [7:0]  spare_percent;            // available spare
    logic [7:0]  spare_threshold_percent;  // below it the drive warns
    logic [7:0]  used_percent;             // of the drive's life; may exceed 100
    logic [31:0] media_errors;             // the low 32 bits
    logic [31:0] unsafe_shutdowns;         // the low 32 bits
  } health_t;

  // ---- what the microcode composes for the drive to read ----

  // A dword of one of the two submission entries that it writes beforehand.
  typedef struct packed {
    logic        side;   // of the side command's entry, otherwise of the admin queue's
    logic [3:0]  dword;  // its place in the entry
    logic [31:0] data;   // what it is to be
  } sqe_dword_t;

  // The deallocate range.
  typedef struct packed {
    logic [LbaWidth-1:0] lba;     // its first block
    logic [31:0]         blocks;  // at least 1
  } range_t;

  // ---- a completion entry, once it is known to be good (4.6) ----

  typedef struct packed {
    logic [31:0] result;   // dword 0
    logic [15:0] sq_head;
    cid_t        cid;
    logic [14:0] status;   // without the phase bit
  } completion_t;

  // ---- registers and configuration space, between the core and an adapter ----

  typedef enum logic [1:0] {
    SpaceLocal,  // the root port's own configuration space, and a bridge's registers
    SpaceDevice,  // configuration space of the device below it: bus 1, device 0, function 0
    SpaceBar  // BAR 0 of the device
  } space_e;

  typedef struct packed {
    space_e      space;
    logic        write;    // otherwise a read
    logic [31:0] address;  // offset in bytes, a multiple of 4
    logic [31:0] data;     // of a write
  } mmio_access_t;

  typedef struct packed {
    logic        error;  // a slave error, an unsupported request, a completion time-out
    logic [31:0] data;   // of a read that ended without an error
  } mmio_result_t;

  // The identifier toggles from one request to the next. An answer carries that of its request, so that one that comes
  // after the deadline is dropped.
  typedef struct packed {
    logic                 id;
    mmio_access_t access;
  } mmio_request_t;

  typedef struct packed {
    logic         id;
    mmio_result_t result;
  } mmio_response_t;

  // ---- the buffer's two pages, a dword at a time ----

  typedef struct packed {
    logic        write;  // otherwise a read
    logic [10:0] dword;  // bit 10: of the mailbox, otherwise of the admin page
    logic [31:0] data;   // of a write
  } page_access_t;

  // ---- what was seen that should not have been: each a pulse, counted by the registers ----

  typedef struct packed {
    logic stray_read;     // a read outside the windows, or of what is not there now
    logic stray_write;
    logic stale_access;   // of the other epoch
    logic cq_phase;       // a completion with the wrong phase
    logic cq_index;       // one that is not the next entry
    logic cq_id;          // one for no command that is in flight
    logic sq_head;        // one whose SQ head is not between ours and the tail
    logic retry;          // a command was sent again
    logic recovery;       // the drive was reset and brought up again
    logic command_error;  // a command ended with an error
  } events_t;

endpackage
