// SPDX-License-Identifier: Apache-2.0
#include "energy/series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "table/csv_reader.h"
#include "text/datetime.h"
#include "text/nearest.h"
#include "text/number.h"

namespace almanac::energy {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kMostSteps = 10'000'000;
constexpr Duration kLongestHold = 1h;
constexpr std::array<std::string_view, 6> kTimeNames = {"time",        "time_s", "timestamp",
                                                        "timestamp_s", "date",   "datetime"};

struct Row {
  Time at{};
  std::vector<double> values{};
};

/// Seconds since the epoch, or a date.
std::optional<Time> parse_time(std::string_view text) {
  if (const auto date = text::parse_datetime(text)) return date;
  if (const auto number = text::parse_thousandths(text)) return Time(Duration(*number));
  return std::nullopt;
}

/// The position of the time column: told by the first row, which the reader is at.
std::optional<std::size_t> guess_time_column(const table::CsvReader& csv) {
  for (std::size_t at = 0; at < csv.header().size(); ++at) {
    if (text::parse_datetime(csv[at])) return at;
  }
  for (const std::string_view name : kTimeNames) {
    const auto found = csv.find(name);
    if (found && text::parse_decimal(csv[*found])) return found;
  }
  return std::nullopt;
}

Error unknown_column(const table::CsvReader& csv, const std::string& path,
                     const std::string& name) {
  std::string hint = text::did_you_mean(name, csv.header());
  if (hint.empty()) hint = fmt::format("it has {}", fmt::join(csv.header(), ", "));
  return {Code::invalid, fmt::format("column {} is missing", name), {.file = path}, hint};
}

class SeriesFile {
 public:
  SeriesFile(table::CsvReader csv, std::string path, const SeriesOptions& options)
      : csv_(std::move(csv)), path_(std::move(path)), options_(options) {}

  Result<std::vector<Row>> read(const std::vector<std::string>& columns) {
    std::vector<std::size_t> positions;
    for (const std::string& name : columns) {
      const auto found = csv_.find(name);
      if (!found) return tl::unexpected(unknown_column(csv_, path_, name));
      positions.push_back(*found);
    }
    std::vector<Row> rows;
    while (true) {
      const Result<bool> more = csv_.next();
      if (!more) return tl::unexpected(more.error());
      if (!*more) break;
      if (rows.empty()) {
        if (auto found = find_time(); !found) return tl::unexpected(found.error());
      }
      const Result<Time> at = time_of_row(rows.size());
      if (!at) return tl::unexpected(at.error());
      Row row{.at = *at};
      for (const std::size_t position : positions) {
        const Result<double> value = number(position);
        if (!value) return tl::unexpected(value.error());
        row.values.push_back(*value);
      }
      rows.push_back(std::move(row));
    }
    if (rows.empty()) return fail(Code::invalid, "has no rows", {.file = path_});
    return rows;
  }

 private:
  Result<void> find_time() {
    if (!options_.time_column.empty()) {
      time_ = csv_.find(options_.time_column);
      if (!time_) return tl::unexpected(unknown_column(csv_, path_, options_.time_column));
      return {};
    }
    if (options_.start != kNoTime) return {};
    time_ = guess_time_column(csv_);
    if (time_) return {};
    return fail(
        Code::invalid, "no column holds times", {.file = path_},
        "give the time of the first row and the step between rows: --start 2020-09-01 --step 10m");
  }

  Result<Time> time_of_row(std::size_t row) const {
    if (!time_) return options_.start + options_.step * static_cast<std::int64_t>(row);
    const auto at = parse_time(csv_[*time_]);
    if (at) return *at;
    return fail(
        Code::invalid,
        fmt::format("{} is \"{}\", which is not a time", csv_.header()[*time_], csv_[*time_]),
        csv_.where(), "expected 2020-05-27 23:58:26 or seconds");
  }

  Result<double> number(std::size_t position) const {
    const std::string_view cell = csv_[position];
    if (cell.empty() || cell == "NaN" || cell == "nan") return kNaN;
    if (const auto value = text::parse_decimal(cell)) return *value;
    return fail(Code::invalid,
                fmt::format("{} is \"{}\", which is not a number", csv_.header()[position], cell),
                csv_.where());
  }

  table::CsvReader csv_;
  std::string path_;
  const SeriesOptions& options_;
  std::optional<std::size_t> time_;
};

/// The distance of most rows from their neighbor.
Duration usual_distance(const std::vector<Row>& rows) {
  std::vector<Duration> distances;
  for (std::size_t at = 1; at < rows.size(); ++at) {
    if (rows[at].at > rows[at - 1].at) distances.push_back(rows[at].at - rows[at - 1].at);
  }
  if (distances.empty()) return kUsualStep;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

Time floor_to(Time at, Duration step) {
  const auto since = at.time_since_epoch();
  const auto rest = since % step;
  return at - (rest < Duration{0} ? rest + step : rest);
}

void hold_over_short_gaps(std::vector<double>& values, std::size_t longest) {
  std::size_t held = 0;
  for (std::size_t at = 1; at < values.size(); ++at) {
    held = std::isnan(values[at]) ? held + 1 : 0;
    if (held > 0 && held <= longest) values[at] = values[at - 1];
  }
}

}  // namespace

Result<Series> read_series(const std::string& path, const std::vector<std::string>& columns,
                           const SeriesOptions& options) {
  if (options.start != kNoTime && options.step <= Duration{0}) {
    return fail(Code::usage, "--start requires --step", {}, "add --step 10m");
  }
  Result<table::CsvReader> csv = table::CsvReader::open(path);
  if (!csv) return tl::unexpected(csv.error());
  Result<std::vector<Row>> read = SeriesFile(std::move(*csv), path, options).read(columns);
  if (!read) return tl::unexpected(read.error());
  std::vector<Row>& rows = *read;

  Series series;
  const auto earlier = [](const Row& a, const Row& b) { return a.at < b.at; };
  if (!std::is_sorted(rows.begin(), rows.end(), earlier)) {
    std::stable_sort(rows.begin(), rows.end(), earlier);
    series.notes.emplace_back("rows were not in order of time and have been sorted");
  }
  series.step = options.step;
  if (series.step <= Duration{0}) series.step = std::max(kUsualStep, usual_distance(rows));
  series.start = floor_to(rows.front().at, series.step);
  const std::int64_t steps = (rows.back().at - series.start) / series.step + 1;
  if (steps > kMostSteps) {
    return fail(Code::invalid,
                fmt::format("spans {} steps, more than the {} that are allowed", steps, kMostSteps),
                {.file = path}, "check for a time that is far off, or use a longer --step");
  }
  series.columns.assign(columns.size(), std::vector<double>(static_cast<std::size_t>(steps), kNaN));
  for (const Row& row : rows) {
    const auto at = static_cast<std::size_t>((row.at - series.start) / series.step);
    for (std::size_t column = 0; column < columns.size(); ++column) {
      double& value = series.columns[column][at];
      value = std::fmax(value, row.values[column]);  // fmax prefers a number to NaN
    }
  }
  const auto longest = static_cast<std::size_t>(kLongestHold / series.step);
  for (std::vector<double>& values : series.columns) {
    hold_over_short_gaps(values, longest);
    const auto missing =
        std::count_if(values.begin(), values.end(), [](double value) { return std::isnan(value); });
    if (missing > 0) {
      series.notes.push_back(
          fmt::format("{} of {} steps have no value in {}", missing, steps,
                      columns[static_cast<std::size_t>(&values - series.columns.data())]));
    }
  }
  return series;
}

}  // namespace almanac::energy
