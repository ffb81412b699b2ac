// SPDX-License-Identifier: Apache-2.0
#include "cli/studied_trace.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/program.h"
#include "cluster/read.h"
#include "sim/infer_cluster.h"
#include "table/digest.h"
#include "text/datetime.h"
#include "text/human.h"
#include "trace/select.h"

namespace almanac::cli {
namespace {

std::string day_of(Time time) { return text::format_datetime(time).substr(0, 10); }

std::int64_t distinct(const trace::Trace& trace, NameId trace::Request::*field) {
  std::vector<bool> seen(trace.names.size());
  for (const trace::Job& job : trace.jobs) seen[index(job.request.*field)] = true;
  seen[index(kNoName)] = false;
  return std::count(seen.begin(), seen.end(), true);
}

}  // namespace

std::string short_name(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (const char* const ending : {".gz", ".zst", ".csv", ".json", ".swf"}) {
    if (name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
  }
  return name;
}

void StudyOptions::add_to(CLI::App& command, const std::string& suffix) {
  command
      .add_option("--cluster" + suffix, cluster,
                  "Cluster: a TOML or CSV file, or NxG for N nodes of G GPUs; default: inferred "
                  "from the trace")
      ->option_text("FILE|NxG");
  command.add_option("--from" + suffix, from, "Study the jobs submitted at this time or later")
      ->type_name("TIME");
  command.add_option("--to" + suffix, to, "Study the jobs submitted before this time")
      ->type_name("TIME");
}

Result<StudiedTrace> StudyOptions::load(const TraceOptions& options) const {
  trace::Sample sample;
  std::vector<std::string> filter;
  if (!from.empty()) {
    const auto time = parse_time_option("--from", from);
    if (!time) return tl::unexpected(time.error());
    sample.from = *time;
    filter.push_back("from " + from);
  }
  if (!to.empty()) {
    const auto time = parse_time_option("--to", to);
    if (!time) return tl::unexpected(time.error());
    sample.to = *time;
    filter.push_back("before " + to);
  }
  auto trace = options.load();
  if (!trace) return tl::unexpected(trace.error());
  if (auto kept = trace::keep_sample(*trace, sample); !kept) return tl::unexpected(kept.error());
  StudiedTrace studied{.trace = std::move(*trace), .cluster = {}, .filter = {}};
  if (!filter.empty()) studied.filter = fmt::format("submitted {}", fmt::join(filter, " and "));
  if (!cluster.empty()) {
    auto read = cluster::read_cluster(cluster);
    if (!read) return tl::unexpected(read.error());
    studied.cluster = std::move(*read);
  } else if (auto inferred = sim::infer_cluster(studied.trace)) {
    studied.cluster = std::move(*inferred);
  } else {
    // A log without GPU jobs has no cluster of GPUs, and can be studied all the same.
    studied.cluster.notes.push_back(inferred.error().message);
  }
  for (const std::string& text : studied.cluster.notes) note(text);
  return studied;
}

void describe(figure::Document& document, const StudiedTrace& studied, const study::Study& study,
              const std::vector<std::string>& command) {
  const trace::Trace& trace = studied.trace;
  const cluster::Cluster& cluster = studied.cluster;
  const auto jobs = static_cast<std::int64_t>(trace.jobs.size());
  const Time first = trace.jobs.front().request.submit;
  const Time last = trace.jobs.back().request.submit;
  const std::string span = study.has(study::Need::calendar)
                               ? fmt::format("{} to {}", day_of(first), day_of(last))
                               : fmt::format("{} from the first submission to the last",
                                             text::human_time(seconds(last - first)));
  document.title = short_name(trace.path);
  document.subtitle = fmt::format("{} jobs, {}", text::grouped(jobs), span);

  double gpu_s = 0;
  for (const std::uint32_t at : study.gpu_jobs()) gpu_s += study::gpu_time(study.job(at));
  const auto fact = [&](const char* label, std::int64_t value) {
    if (value > 0) document.facts.emplace_back(label, text::grouped(value));
  };
  fact("GPU jobs", static_cast<std::int64_t>(study.gpu_jobs().size()));
  fact("CPU jobs", static_cast<std::int64_t>(study.cpu_jobs().size()));
  fact("never ran", study.never_ran());
  fact("users", distinct(trace, &trace::Request::user));
  fact("virtual clusters", distinct(trace, &trace::Request::vc));
  fact("GPU-hours", static_cast<std::int64_t>(gpu_s / 3600));
  fact("nodes", static_cast<std::int64_t>(cluster.nodes.size()));
  fact("GPUs", cluster.gpus());

  document.notes = trace.notes;
  document.notes.insert(document.notes.end(), cluster.notes.begin(), cluster.notes.end());
  document.provenance = {
      .trace = trace.path,
      .sha256 = trace.sha256,
      .filter = studied.filter,
      .jobs = jobs,
      .hash = table::sha256(trace.sha256 + "\n" + studied.filter + "\n" + cluster::to_toml(cluster))
                  .substr(0, 16),
      .version = ALMANAC_VERSION,
      .command = fmt::format("{}", fmt::join(command, " "))};
}

void add_second(figure::Document& document, const StudiedTrace& second) {
  const auto jobs = static_cast<std::int64_t>(second.trace.jobs.size());
  document.subtitle = fmt::format("{} jobs beside {}", text::grouped(document.provenance.jobs),
                                  text::grouped(jobs));
  document.facts.clear();
  for (const std::string& text : second.trace.notes) document.notes.push_back(text);
  figure::Provenance& from = document.provenance;
  from.trace += " and " + second.trace.path;
  from.hash =
      table::sha256(from.hash + "\n" + second.trace.sha256 + "\n" + second.filter).substr(0, 16);
  from.sha256 += " " + second.trace.sha256;
  if (!second.filter.empty()) from.filter += " and " + second.filter;
  from.jobs += jobs;
}

}  // namespace almanac::cli
