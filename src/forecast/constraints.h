// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which constraint keeps a job waiting: the one, or the two, without which it would start now.
///
/// At the instant at which the job begins to wait, the cluster resumes with one constraint removed,
/// and the same policy decides once more. What starts the job is named; nothing else is.
///
/// Cost     one decision for each running job and for each other constraint; if no single one
///          starts the job, one more for each pair of the queue's order, or the limit of its array,
///          and another, and of two other constraints that are no jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "experiment/experiment.h"
#include "policy/contract/reason.h"

namespace almanac::forecast {

/// Something whose removal may start a job.
struct Constraint {
  enum class Kind : std::uint8_t {
    array,     ///< The limit of its job array.
    order,     ///< The other waiting jobs.
    limits,    ///< The limits of tenants.
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

/// Returns the constraints of `job` in run number `run`. Changes `prepared` in between, and leaves
/// it as it was. Fails if the policy cannot be made.
Result<Constraints> find_constraints(experiment::Prepared& prepared, std::size_t run, JobId job);

/// What find_constraints() removes, in words.
inline constexpr const char* kTried =
    "each running job, the limit of its job array, the queue's order, limits of tenants, virtual "
    "clusters, the GPU type, nodes out of service";

/// Returns, for example, "if job 12 ended (8 GPUs)".
std::string in_words(const Constraint& constraint, const experiment::Prepared& prepared,
                     JobId waiting);

}  // namespace almanac::forecast
