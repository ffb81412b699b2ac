// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lowest Gittins rank of GPU time first. The rank is the GPU time that a job still needs per
/// chance of ending within it, at the best moment to look again. If a job's run time is certain,
/// the rank is its remaining GPU time. A job that has outlived its likely early ends falls behind
/// new jobs.
///
/// Source   Aalto, Ayesta & Righter, Queueing Systems 2009 (the index; here its inverse); Gu et
///          al., NSDI'19 (Tiresias), section 3.2: 2D, that is GPUs x time, in steps.
/// Differs  Tiresias has one distribution, that of all jobs' service. Here each job has its own, as
///          estimated at submission; its GPUs are known and only scale the rank.
/// Cost     one pass over the cells of the distribution per rank; a rank jumps at most eleven times
#include <algorithm>
#include <cmath>
#include <limits>

#include "policy/registry.h"
#include "predict/run_time.h"

namespace almanac::policy::order {
namespace {

using predict::Distribution;

/// A rank is computed for the start of a step: 0 s, 10 min, and then each time the run is 2.5 times
/// as long. Steps are long relative to a restart; otherwise jobs with equal chances would keep
/// stopping each other. Restart work counts as run time: a rank that fell with each restart would
/// let two jobs stop each other without end.
constexpr std::size_t kSecondStep = 70;  // 10^2.8 s
constexpr std::size_t kStepCells = 10;

std::size_t step_of(Duration worked) {
  const std::size_t cell = Distribution::cell_of(predict::log_time(worked));
  return cell < kSecondStep ? 0 : 1 + (cell - kSecondStep) / kStepCells;
}

std::size_t first_cell_of(std::size_t step) {
  return step == 0 ? 0 : kSecondStep + (step - 1) * kStepCells;
}

Duration beginning_of(std::size_t step) {
  if (step == 0) return Duration{0};
  const double log = static_cast<double>(first_cell_of(step)) * Distribution::kStep;
  // The first millisecond that is certainly in the step.
  return Duration{static_cast<Duration::rep>(std::ceil(1e3 * std::pow(10.0, log))) + 1};
}

/// Returns the remaining time of a job that has outlived its whole distribution: as long as it has
/// run.
double outlived(Duration worked) { return std::max(1.0, seconds(worked)); }

/// Returns the minimum of E[min(S - a, d) | S > a] / P(S <= a + d | S > a) over d, in seconds, for
/// the run time S of a job that has run for a, the start of `step`.
double rank_of(const Distribution& likely, std::size_t step) {
  const std::size_t first = first_cell_of(step);
  double left = 0;
  for (std::size_t cell = first; cell < Distribution::kCells; ++cell) {
    left += static_cast<double>(likely.mass(cell));
  }
  const Duration worked = beginning_of(step);
  constexpr double kNothing = 1e-6;
  if (left < kNothing) return outlived(worked);
  double best = std::numeric_limits<double>::infinity();
  double ended = 0;
  double spent = 0;  // by the jobs that have ended
  for (std::size_t cell = first; cell < Distribution::kCells; ++cell) {
    const auto mass = static_cast<double>(likely.mass(cell));
    if (mass <= 0) continue;
    const double after = Distribution::middle_s(cell) - seconds(worked);
    ended += mass;
    spent += mass * after;
    best = std::min(best, (spent + std::max(0.0, left - ended) * after) / ended);
  }
  return best;
}

double expected_left(const Candidate& job) {
  const Duration left = job.believed - job.worked;
  return left > Duration{0} ? seconds(left) : outlived(job.worked);
}

/// The index of a job on one GPU.
double index_of(const Candidate& job) {
  return job.likely != nullptr ? rank_of(*job.likely, step_of(job.worked)) : expected_left(job);
}

class Gittins : public Order {
 public:
  double rank(const Candidate& job) const override { return job.request.gpus * index_of(job); }
  Standing standing(const Candidate& job) const override {
    return {job.likely != nullptr ? Term::gittins_index : Term::gpu_time, rank(job)};
  }
  double tie(const Candidate& job) const override { return job.request.gpus; }
  Duration jumps_after(const Candidate& job) const override {
    const std::size_t next = step_of(job.worked) + 1;
    return first_cell_of(next) < Distribution::kCells ? beginning_of(next) - job.worked
                                                      : kNoDuration;
  }
  bool needs_estimate() const override { return true; }
  bool needs_distribution() const override { return true; }
};

/// A job that runs to its end once it has started has one moment to look again, its end: its index
/// is its expected GPU time. A job without GPUs counts as one with a GPU; else every such job,
/// however long, would go before all others and could take all cores.
class Index final : public Gittins {
 public:
  double rank(const Candidate& job) const override {
    return std::max(1, job.request.gpus) * (job.may_stop ? index_of(job) : expected_left(job));
  }
  Standing standing(const Candidate& job) const override {
    return {job.may_stop && job.likely != nullptr ? Term::gittins_index : Term::gpu_time,
            rank(job)};
  }
  Duration jumps_after(const Candidate& job) const override {
    return job.may_stop ? Gittins::jumps_after(job) : kNoDuration;
  }
};

}  // namespace

void register_gittins(Registry& registry) {
  registry.orders.add(
      {"gittins",
       "lowest Gittins index first: expected GPU time still to spend per chance of completing",
       "Aalto et al. 2009; Gu et al. NSDI'19 §3.2",
       {.has = {Trait::reads_run_times}}},
      [](const Parameters&) { return std::make_unique<Gittins>(); });
  registry.orders.add(
      {"index",
       "expected GPU time first for jobs that run to their end, lowest Gittins index for jobs that "
       "may be stopped",
       "Rothkopf 1966; Aalto et al. 2009",
       {.has = {Trait::reads_run_times}}},
      [](const Parameters&) { return std::make_unique<Index>(); });
}

}  // namespace almanac::policy::order
