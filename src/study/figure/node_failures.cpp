// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nodes on which more jobs fail than chance explains. The last attempt of a job is assumed to have
/// ended as the job did, and earlier attempts to have failed.
#include "study/node_failures.h"

#include <fmt/format.h>

#include "study/coverage.h"
#include "study/figures.h"

namespace almanac::study {

void register_node_failures(Figures& registry);

namespace {

std::vector<NodeRun> runs_of(const Study& study) {
  const trace::Trace& trace = study.trace();
  std::vector<NodeRun> runs;
  for (std::size_t at = 0; at < trace.attempts.size(); ++at) {
    const trace::Attempt& attempt = trace.attempts[at];
    const trace::Job& job = study.job(attempt.job);
    const auto ending = ending_of(job);
    if (!ending) continue;
    const bool is_last =
        at + 1 == trace.attempts.size() || trace.attempts[at + 1].job != attempt.job;
    const std::string kind =
        fmt::format("{} {}", index(job.request.user),
                    job.request.name == kNoName ? std::to_string(attempt.job)
                                                : std::string(trace.names[job.request.name]));
    for (std::uint32_t piece = 0; piece < attempt.num_pieces; ++piece) {
      runs.push_back(
          {.node = std::string(trace.names[trace.pieces[attempt.first_piece + piece].machine]),
           .kind = kind,
           .failed = !is_last || *ending == Ending::failed});
    }
  }
  return runs;
}

Drawing draw_node_failures(const Study& study) {
  const std::vector<NodeRecord> records = node_records(runs_of(study));
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.caption =
      "Jobs of one user and name count once per node, as failed if an attempt failed there. Nodes "
      "with at least five such groups. Each node is compared with all others by the exact binomial "
      "test, with Holm's correction for the number of nodes.";
  auto& node = figure.text("node", "Node");
  auto& kinds = figure.number("kinds", "Job groups");
  auto& failed = figure.number("failed", "Failed");
  auto& expected = figure.number("expected", "Expected");
  auto& chance = figure.number("p_value", "p-value, corrected");
  std::string named;
  std::size_t suspicious = 0;
  std::int64_t all = 0;
  for (const NodeRecord& record : records) {
    node.add(record.node);
    kinds.add(record.kinds);
    failed.add(record.failed);
    expected.add(record.expected);
    chance.add(record.p_value);
    all += record.kinds;
    if (!record.is_suspicious()) continue;
    constexpr std::size_t kNamed = 5;
    if (++suspicious <= kNamed) named += (named.empty() ? "" : "; ") + in_words(record);
  }
  figure.n = all;
  if (suspicious == 0 || !tells_failed_from_cancelled(study)) return drawing;
  drawing.findings.push_back(
      {.headline = fmt::format("On {} of {} nodes, more jobs fail than chance explains.",
                               suspicious, records.size()),
       .detail =
           fmt::format("{}{}. On a node that only one user or virtual cluster uses, their jobs "
                       "may be the cause.",
                       named, suspicious > 5 ? "; ..." : ""),
       .advice = "Drain and test these nodes first."});
  return drawing;
}

}  // namespace

void register_node_failures(Figures& registry) {
  registry.add({.id = "node_failures",
                .title = "Failures by node",
                .source = "",
                .part = Part::failures,
                .needs = {Need::gpu_jobs, Need::machines, Need::state},
                .draw = draw_node_failures});
}

}  // namespace almanac::study
