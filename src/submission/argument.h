// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parses the arguments of options. Each function fails with `invalid`, saying what is expected ("a
/// whole number"), or with `unsupported`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/job.h"

namespace almanac::submission {

/// At most a million.
Result<std::int32_t> read_count(std::string_view text, std::int32_t least);
/// Above 0.
Result<double> read_amount(std::string_view text);
/// Parses "[D-]HH:MM:SS" and other durations of text/duration.h; a bare number is in `bare` units,
/// or refused if that is 0. kNoDuration for no limit.
Result<Duration> read_limit(std::string_view text, Duration bare);
enum class BareMemory : std::uint8_t { refused, is_mib };
/// "32G", "1500M", "1.5T" in GB of 1024 MiB.
Result<double> read_memory(std::string_view text, BareMemory bare);
/// "200M", "1.5G" a second, above 0, in MB of 1024 KiB.
Result<double> read_rate(std::string_view text);

struct Array {
  std::vector<std::int32_t> indices{};  ///< Rising.
  std::int32_t at_once = 0;
};
/// "0-15", "1,3,5-7", "0-15:4", "0-9%3".
Result<Array> read_array(std::string_view text);

struct Gpus {
  std::int32_t count = 0;
  std::int32_t most = 0;  ///< It may run on `count` to this many; 0 for exactly `count`.
  std::string type{};
};
/// "2", "a100:2", "2..8".
Result<Gpus> read_gpus(std::string_view text);

struct Signal {
  std::int32_t number = 0;
  Duration before = 1min;
  bool shell = false;  ///< "B:".
};
/// Parses "USR1", "SIGUSR1@300", "B:10@60": a signal, and the seconds before a time limit.
Result<Signal> read_signal(std::string_view text);

/// "12", "12:13", "12,13".
Result<std::vector<store::JobNumber>> read_jobs(std::string_view text);

/// See store::Submission.
struct Dependency {
  std::vector<store::JobNumber> after{};
  std::vector<store::JobNumber> after_ok{};
  std::vector<store::JobNumber> after_not_ok{};
  std::vector<store::JobNumber> after_start{};
  bool one_suffices = false;
  bool singleton = false;
};
/// "afterok:12:13", "afterany:12,afternotok:13", "after:12?afterok:13", "singleton".
Result<Dependency> read_dependency(std::string_view text);

/// "now", "now+2hours", "16:00" (the next), "midnight", "noon", "tomorrow", "2026-11-22",
/// "2026-11-22T08:00:00": of the machine's time zone.
Result<Time> read_moment(std::string_view text, Time now);

/// Returns what "ALL", "NONE", "A,B=2" and "ALL,C=3" leave of `environment`. Unless all is
/// exported, variables needed to find programs stay: HOME, LOGNAME, PATH, SHELL, USER.
std::vector<std::string> exported(std::string_view text,
                                  const std::vector<std::string>& environment);

/// The parts of a text between `separator`s.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace almanac::submission
