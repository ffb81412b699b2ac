// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include "steer/mark.h"
#include "steer/record.h"
#include "steer/slurm_service.h"
#include "steer/watching.h"

namespace almanac::steer {

using service::Caller;
using service::only_for_operators;

namespace {

tl::unexpected<Error> better_by_slurm(std::string what, std::string how) {
  return fail(Code::unsupported, std::move(what), {}, std::move(how));
}

}  // namespace

Result<void> SlurmService::change(Wish wish) { return wishes_.ask(std::move(wish)); }

Result<slurm::Job> SlurmService::own(store::JobNumber number, const Caller& caller) const {
  const std::lock_guard lock(mutex_);
  const slurm::Job* const job = mirror_.find(to_slurm(number));
  if (job == nullptr) {
    return fail(Code::not_found, fmt::format("no job {} waits or runs", number));
  }
  if (!caller.may_all && caller.uid != job->uid) {
    return fail(Code::conflict, fmt::format("job {} is {}'s", number, job->user));
  }
  return *job;
}

Result<void> SlurmService::change_jobs(const std::vector<store::JobNumber>& numbers,
                                       const Caller& caller, MakeChange make) {
  return change([=, this](slurm::Link& link) -> Result<void> {
    std::vector<slurm::JobChange> changes;
    for (const store::JobNumber number : numbers) {
      const auto job = own(number, caller);
      if (!job) return tl::unexpected(job.error());
      auto change = make(*job);
      if (!change) return tl::unexpected(change.error());
      changes.push_back(*std::move(change));
    }
    const auto done = link.change(changes);
    const std::lock_guard lock(mutex_);
    look_again_ = true;
    ++revision_;
    for (std::size_t at = 0; at < done.size(); ++at) {
      if (!done[at]) return done[at];
      mirror_.note(changes[at]);
    }
    if (done.size() < changes.size()) {
      return fail(Code::unavailable, "the controller does not answer");
    }
    return {};
  });
}

Result<void> SlurmService::end_jobs(const std::vector<store::JobNumber>& numbers,
                                    const Caller& caller, slurm::Fate fate) {
  return change([=, this](slurm::Link& link) -> Result<void> {
    for (const store::JobNumber number : numbers) {
      const auto job = own(number, caller);
      if (!job) return tl::unexpected(job.error());
      if (const auto ended = link.end(job->number, fate); !ended) return ended;
    }
    return {};
  });
}

Result<std::vector<store::JobNumber>> SlurmService::submit(store::Submission) {
  return better_by_slurm("jobs of a Slurm are submitted to Slurm", "submit with sbatch");
}

Result<void> SlurmService::judge(store::Submission) {
  return better_by_slurm("jobs of a Slurm are submitted to Slurm", "try sbatch --test-only");
}

Result<void> SlurmService::cancel(const std::vector<store::JobNumber>& numbers,
                                  const Caller& caller, bool now) {
  if (now) return better_by_slurm("Slurm has a grace of its own", "cancel without --now");
  return end_jobs(numbers, caller, slurm::Fate::cancel);
}

Result<void> SlurmService::hold(const std::vector<store::JobNumber>& numbers,
                                const Caller& caller) {
  return change_jobs(numbers, caller, [this, of_user = !caller.may_all](const slurm::Job& job) {
    // Without our mark: what is marked, levers release when its time has come.
    const std::lock_guard lock(mutex_);
    slurm::JobChange made = driver_.claims()
                                .of<QueueChange>()
                                .without_mark(job, mirror_.at())
                                .value_or(slurm::JobChange{.job = job.number});
    made.held = true;
    made.of_user = of_user;
    return Result<slurm::JobChange>(std::move(made));
  });
}

Result<void> SlurmService::release(const std::vector<store::JobNumber>& numbers,
                                   const Caller& caller) {
  return change_jobs(numbers, caller, [=, this](const slurm::Job& job) -> Result<slurm::JobChange> {
    const std::lock_guard lock(mutex_);
    const bool is_ours = is_leased(job, mirror_.at());
    if (!caller.may_all && (is_ours || (job.held && job.reason != kHeldByUser))) {
      return fail(Code::conflict,
                  fmt::format("job {} is held by an administrator, or by Almanac", job.number));
    }
    if (!is_ours) return slurm::JobChange{.job = job.number, .held = false};
    return slurm::JobChange{.job = job.number,
                            .begins = driver_.claims().of<QueueChange>().may_begin(job)};
  });
}

Result<void> SlurmService::requeue(const std::vector<store::JobNumber>& numbers,
                                   const Caller& caller) {
  return end_jobs(numbers, caller, slurm::Fate::requeue);
}

Result<void> SlurmService::set_drained(const std::string& node, bool drained, const Caller&) {
  return better_by_slurm("nodes of a Slurm are drained by Slurm",
                         fmt::format("scontrol update nodename={} state={}", node,
                                     drained ? "drain reason=..." : "resume"));
}

Result<void> SlurmService::set_gpu_trouble(const std::string&, int, const std::string&,
                                           const Caller&) {
  return better_by_slurm("Slurm knows no single GPU that is out of service", "drain its node");
}

Result<void> SlurmService::set_policy(const std::string& policy, const Caller& caller) {
  if (auto may = only_for_operators(caller); !may) return may;
  auto chosen = compose(policy);
  if (!chosen) return tl::unexpected(chosen.error());
  auto made = make_decider(std::move(*chosen));
  if (!made) return tl::unexpected(made.error());
  auto set = change([this, policy, &made](slurm::Link&) -> Result<void> {
    const std::lock_guard lock(mutex_);
    std::swap(decider_, *made);  // the old one is destroyed where no request waits for that
    renewal_.supersede();
    slimmer_->decide_by(decider_->policy().slimming);
    config_.policy = policy;
    values_.emplace_back(service::kPolicyKey, policy);
    look_again_ = true;
    ++revision_;
    return {};
  });
  if (set) look_on();
  return set;
}

Result<void> SlurmService::set_shadow(const std::string& policy, const Caller& caller) {
  if (auto may = only_for_operators(caller); !may) return may;
  if (!policy.empty()) {
    if (const auto made = compose(policy); !made) return tl::unexpected(made.error());
  }
  {
    const std::lock_guard lock(mutex_);
    config_.shadow = policy;
    values_.emplace_back(service::kShadowKey, policy);
    ++revision_;
  }
  look_on();
  return {};
}

}  // namespace almanac::steer
