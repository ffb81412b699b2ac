// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which jobs a change of many means: by their ids, and by user, state and name.
///
/// Source: scancel(1) of Slurm 23.02: what is said is combined with "and". Differs: without a user,
/// and with --all, the caller's own jobs are meant, and all jobs only where an operator asks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "service/service.h"

namespace almanac::serve {

struct Which {
  std::vector<std::string> jobs{};  ///< "17", "12" for all tasks of an array, "12_3", "12_[0-4]".
  std::string user{};               ///< "" = any; likewise the next two.
  std::string state{};
  std::string name{};
  bool all = false;      ///< Needed where nothing else is said.
  bool now = false;      ///< Of cancel: without grace.
  bool dry_run = false;  ///< Changes nothing.

  bool operator==(const Which&) const = default;
};

/// Fails with invalid at what it does not know, where nothing is said, or too much.
Result<Which> read_which(std::string_view text);
std::string to_json(const Which& which);

/// A job that was named and stays as it is.
struct RefusedJob {
  std::string job{};  ///< As it was named.
  Error why{};
  bool is_anothers = false;
};

struct Chosen {
  std::vector<store::JobNumber> numbers{};  ///< Rising.
  std::vector<RefusedJob> refused{};
};

/// A verb's own rule: why it leaves a job alone that was named; nothing = it does not.
using LeavesAlone = std::function<std::optional<Error>(const store::Job&)>;

/// Those that wait or run and are the caller's to change; with `ended_too` also those that have
/// ended, of jobs that are named. `caller_name` is what the system calls the caller. Fails with
/// usage (an id that is none, an unknown state), with conflict where all jobs of another user are
/// meant, or as the service does. Cost: one look at each job, however many are named.
Result<Chosen> choose(const service::Service& service, const Which& which,
                      const service::Caller& caller, const std::string& caller_name, bool ended_too,
                      const LeavesAlone& leaves_alone = {});

}  // namespace almanac::serve
