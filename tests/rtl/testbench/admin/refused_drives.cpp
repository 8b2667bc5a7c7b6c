// SPDX-License-Identifier: Apache-2.0
//
// Drives that are refused, each with its step and error, and unusual drives that come up.
#include "cases.h"

#include <optional>

namespace testbench {

namespace {

struct Refused {
  const char *name;
  Change change;
  Step step; // at which the bring-up stops, as in docs/reference/gateware-bringup.md
  Error error;
  std::optional<uint32_t> detail; // not everywhere defined
};

const Refused kRefused[] = {
    {"no link", [](Profile &p) { p.link_cycles.reset(); }, Step::Link, Error::Link, {}},
    {"never configured", [](Profile &p) { p.retry_cycles = 1'000'000'000; }, Step::Device, Error::NoDevice,
     0xffff'0001},
    {"class", [](Profile &p) { p.class_code = 0x010601; }, Step::Device, Error::Class, 0x0106'0100},
    {"bridge", [](Profile &p) { p.header = 1; }, Step::Device, Error::Header, 0x0001'0000},
    {"I/O BAR", [](Profile &p) { p.bar_type = 1; }, Step::Bar, Error::BarType, 1},
    {"BAR below 1 MiB", [](Profile &p) { p.bar_type = 2; }, Step::Bar, Error::BarType, 2},
    {"small BAR", [](Profile &p) { p.bar_bytes = 0x1000; }, Step::Controller, Error::BarSize, 0x1000 >> 4},
    {"large BAR", [](Profile &p) { p.bar_bytes = 0x20'0000; }, Step::Bar, Error::BarSize, 0x20'0000 >> 4},
    {"no BAR", [](Profile &p) { p.bar_bytes = 0; }, Step::Bar, Error::BarSize, {}},
    {"no capability", [](Profile &p) { p.capability = false; }, Step::Capabilities, Error::Capability, {}},
    {"BAR too small for its stride",
     [](Profile &p) {
       p.bar_bytes = 0x2000;
       p.stride = 9;
     },
     Step::Controller, Error::BarSize, 0x2000 >> 4},
    {"version 0", [](Profile &p) { p.version = 0; }, Step::Controller, Error::Version, 0},
    {"no NVM commands", [](Profile &p) { p.command_sets = 2; }, Step::Controller, Error::CommandSet, 0x40},
    {"pages of 8 KiB", [](Profile &p) { p.mpsmin = 1; }, Step::Controller, Error::PageSize, 0x1'0020},
    {"queues of one entry", [](Profile &p) { p.mqes = 0; }, Step::Controller, Error::QueueSize, 1},
    {"never ready", [](Profile &p) { p.ready_cycles.reset(); }, Step::Enable, Error::Enable, 0},
    {"fatal", [](Profile &p) { p.fatal = true; }, Step::Enable, Error::Fatal, 2},
    {"large submission entries", [](Profile &p) { p.entry_sizes = 0x4477; }, Step::IdentifyController, Error::EntrySize,
     0x4477},
    {"small submission entries", [](Profile &p) { p.entry_sizes = 0x4455; }, Step::IdentifyController, Error::EntrySize,
     0x4455},
    {"large completion entries", [](Profile &p) { p.entry_sizes = 0x5566; }, Step::IdentifyController, Error::EntrySize,
     0x5566},
    {"small completion entries", [](Profile &p) { p.entry_sizes = 0x3366; }, Step::IdentifyController, Error::EntrySize,
     0x3366},
    {"no namespace", [](Profile &p) { p.namespaces.clear(); }, Step::NamespaceList, Error::NoNamespace, {}},
    {"empty namespace", [](Profile &p) { p.blocks = 0; }, Step::IdentifyNamespace, Error::NoNamespace, {}},
    {"blocks of 1 KiB", [](Profile &p) { p.block_shift = 10; }, Step::IdentifyNamespace, Error::BlockSize, 10 << 16},
    {"metadata", [](Profile &p) { p.metadata = 8; }, Step::IdentifyNamespace, Error::Metadata, 9 << 16 | 8},
    {"too large", [](Profile &p) { p.blocks = UINT64_C(1) << 40; }, Step::IdentifyNamespace, Error::TooLarge, 0x100},
};

void is_refused(AdminBench &bench, const Refused &refused) {
  bench.expect_gone(refused.step, refused.error);
  if (refused.detail) expect("the detail", bench.bring_up().error_detail, *refused.detail);
  check(!bench.pins().perst_no, "a drive that was given up is not held in reset");
  Command flush = command(Op::Flush);
  flush.tag = 0x1234;
  const auto response = bench.respond(flush);
  expect("the status", response.status, kGone);
  expect("the tag", response.tag, flush.tag);
}

struct Accepted {
  const char *name;
  Change change;
  void (*fields)(records::drive_t &); // of drive_o: those that differ from the usual
};

void as_usual(records::drive_t &) {}

const Accepted kAccepted[] = {
    {"32-bit BAR", [](Profile &p) { p.bar_type = 0; }, as_usual},
    {"least BAR", [](Profile &p) { p.bar_bytes = 0x2000; }, as_usual},
    {"largest BAR", [](Profile &p) { p.bar_bytes = 0x10'0000; }, as_usual},
    {"doorbell stride of 8", [](Profile &p) { p.stride = 1; }, [](records::drive_t &d) { d.doorbell_stride = 1; }},
    {"doorbell stride of 32", [](Profile &p) { p.stride = 3; }, [](records::drive_t &d) { d.doorbell_stride = 3; }},
    {"queues of two entries", [](Profile &p) { p.mqes = 1; }, [](records::drive_t &d) { d.queue_shift = 1; }},
    {"queues of 100 entries", [](Profile &p) { p.mqes = 99; }, [](records::drive_t &d) { d.queue_shift = 6; }},
    {"blocks of 4 KiB",
     [](Profile &p) {
       p.block_shift = 12;
       p.format_index = 3;
       p.mdts = 0;
     },
     [](records::drive_t &d) {
       d.block_4096 = 1;
       d.command_sectors_max = 4088;
     }},
    {"MDTS of a page", [](Profile &p) { p.mdts = 1; }, [](records::drive_t &d) { d.command_sectors_max = 16; }},
    {"MDTS of 2 MiB", [](Profile &p) { p.mdts = 9; }, [](records::drive_t &d) { d.command_sectors_max = 4088; }},
    {"MDTS beyond ours", [](Profile &p) { p.mdts = 11; }, [](records::drive_t &d) { d.command_sectors_max = 4088; }},
    {"namespace 7",
     [](Profile &p) {
       p.namespaces = {7, 9};
     },
     [](records::drive_t &d) { d.nsid = 7; }},
    {"version 1.0",
     [](Profile &p) {
       p.version = 0x10000;
       p.namespace_list = false;
     },
     as_usual},
    {"PCI Express capability of version 1", [](Profile &p) { p.express_version = 1; }, as_usual},
    {"few features",
     [](Profile &p) {
       p.apsta = p.volatile_cache = false;
       p.hmpre = p.oacs = p.oncs = p.sanicap = 0;
     },
     as_usual},
    {"slow after PERST#", [](Profile &p) { p.retry_cycles = 2400; }, as_usual},
    {"slow to be ready", [](Profile &p) { p.ready_cycles = 2500; }, as_usual},
    {"largest namespace", [](Profile &p) { p.blocks = (UINT64_C(1) << 40) - 1; },
     [](records::drive_t &d) { d.blocks = (UINT64_C(1) << 40) - 1; }},
    {"wide entries allowed", [](Profile &p) { p.entry_sizes = 0x5476; }, as_usual},
};

records::drive_t usual_fields(const AdminBench &bench) {
  records::drive_t fields;
  fields.ready = 1;
  fields.epoch = bench.shown().epoch;
  fields.blocks = Profile{}.blocks;
  fields.nsid = 1;
  fields.command_sectors_max = 8 << 5;
  fields.queue_shift = 7;
  return fields;
}

void check_link(const AdminBench &bench) {
  const Profile &profile = bench.drive.profile;
  const uint32_t payload = std::min(profile.payload, profile.root_payload);
  expect("Device Control", bench.drive.configured(Space::Device, kDeviceControl), 0x2000 | payload << 5 | 0x100);
  expect("Device Control of the root port", bench.drive.configured(Space::Local, kLocalControl), 0x2000 | payload << 5);
  expect("the link status", bench.bring_up().link_status, 0x1043);
}

// What was set, and what the drive does not have was not.
void check_features(const AdminBench &bench) {
  constexpr uint32_t kQueues = 0x07, kPowerStates = 0x0c, kHostMemory = 0x0d;
  const Profile &profile = bench.drive.profile;
  uint32_t seen = 0;
  for (const Entry &entry : bench.drive.admin_log)
    if (opcode_of(entry) == kSetFeatures) {
      check(entry[10] < 32, "feature 0x%x", entry[10]);
      seen |= 1u << entry[10];
    }
  expect("the features", seen,
         1u << kQueues | (profile.apsta ? 1u << kPowerStates : 0) | (profile.hmpre ? 1u << kHostMemory : 0));
  expect("the volatile cache", bench.bring_up().volatile_cache, profile.volatile_cache);
}

void check_health(const AdminBench &bench) {
  records::health_t wanted;
  wanted.valid = 1;
  wanted.temperature_k = 0x133;
  wanted.spare_percent = 0x64;
  wanted.spare_threshold_percent = 10;
  wanted.used_percent = 5;
  wanted.media_errors = 3;
  expect_record("the health", bench.health(), wanted);
  records::power_t power;
  power.unsafe_shutdowns = 7;
  expect_record("the losses of power", bench.power(), power);
}

void comes_up(AdminBench &bench, const Accepted &accepted) {
  bench.until_ready();
  records::drive_t wanted = usual_fields(bench);
  accepted.fields(wanted);
  expect_record("drive_o", bench.shown(), wanted);
  uint32_t entries = 128;
  while (entries > bench.drive.profile.mqes + 1)
    entries /= 2;
  expect("the entries of the completion queue", bench.drive.queues().cq, entries);
  expect("the entries of the submission queue", bench.drive.queues().sq, entries);
  check(bench.drive.generation() == 1, "it did not come up at the first attempt");
  check(bench.drive.admin_heads_rung >= bench.drive.admin_log.size(),
        "the head's doorbell was not rung for each admin completion");
  check_link(bench);
  check_features(bench);
  check_health(bench);
}

} // namespace

void add_refused_drives(Cases &cases) {
  for (const Refused &refused : kRefused) {
    Profile profile;
    refused.change(profile);
    add(cases, std::string("a_bad_drive_is_refused/") + refused.name, profile,
        [&refused](AdminBench &bench) { is_refused(bench, refused); });
  }
  for (const Accepted &accepted : kAccepted) {
    Profile profile;
    accepted.change(profile);
    add(cases, std::string("an_unusual_drive_comes_up/") + accepted.name, profile,
        [&accepted](AdminBench &bench) { comes_up(bench, accepted); });
  }
}

} // namespace testbench
