// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

namespace testbench {

void make(AdminBench &bench, Fault fault) {
  AdminDrive &drive = bench.drive;
  bool recover = false;
  switch (fault) {
  case Fault::None: break;
  case Fault::DataPath: recover = true; break;
  case Fault::Link: drive.drop_link(300); break;
  case Fault::LinkForLong: drive.drop_link({}); break;
  case Fault::Fatal: drive.fatal_now = true; break;
  case Fault::HealthLost: drive.faults[kGetLog].push_back(kLost); break;
  case Fault::Stuck:
    drive.profile.disable_cycles.reset();
    recover = true;
    break;
  case Fault::AccessError: drive.access_faults[{Space::Bar, kCsts}] = AccessFault::Error; break;
  }
  bench.pins().recover_i = recover;
  bench.cycle();
  bench.pins().recover_i = 0;
}

} // namespace testbench
