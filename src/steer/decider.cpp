// SPDX-License-Identifier: Apache-2.0
#include "steer/decider.h"

#include <algorithm>
#include <utility>

#include "policy/registry.h"

namespace almanac::steer {

using manager::JobNumber;
using policy::Phase;

namespace {

/// A round is planned at most so often, until all that starts is where the manager would start it.
constexpr int kPlans = 5;

}  // namespace

Decider::Decider(Chosen policy, trace::Trace lessons, std::uint64_t seed,
                 std::shared_ptr<const perf::Catalogue> speeds)
    : chosen_(std::move(policy)),
      seed_(seed),
      speeds_(std::move(speeds)),
      experience_(chosen_.composition, std::move(lessons)) {}

std::optional<Time> Decider::instant(Time now) const {
  const Duration lease = policy::registry().lease(chosen_.composition);
  if (lease == Duration{0}) return now;
  const Time begun{now.time_since_epoch() / lease * lease};
  if (decision_.at != kNoTime && begun <= decision_.at) return std::nullopt;
  return begun;
}

const Decision& Decider::decide(const Mirror& mirror, std::shared_ptr<const World> world,
                                const Exempt& exempt, std::span<const manager::Job> announced,
                                const std::set<JobNumber>& in_vain) {
  const auto at = instant(mirror.at());
  if (!at) return decision_;
  round_.reset();  // uses members of the roll
  roll_.read(mirror, world);
  std::optional<Freedom> freedom;
  if (chosen_.only_moves) freedom.emplace(mirror, *world);
  const PlannedRound::Basis basis{.mirror = mirror,
                                  .roll = roll_,
                                  .exempt = exempt,
                                  .announced = announced,
                                  .in_vain = in_vain,
                                  .policy = chosen_,
                                  .seed = seed_,
                                  .speeds = speeds_,
                                  .past_use = experience_.past_use(mirror, *world),
                                  .freedom = freedom ? &*freedom : nullptr};
  Placing placing(mirror, *world);
  const auto to_start_since = std::exchange(decision_.to_start_since, {});
  for (int tries = 1;; ++tries) {
    round_.reset();
    decision_ = Decision{.at = *at, .world = world};
    round_ = std::make_unique<PlannedRound>(basis, placing, experience_, decision_);
    if (!placing.move_misplaced(*round_, tries == kPlans)) break;
  }
  note_quotas(mirror);
  read_plan();
  note_starts(to_start_since);
  rank_limited(mirror, basis.past_use);
  decision_.clashes = round_->clashes();
  return decision_;
}

void Decider::read_plan() {
  const schedule::Round& round = round_->round();
  const RoundJobs& jobs = round_->jobs();
  const std::vector<JobId>& started = round_->started();
  const cluster::Cluster& cluster = decision_.world->cluster;
  places_.clear();
  for (std::uint32_t vc = 0; vc < cluster.vcs.size(); ++vc) {
    decision_.lines.push_back({.vc = VcId{vc}});
  }
  const auto join = [&](JobId job) {
    if (jobs.runs(job)) return;  // it was stopped
    const JobNumber number = jobs.number(job);
    const VcId vc = round.progress(job).vc;
    std::vector<JobNumber>& line = decision_.lines[index(vc)].jobs;
    const Spot next{vc, static_cast<std::int64_t>(line.size()) + 1};
    if (places_.try_emplace(number, next).second) line.push_back(number);
  };
  for (const JobId job : started) {
    const auto held = round.grants(job);
    if (!jobs.runs(job)) {
      decision_.starts.push_back({jobs.number(job), {held.begin(), held.end()}});
    }
    join(job);
  }
  for (std::size_t at = 0; at < jobs.num_running(); ++at) {
    const JobId job{static_cast<std::uint32_t>(at)};
    const bool moved = std::find(started.begin(), started.end(), job) != started.end();
    if (round.progress(job).phase == Phase::waiting || moved) {
      decision_.stops.push_back(jobs.number(job));
    }
  }
  std::vector<JobId> line;
  round.line_up(line);
  for (const JobId job : line) join(job);
}

void Decider::note_starts(const std::map<JobNumber, Time>& before) {
  for (const auto& [job, since] : before) {
    const auto found = decision_.aside.find(job);
    if (found != decision_.aside.end() && found->second == Aside::in_vain) {
      decision_.to_start_since.emplace(job, since);
    }
  }
  for (const Decision::Start& each : decision_.starts) {
    const auto known = before.find(each.job);
    decision_.to_start_since.emplace(each.job,
                                     known == before.end() ? decision_.at : known->second);
  }
}

Decider::Place Decider::place(JobNumber job) const {
  const auto found = places_.find(job);
  if (found == places_.end()) return {};
  const std::vector<JobNumber>& line = decision_.lines[index(found->second.vc)].jobs;
  return {found->second.number, static_cast<std::int64_t>(line.size())};
}

}  // namespace almanac::steer
