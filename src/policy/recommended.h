// SPDX-License-Identifier: Apache-2.0

/// \file
/// The policy that every command starts with, compares first and, among equals, recommends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace almanac::policy {

inline constexpr const char* kRecommended = "almanac";

/// Policies whose mean waits differ by less than this fraction are equals: another month of the
/// same log would rank them differently.
inline constexpr double kSameWait = 0.02;

/// Whether a row is that of the recommended policy: `almanac`, or `out/day:almanac` of a run.
inline bool is_recommended(std::string_view name) {
  return name == kRecommended ||
         (name.ends_with(kRecommended) &&
          name[name.size() - std::string_view(kRecommended).size() - 1] == ':');
}

/// Returns the position of the row that gains are against: the first one that is neither the
/// recommended policy, which tables show first, nor that policy with other parts; 0 if there is no
/// other. `name` maps a row to the name of its policy.
template <class Rows, class Name>
std::size_t baseline_of(const Rows& rows, Name name) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const auto& row) {
    const std::string own(std::invoke(name, row));
    return !is_recommended(std::string_view(own).substr(0, own.find('+')));
  });
  return at == rows.end() ? 0 : static_cast<std::size_t>(at - rows.begin());
}

}  // namespace almanac::policy
