// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job as sbatch, salloc or srun submits it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "slurmctld/nodes/request.h"

namespace almanac::slurmctld {

/// Whole seconds of Slurm's clock: a UNIX time, or a length.
using Seconds = std::int64_t;
inline constexpr Seconds kNoSeconds = -1;
/// The run time of jobs without any limit: 365 days.
inline constexpr Seconds kYear = 365 * 86'400;

/// What must have happened to another job (--dependency).
enum class DependencyKind : std::uint8_t {
  after,
  after_any,
  after_ok,
  after_not_ok,
  after_corr,
  singleton
};

struct Dependency {
  DependencyKind kind{};
  std::uint32_t job = 0;  ///< Id of the other job; unused for singleton.
  Seconds delay = 0;      ///< Of after:J+minutes.
};

struct Submission {
  NodeRequest request{};
  std::string name{};
  std::string user{};
  std::string account{};
  std::string qos{};
  std::string reservation{};
  std::vector<std::string> partitions{};  ///< Empty: the default partition.
  Seconds time_limit = kNoSeconds;
  Seconds time_min = kNoSeconds;
  Seconds begin_delay = 0;     ///< Of --begin=now+...
  Seconds begin = kNoSeconds;  ///< Of --begin with a date.
  std::int64_t nice = 0;
  std::optional<std::int64_t> priority{};
  bool held = false;
  bool is_interactive = false;  ///< Of srun or salloc, which Slurm tries to start at once.
  std::optional<bool> requeue{};
  std::vector<Dependency> dependencies{};
  bool any_dependency = false;  ///< Joined by "?": one is enough.
  std::vector<std::pair<std::string, int>> licenses{};
  std::vector<int> tasks{};  ///< Of a job array; empty for a single job.
  int most_tasks = 0;        ///< %n: tasks that may run at once; 0 = all.
};

/// Parses a command line such as "sbatch -N2 -n8 --gres=gpu:a100:4 job.sh": what the options say,
/// and what Slurm derives from them. Directives in the script are unknown. Options that do not
/// matter to the scheduler are ignored, as is --switches. Fails with invalid if a value is
/// malformed or names a node or feature that `table` lacks.
Result<Submission> parse_command_line(std::string_view line, const NodeTable& table);

/// Whether a job says how much memory it needs.
bool gives_memory(const NodeRequest& ask);

/// Fills in defaults of the partition and the cluster for what a job leaves out: memory, CPUs per
/// GPU, the time limit. A job without any default has all memory of its nodes.
void apply_defaults(Submission& submission, const site::Partition& partition,
                    const site::Config& config);

}  // namespace almanac::slurmctld
