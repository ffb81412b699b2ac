// SPDX-License-Identifier: Apache-2.0

/// \file
/// The parameters of a generated job log: who submits what, when, and for how long.
///
/// Read from and written to TOML (trace/workload_file.h); turned into a trace by trace/generate.h;
/// learnt from a trace by trace/fit.h. docs/guide/generator.md explains the model.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "trace/deadlines.h"

namespace almanac::trace {

/// Weights need not sum to anything: only their ratios count.
struct Workload {
  /// A virtual cluster: nodes of its own, and users who submit to it only.
  struct Vc {
    std::string name{};
    std::int64_t nodes = 1;
    std::int64_t users = 1;
    std::int64_t largest = 0;  ///< Largest number of GPUs per job; 0 for all of them.
    double jobs = 1;           ///< Weight of its jobs among all jobs.
    double gpu_time = 1;       ///< Weight of its GPU time among all GPU time.
  };
  /// Properties of the jobs of one size.
  struct Size {
    std::int64_t gpus = 1;
    double jobs = 1;
    double gpu_time = 1;
    double completed = 1;  ///< Weights of the final states.
    double cancelled = 0;
    double failed = 0;
  };
  /// Models that jobs train.
  struct Model {
    std::string name{};
    std::string kind{};  ///< "" for unknown.
    double jobs = 1;
  };
  /// Cores per GPU of a GPU job: uniform over the whole numbers from `least` to `most`.
  struct Cores {
    std::int64_t least = 1;
    std::int64_t most = 1;
    double jobs = 1;
  };
  /// A job without GPUs.
  struct CpuSize {
    std::int64_t cpus = 1;
    double jobs = 1;
  };
  /// A model in training or inference whose jobs give their batch size and steps
  /// (trace/generate_tasks.h). A step of b samples takes step_s + sample_s b on one GPU.
  struct Task {
    std::string model{};
    std::string kind{};
    double jobs = 1;
    std::int64_t most_batch = 128;
    double step_s = 0;
    double sample_s = 0;
  };
  /// How much such jobs do.
  struct Work {
    std::int64_t least_steps = 1000;
    std::int64_t most_steps = 40000;
    double startup_s = 0;
    std::int64_t most_gpus = 16;
  };
  struct Span {
    Time start{};
    double days = 30;
    std::int64_t jobs = 10000;  ///< GPU jobs.
  };
  struct Node {
    std::int64_t gpus = 8;
    std::string gpu_type{};
    double cpus = 48;
    double memory_gb = 376;
    double bandwidth_gbs = 0;
  };
  /// Run times are known at powers of two, or log-normal.
  struct Run {
    std::vector<double> octaves{};  ///< Jobs with run <= 1 s, 1 to 2 s, 2 to 4 s, 4 to 8 s ...
    double median_s = 0;            ///< Of a log-normal; 0 to use `octaves`.
    double spread = 1;              ///< Standard deviation of its logarithm.
    double most_s = 0;              ///< Cap on run times; 0 for none.
    bool unlimited_cpus = false;    ///< Recorded with all the cores that a job can use.
  };
  /// CPU jobs: log-normal run times, long enough to use `load` of the cores.
  struct Cpu {
    double per_gpu_job = 0;
    double load = 0;
    double spread = 1;
  };
  /// Memory traffic, GB/s: of each GPU at full speed, of each core of a CPU job.
  struct Bandwidth {
    double gpu = 0;
    double cpu = 0;
    double heavy = 0;  ///< Per core of CPU jobs with heavy use.
    double heavy_share = 0;
  };
  struct Rhythm {
    std::vector<double> hours = std::vector<double>(24, 1.0);
    std::vector<double> weekdays = std::vector<double>(7, 1.0);  ///< Monday first.
  };
  /// Jobs come in sessions: one user submits one recipe a few times in a row.
  struct Session {
    double tail = 1.3;   ///< P(a session has n jobs or more) = n^-tail.
    double gap_s = 120;  ///< Median pause before the next job of a session.
    double gap_spread = 1.5;
    double serial = 0.5;  ///< Share of jobs that wait for the one before to end.
    /// Of the other jobs, the fraction submitted in the same second.
    double together = 0.1;
  };
  struct User {
    double activity_spread = 1.4;  ///< Standard deviation of ln(jobs of a user).
    double size_spread = 1;        ///< How much users differ in the sizes they like.
  };
  /// A recipe is what a user runs again and again: a job name and a size. The parts say how much
  /// of the variance of a job's run time (in normal scores) each level explains.
  struct Recipe {
    std::int64_t per_size = 3;  ///< Recipes that a user keeps for each size.
    double version_days = 7;    ///< How long until a recipe gets a new version.
    double user_part = 0.15;
    double recipe_part = 0.2;
    double version_part = 0.15;
    double session_part = 0.1;
  };
  /// How much sooner (in normal scores) a job ends that does not complete.
  struct Ending {
    double cancelled = 0;
    double failed = 1;
  };
  struct Limit {
    double share = 0;   ///< Share of the recipes that come with a time limit.
    double factor = 4;  ///< Median of limit / typical run time.
    double spread = 1;
  };

  std::vector<Vc> vc;
  std::vector<Size> size;
  std::vector<Model> model;       ///< None = jobs say nothing of their model.
  std::vector<Cores> cores;       ///< None = a job gets its GPUs' part of the node's.
  std::vector<CpuSize> cpu_size;  ///< Empty for no CPU jobs.
  std::vector<Task> task;         ///< In place of sizes and run times.
  Span span;
  Node node;
  Run run;
  Cpu cpu;
  Bandwidth bandwidth;
  Rhythm rhythm;
  Session session;
  User user;
  Recipe recipe;
  Ending ending;
  Limit limit;
  Work work;
  DeadlineMix deadline;  ///< For tasks.
};

/// Says what makes `workload` impossible to generate, if anything does.
Result<void> check(const Workload& workload);

/// Returns the same rhythm and mix with `jobs` jobs; the period becomes longer or shorter.
Workload stretched(Workload workload, std::int64_t jobs);

/// `copies` times the nodes, users and jobs in the same span.
Workload scaled(Workload workload, std::int64_t copies);

/// The GPUs of the largest job that `vc` takes.
std::int64_t largest_job(const Workload& workload, const Workload::Vc& vc);

/// The GPUs of all virtual clusters.
std::int64_t total_gpus(const Workload& workload);

/// How many CPU jobs there are.
std::int64_t cpu_jobs(const Workload& workload);

/// How long a CPU job runs on average, in seconds, for all to want the load that they shall.
/// Requires: there are CPU jobs.
double mean_cpu_run(const Workload& workload);

}  // namespace almanac::trace
