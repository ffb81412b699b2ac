// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "steer/compactions.h"
#include "steer/outlook.h"
#include "steer/policies.h"
#include "steer/slurm_service.h"
#include "steer/watching.h"

namespace almanac::steer {

namespace {

/// Slurm as it comes, as advice plays it: the queue in its order, and backfill by time limits.
constexpr const char* kStockSlurm = "easy+limit";

/// As Slurm stands in its queue now; one that is not there any more is last.
void put_by_priority(std::vector<slurm::JobNumber>& queue, const Mirror& mirror) {
  const auto priority = [&](slurm::JobNumber number) {
    const slurm::Job* const job = mirror.find(number);
    return job == nullptr ? 0 : job->priority;
  };
  std::stable_sort(queue.begin(), queue.end(), [&](slurm::JobNumber a, slurm::JobNumber b) {
    return priority(a) > priority(b);
  });
}

}  // namespace

void SlurmService::look_on() {
  // What was there ends outside the lock: its threads may wait for that.
  std::shared_ptr<Watching> before;
  const std::lock_guard lock(mutex_);
  if (!watching_ || watching_->world != world_) {
    taught_.clear();
    before = std::exchange(watching_, std::make_shared<Watching>(*this, world_));
  }
  std::optional<policy::Composition> shadow;
  if (auto made = compose(config_.shadow); !config_.shadow.empty() && made) {
    shadow = std::move(made->composition);
  }
  watching_->shadow.watch(decider_->policy().composition, std::move(shadow));
}

std::vector<slurm::JobNumber> SlurmService::queue() const {
  const auto shown = decider_->shown();
  std::vector<slurm::JobNumber> made(shown.begin(), shown.end());
  if (!decides()) put_by_priority(made, mirror_);
  return made;
}

Result<sim::Compactions> SlurmService::compactions() const {
  std::optional<Mirror> mirror;
  std::shared_ptr<const World> world;
  std::vector<slurm::JobNumber> waiting;
  {
    const std::lock_guard lock(mutex_);
    if (!world_) return fail(Code::unavailable, "Slurm has not been looked at yet");
    mirror = mirror_;
    world = world_;
    waiting = queue();
  }
  return compactions_of(*mirror, *world, waiting);
}

service::Outlook SlurmService::outlook(const World& world) {
  const std::lock_guard lock(mutex_);
  service::Outlook made;
  if (world_.get() == &world) {
    made = outlook_of(mirror_, world, queue());
    for (const policy::PastUse& use :
         past_use_of(mirror_.associations(), world.tenants, mirror_.at())) {
      made.used.push_back({.tenant = use.tenant, .user = {}, .gpu_s = use.gpu_s});
    }
  }
  made.revision = revision_;
  made.composition = decider_->policy().composition;
  // A Slurm that is left to itself does what it does, whatever the policy would.
  if (!decides()) {
    made.composition = compose(kStockSlurm)->composition;
    made.in_line = true;
  }
  made.ended = std::exchange(taught_, {});
  return made;
}

slurm::Limits SlurmService::limits() const {
  const std::lock_guard lock(mutex_);
  return mirror_.limits();
}

std::optional<service::Comparison> SlurmService::shadow() const {
  const std::lock_guard lock(mutex_);
  return watching_ ? watching_->shadow.last() : std::nullopt;
}

std::optional<service::Expected> SlurmService::expect(store::JobNumber number,
                                                      Duration patience) const {
  std::shared_ptr<Watching> watching;
  {
    const std::lock_guard lock(mutex_);
    watching = watching_;
  }
  return watching ? watching->foresight.ask(number, patience) : std::nullopt;
}

Result<std::optional<service::Expected>> SlurmService::foresee(
    const store::Submission& asked) const {
  std::shared_ptr<Watching> watching;
  {
    const std::lock_guard lock(mutex_);
    watching = watching_;
  }
  if (!watching) return fail(Code::unavailable, "Slurm has not been looked at yet");
  return watching->foresight.would(asked);
}

}  // namespace almanac::steer
