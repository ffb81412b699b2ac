// SPDX-License-Identifier: Apache-2.0
#include "perf/speed_model.h"

#include <algorithm>

#include "base/check.h"
#include "perf/sharing.h"

namespace almanac::perf {

double SpeedModel::computes(GpuType type, int gpus, int nodes, double causes) const {
  const OnType& board = on(type);
  double speed = board.alone;
  if (gpus > 1) speed /= join(1, board.step.sync(gpus, nodes), board.step.overlap);
  if (causes > 0) speed *= shared_speed(board.suffers, causes);
  return speed;
}

JobSpeed::JobSpeed(const SpeedModel& model, std::span<const Grant> reference)
    : model_(&model), reference_(gather(reference, {})), reference_speed_(speed(reference_)) {
  ALMANAC_CHECK(reference_speed_ > 0, "a reference without speed: {} cores, {} GB a GPU",
                reference_.cpus_per_gpu, reference_.memory_gb_per_gpu);
}

JobSpeed::Given JobSpeed::gather(std::span<const Grant> grants,
                                 std::span<const SpeedModel* const> beside) const {
  Given given;
  double slowest = std::numeric_limits<double>::infinity();
  for (const Grant& grant : grants) {
    given.gpus += grant.gpus;
    given.cpus_per_gpu = std::min(given.cpus_per_gpu, grant.cpus / grant.gpus);
    given.memory_gb_per_gpu = std::min(given.memory_gb_per_gpu, grant.memory_gb / grant.gpus);
    if (const double alone = model_->on(grant.type).alone; alone < slowest) {
      slowest = alone;
      given.type = grant.type;
    }
  }
  ALMANAC_CHECK(given.gpus > 0, "a job without GPUs has no speed");
  given.nodes = static_cast<int>(grants.size());
  for (const SpeedModel* const other : beside) given.causes += other->on(given.type).causes;
  return given;
}

double JobSpeed::speed(const Given& given) const {
  return given.gpus * std::min(model_->computes(given.type, given.gpus, given.nodes, given.causes),
                               model_->fed(given.cpus_per_gpu, given.memory_gb_per_gpu));
}

Pace JobSpeed::pace(std::span<const Grant> grants,
                    std::span<const SpeedModel* const> beside) const {
  const Given given = gather(grants, beside);
  const double computes = model_->computes(given.type, given.gpus, given.nodes, given.causes);
  const double fed = model_->fed(given.cpus_per_gpu, given.memory_gb_per_gpu);
  return {.rate = given.gpus * std::min(computes, fed) / reference_speed_,
          .computing = std::min(1.0, fed / computes)};
}

Parts JobSpeed::parts(std::span<const Grant> grants,
                      std::span<const SpeedModel* const> beside) const {
  const Given end = gather(grants, beside);
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
  now.causes = end.causes;
  parts.neighbours = ratio();
  now.cpus_per_gpu = end.cpus_per_gpu;
  parts.cpus = ratio();
  now.memory_gb_per_gpu = end.memory_gb_per_gpu;
  parts.memory = ratio();
  parts.computing = std::min(1.0, model_->fed(end.cpus_per_gpu, end.memory_gb_per_gpu) /
                                      model_->computes(end.type, end.gpus, end.nodes, end.causes));
  return parts;
}

}  // namespace almanac::perf
