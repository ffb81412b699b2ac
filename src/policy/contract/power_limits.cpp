// SPDX-License-Identifier: Apache-2.0
#include "policy/contract/power_limits.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "perf/model_name.h"

namespace almanac::policy {
namespace {

bool is_limited(const cluster::NodeClass& make) {
  return make.gpus > 0 && make.gpu_power_limit_w > 0;
}

}  // namespace

Result<PowerLimits> PowerLimits::of(const cluster::Cluster& cluster,
                                    const energy::PowerModel& power) {
  PowerLimits made;
  if (std::none_of(cluster.classes.begin(), cluster.classes.end(), is_limited)) return made;
  made.power_ = power;
  for (const cluster::NodeClass& make : cluster.classes) {
    made.limits_w_.push_back(energy::kNoLimit);
    if (!is_limited(make)) continue;
    if (!make.gpu_type.empty() && !perf::is_type(make.gpu_type, power.gpu_type)) {
      return fail(Code::invalid,
                  fmt::format("gpu_power_limit_w is set for GPUs of type {}, but the power model "
                              "{} only knows how a limit affects a {}",
                              make.gpu_type, power.name, power.gpu_type),
                  {}, "choose another model with --power; almanac energy power lists them");
    }
    if (make.gpu_power_limit_w < power.gpu_least_limit_w) {
      return fail(Code::invalid,
                  fmt::format("gpu_power_limit_w must be {} to {}, the limits of a {} in the power "
                              "model {}, or higher for no limit; found {}",
                              power.gpu_least_limit_w, power.gpu_limit_w, power.gpu_type,
                              power.name, make.gpu_power_limit_w));
    }
    made.limits_w_.back() = make.gpu_power_limit_w;
  }
  return made;
}

Result<PowerLimits> PowerLimits::of_jobs_too(const cluster::Cluster& cluster,
                                             const energy::PowerModel& power) {
  auto made = of(cluster, power);
  if (!made) return made;
  const auto& classes = cluster.classes;
  made->may_be_set_ = std::all_of(classes.begin(), classes.end(), [&](const auto& make) {
    return make.gpus == 0 || make.gpu_type.empty() || perf::is_type(make.gpu_type, power.gpu_type);
  });
  if (!made->may_be_set_ || made->any()) return made;
  made->power_ = power;
  made->limits_w_.assign(classes.size(), energy::kNoLimit);
  return made;
}

std::optional<double> PowerLimits::use_of(std::string_view model) const {
  const std::string name = perf::model_name(model);
  for (const energy::NetworkUse& known : power_.gpu_use) {
    if (perf::model_name(known.network) == name) return known.use;
  }
  return std::nullopt;
}

std::vector<double> PowerLimits::speeds(double use) const {
  std::vector<double> made;
  for (const double limit_w : limits_w_) made.push_back(power_.gpu_speed(use, limit_w));
  return made;
}

double PowerLimits::limit_w(std::size_t node_class, int job_w) const {
  if (job_w == 0) return limits_w_[node_class];
  return std::min(limits_w_[node_class],
                  std::max(static_cast<double>(job_w), power_.gpu_least_limit_w));
}

double PowerLimits::speed(double use, std::size_t node_class, int job_w) const {
  return limits_w_.empty() ? 1 : power_.gpu_speed(use, limit_w(node_class, job_w));
}

double PowerLimits::spared(double use, std::size_t node_class, int job_w) const {
  if (limits_w_.empty() || power_.gpu_w() == 0) return 0;
  return (power_.gpu_w(use) - power_.gpu_w(use, limit_w(node_class, job_w))) / power_.gpu_w();
}

std::vector<int> PowerLimits::choices_w() const {
  constexpr int kMost = 10;
  const double least = power_.gpu_least_limit_w;
  const double most =
      std::min(power_.gpu_limit_w, *std::max_element(limits_w_.begin(), limits_w_.end()));
  std::vector<int> made;
  for (int step = 0; step < kMost; ++step) {
    const auto watts = static_cast<int>(std::ceil(least + (most - least) * step / (kMost - 1)));
    if (made.empty() || watts > made.back()) made.push_back(watts);
  }
  return made;
}

double PowerLimits::gpu_w(double use, int job_w) const {
  const double limit = job_w == 0 ? energy::kNoLimit
                                  : std::max(static_cast<double>(job_w), power_.gpu_least_limit_w);
  return power_.idle_w / power_.gpus + power_.gpu_w(use, limit);
}

}  // namespace almanac::policy
