// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why jobs wait: their virtual cluster has no GPUs left, or none in the right places.
///
/// Source   Jeon et al., ATC'19, Table 2: jobs of 2 GPUs and more that run for a minute or longer.
///          The paper labels every delayed attempt of its scheduler, which no log contains. Here a
///          job that waited for a minute or longer is labeled by what was free when it was
///          submitted: fair share if the virtual cluster had fewer free GPUs than the job requests,
///          otherwise fragmentation.
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

/// Why jobs waited while enough GPUs were free: free GPUs are fragmented only if jobs use parts of
/// nodes.
Owed owed_to(const Study& study, double share, double waited_s) {
  constexpr double kMostly = 0.5;
  const cluster::Cluster& cluster = study.cluster();
  if (cluster.inferred) {
    return {
        .because = cluster.lower_bound
                       ? "The number of free GPUs is inferred from the most ever in use at once: "
                         "nodes may have been down or reserved."
                       : "The number of free GPUs is inferred from the nodes that ran jobs: some "
                         "may have been down or reserved.",
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
            "Nearly all GPU time goes to jobs on whole nodes, which leave no fragments. "
            "Priorities, reservations or limits kept GPUs free, or they were out of service.",
        .advice = share > kMostly
                      ? "Find out what kept GPUs free: limits (sacctmgr show assoc, "
                        "sacctmgr show qos), reservations (scontrol show reservation), priorities "
                        "(sprio), drained nodes (sinfo -R). Another queue order would not help."
                      : ""};
  }
  if (share > kMostly) {
    return {.because = "The free GPUs were in the wrong places, or reserved.",
            .advice =
                "If nodes are partly used, pack small jobs tightly or move them, so that whole "
                "nodes stay free. If not, check limits, reservations, priorities and drained "
                "nodes."};
  }
  const double mean_s = waited_s / static_cast<double>(study.gpu_jobs().size());
  constexpr double kNoTrouble_s = 60;
  if (mean_s < kNoTrouble_s) return {};
  return {
      .because = "The rest waited because all GPUs were in use.",
      .advice = cluster.vcs.size() > 1
                    ? "The virtual clusters are full: more GPUs or other sizes would help."
                    : "The cluster is full: more GPUs, or a policy that starts short jobs first, "
                      "would help."};
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
      "Jobs with at least 2 GPUs that ran and waited at least a minute. Fair share: at submission, "
      "fewer GPUs of their virtual cluster were free than requested. Fragmentation: enough GPUs "
      "were free, but in the wrong places.";
  auto& cause = figure.text("cause", "Cause");
  auto& size = figure.text("size", "Size");
  auto& jobs = figure.number("jobs", "Jobs", figure::Unit::jobs);
  auto& fraction = figure.number("fraction", "Share of the jobs", figure::Unit::fraction);
  auto& wait = figure.number("wait_s", "Wait", figure::Unit::seconds);
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
      .headline =
          fmt::format("For {} of the wait of multi-GPU jobs, enough GPUs were free when the "
                      "wait began.",
                      text::human_share(share))};
  const Owed owed = owed_to(study, share, waited[kFairShare] + waited[kFragmentation]);
  finding.detail = owed.because;
  finding.advice = owed.advice;
  if (!finding.detail.empty()) finding.detail += " ";
  finding.detail += fmt::format(
      "Counts the {} with at least 2 GPUs that ran and waited at least a minute, of {} that ran.",
      text::counted(static_cast<std::uint64_t>(count), "job"),
      text::counted(study.gpu_jobs().size(), "GPU job"));
  finding.published = "Philly: about 80 % of the wait.";
  drawing.findings.push_back(std::move(finding));
  return drawing;
}

}  // namespace

void register_philly_table2(Figures& registry) {
  registry.add({.id = "philly_table2",
                .title = "Causes of waits",
                .source = "Jeon et al., ATC'19, Table 2",
                .part = Part::waiting,
                .needs = {Need::gpu_jobs, Need::start},
                .draw = draw_philly_table2});
}

}  // namespace almanac::study
