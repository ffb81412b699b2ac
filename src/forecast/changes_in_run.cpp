// SPDX-License-Identifier: Apache-2.0
#include "forecast/changes_in_run.h"

#include <atomic>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "experiment/profile.h"
#include "policy/registry.h"
#include "text/moment.h"

namespace almanac::forecast {
namespace {

/// Keeps the state at a time, before the policy decides, and stops the simulation.
class StateAt final : public sim::Listener {
 public:
  /// The beliefs are those under the run's policy and, unless null, under another.
  StateAt(const Setting& setting, Time at, JobBeliefs& known, JobBeliefs* other)
      : setting_(setting), at_(at), known_(known), other_(other) {}

  void hear(Time now, std::span<const policy::Event> events, const schedule::Round& round,
            const policy::Telemetry* telemetry) override {
    if (present) return;
    known_.hear(events, round);
    if (other_ != nullptr) other_->hear(events, round);
    if (now < at_) return;
    present = sim::present_of(round, setting_.cluster, setting_.trace.jobs.size(), telemetry, now,
                              pauses_);
    present->throttled = sim::throttled_tasks(round, setting_.trace, now);
    known_.expect(present->throttled);
    if (other_ != nullptr) other_->expect(present->throttled);
    present->past_use = known_.used_by(*present, round);
    stop = true;
  }
  void paused(JobId job, Time until) override { pauses_[job] = until; }

  std::optional<sim::Present> present;
  std::atomic<bool> stop = false;

 private:
  const Setting& setting_;
  Time at_;
  JobBeliefs& known_;
  JobBeliefs* other_;
  sim::Pauses pauses_;
};

/// Returns the beliefs under the last policy of `changes`; nothing if they keep the policy.
Result<std::optional<JobBeliefs>> other_beliefs(const experiment::Prepared& prepared,
                                                std::span<const Change> changes) {
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    if (change->kind != Change::Kind::policy) continue;
    const auto composition = policy::registry().compose(change->policy);
    if (!composition) return tl::unexpected(composition.error());
    auto own = experiment::make_estimator(*composition, prepared.trace, prepared.model);
    if (!own) return tl::unexpected(own.error());
    return JobBeliefs(prepared.trace, likely_of(prepared), std::move(*own));
  }
  return std::nullopt;
}

}  // namespace

Result<ChangesInRun> compare_in_run(const experiment::Prepared& prepared, std::size_t run, Time at,
                                    std::span<const Change> changes, const Options& options) {
  const experiment::Prepared::Run& chosen = prepared.runs[run];
  auto own = experiment::make_estimator(chosen.composition, prepared.trace, prepared.model);
  if (!own) return tl::unexpected(own.error());
  auto other = other_beliefs(prepared, changes);
  if (!other) return tl::unexpected(other.error());
  const auto policy = experiment::make_policy(chosen, prepared.trace, prepared.model);
  if (!policy) return tl::unexpected(policy.error());
  const Setting setting = setting_of(prepared, run);
  JobBeliefs known(prepared.trace, likely_of(prepared), std::move(*own));
  StateAt state(setting, at, known, *other ? &**other : nullptr);
  sim::Options playing = setting.options;
  playing.watch.listener = &state;
  playing.watch.stop = &state.stop;
  sim::simulate(prepared.trace, prepared.cluster, **policy, playing);
  if (!state.present) {
    return fail(Code::usage,
                fmt::format("nothing happens in the run at or after {}", text::moment(at)), {},
                "give an earlier --at");
  }
  const Known naming{
      .jobs =
          [&](const std::string& asked) {
            std::vector<JobId> made;
            for (std::uint32_t job = 0; job < prepared.trace.jobs.size(); ++job) {
              if (names(asked, prepared.trace.id(prepared.trace.jobs[job].id))) {
                made.push_back(JobId{job});
              }
            }
            return made;
          },
      .policy = [](const std::string& name) { return policy::registry().compose(name); },
      .own =
          [&](const policy::Composition&) {
            std::unordered_map<JobId, predict::Belief> made;
            for (auto& [job, belief] : (*other)->beliefs())
              made.emplace(job, std::move(belief.own));
            return made;
          }};
  auto shifts = compare(setting, *state.present, known.beliefs(), changes, naming, options.futures,
                        options.seed);
  if (!shifts) return tl::unexpected(shifts.error());
  return ChangesInRun{.at = state.present->at, .shifts = std::move(*shifts)};
}

}  // namespace almanac::forecast
