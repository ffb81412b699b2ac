// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the policy is told of what was measured: of each job how busy it keeps its GPUs with what
/// it holds now, and what goes through the memory with what is running now.
///
/// Memory traffic is that of the last look, if no job has started, ended or been resized since it
/// began; of one node only, for the counters are the machine's.
#pragma once

#include <optional>
#include <vector>

#include "machine/book.h"
#include "machine/vitals.h"
#include "perf/steady_use.h"
#include "policy/contract/contract.h"

namespace almanac::machine {

/// Something new that a job says of its training; NaN = not its metric.
struct Report {
  store::JobNumber job{};
  double metric = 0;
};

/// A metric as policies compare it: the larger the better.
double for_policy(const store::Submission& asked, double metric);

/// Keeps how long a job says that its steps take now; false = that is known for what it holds.
bool add_pace(Entry& entry);

/// Belongs to the thread that decides; it and `take` want the same lock.
class Measured final : public policy::Telemetry {
 public:
  /// `numbers` by JobId. Both outlive it.
  Measured(Book& book, const std::vector<store::JobNumber>& numbers,
           const perf::Measuring& measuring, std::size_t nodes);

  /// Gives what the policy is to hear of.
  std::vector<Report> take(const Sight& sight);
  /// A job has started, ended or been resized.
  void change(Time now) { changed_ = now; }

  std::optional<double> gpu_use(JobId job) const override;
  bool will_know_gpu_use(JobId job) const override;
  std::optional<double> bandwidth_gbs(JobId job) const override;
  std::optional<double> bandwidth_gbs(NodeId node) const override;
  Duration renewed_every() const override { return measuring_.every; }
  /// Nothing measures how much a job gets done.
  std::optional<Duration> worked(JobId, Time) const override { return std::nullopt; }
  /// What the job says, and how many steps it is to make (--steps). What it says of no batches is
  /// taken to train with --batch alone.
  std::optional<policy::Training> training(JobId job, Time now) const override;

 private:
  /// Null = one that has gone.
  const Entry* entry_of(JobId job) const;
  std::optional<double> fresh(const std::optional<perf::Stretch>& told) const;

  Book& book_;
  const std::vector<store::JobNumber>& numbers_;
  perf::Measuring measuring_;
  bool is_one_node_;
  bool all_gpus_tell_ = false;
  std::optional<perf::Stretch> bandwidth_gbs_;
  Time changed_{};
};

}  // namespace almanac::machine
