// SPDX-License-Identifier: Apache-2.0
#include "policy/contract/power_limits.h"

#include <algorithm>

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
                  fmt::format("gpu_power_limit_w is of GPUs of type {}, but the power model {} "
                              "knows what a limit does to a {}",
                              make.gpu_type, power.name, power.gpu_type),
                  {}, "--power takes another model; almanac energy power lists them");
    }
    if (make.gpu_power_limit_w < power.gpu_least_limit_w) {
      return fail(Code::invalid,
                  fmt::format("gpu_power_limit_w must be {} to {}, the limits of a {} in the power "
                              "model {}, or above, which is none: {}",
                              power.gpu_least_limit_w, power.gpu_limit_w, power.gpu_type,
                              power.name, make.gpu_power_limit_w));
    }
    made.limits_w_.back() = make.gpu_power_limit_w;
  }
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

double PowerLimits::spared(std::size_t node_class) const {
  if (limits_w_.empty() || power_.gpu_w() == 0) return 0;
  return 1 - power_.gpu_w(1, limits_w_[node_class]) / power_.gpu_w();
}

}  // namespace almanac::policy
