// SPDX-License-Identifier: Apache-2.0

/// \file
/// Services share GPUs if their loads do not rise together.
#include <algorithm>
#include <vector>

#include "deployment/registry.h"
#include "stats/correlation.h"
#include "stats/mean.h"
#include "stats/quantile.h"

namespace almanac::deployment::planner {
namespace {

constexpr double kSized = 0.8;         // of the loads seen, for which a service is sized
constexpr double kWeakly = 0.5;        // rank correlation below which loads may be together
constexpr double kForecastable = 0.5;  // autocorrelation above which a load is forecast

/// An instance of a service on a part of a GPU.
struct Pod {
  std::size_t service = 0;
  Instance instance{};
  double peak = 0;             ///< Share at the highest load seen.
  std::vector<double> load{};  ///< Share, second by second.
};

/// Returns the correlation of successive values; 0 if the series is constant.
double autocorrelation(const std::vector<double>& series) {
  if (series.size() < 3) return 0;
  const double mean = stats::mean(series);
  double own = 0, next = 0;
  for (std::size_t at = 0; at < series.size(); ++at) {
    own += (series[at] - mean) * (series[at] - mean);
    if (at > 0) next += (series[at] - mean) * (series[at - 1] - mean);
  }
  return own > 0 ? next / own : 0;
}

/// Source   Thinakaran et al., CLUSTER'19 (Kube-Knots): a pod is sized for the 80th percentile of
///          its use. It may join other pods if the rank correlation of their use is below 0.5
///          (CBP). Otherwise it may join if their use can be forecast from its own past and the
///          pod's peak fits next to the forecast for the next second (PP). Nodes with the least
///          free memory come first.
/// Differs  The forecast is AR(1) instead of ARIMA. Loads are request rates.
class KubeKnots {
 public:
  explicit KubeKnots(const PlanningCase& asked)
      : asked_(asked), gpus_(static_cast<std::size_t>(asked.fleet.gpus)) {}

  Result<Deployment> plan() {
    for (std::size_t service = 0; service < asked_.services.size(); ++service) {
      const auto pods = pods_of(service);
      if (!pods) return tl::unexpected(pods.error());
      for (const Pod& pod : *pods) {
        if (!place(pod)) return tl::unexpected(too_few_gpus(asked_, asked_.services[service]));
      }
    }
    Deployment made;
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      for (const Pod& pod : gpus_[gpu]) {
        made.instances.push_back(pod.instance);
        made.instances.back().gpu = static_cast<int>(gpu);
      }
    }
    return made;
  }

 private:
  Result<std::vector<Pod>> pods_of(std::size_t number) const {
    const TaskService& service = asked_.services[number];
    const auto variant = most_accurate(asked_, service);
    if (!variant) return tl::unexpected(variant.error());
    const Variant& it = asked_.variants[*variant];
    std::vector<double> rates = service.rates;
    if (rates.empty()) rates.push_back(service.rate);
    std::vector<double> scratch = rates;
    const double sized = std::max(service.rate, stats::quantile(scratch, kSized));
    const int whole = batch_in_time(it, 1, service.slo_ms, asked_.fleet.beside);
    Instance instance{.service = number, .variant = *variant, .batch = std::max(1, whole)};
    const int copies = copies_for(asked_, instance, sized);
    instance.share = share_for(asked_, it, service.slo_ms, sized / copies);
    if (instance.share <= 0) return tl::unexpected(too_few_gpus(asked_, service));
    instance.batch = batch_in_time(it, instance.share, service.slo_ms, asked_.fleet.beside);
    Pod pod{.service = number, .instance = instance};
    for (const double rate : rates) pod.load.push_back(instance.share * rate / sized);
    pod.peak = std::min(1.0, *std::max_element(pod.load.begin(), pod.load.end()));
    return std::vector<Pod>(static_cast<std::size_t>(copies), pod);
  }

  double memory_of(const std::vector<Pod>& pods) const {
    double sum = 0;
    for (const Pod& pod : pods) sum += asked_.variants[pod.instance.variant].memory_gib;
    return sum;
  }

  bool place(const Pod& pod) {
    std::vector<std::size_t> order(gpus_.size());
    for (std::size_t gpu = 0; gpu < order.size(); ++gpu) order[gpu] = gpu;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return memory_of(gpus_[a]) > memory_of(gpus_[b]);
    });
    for (const std::size_t gpu : order) {
      if (!admits(gpus_[gpu], pod)) continue;
      gpus_[gpu].push_back(pod);
      return true;
    }
    return false;
  }

  bool admits(const std::vector<Pod>& residents, const Pod& pod) const {
    double taken = pod.instance.share, memory = memory_of(residents);
    memory += asked_.variants[pod.instance.variant].memory_gib;
    for (const Pod& each : residents) taken += each.instance.share;
    if (taken > 1 + 1e-9 || memory > asked_.fleet.memory_gib) return false;
    const bool together = std::any_of(residents.begin(), residents.end(), [&](const Pod& each) {
      const std::size_t shared = std::min(each.load.size(), pod.load.size());
      if (shared < 3) return false;
      return stats::spearman(std::span(each.load).last(shared), std::span(pod.load).last(shared)) >=
             kWeakly;
    });
    if (!together) return true;
    double forecast = 0;
    for (const Pod& each : residents) {
      const double tells = autocorrelation(each.load);
      if (tells <= kForecastable) return false;
      const double mean = stats::mean(each.load);
      forecast += mean + tells * (each.load.back() - mean);
    }
    return forecast + pod.peak <= 1;
  }

  const PlanningCase& asked_;
  std::vector<std::vector<Pod>> gpus_;
};

}  // namespace

void register_kube_knots(Registry& registry) {
  registry.planners.add(
      {.name = "kube_knots",
       .summary = "services on the same GPU if their loads do not rise together",
       .source = "Thinakaran et al. CLUSTER'19",
       .make = {[](const PlanningCase& asked) { return KubeKnots(asked).plan(); }, false}});
}

}  // namespace almanac::deployment::planner
