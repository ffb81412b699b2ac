// SPDX-License-Identifier: Apache-2.0

/// \file
/// Completion and queuing under fifo, sjf and srtf in Philly, as the Helios study simulates it, and
/// in the month of Venus that the preset `venus` makes up.
///
/// The study's own four clusters need their logs of September 2020. Its QSSF takes drawn priorities
/// for Philly, which are not published.
///
/// Source   Hu et al., SC'21, Table 3, Figure 13; the artifact's notebook, which cuts off decimals.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "cluster/read.h"
#include "cluster/read_toml.h"
#include "experiment/profile.h"
#include "passes/helios.h"
#include "policy/registry.h"
#include "reproduce/generated.h"
#include "reproduce/recipe.h"
#include "reproduce/study_logs.h"
#include "sim/simulation.h"
#include "text/datetime.h"
#include "trace/generate.h"
#include "trace/read.h"
#include "trace/workload_preset.h"

namespace almanac::reproduce {

void register_helios_table3(Recipes& registry);

namespace helios_table3_recipe {
namespace {

constexpr const char* kNodes = "data/traces/philly_vc_nodes*.csv";
constexpr std::array<std::string_view, 3> kPolicies{"fifo", "sjf", "srtf"};

/// Average JCT and queuing in s, by policy.
struct OfVc {
  std::string_view vc;
  std::array<double, 3> jct, queue;
};
constexpr OfVc kFigure13[] = {
    {"6214e9", {97501, 23337, 19532}, {78659, 4494, 685}},
    {"7f04ca", {133826, 133271, 132980}, {1412, 857, 565}},
    {"11cb48", {82540, 14444, 9057}, {74040, 5944, 554}},
    {"b436b2", {28732, 28610, 28291}, {544, 421, 100}},
    {"ee9e8c", {243144, 130493, 122609}, {127270, 14619, 6720}},
    {"e13805", {87265, 85949, 85314}, {2331, 1015, 378}},
    {"6c71a0", {31088, 31030, 31020}, {220, 162, 150}},
    {"2869ce", {70215, 56388, 53128}, {21171, 7344, 4071}},
    {"ed69ec", {28345, 28346, 28346}, {28, 28, 27}},
    {"103959", {24743, 23283, 22735}, {2391, 932, 380}},
    {"0e4a51", {233539, 168747, 146023}, {101473, 36682, 13953}},
    {"all", {86072, 34272, 30683}, {56531, 4731, 1138}},
};
constexpr std::array<double, 2> kQueuingJobs{30282, 21437};  ///< Table 3; of srtf none is printed.

/// Table 3, Venus; of each policy JCT and queuing in s, and jobs that queue.
struct OfPolicy {
  const char* policy;
  double jct, queue, queued;
};
constexpr OfPolicy kVenus[] = {
    {"fifo", 64702, 52933, 15336}, {"sjf", 21095, 9325, 8353}, {"qssf", 18349, 6580, 3713}};

struct Means {
  double jobs = 0, jct_s = 0, queue_s = 0, queued = 0;
};

/// The jobs of October and November 2017 in virtual clusters whose nodes are known.
trace::Trace jobs_of(const File& file, const cluster::Cluster& cluster, Bench& bench) {
  trace::Trace trace = value_or_throw(trace::read_trace(file.path));
  const trace::Sample window{.from = *text::parse_datetime("2017-10-01"),
                             .to = *text::parse_datetime("2017-11-30 23:59:01")};
  if (const auto kept = trace::keep_sample(trace, window); !kept) throw Malformed{kept.error()};
  std::vector<std::uint32_t> order;
  std::size_t homeless = 0;
  for (std::uint32_t at = 0; at < trace.jobs.size(); ++at) {
    trace::Job& job = trace.jobs[at];
    job.outcome.run = study::duration_of(job);
    if (job.request.gpus < 1 || job.outcome.run < 1s) continue;
    const VcId home = cluster.find_vc(trace.names[job.request.vc]);
    if (home == kNoVc || cluster.gpus(home) < job.request.gpus) {
      ++homeless;
    } else {
      order.push_back(at);
    }
  }
  trace::select_jobs(trace, order);
  require(!order.empty(), "no job is of a virtual cluster whose nodes are known");
  bench.note(
      fmt::format("{}: {} jobs of October and November 2017; {} of these months are left out, "
                  "whose virtual cluster is not told or too small; Table 3 is of all jobs",
                  file.name, order.size(), homeless));
  return trace;
}

std::map<std::string, Means> play(const trace::Trace& trace, const cluster::Cluster& cluster,
                                  std::string_view policy) {
  sim::Options options;
  options.keeps_queue_rules = false;  // as in the simulator that is compared with
  experiment::PolicyRun run{
      .composition = value_or_throw(policy::registry().compose(std::string(policy))),
      .restart = options.restart};
  if (policy == "srtf") passes::as_helios(run);
  options.restart = run.restart;
  const auto made = value_or_throw(experiment::make_policy(run, trace));
  const sim::Schedule schedule = sim::simulate(trace, cluster, *made, options);
  std::map<std::string, Means> means;
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    const sim::JobResult job = schedule.jobs[at];
    const double jct_s = seconds(job.end - trace.jobs[at].request.submit);
    const double queue_s = jct_s - seconds(job.ran);
    for (const std::string& vc :
         {std::string(trace.names[trace.jobs[at].request.vc]), std::string("all")}) {
      Means& of = means[vc];
      ++of.jobs;
      of.jct_s += jct_s;
      of.queue_s += queue_s;
      of.queued += queue_s > 0 ? 1 : 0;
    }
  }
  for (auto& [vc, of] : means) {
    of.jct_s /= of.jobs;
    of.queue_s /= of.jobs;
  }
  return means;
}

void compare(Bench& bench, const File& file, const cluster::Cluster& cluster) {
  const trace::Trace trace = jobs_of(file, cluster, bench);
  for (std::size_t policy = 0; policy < kPolicies.size(); ++policy) {
    const auto means = play(trace, cluster, kPolicies[policy]);
    for (const OfVc& published : kFigure13) {
      const auto ours = means.find(std::string(published.vc));
      if (ours == means.end()) continue;
      const bool all = published.vc == "all";
      const std::string what = fmt::format("{}, Philly {} ({}) {}: ", all ? "Table 3" : "Figure 13",
                                           published.vc, file.name, kPolicies[policy]);
      bench.add(what + "average JCT", published.jct[policy], ours->second.jct_s, "s");
      bench.add(what + "average queuing", published.queue[policy], ours->second.queue_s, "s");
      if (!all || policy >= kQueuingJobs.size()) continue;
      bench.add(what + "queuing jobs", kQueuingJobs[policy], ours->second.queued, "jobs");
    }
  }
}

/// Nodes count by their GPUs alone, as in the study.
void compare_made_up_month(Bench& bench) {
  auto cluster =
      value_or_throw(cluster::parse_toml(*trace::preset("venus_cluster"), "venus_cluster.toml"));
  for (cluster::NodeClass& each : cluster.classes) each.cpus = each.memory_gb = 0;
  const trace::Trace trace = trace::generate(generated("venus"), 1);
  for (const OfPolicy& published : kVenus) {
    const Means ours = play(trace, cluster, published.policy).at("all");
    const std::string what =
        fmt::format("Table 3, Venus (made up by the preset venus) {}: ", published.policy);
    bench.add(what + "average JCT", published.jct, ours.jct_s, "s");
    bench.add(what + "average queuing", published.queue, ours.queue_s, "s");
    bench.add(what + "queuing jobs", published.queued, ours.queued, "jobs");
  }
  bench.note(
      "the preset venus meets the sizes, run times and rhythm that are published of Venus; which "
      "job comes when, and so how long queues grow, is its own");
}

}  // namespace
}  // namespace helios_table3_recipe

void register_helios_table3(Recipes& registry) {
  using namespace helios_table3_recipe;
  registry.add({.name = "helios-table3",
                .summary = "Completion and queuing in Philly and in a made-up month of Venus",
                .paper = "Hu et al., SC'21, Table 3 and Figure 13",
                .kind = Kind::figure,
                .needs = {{kNodes, "philly_vc.csv of github.com/S-Lab-System-Group/HeliosArtifact"},
                          philly_logs()},
                .make = [](Bench& bench) {
                  compare_made_up_month(bench);
                  bench.each(kNodes, [&](const File& nodes) {
                    const auto cluster = value_or_throw(cluster::read_cluster(nodes.path));
                    bench.each(philly_logs().files,
                               [&](const File& file) { compare(bench, file, cluster); });
                  });
                }});
}

}  // namespace almanac::reproduce
