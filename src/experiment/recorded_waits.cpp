// SPDX-License-Identifier: Apache-2.0
#include "experiment/recorded_waits.h"

#include <algorithm>

#include <fmt/format.h>

#include "stats/mean.h"
#include "stats/quantile.h"
#include "text/human.h"

namespace almanac::experiment {
namespace {

constexpr double kSameMean = 1.1;
constexpr double kSameP99 = 1.5;
constexpr double kEqualBelow_s = 60;
/// Fewer than one job in these.
constexpr std::int64_t kFewWait = 10;

bool is_within(double one_s, double other_s, double factor) {
  const double ratio = std::max(one_s, kEqualBelow_s) / std::max(other_s, kEqualBelow_s);
  return ratio <= factor && ratio >= 1 / factor;
}

}  // namespace

Duration recorded_wait(const trace::Job& job) {
  const trace::Outcome& outcome = job.outcome;
  const Time end = outcome.end != kNoTime ? outcome.end : outcome.start + outcome.run;
  return std::max(Duration{0}, end - job.request.submit - outcome.run);
}

WaitFigures wait_figures(std::vector<double>& waits_s) {
  const double mean = stats::mean(waits_s);
  return {.mean_s = mean, .p99_s = stats::quantile(waits_s, 0.99)};
}

bool reproduces(const WaitFigures& recorded, const WaitFigures& simulated) {
  return is_within(recorded.mean_s, simulated.mean_s, kSameMean) &&
         is_within(recorded.p99_s, simulated.p99_s, kSameP99);
}

std::string little_evidence(std::int64_t waited, std::int64_t jobs) {
  if (kFewWait * waited >= jobs) return "";
  const std::string who =
      waited == 0 ? "no job" : "only " + text::counted(static_cast<std::uint64_t>(waited), "job");
  return fmt::format(" This says little: {} waited longer than 10 minutes.", who);
}

}  // namespace almanac::experiment
