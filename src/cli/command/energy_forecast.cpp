// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac energy forecast: the errors of forecasts of a demand series, by rolling origin.
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/list_options.h"
#include "cli/trace_options.h"
#include "energy/backtest.h"
#include "energy/job_log.h"
#include "text/datetime.h"
#include "text/duration.h"

namespace almanac::cli {

void register_energy_forecast(Program& program);

namespace {

struct EnergyForecastOptions {
  std::string path;
  std::string column = "active";
  std::string time_column;
  std::string horizon = "3h";
  std::string from;
  std::string step;
  std::string start;
  std::string holidays;
  ListOptions list;
  bool series_alone = false;
};

/// A series and what else was known at each of its steps.
struct Told {
  energy::Series series;
  energy::Table known;
};

Result<Duration> parse_length(const char* option, const std::string& text) {
  const auto length = text::parse_duration(text);
  if (length && *length > Duration{0} && *length != text::kUnlimited) return *length;
  return fail(Code::usage, fmt::format("{} must be a time, found \"{}\"", option, text), {},
              "for example 10m or 3h");
}

Result<Told> read(const EnergyForecastOptions& options, Duration horizon) {
  energy::SeriesOptions series{.time_column = options.time_column};
  if (!options.step.empty()) {
    const auto step = parse_length("--step", options.step);
    if (!step) return tl::unexpected(step.error());
    series.step = *step;
  }
  if (!options.start.empty()) {
    const auto start = parse_time_option("--start", options.start);
    if (!start) return tl::unexpected(start.error());
    series.start = *start;
  }
  const auto jobs_given = energy::is_job_log(options.path);
  if (!jobs_given) return tl::unexpected(jobs_given.error());
  Told told;
  if (*jobs_given) {
    const auto jobs = energy::read_job_log(options.path);
    if (!jobs) return tl::unexpected(jobs.error());
    const Duration step = series.step > Duration{0} ? series.step : energy::kUsualStep;
    auto demand = energy::job_demand(*jobs, step, static_cast<std::size_t>(horizon / step));
    told.series = std::move(demand.nodes);
    if (!options.series_alone) told.known = std::move(demand.outlook);
    return told;
  }
  auto read = energy::read_series(options.path, {options.column}, series);
  if (!read) return tl::unexpected(read.error());
  told.series = std::move(*read);
  return told;
}

nlohmann::ordered_json backtest_document(const energy::Backtest& test,
                                         const std::vector<double>& levels,
                                         const energy::ForecastOptions& options) {
  nlohmann::ordered_json coverage = nlohmann::ordered_json::object();
  for (std::size_t at = 0; at < levels.size(); ++at) {
    coverage[fmt::format("{}", levels[at])] = test.coverage[at];
  }
  return {{"schema", 1},
          {"smape", test.smape},
          {"persistence_smape", test.persistence_smape},
          {"n", test.outcomes.size()},
          {"mae", test.mae},
          {"persistence_mae", test.persistence_mae},
          {"coverage", std::move(coverage)},
          {"step_s", seconds(options.step)},
          {"horizon_s", seconds(options.step) * static_cast<double>(options.horizon)}};
}

/// A row for each forecast, its quantiles to three decimals.
figure::Listing rows_of(const energy::Backtest& test, const std::vector<double>& levels) {
  using energy::Outcome;
  const auto rounded = [](double value) { return std::round(value * 1e3) / 1e3; };
  figure::Rows rows(test.outcomes);
  rows.add("time", [](const Outcome& of) { return text::format_datetime(of.at); });
  rows.add("truth", &Outcome::truth);
  rows.add("forecast", [&](const Outcome& of) { return rounded(of.forecast); });
  rows.add("persistence", &Outcome::persistence);
  for (std::size_t level = 0; level < levels.size(); ++level) {
    rows.add(fmt::format("q{:02.0f}", 100 * levels[level]), [&](const Outcome& of) {
      return rounded(test.quantiles[static_cast<std::size_t>(&of - test.outcomes.data())][level]);
    });
  }
  return rows;
}

std::string backtest_in_words(const energy::Backtest& test, const std::vector<double>& levels) {
  std::string made = fmt::format("{:<22} {:>9} {:>9}\n", "", "SMAPE", "MAE");
  made += fmt::format("{:<22} {:>7.2f} % {:>9.2f}\n", "forecast", test.smape, test.mae);
  made += fmt::format("{:<22} {:>7.2f} % {:>9.2f}\n", "persistence", test.persistence_smape,
                      test.persistence_mae);
  made += fmt::format("\n{} forecasts. Share of values at or below each quantile:\n",
                      test.outcomes.size());
  for (std::size_t at = 0; at < levels.size(); ++at) {
    made += fmt::format("  {:>3.0f} %: {:>5.1f} %\n", 100 * levels[at], 100 * test.coverage[at]);
  }
  return made;
}

Result<int> forecast(const EnergyForecastOptions& options) {
  const auto length = parse_length("--horizon", options.horizon);
  if (!length) return tl::unexpected(length.error());
  const auto told = read(options, *length);
  if (!told) return tl::unexpected(told.error());
  const energy::Series& series = told->series;
  for (const std::string& text : series.notes) note(options.path + ": " + text);
  if (*length < series.step) {
    return fail(Code::usage, fmt::format("--horizon {} is shorter than a step of the series, {}",
                                         options.horizon, text::format_duration(series.step)));
  }
  Time from = series.start;
  if (!options.from.empty()) {
    const auto given = parse_time_option("--from", options.from);
    if (!given) return tl::unexpected(given.error());
    from = *given;
  }
  energy::ForecastOptions settings{.start = series.start,
                                   .step = series.step,
                                   .horizon = static_cast<std::size_t>(*length / series.step),
                                   .known = told->known.width};
  if (!options.holidays.empty()) {
    auto calendar = energy::Calendar::read(options.holidays);
    if (!calendar) return tl::unexpected(calendar.error());
    settings.calendar = std::move(*calendar);
  }
  const energy::Backtest test = backtest(series.columns[0], from, settings, told->known);
  if (test.outcomes.empty()) {
    return fail(Code::invalid,
                fmt::format("no measurement at or after {}", text::format_datetime(from)),
                {.file = options.path},
                fmt::format("it spans {} to {}", text::format_datetime(series.start),
                            text::format_datetime(series.at(series.size()))));
  }
  if (!options.list.wants_document() && !options.list.explains()) {
    return options.list.print(rows_of(test, settings.levels));
  }
  fmt::print("{}", options.list.explains()
                       ? backtest_in_words(test, settings.levels)
                       : backtest_document(test, settings.levels, settings).dump(2) + "\n");
  return kDone;
}

}  // namespace

void register_energy_forecast(Program& program) {
  const auto options = std::make_shared<EnergyForecastOptions>();
  CLI::App& command =
      *program.noun(Purpose::predict, "energy", "Forecast demand and plan node power-down")
           .add_subcommand("forecast", "Forecast a demand series and score the forecasts");
  command
      .add_option("SERIES", options->path,
                  "CSV file with a time and a column of demand; or jobs.csv of a run, whose "
                  "running and pending jobs are used too")
      ->required();
  command.add_option("--column", options->column, "Column of the demand")->capture_default_str();
  command.add_option("--time", options->time_column, "Column of the times (default: by content)")
      ->type_name("COLUMN");
  command.add_option("--horizon", options->horizon, "Forecast horizon")
      ->type_name("LENGTH")
      ->capture_default_str();
  command.add_option("--from", options->from, "Only score forecasts of this time and later")
      ->type_name("DATE");
  CLI::Option* const step =
      command
          .add_option("--step", options->step,
                      "Length of a step (default: as in the file; 10m for jobs.csv)")
          ->type_name("LENGTH");
  command.add_option("--start", options->start, "Time of the first row of a file without times")
      ->type_name("DATE")
      ->needs(step);
  command
      .add_option("--holidays", options->holidays,
                  "CSV file of exceptional days: date, day (off or work)")
      ->type_name("FILE");
  command.add_flag("--series-alone", options->series_alone,
                   "Use only the number of nodes of jobs.csv");
  options->list.add_to(command);
  add_example(command, "almanac energy forecast out/run/easy/jobs.csv");
  program.on(command, [options] { return forecast(*options); });
}

}  // namespace almanac::cli
