// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job as a workload manager reports it, over any connection.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "trace/job.h"

namespace almanac::manager {

/// The manager's own number. A task of an array has one of its own as soon as it differs from the
/// others.
enum class JobNumber : std::uint32_t {};
/// So fmt shows it.
constexpr std::uint32_t format_as(JobNumber number) { return static_cast<std::uint32_t>(number); }

/// What a job holds on one node.
struct Held {
  std::string node{};
  std::uint64_t gpus = 0;  ///< One bit per GPU; 0 if only a count is known.
  int gpu_count = 0;
  int shards = 0;  ///< gres/shard.
  int mps = 0;     ///< gres/mps.
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
  JobNumber array{};                   ///< Array that it belongs to; 0 for none.
  std::string tasks{};                 ///< For the record of pending tasks: "3-9%2".
  std::optional<std::int32_t> task{};  ///< For one task.
  /// Heterogeneous job that it is part of; 0 for none.
  JobNumber het{};
  // Identity:
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
  std::string out{};      ///< Output file of a batch job; "" if unknown.
  std::string err{};      ///< File for errors; "" to join `out`.
  // How it stands.
  State state = State::pending;
  trace::JobState outcome = trace::JobState::unknown;  ///< If it has ended.
  std::string reason{};  ///< The manager's word for why it waits: "Resources", "JobHeldUser".
  bool held = false;     ///< By its user or an administrator: its priority is 0.
  bool requeueable = false;
  int restarts = 0;
  std::uint32_t priority = 0;
  /// Whether an administrator has set its priority. The manager then no longer computes it, and
  /// forgets it when the job is held. False also if unknown.
  bool own_priority = false;
  std::int64_t site_factor = 0;
  Time submit{};
  Time eligible = kNoTime;
  /// Of the current run; for a pending job, the manager's estimate.
  Time start = kNoTime;
  Time end = kNoTime;
  Duration ran = kNoDuration;    ///< If it has ended: run time without suspension.
  Duration limit = kNoDuration;  ///< Missing: no limit.
  // Request:
  int nodes = 0;
  int gpus = 0;           ///< On all nodes together.
  int gpus_per_node = 0;  ///< 0 for any number.
  std::string gpu_type{};
  int shards = 0;
  int mps = 0;
  std::optional<double> cpus{};
  std::optional<double> memory_gb{};
  std::string features{};
  std::string required_nodes{};  ///< A list: "g[001-004]".
  std::string excluded_nodes{};
  bool exclusive = false;  ///< Wants whole nodes.
  // Allocation:
  std::vector<Held> holds{};

  bool operator==(const Job&) const = default;
};

}  // namespace almanac::manager
