// SPDX-License-Identifier: Apache-2.0
#include "replicas/tally.h"

namespace almanac::replicas {

void Tally::accept() {
  const std::lock_guard lock(mutex_);
  ++seen_.accepted;
}

void Tally::try_again() {
  const std::lock_guard lock(mutex_);
  ++seen_.tried_again;
}

void Tally::end(Fate fate) {
  const std::lock_guard lock(mutex_);
  ++seen_.fates[static_cast<std::size_t>(fate)];
}

void Tally::time(double first_s, double each_s) {
  const std::lock_guard lock(mutex_);
  seen_.attained += first_s <= objective_.first_s && each_s <= objective_.each_s;
  if (seen_.first_s.size() < kKept) {
    seen_.first_s.push_back(first_s);
    seen_.each_s.push_back(each_s);
    return;
  }
  seen_.first_s[next_] = first_s;
  seen_.each_s[next_] = each_s;
  next_ = (next_ + 1) % kKept;
}

Tally::Seen Tally::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

std::uint64_t Tally::in_hand() const {
  const std::lock_guard lock(mutex_);
  return seen_.in_hand();
}

}  // namespace almanac::replicas
