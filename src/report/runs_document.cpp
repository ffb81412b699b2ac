// SPDX-License-Identifier: Apache-2.0
#include "report/runs_document.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/shown_command.h"
#include "stats/percentiles.h"
#include "stats/quantile.h"
#include "table/csv_reader.h"
#include "table/digest.h"
#include "text/human.h"
#include "text/number.h"

namespace almanac::report {
namespace {

namespace fs = std::filesystem;

/// Sorts `values`.
Distribution distribution_of(const std::string& policy, std::vector<double>& values) {
  Distribution made{.policy = policy, .finished = static_cast<std::int64_t>(values.size())};
  if (values.empty()) return made;
  std::sort(values.begin(), values.end());
  for (const double percent : stats::kPercentiles) {
    made.values_s.push_back(stats::quantile_sorted(values, percent / 100));
  }
  return made;
}

/// Adds the completion times and waits of a policy's jobs.csv; one that has not ended has none.
Result<void> read_jobs(const fs::path& file, const std::string& policy, ReadRun& run) {
  auto csv = table::CsvReader::open(file.string());
  if (!csv) return tl::unexpected(csv.error());
  const auto jct = csv->find("jct_s");
  const auto wait = csv->find("wait_s");
  if (!jct || !wait) {
    return fail(Code::invalid, "expected the columns jct_s and wait_s", csv->where());
  }
  std::vector<double> jcts;
  std::vector<double> waits;
  for (;;) {
    const auto more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    if ((*csv)[*jct].empty()) continue;
    const auto took = text::parse_decimal((*csv)[*jct]);
    const auto waited = text::parse_decimal((*csv)[*wait]);
    if (!took || !waited) return fail(Code::invalid, "expected numbers of seconds", csv->where());
    jcts.push_back(*took);
    waits.push_back(*waited);
  }
  run.jct.push_back(distribution_of(policy, jcts));
  run.waits.push_back(distribution_of(policy, waits));
  return {};
}

/// Returns this part of all runs, one after the other.
template <class Each>
std::vector<Each> all_of(const std::vector<ReadRun>& runs, std::vector<Each> ReadRun::*part) {
  std::vector<Each> all;
  for (const ReadRun& run : runs) {
    std::copy((run.*part).begin(), (run.*part).end(), std::back_inserter(all));
  }
  return all;
}

/// Counts policies, without the row `as recorded`.
std::int64_t count_policies(const std::vector<experiment::Summary>& summaries) {
  return std::count_if(summaries.begin(), summaries.end(),
                       [](const experiment::Summary& each) { return !each.recorded; });
}

figure::Figure draw_runs(const std::vector<ReadRun>& runs) {
  figure::Figure figure{.id = "runs_made", .title = "Compared runs"};
  auto& path = figure.text("run", "Run");
  auto& trace = figure.text("trace", "Trace");
  auto& cluster = figure.text("cluster", "Cluster");
  auto& load = figure.number("load", "Load", figure::Unit::ratio);
  auto& seed = figure.number("seed", "Seed");
  auto& policies = figure.number("policies", "Policies");
  auto& whole = figure.text("state", "State");
  auto& hash = figure.text("hash", "Hash");
  for (const ReadRun& run : runs) {
    const experiment::Experiment& experiment = run.record.experiment;
    path.add(run.path);
    trace.add(fs::path(experiment.trace).filename().string());
    cluster.add(experiment.cluster.empty() ? "inferred" : experiment.cluster);
    load.add(experiment.load);
    seed.add(static_cast<double>(experiment.seed));
    policies.add(static_cast<double>(count_policies(run.summaries)));
    whole.add(run.record.complete ? "complete" : "interrupted");
    hash.add(run.record.configuration_hash);
  }
  figure.caption =
      "Runs with the same hash have the same inputs and settings, so they give the same schedules.";
  return figure;
}

}  // namespace

Result<ReadRun> read_whole_run(const std::string& path, bool several) {
  auto record = experiment::read_run(path);
  if (!record) return tl::unexpected(record.error());
  auto summaries = experiment::read_summaries(path);
  if (!summaries) return tl::unexpected(summaries.error());
  ReadRun run{.path = path, .record = std::move(*record), .summaries = std::move(*summaries)};
  for (experiment::Summary& summary : run.summaries) {
    const fs::path jobs = fs::path(path) / summary.policy / "jobs.csv";
    if (several) summary.policy = fmt::format("{}:{}", path, summary.policy);
    if (summary.recorded) continue;  // of the log, so a run keeps no schedule of it
    if (auto read = read_jobs(jobs, summary.policy, run); !read)
      return tl::unexpected(read.error());
  }
  return run;
}

figure::Document runs_document(const std::vector<ReadRun>& runs,
                               const std::vector<std::string>& command) {
  const std::vector<experiment::Summary> summaries = all_of(runs, &ReadRun::summaries);
  const experiment::RunRecord& first = runs.front().record;
  figure::Document document;
  document.kind = "runs";
  document.title = fs::path(first.experiment.trace).filename().string();
  document.subtitle = fmt::format(
      "{} of {}",
      text::counted(static_cast<std::uint64_t>(count_policies(summaries)), "policy", "policies"),
      text::counted(runs.size(), "run"));
  document.facts = {{"runs", text::grouped(static_cast<std::int64_t>(runs.size()))},
                    {"policies", text::grouped(count_policies(summaries))}};
  document.compared = compared_of(summaries);
  std::vector<std::string> hashes;
  for (const ReadRun& run : runs) {
    hashes.push_back(run.record.configuration_hash);
    if (!run.record.complete) {
      document.notes.push_back(fmt::format("{} was interrupted.", run.path));
    }
    if (run.record.trace_sha256 != first.trace_sha256) {
      document.notes.push_back(fmt::format(
          "{} and {} replay different traces, so their figures differ by trace as much as "
          "by policy.",
          run.path, runs.front().path));
    }
  }
  figure::Section lead{.id = "policies", .title = "Policies", .text = {}, .leads = true};
  lead.figures = {draw_tradeoff(summaries), draw_comparison(summaries)};
  document.sections.push_back(std::move(lead));
  figure::Section compared{.id = "times", .title = "Times and use", .text = {}};
  compared.figures.push_back(draw_bars(summaries));
  compared.figures.push_back(
      draw_percentiles({"run_jct_cdf", "Completion times", "jct_s", "Completion time", ""},
                       all_of(runs, &ReadRun::jct)));
  compared.figures.push_back(
      draw_percentiles({"run_wait_cdf", "Waits", "wait_s", "Wait", "Jobs that did not wait"},
                       all_of(runs, &ReadRun::waits)));
  document.sections.push_back(std::move(compared));
  figure::Section made{.id = "runs", .title = "Runs", .text = {}};
  made.figures.push_back(draw_runs(runs));
  document.sections.push_back(std::move(made));
  document.provenance = {
      .trace = first.experiment.trace,
      .sha256 = first.trace_sha256,
      .filter = {},
      .jobs = summaries.empty() ? -1 : static_cast<std::int64_t>(summaries.front().jobs),
      .hash = table::sha256(fmt::format("{}", fmt::join(hashes, " "))).substr(0, 16),
      .version = ALMANAC_VERSION,
      .command = shown_command(command)};
  return document;
}

}  // namespace almanac::report
