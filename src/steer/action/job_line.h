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

/// Throws, as JSON does, at what has no place in a Time.
inline Time time_of(const nlohmann::json& told) {
  constexpr double kFarthest = 9e15;
  constexpr int kNoKind = 599;  // of JSON's numbers, one that it has not given out
  const auto seconds = told.get<double>();
  if (std::abs(seconds) > kFarthest) {
    throw nlohmann::json::other_error::create(kNoKind, "a time of no calendar", &told);
  }
  return Time{Duration{std::llround(seconds * 1e3)}};
}

inline void record_job(slurm::JobNumber job, const Meant& meant, nlohmann::json& into) {
  into["job"] = static_cast<std::uint32_t>(job);
  if (meant.submit == kNoTime) return;
  into["submitted_s"] = seconds(meant.submit);
  into["restarts"] = meant.restarts;
}

inline std::pair<slurm::JobNumber, Meant> read_job(const nlohmann::json& line) {
  Meant meant;
  if (line.contains("submitted_s")) {
    meant = {time_of(line.at("submitted_s")), line.at("restarts").get<int>()};
  }
  return {slurm::JobNumber{line.at("job").get<std::uint32_t>()}, meant};
}

}  // namespace almanac::steer
