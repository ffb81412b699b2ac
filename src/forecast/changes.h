// SPDX-License-Identifier: Apache-2.0

/// \file
/// What if something were different now? Forecasts of all jobs before and after a change: a job
/// cancelled, nodes added, another policy. Both are made from the same draws, so that they differ
/// by the change and not by chance.
///
/// Cost     twice that of play_queue().
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "forecast/futures.h"

namespace almanac::forecast {

struct Change {
  enum class Kind : std::uint8_t { cancel, add_nodes, policy };
  Kind kind{};
  std::string job{};  ///< Of Kind::cancel, as users name it: a job, or an array for all its tasks.
  int nodes = 0;      ///< Of Kind::add_nodes: how many, like the last one of the virtual cluster.
  std::string vc{};   ///< Likewise; "" for the only one.
  std::string policy{};  ///< Of Kind::policy.

  bool operator==(const Change&) const = default;
};

/// Reads "cancel 17", "add 2 nodes", "add 2 nodes to research" or "policy easy". Fails with usage.
Result<Change> parse_change(const std::string& text);
/// The text that parse_change() reads.
std::string to_string(const Change& change);

/// Whether `asked` names the job with this id: the job itself, or the array of which it is a task.
bool names(std::string_view asked, std::string_view id);

/// How the caller names jobs and policies.
struct Known {
  /// Returns the jobs that names() finds.
  std::function<std::vector<JobId>(const std::string&)> jobs;
  /// Fails as Registry::compose() does.
  std::function<Result<policy::Composition>(const std::string&)> policy;
  /// Returns what that policy believes of each job of the present. Null if it believes the same.
  std::function<std::unordered_map<JobId, predict::Belief>(const policy::Composition&)> own{};
};

/// A job before and after the changes. All times have 90 % confidence; kNever if it does not start
/// or end.
struct Shift {
  JobId job{};
  bool runs = false;
  bool cancelled = false;  ///< By the changes: `after` has no times.
  struct Times {
    Time start_by = kNoTime;  ///< kNoTime of a running job, and after it is cancelled.
    Time end_by = kNoTime;
  };
  Times before{};
  Times after{};
};

/// Returns a shift for each job of `present`: waiting ones in the order of the queue, then running
/// ones, then tasks that wait for room in their arrays. `beliefs` are changed in between, and are
/// left as they were. Empty if Options::stop of the setting has become true. Fails with usage or
/// not_found for a change that cannot be made, or for more than 1,000 nodes plus 4 for each node of
/// the cluster, and with unsupported for nodes that a setting with speeds, incidents or a site
/// cannot have.
Result<std::vector<Shift>> compare(const Setting& setting, const sim::Present& present,
                                   Beliefs& beliefs, std::span<const Change> changes,
                                   const Known& known, int futures, std::uint64_t seed);

}  // namespace almanac::forecast
