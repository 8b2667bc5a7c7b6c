// SPDX-License-Identifier: Apache-2.0
//
// The words of the UltraScale+ integrated block's streams (PCIE4, PCIE4C; PG213), which are descriptors as they appear
// on the bus, and the records that the parts of spate_pcie_usp exchange.
`default_nettype none

package spate_pcie_usp_pkg;

  typedef enum logic [3:0] {
    KindMemoryRead = 4'd0,
    KindMemoryWrite = 4'd1,
    KindIoRead = 4'd2,
    KindIoWrite = 4'd3,
    KindFetchAdd = 4'd4,
    KindSwap = 4'd5,
    KindCompareSwap = 4'd6,
    KindLockedRead = 4'd7,
    KindConfigRead0 = 4'd8,
    KindConfigRead1 = 4'd9,
    KindConfigWrite0 = 4'd10,
    KindConfigWrite1 = 4'd11,
    KindMessage = 4'd12,
    KindVendorMessage = 4'd13,
    KindAtsMessage = 4'd14
  } kind_e;

  localparam logic [2:0] StatusSuccessful = 3'd0;
  localparam logic [2:0] StatusUnsupported = 3'd1;

  // A request from the link (CQ), in the first four dwords.
  typedef struct packed {
    logic        reserved_127;
    logic [2:0]  attributes;
    logic [2:0]  traffic_class;
    logic [5:0]  bar_aperture;
    logic [2:0]  bar;
    logic [7:0]  target;
    logic [7:0]  tag;
    logic [15:0] requester;
    logic        reserved_79;
    logic [3:0]  kind;
    logic [10:0] dwords;
    logic [61:0] address;        // in dwords
    logic [1:0]  address_type;   // 0: untranslated
  } cq_descriptor_t;

  // The root port's completion (CC), in the first three dwords.
  typedef struct packed {
    logic        force_ecrc;
    logic [2:0]  attributes;
    logic [2:0]  traffic_class;
    logic        completer_enable;  // the client supplies the identifier
    logic [15:0] completer;
    logic [7:0]  tag;
    logic [15:0] requester;
    logic        reserved_47;
    logic        poisoned;
    logic [2:0]  status;
    logic [10:0] dwords;
    logic [1:0]  reserved_30;
    logic        locked;
    logic [12:0] bytes;             // from here to the end of the request
    logic [5:0]  reserved_10;
    logic [1:0]  address_type;
    logic        reserved_7;
    logic [6:0]  lower_address;
  } cc_descriptor_t;

  // The root port's request (RQ), in the first four dwords. For configuration requests the address is the register.
  typedef struct packed {
    logic        force_ecrc;
    logic [2:0]  attributes;
    logic [2:0]  traffic_class;
    logic        requester_enable;
    logic [15:0] completer;         // bus, device, function of a configuration request
    logic [7:0]  tag;
    logic [15:0] requester;
    logic        poisoned;
    logic [3:0]  kind;
    logic [10:0] dwords;
    logic [63:0] address;
  } rq_descriptor_t;

  // The completion of that request (RC), in the first three dwords.
  typedef struct packed {
    logic        reserved_95;
    logic [2:0]  attributes;
    logic [2:0]  traffic_class;
    logic        reserved_88;
    logic [15:0] completer;
    logic [7:0]  tag;
    logic [15:0] requester;
    logic        reserved_47;
    logic        poisoned;
    logic [2:0]  status;
    logic [10:0] dwords;
    logic        reserved_31;
    logic        completed;
    logic        locked;
    logic [12:0] bytes;
    logic [3:0]  error;          // 0: none; otherwise poisoned, a bad status, a bad length, a timeout, …
    logic [11:0] lower_address;
  } rc_descriptor_t;

  // A request that wants a completion, between the modules.
  typedef struct packed {
    logic [3:0]     last_enables;
    logic [3:0]     first_enables;
    cq_descriptor_t descriptor;
  } nonposted_t;

  // One completion packet to be composed.
  typedef struct packed {
    logic        unsupported;    // the packet has no data, but a copy of the request
    logic        locked;
    logic        final_packet;   // the last packet of its request
    logic [2:0]  attributes;
    logic [2:0]  traffic_class;
    logic [7:0]  tag;
    logic [15:0] requester;
    logic [12:0] bytes;
    logic [6:0]  lower_address;
    logic [7:0]  dwords;         // of data: 1 … 128, 0 when unsupported
  } packet_t;

endpackage

`default_nettype wire
