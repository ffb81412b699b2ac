// SPDX-License-Identifier: Apache-2.0

/// \file
/// The contents of the files of a run, as JSON.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/time.h"
#include "process/cgroup.h"
#include "shepherd/run.h"

namespace almanac::shepherd {

/// Identifies a process among all that ever had its number. The content of the lock names the
/// shepherd.
struct Identity {
  pid_t process = -1;
  std::int64_t birth = 0;  ///< process::birth_of.
};

/// started.json: the command may have begun.
struct Started {
  Identity command{};
  Identity shepherd{};
  std::string boot{};  ///< Boot of the machine; after another boot, nothing of it runs.
  Time start{};
  Duration since_boot{};  ///< The same time by CLOCK_BOOTTIME.
  std::string cgroup{};   ///< Its folder; "" for none.
  Means means{};
};

/// limits.json: what Run::resize wants.
struct Limits {
  std::vector<int> cores{};
  process::CgroupLimits limits{};
  Duration time_limit = kNoDuration;  ///< Counted from the start.
};

/// The order of Run::make_room(). Given to the shepherds of runs with a signal of their own only:
/// those of an earlier release know no such order.
inline const int kMakeRoom = SIGRTMIN;
/// Signal of Run::reallocate(), only for shepherds of runs with such a file, for the same reason.
inline const int kReallocated = SIGRTMIN + 1;

/// Fails with invalid when a text is not UTF-8.
Result<std::string> to_json(const Spec& spec);
std::string to_json(const Exit& exit);
std::string to_json(const Identity& identity);
std::string to_json(const Started& started);
std::string to_json(const Limits& limits);

/// Fails with corrupt when the text is not one of these.
template <typename Record>
Result<Record> parse_record(std::string_view text);
/// Reads the record of a file. Fails with `not_found` if there is none, with `unavailable` if it
/// cannot be read now, and with `corrupt` if it is not such a record.
template <typename Record>
Result<Record> read_record(const std::string& path);

/// Returns the id of the current boot of the machine.
std::string boot_id();
/// By the clock that is never set and that counts while the machine sleeps.
Duration since_boot();

}  // namespace almanac::shepherd
