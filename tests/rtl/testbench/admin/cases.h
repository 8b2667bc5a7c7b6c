// SPDX-License-Identifier: Apache-2.0
//
// The test cases of spate_admin, by topic. Each begins with a core after its reset and a drive of its own.
#ifndef SPATE_ADMIN_CASES_H
#define SPATE_ADMIN_CASES_H

#include "bench.h"

#include <functional>
#include <string>
#include <vector>

namespace testbench {

using Body = std::function<void(AdminBench &)>;
using Change = void (*)(Profile &); // of the usual drive

struct Case {
  std::string name;
  Profile profile;
  Body body;
};
using Cases = std::vector<Case>;

inline void add(Cases &cases, std::string name, Profile profile, Body body) {
  cases.push_back({std::move(name), std::move(profile), std::move(body)});
}
inline void add(Cases &cases, std::string name, Body body) { add(cases, std::move(name), {}, std::move(body)); }

void add_bring_up(Cases &cases);       // drives that come up, and faults while a drive comes up
void add_refused_drives(Cases &cases); // drives that are refused, and unusual ones that are not
void add_commands(Cases &cases);       // commands that spate_admin carries out itself
void add_long_commands(Cases &cases);  // format, sanitize, shutdown and restart
void add_recovery(Cases &cases);       // a drive that was ready fails, and is recovered or given up
void add_other_drives(
    Cases &cases); // after a recovery another drive is in its place, or the same with other properties

} // namespace testbench

#endif
