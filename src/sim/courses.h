// SPDX-License-Identifier: Apache-2.0

/// \file
/// The true progress of jobs that report on their training: elastic applications, and jobs with a
/// metric. A policy learns only what the jobs have reported.
///
/// Work is run time at the reference: for an elastic job, the GPUs and batch size that it
/// requested, on as few nodes as possible. The work of an epoch is the time the reference takes for
/// it. If a job's run time differs from that of its application, its epochs are scaled to match.
/// Work that restarts add takes equally long on any GPUs, and is done first.
///
/// A job reports its step time 30 s after it changes its GPUs or batch size, its gradient noise at
/// the end of each epoch, and its metric when it has done the steps of that point.
///
/// Cost     Nothing without such jobs. Otherwise one event per epoch, per change of GPUs or batch
///          size, and per metric point.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "policy/contract/contract.h"
#include "rules/elastic/application_file.h"
#include "rules/elastic/split.h"
#include "rules/elastic/step_fit.h"
#include "trace/trace.h"

namespace almanac::sim {

class Courses {
 public:
  /// `applications` may be null if there are none; otherwise they must outlive it.
  Courses(const cluster::Cluster& cluster, const trace::Trace& trace,
          const elastic::Applications* applications);

  bool empty() const { return courses_.empty(); }
  bool has(JobId job) const { return !courses_.empty() && courses_.contains(job); }
  /// Whether rate() determines the speed of the job, instead of its speed model.
  bool paces(JobId job) const {
    const Course* const course = find(job);
    return course != nullptr && course->application != nullptr;
  }
  /// The job had done `work_ms` before the simulation began.
  void credit(JobId job, double work_ms);
  struct Way {
    int batch = 0;     ///< 0 for its own.
    double power = 1;  ///< Speed of its GPUs under their power limits, relative to no limits.
  };
  /// The job now runs on `held`. Its work including restarts is `work_ms`, of which `done_ms` are
  /// done.
  void hold(JobId job, std::span<const cluster::Grant> held, const Way& way, double work_ms,
            double done_ms);
  /// Returns the speed of a running job, relative to the reference.
  double rate(JobId job) const;
  /// Returns the speed under power limits, relative to rate(): communication takes as long as
  /// before.
  double power(JobId job) const;
  /// Adds `work_ms` of progress.
  void advance(JobId job, double work_ms);
  /// Returns the work until its rate changes or it reports something; infinite if neither will
  /// happen.
  double until_next(JobId job) const;
  /// Handles that point. Returns the value for job_reported, or nothing if only the rate changes.
  std::optional<double> pass(JobId job);
  /// Returns its training report once it has done `ahead_ms` more work than advance() recorded.
  std::optional<policy::Training> training(JobId job, double ahead_ms) const;

 private:
  struct Epoch {
    double ends_ms = 0;        // of work
    double ends_progress = 0;  // in steps as the job reports them
    double reference = 1;      // goodput at the reference
  };
  struct Point {
    double work_ms = 0;
    double progress = 0;
    double value = 0;
  };
  struct Course {
    const elastic::Application* application = nullptr;  // null if its speed model gives the rate
    int batch = 0;                                      // its own
    std::vector<Epoch> epochs;                          // at least one
    std::vector<Point> points;
    // What it has done so far.
    double trained_ms = 0;
    double overhead_ms = 0;  // to do before training continues
    std::size_t epoch = 0;
    std::size_t point = 0;
    // How it runs now.
    std::vector<int> ring;
    elastic::Split split{};
    double power = 1;
    double rate = 0;
    double untold_ms = std::numeric_limits<double>::infinity();  // training until its next report
    // What it has reported.
    std::vector<elastic::Observation> seen;
    std::optional<elastic::Gradient> gradient;
    std::optional<double> metric;
    double metric_at = 0;
  };

  const Course* find(JobId job) const;
  static void add_epochs(Course& course, const trace::Job& job, int gpus_per_node);
  /// Adds the points at which the job reports its metric; requires the epochs.
  static void add_points(Course& course, const trace::Job& job, const Names& names);
  static double goodput(const Course& course, std::span<const int> ring, elastic::Split split,
                        std::size_t epoch, double power = 1);
  static elastic::Gradient gradient(const Course& course, elastic::Split split, int gpus,
                                    std::size_t epoch);
  static elastic::Observation observation(const Course& course);
  static void set_rate(Course& course);
  /// Advances to the epoch, or past the metric points, that its work has reached. Returns false if
  /// nothing changed.
  static bool pass_epochs(Course& course);
  static bool pass_points(Course& course);

  std::unordered_map<JobId, Course> courses_;
};

}  // namespace almanac::sim
