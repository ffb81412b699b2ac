// SPDX-License-Identifier: Apache-2.0

/// \file
/// The job record, filled by every log reader and used by all other rooms.
///
/// A job has two halves. The Request is known at submission, and is all that a policy sees; the
/// Outcome is known only after the job has ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"

namespace almanac::trace {

/// A job's id as in its source: a whole number, or a name in the trace's pool.
enum class JobKey : std::uint64_t {};
inline constexpr JobKey kNoJobKey{~std::uint64_t{0}};

enum class JobState : std::uint8_t {
  unknown,
  pending,
  running,
  completed,
  failed,
  cancelled,
  timeout,
  node_fail,
  preempted,
};

/// Returns Slurm's name of the state, such as "COMPLETED" or "NODE_FAIL"; "" for unknown.
std::string_view to_string(JobState state);

/// Parses a state in Slurm's long or short form ("CANCELLED by 1001", "CA"), Philly's or
/// Kubernetes'. "" is unknown; returns nothing for any other word.
std::optional<JobState> parse_state(std::string_view word);

/// Whether the user lets the cluster stop the job and start it again later (Slurm's --requeue and
/// --no-requeue).
enum class Requeue : std::uint8_t { unsaid, yes, no };

/// Returns "yes", "no", or "" for unsaid.
std::string_view to_string(Requeue requeue);

/// Parses "yes" or "no"; returns nothing for any other word.
std::optional<Requeue> parse_requeue(std::string_view word);

/// Data known at submission. Missing values: kNoDuration, kNoTime, kNoName, NaN.
struct Request {
  /// Time of joining the queue: submission, or the time at which the job became eligible, if later.
  Time submit{};
  /// Submission time, if the job became eligible later (dependency, begin time or hold).
  Time submitted = kNoTime;
  Duration time_limit = kNoDuration;  ///< Time limit set by the user.
  Duration predicted = kNoDuration;   ///< Prediction in the trace (`predicted_s`); may be negative.
  Time deadline = kNoTime;            ///< Time by which the job should end; missing = best effort.
  Time worthless_at = kNoTime;  ///< Time at which its value reaches 0, falling from the deadline;
                                ///< missing = at the deadline (trace/value.h).
  NameId name = kNoName;
  NameId comment = kNoName;  ///< Free text of the user.
  NameId user = kNoName;
  NameId vc = kNoName;
  NameId kind = kNoName;
  NameId gpu_type = kNoName;  ///< Required GPU type; missing = any.
  NameId model = kNoName;
  NameId qos = kNoName;
  NameId account = kNoName;
  NameId partition = kNoName;     ///< Slurm's partition, of which `vc` may join several.
  NameId reservation = kNoName;   ///< Advance reservation that it is for.
  NameId constraints = kNoName;   ///< Node features requested, as Slurm writes them: "a100&nvlink".
  NameId submit_line = kNoName;   ///< The command that submitted it, with its options.
  NameId alternatives = kNoName;  ///< Requests that the job also accepts (trace/alternative.h).
  NameId group = kNoName;         ///< Sweep that the job is a trial of; missing = none.
  NameId data_set = kNoName;      ///< Data set read from remote storage; missing = none.
  NameId gpu_profile = kNoName;   ///< MIG instance requested (cluster/slices/board.h), such as
                                  ///< "2g.20gb"; missing = a GPU, or gpu_share of it.
  std::int32_t gpus = 0;          ///< Whole GPUs over all nodes; 0 = a CPU job.
  std::int32_t nodes = 0;         ///< 0 = not given.
  std::int32_t shards = 0;    ///< gres/shard over all nodes, from which `gpus` and `gpu_share` were
                              ///< computed (trace/shares.h); 0 = none.
  std::int32_t mps = 0;       ///< gres/mps, in the same way.
  std::int32_t max_gpus = 0;  ///< Largest number of GPUs for an elastic job; 0 = exactly `gpus`.
  std::int32_t min_gpus = 0;  ///< Smallest number of GPUs; 0 = one, if max_gpus is given.
  std::int32_t batch = 0;     ///< Samples per step, over all GPUs; 0 = unknown.
  std::int64_t steps = 0;     ///< Training steps; 0 = unknown.
  std::int32_t array_limit = 0;  ///< Tasks of its job array that may run at once (Slurm's %N);
                                 ///< 0 = any number.
  std::int32_t plan_gpus = 0;    ///< GPUs of one copy of the model (tensor x pipeline parallel):
                                 ///< sizes are multiples of it; 0 = any size.
  std::int32_t nvlink_gpus = 0;  ///< GPUs that must share one NVLink domain: the job gets groups
                                 ///< of this many; 0 = any GPUs.
  float value;                   ///< Value of ending by the deadline; missing = 1.
  float restart_s;               ///< Work added by a restart; missing = the run's default.
  float checkpoint_s;            ///< Work between two checkpoints; missing = 1 h if the job fails.
  float gpu_share = 1;           ///< Fraction of each GPU requested, in (0, 1].
  float cpus;                    ///< Cores over all nodes.
  float memory_gb;               ///< GB over all nodes.
  float data_gb;                 ///< Size of its data set.
  float gpu_memory_gb;  ///< Memory needed on each GPU, as counted by drivers; missing = unknown.
  JobKey after = kNoJobKey;        ///< Job that must end first.
  std::int32_t priority_tier = 0;  ///< Tier of the job itself, before that of its QOS, tenant or
                                   ///< virtual cluster; 0 = theirs (policy::View::tier).
  Requeue requeue = Requeue::unsaid;

