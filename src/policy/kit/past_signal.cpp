// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/past_signal.h"

#include <algorithm>

namespace almanac::policy {

void PastSignal::hear(Time now, double value) {
  heard_.push_back({now, value});
  while (heard_.size() > 1 && heard_[1].since <= now - day_) heard_.pop_front();
}

std::vector<std::pair<double, Duration>> PastSignal::pieces(Time from, Time to) const {
  std::vector<std::pair<double, Duration>> made;
  for (std::size_t at = 0; at < heard_.size(); ++at) {
    const Time begin = std::max(from, heard_[at].since);
    const Time end = at + 1 < heard_.size() ? std::min(to, heard_[at + 1].since) : to;
    if (end > begin) made.emplace_back(heard_[at].value, end - begin);
  }
  return made;
}

double PastSignal::expect(Time from, Time to, Time now) const {
  const auto next = std::find_if(heard_.begin(), heard_.end(),
                                 [&](const Heard& each) { return each.since > now - day_; });
  const Time change = next == heard_.end() ? now + day_ : next->since + day_;
  const Time lasts = std::clamp(change, from, to);
  double sum = value() * seconds(lasts - from);
  for (Time at = lasts; at < to;) {
    // Days later than the first are again as the past one was.
    const Duration back = day_ * ((at - now) / day_ + 1);
    const Time until = std::min(to, now + back);
    for (const auto& [value, lasted] : pieces(at - back, until - back)) {
      sum += value * seconds(lasted);
    }
    at = until;
  }
  return sum / seconds(to - from);
}

}  // namespace almanac::policy
