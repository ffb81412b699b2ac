// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why jobs wait: their virtual cluster has no GPUs left, or none in the right places.
///
/// Source   Jeon et al., ATC'19, Table 2: jobs of 2 GPUs and more that run a minute or longer. The
///          paper labels every delayed attempt of its scheduler, which no log has; here a job that
///          waited a minute or longer is labelled by what was free when it was submitted: fair
///          share when fewer GPUs of the virtual cluster were free than it asks, else
///          fragmentation.
#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "study/figures.h"
#include "study/size_bucket.h"
#include "study/vc_load.h"
#include "text/human.h"

namespace almanac::study {

void register_philly_table2(Figures& registry);

namespace {

enum Cause : std::size_t { kFairShare, kFragmentation, kCauses };
constexpr std::array<std::string_view, kCauses> kNames{"fair share", "fragmentation"};

struct Cell {
  double jobs = 0;
  double wait_s = 0;
};

struct Owed {
  std::string because{};
  std::string advice{};
};

/// What the waiting while enough GPUs were free is owed to, as far as that is known: free GPUs lie
/// in fragments only where jobs hold parts of nodes.
Owed owed_to(const Study& study, double share, double waited_s) {
  constexpr double kMostly = 0.5;
  const cluster::Cluster& cluster = study.cluster();
  if (cluster.inferred) {
    return {.because = cluster.lower_bound
                           ? "How many were free is inferred from the most that ever ran at once: "
                             "nodes may have been down or kept for others."
                           : "How many were free is inferred from the nodes that ran jobs: some "
                             "may have been down or kept for others meanwhile.",
            .advice = share > kMostly ? "Use --cluster to give the real nodes. If the share stays "
                                        "high, check limits, reservations, priorities and drained "
                                        "nodes."
                                      : ""};
  }
  int a_node = 0;
  for (const cluster::NodeClass& make : cluster.classes) a_node = std::max(a_node, make.gpus);
  if (a_node == 0) return {};
  double part_of_node = 0;
  double all = 0;
  for (const std::uint32_t at : study.gpu_jobs()) {
    const double time = gpu_time(study.job(at));
    all += time;
    if (study.job(at).request.gpus % a_node != 0) part_of_node += time;
  }
  constexpr double kMany = 0.05;
  if (part_of_node < kMany * all) {
    return {
        .because =
            "Nearly all GPU time goes to jobs of whole nodes, which leave no fragments: "
            "GPUs were kept for others, by priorities, reservations or limits, or were "
            "out of service.",
        .advice = share > kMostly
                      ? "Find out what kept free GPUs from jobs: limits (sacctmgr show assoc, "
                        "sacctmgr show qos), reservations (scontrol show reservation), priorities "
                        "(sprio), drained nodes (sinfo -R). Another order of the queue would not "
                        "help."
                      : ""};
  }
  if (share > kMostly) {
    return {.because = "They were free in the wrong places, or kept for others.",
            .advice =
                "If nodes are partly used, pack small jobs tightly or move them, so that whole "
                "nodes stay free. If not, check limits, reservations, priorities and drained "
                "nodes."};
  }
  const double mean_s = waited_s / static_cast<double>(study.gpu_jobs().size());
  constexpr double kNoTrouble_s = 60;
  if (mean_s < kNoTrouble_s) return {};
  return {.because = "The rest waited for GPUs that were all taken.",
          .advice = cluster.vcs.size() > 1
                        ? "Virtual clusters are full: more GPUs, or other borders, would help."
                        : "The cluster is full: more GPUs, or an order that lets short jobs go "
                          "first, would help."};
}

Drawing draw_philly_table2(const Study& study) {
  std::array<std::array<Cell, kSizes.size()>, kCauses> cells{};
  for (const VcJobs& group : jobs_by_vc(study)) {
    const VcLoad load(study, group);
    for (const std::uint32_t at : group.jobs) {
      const trace::Job& job = study.job(at);
      const bool counts = job.request.gpus >= 2 && duration_of(job) >= 1min && wait_s(job) >= 60;
      if (!counts) continue;
      const bool full = load.free_before(job.request.submit) < job.request.gpus;
      Cell& cell = cells[full ? kFairShare : kFragmentation][size_of(job.request.gpus)];
      ++cell.jobs;
      cell.wait_s += wait_s(job);
    }
  }
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.caption =
      "Jobs of 2 GPUs and more, running a minute or longer, that waited a minute or longer: "
      "fair share, when fewer GPUs of their virtual cluster were free at submission than "
      "they ask; fragmentation, when enough were free, in the wrong places.";
  auto& cause = figure.text("cause", "Cause");
  auto& size = figure.text("size", "Size");
  auto& jobs = figure.number("jobs", "Jobs", figure::Unit::jobs);
  auto& fraction = figure.number("fraction", "Share of the size's", figure::Unit::fraction);
  auto& wait = figure.number("wait_s", "Waiting", figure::Unit::seconds);
  double count = 0;
  std::array<double, kCauses> waited{};
  for (std::size_t each = 1; each < kSizes.size(); ++each) {
    const double all = cells[kFairShare][each].jobs + cells[kFragmentation][each].jobs;
    if (all == 0) continue;
    count += all;
    for (std::size_t c = 0; c < kCauses; ++c) {
      waited[c] += cells[c][each].wait_s;
      cause.add(std::string(kNames[c]));
      size.add(std::string(kSizes[each]));
      jobs.add(cells[c][each].jobs);
      fraction.add(cells[c][each].jobs / all);
      wait.add(cells[c][each].wait_s);
    }
  }
  figure.n = static_cast<std::int64_t>(count);
  figure.charts.push_back(
      {.kind = "bar", .x = "size", .y = {"fraction"}, .by = "cause", .stacked = true});
  if (count == 0) return drawing;
  const double share = waited[kFragmentation] / (waited[kFairShare] + waited[kFragmentation]);
  figure::Finding finding{
      .headline = fmt::format("{} of the waiting of jobs with several GPUs began while enough GPUs "
                              "were free.",
                              text::human_share(share))};
  const Owed owed = owed_to(study, share, waited[kFairShare] + waited[kFragmentation]);
  finding.detail = owed.because;
  finding.advice = owed.advice;
  if (!finding.detail.empty()) finding.detail += " ";
  finding.detail += fmt::format(
      "Counted are the {} of 2 GPUs or more that ran a minute or longer and "
      "waited a minute or longer, of {} that ran. ",
      text::counted(static_cast<std::uint64_t>(count), "job"),
      text::counted(study.gpu_jobs().size(), "GPU job"));
  finding.detail += "In Philly about 80 % of the waiting was of this kind.";
  drawing.findings.push_back(std::move(finding));
  return drawing;
}

}  // namespace

void register_philly_table2(Figures& registry) {
  registry.add({.id = "philly_table2",
                .title = "Why jobs wait",
                .source = "Jeon et al., ATC'19, Table 2",
                .part = Part::waiting,
                .needs = {Need::gpu_jobs, Need::start},
                .draw = draw_philly_table2});
}

}  // namespace almanac::study
