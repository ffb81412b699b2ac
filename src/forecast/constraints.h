// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which constraint keeps a job waiting: the one, or the two, without which it would start now.
///
/// At an instant at which the job waits, the cluster resumes with one constraint removed, and the
/// same policy decides once more. What starts the job is named; nothing else is.
///
/// Cost     one decision for each running job and for each other constraint; if no single one
///          starts the job, one more for each pair of the queue's order, or the limit of its array,
///          and another, and of two other constraints that are no jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "experiment/experiment.h"
#include "policy/contract/reason.h"
#include "sim/present.h"

namespace almanac::forecast {

/// Something whose removal may start a job.
struct Constraint {
  enum class Kind : std::uint8_t {
    array,     ///< The limit of its job array.
    order,     ///< The other waiting jobs.
    limits,    ///< The limits of tenants.
    quotas,    ///< The quotas that jobs claim.
    closures,  ///< Announced maintenance.
    vc,        ///< The virtual cluster that the job names.
    gpu_type,  ///< The GPU type that it requires.
    nodes,     ///< Nodes that are out of service.
    job        ///< A running job.
  };
  Kind kind{};
  JobId job = kNoJob;  ///< Of Kind::job.

  bool operator==(const Constraint&) const = default;
};

/// Why a job waited when it began to wait.
struct Constraints {
  Time at = kNoTime;  ///< When that was; kNoTime if it never waited, and the rest is empty.
  /// Why the job can never start, if so.
  std::optional<policy::Reason> never = std::nullopt;
  bool starts_now = false;  ///< The policy starts it at that instant when it decides again.
  std::vector<Constraint> singles{};  ///< Each starts the job.
  /// Pairs that start the job, if no single one does.
  std::vector<std::pair<Constraint, Constraint>> pairs{};
};

/// What decides at an instant.
struct Decision {
  const sim::Present& present;
  const cluster::Cluster& cluster;
  bool with_quotas = true;
  bool with_closures = true;
};

/// An instant at which a job waits.
struct Instant {
  trace::Trace& trace;  ///< Changed in between, and left as it was.
  const cluster::Cluster& cluster;
  const sim::Present& present;
  bool has_quotas = false;
  bool has_closures = false;
  /// Returns whether the policy starts the job if it decides on this.
  std::function<Result<bool>(const Decision&)> starts{};
};

/// Returns the constraints of `job`, which waits in `now`, in the queue or for room in its array.
/// Fails as `now.starts` does.
Result<Constraints> find_constraints(const Instant& now, JobId job);

/// Returns the constraints of `job` in run number `run`, when it began to wait. Changes `prepared`
/// in between, and leaves it as it was. Fails if the policy cannot be made.
Result<Constraints> find_constraints(experiment::Prepared& prepared, std::size_t run, JobId job);

/// What find_constraints() removes in a run, in words.
inline constexpr const char* kTried =
    "each running job, the limit of its job array, the queue's order, limits of tenants, virtual "
    "clusters, the GPU type, nodes out of service";

/// Returns, for example, "if job 12 ended (8 GPUs)"; `name_of` names that job.
std::string in_words(const Constraint& constraint, const trace::Trace& trace, JobId waiting,
                     const std::function<std::string(JobId)>& name_of);

/// Returns each single change, or each pair, in words.
std::vector<std::vector<std::string>> in_words(const Constraints& found, const trace::Trace& trace,
                                               JobId waiting,
                                               const std::function<std::string(JobId)>& name_of);

}  // namespace almanac::forecast
