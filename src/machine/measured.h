// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the policy learns from measurements: how busy each job keeps its GPUs with what it holds
/// now, and the memory traffic of the jobs that run now.
///
/// Memory traffic is that of the last look, if no job has started, ended or been resized since. It
/// is known of one node only, because the counters are the machine's.
#pragma once

#include <optional>
#include <vector>

#include "machine/book.h"
#include "machine/vitals.h"
#include "perf/steady_use.h"
#include "policy/contract/contract.h"

namespace almanac::machine {

/// What a job reports anew of its training; NaN = something other than its metric.
struct Report {
  store::JobNumber job{};
  double metric = 0;
};

/// Returns a metric as policies compare it: the larger the better.
double for_policy(const store::Submission& asked, double metric);

/// Keeps how long a job's steps take now; returns false if that is known for what it holds.
bool add_pace(Entry& entry);

/// The deciding thread reads it. take() needs the same lock.
class Measured final : public policy::Telemetry {
 public:
  /// `numbers` by JobId. Both must outlive it.
  Measured(Book& book, const std::vector<store::JobNumber>& numbers,
           const perf::Measuring& measuring, std::size_t nodes);

  /// Takes over what a look has found, and returns what the policy must hear of.
  std::vector<Report> take(const Sight& sight);
  /// Notes that a job has started, ended or been resized.
  void change(Time now) { changed_ = now; }

  std::optional<double> gpu_use(JobId job) const override;
  bool will_know_gpu_use(JobId job) const override;
  std::optional<double> bandwidth_gbs(JobId job) const override;
  std::optional<double> bandwidth_gbs(NodeId node) const override;
  Duration renewed_every() const override { return measuring_.every; }
  /// Nothing: how much work a job has done is not measured.
  std::optional<Duration> worked(JobId, Time) const override { return std::nullopt; }
  /// What the job reports, and how many steps it will make (--steps). A job that reports no batches
  /// is taken to train with --batch alone.
  std::optional<policy::Training> training(JobId job, Time now) const override;

 private:
  /// Null = the job has gone.
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
