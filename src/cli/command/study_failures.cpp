// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac study failures: why the jobs failed whose logs lie in a folder.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/judged_logs.h"
#include "cli/program.h"
#include "cli/trace_options.h"
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
  std::string output = "table";
};

void print_table(const study::Drawing& drawing) {
  const figure::Figure& table = drawing.figure;
  const bool joined = table.columns.size() > 6;
  fmt::print("{}\n\n", table.caption);
  fmt::print("{:<22} {:<8} {:>8} {:>6}", "CAUSE", "CLASS", "ATTEMPTS", "SHARE");
  if (joined) fmt::print(" {:>6} {:>5} {:>8} {:>9}", "JOBS", "USERS", "RTF P50", "GPU TIME");
  fmt::print("  WHAT TO DO\n");
  for (std::size_t at = 0; at < table.rows(); ++at) {
    fmt::print("{:<22} {:<8} {:>8} {:>6}", table["category"].texts[at], table["class"].texts[at],
               table["trials"].numbers[at],
               text::human_share(table["trials_percent"].numbers[at] / 100));
    if (joined) {
      fmt::print(" {:>6} {:>5} {:>8} {:>9}", table["jobs"].numbers[at], table["users"].numbers[at],
                 text::human_time(table["rtf_p50_min"].numbers[at] * 60),
                 text::human_share(table["rtf_x_demand_percent"].numbers[at] / 100));
    }
    fmt::print("  {}\n", table["suggestion"].texts[at]);
  }
}

std::string to_json(const JudgedLogs& judged) {
  const study::Drawing& drawing = judged.drawing;
  const study::FailureTrials& trials = judged.trials;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t at = 0; at < drawing.figure.rows(); ++at) {
    nlohmann::ordered_json row;
    for (const figure::Column& column : drawing.figure.columns) {
      if (column.type == figure::Type::text) {
        row[column.name] = column.texts[at];
      } else if (std::isnan(column.numbers[at])) {
        row[column.name] = nullptr;
      } else {
        row[column.name] = column.numbers[at];
      }
    }
    rows.push_back(std::move(row));
  }
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
                                    {"causes", std::move(rows)},
                                    {"damaged_logs", std::move(unread)}};
  return made.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<void> write_all(const std::string& folder, const JudgedLogs& judged) {
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
  return table::write_file((path / "failures.json").string(), to_json(judged));
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
    const auto written = write_all(options.out, *judged);
    if (!written) return tl::unexpected(written.error());
  }
  if (options.output == "json") {
    fmt::print("{}", to_json(*judged));
  } else if (options.output == "csv") {
    const auto printed =
        figure::write_csv(table::OutputFile::standard_output(), judged->drawing.figure);
    if (!printed) return tl::unexpected(printed.error());
  } else {
    print_table(judged->drawing);
  }
  return kDone;
}

}  // namespace

void register_study_failures(Program& program) {
  const auto options = std::make_shared<StudyFailuresOptions>();
  CLI::App& command = *program.noun(Purpose::understand, "study", "Analyse a job log")
                           .add_subcommand("failures", "Say why jobs failed, from their logs");
  command
      .add_option("LOGDIR", options->folder, "The logs: a folder, searched through, or one file")
      ->required();
  command
      .add_option("--trace", options->trace.path,
                  "The job log that they belong to: adds jobs, users and GPU time")
      ->type_name("TRACE");
  options->trace.add_reading_to(command);
  command
      .add_option("--rules", options->rules,
                  "TOML file of rules to put on top of the built-in ones (docs/failures.md)")
      ->type_name("FILE");
  command
      .add_option("--out", options->out,
                  "Folder for philly_table7.csv, verdicts.csv (a line for each attempt, with the "
                  "line of its log that decided) and failures.json")
      ->type_name("DIR");
  command.add_option("-o,--output", options->output, "How to print: table, json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  command.footer("");  // not those of study
  add_example(command, "almanac study failures logs");
  program.on(command, [options] { return study_failures(*options); });
}

}  // namespace almanac::cli
