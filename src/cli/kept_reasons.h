// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why a job of a run waited, as the run keeps it: neither the job log nor a second simulation is
/// needed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "base/time.h"
#include "policy/contract/reason.h"
#include "sim/summary.h"

namespace almanac::cli {

/// A stretch of waiting.
struct KeptWait {
  Time from = kNoTime;
  Time until = kNoTime;  ///< kNoTime = it can never start.
  policy::Reason reason{};
  std::string other{};  ///< Id of the job that it waited behind or for.
};

/// A job under a policy, from jobs.csv and waits.csv.zst.
struct KeptJob {
  std::string id{};
  std::string policy{};
  int gpus = 0;
  Time submit = kNoTime;
  Time start = kNoTime;
  Time end = kNoTime;
  Duration waited{0};
  Duration ran{0};   ///< Time on GPUs.
  Duration work{0};  ///< Its run time, as the log has it.
  int preemptions = 0;
  std::vector<KeptWait> waits{};
  std::string vc{};
  std::string user{};
  std::string tenant{};  ///< "tenant vision was 14 % over its due"; "" = it is of none.
};

/// How the tenant of a job fared: the one that its virtual cluster names, else its user.
std::string tenant_of(const KeptJob& job, const sim::Summary& summary);

/// Fails with usage where the run has no such job, and with not_found where it keeps no reasons.
/// Cost: the two files are read once.
Result<KeptJob> read_kept(const std::string& run, const std::string& policy,
                          const std::string& job);

void print_kept(const KeptJob& job);
nlohmann::ordered_json to_json(const KeptJob& job);

/// "01:00:00 for jobs ahead in the queue, 00:30:00 for GPUs that others held", the longest first.
std::string in_all(const std::map<policy::ReasonKind, Duration>& totals);

/// Prints that a job held its GPUs for longer than its log says, if it did: a job that fails and
/// starts again at once never waits.
void print_longer_run(Duration ran, Duration work);

}  // namespace almanac::cli
