// SPDX-License-Identifier: Apache-2.0

/// \file
/// Selects the jobs of a bulk change: by id, user, state and name.
///
/// Source: scancel(1) of Slurm 23.02: criteria are combined with "and". Differs: without a user,
/// and with --all, only the caller's own jobs are selected; only an operator can select all jobs.
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
  std::string user{};               ///< "" for any; likewise the next two.
  std::string state{};
  std::string name{};
  bool all = false;      ///< Required if there is no other criterion.
  bool now = false;      ///< For cancel: without grace period.
  bool dry_run = false;  ///< Changes nothing.

  bool operator==(const Which&) const = default;
};

/// Fails with `invalid` for unknown criteria, for none, and for contradictory ones.
Result<Which> read_which(std::string_view text);
std::string to_json(const Which& which);

/// A job that was named and stays as it is.
struct RefusedJob {
  std::string job{};  ///< As the request named it.
  Error why{};
  bool is_anothers = false;
};

struct Chosen {
  std::vector<store::JobNumber> numbers{};  ///< Rising.
  std::vector<RefusedJob> refused{};
};

/// A verb's own rule: why it skips a named job; nothing if it does not.
using LeavesAlone = std::function<std::optional<Error>(const store::Job&)>;

/// Returns the pending and running jobs that the caller may change; with `ended_too` also ended
/// jobs that are named. `caller_name` is the system's name of the caller. Fails with `usage` (an
/// invalid id, an unknown state), with `conflict` if all jobs of another user are selected, or like
/// the service. Cost: one lookup per job, however many are named.
Result<Chosen> choose(const service::Service& service, const Which& which,
                      const service::Caller& caller, const std::string& caller_name, bool ended_too,
                      const LeavesAlone& leaves_alone = {});

}  // namespace almanac::serve
