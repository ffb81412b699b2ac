// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why a job of a run waited, read from the run's folder: neither the job log nor a second
/// simulation is needed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "experiment/summary.h"
#include "policy/contract/reason.h"

namespace almanac::experiment {

/// A stretch of waiting.
struct KeptWait {
  Time from = kNoTime;
  Time until = kNoTime;  ///< kNoTime if it can never start.
  policy::Reason reason{};
  std::string other{};  ///< Id of the job that it waited behind or for.
};

/// A failure that stopped a job.
struct KeptFailure {
  Time at = kNoTime;
  std::string cause{};
  std::string node{};  ///< "" if the job failed by itself.
  int gpus = 0;
  Duration lost{0};        ///< Work that the job repeats.
  Duration restart{0};     ///< Time until training continues, once it has its GPUs.
  Time resumed = kNoTime;  ///< When it had GPUs again; kNoTime if it never did.
};

/// A job under a policy, from failures.csv, jobs.csv and waits.csv.zst.
struct KeptJob {
  std::string id{};
  std::string policy{};
  int gpus = 0;
  Time submit = kNoTime;
  Time start = kNoTime;
  Time end = kNoTime;
  Duration waited{0};
  Duration ran{0};   ///< Time on GPUs.
  Duration work{0};  ///< Its run time in the log.
  int preemptions = 0;
  bool was_pending = false;  ///< When the log was taken; `end` is when it would have started.
  std::vector<KeptWait> waits{};
  std::vector<KeptFailure> failures{};
  std::string vc{};
  std::string user{};
  /// "tenant vision got 14 % more than its fair share"; "" without a tenant.
  std::string tenant{};
};

/// How the tenant of a job fared: the one that its virtual cluster names, else its user.
std::string tenant_of(const KeptJob& job, const experiment::Summary& summary);

/// Fails with `usage` if the run has no such job, and with `not_found` if it has no reasons. Cost:
/// reads two files once.
Result<KeptJob> read_kept(const std::string& run, const std::string& policy,
                          const std::string& job);

}  // namespace almanac::experiment
