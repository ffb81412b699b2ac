// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac predict evaluate: how well the run times of a job log could have been predicted.
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/progress.h"
#include "cli/trace_options.h"
#include "predict/evaluate.h"
#include "predict/evaluation_document.h"
#include "report/document_directory.h"
#include "text/datetime.h"
#include "text/human.h"

namespace almanac::cli {

void register_predict_evaluate(Program& program);

namespace {

using Json = nlohmann::ordered_json;
using predict::Evaluation;
using JobGroup = predict::Group;
using predict::Score;
using predict::Tried;

struct PredictEvaluateOptions {
  TraceOptions trace{};
  std::string from;
  std::string out;
  ListOptions list;
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
  object["ended_by_90"] = number_or_null(score.ended_by_90);
}

Json evaluation_json(const Evaluation& evaluation, const std::vector<JobGroup>& groups) {
  Json list = Json::array();
  for (const Tried& tried : evaluation.estimators) {
    Json object{{"name", tried.name}};
    put(object, score(evaluation, tried, all_tested(evaluation)));
    object["summary"] = tried.words;
    object["groups"] = Json::array();
    for (const JobGroup& group : groups) {
      Json part{{"by", group.by}, {"group", group.name}};
      put(part, score(evaluation, tried, group.jobs));
      object["groups"].push_back(part);
    }
    list.push_back(object);
  }
  return list;
}

/// How well an estimator told the run times of some jobs.
struct ScoreRow {
  std::string name, by, group;
  Score score;
};

std::vector<ScoreRow> scores_of(const Evaluation& evaluation, const std::vector<JobGroup>& groups) {
  std::vector<ScoreRow> all;
  for (const Tried& tried : evaluation.estimators) {
    all.push_back({tried.name, "", "", score(evaluation, tried, all_tested(evaluation))});
    for (const JobGroup& group : groups) {
      all.push_back({tried.name, group.by, group.name, score(evaluation, tried, group.jobs)});
    }
  }
  return all;
}

/// A difference of decimal logarithms as how many times: 0.301 as "2.00x".
std::string factor(double log10_difference) {
  return std::isnan(log10_difference) ? "-"
                                      : fmt::format("{:.2f}x", std::pow(10, log10_difference));
}

figure::Listing rows_of(const std::vector<ScoreRow>& scores) {
  using figure::Tier;
  constexpr int kDigits = 6;
  figure::Rows rows(scores);
  const auto add = [&](const char* name, const char* label, auto field, auto show) {
    rows.add(
            name, label, [field](const ScoreRow& row) { return row.score.*field; }, show)
        .significant(kDigits);
  };
  rows.add("name", "estimator", &ScoreRow::name);
  rows.add(Tier::data, "by", &ScoreRow::by);
  rows.add(Tier::data, "group", &ScoreRow::group);
  rows.add(Tier::data, "jobs", [](const ScoreRow& row) { return row.score.jobs; });
  add("mae_s", "mean error", &Score::mae_s, text::human_time);
  add("median_abs_log10_error", "typical error", &Score::median_abs_log10_error, factor);
  add("spearman_gpu_time", "rank corr.", &Score::spearman_gpu_time, figure::Decimals{3});
  add("coverage_90", "in range", &Score::coverage_90, text::human_share);
  add("interval_width_log10", "range", &Score::interval_width, factor);
  add("ended_by_90", "by 90 %", &Score::ended_by_90, text::human_share);
  return rows;
}

figure::Listing groups_of(const Evaluation& evaluation, const std::vector<JobGroup>& groups) {
  figure::Rows rows(groups);
  rows.add("by", &JobGroup::by);
  rows.add(figure::Tier::key, "group", &JobGroup::name);
  rows.add("jobs", [](const JobGroup& group) { return group.jobs.size(); });
  for (const Tried& tried : evaluation.estimators) {
    rows.add(
        tried.name,
        [&](const JobGroup& group) {
          return score(evaluation, tried, group.jobs).median_abs_log10_error;
        },
        factor);
  }
  const Tried& pooled = evaluation.estimators[predict::kPooled];
  rows.add(
      "pooled_by_90",
      [&](const JobGroup& group) { return score(evaluation, pooled, group.jobs).ended_by_90; },
      text::human_share);
  return rows;
}

constexpr std::string_view kExplained =
    "\nTypical error: for half of the jobs the true run time is within this factor of the "
    "prediction, up or down.\nRank corr.: Spearman's rank correlation of GPU times; 1 is a perfect "
    "order.\nIn range: jobs that ended within the predicted range, which should be 90 %; range: "
    "upper end over lower end.\nBy 90 %: jobs that ended by the time at which 90 % should have "
    "ended. Estimator pooled is that of\nforecasts.\n\nTypical error by group, and for pooled the "
    "jobs that ended by its 90 % time\n";

Result<int> evaluate(const PredictEvaluateOptions& options,
                     const std::vector<std::string>& command) {
  if (auto known = options.list.check(rows_of(std::vector<ScoreRow>{})); !known) {
    return tl::unexpected(known.error());
  }
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
  const std::vector<JobGroup> by = groups(*evaluation);
  if (!options.out.empty()) {
    figure::Document document = predict::evaluation_document(*trace, *evaluation);
    document.provenance.version = ALMANAC_VERSION;
    document.provenance.command = fmt::format("{}", fmt::join(command, " "));
    const auto written = report::write_document(options.out, document);
    if (!written) return tl::unexpected(written.error());
  }
  const ListOptions& list = options.list;
  if (list.wants_document()) {
    fmt::print("{}\n", evaluation_json(*evaluation, by).dump(2));
    return kDone;
  }
  std::vector<ScoreRow> scores = scores_of(*evaluation, by);
  if (!list.explains()) return list.print(rows_of(scores));
  std::erase_if(scores, [](const ScoreRow& row) { return !row.by.empty(); });
  fmt::print("{} from {} on; {}, {:.1f} s in total\n\n",
             text::counted(evaluation->jobs.size(), "job"), text::format_datetime(evaluation->from),
             text::counted(static_cast<std::uint64_t>(evaluation->fits), "model fit"),
             evaluation->fit_s);
  return list.print(rows_of(scores),
                    std::string(kExplained) + groups_of(*evaluation, by).table(table_form()));
}

}  // namespace

void register_predict_evaluate(Program& program) {
  const auto options = std::make_shared<PredictEvaluateOptions>();
  CLI::App& command =
      *program.noun(Purpose::predict, "predict", "Predict job run times from past jobs")
           .add_subcommand("evaluate", "Measure how well run times can be predicted");
  options->trace.add_to(command);
  command
      .add_option("--from", options->from,
                  "Test on jobs submitted at this time or later (default: the last third)")
      ->type_name("TIME");
  command
      .add_option("--out", options->out,
                  "Directory for report.html and each figure as CSV and JSON")
      ->type_name("DIR")
      ->group(heading(Group::output));
  options->list.add_to(command);
  add_example(command, "almanac predict evaluate log.csv");
  program.on(command, [options, &program] { return evaluate(*options, program.command_line); });
}

}  // namespace almanac::cli
