// SPDX-License-Identifier: Apache-2.0
#include "report/run_document.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cluster/capacity.h"
#include "experiment/run_directory.h"
#include "report/comparison.h"
#include "report/run_comparison.h"
#include "report/run_dues.h"
#include "report/run_energy.h"
#include "report/run_failures.h"
#include "report/run_findings.h"
#include "report/run_speed.h"
#include "report/run_tiles.h"
#include "report/shown_command.h"
#include "text/human.h"

namespace almanac::report {
namespace {

using figure::Document;
using text::grouped;
using Policies = std::vector<PolicyDigest>;

void introduce(Document& document, const RunInput& input, const Policies& policies,
               const std::vector<std::string>& command) {
  const experiment::Experiment& experiment = input.prepared().experiment;
  const cluster::Cluster& cluster = input.cluster();
  const cluster::Capacity most = cluster::most_at_once(cluster);
  std::vector<std::string> names;
  for (const PolicyDigest& each : policies) names.push_back(each.summary.policy);
  document.kind = "run";
  document.title = std::filesystem::path(experiment.trace).filename().string();
  document.subtitle =
      fmt::format("{} GPU jobs on {} GPUs under {}", grouped(input.gpu_jobs()), grouped(most.gpus),
                  names.size() == 1 ? names.front() : fmt::format("{} policies", names.size()));
  const auto fact = [&](const char* label, std::string value) {
    document.facts.emplace_back(label, std::move(value));
  };
  fact("GPU jobs", grouped(input.gpu_jobs()));
  fact("GPUs", grouped(most.gpus));
  if (const std::int64_t cpu_jobs = input.cpu_jobs(); cpu_jobs > 0)
    fact("CPU jobs", grouped(cpu_jobs));
  fact("nodes", grouped(most.nodes));
  fact("virtual clusters", grouped(static_cast<std::int64_t>(cluster.vcs.size())));
  // Jobs without a user form a group, but count as no user.
  const std::vector<std::string>& users = input.by(By::user).names;
  fact("users", grouped(std::ssize(users) - std::count(users.begin(), users.end(), "(none)")));
  fact("policies", grouped(static_cast<std::int64_t>(names.size())));
  fact("load", fmt::format("{:g}x", experiment.load));
  fact("seed", fmt::format("{}", experiment.seed));
  document.notes = input.prepared().notes;
  if (policies.size() < input.policies()) {
    document.notes.emplace_back("The run was interrupted before every policy was simulated.");
  }
  document.provenance = {.trace = experiment.trace,
                         .sha256 = input.trace().sha256,
                         .filter = {},
                         .jobs = static_cast<std::int64_t>(input.trace().jobs.size()),
                         .hash = experiment::configuration_hash(input.prepared()),
                         .version = ALMANAC_VERSION,
                         .command = shown_command(command)};
}

figure::Figure groups_figure(const RunInput& input, const Policies& policies, By by,
                             const GroupTitles& titles) {
  std::vector<std::string> names;
  std::vector<const GroupTotals*> totals;
  for (const PolicyDigest& each : policies) {
    names.push_back(each.summary.policy);
    totals.push_back(&each.totals[static_cast<std::size_t>(by)]);
  }
  return draw_groups(titles, input.by(by), names, totals);
}

/// Adds a figure of groups, or lists it as absent if the log has fewer than two of them.
void add_groups(Document& document, const RunInput& input, const Policies& policies,
                figure::Section& section, By by, const GroupTitles& titles) {
  if (!input.by(by).told_apart()) {
    document.absent.push_back(
        {titles.id, titles.title, fmt::format("at least two values in column {}", titles.group)});
    return;
  }
  section.figures.push_back(groups_figure(input, policies, by, titles));
}

std::vector<Distribution> distributions(const Policies& policies,
                                        std::vector<double> PolicyDigest::*values_s) {
  std::vector<Distribution> made;
  for (const PolicyDigest& each : policies) {
    made.push_back(
        {each.summary.policy, static_cast<std::int64_t>(each.summary.finished), each.*values_s});
  }
  return made;
}

template <class Part>
std::vector<Part> parts_of(Policies& policies, Part PolicyDigest::*part) {
  std::vector<Part> parts;
  for (PolicyDigest& each : policies) parts.push_back(std::move(each.*part));
  return parts;
}

}  // namespace

Document run_document(const RunInput& input, const DigestPlan& plan, Policies policies,
                      const std::vector<std::string>& command) {
  Document document;
  introduce(document, input, policies, command);
  document.tiles = run_tiles(input, policies);
  document.findings = run_findings(input, policies);
  std::vector<experiment::Summary> rows;
  for (const PolicyDigest& each : policies) rows.push_back(each.summary);
  if (auto recorded = experiment::summarize_recorded(input.trace(), input.cluster(),
                                                     input.prepared().experiment.warm_up,
                                                     policies.front().never)) {
    rows.push_back(std::move(*recorded));
  }
  if (auto said = how_well_reproduced(rows)) document.findings.push_back(std::move(*said));

  document.compared = compared_of(rows);
  figure::Section lead{.id = "policies", .title = "Policies", .text = {}, .leads = true};
  lead.figures = {draw_tradeoff(rows), draw_comparison(rows)};
  document.sections.push_back(std::move(lead));
  figure::Section compared{.id = "times", .title = "Times, use and energy", .text = {}};
  compared.figures.push_back(draw_bars(rows));
  compared.figures.push_back(
      draw_percentiles({"run_jct_cdf", "Completion times", "jct_s", "Completion time", ""},
                       distributions(policies, &PolicyDigest::jct_s)));
  compared.figures.push_back(
      draw_percentiles({"run_wait_cdf", "Waits", "wait_s", "Wait", "Jobs that did not wait"},
                       distributions(policies, &PolicyDigest::wait_s)));
  compared.figures.push_back(draw_energy(policies, input.prepared()));
  document.sections.push_back(std::move(compared));

  figure::Section speed{.id = "speed", .title = "Cores and speed", .text = {}};
  speed.figures = draw_speed(input, policies);
  if (!speed.figures.empty()) document.sections.push_back(std::move(speed));

  figure::Section failures{.id = "failures", .title = "Failures", .text = {}};
  failures.figures = draw_failures(policies);
  if (!failures.figures.empty()) document.sections.push_back(std::move(failures));

  figure::Section who{.id = "who", .title = "Waits by job and user", .text = {}};
  who.figures.push_back(groups_figure(
      input, policies, By::length,
      {.id = "run_lengths", .title = "Waits by run time", .group = "length", .label = "Run time"}));
  who.figures.back().source = "Hu et al., SC'21, section 4.2.3";
  who.figures.push_back(groups_figure(
      input, policies, By::size,
      {.id = "run_sizes", .title = "Waits by number of GPUs", .group = "size", .label = "GPUs"}));
  who.figures.back().source = "Jeon et al., ATC'19, Figure 3";
  add_groups(document, input, policies, who, By::vc,
             {.id = "run_vcs",
              .title = "Waits by virtual cluster",
              .group = "vc",
              .label = "Virtual cluster",
              .by_gpu_time = true});
  add_groups(document, input, policies, who, By::user,
             {.id = "run_users",
              .title = "Waits by user",
              .group = "user",
              .label = "User",
              .by_gpu_time = true,
              .most = 50});
  if (!policies.front().dues.owners.empty()) {
    std::vector<std::string> names;
    std::vector<const experiment::Dues*> dues;
    for (const PolicyDigest& each : policies) {
      if (each.dues.owners.size() != policies.front().dues.owners.size()) continue;
      names.push_back(each.summary.policy);
      dues.push_back(&each.dues);
    }
    who.figures.push_back(draw_dues(names, dues));
  } else {
    document.absent.push_back(
        {"run_dues", "Usage against fair share", "jobs of at least two users"});
  }
  document.sections.push_back(std::move(who));

  figure::Section cluster{.id = "cluster", .title = "Cluster", .text = {}};
  cluster.figures.push_back(draw_timelines(parts_of(policies, &PolicyDigest::timeline)));
  cluster.figures.back().n = input.gpu_jobs();
  if (input.cluster().vcs.size() > 1) {
    cluster.figures.push_back(
        draw_occupancy(input, parts_of(policies, &PolicyDigest::occupancy), plan.occupancy));
  } else {
    document.absent.push_back({"run_occupancy", "GPU allocation of the virtual clusters",
                               "a cluster with several virtual clusters"});
  }
  if (!plan.windows.empty()) {
    cluster.figures.push_back(
        draw_gantt(input, plan.windows, parts_of(policies, &PolicyDigest::gantt), plan.gantt));
  }
  document.sections.push_back(std::move(cluster));
  return document;
}

}  // namespace almanac::report
