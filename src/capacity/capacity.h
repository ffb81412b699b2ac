// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many nodes reach a goal: simulates a log on clusters of many sizes, under each policy.
///
/// Without --by partition, all nodes grow by one factor. With it, each virtual cluster has its own
/// size: one simulation tests a size of each, because jobs run in their own virtual cluster only.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "capacity/goal.h"
#include "capacity/prices.h"
#include "capacity/subject.h"
#include "experiment/recorded_waits.h"

namespace almanac::capacity {

/// Logs shorter than this have no warm-up by default.
inline constexpr Duration kShortLog = 24h * 7;
/// Logs shorter than this say little about other weeks.
inline constexpr Duration kFewDays = 24h * 14;

struct Question {
  Goal goal{};
  bool by_partition = false;
  std::vector<Price> prices{};
  /// Time after the first arrival whose jobs do not count; nothing for a tenth of the log, or none
  /// of a short log.
  std::optional<Duration> warm_up{};
  int threads = 0;  ///< 0 for all cores.
  const std::atomic<bool>* stop = nullptr;
};

/// A simulated size.
struct Point {
  int nodes = 0;
  double value = 0;  ///< The goal's statistic. A job that never ends counts as infinity.
};

/// Nodes of one class.
struct NodesOfType {
  std::string type{};  ///< "8 x V100".
  int today = 0;
  int needed = 0;
};

/// What one partition (or the cluster) needs in one case under one policy.
struct Answer {
  std::string partition{};  ///< "all" without --by partition.
  std::string scenario{};   ///< Case::name.
  std::string policy{};
  int nodes_today = 0;
  double value_today = 0;        ///< The statistic with today's nodes, less those lost.
  std::int64_t never_today = 0;  ///< Jobs that never end with those nodes.
  std::optional<int> nodes{};    ///< Smallest number that reaches the goal, including those lost;
                                 ///< nothing if kMostTimes today's do not.
  std::vector<NodesOfType> types{};  ///< Empty if nothing reaches the goal.
  int gpus = 0;                      ///< Of those nodes.
  double month_cost = 0;             ///< Of those GPUs; NaN without prices or an answer.
  std::vector<Point> curve{};        ///< By number of nodes.
};

/// How the simulation with today's nodes compares with the log, over the jobs that end in both.
struct Match {
  /// The first of the policies that reads the settings of today's Slurm site, else the first.
  std::string policy{};
  std::int64_t jobs = 0;
  std::int64_t waited = 0;  ///< Number that waited longer than 10 min, as recorded or simulated.
  double share = 0;         ///< Fraction of jobs that start within 10 min of their recorded start.
  experiment::WaitFigures recorded{};
  experiment::WaitFigures simulated{};

  bool is_close() const { return experiment::reproduces(recorded, simulated); }
};

struct Plan {
  Goal goal{};
  std::int64_t jobs = 0;  ///< Jobs counted.
  double days = 0;        ///< Length of the log.
  Duration warm_up{0};
  bool is_inferred = false;
  int nodes = 0;
  int gpus = 0;
  std::optional<Match> match{};  ///< Nothing if fewer than 95 % of the jobs have a recorded start.
  std::vector<std::string> policies{};
  std::vector<Answer> answers{};  ///< By partition, case and policy.
  std::uint64_t simulations = 0;
  std::vector<std::string> findings{};     ///< The answer in sentences.
  std::vector<std::string> cautions{};     ///< Why the figures may not hold; clauses.
  std::vector<std::string> assumptions{};  ///< Clauses.
};

/// Does not depend on the number of threads. Fails with `invalid` if no job counts, with usage for
/// missing prices, and with `unavailable` when stopped.
Result<Plan> plan(const Subject& subject, const Question& question);

}  // namespace almanac::capacity
