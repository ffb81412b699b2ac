// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why jobs of several GPUs wait in Philly: their virtual cluster has no GPUs left, or none in the
/// right places.
///
/// The public log has no start times in its table form, so it is simulated under fifo first, on the
/// virtual clusters of the Helios study.
///
/// Source   Jeon et al., ATC'19, Table 2.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cluster/read.h"
#include "experiment/profile.h"
#include "policy/registry.h"
#include "reproduce/recipe.h"
#include "reproduce/study_logs.h"
#include "sim/simulation.h"
#include "study/size_bucket.h"
#include "text/datetime.h"
#include "trace/read.h"

namespace almanac::reproduce {

void register_philly_table2(Recipes& registry);

namespace philly_table2_recipe {
namespace {

constexpr const char* kNodes = "data/traces/philly_vc_nodes*.csv";

/// Of delays of jobs of 2 to 4, 5 to 8 and more GPUs, those by fair share, in percent.
constexpr std::array<double, 3> kFairShare{40.6, 25.8, 2.1};

trace::Trace jobs_of(const File& file, const cluster::Cluster& cluster) {
  trace::Trace trace = value_or_throw(trace::read_trace(file.path));
  const trace::Sample window{.from = *text::parse_datetime("2017-10-01")};
  if (const auto kept = trace::keep_sample(trace, window); !kept) throw Malformed{kept.error()};
  std::vector<std::uint32_t> order;
  for (std::uint32_t at = 0; at < trace.jobs.size(); ++at) {
    const trace::Job& job = trace.jobs[at];
    const VcId home = cluster.find_vc(trace.names[job.request.vc]);
    const bool runs = job.request.gpus >= 1 && job.outcome.run > Duration{0};
    if (runs && home != kNoVc && cluster.gpus(home) >= job.request.gpus) order.push_back(at);
  }
  trace::select_jobs(trace, order);
  require(!order.empty(), "no job is of a virtual cluster whose nodes are known");
  return trace;
}

void compare(Bench& bench, const File& file, const cluster::Cluster& cluster) {
  trace::Trace trace = jobs_of(file, cluster);
  const auto policy = value_or_throw(
      experiment::make_policy(value_or_throw(policy::registry().compose("fifo")), trace));
  const sim::Schedule schedule = sim::simulate(trace, cluster, *policy, {});
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    const sim::JobResult job = schedule.jobs[at];
    trace.jobs[at].outcome.start = job.start;
    trace.jobs[at].outcome.end = job.end;
  }
  const study::Study study(trace, cluster);
  const figure::Figure ours = StudiedLog{file, "Philly", study}.drawn("philly_table2");
  for (std::size_t row = 0; row < ours.rows(); ++row) {
    const std::string& size = ours["size"].texts[row];
    const auto at =
        static_cast<std::size_t>(std::find(study::kSizes.begin() + 1, study::kSizes.end(), size) -
                                 study::kSizes.begin() - 1);
    const bool fair = ours["cause"].texts[row] == "fair share";
    bench.add(
        fmt::format("Table 2 ({}), {}: delays by {}", file.name, size, ours["cause"].texts[row]),
        fair ? kFairShare.at(at) : 100 - kFairShare.at(at), 100 * ours["fraction"].numbers[row],
        "%");
  }
  bench.note(
      fmt::format("{}: {} public jobs since October 2017, simulated under fifo on the virtual "
                  "clusters of the Helios study; the paper counts attempts of Philly's own "
                  "scheduler for another set of jobs, so the two can be compared in kind only",
                  file.name, trace.jobs.size()));
}

}  // namespace
}  // namespace philly_table2_recipe

void register_philly_table2(Recipes& registry) {
  using namespace philly_table2_recipe;
  registry.add({.name = "philly-table2",
                .summary = "Why jobs of several GPUs wait in Philly: fair share or fragmentation",
                .paper = "Jeon et al., ATC'19, Table 2",
                .kind = Kind::figure,
                .needs = {{kNodes, "philly_vc.csv of github.com/S-Lab-System-Group/HeliosArtifact"},
                          philly_logs()},
                .make = [](Bench& bench) {
                  bench.each(kNodes, [&](const File& nodes) {
                    const auto cluster = value_or_throw(cluster::read_cluster(nodes.path));
                    bench.each(philly_logs().files,
                               [&](const File& file) { compare(bench, file, cluster); });
                  });
                }});
}

}  // namespace almanac::reproduce
