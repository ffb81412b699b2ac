// SPDX-License-Identifier: Apache-2.0
#include "machine/succession.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/step_back.h"
#include "predict/replay.h"
#include "schedule/admission.h"
#include "schedule/past_use.h"
#include "service/log.h"
#include "service/notify.h"
#include "service/policies.h"
#include "store/log.h"

namespace almanac::machine {

using trace::JobState;

namespace {

/// The pause before a store that could not be read is read again.
constexpr Duration kPrepareAgain = 1min;

}  // namespace

Result<void> Succession::begin() {
  // Learning takes long. Until it is done, running jobs continue and no job starts. The exception
  // is a previous service that was killed while it learned: if each one were, no job would ever
  // start.
  store::Store& store = parts_.state.store;
  const auto learned_never = store.get(service::kLearnsKey);
  if (!learned_never) return tl::unexpected(learned_never.error());
  is_learning_ = true;
  parts_.queue.hold_back(*learned_never != "1");
  store::Store::Batch mark;
  mark.set(service::kLearnsKey, "1");
  if (const auto kept = store.commit(mark); !kept) service::log_warning(to_string(kept.error()));
  begin_policy(untaught());
  return {};
}

Result<Successor> Succession::prepare(policy::Composition composition, Time now) const {
  auto log = parts_.state.store.log(now - service::kLesson, service::kLessons);
  if (!log) return tl::unexpected(log.error());
  std::erase_if(log->jobs, [&](const trace::Job& job) { return job.outcome.end >= now; });
  Successor made{.composition = std::move(composition),
                 .trace = std::make_unique<trace::Trace>(std::move(*log)),
                 .taught_until = now};
  made.estimator = service::taught_estimator(made.composition, *made.trace, made.trace->jobs);
  made.estimator->answer_at_once(now);
  const schedule::Admission owners(parts_.state.config.machine.cluster, made.trace->names);
  for (const trace::Job& job : made.trace->jobs) {
    schedule::add_past_use(job.request, owners.tenant(job.request), job.outcome.start,
                           job.outcome.end, job.outcome.run, made.past_use);
  }
  made.trace->jobs = {};
  return made;
}

Successor Succession::untaught() const {
  Successor made{.composition = parts_.queue.composition(),
                 .trace = std::make_unique<trace::Trace>(),
                 .taught_until = parts_.state.now,
                 .is_taught = false};
  made.estimator = service::taught_estimator(made.composition, *made.trace, {});
  return made;
}

void Succession::catch_up(Successor& next) const {
  auto ended = parts_.state.store.jobs({.ended_since = next.taught_until});
  if (!ended) return service::log_warning(to_string(ended.error()));
  std::vector<trace::Job> lessons;
  const schedule::Admission owners(parts_.state.config.machine.cluster, next.trace->names);
  for (auto job = ended->rbegin(); job != ended->rend(); ++job) {
    if (job->start == kNoTime || job->state == JobState::running) continue;
    const trace::Job& lesson = lessons.emplace_back(store::record_of(*job, next.trace->names));
    schedule::add_past_use(lesson.request, owners.tenant(lesson.request), job->start, job->end,
                           job->attained, next.past_use);
  }
  predict::teach(*next.estimator, lessons);
}

void Succession::begin_policy(Successor next) {
  if (next.is_taught && std::exchange(is_learning_, false)) {
    parts_.queue.hold_back(false);
    parts_.state.outbox.set(service::kLearnsKey, "0");
    parts_.admitter.admit_to_next_policy();
  }
  catch_up(next);
  // Its estimator ends with the fit that it is at, for which no caller waits.
  if (auto former = parts_.queue.release()) renewal_.retire(std::move(former));
  renewal_.supersede();
  const auto refused =
      parts_.queue.begin(std::move(next), parts_.decider, parts_.out_of_service.outage());
  parts_.line.reset();
  for (const auto& [entry, why] : refused) {
    parts_.lifecycle.apply(
        *entry, life::Ended{JobState::failed,
                            fmt::format("it can never run here: {}", policy::to_string(why, ""))});
  }
  parts_.state.has_changed = true;
  // The policy must know all jobs before it hears what becomes of them.
  parts_.decider.decide();
}

void Succession::prepare_next() {
  const auto make = [this, is_urgent = parts_.queue.is_held_back(),
                     composition = wanted_.value_or(parts_.queue.composition()),
                     now = parts_.state.now] {
    if (!is_urgent) step_back();
    return prepare(composition, now);
  };
  // If no thread is available, the next step tries again.
  if (renewal_.begin(make, wanted_.has_value())) wanted_.reset();
}

void Succession::renew() {
  const std::string& policy = parts_.state.config.policy;
  if (!renewal_.is_under_way()) {
    const bool is_due = wanted_ || is_learning_ || parts_.queue.is_worn();
    if (renewal_.may_begin(parts_.state.now) && is_due) prepare_next();
    return;
  }
  auto done = renewal_.take();
  if (!done) return;
  if (!done->made) {
    service::log_warning(fmt::format("the policy is unchanged: {}", to_string(done->made.error())));
    parts_.queue.hold_back(false);
    renewal_.put_off(parts_.state.now + kPrepareAgain);
  } else if (!done->is_stale) {
    begin_policy(std::move(*done->made));
    if (done->is_told) service::log_info(fmt::format("policy {} was reloaded", policy));
  }
  if (done->is_told) service::tell_ready(fmt::format("policy {}", policy));
  if (wanted_) parts_.state.bell.ring();  // a policy whose file was read meanwhile
}

void Succession::read_policy_file() {
  const std::string& policy = parts_.state.config.policy;
  service::tell_reloading();
  auto made = service::compose(policy);
  if (made) {
    wanted_ = std::move(*made);
    return renew();
  }
  service::log_error(fmt::format("policy {} is unchanged: {}", policy, to_string(made.error())));
  service::tell_ready(fmt::format("policy {}", policy));
}

Result<void> Succession::set_policy(const std::string& policy, const service::Caller& caller) {
  if (auto may = service::only_for_operators(caller); !may) return may;
  auto made = service::compose(policy);
  if (!made) return tl::unexpected(made.error());
  const Time now = [this] {
    const Lock lock(parts_.state.mutex);
    return parts_.state.time.now();
  }();
  // Prepares the policy in the caller's thread; rounds continue meanwhile.
  auto prepared = prepare(std::move(*made), now);
  if (!prepared) return tl::unexpected(prepared.error());
  const auto next = std::make_shared<Successor>(std::move(*prepared));
  return parts_.requests.change([this, policy, next]() -> Result<Change> {
    Change change;
    change.kept.set(service::kPolicyKey, policy);
    change.act = [this, policy, next] {
      parts_.state.config.policy = policy;
      // Replaces a policy that the disk has not taken yet.
      parts_.state.outbox.set(service::kPolicyKey, policy);
      wanted_.reset();
      begin_policy(std::move(*next));
    };
    return change;
  });
}

Result<void> Succession::set_shadow(const std::string& policy, const service::Caller& caller) {
  if (auto may = service::only_for_operators(caller); !may) return may;
  if (!policy.empty()) {
    if (auto made = service::compose(policy); !made) return tl::unexpected(made.error());
  }
  return parts_.requests.change([this, policy]() -> Result<Change> {
    Change change;
    change.kept.set(service::kShadowKey, policy);
    change.act = [this, policy] { parts_.state.config.shadow = policy; };
    return change;
  });
}

}  // namespace almanac::machine
