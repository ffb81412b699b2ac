// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac predict evaluate: how well run times of a job log could have been told in advance.
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "cli/progress.h"
#include "cli/trace_options.h"
#include "predict/evaluate.h"
#include "predict/evaluation_document.h"
#include "report/document_directory.h"
#include "table/csv_writer.h"
#include "text/datetime.h"
#include "text/human.h"

namespace almanac::cli {

void register_predict_evaluate(Program& program);

namespace {

using Json = nlohmann::ordered_json;
using predict::Evaluation;
using predict::Group;
using predict::Score;
using predict::Tried;

struct PredictEvaluateOptions {
  TraceOptions trace{};
  std::string from;
  std::string out;
  std::string output = "table";
};

/// JSON has no NaN.
Json number_or_null(double value) { return std::isnan(value) ? Json(nullptr) : Json(value); }

void put(Json& object, const Score& score) {
  object["jobs"] = score.jobs;
  object["mae_s"] = number_or_null(score.mae_s);
  object["median_abs_log10_error"] = number_or_null(score.median_abs_log10_error);
  object["spearman_gpu_time"] = number_or_null(score.spearman_gpu_time);
  object["coverage_90"] = number_or_null(score.coverage_90);
  object["interval_width_log10"] = number_or_null(score.interval_width);
}

void print_json(const Evaluation& evaluation, const std::vector<Group>& groups) {
  Json list = Json::array();
  for (const Tried& tried : evaluation.estimators) {
    Json object{{"name", tried.name}};
    put(object, score(evaluation, tried, all_tested(evaluation)));
    object["summary"] = tried.words;
    object["groups"] = Json::array();
    for (const Group& group : groups) {
      Json part{{"by", group.by}, {"group", group.name}};
      put(part, score(evaluation, tried, group.jobs));
      object["groups"].push_back(part);
    }
    list.push_back(object);
  }
  fmt::print("{}\n", list.dump(2));
}

Result<void> print_evaluation_csv(const Evaluation& evaluation, const std::vector<Group>& groups) {
  table::OutputFile file = table::OutputFile::standard_output();
  table::CsvWriter csv(file);
  csv.header({"name", "by", "group", "jobs", "mae_s", "median_abs_log10_error", "spearman_gpu_time",
              "coverage_90", "interval_width_log10"});
  const auto row = [&](const Tried& tried, const std::string& by, const std::string& group,
                       std::span<const std::uint32_t> jobs) {
    const Score got = score(evaluation, tried, jobs);
    csv.text(tried.name).text(by).text(group).whole(got.jobs).rounded(got.mae_s, 1);
    csv.rounded(got.median_abs_log10_error, 4).rounded(got.spearman_gpu_time, 4);
    csv.rounded(got.coverage_90, 4).rounded(got.interval_width, 3).end_row();
  };
  for (const Tried& tried : evaluation.estimators) {
    row(tried, "", "", all_tested(evaluation));
    for (const Group& group : groups) row(tried, group.by, group.name, group.jobs);
  }
  csv.flush();
  return file.commit();
}

/// "-" where there is nothing to say.
std::string decimal(double value, int digits) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits);
}

/// A difference of decimal logarithms as how many times: 0.301 as "2.00x".
std::string factor(double log10_difference) {
  return std::isnan(log10_difference) ? "-"
                                      : fmt::format("{:.2f}x", std::pow(10, log10_difference));
}

