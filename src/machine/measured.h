// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the policy learns from measurements: how busy each job keeps its GPUs with its current
/// allocation, and the memory traffic of the running jobs.
///
/// Memory traffic is that of the last measurement, provided that no job has started, ended or been
/// resized since. It is only known for a single node, because the counters cover the machine.
#pragma once

#include <optional>
#include <vector>

#include "machine/book.h"
#include "machine/vitals.h"
#include "perf/steady_use.h"
#include "policy/contract/contract.h"

namespace almanac::machine {

/// A new training report of a job; NaN if something other than its metric changed.
struct Report {
  store::JobNumber job{};
  double metric = 0;
};

/// Returns a metric as policies compare it: the larger the better.
double for_policy(const store::Submission& asked, double metric);

/// Records the current step time of a job; returns false if it is already known for this
/// allocation.
bool add_pace(Entry& entry);

/// The deciding thread reads it. take() requires the same lock.
class Measured final : public policy::Telemetry {
 public:
  /// `numbers` is indexed by JobId. Both must outlive it.
  Measured(Book& book, const std::vector<store::JobNumber>& numbers,
           const perf::Measuring& measuring, std::size_t nodes);

  /// Takes over a measurement, and returns the reports for the policy.
  std::vector<Report> take(const Sight& sight);
  /// Records that a job has started, ended or been resized.
  void change(Time now) { changed_ = now; }

  std::optional<double> gpu_use(JobId job) const override;
  bool will_know_gpu_use(JobId job) const override;
  std::optional<double> bandwidth_gbs(JobId job) const override;
  std::optional<double> bandwidth_gbs(NodeId node) const override;
  Duration renewed_every() const override { return measuring_.every; }
  /// Returns nothing: the work that a job has done is not measured.
  std::optional<Duration> worked(JobId, Time) const override { return std::nullopt; }
  /// Returns what the job reports, and its total steps (--steps). A job that reports no batch size
  /// is assumed to train with --batch.
  std::optional<policy::Training> training(JobId job, Time now) const override;

 private:
  /// Returns null if the job has ended.
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
