// SPDX-License-Identifier: Apache-2.0
#include "sim/pace.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace almanac::sim {
namespace {

std::string with_factors(const char* verb, double rate, const perf::Parts& parts,
                         double bandwidth) {
  const std::pair<const char*, double> factors[] = {
      {"GPUs", parts.gpus},    {"type", parts.type},     {"neighbours", parts.neighbours},
      {"cores", parts.cpus},   {"memory", parts.memory}, {"power", parts.power},
      {"bandwidth", bandwidth}};
  std::string text = fmt::format("{} at {:.2f}", verb, rate);
  const char* separator = ": ";
  for (const auto& [name, factor] : factors) {
    if (std::abs(factor - 1) < 0.005) continue;
    text += fmt::format("{}{} {:.2f}", separator, name, factor);
    separator = ", ";
  }
  return text;
}

}  // namespace

std::string to_string(const PaceChange& pace) {
  return with_factors("runs", pace.rate, pace.parts, pace.bandwidth);
}

std::string in_words(const MeanPace& pace) {
  return with_factors("ran", pace.rate, pace.parts, pace.bandwidth);
}

}  // namespace almanac::sim
