// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac study failures: why jobs failed, by their logs in a folder.
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/judged_logs.h"
#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/trace_options.h"
#include "cluster/cluster.h"
#include "experiment/fitted_failures.h"
#include "faults/fit.h"
#include "figure/rows_json.h"
#include "study/failure_table.h"
#include "table/output_file.h"
#include "text/human.h"

namespace almanac::cli {

void register_study_failures(Program& program);

namespace {

struct StudyFailuresOptions {
  std::string folder;
  TraceOptions trace;
  std::string rules;
  std::string out;
  ListOptions list;
};

std::string share_of(double percent) { return text::human_share(percent / 100); }

figure::Listing rows_of(const figure::Figure& table) {
  struct Shown {
    std::string label;
    std::string (*show)(double) = nullptr;
  };
  static const std::map<std::string, Shown> kShown{
      {"category", {"CAUSE"}},
      {"class", {"CLASS"}},
      {"trials", {"ATTEMPTS"}},
      {"trials_percent", {"SHARE", share_of}},
      {"jobs", {"JOBS"}},
      {"users", {"USERS"}},
      {"rtf_p50_min", {"RTF P50", [](double minutes) { return text::human_time(60 * minutes); }}},
      {"rtf_x_demand_percent", {"GPU TIME", share_of}},
      {"suggestion", {"WHAT TO DO"}}};
  figure::Listing rows;
  for (const figure::Column& from : table.columns) {
    const auto known = kShown.find(from.name);
    const bool is_shown = known != kShown.end();
    auto& column = rows.column(is_shown ? figure::Tier::usual : figure::Tier::wide, from.name,
                               is_shown ? known->second.label : from.name);
    for (const std::string& text : from.texts) column.cells.emplace_back(text);
    for (const double number : from.numbers) {
      column.cells.push_back(is_shown && known->second.show != nullptr
                                 ? figure::Cell(number, known->second.show(number))
                                 : figure::Cell(number));
    }
  }
  return rows;
}

std::string judged_json(const JudgedLogs& judged) {
  const study::Drawing& drawing = judged.drawing;
  const study::FailureTrials& trials = judged.trials;
  nlohmann::ordered_json unread = nlohmann::ordered_json::array();
  for (const failure::JudgedLog& log : judged.logs) {
    if (!log.trouble.empty()) unread.push_back({{"path", log.path}, {"why", log.trouble}});
  }
  const nlohmann::ordered_json made{{"schema", 1},
                                    {"caption", drawing.figure.caption},
                                    {"logs", trials.logs},
                                    {"logs_joined", trials.logs_joined},
                                    {"trials", trials.trials.size()},
                                    {"completed", trials.succeeded},
                                    {"not_ended", trials.unended},
                                    {"cancelled", trials.cancelled},
                                    {"causes", figure::to_array(rows_of(drawing.figure))},
                                    {"damaged_logs", std::move(unread)}};
  return made.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// Returns the failure model of what the output names; errors of users are in no model.
std::string model_of(const JudgedLogs& judged, const trace::Trace& trace) {
  const std::vector<failure::Category>& categories = judged.rules.rules.categories;
  // Where a log names no nodes, jobs are on as few nodes of 8 GPUs as they need.
  const auto runs = experiment::runs_of(trace, cluster::uniform(1, 8));
  std::vector<std::uint64_t> failures(categories.size(), 0);
  std::uint64_t drawn = 0;
  for (const study::FailedTrial& trial : judged.trials.trials) {
    const failure::Verdict& verdict = judged.logs[trial.log].verdict;
    if (!verdict.rule || !trial.job) continue;
    const std::size_t category = judged.rules.rules.rules[*verdict.rule].category;
    const std::string& of = categories[category].of;
    // On one node no network failed.
    if (of.empty() || (of == "link" && runs[*trial.job].nodes < 2)) continue;
    ++failures[category];
    ++drawn;
  }
  static const std::map<std::string, faults::Unit> kUnits{{"node", faults::Unit::node},
                                                          {"gpu", faults::Unit::gpu},
                                                          {"link", faults::Unit::link},
                                                          {"software", faults::Unit::software}};
  std::vector<faults::SeenCause> causes;
  for (std::size_t at = 0; at < categories.size(); ++at) {
    if (failures[at] == 0) continue;
    causes.push_back({categories[at].name, kUnits.at(categories[at].of), failures[at]});
  }
  return faults::to_toml(causes, runs,
                         fmt::format("the output of jobs: {} of {} failed attempts have one", drawn,
                                     judged.trials.trials.size()));
}

Result<void> write_all(const std::string& folder, const JudgedLogs& judged,
                       const trace::Trace* trace) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Code::unavailable, "cannot be made: " + error.message(), {folder});
  const std::filesystem::path path(folder);
  if (auto done = figure::write_figure(folder, judged.drawing.figure); !done) return done;
  if (auto done = study::write_verdicts((path / "verdicts.csv").string(), judged.trials,
                                        judged.logs, judged.rules);
      !done) {
    return done;
  }
  if (trace != nullptr) {
    const auto kept =
        table::write_file((path / "failures.toml").string(), model_of(judged, *trace));
    if (!kept) return kept;
  }
  return table::write_file((path / "failures.json").string(), judged_json(judged));
}

Result<int> study_failures(const StudyFailuresOptions& options) {
  std::optional<trace::Trace> trace;
  if (!options.trace.path.empty()) {
    auto loaded = options.trace.load();
    if (!loaded) return tl::unexpected(loaded.error());
    trace = std::move(*loaded);
  }
  const auto judged = judge_logs(options.folder, options.rules, trace ? &*trace : nullptr);
  if (!judged) return tl::unexpected(judged.error());
  if (!options.out.empty()) {
    const auto written = write_all(options.out, *judged, trace ? &*trace : nullptr);
    if (!written) return tl::unexpected(written.error());
  }
  if (options.list.wants_document()) {
    fmt::print("{}", judged_json(*judged));
    return kDone;
  }
  const figure::Figure& causes = judged->drawing.figure;
  if (options.list.explains()) fmt::print("{}\n\n", causes.caption);
  return options.list.print(rows_of(causes));
}

}  // namespace

void register_study_failures(Program& program) {
  const auto options = std::make_shared<StudyFailuresOptions>();
  CLI::App& command = *program
                           .noun(Purpose::understand, "study",
                                 "Analyze jobs, waits and use, as in the Helios and Philly studies")
                           .add_subcommand("failures", "Find why jobs failed, from their output");
  command
      .add_option("LOGDIR", options->folder,
                  "Job output: a directory, searched recursively, or one file")
      ->required();
  command
      .add_option("--trace", options->trace.path, "Job log of these jobs: adds users and GPU time")
      ->type_name("LOG");
  options->trace.add_reading_to(command);
  command
      .add_option(
          "--rules", options->rules,
          "TOML file of failure rules, in addition to the built-in ones (docs/guide/failures.md)")
      ->type_name("FILE");
  command
      .add_option("--out", options->out,
                  "Directory for philly_table7.csv, verdicts.csv (one row per attempt, with the "
                  "decisive line), failures.json and, with --trace, failures.toml (rates for "
                  "simulate --failures)")
      ->type_name("DIR")
      ->group(heading(Group::output));
  options->list.add_to(command);
  command.footer("");  // not those of study
  add_example(command, "almanac study failures logs");
  program.on(command, [options] { return study_failures(*options); });
}

}  // namespace almanac::cli
