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

inline Time time_of(const nlohmann::json& seconds) {
  return Time{Duration{std::llround(seconds.get<double>() * 1e3)}};
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
