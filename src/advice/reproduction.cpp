// SPDX-License-Identifier: Apache-2.0
#include "advice/reproduction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "advice/groups.h"

namespace almanac::advice {
namespace {

constexpr double kTenth = 0.1;
constexpr double kMinute_s = 60;

struct Sums {
  std::int64_t jobs = 0;
  std::int64_t waited = 0;
  std::int64_t near = 0;
  std::int64_t tenth = 0;
  double recorded_s = 0;
  double simulated_s = 0;

  void add(double recorded, double simulated) {
    const double off = std::abs(simulated - recorded);
    ++jobs;
    waited += std::max(recorded, simulated) > kNear_s ? 1 : 0;
    near += off <= kNear_s ? 1 : 0;
    tenth += off <= std::max(kTenth * recorded, kMinute_s) ? 1 : 0;
    recorded_s += recorded;
    simulated_s += simulated;
  }

  Fit fit(std::string who) const {
    const auto all = static_cast<double>(std::max<std::int64_t>(1, jobs));
    return {.who = std::move(who),
            .jobs = jobs,
            .waited = waited,
            .near = static_cast<double>(near) / all,
            .tenth = static_cast<double>(tenth) / all,
            .recorded_s = recorded_s / all,
            .simulated_s = simulated_s / all};
  }
};

/// What the words of sacct's Reason stand for; the first match counts.
constexpr std::array<std::pair<std::string_view, Cause>, 13> kReasons{
    {{"Dependency", Cause::dependency},
     {"JobHeld", Cause::hold},
     {"BeginTime", Cause::hold},
     {"Reservation", Cause::reservation},
     {"ReqNodeNotAvail", Cause::nodes},
     {"BadConstraints", Cause::nodes},
     {"NodeDown", Cause::nodes},
     {"Assoc", Cause::limit},
     {"QOS", Cause::limit},
     {"Partition", Cause::limit},
     {"MaxGRES", Cause::limit},
     {"ArrayTaskLimit", Cause::limit},
     {"Licenses", Cause::limit}}};

}  // namespace

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::reservation:
      return "reservation";
    case Cause::dependency:
      return "dependency";
    case Cause::hold:
      return "hold or begin time";
    case Cause::limit:
      return "limit";
    case Cause::nodes:
      return "certain nodes";
    case Cause::requeue:
      return "requeue";
    case Cause::unknown:
      break;
  }
  return "unknown";
}

Cause cause_of(const trace::Job& job, const Names& names) {
  const trace::Request& request = job.request;
  if (request.reservation != kNoName) return Cause::reservation;
  if (job.outcome.reason != kNoName) {
    const std::string_view reason = names[job.outcome.reason];
    for (const auto& [word, cause] : kReasons) {
      if (reason.find(word) != std::string_view::npos) return cause;
    }
  }
  if (request.after != trace::kNoJobKey) return Cause::dependency;
  if (job.outcome.attempts > 1) return Cause::requeue;
  if (request.constraints != kNoName) return Cause::nodes;
  return Cause::unknown;
}

PhaseEffect phase_effect(const std::vector<Lived>& today, const std::vector<Lived>& shifted,
                         double shift_s) {
  std::int64_t jobs = 0;
  std::int64_t changed = 0;
  double sum_s = 0;
  for (std::size_t at = 0; at < today.size(); ++at) {
    if (!today[at].ended || !shifted[at].ended) continue;
    ++jobs;
    changed += std::abs(shifted[at].wait_s - today[at].wait_s) > kNear_s ? 1 : 0;
    sum_s += shifted[at].wait_s;
  }
  const auto all = static_cast<double>(std::max<std::int64_t>(1, jobs));
  return {.shift_s = shift_s,
          .changed = static_cast<double>(changed) / all,
          .simulated_s = sum_s / all};
}

Reproduction reproduction_of(const Play& play, const std::vector<Lived>& today) {
  const std::vector<Lived> really = play.really();
  const Names& names = play.log().names;
  Sums all;
  std::map<NameId, Sums> partitions;
  std::map<int, Sums> sizes;
  std::map<Cause, std::int64_t> causes;
  std::vector<std::pair<double, std::size_t>> missed;
  for (std::size_t at = 0; at < today.size(); ++at) {
    if (!really[at].ended || !today[at].ended) continue;
    const double recorded = really[at].wait_s;
    const double simulated = today[at].wait_s;
    const trace::Request& request = play.request(at);
    all.add(recorded, simulated);
    partitions[request.partition != kNoName ? request.partition : request.vc].add(recorded,
                                                                                  simulated);
    sizes[size_class(request.gpus)].add(recorded, simulated);
    if (std::abs(simulated - recorded) <= kNear_s) continue;
    ++causes[cause_of(play.job(at), names)];
    missed.emplace_back(-std::abs(simulated - recorded), at);
  }
  Reproduction made{.all = all.fit("all jobs")};
  if (partitions.size() > 1) {
    for (const auto& [name, sums] : partitions) {
      made.partitions.push_back(sums.fit(name == kNoName ? "jobs without a partition"
                                                         : fmt::format("jobs in {}", names[name])));
    }
  }
  for (const auto& [size, sums] : sizes) made.sizes.push_back(sums.fit(size_name(size)));
  made.causes.assign(causes.begin(), causes.end());
  std::stable_sort(made.causes.begin(), made.causes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::sort(missed.begin(), missed.end());
  missed.resize(std::min(missed.size(), Reproduction::kMostMissed));
  for (const auto& [off, at] : missed) {
    made.most.push_back({.job = play.log().id(play.job(at).id),
                         .recorded_s = really[at].wait_s,
                         .simulated_s = today[at].wait_s,
                         .cause = cause_of(play.job(at), names)});
  }
  return made;
}

}  // namespace almanac::advice
