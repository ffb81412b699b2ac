// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policies on several GPU types in Almanac's own simulation: the first jobs of Gavel's generated
/// streams, on 36 GPUs of each of three types. `gavel_packed` shows what pairs on the same GPUs
/// bring Gavel's max-min fairness, and `almanac` what a policy loses that does not choose the type.
///
/// A job runs as the speeds say that were fitted to Gavel's tables (`--speed public`). Jobs request
/// one GPU, state their steps and may be stopped. A restart costs what `simulate` takes for one.
///
/// Source   jobs, and what is compared: Narayanan et al., OSDI'20 (Gavel), sections 4.2 and 7.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "experiment/dues.h"
#include "experiment/experiment.h"
#include "reproduce/gavel_runs.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_gavel_packed(Recipes& registry);

namespace gavel_packed_recipe {
namespace {

constexpr double kUnpublished = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kJobs = 1'000;
constexpr std::array kPerHour{4, 6, 8};
/// The last two know no true run times, and predict them from steps.
const std::vector<std::string> kPolicies{"gavel:fairness", "gavel_packed",     "gavel:finish_time",
                                         "fair_srtf",      "fair_srtf+proven", "almanac"};

/// The first jobs of a stream, so many an hour.
trace::Trace trace_of(const File& file, int per_hour) {
  trace::Trace trace;
  double arrival_s = 0;
  Rows rows(file.path, {"job", "model", "batch_size", "scale_factor", "v100_duration_s",
                        "total_steps", "gap_to_next_unit"});
  while (rows.next() && trace.jobs.size() < kJobs) {
    trace::Job& job = trace.jobs.emplace_back();
    job.id = trace::JobKey{static_cast<std::uint64_t>(rows.whole("job"))};
    job.request.submit = Time{Duration{std::llround(arrival_s * 1e3)}};
    job.request.model = trace.names.intern(rows.text("model"));
    job.request.gpus = static_cast<std::int32_t>(rows.whole("scale_factor"));
    if (!rows.text("batch_size").empty()) {
      job.request.batch = static_cast<std::int32_t>(rows.whole("batch_size")) * job.request.gpus;
    }
    job.request.steps = std::llround(rows.number("total_steps"));
    job.request.requeue = trace::Requeue::yes;
    job.request.user = trace.names.intern(fmt::format("user{}", trace.jobs.size()));
    job.outcome.run = Duration{std::llround(rows.number("v100_duration_s") * 1e3)};
    job.outcome.state = trace::JobState::completed;
    arrival_s += rows.number("gap_to_next_unit") * 3600 / per_hour;
  }
  require(!trace.jobs.empty(), "expected a job");
  return trace;
}

/// The V100 first: run times are those on it.
cluster::Cluster three_types() {
  constexpr int kPerNode = 4;
  cluster::Cluster made;
  made.add_vc("all");
  for (const char* const type : {"V100", "P100", "K80"}) {
    made.add_nodes({.gpus = kPerNode, .gpu_type = type}, kEachType / kPerNode);
  }
  made.takes_every_job = true;
  return made;
}

void compare(Bench& bench) {
  bench.each(kStreams, [&](const File& file) {
    for (const int per_hour : kPerHour) {
      experiment::Experiment experiment;
      experiment.speed = "public";
      experiment.policies = kPolicies;
      const experiment::Prepared prepared =
          value_or_throw(experiment::prepare(experiment, trace_of(file, per_hour), three_types()));
      for (std::size_t run = 0; run < prepared.runs.size(); ++run) {
        const sim::Schedule schedule = value_or_throw(experiment::simulate_run(prepared, run));
        const experiment::Summary summary = experiment::summarize(
            prepared.runs[run].composition, prepared.trace, schedule, prepared.power);
        const std::string what =
            fmt::format("{}, {} jobs an hour, {}: ", file.stem, per_hour, kPolicies[run]);
        const fairness::Dues dues = experiment::judge(prepared.trace, prepared.cluster, schedule);
        double worst = 0;
        for (const fairness::Owner& owner : dues.owners) {
          worst = std::max(worst, owner.finish_ratio);
        }
        bench.add(what + "mean JCT", kUnpublished, summary.avg_jct_s, "s");
        bench.add(what + "mean finish-time ratio", kUnpublished, dues.finish_ratio, "");
        bench.add(what + "worst finish-time ratio", kUnpublished, worst, "");
        bench.add(what + "jobs above 1.05", kUnpublished, 100 * dues.unfair_jobs, "%");
      }
    }
  });
  bench.note(
      "a ratio is time from submission to end, beside that with 1/n of the cluster for itself; "
      "each "
      "job is its own user");
}

}  // namespace
}  // namespace gavel_packed_recipe

void register_gavel_packed(Recipes& registry) {
  using namespace gavel_packed_recipe;
  registry.add(
      {.name = "gavel-packed",
       .summary =
           "policies over GPU types in our own simulation, pairs on the same GPUs among them",
       .paper = "ours, on the streams of Narayanan et al., OSDI'20 (Gavel)",
       .kind = Kind::baseline,
       .needs = {{kStreams, kGavelData}},
       .make = compare});
}

}  // namespace almanac::reproduce
