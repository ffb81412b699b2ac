// SPDX-License-Identifier: Apache-2.0

#include "serving/igniter.h"

#include <algorithm>
#include <cmath>

namespace almanac::serving {

std::vector<IgniterForecast> forecast(const IgniterProfile& profile,
                                      const std::vector<IgniterResident>& residents) {
  const IgniterBoard& board = profile.board;
  double power = board.idle_power;
  double l2 = 0;
  for (const IgniterResident& each : residents) {
    const IgniterModel& model = profile.models.at(each.model);
    const double ability = 1000 * each.batch / model.active(each.batch, each.share);
    power += model.power_slope * ability + model.power_offset;
    l2 += model.l2_slope * ability + model.l2_offset;
  }
  const double frequency =
      power <= board.power_cap
          ? board.frequency
          : board.frequency + board.frequency_slope * (power - board.power_cap);
  const auto count = static_cast<double>(residents.size());
  const double delay = count <= 1 ? 0 : board.sched_slope * count + board.sched_offset;
  std::vector<IgniterForecast> made;
  for (const IgniterResident& each : residents) {
    const IgniterModel& model = profile.models.at(each.model);
    const double alone = model.active(each.batch, each.share);
    const double own_l2 = model.l2_slope * (1000 * each.batch / alone) + model.l2_offset;
    const double active = alone * (1 + model.l2_sensitivity * (l2 - own_l2));
    const double gpu =
        (model.sched_base + model.kernels * delay + active) / (frequency / board.frequency);
    made.push_back({.latency = gpu + each.batch * (model.input_bytes + model.output_bytes) /
                                         board.bytes_per_ms,
                    .throughput = 1000 * each.batch /
                                  (gpu + each.batch * model.output_bytes / board.bytes_per_ms)});
  }
  return made;
}

namespace {

using Gpu = std::vector<IgniterResident>;

class Planner {
 public:
  Planner(const IgniterProfile& profile, std::vector<IgniterWorkload>& workloads)
      : profile_(profile), workloads_(workloads) {}

  std::vector<Gpu> plan() {
    std::vector<IgniterResident> wanted;
    for (std::size_t each = 0; each < workloads_.size(); ++each) {
      workloads_[each].slo /= 2;
      wanted.push_back(least(static_cast<int>(each)));
      if (wanted.back().share > 100) dedicate(wanted.back());
    }
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const auto& a, const auto& b) { return a.share > b.share; });
    for (const IgniterResident& each : wanted) place(each);
    return std::move(gpus_);
  }

 private:
  const IgniterModel& model(const IgniterResident& resident) const {
    return profile_.models.at(resident.model);
  }
  const IgniterWorkload& told(const IgniterResident& resident) const {
    return workloads_[static_cast<std::size_t>(resident.workload)];
  }

  /// The batch that keeps up with the rate, and the least share that meets the objective alone.
  IgniterResident least(int workload) const {
    const IgniterWorkload& asked = workloads_[static_cast<std::size_t>(workload)];
    const IgniterBoard& board = profile_.board;
    IgniterResident made{.workload = workload, .model = asked.model};
    const IgniterModel& it = model(made);
    const double rate = asked.rate / 1000;
    made.batch = std::ceil(asked.slo * rate * board.bytes_per_ms /
                           (board.bytes_per_ms + it.input_bytes * rate));
    const double gamma = it.k1 * made.batch * made.batch + it.k2 * made.batch + it.k3;
    const double delta = asked.slo - it.sched_base -
                         made.batch * (it.input_bytes + it.output_bytes) / board.bytes_per_ms -
                         it.k5;
    made.share = board.share_unit * std::ceil((gamma / delta - it.k4) / board.share_unit);
    return made;
  }

  /// Gives whole GPUs to a workload until the rest of it needs less than one.
  void dedicate(IgniterResident& wanted) {
    constexpr int kMostBatch = 32;
    IgniterWorkload& asked = workloads_[static_cast<std::size_t>(wanted.workload)];
    IgniterResident alone{
        .workload = wanted.workload, .model = asked.model, .batch = 1, .share = 100};
    for (int batch = 1; batch <= kMostBatch; ++batch) {
      IgniterResident tried = alone;
      tried.batch = batch;
      if (forecast(profile_, {tried}).front().latency < asked.slo) alone.batch = batch;
    }
    const double rate = std::ceil(0.9 * forecast(profile_, {alone}).front().throughput);
    while (asked.rate > rate) {
      gpus_.push_back({alone});
      asked.rate -= rate;
    }
    wanted = least(wanted.workload);
  }

  static double shares(const Gpu& gpu) {
    double sum = 0;
    for (const IgniterResident& each : gpu) sum += each.share;
    return sum;
  }

  /// Gives more to those that miss their objective until none does, or the GPU is full.
  Gpu grown(Gpu gpu) const {
    while (shares(gpu) <= 100) {
      const auto seen = forecast(profile_, gpu);
      bool missed = false;
      for (std::size_t each = 0; each < gpu.size(); ++each) {
        if (seen[each].latency <= told(gpu[each]).slo) continue;
        gpu[each].share += profile_.board.share_unit;
        missed = true;
      }
      if (!missed) break;
    }
    return gpu;
  }

  void place(const IgniterResident& wanted) {
    Gpu* best = nullptr;
    Gpu best_gpu;
    double cheapest = 0;
    for (Gpu& gpu : gpus_) {
      Gpu tried = gpu;
      tried.push_back(wanted);
      tried = grown(std::move(tried));
      const double cost = shares(tried) - shares(gpu);
      if (shares(tried) > 100 || (best != nullptr && cost >= cheapest)) continue;
      best = &gpu;
      best_gpu = std::move(tried);
      cheapest = cost;
    }
    if (best == nullptr) {
      gpus_.push_back({wanted});
    } else {
      *best = std::move(best_gpu);
    }
  }

  const IgniterProfile& profile_;
  std::vector<IgniterWorkload>& workloads_;
  std::vector<Gpu> gpus_;
};

}  // namespace

std::vector<Gpu> plan_igniter(const IgniterProfile& profile,
                              std::vector<IgniterWorkload> workloads) {
  return Planner(profile, workloads).plan();
}

}  // namespace almanac::serving
