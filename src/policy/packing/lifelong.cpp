// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lets a job that would have to wait join a running one where both together do more work than one
/// alone, for as long as each keeps `least_rate` of its speed alone over its life. Time that a job
/// has run without loss is credit: of 100 s alone, 15 s may be lost beside others. Both are
/// measured, the guest is stopped when the credit of one of the two is used up, and what was
/// measured of pairs that are alike is believed before what is predicted.
///
/// Jobs that wait where jobs are preempted have mostly run for long, and so have their hosts: they
/// have credit. A job that is new has none, and joins where `guarded` would let it join.
///
/// Source   ours; trials as in Gandiva (Xiao et al., OSDI'18, section 3.2).
/// Differs  from `guarded`, which holds each pair at each time to what this holds lives to. What a
///          job lost is known to the policy alone: a new one in its place knows nothing of it.
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/kit/trial_pairs.h"
#include "policy/registry.h"

namespace almanac::policy::packing {
namespace {

class Lifelong final : public TrialPairs {
 public:
  Lifelong(Desk& desk, MayShare may_share, double least_rate, Duration least_stay, Duration trial)
      : TrialPairs(desk, std::move(may_share), trial),
        least_rate_(least_rate),
        least_stay_(least_stay),
        trial_(trial) {}

  void review(std::span<VcState> vcs) override {
    TrialPairs::review(vcs);
    const View& view = desk_.view();
    while (!checks_.empty() && checks_.top().first <= view.now) {
      const auto [at, guest] = checks_.top();
      checks_.pop();
      const auto found = shared_.find(guest);
      if (found == shared_.end() || found->second.check != at || !desk_.runs(guest)) continue;
      const std::span<const JobId> pair = group(guest);
      const Join join{.hosts = pair.first(1), .guest = guest, .grants = desk_.grants(guest)};
      for (const JobId job : pair) settle(job);
      const double left = time_left(join, believed(join));
      if (left >= kSoon) {
        check(guest, left);
        continue;
      }
      split_off(vcs[index(view.progress(guest).vc)], guest);
      desk_.plan().wake(view.now);
    }
  }

 private:
  static constexpr double kSoon = 1;  // seconds; credit for less is none

  /// A job that shares its GPUs, since it was last settled.
  struct Sharing {
    Time from{};
    Duration worked{};
    double alone = 1;  // rate
    Time check = kNever;
  };

  std::optional<double> merit(const Join& join) const override {
    const Speeds speeds = believed(join);
    if (!may_stay(speeds) || time_left(join, speeds) < seconds(least_stay_)) return std::nullopt;
    return speeds.sum();
  }
  bool may_stay(const Speeds& speeds) const override { return speeds.sum() > 1; }
  bool is_informed() const override {
    return desk_.view().speeds != nullptr && TrialPairs::is_informed();
  }

  void joined(const Join& join) override {
    TrialPairs::joined(join);
    open(join.hosts.front(), desk_.grants(join.hosts.front()));
    open(join.guest, join.grants);
    check(join.guest, std::min(seconds(trial_), time_left(join, believed(join))));
  }

  void parting(std::span<const JobId> jobs) override {
    for (const JobId job : jobs) {
      settle(job);
      shared_.erase(job);
    }
  }

  void open(JobId job, std::span<const cluster::Grant> held) {
    const View& view = desk_.view();
    shared_.insert_or_assign(job, Sharing{.from = view.now,
                                          .worked = view.worked(job),
                                          .alone = view.speeds->rate(job, held)});
  }

  void settle(JobId job) {
    const View& view = desk_.view();
    Sharing& sharing = shared_.at(job);
    const Duration worked = view.worked(job);
    const double time = seconds(view.now - sharing.from);
    const double alone = seconds(worked - sharing.worked) / sharing.alone;
    lost_[job] += std::clamp(time - alone, 0.0, time);
    sharing.from = view.now;
    sharing.worked = worked;
  }

  void check(JobId guest, double in_s) {
    constexpr double kYear = 366 * 86400.0;
    if (in_s > kYear) return;  // both keep enough
    const Time at = desk_.view().now + Duration{static_cast<Duration::rep>(in_s * 1e3)};
    shared_.at(guest).check = at;
    checks_.emplace(at, guest);
    desk_.plan().wake(at);
  }

  /// For how many seconds the two may go on so.
  double time_left(const Join& join, const Speeds& speeds) const {
    return std::min(time_left(join.hosts.front(), speeds.host),
                    time_left(join.guest, speeds.guest));
  }
  double time_left(JobId job, double speed) const {
    constexpr double kRounding = 1e-3;  // work is told in whole milliseconds
    if (speed >= least_rate_ - kRounding) return std::numeric_limits<double>::infinity();
    const auto lost = lost_.find(job);
    const double credit = (1 - least_rate_) * seconds(desk_.view().attained(job)) -
                          (lost == lost_.end() ? 0 : lost->second);
    return credit / (least_rate_ - speed);
  }

  double least_rate_;
  Duration least_stay_;
  Duration trial_;
  std::unordered_map<JobId, Sharing> shared_;
  std::unordered_map<JobId, double> lost_;  // seconds, of each job that ever shared
  using Check = std::pair<Time, JobId>;     // of a guest
  std::priority_queue<Check, std::vector<Check>, std::greater<>> checks_;
};

}  // namespace

void register_lifelong(Registry& registry) {
  registry.packings.add(
      {.name = "lifelong",
       .summary = "jobs that would wait join others while all keep enough speed over their lives",
       .source = "own; Xiao et al. OSDI'18 (Gandiva) §3.2",
       .traits = {.has = {Trait::reads_speeds, Trait::shares_gpus, Trait::stops_jobs},
                  .needs = {Trait::lets_join},
                  // A pass with several queues keeps books of what runs, and stops jobs itself.
                  .bars = {Trait::chooses_gpus, Trait::splits_queue}},
       .parameters = {number("least_rate", "what each keeps of its speed alone, over its life",
                             0.85, 1e-9, 1),
                      number("least_stay_s", "for which credit must last for two to be paired",
                             3600, 1, 1e9),
                      number("trial_s", "after which a pair is measured", 60, 1, 1e9)}},
      [](const Parameters& told, Desk& desk, MayShare may_share) {
        return std::make_unique<Lifelong>(desk, std::move(may_share), told.number("least_rate"),
                                          told.duration("least_stay_s"), told.duration("trial_s"));
      });
}

}  // namespace almanac::policy::packing
