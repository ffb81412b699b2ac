// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "steer/outlook.h"
#include "steer/slurm_service.h"
#include "steer/watching.h"

namespace almanac::steer {

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

live::Outlook SlurmService::outlook(const World& world) {
  const std::lock_guard lock(mutex_);
  live::Outlook made;
  // A Slurm that is left to itself does not do what the policy would.
  if (world_.get() == &world && (moves("order") || moves("placement"))) {
    made = outlook_of(mirror_, world, decider_->shown());
  }
  made.revision = revision_;
  made.composition = decider_->policy().composition;
  made.ended = std::exchange(taught_, {});
  return made;
}

slurm::Limits SlurmService::limits() const {
  const std::lock_guard lock(mutex_);
  return mirror_.limits();
}

std::optional<live::Comparison> SlurmService::shadow() const {
  const std::lock_guard lock(mutex_);
  return watching_ ? watching_->shadow.last() : std::nullopt;
}

std::optional<live::Expected> SlurmService::expect(store::JobNumber number,
                                                   Duration patience) const {
  std::shared_ptr<Watching> watching;
  {
    const std::lock_guard lock(mutex_);
    watching = watching_;
  }
  return watching ? watching->foresight.ask(number, patience) : std::nullopt;
}

}  // namespace almanac::steer
