// SPDX-License-Identifier: Apache-2.0
#include "cli/studied_trace.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/cluster_option.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "experiment/impossible_jobs.h"
#include "experiment/infer_cluster.h"
#include "experiment/shares_of_cluster.h"
#include "site/cluster.h"
#include "study/introduction.h"
#include "table/digest.h"
#include "text/human.h"
#include "trace/select.h"

namespace almanac::cli {
std::string short_name(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (const char* const ending : {".gz", ".zst", ".csv", ".json", ".swf"}) {
    if (name.ends_with(ending)) name.erase(name.size() - std::string_view(ending).size());
  }
  return name;
}

void StudyOptions::add_to(CLI::App& command, const std::string& suffix) {
  const InGroup group(command, Group::input);
  add_cluster_option(command, cluster, "inferred from the log", suffix);
  command.add_option("--from" + suffix, from, "Only jobs submitted at this time or later")
      ->type_name("TIME");
  command.add_option("--to" + suffix, to, "Only jobs submitted before this time")
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
    auto read = site::read_cluster(cluster);
    if (!read) return tl::unexpected(read.error());
    studied.cluster = std::move(*read);
    experiment::share_gpus_by(studied.cluster, studied.trace);
    experiment::note_impossible_jobs(studied.cluster, studied.trace);
  } else if (auto inferred = experiment::infer_cluster(studied.trace)) {
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
  study::introduce(document, study,
                   {.title = short_name(studied.trace.path),
                    .filter = studied.filter,
                    .version = ALMANAC_VERSION,
                    .command = fmt::format("{}", fmt::join(command, " "))});
}

void add_second(figure::Document& document, const StudiedTrace& second) {
  const auto jobs = static_cast<std::int64_t>(second.trace.jobs.size());
  document.subtitle = fmt::format("{} jobs against {}", text::grouped(document.provenance.jobs),
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
