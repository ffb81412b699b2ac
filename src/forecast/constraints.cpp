// SPDX-License-Identifier: Apache-2.0
#include "forecast/constraints.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "forecast/first_instant.h"

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

/// Decides again at one instant, without some of the constraints.
class Trial {
 public:
  Trial(const Instant& now, JobId job) : now_(now), job_(job), present_(now.present) {}

  /// Returns whether the job starts.
  Result<bool> starts(std::span<const Constraint> without) {
    sim::Present present = present_;
    cluster::Cluster cluster = now_.cluster;
    Decision decision{.present = present, .cluster = cluster};
    NameId& gpu_type = now_.trace.jobs[index(job_)].request.gpu_type;
    const NameId required = gpu_type;
    for (const Constraint& each : without) {
      if (each.kind == Kind::gpu_type) gpu_type = kNoName;
      if (each.kind == Kind::quotas) decision.with_quotas = false;
      if (each.kind == Kind::closures) decision.with_closures = false;
      remove(each, present, cluster);
    }
    auto started = now_.starts(decision);
    gpu_type = required;
    return started;
  }

  /// Returns what could keep the job waiting, running jobs last, those with the fewest GPUs first.
  std::vector<Constraint> candidates() const {
    const trace::Request& request = now_.trace.jobs[index(job_)].request;
    const cluster::Cluster& cluster = now_.cluster;
    std::vector<Constraint> made;
    if (is_throttled()) made.push_back({.kind = Kind::array});
    const std::size_t own = is_throttled() ? 0 : 1;
    if (present_.waiting.size() > own) made.push_back({.kind = Kind::order});
    const bool any_limit =
        std::any_of(cluster.tenants.begin(), cluster.tenants.end(), [](const auto& each) {
          return each.limit < cluster::Tenant::kNoLimit || !each.may_borrow;
        });
    if (any_limit) made.push_back({.kind = Kind::limits});
    if (now_.has_quotas) made.push_back({.kind = Kind::quotas});
    if (now_.has_closures) made.push_back({.kind = Kind::closures});
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
      case Kind::quotas:
      case Kind::closures:
      case Kind::gpu_type:
        break;  // not of its surroundings
      case Kind::nodes:
        present.drained.clear();
        break;
      case Kind::job:
        std::erase_if(present.running,
                      [&](const auto& each) { return each.job == constraint.job; });
        break;
    }
  }

  const Instant& now_;
  JobId job_;
  const sim::Present& present_;
};

}  // namespace

Result<Constraints> find_constraints(const Instant& now, JobId job) {
  Constraints made{.at = now.present.at};
  Trial trial(now, job);
  const auto at_once = trial.starts({});
  if (!at_once) return tl::unexpected(at_once.error());
  made.starts_now = *at_once;
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

Result<Constraints> find_constraints(experiment::Prepared& prepared, std::size_t run, JobId job) {
  const auto make_policy = [&] {
    return experiment::make_policy(prepared.runs[run], prepared.trace, prepared.model);
  };
  const auto policy = make_policy();
  if (!policy) return tl::unexpected(policy.error());
  std::atomic<bool> stop = false;
  FirstWait waiting(prepared, job, stop);
  sim::Options options = experiment::options_of(prepared, run);
  options.watch.stop = &stop;
  options.watch.listener = &waiting;
  const sim::Schedule schedule = sim::simulate(prepared.trace, prepared.cluster, **policy, options);
  Constraints made;
  if (waiting.taken) {
    const auto starts = [&](const Decision& decision) -> Result<bool> {
      const auto decides = make_policy();
      if (!decides) return tl::unexpected(decides.error());
      return starts_at_once(prepared.trace, decision.cluster, **decides,
                            experiment::options_of(prepared, run), decision.present, job);
    };
    auto found = find_constraints({.trace = prepared.trace,
                                   .cluster = prepared.cluster,
                                   .present = *waiting.taken,
                                   .starts = starts},
                                  job);
    if (!found) return found;
    made = std::move(*found);
  }
  for (const auto& [never, reason] : schedule.never) {
    if (never == job) made.never = reason;
  }
  return made;
}

std::string in_words(const Constraint& constraint, const trace::Trace& trace, JobId waiting,
                     const std::function<std::string(JobId)>& name_of) {
  const trace::Request& own = trace.jobs[index(waiting)].request;
  switch (constraint.kind) {
    case Kind::array:
      return fmt::format("if more than {} of the tasks of its array ran at once", own.array_limit);
    case Kind::order:
      return "if it were first in the queue";
    case Kind::limits:
      return "without the limits of tenants";
    case Kind::quotas:
      return "without its quotas";
    case Kind::closures:
      return "without the announced maintenance";
    case Kind::vc:
      return "if it could use the nodes of all virtual clusters";
    case Kind::gpu_type:
      return fmt::format("if it accepted other GPUs than {}", trace.names[own.gpu_type]);
    case Kind::nodes:
      return "if the nodes out of service were back";
    case Kind::job:
      break;
  }
  const int gpus = trace.jobs[index(constraint.job)].request.gpus;
  return fmt::format("if job {} ended ({} GPU{})", name_of(constraint.job), gpus,
                     gpus == 1 ? "" : "s");
}

std::vector<std::vector<std::string>> in_words(const Constraints& found, const trace::Trace& trace,
                                               JobId waiting,
                                               const std::function<std::string(JobId)>& name_of) {
  const auto words = [&](const Constraint& each) {
    return in_words(each, trace, waiting, name_of);
  };
  std::vector<std::vector<std::string>> made;
  for (const Constraint& each : found.singles) made.push_back({words(each)});
  for (const auto& [first, second] : found.pairs) made.push_back({words(first), words(second)});
  return made;
}

}  // namespace almanac::forecast
