// SPDX-License-Identifier: Apache-2.0
#include "predict/examples.h"

#include <algorithm>
#include <bit>

namespace almanac::predict {

void Examples::add(const Example& example) {
  if (kept_.size() >= 2 * most_) thin();
  kept_.push_back(example);
  numbers_.push_back(++ended_);
}

void Examples::thin() {
  if (kept_.size() <= most_) return;
  // Half of the numbers are even, a quarter are multiples of four: these stay twice, four times as
  // long.
  const auto reach = [&](std::uint64_t number) {
    return (ended_ - number) >> std::countr_zero(number);
  };
  std::vector<std::uint64_t> reaches;
  reaches.reserve(kept_.size());
  for (const std::uint64_t number : numbers_) reaches.push_back(reach(number));
  const auto last = reaches.begin() + static_cast<std::ptrdiff_t>(most_);
  std::nth_element(reaches.begin(), last, reaches.end());
  std::size_t left = 0;
  for (std::size_t at = 0; at < kept_.size(); ++at) {
    if (reach(numbers_[at]) >= *last) continue;
    kept_[left] = kept_[at];
    numbers_[left++] = numbers_[at];
  }
  kept_.resize(left);
  numbers_.resize(left);
}

std::size_t Examples::since(std::uint64_t before) const {
  return static_cast<std::size_t>(numbers_.end() -
                                  std::upper_bound(numbers_.begin(), numbers_.end(), before));
}

}  // namespace almanac::predict
