// SPDX-License-Identifier: Apache-2.0
#include "steer/order_values.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"

namespace almanac::steer {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};

/// Positions of the most numbers that can stay, in order.
///
/// Between two that stay there must be a number for each job between them. So what may not rise
/// along the line is number plus position, and that has bounds where the line begins and ends.
std::vector<std::size_t> longest_stay(std::span<const std::int64_t> present, const Window& window) {
  const auto count = static_cast<std::int64_t>(present.size());
  std::vector<std::size_t> last;  // of each length, the best position at which such a part ends
  std::vector<std::size_t> before(present.size(), kNone);
  const auto level = [&](std::size_t at) { return present[at] + static_cast<std::int64_t>(at); };
  for (std::size_t at = 0; at < present.size(); ++at) {
    if (level(at) > window.highest || level(at) < window.lowest + count - 1) continue;
    const auto place =
        std::upper_bound(last.begin(), last.end(), level(at),
                         [&](std::int64_t mine, std::size_t other) { return mine > level(other); });
    if (place != last.begin()) before[at] = *(place - 1);
    if (place == last.end()) {
      last.push_back(at);
    } else {
      *place = at;
    }
  }
  std::vector<std::size_t> made;
  for (std::size_t at = last.empty() ? kNone : last.back(); at != kNone; at = before[at]) {
    made.push_back(at);
  }
  std::reverse(made.begin(), made.end());
  return made;
}

class Numbering {
 public:
  Numbering(std::span<std::int64_t> numbers, const Window& window)
      : numbers_(numbers), window_(window), usual_(usual_step(window)) {}

  /// All of them, in the middle of the window.
  void fill_all() {
    const auto count = size(numbers_.size());
    const std::int64_t range = window_.highest - window_.lowest;
    const std::int64_t step = std::clamp<std::int64_t>(range / (count + 1), 1, usual_);
    const std::int64_t first = window_.highest - (range - step * (count - 1)) / 2;
    for (std::int64_t at = 0; at < count; ++at) set(at, first - at * step);
  }
  /// Fills the values before position `first`.
  void fill_front(std::size_t first) {
    const auto count = size(first);
    const std::int64_t step = step_within(window_.highest - numbers_[first], count);
    for (std::int64_t at = 0; at < count; ++at) set(at, numbers_[first] + step * (count - at));
  }
  /// Fills the values after position `last`.
  void fill_back(std::size_t last) {
    const auto count = size(numbers_.size() - last) - 1;
    const std::int64_t step = step_within(numbers_[last] - window_.lowest, count);
    for (std::int64_t at = 1; at <= count; ++at) set(size(last) + at, numbers_[last] - step * at);
  }
  void fill_between(std::size_t before, std::size_t behind) {
    const std::int64_t room = numbers_[before] - numbers_[behind];
    const auto parts = size(behind - before);
    for (std::int64_t at = 1; at < parts; ++at) {
      set(size(before) + at, numbers_[before] - at * room / parts);
    }
  }

 private:
  static std::int64_t size(std::size_t count) { return static_cast<std::int64_t>(count); }
  /// At most half of the room is used, while that is enough: others will come.
  std::int64_t step_within(std::int64_t room, std::int64_t count) const {
    return count == 0 ? 0 : std::clamp<std::int64_t>(room / (2 * count), 1, usual_);
  }
  void set(std::int64_t at, std::int64_t number) {
    numbers_[static_cast<std::size_t>(at)] = number;
  }

  std::span<std::int64_t> numbers_;
  Window window_;
  std::int64_t usual_;
};

}  // namespace

std::int64_t usual_step(const Window& window) {
  constexpr std::int64_t kLine = 1 << 14;
  return std::max<std::int64_t>(1, (window.highest - window.lowest) / kLine);
}

std::vector<std::int64_t> renumber(std::span<const std::int64_t> present, const Window& window) {
  ALMANAC_CHECK(window.lowest <= window.highest, "{} to {}", window.lowest, window.highest);
  const auto room = static_cast<std::size_t>(window.highest - window.lowest) + 1;
  const std::size_t count = std::min(present.size(), room);
  std::vector<std::int64_t> made(present.begin(), present.end());
  std::fill(made.begin() + static_cast<std::ptrdiff_t>(count), made.end(), window.lowest);
  if (count == 0) return made;
  const auto stay = longest_stay(present.first(count), window);
  Numbering numbering(std::span<std::int64_t>(made).first(count), window);
  if (stay.empty()) {
    numbering.fill_all();
    return made;
  }
  numbering.fill_front(stay.front());
  for (std::size_t at = 1; at < stay.size(); ++at) {
    numbering.fill_between(stay[at - 1], stay[at]);
  }
  numbering.fill_back(stay.back());
  return made;
}

bool uses_site_factor(const manager::Site& site, const manager::Abilities& can) {
  return can.site_factor && !site.facts.keeps_priorities;
}

}  // namespace almanac::steer
