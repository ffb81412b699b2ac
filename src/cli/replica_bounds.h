// SPDX-License-Identifier: Apache-2.0

/// \file
/// The number of replicas of a service as users write it: "2" or "1..4".
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/result.h"

namespace almanac::cli {

struct ReplicaBounds {
  int least = 1;  ///< 0 = none while no request comes.
  int most = 1;
};

/// Fails with usage; `what` is the name of the option.
inline Result<ReplicaBounds> read_replica_bounds(const std::string& what, const std::string& told) {
  constexpr int kMost = 100'000;
  const auto number = [](std::string_view text, int& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
  };
  ReplicaBounds made;
  const std::string_view text = told;
  const std::size_t dots = text.find("..");
  const bool is_range = dots != std::string_view::npos;
  const bool read = is_range ? number(text.substr(0, dots), made.least) &&
                                   number(text.substr(dots + 2), made.most)
                             : number(text, made.least);
  if (!is_range) made.most = made.least;
  if (read && made.least >= 0 && made.most >= 1 && made.least <= made.most && made.most <= kMost) {
    return made;
  }
  return fail(Code::usage,
              fmt::format("{} must be a number of replicas or a range, found \"{}\"", what, told),
              {}, "for example 2, 1..4, or 0..4 to have none while no requests come");
}

}  // namespace almanac::cli
