// SPDX-License-Identifier: Apache-2.0
#include "trace/generate_tasks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"
#include "stats/alias.h"
#include "trace/deadlines.h"
#include "trace/generate_rhythm.h"
#include "trace/generate_users.h"

namespace almanac::trace {
namespace {

template <typename Rows, typename Weight>
stats::Alias lottery(const Rows& rows, Weight weight) {
  std::vector<double> weights;
  for (const auto& row : rows) weights.push_back(weight(row));
  return stats::Alias(weights);
}

/// How many batches a task chooses from: 1, 2, 4 ... most_batch.
std::uint64_t batches(const Workload::Task& task) {
  return static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(task.most_batch)));
}

double run_s(const Workload& workload, const Workload::Task& task, double batch, double steps) {
  return workload.work.startup_s + steps * (task.step_s + task.sample_s * batch);
}

/// Even times of arrival, in order.
std::vector<double> arrivals(std::int64_t count, Rng rng) {
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(count));
  double at = 0;
  for (std::int64_t i = 0; i < count; ++i) times.push_back(at += rng.exponential());
  at += rng.exponential();
  for (double& time : times) time /= at;
  return times;
}

/// The users of each virtual cluster, by how much they submit.
std::vector<stats::Alias> user_lotteries(const Users& users) {
  std::vector<stats::Alias> made;
  for (std::size_t vc = 0; vc + 1 < users.bounds.size(); ++vc) {
    std::vector<double> weights;
    for (std::uint32_t at = users.bounds[vc]; at < users.bounds[vc + 1]; ++at) {
      weights.push_back(users.users[at].activity);
    }
    made.emplace_back(weights);
  }
  return made;
}

}  // namespace

Trace generate_tasks(const Workload& workload, std::uint64_t seed) {
  Trace trace;
  trace.format = "generated";
  const Users users = make_users(workload, seed, trace.names);
  const std::vector<stats::Alias> users_of = user_lotteries(users);
  const Calendar calendar(workload);
  const stats::Alias vcs = lottery(workload.vc, [](const auto& vc) { return vc.jobs; });
  const stats::Alias tasks = lottery(workload.task, [](const auto& task) { return task.jobs; });
  std::optional<DeadlineLottery> deadlines;
  if (workload.deadline.any()) deadlines.emplace(workload.deadline, trace.names);
  const Workload::Work& work = workload.work;
  std::uint64_t id = 0;
  for (const double even : arrivals(workload.span.jobs, Rng(seed, 0))) {
    Rng rng(seed, ++id);
    const std::size_t vc = vcs.draw(rng);
    const Workload::Task& task = workload.task[tasks.draw(rng)];
    const auto batch = std::int64_t{1} << rng.below(batches(task));
    const auto choices = static_cast<std::uint64_t>(work.most_steps - work.least_steps + 1);
    const std::int64_t steps = work.least_steps + static_cast<std::int64_t>(rng.below(choices));
    const double seconds_on_one =
        run_s(workload, task, static_cast<double>(batch), static_cast<double>(steps));
    Job job;
    job.id = JobKey{id};
    job.request.submit = workload.span.start + Duration(calendar.second(even) * 1000);
    job.request.user = users.users[users.bounds[vc] + users_of[vc].draw(rng)].name;
    job.request.vc = trace.names.intern(workload.vc[vc].name);
    job.request.name = trace.names.intern(fmt::format("{}-{}-b{}", task.model, task.kind, batch));
    job.request.model = trace.names.intern(task.model);
    job.request.kind = trace.names.intern(task.kind);
    job.request.gpus = 1;
    job.request.batch = static_cast<std::int32_t>(batch);
    job.request.steps = steps;
    job.request.max_gpus = static_cast<std::int32_t>(std::min(batch, work.most_gpus));
    job.outcome.run = Duration(std::llround(1000 * seconds_on_one));
    job.outcome.state = JobState::completed;
    if (deadlines) deadlines->draw(job.outcome.run, rng, job.request);
    trace.jobs.push_back(job);
  }
  trace.rows = static_cast<std::int64_t>(trace.jobs.size());
  return trace;
}

double mean_task_run(const Workload& workload) {
  const double steps =
      static_cast<double>(workload.work.least_steps + workload.work.most_steps) / 2;
  double sum = 0;
  double weights = 0;
  for (const Workload::Task& task : workload.task) {
    const auto count = static_cast<double>(batches(task));
    const double batch = (std::exp2(count) - 1) / count;
    sum += task.jobs * run_s(workload, task, batch, steps);
    weights += task.jobs;
  }
  return sum / weights;
}

}  // namespace almanac::trace
