// SPDX-License-Identifier: Apache-2.0

/// \file
/// The job record that every reader fills and every other room reads.
///
/// A job has two halves: the Request is what is known when it is submitted and is all that a
/// policy ever sees; the Outcome is what only the future tells.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"

namespace almanac::trace {

/// A job's id as its source spells it: a whole number, or else a name of the trace's pool.
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

/// Spelled as Slurm does: "COMPLETED", "NODE_FAIL"; "" for unknown.
std::string_view to_string(JobState state);

/// The state that a word of a log means: Slurm's long and short words ("CANCELLED by 1001", "CA"),
/// Philly's, Kubernetes'. "" is unknown; nothing for a word that is none.
std::optional<JobState> parse_state(std::string_view word);

/// What is known at submission. Missing: kNoDuration, kNoTime, kNoName, NaN.
struct Request {
  /// When it joined the queue: its submission, or when it was eligible to start, if that came
  /// later.
  Time submit{};
  /// When it was submitted, where it was not eligible yet (dependency, begin time or hold).
  Time submitted = kNoTime;
  Duration time_limit = kNoDuration;  ///< What the user asked for.
  Duration predicted = kNoDuration;  ///< A prediction that came with the trace (`predicted_s`); may
                                     ///< be negative.
  Time deadline = kNoTime;           ///< When it is to have ended; missing = best effort.
  Time worthless_at = kNoTime;  ///< Its value falls to 0 from the deadline to here; missing = at
                                ///< the deadline (trace/value.h).
  NameId name = kNoName;
  NameId comment = kNoName;  ///< Free text of its user.
  NameId user = kNoName;
  NameId vc = kNoName;
  NameId kind = kNoName;
  NameId gpu_type = kNoName;  ///< Any type will do when not given.
  NameId model = kNoName;
  NameId qos = kNoName;
  NameId alternatives = kNoName;  ///< What it would take instead (trace/alternative.h).
  NameId group = kNoName;         ///< Of the jobs that are trials of one sweep; missing = of none.
  NameId data_set = kNoName;      ///< What it reads from remote storage; missing = nothing.
  NameId gpu_profile = kNoName;   ///< Instance of a GPU that is asked for (cluster/slices/board.h),
                                  ///< "2g.20gb"; missing = a GPU, or gpu_share of it.
  std::int32_t gpus = 0;          ///< Whole GPUs over all nodes; 0 = a CPU job.
  std::int32_t nodes = 0;         ///< 0 = not given.
  std::int32_t shards = 0;        ///< Of gres/shard, over all nodes, which `gpus` and `gpu_share`
                                  ///< stand for (trace/shares.h); 0 = none.
  std::int32_t mps = 0;           ///< Of gres/mps, likewise.
  std::int32_t max_gpus = 0;      ///< It may run on any number up to this; 0 = on `gpus` only.
  std::int32_t min_gpus = 0;  ///< And on no fewer than this; 0 = on one, where max_gpus is told.
  std::int32_t batch = 0;     ///< Samples of one step, all GPUs together; 0 = not told.
  std::int64_t steps = 0;     ///< 0 = not told.
  float value;                ///< Of having ended in time; missing = 1.
  float restart_s;            ///< Work that a restart adds; missing = as the run says.
  float checkpoint_s;         ///< Work between two checkpoints; missing = 1 h where the job fails.
  float gpu_share = 1;        ///< Part of each GPU that is asked for, in (0, 1].
  float cpus;                 ///< Cores over all nodes.
  float memory_gb;            ///< GB over all nodes.
  float data_gb;              ///< Size of its data set.
  float gpu_memory_gb;        ///< Of each GPU, as drivers count; missing = not told.
  JobKey after = kNoJobKey;   ///< Starts only when that job has ended.

  Request();

  /// Of each of its GPUs the part that it holds: that of one GPU may be asked, several are whole.
  double gpu_part() const { return gpus == 1 ? double{gpu_share} : 1; }
};

/// Of Outcome::reference_profile.
inline constexpr std::string_view kWholeBoard = "gpu";

/// What is known when the job has ended.
struct Outcome {
  Duration run{};               ///< Run time at the reference speed; >= 0.
  Duration span = kNoDuration;  ///< First start to last end, retries and what lies between them
                                ///< included, where the log tells that from the run time.
  Time start = kNoTime;         ///< As recorded by the cluster that the trace is from.
  Time end = kNoTime;
  std::int32_t attempts = 0;  ///< 0 = not given.
  JobState state = JobState::unknown;
  /// What `run` was recorded with, over all nodes; missing = what was asked for, infinity = as much
  /// as the job can use.
  float reference_cpus;
  float reference_memory_gb;
  float bandwidth_gbs;  ///< GB/s of memory traffic at full speed, over all nodes; missing = none.
  float step_s;         ///< Length of one training step at the reference.
  float network_s;      ///< Of a step the time in which it sends between nodes; missing = none.
  float network_gbps;   ///< Gb/s over each link meanwhile; missing = as much as the link carries.
  float read_gbs;       ///< GB/s of its data set that it reads at full speed; missing = none.
  NameId node_list = kNoName;  ///< The nodes that it ran on, "g[01-04,7],x1" as Slurm writes
                               ///< them (text/host_list.h); missing = not told.
  NameId metric = kNoName;     ///< What it would report as it trains (trace/metric.h).
  NameId reference_profile = kNoName;  ///< What instance `run` was recorded on: a profile, or "gpu"
                                       ///< for all of a board; missing = what was asked for.

  Outcome();
};

struct Job {
  JobKey id{};
  Request request;
  Outcome outcome;
};

}  // namespace almanac::trace
