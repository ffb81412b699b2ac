// SPDX-License-Identifier: Apache-2.0
#include "predict/step_times.h"

#include <algorithm>
#include <cmath>

namespace almanac::predict {
namespace {

/// About the last twenty jobs of a kind count: programs and nodes change.
constexpr double kStepFade = 0.95;
/// Deviation (log10) of a prediction from one job, a factor of 1.4. It falls as jobs are added,
/// down to the deviation that these show.
constexpr double kUnsure = 0.15;

/// Mixes `value` into `key` (SplitMix64).
std::uint64_t key_with(std::uint64_t key, std::uint64_t value) {
  std::uint64_t z = key * 0x9e3779b97f4a7c15ULL + value + 0x632be59bd9b4e019ULL;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return (z ^ (z >> 31U)) | 1U;
}

}  // namespace

StepTimes::Seen StepTimes::seen(const trace::Request& request, const KindKeys& keys) {
  Seen made{.steps = request.steps};
  if (request.steps <= 0) return made;
  const auto of = [&](Kind kind) { return keys[static_cast<std::size_t>(kind)]; };
  const std::uint64_t gpus = key_with(static_cast<std::uint64_t>(request.gpus), 1);
  const std::uint64_t shape = key_with(gpus, static_cast<std::uint64_t>(request.batch));
  if (of(Kind::user_name) != 0) made.keys[0] = key_with(shape, of(Kind::user_name));
  if (of(Kind::name) != 0) made.keys[1] = key_with(shape, of(Kind::name));
  if (request.model == kNoName) return made;
  const std::uint64_t model =
      key_with(index(request.model), static_cast<std::uint64_t>(index(request.kind)));
  if (request.batch > 0) made.keys[2] = key_with(shape, model);
  made.keys[3] = key_with(gpus, model);
  return made;
}

std::optional<Distribution> StepTimes::run_time(const Seen& job) const {
  for (const std::uint64_t key : job.keys) {
    const auto found = kinds_.find(key);
    if (key == 0 || found == kinds_.end()) continue;
    const Sums& of = found->second;
    const double mean = of.log / of.jobs;
    const double seen = std::max(0.0, of.square - of.log * mean);
    const double unsure = kUnsure / of.jobs;
    const double deviation = std::sqrt(seen / of.jobs + unsure * unsure);
    Distribution made;
    const double width = std::sqrt(6.0) * deviation / Distribution::kStep;  // of a triangle
    made.add(mean + std::log10(static_cast<double>(job.steps)), 1,
             static_cast<int>(std::lround(width)));
    made.normalize();
    return made;
  }
  return std::nullopt;
}

void StepTimes::learn(const Seen& job, const Ended& ended) {
  const bool did_all =
      ended.state == trace::JobState::completed || ended.state == trace::JobState::unknown;
  if (job.steps <= 0 || !did_all) return;
  const double log = log_time(ended.ran) - std::log10(static_cast<double>(job.steps));
  for (const std::uint64_t key : job.keys) {
    if (key == 0) continue;
    Sums& of = kinds_[key];
    of = {.jobs = kStepFade * of.jobs + 1,
          .log = kStepFade * of.log + log,
          .square = kStepFade * of.square + log * log};
  }
}

}  // namespace almanac::predict
