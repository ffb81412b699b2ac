// SPDX-License-Identifier: Apache-2.0
#include "trace/generate.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "trace/generate_asks.h"
#include "trace/generate_limit.h"
#include "trace/generate_plan.h"
#include "trace/generate_rhythm.h"
#include "trace/generate_sessions.h"
#include "trace/generate_tasks.h"
#include "trace/generate_users.h"

namespace almanac::trace {
namespace {

Duration whole_seconds(std::int64_t seconds) { return Duration(seconds * 1000); }

/// Writes out made jobs as jobs of a log.
class Writer {
 public:
  Writer(const Workload& workload, const Plan& plan, const Users& users, Names& names)
      : workload_(workload), plan_(plan), users_(users) {
    for (const Workload::Vc& vc : workload.vc) vc_names_.push_back(names.intern(vc.name));
    for (const Workload::Model& model : workload.model) {
      model_names_.push_back(names.intern(model.name));
      kind_names_.push_back(names.intern(model.kind));
    }
  }

  Job job(const MadeJob& plain, const MadeRecipe& recipe, std::uint64_t id) const {
    const std::int64_t gpus = plan_.sizes[recipe.size].gpus;
    Job job;
    job.id = JobKey{id};
    job.request.submit = workload_.span.start + whole_seconds(plain.second);
    job.request.name = recipe.name;
    job.request.user = users_.users[recipe.user].name;
    job.request.vc = vc_names_[recipe.vc];
    job.request.gpus = static_cast<std::int32_t>(gpus);
    job.request.nodes = static_cast<std::int32_t>(nodes_of(workload_, gpus));
    say(recipe.asks, job);
    if (recipe.limit_s > 0) {
      // A user who knows that this run is longer than usual requests a longer limit, so no job is
      // cut short.
      job.request.time_limit =
          whole_seconds(std::max(recipe.limit_s, round_limit(static_cast<double>(plain.run_s))));
    }
    job.outcome.run = whole_seconds(plain.run_s);
    job.outcome.state = plain.state;
    return job;
  }

 private:
  void say(const Asks& asks, Job& job) const {
    const auto set = [](float& field, float amount) {
      if (amount > 0) field = amount;
    };
    set(job.request.cpus, asks.cpus);
    set(job.request.memory_gb, asks.memory_gb);
    set(job.outcome.bandwidth_gbs, asks.bandwidth_gbs);
    if (job.request.gpus > 0 && workload_.run.unlimited_cpus) {
      job.outcome.reference_cpus = std::numeric_limits<float>::infinity();
    }
    if (asks.model != nullptr) {
      const auto model = static_cast<std::size_t>(asks.model - workload_.model.data());
      job.request.model = model_names_[model];
      job.request.kind = kind_names_[model];
    }
  }

  const Workload& workload_;
  const Plan& plan_;
  const Users& users_;
  std::vector<NameId> vc_names_;
  std::vector<NameId> model_names_;
  std::vector<NameId> kind_names_;
};

}  // namespace

Trace generate(const Workload& workload, std::uint64_t seed,
               const std::function<void(double)>& progress, PossibleRuns* possible) {
  if (!workload.task.empty()) return generate_tasks(workload, seed);
  Trace trace;
  trace.format = "generated";
  const Plan plan = make_plan(workload);
  const Users users = make_users(workload, seed, trace.names);
  const Calendar calendar(workload);
  const AsksLottery asks(workload);
  const Setting setting{workload, plan, users, calendar, asks, seed, possible != nullptr};
  MadeJobs made;
  made.jobs.reserve(static_cast<std::size_t>(workload.span.jobs + cpu_jobs(workload)));
  const auto drawn = static_cast<double>(made.jobs.capacity());
  for (const PlanCell& cell : plan.cells) {
    make_sessions(setting, cell, trace.names, made);
    if (progress) progress(static_cast<double>(made.jobs.size()) / drawn);
  }
  // Sorted in place: a stable sort would want the memory again.
  std::sort(made.jobs.begin(), made.jobs.end(), [](const MadeJob& a, const MadeJob& b) {
    return std::pair(a.second, a.sequence) < std::pair(b.second, b.sequence);
  });

  const Writer writer(workload, plan, users, trace.names);
  trace.jobs.reserve(made.jobs.size());
  if (possible != nullptr) possible->clear();
  for (const MadeJob& plain : made.jobs) {
    trace.jobs.push_back(writer.job(plain, made.recipes[plain.recipe], trace.jobs.size() + 1));
    if (possible != nullptr) possible->push_back(std::move(made.possible[plain.sequence]));
  }
  trace.rows = static_cast<std::int64_t>(trace.jobs.size());
  return trace;
}

}  // namespace almanac::trace
