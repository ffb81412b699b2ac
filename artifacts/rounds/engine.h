// SPDX-License-Identifier: Apache-2.0

/// \file
/// The event loop of Muri's simulator: jobs that arrive, run at the speed that a scheduler says,
/// and are all planned anew at each event. It repeats what the published program does, faults
/// included: the cost of a restart is charged at each event to each job that runs, and never on its
/// last leg.
///
/// Source   the simulator published with Zhao et al., SIGCOMM'22 (Muri).
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/interleave/stages.h"

namespace almanac::rounds {

using interleave::Stages;

/// A job as its log has it; times in seconds.
struct Job {
  int gpus = 1;
  double submit = 0;
  double iterations = 0;
  double iteration_s = 0;  ///< Alone.
  double duration_s = 0;   ///< As the log says, before anything has run.
  double overhead_s = 0;   ///< Lost at each event while it runs.
  Stages stages{};
  bool opportunistic = false;
};

/// Seconds that a restart of a model on so many GPUs takes, as measured; 10 where it was not.
double restart_s(std::string_view model, int gpus);

/// A job on its way.
struct Live {
  const Job* job = nullptr;
  std::size_t index = 0;  ///< In the log.
  double left = 0;        ///< Iterations.
  double ran_s = 0;       ///< On its GPUs, restarts included.
  bool runs = false;
  double iteration_s = 0;  ///< As it runs now.
  double overhead_s = 0;

  /// Starts or goes on at this speed.
  void run(double iteration, double overhead) {
    runs = true;
    iteration_s = iteration;
    overhead_s = overhead;
  }
  void run_alone() { run(job->iteration_s, job->overhead_s); }
};

/// Nodes alike.
struct Machines {
  int nodes = 8;
  int gpus = 8;  ///< Of each node.
};

/// Free GPUs of each node, taken as YARN does in that program.
class FreeGpus {
 public:
  explicit FreeGpus(const Machines& machines)
      : per_node_(machines.gpus), free_(static_cast<std::size_t>(machines.nodes), machines.gpus) {}
  /// Up to a node's GPUs on the first node with room; more on idle nodes in order and the rest on
  /// the first other node with room. False = nothing is taken.
  bool take(int gpus);

 private:
  int per_node_;
  std::vector<int> free_;
};

/// Which times the loop of a scheduler takes for one event. The published program has a loop for
/// each scheduler, and they differ in this.
struct Merging {
  /// Ends are one event, at the time of the first in the list of jobs, if they differ by no more
  /// than this part of the later; 0 = if they are equal.
  double ends = 1e-9;
  double ends_s = 0;     ///< So do those within so many seconds of the earliest.
  double arrival_s = 0;  ///< An end so near to an arrival happens with it; 0 = if they are equal.
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual Merging merging() const { return {}; }
  virtual void arrive(Live&) {}
  virtual void end(Live&) {}
  /// All jobs that have arrived and not ended, in an order that is the scheduler's to change: says
  /// of each whether and how it runs from now on.
  virtual void plan(double now, std::vector<Live*>& live) = 0;
  /// When it wants to plan again though nothing happens.
  virtual double next(double /*now*/, const std::vector<Live*>& /*live*/) const {
    return std::numeric_limits<double>::infinity();
  }
};

/// What became of a job; seconds.
struct Result {
  double start = 0;
  double end = 0;
  double ran_s = 0;
};

/// Runs `jobs`, sorted by submission. A job that can never start has NaN. Fails if the scheduler
/// plans again and again while no job arrives or ends.
almanac::Result<std::vector<Result>> simulate(std::span<const Job> jobs, Scheduler& scheduler);

/// Of the published program: "srtf", "srsf", "tiresias_l", "antman", "muri_s", "muri_l". Null =
/// none is called so.
std::unique_ptr<Scheduler> make_scheduler(std::string_view name, const Machines& machines);

}  // namespace almanac::rounds
