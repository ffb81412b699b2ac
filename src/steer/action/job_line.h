// SPDX-License-Identifier: Apache-2.0

/// \file
/// The job of a change, in a line of the journal.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

#include "steer/meant.h"

namespace almanac::steer {

/// Throws as JSON does.
[[noreturn]] inline void refuse(const char* what, const nlohmann::json& where) {
  constexpr int kNoKind = 599;  // of JSON's numbers, one that it has not given out
  throw nlohmann::json::other_error::create(kNoKind, what, &where);
}

inline Time time_of(const nlohmann::json& told) {
  constexpr double kFarthest = 9e15;
  const auto seconds = told.get<double>();
  if (std::abs(seconds) > kFarthest) refuse("a time out of range", told);
  return Time{Duration{std::llround(seconds * 1e3)}};
}

template <typename Whole>
Whole whole(const nlohmann::json& told) {
  const bool is_whole = told.is_number_integer() && std::in_range<Whole>(told.get<std::int64_t>());
  if (!is_whole) refuse("not a whole number in range", told);
  return told.get<Whole>();
}

inline void record_job(manager::JobNumber job, const Meant& meant, nlohmann::json& into) {
  into["job"] = static_cast<std::uint32_t>(job);
  if (meant.submit == kNoTime) return;
  into["submitted_s"] = seconds(meant.submit);
  into["restarts"] = meant.restarts;
}

inline std::pair<manager::JobNumber, Meant> read_job(const nlohmann::json& line) {
  Meant meant;
  if (line.contains("submitted_s")) {
    meant = {time_of(line.at("submitted_s")), whole<int>(line.at("restarts"))};
  }
  return {manager::JobNumber{whole<std::uint32_t>(line.at("job"))}, meant};
}

}  // namespace almanac::steer
