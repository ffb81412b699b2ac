// SPDX-License-Identifier: Apache-2.0
#include "perf/beside.h"

#include <algorithm>
#include <array>
#include <vector>

#include "perf/sharing.h"
#include "rules/interleave/beside.h"

namespace almanac::perf {
namespace {

constexpr double kLeastLeft = 0.01;

bool knows_stages(const SpeedModel::OnType& board) { return board.stages && board.step_s > 0; }
bool knows_phases(const SpeedModel::OnType& board) { return board.phases.has_value(); }

bool all_know(bool (*knows)(const SpeedModel::OnType&), const SpeedModel& model,
              std::span<const SpeedModel* const> beside, GpuType type) {
  return knows(model.on(type)) &&
         std::all_of(beside.begin(), beside.end(),
                     [&](const SpeedModel* each) { return knows(each->on(type)); });
}

std::vector<interleave::Phases> phases_of(std::span<const SpeedModel* const> jobs, GpuType type) {
  std::vector<interleave::Phases> phases;
  for (const SpeedModel* const each : jobs) phases.push_back(*each->on(type).phases);
  return phases;
}

double caused(std::span<const SpeedModel* const> jobs, GpuType type) {
  double sum = 0;
  for (const SpeedModel* const each : jobs) sum += each->on(type).causes;
  return sum;
}

}  // namespace

double part_kept(const SpeedModel& model, std::span<const SpeedModel* const> beside, GpuType type) {
  if (all_know(knows_phases, model, beside, type)) {
    std::vector<interleave::Phases> phases = phases_of(beside, type);
    phases.push_back(*model.on(type).phases);
    return model.on(type).phases->sum() / interleave::round_robin_period(phases);
  }
  const std::size_t jobs = beside.size() + 1;
  if (jobs > interleave::kMaxGroup || !all_know(knows_stages, model, beside, type)) {
    return shared_speed(model.on(type).suffers, caused(beside, type));
  }
  std::array<interleave::Stages, interleave::kMaxGroup> stages{*model.on(type).stages};
  for (std::size_t at = 0; at < beside.size(); ++at) stages[at + 1] = *beside[at]->on(type).stages;
  const double period = interleave::period(std::span(stages).first(jobs)).best;
  return std::min(1.0, model.on(type).step_s / interleave::group_iteration_s(period, jobs));
}

double part_left(const SpeedModel& model, std::span<const SpeedModel* const> beside, GpuType type) {
  const SpeedModel::OnType& own = model.on(type);
  double left = 0;
  if (all_know(knows_phases, model, beside, type)) {
    left = interleave::part_in_idle_phases(*own.phases, phases_of(beside, type));
  } else if (all_know(knows_stages, model, beside, type)) {
    double step_s = own.step_s;
    for (const SpeedModel* const each : beside) {
      const SpeedModel::OnType& other = each->on(type);
      step_s = std::max(step_s,
                        interleave::iterations_beside(*own.stages, *other.stages) * other.step_s);
    }
    left = own.step_s / step_s;
  } else {
    const double causes = caused(beside, type);
    left = shared_speed(own.suffers, causes);
    for (const SpeedModel* const each : beside) {
      const SpeedModel::OnType& other = each->on(type);
      const double rest = causes - other.causes;
      left += shared_speed(other.suffers, rest + own.causes) - shared_speed(other.suffers, rest);
    }
  }
  return std::clamp(left, kLeastLeft, 1.0);
}

}  // namespace almanac::perf
