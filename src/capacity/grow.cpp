// SPDX-License-Identifier: Apache-2.0
#include "capacity/grow.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"

namespace almanac::capacity {
namespace {

constexpr const char* kSuffix = "+new";
/// Whole users may hold this much more or less of the GPU time than asked, relatively.
constexpr double kTolerance = 0.1;

/// A trace cannot be copied, because its names cannot.
trace::Trace copy_of(const trace::Trace& trace) {
  trace::Trace made;
  for (std::size_t name = 0; name < trace.names.size(); ++name) {
    made.names.intern(trace.names[NameId{static_cast<std::uint32_t>(name)}]);
  }
  made.jobs = trace.jobs;
  made.machine = trace.machine;
  made.path = trace.path;
  made.format = trace.format;
  made.local_times = trace.local_times;
  made.time_zone = trace.time_zone;
  made.knows_eligible = trace.knows_eligible;
  return made;
}

/// Shifts that keep the hour of the day and, if the log is long enough, the day of the week.
struct Period {
  Duration unit{0};
  std::int64_t units = 1;  ///< In the span of the log.
};

Period period_of(Duration span) {
  for (const Duration unit : {Duration{24h * 7}, Duration{24h}, Duration{1h}}) {
    if (span / unit >= 2) return {unit, span / unit};
  }
  return {};
}

template <typename T>
void shuffle(std::vector<T>& values, Rng& rng) {
  for (std::size_t left = values.size(); left > 1; --left) {
    std::swap(values[left - 1], values[rng.below(left)]);
  }
}

/// Draws the jobs to add again.
class Draw {
 public:
  Draw(const trace::Trace& trace, double more, Rng& rng)
      : trace_(trace), taken_(trace.jobs.size()) {
    const bool has_gpus = requests_gpus(trace);
    weight_.reserve(trace.jobs.size());
    for (const trace::Job& job : trace.jobs) {
      const double held = has_gpus ? job.request.gpus * job.request.gpu_part() : 1;
      weight_.push_back(held * seconds(job.outcome.run));
    }
    total_ = std::accumulate(weight_.begin(), weight_.end(), 0.0);
    target_ = more * total_;
    draw_users(rng);
    draw_jobs(rng);
  }

  bool has(std::size_t job) const { return taken_[job]; }
  double share() const { return total_ > 0 ? sum_ / total_ : 0; }

 private:
  void draw_users(Rng& rng) {
    std::vector<std::vector<std::size_t>> jobs_of(trace_.names.size());
    for (std::size_t job = 0; job < trace_.jobs.size(); ++job) {
      jobs_of[index(trace_.jobs[job].request.user)].push_back(job);
    }
    std::vector<std::size_t> users;
    for (std::size_t user = 1; user < jobs_of.size(); ++user) {  // 0 = the log names none
      if (!jobs_of[user].empty()) users.push_back(user);
    }
    shuffle(users, rng);
    for (const std::size_t user : users) {
      double own = 0;
      for (const std::size_t job : jobs_of[user]) own += weight_[job];
      if (sum_ + own > target_ * (1 + kTolerance)) continue;
      for (const std::size_t job : jobs_of[user]) taken_[job] = true;
      sum_ += own;
      if (sum_ >= target_ * (1 - kTolerance)) return;
    }
  }

  void draw_jobs(Rng& rng) {
    if (sum_ >= target_ * (1 - kTolerance)) return;
    std::vector<std::size_t> rest;
    for (std::size_t job = 0; job < trace_.jobs.size(); ++job) {
      if (!taken_[job]) rest.push_back(job);
    }
    shuffle(rest, rng);
    for (const std::size_t job : rest) {
      if (sum_ >= target_) return;
      if (sum_ + weight_[job] > target_ * (1 + kTolerance)) continue;
      taken_[job] = true;
      sum_ += weight_[job];
    }
  }

  const trace::Trace& trace_;
  std::vector<bool> taken_;
  std::vector<double> weight_;
  double total_ = 0;
  double target_ = 0;
  double sum_ = 0;
};

void shift(Time& time, Duration by) {
  if (time != kNoTime && time != kNever) time += by;
}

}  // namespace

bool requests_gpus(const trace::Trace& trace) {
  return std::any_of(trace.jobs.begin(), trace.jobs.end(),
                     [](const trace::Job& job) { return job.request.gpus > 0; });
}

Growth grow(const trace::Trace& trace, double more, std::uint64_t seed, bool keeps_users) {
  Growth made{.trace = copy_of(trace)};
  if (trace.jobs.empty() || more <= 0) return made;
  Rng rng(seed);
  const Draw draw(trace, more, rng);
  made.share = draw.share();

  const Time first = trace.jobs.front().request.submit;
  const Duration span = trace.jobs.back().request.submit - first;
  const Period period = period_of(span);
  std::vector<std::int64_t> shift_of(trace.names.size(), -1);  // by user, in units
  std::unordered_set<trace::JobKey> drawn;
  for (std::size_t job = 0; job < trace.jobs.size(); ++job) {
    if (draw.has(job)) drawn.insert(trace.jobs[job].id);
  }
  const auto renamed = [&](trace::JobKey id) { return made.trace.key(trace.id(id) + kSuffix); };
  std::unordered_set<NameId> users;
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    if (!draw.has(at)) continue;
    trace::Job job = trace.jobs[at];
    trace::Request& request = job.request;
    users.insert(request.user);
    std::int64_t& units = shift_of[index(request.user)];
    if (units < 0) {
      units = period.units > 1 ? 1 + static_cast<std::int64_t>(
                                         rng.below(static_cast<std::uint64_t>(period.units - 1)))
                               : 0;
    }
    Duration by = units * period.unit;
    if (request.submit + by > first + span) by -= period.units * period.unit;
    for (Time* const time : {&request.submit, &request.submitted, &request.deadline,
                             &request.worthless_at, &job.outcome.start, &job.outcome.end}) {
      shift(*time, by);
    }
    job.id = renamed(job.id);
    if (request.after != trace::kNoJobKey) {
      request.after = drawn.contains(request.after) ? renamed(request.after) : trace::kNoJobKey;
    }
    const auto rename = [&](NameId& name) {
      if (name != kNoName) name = made.trace.names.intern(std::string(trace.names[name]) + kSuffix);
    };
    if (!keeps_users) rename(request.user);
    rename(request.group);
    job.outcome.node_list = kNoName;  // those nodes were taken
    made.trace.jobs.push_back(job);
    ++made.jobs;
  }
  users.erase(kNoName);
  made.users = static_cast<std::int64_t>(users.size());
  std::stable_sort(
      made.trace.jobs.begin(), made.trace.jobs.end(),
      [](const trace::Job& a, const trace::Job& b) { return a.request.submit < b.request.submit; });
  return made;
}

}  // namespace almanac::capacity
