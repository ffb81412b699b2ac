// SPDX-License-Identifier: Apache-2.0
#include "predict/type_speeds.h"

#include <algorithm>
#include <cmath>

namespace almanac::predict {

TypeSpeeds::Type TypeSpeeds::number(std::string_view type) {
  const auto found = types_.find(type);
  if (found != types_.end()) return found->second;
  return types_.emplace(type, static_cast<Type>(types_.size())).first->second;
}

void TypeSpeeds::count(const OnTypes& times, Type type, int sign) {
  const auto own = times.find(type);
  if (own == times.end() || !is_known(own->second)) return;
  for (const auto& [other, its] : times) {
    if (other == type || !is_known(its)) continue;
    const double log = its.mean() - own->second.mean();
    for (const auto& [pair, value] :
         {std::pair{std::pair{type, other}, log}, std::pair{std::pair{other, type}, -log}}) {
      Times& mean = means_[pair];
      mean.sum_of_logs += sign * value;
      mean.count += sign;
    }
  }
}

void TypeSpeeds::learn(const Alike& jobs, std::string_view type, double time_s) {
  if (jobs.name == kNoName || type.empty() || !(time_s > 0)) return;
  const Type number = this->number(type);
  OnTypes& times = kinds_[jobs];
  count(times, number, -1);
  Times& own = times[number];
  own.sum_of_logs += std::log(time_s);
  ++own.count;
  count(times, number, +1);
}

void TypeSpeeds::learn(const trace::Job& ended, const Names& names) {
  const trace::Request& asked = ended.request;
  const bool completed = ended.outcome.state == trace::JobState::completed ||
                         ended.outcome.state == trace::JobState::unknown;
  if (!completed || asked.gpus == 0 || asked.gpu_type == kNoName) return;
  const std::string_view type = names[asked.gpu_type];
  if (type.find('|') != std::string_view::npos) return;
  learn(alike(asked), type, seconds(ended.outcome.run));
}

TypeSpeeds::Belief TypeSpeeds::speed(const Alike& jobs, std::string_view type,
                                     std::string_view home) const {
  const auto here = types_.find(type);
  const auto there = types_.find(home);
  if (here == types_.end() || there == types_.end() || type == home) return {};
  if (const auto kind = kinds_.find(jobs); kind != kinds_.end()) {
    const auto own = kind->second.find(here->second);
    const auto at_home = kind->second.find(there->second);
    if (own != kind->second.end() && at_home != kind->second.end() && is_known(own->second) &&
        is_known(at_home->second)) {
      return {std::exp(at_home->second.mean() - own->second.mean()), From::alike};
    }
  }
  const auto mean = means_.find({here->second, there->second});
  if (mean == means_.end() || mean->second.count == 0) return {};
  return {std::exp(mean->second.mean()), From::all_jobs};
}

std::size_t TypeSpeeds::num_compared() const {
  return static_cast<std::size_t>(std::count_if(kinds_.begin(), kinds_.end(), [](const auto& kind) {
    return std::count_if(kind.second.begin(), kind.second.end(),
                         [](const auto& on) { return is_known(on.second); }) > 1;
  }));
}

}  // namespace almanac::predict
