// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job that would have to wait joins running jobs if all together do more work than without it,
/// as long as each keeps `least_rate` of its solo speed over its life. Time that a job has run
/// without loss is credit: per 100 s alone, it may lose 15 s while sharing. All jobs are measured.
/// The guest stops when the credit of one of them is used up. Measurements of equal pairs count
/// before predictions.
///
/// If a policy preempts, waiting jobs and their hosts have mostly run for long, so they have
/// credit. A new job has none, and joins where `guarded` would allow it. The jobs that wait longest
/// request many GPUs, and seldom find one host that holds as many. So a job may join several hosts,
/// and take free GPUs as well (packing/lifelong/hosting.h). Its speed is then that next to the host
/// that slows it most. Sharing only pays while GPUs are short: a guest moves to GPUs that become
/// free, unless a waiting job comes before it or could start there.
///
/// Source   Our own; trials as in Gandiva (Xiao et al., OSDI'18, section 3.2).
/// Differs  From `guarded`, which requires of each pair at each time what this packing requires
///          over a life, and pairs jobs of equal GPU count. Only this policy object knows what a
///          job has lost; its successor starts without that. With several hosts, only the one that
///          slows the guest most is measured.
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/kit/pair_speeds.h"
#include "policy/packing/lifelong/hosting.h"
#include "policy/registry.h"

namespace almanac::policy::packing {
namespace {

class Lifelong final : public Hosting {
 public:
  Lifelong(Desk& desk, MayShare may_share, double least_rate, Duration least_stay, Duration trial)
      : Hosting(desk, std::move(may_share)),
        least_rate_(least_rate),
        least_stay_(least_stay),
        trial_(trial) {}

  void review(std::span<VcState> vcs) override {
    const View& view = desk_.view();
    while (!checks_.empty() && checks_.top().first <= view.now) {
      const auto [at, guest] = checks_.top();
      checks_.pop();
      const auto found = watches_.find(guest);
      if (found == watches_.end() || found->second.check != at || !desk_.runs(guest)) continue;
      settle(guest);
      const Outlook seen = outlook(visit(guest));
      if (seen.more > 0 && seen.left >= kSoon) {
        check(visit(guest));
        continue;
      }
      split_off(vcs[index(view.progress(guest).vc)], guest);
      desk_.plan().wake(view.now);
    }
    for (VcState& vc : vcs) move_apart(vc);
  }

 private:
  using Speeds = PairSpeeds::Speeds;
  static constexpr double kSoon = 1;  // seconds; credit for less is none

  /// A guest and its hosts, since they were last accounted for.
  struct Watch {
    Time since{};
    Time check = kNever;
  };
  /// The state of one of them at that time.
  struct Sharer {
    Duration worked{};
    double alone = 1;  // rate
  };

  std::optional<double> merit(const Visit& visit) const override {
    const Outlook seen = outlook(visit);
    if (seen.more <= 0 || seen.left < seconds(least_stay_)) return std::nullopt;
    return seen.more / num_gpus(visit.grants);
  }
  bool is_informed() const override {
    return Hosting::is_informed() && desk_.view().telemetry != nullptr;
  }

  void joined(const Visit& visit) override {
    watches_[visit.guest].since = desk_.view().now;
    open(visit.guest, visit.grants);
    for (const JobId host : visit.hosts) open(host, desk_.grants(host));
    check(visit);
  }

  void parting(JobId guest) override {
    settle(guest);
    watches_.at(guest).check = kNever;
  }

  void parted(const Visit& visit) override { check(visit); }

  void open(JobId job, std::span<const cluster::Grant> held) {
    const View& view = desk_.view();
    sharers_[job] = {.worked = view.worked(job), .alone = view.speeds->rate(job, held)};
  }

  /// Counts what a guest and its hosts have lost, and records their speeds after a trial.
  void settle(JobId guest) {
    const View& view = desk_.view();
    Watch& watch = watches_.at(guest);
    const Duration time = view.now - std::exchange(watch.since, view.now);
    const double guest_speed = settle(guest, time);
    // A job that has ended or is still booting was not next to the others all the time.
    const auto is_tried = [&](JobId job) {
      const Progress& state = view.progress(job);
      return time >= trial_ && state.phase == Phase::running && state.since <= view.now - time;
    };
    std::vector<std::pair<JobId, Speeds>> tried;
    for (const JobId host : hosts(guest)) {
      const double host_speed = settle(host, time);
      if (!is_tried(guest) || !is_tried(host)) continue;
      const std::optional<Speeds> known = pairs_.measured(view, host, guest);
      const double guest_kept =
          known ? known->guest : relative_speed(view, guest, view.grants(guest), {&host, 1});
      tried.push_back({host, {.host = host_speed, .guest = guest_kept}});
    }
    const auto slowest = std::min_element(
        tried.begin(), tried.end(),
        [](const auto& a, const auto& b) { return a.second.guest < b.second.guest; });
    if (slowest != tried.end()) slowest->second.guest = guest_speed;
    for (const auto& [host, speeds] : tried) pairs_.note(view, host, guest, speeds);
  }

