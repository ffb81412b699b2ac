// SPDX-License-Identifier: Apache-2.0

/// \file
/// How jobs that tell of their training truly get on: those whose model is an elastic application,
/// and those with a metric. A policy hears of it only what they have reported.
///
/// Work is run time at the reference: an elastic job's is on the GPUs and with the batch that it
/// asks, on as few nodes as hold them. An epoch's work is as long as the reference takes for it; a
/// job whose run time is not that of its application trains that much longer or shorter. Work that
/// restarts add takes as long on any GPUs, and comes first.
///
/// A job reports how long its steps take 30 s after it began to make them another way; the noise of
/// its gradient at the end of each epoch; and its metric when it has made the steps of a point of
/// it.
///
/// Cost     Nothing where there is no such job. An epoch, a way to make steps and a point of a
///          metric are an event each.
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
  /// `applications` null = there are none; else they outlive it.
  Courses(const cluster::Cluster& cluster, const trace::Trace& trace,
          const elastic::Applications* applications);

  bool empty() const { return courses_.empty(); }
  bool has(JobId job) const { return !courses_.empty() && courses_.contains(job); }
  /// Whether rate() is how fast a job runs, and not its speed model.
  bool paces(JobId job) const {
    const Course* const course = find(job);
    return course != nullptr && course->application != nullptr;
  }
  /// It had done `work_ms` before the simulation began.
  void credit(JobId job, double work_ms);
  struct Way {
    int batch = 0;     ///< 0 = its own.
    double power = 1;  ///< How fast its GPUs compute under their power limits, beside none.
  };
  /// It runs on `held`. Its work, with all that restarts added, is `work_ms`, of which it has done
  /// `done_ms`.
  void hold(JobId job, std::span<const cluster::Grant> held, const Way& way, double work_ms,
            double done_ms);
  /// Of a job that runs, beside the reference.
  double rate(JobId job) const;
  /// What power limits leave of that: exchanges take as long as ever.
  double power(JobId job) const;
  /// It has done so much more.
  void advance(JobId job, double work_ms);
  /// Work after which its rate changes or it reports something; infinite = it will not.
  double until_next(JobId job) const;
  /// It is there. What it reports, for job_reported; nothing = its rate alone changes.
  std::optional<double> pass(JobId job);
  /// What it tells after `ahead_ms` more of work than advance() told.
  std::optional<policy::Training> training(JobId job, double ahead_ms) const;

 private:
  struct Epoch {
    double ends_ms = 0;        // of work
    double ends_progress = 0;  // in steps as it tells them
    double reference = 1;      // goodput at the reference
  };
  struct Point {
    double work_ms = 0;
    double progress = 0;
    double value = 0;
  };
  struct Course {
    const elastic::Application* application = nullptr;  // null = its speed model says its rate
    int batch = 0;                                      // its own
    std::vector<Epoch> epochs;                          // at least one
    std::vector<Point> points;
    // What it has done so far.
    double trained_ms = 0;
    double overhead_ms = 0;  // still to do before it trains on
    std::size_t epoch = 0;
    std::size_t point = 0;
    // How it runs now.
    std::vector<int> ring;
    elastic::Split split{};
    double power = 1;
    double rate = 0;
    double untold_ms = std::numeric_limits<double>::infinity();  // training until it tells of it
    // What it has told.
    std::vector<elastic::Observation> seen;
    std::optional<elastic::Gradient> gradient;
    std::optional<double> metric;
    double metric_at = 0;
  };

  const Course* find(JobId job) const;
  static void add_epochs(Course& course, const trace::Job& job, int gpus_per_node);
  /// Where on its course it reports its metric; the epochs are there.
  static void add_points(Course& course, const trace::Job& job, const Names& names);
  static double goodput(const Course& course, std::span<const int> ring, elastic::Split split,
                        std::size_t epoch, double power = 1);
  static elastic::Gradient gradient(const Course& course, elastic::Split split, int gpus,
                                    std::size_t epoch);
  static elastic::Observation observation(const Course& course);
  static void set_rate(Course& course);
  /// Goes on to the epoch, or past the points of its metric, that its work has reached; false = it
  /// is where it was.
  static bool pass_epochs(Course& course);
  static bool pass_points(Course& course);

  std::unordered_map<JobId, Course> courses_;
};

}  // namespace almanac::sim
