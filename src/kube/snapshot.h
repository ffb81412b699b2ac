// SPDX-License-Identifier: Apache-2.0

/// \file
/// A picture as files that the other commands read: `queues.json` for --queues, `jobs.csv` as a job
/// log and `cluster.toml` for --cluster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/picture.h"
#include "trace/trace.h"

namespace almanac::kube {

/// Returns a job for each workload that has a queue: its ClusterQueue is the virtual cluster, its
/// "namespace/LocalQueue" the account, the uid the comment, the user as Workload::user, or else the
/// namespace. Pending and running ones are in these states; the latter have run so far. Notes of
/// the trace say what is left out (no queue, more than kMostGpus), what is cut to a bound, and how
/// many are running.
trace::Trace log_of(const Picture& picture);

/// GPUs of a job that every simulation can take; no cluster under Kueue has as many.
inline constexpr std::int64_t kMostGpus = 65'535;

/// Adds a workload to a log. `end` is when its run ended, or now.
void add_job(trace::Trace& log, const Workload& workload, const std::string& cluster_queue,
             const std::string& gpu_type, Time end);

/// Returns a description of the nodes with GPUs that are ready: one virtual cluster that takes
/// every job. The GPU type of a node is the first flavor whose labels it has, or else its product.
/// "" if there are none.
std::string cluster_toml(const Picture& picture);

struct Snapshot {
  std::vector<std::string> files{};  ///< Their names.
  std::vector<std::string> notes{};  ///< Those of log_of().
};

/// Writes the files to `folder`. Fails with `unavailable`.
Result<Snapshot> write_snapshot(const Picture& picture, const std::string& folder);

}  // namespace almanac::kube