  /// Returns the job's speed in that time, relative to alone.
  double settle(JobId job, Duration time) {
    Sharer& sharer = sharers_.at(job);
    const Duration worked = desk_.view().worked(job);
    const double alone = seconds(worked - std::exchange(sharer.worked, worked)) / sharer.alone;
    lost_[job] += std::clamp(seconds(time) - alone, 0.0, seconds(time));
    return time > Duration{0} ? alone / seconds(time) : 1;
  }

  /// Schedules the next look, when one of the jobs has used its credit or the trial ends.
  void check(const Visit& visit) {
    constexpr double kYear = 366 * 86400.0;
    const View& view = desk_.view();
    const bool is_known = std::all_of(visit.hosts.begin(), visit.hosts.end(), [&](JobId host) {
      return pairs_.measured(view, host, visit.guest).has_value();
    });
    const double left = std::max(0.0, outlook(visit).left);
    const double in_s = is_known ? left : std::min(left, seconds(trial_));
    Time& at = watches_.at(visit.guest).check;
    at = kNever;
    if (in_s > kYear) return;  // all keep enough
    at = view.now + Duration{static_cast<Duration::rep>(in_s * 1e3)};
    checks_.emplace(at, visit.guest);
    desk_.plan().wake(at);
  }

  Speeds believed(JobId host, JobId guest, std::span<const cluster::Grant> held) const {
    const View& view = desk_.view();
    if (const auto known = pairs_.measured(view, host, guest)) return *known;
    return {.host = relative_speed(view, host, desk_.grants(host), {&guest, 1}),
            .guest = relative_speed(view, guest, held, {&host, 1})};
  }

  struct Outlook {
    double more = 0;  ///< GPU time per second that all do beyond what the hosts would do alone.
    double left = 0;  ///< Seconds for which all may continue like this.
  };
  Outlook outlook(const Visit& visit) const {
    double slowest = 1;
    double lost = 0;
    double left = std::numeric_limits<double>::infinity();
    for (const JobId host : visit.hosts) {
      const Speeds speeds = believed(host, visit.guest, visit.grants);
      slowest = std::min(slowest, speeds.guest);
      lost += (1 - speeds.host) * num_gpus(desk_.grants(host));
      left = std::min(left, time_left(host, speeds.host));
    }
    return {.more = slowest * num_gpus(visit.grants) - lost,
            .left = std::min(left, time_left(visit.guest, slowest))};
  }

  double time_left(JobId job, double speed) const {
    constexpr double kRounding = 1e-3;  // work is in whole milliseconds
    if (speed >= least_rate_ - kRounding) return std::numeric_limits<double>::infinity();
    const auto lost = lost_.find(job);
    const double credit = (1 - least_rate_) * seconds(desk_.view().attained(job)) -
                          (lost == lost_.end() ? 0 : lost->second);
    return credit / (least_rate_ - speed);
  }

  double least_rate_;
  Duration least_stay_;
  Duration trial_;
  PairSpeeds pairs_;
  std::unordered_map<JobId, Watch> watches_;   // of every guest so far
  std::unordered_map<JobId, Sharer> sharers_;  // of every job that has shared
  std::unordered_map<JobId, double> lost_;     // seconds, of the same jobs
  using Check = std::pair<Time, JobId>;        // of a guest
  std::priority_queue<Check, std::vector<Check>, std::greater<>> checks_;
};

}  // namespace

void register_lifelong(Registry& registry) {
  registry.packings.add(
      {.name = "lifelong",
       .summary = "waiting jobs share GPUs as long as each keeps enough speed over its whole life",
       .source = "own; Xiao et al. OSDI'18 (Gandiva) §3.2",
       .traits = {.has = {Trait::reads_speeds, Trait::shares_gpus, Trait::stops_jobs,
                          Trait::moves_jobs},
                  .needs = {Trait::lets_join},
                  // A pass with several queues keeps books of what runs, and stops jobs itself.
                  .bars = {Trait::chooses_gpus, Trait::splits_queue}},
       .parameters = {number("least_rate",
                             "fraction of its solo speed that each job must keep over its life",
                             0.85, 1e-9, 1),
                      number("least_stay_s",
                             "shortest stay that a job's credit must cover before it shares", 3600,
                             1, 1e9),
                      number("trial_s", "time until a pair is measured", 60, 1, 1e9)}},
      [](const Parameters& told, Desk& desk, MayShare may_share) {
        return std::make_unique<Lifelong>(desk, std::move(may_share), told.number("least_rate"),
                                          told.duration("least_stay_s"), told.duration("trial_s"));
      });
}

}  // namespace almanac::policy::packing
