// SPDX-License-Identifier: Apache-2.0
#include "steer/watching.h"

#include <algorithm>
#include <utility>

#include "service/policies.h"
#include "steer/compactions.h"
#include "steer/outlook.h"
#include "steer/policies.h"
#include "steer/record.h"

namespace almanac::steer {

namespace {

/// Slurm as it comes, as advice plays it: the queue in its order, and backfill by time limits.
constexpr const char* kStockSlurm = "easy+limit";

/// Sorts the jobs as in the manager's queue now; jobs that are gone come last.
void put_by_priority(std::vector<manager::JobNumber>& queue, const Mirror& mirror) {
  const auto priority = [&](manager::JobNumber number) {
    const manager::Job* const job = mirror.find(number);
    return job == nullptr ? 0 : job->priority;
  };
  std::stable_sort(queue.begin(), queue.end(), [&](manager::JobNumber a, manager::JobNumber b) {
    return priority(a) > priority(b);
  });
}

void note_expected_waits(Known& known, const std::vector<store::Told>& told) {
  const std::lock_guard lock(known.mutex);
  for (const store::Told& each : told) {
    const manager::Job* const job = known.mirror.find(to_manager(each.job));
    if (job == nullptr || each.start_to == kNoTime || each.start_to == kNever) continue;
    known.counters.expected_waits.add(job->partition, job->user, job->gpus,
                                      each.start_to - std::max(job->submit, job->eligible));
  }
}

}  // namespace

struct Watching::Watchers {
  std::shared_ptr<const World> world;
  service::Shadow shadow;
  service::Foresight foresight;

  Watchers(Watching& of, Known& known)
      : world(known.world),
        shadow([&of, &known,
                world = known.world.get()] { return past_of(known.store, *world, of.limits()); },
               world->of_the_past, known.config.seed, kNoDuration, known.clock),
        foresight(
            world->cluster, nullptr,
            [&known] {
              return known.store.log(known.clock.wall() - service::kLesson, service::kLessons);
            },
            kFutures, known.config.seed,
            [&of, world = known.world.get()] { return of.outlook(*world); },
            [&known] { return known.revision.load(); },
            [&known](const auto& told) { note_expected_waits(known, told); }, known.clock) {}

 private:
  static constexpr int kFutures = 32;
};

void Watching::look_on() {
  // What was there ends outside the lock: its threads may wait for that.
  std::shared_ptr<Watchers> before;
  const std::lock_guard lock(known_.mutex);
  if (!watchers_ || watchers_->world != known_.world) {
    known_.taught.clear();
    before = std::exchange(watchers_, std::make_shared<Watchers>(*this, known_));
  }
  std::optional<policy::Composition> shadow;
  if (auto made = compose(known_.config.shadow); !known_.config.shadow.empty() && made) {
    shadow = std::move(made->composition);
  }
  watchers_->shadow.watch(known_.decider->policy().composition, std::move(shadow));
}

std::shared_ptr<Watching::Watchers> Watching::watchers() const {
  const std::lock_guard lock(known_.mutex);
  return watchers_;
}

std::vector<manager::JobNumber> Watching::queue() const {
  const auto shown = known_.decider->shown();
  std::vector<manager::JobNumber> made(shown.begin(), shown.end());
  if (!steering_.decides()) put_by_priority(made, known_.mirror);
  return made;
}

Result<sim::Compactions> Watching::compactions() const {
  std::optional<Mirror> mirror;
  std::shared_ptr<const World> world;
  std::vector<manager::JobNumber> waiting;
  {
    const std::lock_guard lock(known_.mutex);
    if (!known_.world)
      return fail(Code::unavailable, "the service has not read the state of Slurm yet");
    mirror = known_.mirror;
    world = known_.world;
    waiting = queue();
  }
  return compactions_of(*mirror, *world, waiting);
}

service::Outlook Watching::outlook(const World& world) {
  const std::lock_guard lock(known_.mutex);
  service::Outlook made;
  if (known_.world.get() == &world) {
    made = outlook_of(known_.mirror, world, queue());
    for (const policy::PastUse& use :
         past_use_of(known_.mirror.associations(), world.tenants, known_.mirror.at())) {
      made.used.push_back({.tenant = use.tenant, .user = {}, .gpu_s = use.gpu_s});
    }
  }
  made.revision = known_.revision;
  made.composition = known_.decider->policy().composition;
  // A manager that is left to itself does what it does, whatever the policy would.
  if (!steering_.decides()) {
    made.composition = compose(kStockSlurm)->composition;
    made.in_line = true;
  }
  made.ended = std::exchange(known_.taught, {});
  return made;
}

manager::Limits Watching::limits() const {
  const std::lock_guard lock(known_.mutex);
  return known_.mirror.limits();
}

std::optional<service::Comparison> Watching::shadow() const {
  const auto watching = watchers();
  return watching ? watching->shadow.last() : std::nullopt;
}

std::optional<service::Expected> Watching::expect(store::JobNumber number,
                                                  Duration patience) const {
  const auto watching = watchers();
  return watching ? watching->foresight.ask(number, patience) : std::nullopt;
}

std::optional<service::Expected> Watching::expected(store::JobNumber number) const {
  return watchers_ ? watchers_->foresight.of(number) : std::nullopt;
}

Result<std::optional<service::Expected>> Watching::foresee(const store::Submission& asked) const {
  const auto watching = watchers();
  if (!watching) return fail(Code::unavailable, "the service has not read the state of Slurm yet");
  return watching->foresight.would(asked);
}

Result<std::optional<service::ChangedForecasts>> Watching::foresee(
    const std::vector<std::string>& changes) const {
  const auto watching = watchers();
  if (!watching) return fail(Code::unavailable, "the service has not read the state of Slurm yet");
  return watching->foresight.would(changes);
}

Result<std::optional<service::StartsIf>> Watching::starts_if(store::JobNumber number) const {
  const auto watching = watchers();
  if (!watching) return fail(Code::unavailable, "the service has not read the state of Slurm yet");
  return watching->foresight.starts_if(number);
}

}  // namespace almanac::steer
