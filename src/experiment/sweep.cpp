// SPDX-License-Identifier: Apache-2.0
#include "experiment/sweep.h"

#include <optional>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "experiment/dues.h"

namespace almanac::experiment {
namespace {

/// All policies at one load with one seed; empty when stopped.
Result<std::vector<SweepPoint>> run_one(const SweepPlan& plan, double load, std::uint64_t seed) {
  const Result<Prepared> prepared = plan.prepare(load, seed);
  if (!prepared) return tl::unexpected(prepared.error());
  std::vector<Result<void>> results(prepared->runs.size());
  std::vector<SweepPoint> points(prepared->runs.size());
  std::atomic<bool> is_stopped = false;
  tbb::parallel_for(std::size_t{0}, prepared->runs.size(), [&](std::size_t run) {
    const auto schedule = simulate_run(*prepared, run, plan.stop);
    if (!schedule) {
      results[run] = tl::unexpected(schedule.error());
      return;
    }
    if (schedule->interrupted) is_stopped = true;
    Summary summary =
        summarize(prepared->runs[run].composition, prepared->trace, *schedule, prepared->power);
    add_dues(summary, judge(prepared->trace, prepared->cluster, *schedule));
    points[run] = {load, seed, std::move(summary)};
  });
  for (auto& result : results) {
    if (!result) return tl::unexpected(result.error());
  }
  return is_stopped ? std::vector<SweepPoint>{} : points;
}

}  // namespace

Result<std::vector<SweepPoint>> sweep(const SweepPlan& plan) {
  const SweepPart& part = plan.part;
  const std::size_t pairs = (plan.pairs() + part.of - part.number) / part.of;
  std::vector<std::optional<Result<std::vector<SweepPoint>>>> results(pairs);
  tbb::task_arena arena(plan.threads > 0 ? plan.threads : tbb::task_arena::automatic);
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, pairs, [&](std::size_t at) {
      if (plan.stop != nullptr && plan.stop->load()) return;
      const std::size_t pair = at * part.of + part.number - 1;
      results[at] =
          run_one(plan, plan.loads[pair / plan.seeds.size()], plan.seeds[pair % plan.seeds.size()]);
      if (plan.done != nullptr) plan.done->fetch_add(1);
    });
  });
  std::vector<SweepPoint> points;
  for (auto& result : results) {
    if (!result) continue;
    if (!*result) return tl::unexpected(result->error());
    points.insert(points.end(), (*result)->begin(), (*result)->end());
  }
  return points;
}

std::string to_csv(const std::vector<SweepPoint>& points) {
  std::string csv = "load,seed," + summary_csv_header() + "\n";
  for (const SweepPoint& point : points) {
    csv += fmt::format("{},{},{}\n", point.load, point.seed, to_csv_row(point.summary));
  }
  return csv;
}

}  // namespace almanac::experiment