void print_table(const Evaluation& evaluation, const std::vector<Group>& groups) {
  fmt::print("{} jobs from {} on; models fitted {} times, {:.1f} s in all\n\n",
             text::grouped(static_cast<std::int64_t>(evaluation.jobs.size())),
             text::format_datetime(evaluation.from), evaluation.fits, evaluation.fit_s);
  fmt::print("{:18} {:>11} {:>11} {:>11} {:>11} {:>11}\n", "estimator", "mean error", "typ. off by",
             "order right", "in range", "range");
  for (const Tried& tried : evaluation.estimators) {
    const Score got = score(evaluation, tried, all_tested(evaluation));
    fmt::print("{:18} {:>11} {:>11} {:>11} {:>11} {:>11}\n", tried.name,
               text::human_time(got.mae_s), factor(got.median_abs_log10_error),
               decimal(got.spearman_gpu_time, 3), text::human_share(got.coverage_90),
               factor(got.interval_width));
  }
  fmt::print(
      "\nTyp. off by: half of the jobs run at most so many times as long, or as short, as was "
      "said.\nOrder right: rank correlation of GPU times; 1 = in the right order.\nIn range: jobs "
      "that end within the range said, which should be 90 %; range: its upper end over its "
      "lower.\n");
  fmt::print("\nTypically off by, by group\n{:18} {:18} {:>8}", "by", "group", "jobs");
  for (const Tried& tried : evaluation.estimators)
    fmt::print(" {:>{}}", tried.name, std::max<std::size_t>(8, tried.name.size()));
  fmt::print("\n");
  for (const Group& group : groups) {
    fmt::print("{:18} {:18} {:>8}", group.by, group.name, group.jobs.size());
    for (const Tried& tried : evaluation.estimators) {
      fmt::print(" {:>{}}", factor(score(evaluation, tried, group.jobs).median_abs_log10_error),
                 std::max<std::size_t>(8, tried.name.size()));
    }
    fmt::print("\n");
  }
}

Result<int> evaluate(const PredictEvaluateOptions& options,
                     const std::vector<std::string>& command) {
  const auto trace = options.trace.load();
  if (!trace) return tl::unexpected(trace.error());
  predict::EvaluateOptions how;
  if (!options.from.empty()) {
    const auto from = parse_time_option("--from", options.from);
    if (!from) return tl::unexpected(from.error());
    how.from = *from;
  }
  if (!options.out.empty()) {
    const auto opened = report::open_document_directory(options.out, "prediction");
    if (!opened) return tl::unexpected(opened.error());
  }
  std::atomic<double> done = 0;
  how.progress = [&](double share) { done.store(share, std::memory_order_relaxed); };
  const auto evaluation = [&] {
    const ProgressBar bar("predicting", [&] { return done.load(std::memory_order_relaxed); });
    return predict::evaluate(*trace, how);
  }();
  if (!evaluation) return tl::unexpected(evaluation.error());
  const std::vector<Group> by = groups(*evaluation);
  if (!options.out.empty()) {
    figure::Document document = predict::evaluation_document(*trace, *evaluation);
    document.provenance.version = ALMANAC_VERSION;
    document.provenance.command = fmt::format("{}", fmt::join(command, " "));
    const auto written = report::write_document(options.out, document);
    if (!written) return tl::unexpected(written.error());
  }
  if (options.output == "json") {
    print_json(*evaluation, by);
  } else if (options.output == "csv") {
    if (auto printed = print_evaluation_csv(*evaluation, by); !printed) {
      return tl::unexpected(printed.error());
    }
  } else {
    print_table(*evaluation, by);
  }
  return kDone;
}

}  // namespace

void register_predict_evaluate(Program& program) {
  const auto options = std::make_shared<PredictEvaluateOptions>();
  CLI::App& command =
      *program
           .noun(Purpose::predict, "predict", "Tell run times in advance, from what ended before")
           .add_subcommand("evaluate", "Say how well run times could have been told in advance");
  options->trace.add_to(command);
  command
      .add_option("--from", options->from,
                  "Test the jobs submitted at this time or later; default: the last third of them")
      ->type_name("TIME");
  command
      .add_option("--out", options->out, "Folder for report.html and each figure as CSV and JSON")
      ->type_name("DIR");
  command.add_option("-o,--output", options->output, "How to print: table, json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  add_example(command, "almanac predict evaluate log.csv");
  program.on(command, [options, &program] { return evaluate(*options, program.command_line); });
}

}  // namespace almanac::cli
