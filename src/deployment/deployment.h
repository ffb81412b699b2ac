// SPDX-License-Identifier: Apache-2.0

/// \file
/// Networks that answer a request in one pass, in several variants, on parts of GPUs: which variant
/// of which task is where, and the load that this serves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::deployment {

/// A network for a task. Others for the same task are more accurate, or faster.
struct Variant {
  std::string name{}, task{};
  double accuracy = 0;               ///< Part of its answers that are right, 0 to 1.
  double fixed_ms = 0, item_ms = 0;  ///< A batch of b takes fixed + b * item on a whole GPU.
  double knee = 1;                   ///< Part of a GPU beyond which it is no faster, above 0.
  int most_batch = 1;
  int operators = 1;  ///< Parts of a batch that run one after the other, each as long.
  double memory_gib = 0;
  double load_s = 0;
  double disk_s = 0;  ///< From disk to the memory of the host, before it is loaded from there.
  double busy_w = 0;  ///< Power of a whole GPU beyond idle while it computes.

  /// Milliseconds of a batch on `share` of a GPU: what is missing of the knee slows it.
  double batch_ms(double batch, double share) const;
};

/// The requirements of a task.
struct TaskService {
  std::string task{};
  double rate = 0;              ///< Requests a second.
  double slo_ms = 0;            ///< Of each request.
  double accuracy = 0;          ///< Least part of right answers.
  std::vector<double> rates{};  ///< Of the last seconds, oldest first; empty if unknown.
  /// A stage of a pipeline answers requests that the answers of an earlier service make, whose
  /// index this is; nothing: clients send the requests. `slo_ms` is then that of the pipeline, from
  /// the client's request to the last answer that it leads to.
  std::optional<std::size_t> after{};
  double per_answer = 1;  ///< Requests that each answer of `after` makes on average.
};

/// The carbon intensity from a moment of a replay on.
struct CarbonStep {
  double from_ms = 0;
  double grams_per_kwh = 0;
};

/// GPUs that are alike.
struct GpuFleet {
  int gpus = 1;
  double memory_gib = 80;  ///< Per GPU.
  bool mig = false;        ///< Cut in instances that do not feel each other; else shared by MPS.
  /// Slowdown of batches next to others on a GPU without instances: the median of the pairs that
  /// iGniter's authors measured on a V100.
  double beside = 1.09;
  double idle_w = 0;
  double price_per_h = 0;
  double grams_per_kwh = 0;        ///< CO2 of the current power.
  double usual_grams_per_kwh = 0;  ///< On average; 0 for the current value.
  /// The intensity over a replay, sorted, the first from 0; empty: `grams_per_kwh` at all times.
  std::vector<CarbonStep> carbon{};
};

/// Returns the carbon intensity at a moment of a replay, in g CO2/kWh. O(log steps).
double grams_at(const GpuFleet& fleet, double at_ms);
/// Returns its mean between two moments of a replay. O(steps).
double mean_grams(const GpuFleet& fleet, double from_ms, double until_ms);

struct PlanningCase {
  std::vector<Variant> variants{};
  std::vector<TaskService> services{};
  GpuFleet fleet{};
  std::uint64_t seed = 1;
};

/// A variant on a part of a GPU, for one service.
struct Instance {
  int gpu = 0;
  double share = 1;  ///< Of its compute units; a seventh per slice of a MIG GPU.
  std::size_t service = 0, variant = 0;
  int batch = 1;  ///< Most requests that it takes at a time.
  /// Instances on one part of a GPU have `share` of it together and take turns, each with a batch
  /// every `duty_ms`. Negative: the instance has its share alone, and runs whenever it has
  /// requests.
  int part = -1;
  double duty_ms = 0;
};

struct Deployment {
  std::vector<Instance> instances{};
  /// Services in which every variant answers each request, and the majority decides.
  std::vector<bool> votes{};
};

/// Returns the largest batch with which a request that must first wait for another batch is in
/// time; 0 if there is none.
int batch_in_time(const Variant& variant, double share, double slo_ms, double slower = 1);
/// Requests a second of full batches.
double throughput(const Variant& variant, double share, int batch, double slower = 1);

/// Returns the slowdown of its batches by its neighbors; those that it takes turns with do not
/// count. O(instances).
double slower_beside(const PlanningCase& asked, const Deployment& deployment, const Instance& one);
/// Requests a second of an instance. O(instances).
double instance_rate(const PlanningCase& asked, const Deployment& deployment, const Instance& one);

/// Returns the mean size of the batches that form at `rate` requests a second if an instance takes
/// what waits, up to `most`, whenever it is free: the requests that arrive during one batch, and at
/// least one.
double formed_batch(const Variant& variant, double share, double rate, int most, double slower = 1);

/// What a deployment achieves for one service.
struct Served {
  double rate = 0;      ///< Requests a second that it can answer in time.
  double accuracy = 0;  ///< If requests are distributed by the capacity of instances.
  double slowest_ms = 0;
};
struct Judged {
  std::vector<Served> served{};  ///< By service.
  int gpus = 0;                  ///< With an instance.
  double watts = 0;  ///< At the rates of the services, with the batches that form at them.
  double price_per_h = 0;
  double grams_per_h = 0;
  /// Every service gets its rate and its accuracy.
  bool meets(const PlanningCase& asked) const;
};
/// O(instances^2).
Judged judge(const PlanningCase& asked, const Deployment& deployment);

/// Fails with `invalid`, with the reason, if the parts on a GPU exceed it: shares above 1, memory
/// above its own, or MIG slices that no state of the card has.
Result<void> check(const PlanningCase& asked, const Deployment& deployment);

/// How likely the majority of answers is right, each being so by itself; an even split counts half.
double vote_accuracy(const std::vector<double>& accuracies);

/// The numbers of slices of instances that fill a MIG GPU of seven, largest first, in order.
///
/// Of an A100, H100 or H200 (cluster/slices/board.h), without the wide and media profiles.
const std::vector<std::vector<int>>& mig_splits();
/// Whether instances with these numbers of slices fit on one MIG GPU together. O(splits).
bool fits_mig_gpu(std::vector<int> slices);
/// Memory of an instance as a part of the GPU's: slices of memory are eighths.
double mig_memory(int slices);
int mig_slices(double share);

/// Adds `copies` of a variant, each to the GPU with the least room left that fits; GPUs are shared
/// by MPS. Returns false if not all fit.
bool add_by_best_fit(const PlanningCase& asked, Instance instance, int copies,
                     Deployment& deployment);
/// Copies of `instance` that answer `rate`.
int copies_for(const PlanningCase& asked, const Instance& instance, double rate);
/// Returns the variants of a service's task that are accurate enough, fit into the memory of a
/// GPU, and are in time with one request on a share of their knee next to others.
std::vector<std::size_t> eligible(const PlanningCase& asked, const TaskService& service,
                                  double least_accuracy);
/// Returns the smallest share of a GPU, in percent steps, with which one instance answers `rate` in
/// time next to others; 0 if a whole GPU does not.
double share_for(const PlanningCase& asked, const Variant& variant, double slo_ms, double rate);
/// The most accurate of the eligible variants, the faster of equals. Fails with unavailable.
Result<std::size_t> most_accurate(const PlanningCase& asked, const TaskService& service);
/// The errors of planners: the GPUs cannot serve one service, or not all services together.
Error too_few_gpus(const PlanningCase& asked, const TaskService& service);
Error too_few_gpus(const PlanningCase& asked);
/// The error if no variant is right often enough, in time, and fits into the memory of a GPU.
Error no_variant(const PlanningCase& asked, const TaskService& service);

}  // namespace almanac::deployment
