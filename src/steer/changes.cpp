// SPDX-License-Identifier: Apache-2.0
#include "steer/changes.h"

#include <utility>

#include <fmt/format.h>

#include "service/policies.h"
#include "steer/mark.h"
#include "steer/record.h"

namespace almanac::steer {

using service::Caller;
using service::only_for_operators;

void Changes::take() {
  for (auto& request : wishes_.take_all()) {
    controller_.wait_for(kGranting,
                         [&] { request.answer.set_value(request.asked(controller_.link())); });
  }
}

Result<void> Changes::change(Wish wish) { return wishes_.ask(std::move(wish)); }

Result<manager::Job> Changes::own(store::JobNumber number, const Caller& caller) const {
  const std::lock_guard lock(known_.mutex);
  const manager::Job* const job = known_.mirror.find(to_manager(number));
  if (job == nullptr) {
    return fail(Code::not_found, fmt::format("no job {} waits or runs", number));
  }
  if (!caller.may_all && caller.uid != job->uid) {
    return fail(Code::conflict, fmt::format("job {} is {}'s", number, job->user));
  }
  return *job;
}

Result<void> Changes::change_jobs(const std::vector<store::JobNumber>& numbers,
                                  const Caller& caller, MakeChange make) {
  return change([=, this](manager::Link& link) -> Result<void> {
    std::vector<manager::JobChange> changes;
    for (const store::JobNumber number : numbers) {
      const auto job = own(number, caller);
      if (!job) return tl::unexpected(job.error());
      auto change = make(*job);
      if (!change) return tl::unexpected(change.error());
      changes.push_back(*std::move(change));
    }
    const auto done = link.change(changes);
    const std::lock_guard lock(known_.mutex);
    known_.look_again = true;
    ++known_.revision;
    for (std::size_t at = 0; at < done.size(); ++at) {
      if (!done[at]) return done[at];
      known_.mirror.note(changes[at]);
    }
    if (done.size() < changes.size()) {
      return fail(Code::unavailable, "the controller does not answer");
    }
    return {};
  });
}

Result<void> Changes::end_jobs(const std::vector<store::JobNumber>& numbers, const Caller& caller,
                               manager::Fate fate) {
  return change([=, this](manager::Link& link) -> Result<void> {
    for (const store::JobNumber number : numbers) {
      const auto job = own(number, caller);
      if (!job) return tl::unexpected(job.error());
      if (const auto ended = link.end(job->number, fate); !ended) return ended;
    }
    return {};
  });
}

Result<void> Changes::cancel(const std::vector<store::JobNumber>& numbers, const Caller& caller) {
  return end_jobs(numbers, caller, manager::Fate::cancel);
}

Result<void> Changes::hold(const std::vector<store::JobNumber>& numbers, const Caller& caller) {
  return change_jobs(numbers, caller, [this, of_user = !caller.may_all](const manager::Job& job) {
    // Without our mark: what is marked, levers release when its time has come.
    const std::lock_guard lock(known_.mutex);
    manager::JobChange made = known_.driver.claims()
                                  .of<QueueChange>()
                                  .without_mark(job, known_.mirror.at())
                                  .value_or(manager::JobChange{.job = job.number});
    made.held = true;
    made.of_user = of_user;
    return Result<manager::JobChange>(std::move(made));
  });
}

Result<void> Changes::release(const std::vector<store::JobNumber>& numbers, const Caller& caller) {
  return change_jobs(
      numbers, caller, [=, this](const manager::Job& job) -> Result<manager::JobChange> {
        const std::lock_guard lock(known_.mutex);
        const bool is_ours = is_leased(job, known_.mirror.at());
        if (!caller.may_all && (is_ours || (job.held && job.reason != kHeldByUser))) {
          return fail(Code::conflict,
                      fmt::format("an administrator or Almanac holds job {}", job.number));
        }
        if (!is_ours) return manager::JobChange{.job = job.number, .held = false};
        return manager::JobChange{
            .job = job.number, .begins = known_.driver.claims().of<QueueChange>().may_begin(job)};
      });
}

Result<void> Changes::requeue(const std::vector<store::JobNumber>& numbers, const Caller& caller) {
  return end_jobs(numbers, caller, manager::Fate::requeue);
}

Result<void> Changes::set_policy(const std::string& policy, const Caller& caller) {
  if (auto may = only_for_operators(caller); !may) return may;
  auto chosen = compose(policy);
  if (!chosen) return tl::unexpected(chosen.error());
  auto made = decider_for(std::move(*chosen), known_.store, known_.config);
  if (!made) return tl::unexpected(made.error());
  auto set = change([this, policy, &made](manager::Link&) -> Result<void> {
    const std::lock_guard lock(known_.mutex);
    succession_.replace(*made, policy);  // the old one ends where no request waits for that
    saving_.set(service::kPolicyKey, policy);
    return {};
  });
  if (set) watching_.look_on();
  return set;
}

Result<void> Changes::set_shadow(const std::string& policy, const Caller& caller) {
  if (auto may = only_for_operators(caller); !may) return may;
  if (!policy.empty()) {
    if (const auto made = compose(policy); !made) return tl::unexpected(made.error());
  }
  {
    const std::lock_guard lock(known_.mutex);
    known_.config.shadow = policy;
    saving_.set(service::kShadowKey, policy);
    ++known_.revision;
  }
  watching_.look_on();
  return {};
}

}  // namespace almanac::steer