  Request();

  /// Returns the fraction of each GPU that the job gets: one GPU can be shared, several are whole.
  double gpu_part() const { return gpus == 1 ? double{gpu_share} : 1; }
};

/// Value of Outcome::reference_profile for a whole board.
inline constexpr std::string_view kWholeBoard = "gpu";

/// Data known once the job has ended.
struct Outcome {
  Duration run{};               ///< Run time at the reference speed; >= 0.
  Duration span = kNoDuration;  ///< First start to last end, including retries and the time between
                                ///< them, if the log distinguishes it from the run time.
  Time start = kNoTime;         ///< Start recorded by the cluster of the trace.
  Time end = kNoTime;
  std::int32_t attempts = 0;  ///< 0 = not given.
  JobState state = JobState::unknown;
  /// Resources with which `run` was recorded, over all nodes; missing = as requested, infinity = as
  /// much as the job can use.
  float reference_cpus;
  float reference_memory_gb;
  float bandwidth_gbs;  ///< GB/s of memory traffic at full speed, over all nodes; missing = none.
  float step_s;         ///< Length of one training step at the reference.
  float network_s;      ///< Time per step spent sending between nodes; missing = none.
  float network_gbps;   ///< Gb/s on each link during that time; missing = as much as the link
                        ///< carries.
  float read_gbs;       ///< GB/s read from its data set at full speed; missing = none.
  std::int64_t priority = 0;   ///< Slurm's priority when it started; 0 = unknown, or held.
  NameId flags = kNoName;      ///< Which scheduler started it: "SchedMain", "SchedBackfill", ...
  NameId reason = kNoName;     ///< The last reason for waiting, but for Priority and Resources.
  NameId node_list = kNoName;  ///< Nodes that it ran on, in Slurm's form "g[01-04,7],x1"
                               ///< (text/host_list.h); missing = unknown.
  NameId metric = kNoName;     ///< Metric that it would report during training (trace/metric.h).
  NameId reference_profile = kNoName;  ///< MIG instance on which `run` was recorded: a profile, or
                                       ///< "gpu" for a whole board; missing = as requested.

  Outcome();
};

struct Job {
  JobKey id{};
  Request request;
  Outcome outcome;
};

}  // namespace almanac::trace
