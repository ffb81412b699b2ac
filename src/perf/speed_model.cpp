// SPDX-License-Identifier: Apache-2.0
#include "perf/speed_model.h"

#include <algorithm>

#include "base/check.h"
#include "perf/beside.h"

namespace almanac::perf {

double SpeedModel::computes(GpuType type, double power, int gpus, int nodes) const {
  const OnType& board = on(type);
  double speed = board.alone;
  if (gpus > 1) {
    speed /= join(1 / power, board.step.sync(gpus, nodes), board.step.overlap);
  } else {
    speed *= power;
  }
  return speed;
}

JobSpeed::JobSpeed(const SpeedModel& model, std::span<const Grant> reference,
                   std::optional<GenieTask> task)
    : model_(&model),
      task_(task),
      reference_(gather(reference, {}, false)),
      reference_speed_(speed(reference_)) {
  ALMANAC_CHECK(reference_speed_ > 0, "a reference without speed: {} cores, {} GB a GPU",
                reference_.cpus_per_gpu, reference_.memory_gb_per_gpu);
}

JobSpeed::Given JobSpeed::gather(std::span<const Grant> grants,
                                 std::span<const SpeedModel* const> beside, bool yields) const {
  Given given;
  double slowest = std::numeric_limits<double>::infinity();
  for (const Grant& grant : grants) {
    given.gpus += grant.gpus;
    given.cpus_per_gpu = std::min(given.cpus_per_gpu, grant.cpus / grant.gpus);
    given.memory_gb_per_gpu = std::min(given.memory_gb_per_gpu, grant.memory_gb / grant.gpus);
    if (const double alone = model_->on(grant.type).alone * grant.power; alone < slowest) {
      slowest = alone;
      given.type = grant.type;
      given.power = grant.power;
    }
  }
  ALMANAC_CHECK(given.gpus > 0, "a job without GPUs has no speed");
  given.nodes = static_cast<int>(grants.size());
  if (beside.empty()) return given;
  given.beside =
      yields ? part_left(*model_, beside, given.type) : part_kept(*model_, beside, given.type);
  return given;
}

double JobSpeed::computes(const Given& given) const {
  // How the GPUs of a task wait for each other is in its latency.
  const bool alone = task_.has_value();
  return given.beside *
         model_->computes(given.type, given.power, alone ? 1 : given.gpus, alone ? 1 : given.nodes);
}

double JobSpeed::all_of(const Given& given) const {
  if (!task_) return given.gpus;
  return 1 / task_->latency_s(
                 {.nodes = double(given.nodes), .gpus_per_node = double(given.gpus) / given.nodes});
}

double JobSpeed::speed(const Given& given) const {
  return all_of(given) *
         std::min(computes(given), model_->fed(given.cpus_per_gpu, given.memory_gb_per_gpu));
}

double JobSpeed::rate(int nodes, int gpus_per_node, double power) const {
  Given given = reference_;
  given.power = power;
  given.nodes = nodes;
  given.gpus = nodes * gpus_per_node;
  return speed(given) / reference_speed_;
}

Pace JobSpeed::pace(std::span<const Grant> grants, std::span<const SpeedModel* const> beside,
                    bool yields) const {
  const Given given = gather(grants, beside, yields);
  const double computed = computes(given);
  const double fed = model_->fed(given.cpus_per_gpu, given.memory_gb_per_gpu);
  return {.rate = all_of(given) * std::min(computed, fed) / reference_speed_,
          .computing = std::min(1.0, fed / computed)};
}

Parts JobSpeed::parts(std::span<const Grant> grants, std::span<const SpeedModel* const> beside,
                      bool yields) const {
  const Given end = gather(grants, beside, yields);
  Given now = reference_;
  double before = reference_speed_;
  const auto ratio = [&] {
    const double after = speed(now);
    const double part = after / before;
    before = after;
    return part;
  };
  Parts parts;
  now.gpus = end.gpus;
  now.nodes = end.nodes;
  parts.gpus = ratio();
  now.type = end.type;
  parts.type = ratio();
  now.beside = end.beside;
  parts.neighbours = ratio();
  now.cpus_per_gpu = end.cpus_per_gpu;
  parts.cpus = ratio();
  now.memory_gb_per_gpu = end.memory_gb_per_gpu;
  parts.memory = ratio();
  now.power = end.power;
  parts.power = ratio();
  parts.computing =
      std::min(1.0, model_->fed(end.cpus_per_gpu, end.memory_gb_per_gpu) / computes(end));
  return parts;
}

}  // namespace almanac::perf
