// SPDX-License-Identifier: Apache-2.0
#include "trace/generate.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "trace/generate_limit.h"
#include "trace/generate_plan.h"
#include "trace/generate_rhythm.h"
#include "trace/generate_sessions.h"
#include "trace/generate_users.h"

namespace almanac::trace {
namespace {

Duration whole_seconds(std::int64_t seconds) { return Duration(seconds * 1000); }

/// Writes out made jobs as jobs of a log.
class Writer {
 public:
  Writer(const Workload& workload, const Users& users, Names& names)
      : workload_(workload), users_(users) {
    for (const Workload::Vc& vc : workload.vc) vc_names_.push_back(names.intern(vc.name));
  }

  Job job(const MadeJob& plain, const MadeRecipe& recipe, std::uint64_t id) const {
    const auto gpus = static_cast<std::int32_t>(workload_.size[recipe.size].gpus);
    const auto per_node = static_cast<std::int32_t>(workload_.node.gpus);
    const float part = static_cast<float>(gpus) / static_cast<float>(per_node);
    Job job;
    job.id = JobKey{id};
    job.request.submit = workload_.span.start + whole_seconds(plain.second);
    job.request.name = recipe.name;
    job.request.user = users_.users[recipe.user].name;
    job.request.vc = vc_names_[recipe.vc];
    job.request.gpus = gpus;
    job.request.nodes = (gpus + per_node - 1) / per_node;
    job.request.cpus = part * static_cast<float>(workload_.node.cpus);
    job.request.memory_gb = part * static_cast<float>(workload_.node.memory_gb);
    if (recipe.limit_s > 0) {
      // Who knows that this run is longer than usual asks for more: no job is cut short.
      job.request.time_limit =
          whole_seconds(std::max(recipe.limit_s, round_limit(static_cast<double>(plain.run_s))));
    }
    job.outcome.run = whole_seconds(plain.run_s);
    job.outcome.state = plain.state;
    return job;
  }

 private:
  const Workload& workload_;
  const Users& users_;
  std::vector<NameId> vc_names_;
};

}  // namespace

Trace generate(const Workload& workload, std::uint64_t seed) {
  Trace trace;
  trace.format = "generated";
  const Plan plan = make_plan(workload);
  const Users users = make_users(workload, seed, trace.names);
  const Calendar calendar(workload);
  const Setting setting{workload, plan, users, calendar, seed};
  MadeJobs made;
  made.jobs.reserve(static_cast<std::size_t>(workload.span.jobs));
  for (const PlanCell& cell : plan.cells) make_sessions(setting, cell, trace.names, made);
  // Sorted in place: a stable sort would want the memory again.
  std::sort(made.jobs.begin(), made.jobs.end(), [](const MadeJob& a, const MadeJob& b) {
    return std::pair(a.second, a.sequence) < std::pair(b.second, b.sequence);
  });

  const Writer writer(workload, users, trace.names);
  trace.jobs.reserve(made.jobs.size());
  for (const MadeJob& plain : made.jobs) {
    trace.jobs.push_back(writer.job(plain, made.recipes[plain.recipe], trace.jobs.size() + 1));
  }
  trace.rows = static_cast<std::int64_t>(trace.jobs.size());
  return trace;
}

}  // namespace almanac::trace
