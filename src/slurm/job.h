// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job as a Slurm controller tells of it, whichever way it was asked.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "trace/job.h"

namespace almanac::slurm {

/// Slurm counts memory in MiB.
constexpr double kMibPerGb = 1024;

/// Slurm's own number. A task of an array has one of its own as soon as it differs from the others.
enum class JobNumber : std::uint32_t {};
/// So fmt shows it.
constexpr std::uint32_t format_as(JobNumber number) { return static_cast<std::uint32_t>(number); }

/// What a job holds of one node.
struct Held {
  std::string node{};
  std::uint64_t gpus = 0;  ///< A bit for each GPU; 0 where only a count is told.
  int gpu_count = 0;
  int shards = 0;  ///< Of gres/shard.
  int mps = 0;     ///< Of gres/mps.
  double cpus = 0;
  double memory_gb = 0;

  bool operator==(const Held&) const = default;
};

enum class State : std::uint8_t {
  pending,
  configuring,  ///< Has its nodes, which boot.
  running,
  suspended,
  completing,  ///< Has ended; its nodes are being cleaned.
  ended
};

/// Missing: "", 0, kNoTime, kNoDuration, nothing.
struct Job {
  JobNumber number{};
  JobNumber array{};    ///< Of the array that it is of; 0 = none.
  std::string tasks{};  ///< Of the record that stands for the tasks that wait: "3-9%2".
  std::optional<std::int32_t> task{};  ///< Of one task.
  JobNumber het{};                     ///< Of the heterogeneous job that it is a part of; 0 = none.
  // Whose.
  std::string name{};
  std::string user{};
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string account{};
  std::string partition{};  ///< "a,b" = whichever of them is first.
  std::string qos{};
  std::string reservation{};
  std::string licences{};  ///< "matlab:2"
  std::string dependency{};
  std::string comment{};  ///< The administrator's.
  std::string out{};      ///< The file that a batch job writes to; "" = none is told.
  std::string err{};      ///< The same of its errors; "" = to `out`.
  // How it stands.
  State state = State::pending;
  trace::JobState outcome = trace::JobState::unknown;  ///< Of one that has ended.
  std::string reason{};  ///< Slurm's word for why it waits: "Resources", "JobHeldUser".
  bool held = false;     ///< By its user or an administrator: its priority is 0.
  bool requeueable = false;
  int restarts = 0;
  std::uint32_t priority = 0;
  /// An administrator has set its priority: Slurm works it out no more, and forgets it when the job
  /// is held. False also where that is not told.
  bool own_priority = false;
  std::int64_t site_factor = 0;
  Time submit{};
  Time eligible = kNoTime;
  Time start = kNoTime;  ///< Of the present run; of one that waits, what Slurm expects.
  Time end = kNoTime;
  Duration ran = kNoDuration;    ///< Of one that has ended: without the time it was suspended.
  Duration limit = kNoDuration;  ///< Missing = none.
  // What it asks.
  int nodes = 0;
  int gpus = 0;           ///< On all nodes together.
  int gpus_per_node = 0;  ///< 0 = any number.
  std::string gpu_type{};
  int shards = 0;
  int mps = 0;
  std::optional<double> cpus{};
  std::optional<double> memory_gb{};
  std::string features{};
  std::string required_nodes{};  ///< A list: "g[001-004]".
  std::string excluded_nodes{};
  bool exclusive = false;  ///< Wants whole nodes.
  // What it has.
  std::vector<Held> holds{};

  bool operator==(const Job&) const = default;
};

}  // namespace almanac::slurm
