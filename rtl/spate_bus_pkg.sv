// SPDX-License-Identifier: Apache-2.0
//
// The buses between the modules, each as a pair of records: what the master drives, and what the slave drives. Fields
// have the names of the standard in lower case. Data, strobes and what else has a width that an instance chooses are
// ports beside the records.
//
// The tops have a port for each field: make generate writes them (rtl/top/generated).
`default_nettype none

package spate_bus_pkg;

  import spate_pkg::*;

  // ---- commands of the data lane and of the side lane, and the responses to both ----

  typedef struct packed {
    logic     command_valid;
    command_t command;
    logic     side_valid;
    command_t side;
    logic     response_ready;
  } lanes_request_t;

  typedef struct packed {
    logic      command_ready;
    logic      side_ready;
    logic      response_valid;
    response_t response;
  } lanes_response_t;

  // ---- between an adapter and a core, in the core's clock: the drive's accesses to the windows, with data and strobes
  // beside the records, and the core's accesses to registers and configuration space ----

  typedef struct packed {
    logic           link_up;
    logic           quiet;                // no access of the drive is in the adapter, or bypasses it
    logic           read_valid;
    window_read_t   read;
    logic           read_data_ready;
    logic           write_valid;
    window_write_t  write;
    logic           mmio_request_ready;
    logic           mmio_response_valid;
    mmio_response_t mmio_response;
  } adapter_request_t;

  typedef struct packed {
    logic          reset;               // accesses of the drive are dropped, those of the core end with an error
    logic          epoch;               // a flip voids all earlier accesses of the drive
    logic          read_ready;
    logic          read_data_valid;
    logic          read_last;
    logic          write_ready;
    logic          mmio_request_valid;
    mmio_request_t mmio_request;
  } adapter_response_t;

  // ---- AXI4-Lite with 32 bits of data ----

  typedef struct packed {
    logic [31:0] awaddr;
    logic        awvalid;
    logic [31:0] wdata;
    logic [3:0]  wstrb;
    logic        wvalid;
    logic        bready;
    logic [31:0] araddr;
    logic        arvalid;
    logic        rready;
  } axil_request_t;

  typedef struct packed {
    logic        awready;
    logic        wready;
    logic [1:0]  bresp;
    logic        bvalid;
    logic        arready;
    logic [31:0] rdata;
    logic [1:0]  rresp;
    logic        rvalid;
  } axil_response_t;

  // ---- AXI4: writes, reads, and both. Bits of identifiers and addresses that an instance does not have are zero ----

  localparam int unsigned AxiIdWidth = 16;
  localparam logic [1:0] AxiFixed = 2'b00, AxiIncr = 2'b01;  // bursts
  localparam logic [1:0] AxiOkay = 2'b00;  // a response

  typedef struct packed {
    logic [AxiIdWidth-1:0] awid;
    logic [63:0]           awaddr;
    logic [7:0]            awlen;
    logic [2:0]            awsize;
    logic [1:0]            awburst;
    logic                  awvalid;
    logic                  wlast;
    logic                  wvalid;
    logic                  bready;
  } axi_write_request_t;

  typedef struct packed {
    logic                  awready;
    logic                  wready;
    logic [AxiIdWidth-1:0] bid;
    logic [1:0]            bresp;
    logic                  bvalid;
  } axi_write_response_t;

  typedef struct packed {
    logic [AxiIdWidth-1:0] arid;
    logic [63:0]           araddr;
    logic [7:0]            arlen;
    logic [2:0]            arsize;
    logic [1:0]            arburst;
    logic                  arvalid;
    logic                  rready;
  } axi_read_request_t;

  typedef struct packed {
    logic                  arready;
    logic [AxiIdWidth-1:0] rid;
    logic [1:0]            rresp;
    logic                  rlast;
    logic                  rvalid;
  } axi_read_response_t;

  typedef struct packed {
    axi_write_request_t write;
    axi_read_request_t  read;
  } axi_request_t;

  typedef struct packed {
    axi_write_response_t write;
    axi_read_response_t  read;
  } axi_response_t;

  // The handshakes of a bus's write channels, as a third party sees them.
  typedef struct packed {
    logic [AxiIdWidth-1:0] awid;
    logic                  awvalid;
    logic                  awready;
    logic [AxiIdWidth-1:0] bid;
    logic                  bvalid;
    logic                  bready;
  } axi_tap_t;

  // ---- the UltraScale+ block: a stream, whose data, TKEEP and ready are beside the record, and configuration
  // management ----

  typedef struct packed {
    logic [87:0] tuser;   // of the widest stream
    logic        tlast;
    logic        tvalid;
  } usp_stream_t;

  typedef struct packed {
    logic [9:0]  addr;
    logic        write;
    logic [31:0] write_data;
    logic [3:0]  byte_enable;
    logic        read;
  } cfg_mgmt_request_t;

  typedef struct packed {
    logic [31:0] read_data;
    logic        read_write_done;
  } cfg_mgmt_response_t;

endpackage

`default_nettype wire
