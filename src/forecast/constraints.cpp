// SPDX-License-Identifier: Apache-2.0
#include "forecast/constraints.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "policy/registry.h"
#include "sim/present.h"

namespace almanac::forecast {
namespace {

using Kind = Constraint::Kind;

/// Keeps the state in which a job begins to wait, in the queue or for room in its array, after the
/// policy has decided.
class FirstWait final : public sim::Listener {
 public:
  FirstWait(const experiment::Prepared& prepared, JobId job, std::atomic<bool>& stop)
      : prepared_(prepared), job_(job), stop_(stop) {}

  void hear(Time, std::span<const policy::Event>, const schedule::Round&,
            const policy::Telemetry*) override {}
  void decided(Time now, const schedule::Round& round,
               const policy::Telemetry* telemetry) override {
    if (taken || round.progress(job_).phase != policy::Phase::waiting) return;
    take(now, round, telemetry);
  }
  void throttled(Time now, JobId task, const schedule::Round& round,
                 const policy::Telemetry* telemetry) override {
    if (!taken && task == job_) take(now, round, telemetry);
  }

  std::optional<sim::Present> taken;

 private:
  void take(Time now, const schedule::Round& round, const policy::Telemetry* telemetry) {
    taken = sim::present_of(round, prepared_.cluster, prepared_.trace.jobs.size(), telemetry, now);
    taken->throttled = sim::throttled_tasks(round, prepared_.trace, now);
    stop_ = true;
  }

  const experiment::Prepared& prepared_;
  JobId job_;
  std::atomic<bool>& stop_;
};

/// Stops a simulation when a job starts, or when its first instant is over.
class FirstInstant final : public sim::Listener {
 public:
  FirstInstant(JobId job, Time at, std::atomic<bool>& stop) : job_(job), at_(at), stop_(stop) {}

  void hear(Time now, std::span<const policy::Event>, const schedule::Round&,
            const policy::Telemetry*) override {
    if (now > at_) stop_ = true;
  }
  void decided(Time now, const schedule::Round& round, const policy::Telemetry*) override {
    if (now > at_ || round.progress(job_).phase != policy::Phase::running) return;
    started = stop_ = true;
  }

  bool started = false;

 private:
  JobId job_;
  Time at_;
  std::atomic<bool>& stop_;
};

/// Decides again at one instant, without some of the constraints.
class Trial {
 public:
  Trial(experiment::Prepared& prepared, std::size_t run, JobId job, const sim::Present& present)
      : prepared_(prepared), run_(run), job_(job), present_(present) {}

  /// Returns whether the job starts.
  Result<bool> starts(std::span<const Constraint> without) {
    sim::Present present = present_;
    cluster::Cluster cluster = prepared_.cluster;
    NameId& gpu_type = prepared_.trace.jobs[index(job_)].request.gpu_type;
    const NameId required = gpu_type;
    for (const Constraint& each : without) {
      if (each.kind == Kind::gpu_type) gpu_type = kNoName;
      remove(each, present, cluster);
    }
    const auto started = decide(present, cluster);
    gpu_type = required;
    return started;
  }

  /// Returns what could keep the job waiting, running jobs last, those with the fewest GPUs first.
  std::vector<Constraint> candidates() const {
    const trace::Request& request = prepared_.trace.jobs[index(job_)].request;
    const cluster::Cluster& cluster = prepared_.cluster;
    std::vector<Constraint> made;
    if (is_throttled()) made.push_back({.kind = Kind::array});
    const std::size_t own = is_throttled() ? 0 : 1;
    if (present_.waiting.size() > own) made.push_back({.kind = Kind::order});
    const bool any_limit =
        std::any_of(cluster.tenants.begin(), cluster.tenants.end(), [](const auto& each) {
          return each.limit < cluster::Tenant::kNoLimit || !each.may_borrow;
        });
    if (any_limit) made.push_back({.kind = Kind::limits});
    if (!cluster.takes_every_job && cluster.vcs.size() > 1) made.push_back({.kind = Kind::vc});
    if (request.gpu_type != kNoName) made.push_back({.kind = Kind::gpu_type});
    if (!present_.drained.empty()) made.push_back({.kind = Kind::nodes});
    std::vector<const sim::Present::Job*> running;
    for (const sim::Present::Job& each : present_.running) running.push_back(&each);
    const auto gpus = [](const sim::Present::Job* each) {
      int sum = 0;
      for (const cluster::Grant& grant : each->held) sum += grant.count();
      return sum;
    };
    std::stable_sort(running.begin(), running.end(),
                     [&](const auto* a, const auto* b) { return gpus(a) < gpus(b); });
    for (const sim::Present::Job* each : running) {
      made.push_back({.kind = Kind::job, .job = each->job});
    }
    return made;
  }

