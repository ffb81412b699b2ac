// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac predict explain: how the run time of a job is predicted.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "cli/trace_options.h"
#include "predict/explain.h"
#include "predict/learned.h"
#include "predict/limited.h"
#include "predict/model_file.h"
#include "predict/proven.h"
#include "predict/replay.h"
#include "text/human.h"

namespace almanac::cli {

void register_predict_explain(Program& program);

namespace {

using Json = nlohmann::ordered_json;

struct PredictExplainOptions {
  TraceOptions trace{};
  std::string job;
  std::string model;
  std::string output = "table";
};

double from_log(double log) { return std::pow(10.0, log); }

Result<std::size_t> find_job(trace::Trace& trace, const std::string& id) {
  const trace::JobKey key = trace.key(id);
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    if (trace.jobs[at].id != key) continue;
    if (trace.jobs[at].request.gpus > 0) return at;
    return fail(Code::usage, fmt::format("job {} requests no GPU", id), {.file = trace.path});
  }
  return fail(Code::not_found, fmt::format("unknown job {}", id), {.file = trace.path});
}

/// What is predicted for one job.
struct Explained {
  predict::Distribution believed{};
  predict::Forecast forecast{};
  double mean_s = 0;
};

/// Cuts the prediction at the time limit of its job: no job outlives its limit.
Explained explained(const predict::Learned& learned, predict::Prediction said,
                    Duration time_limit) {
  said.believed = predict::cut_at_limit(said.believed, time_limit);
  predict::Forecast forecast = learned.forecast(said);
  if (time_limit != kNoDuration) {
    // The last cell of the distribution ends a few percent above the limit.
    for (double* const log : {&forecast.typical, &forecast.median, &forecast.low, &forecast.high}) {
      *log = std::min(*log, predict::log_time(time_limit));
    }
  }
  return {.believed = said.believed,
          .forecast = forecast,
          .mean_s = seconds(predict::belief_of(said.believed, time_limit).run)};
}

/// Rounds three shares to tenths of a percent that add up to 100 %: the largest remainders are
/// rounded up.
std::array<int, 3> tenths_of_percent(const std::array<double, 3>& shares) {
  constexpr int kAll = 1000;
  std::array<int, 3> tenths{};
  std::array<double, 3> left{};
  int rest = kAll;
  for (std::size_t at = 0; at < shares.size(); ++at) {
    const double exact = kAll * std::clamp(shares[at], 0.0, 1.0);
    tenths[at] = static_cast<int>(exact);
    left[at] = exact - tenths[at];
    rest -= tenths[at];
  }
  for (; rest > 0; --rest) {
    const auto most = std::max_element(left.begin(), left.end()) - left.begin();
    ++tenths[static_cast<std::size_t>(most)];
    left[static_cast<std::size_t>(most)] -= 1;
  }
  return tenths;
}

void say(const std::string& id, const Explained& explained, double truth_s,
         const std::vector<predict::Reason>& reasons) {
  const auto& [believed, forecast, mean_s] = explained;
  fmt::print("Most likely run time of job {}: {}; median {}; mean {}.\n", id,
             text::human_time(from_log(forecast.typical)),
             text::human_time(from_log(forecast.median)), text::human_time(mean_s));
  fmt::print("Nine in ten such jobs run {} to {}.\n", text::human_time(from_log(forecast.low)),
             text::human_time(from_log(forecast.high)));
  const double below = believed.position(std::log10(900.0));
  const double above = 1 - believed.position(std::log10(21600.0));
  const auto tenths = tenths_of_percent({below, 1 - below - above, above});
  fmt::print("Below 15 min: {:.1f} %; 15 min to 6 h: {:.1f} %; above 6 h: {:.1f} %.\n",
             tenths[0] / 10.0, tenths[1] / 10.0, tenths[2] / 10.0);
  fmt::print("Its true run time was {}.\n", text::human_time(truth_s));
  if (!reasons.empty())
    fmt::print("\nWhat makes the prediction longer or shorter than for other jobs of the log:\n");
  for (const predict::Reason& each : reasons) {
    const bool longer = each.factor >= 1;
    fmt::print("{:>5.2f}x {:7} {}: {}\n", longer ? each.factor : 1 / each.factor,
               longer ? "longer" : "shorter", each.words, each.value);
  }
}

/// What one predictor says of the job, and how good its decisions were.
struct Opinion {
  std::string_view name;
  double expected_s = 0;
  double regret = 0;  // infinity = not known
  bool is_believed = false;
};

std::vector<Opinion> opinions_of(const predict::Proven& proven,
                                 const predict::Proven::Opinions& opinions, Duration time_limit) {
  std::vector<Opinion> made;
  for (std::size_t at = 0; at < predict::kPredictors; ++at) {
    if (!opinions.said[at]) continue;
    const auto predictor = static_cast<predict::Predictor>(at);
    made.push_back({.name = predict::name_of(predictor),
                    .expected_s = seconds(predict::belief_of(*opinions.said[at], time_limit).run),
                    .regret = proven.regret().of(predictor),
                    .is_believed = predictor == opinions.believed});
  }
  return made;
}

void say(const std::vector<Opinion>& opinions) {
  fmt::print(
      "\nThe estimate `proven` believes the predictor with the least regret: of the GPU time that\n"
      "jobs can lose to a wrong order, the fraction lost to this predictor's lately. Another\n"
      "predictor is believed only if its regret is 5 % less.\n");
  for (const Opinion& each : opinions) {
    fmt::print("{:>8}  expects {:8} regret {}{}\n", each.name, text::human_time(each.expected_s),
               std::isfinite(each.regret) ? fmt::format("{:.3f}", each.regret) : "unknown",
               each.is_believed ? "  believed" : "");
  }
}

Json explained_json(const std::string& id, const Explained& explained, double truth_s,
                    const std::vector<predict::Reason>& reasons,
                    const std::vector<Opinion>& opinions) {
  const predict::Forecast& forecast = explained.forecast;
  Json predictors = Json::array();
  for (const Opinion& each : opinions) {
    Json regret;  // null = unknown
    if (std::isfinite(each.regret)) regret = each.regret;
    predictors.push_back({{"predictor", each.name},
                          {"expected_s", each.expected_s},
                          {"regret", regret},
                          {"believed", each.is_believed}});
  }
  Json list = Json::array();
  for (const predict::Reason& each : reasons) {
    list.push_back({{"feature", each.feature},
                    {"words", each.words},
                    {"value", each.value},
                    {"factor", each.factor}});
  }
  return {{"job_id", id},
          {"typical_s", from_log(forecast.typical)},
          {"median_s", from_log(forecast.median)},
          {"mean_s", explained.mean_s},
          {"low_s", from_log(forecast.low)},
          {"high_s", from_log(forecast.high)},
          {"ran_s", truth_s},
          {"reasons", list},
          {"predictors", predictors}};
}

/// What a prediction rests on where so few jobs have `ended` that there is no model.
std::string what_is_known(const std::string& job, std::uint64_t ended) {
  if (ended == 0) {
    return fmt::format(
        "no job had ended when job {} was submitted: the figures are not from this log, but a "
        "guess "
        "that allows any run time from a second to a month",
        job);
  }
  return fmt::format(
      "only {} had ended when job {} was submitted, and a model needs {}: the figures are from the "
      "jobs most like it, mixed with a guess that allows any run time up to a month",
      text::counted(ended, "job"), job, predict::Model::kFewest);
}

Result<int> explain(const PredictExplainOptions& options) {
  std::shared_ptr<const predict::StoredModel> stored;
  if (!options.model.empty()) {
    auto read = predict::read_model(options.model);
    if (!read) return tl::unexpected(read.error());
    stored = std::make_shared<const predict::StoredModel>(std::move(*read));
  }
  auto trace = options.trace.load();
  if (!trace) return tl::unexpected(trace.error());
  const auto wanted = find_job(*trace, options.job);
  if (!wanted) return tl::unexpected(wanted.error());
  predict::Proven proven(trace->names, stored);
  predict::Learned learned = stored ? predict::Learned(trace->names, stored, {.fits = false})
                                    : predict::Learned(trace->names);
  const trace::Job& job = trace->jobs[*wanted];
  predict::Row row{};
  predict::Proven::Opinions answer;
  std::uint64_t ended = 0;
  predict::Prediction prediction;
  const auto on_submit = [&](JobId id, const trace::Request& request) {
    answer = proven.ask(id, request);
    if (index(id) != *wanted) return learned.watch(id, request);
    row = learned.row(request);
    prediction = learned.foresee(id, request);
  };
  predict::replay(
      std::span(trace->jobs).first(*wanted + 1), on_submit,
      [&](JobId id, const trace::Request& of, const predict::Ended& how) {
        proven.learn(id, of, how);
        learned.learn(id, of, how);
        ++ended;
      },
      job.request.submit + 1ms);
  if (learned.model() == nullptr) note(what_is_known(options.job, ended));
  const auto reasons = learned.model() != nullptr ? predict::explain(*learned.model(), row)
                                                  : std::vector<predict::Reason>{};
  const Explained made = explained(learned, prediction, job.request.time_limit);
  const double truth_s = seconds(job.outcome.run);
  const auto opinions = opinions_of(proven, answer, job.request.time_limit);
  if (options.output == "json") {
    const Json json = explained_json(options.job, made, truth_s, reasons, opinions);
    fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    say(options.job, made, truth_s, reasons);
    if (ended > 0) say(opinions);
  }
  return kDone;
}

}  // namespace

void register_predict_explain(Program& program) {
  const auto options = std::make_shared<PredictExplainOptions>();
  CLI::App& command =
      *program.noun(Purpose::predict, "predict", "Predict job run times from past jobs")
           .add_subcommand("explain", "Explain the predicted run time of a job");
  options->trace.add_to(command);
  command.add_option("JOB", options->job, "Job id in the log")->required();
  command
      .add_option(
          "--model", options->model,
          "Model of almanac predict train (default: trained on jobs that ended before this one)")
      ->type_name("MODEL");
  add_output_option(command, options->output);
  add_example(command, "almanac predict explain log.csv 1492");
  program.on(command, [options] { return explain(*options); });
}

}  // namespace almanac::cli
