// SPDX-License-Identifier: Apache-2.0
#include "predict/simple.h"

#include <cmath>

namespace almanac::predict {

void RunningMedian::add(double value) {
  if (low_.empty() || value <= low_.top()) {
    low_.push(value);
  } else {
    high_.push(value);
  }
  if (low_.size() > high_.size() + 1) {
    high_.push(low_.top());
    low_.pop();
  } else if (high_.size() > low_.size()) {
    low_.push(high_.top());
    high_.pop();
  }
}

double RunningMedian::value() const {
  return low_.size() > high_.size() ? low_.top() : (low_.top() + high_.top()) / 2;
}

std::array<double, kSimple.size()> SimpleEstimates::logs(const trace::Request& request) {
  constexpr double kHour = 3.5563;
  const double global = all_.empty() ? kHour : all_.value();
  const KindKeys keys = memory_.keys(request);
  const Recent* const like = memory_.recent(keys, Kind::gpus);
  const double otherwise = like != nullptr ? static_cast<double>(like->median()) : global;
  const auto median = [&](Kind kind, double missing) {
    const Recent* const recent = memory_.recent(keys, kind);
    return recent != nullptr ? static_cast<double>(recent->median()) : missing;
  };
  const double user = median(Kind::user, otherwise);
  const Recent* const own = memory_.recent(keys, Kind::user);
  const DecayingMean* const mean =
      request.user == kNoName ? nullptr : user_means_.find(index(request.user));
  const bool limited = request.time_limit != kNoDuration;
  return {global,
          mean != nullptr ? std::log10(std::max(1.0, mean->value())) : otherwise,
          median(Kind::user_name, user),
          median(Kind::user_gpus, user),
          own != nullptr ? static_cast<double>(own->log(0)) : otherwise,
          limited ? log_time(request.time_limit) : otherwise};
}

void SimpleEstimates::learn(JobId job, const trace::Request& request, const Ended& ended) {
  memory_.ended(job, request, ended);
  all_.add(log_time(ended.ran));
  if (request.user != kNoName) user_means_[index(request.user)].add(seconds(ended.ran), 1);
}

const Recent* SimpleEstimates::history(const trace::Request& request) {
  return memory_.recent(memory_.keys(request), Kind::user);
}

}  // namespace almanac::predict