 private:
  bool is_throttled() const {
    const std::vector<JobId>& tasks = present_.throttled;
    return std::find(tasks.begin(), tasks.end(), job_) != tasks.end();
  }
  Result<bool> decide(const sim::Present& present, const cluster::Cluster& cluster) {
    const auto policy =
        experiment::make_policy(prepared_.runs[run_], prepared_.trace, prepared_.model);
    if (!policy) return tl::unexpected(policy.error());
    std::atomic<bool> stop = false;
    FirstInstant first(job_, present.at, stop);
    sim::Options options = experiment::options_of(prepared_, run_);
    options.range.from = &present;
    options.range.last_arrival = present.at;
    options.watch.stop = &stop;
    options.watch.listener = &first;
    sim::simulate(prepared_.trace, cluster, **policy, options);
    return first.started;
  }

  void remove(const Constraint& constraint, sim::Present& present,
              cluster::Cluster& cluster) const {
    switch (constraint.kind) {
      case Kind::array:
        std::erase(present.throttled, job_);
        present.waiting.push_back({.job = job_, .past = {.since = present.at}});
        break;
      case Kind::order:
        std::erase_if(present.waiting, [&](const auto& each) { return each.job != job_; });
        break;
      case Kind::limits:
        for (cluster::Tenant& each : cluster.tenants) {
          each.limit = cluster::Tenant::kNoLimit;
          each.may_borrow = true;
        }
        break;
      case Kind::vc:
        cluster = cluster::merged(cluster);
        break;
      case Kind::gpu_type:
        break;  // of the job, not of its surroundings
      case Kind::nodes:
        present.drained.clear();
        break;
      case Kind::job:
        std::erase_if(present.running,
                      [&](const auto& each) { return each.job == constraint.job; });
        break;
    }
  }

  experiment::Prepared& prepared_;
  std::size_t run_;
  JobId job_;
  const sim::Present& present_;
};

}  // namespace

Result<Constraints> find_constraints(experiment::Prepared& prepared, std::size_t run, JobId job) {
  const auto policy = experiment::make_policy(prepared.runs[run], prepared.trace, prepared.model);
  if (!policy) return tl::unexpected(policy.error());
  std::atomic<bool> stop = false;
  FirstWait waiting(prepared, job, stop);
  sim::Options options = experiment::options_of(prepared, run);
  options.watch.stop = &stop;
  options.watch.listener = &waiting;
  const sim::Schedule schedule = sim::simulate(prepared.trace, prepared.cluster, **policy, options);
  Constraints made;
  for (const auto& [never, reason] : schedule.never) {
    if (never == job) made.never = reason;
  }
  if (!waiting.taken) return made;
  made.at = waiting.taken->at;
  Trial trial(prepared, run, job, *waiting.taken);
  const auto now = trial.starts({});
  if (!now) return tl::unexpected(now.error());
  made.starts_now = *now;
  if (made.starts_now) return made;
  const std::vector<Constraint> all = trial.candidates();
  for (const Constraint& each : all) {
    const auto starts = trial.starts({&each, 1});
    if (!starts) return tl::unexpected(starts.error());
    if (*starts) made.singles.push_back(each);
  }
  if (!made.singles.empty()) return made;
  for (std::size_t first = 0; first < all.size(); ++first) {
    if (all[first].kind == Kind::job) break;
    for (std::size_t second = first + 1; second < all.size(); ++second) {
      const bool is_cheap = all[first].kind == Kind::array || all[first].kind == Kind::order ||
                            all[second].kind != Kind::job;
      if (!is_cheap) continue;
      const std::vector<Constraint> both = {all[first], all[second]};
      const auto starts = trial.starts(both);
      if (!starts) return tl::unexpected(starts.error());
      if (*starts) made.pairs.emplace_back(all[first], all[second]);
    }
  }
  return made;
}

std::string in_words(const Constraint& constraint, const experiment::Prepared& prepared,
                     JobId waiting) {
  const trace::Request& own = prepared.trace.jobs[index(waiting)].request;
  switch (constraint.kind) {
    case Kind::array:
      return fmt::format("if more than {} of the tasks of its array ran at once", own.array_limit);
    case Kind::order:
      return "if it were first in the queue";
    case Kind::limits:
      return "without the limits of tenants";
    case Kind::vc:
      return "if it could use the nodes of all virtual clusters";
    case Kind::gpu_type:
      return fmt::format("if it accepted other GPUs than {}", prepared.trace.names[own.gpu_type]);
    case Kind::nodes:
      return "if the nodes out of service were back";
    case Kind::job:
      break;
  }
  const trace::Job& other = prepared.trace.jobs[index(constraint.job)];
  return fmt::format("if job {} ended ({} GPU{})", prepared.trace.id(other.id), other.request.gpus,
                     other.request.gpus == 1 ? "" : "s");
}

}  // namespace almanac::forecast
