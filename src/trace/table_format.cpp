// SPDX-License-Identifier: Apache-2.0
#include "trace/table_format.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "table/csv_reader.h"
#include "text/datetime.h"
#include "text/duration.h"
#include "text/nearest.h"
#include "text/number.h"

namespace almanac::trace {
namespace {

constexpr std::int64_t kMostGpus = 1'000'000;             // more in one job is a wrong column
constexpr std::int64_t kLongest = 1'000'000'000'000'000;  // ms, 31,700 years; sums must fit

bool is_missing(std::string_view text) {
  for (const std::string_view word :
       {"", "NA", "N/A", "nan", "NaN", "None", "null", "NULL", "Unknown", "unknown", "-", "\\N"}) {
    if (text == word) return true;
  }
  return false;
}

constexpr std::int64_t milliseconds(Unit unit) {
  switch (unit) {
    case Unit::ms:
      return 1;
    case Unit::min:
      return 60'000;
    case Unit::h:
      return 3'600'000;
    case Unit::d:
      return 86'400'000;
    default:
      return 1000;
  }
}

/// `text` counted in `unit`, in milliseconds.
std::optional<std::int64_t> parse_count(std::string_view text, Unit unit) {
  const bool in_seconds = unit == Unit::s || unit == Unit::any;
  auto count = text::parse_thousandths(text, in_seconds ? 1 : milliseconds(unit));
  if (count && !in_seconds) count = (*count + (*count < 0 ? -500 : 500)) / 1000;
  if (!count || *count > kLongest || *count < -kLongest) return std::nullopt;
  return count;
}

/// How all free times of a table are written, learnt from the first of them.
struct TimeStyle {
  Unit unit = Unit::any;
  std::int64_t line = 0;
};

/// A column of the map that the table has.
struct Bound {
  const Column* column = nullptr;
  std::size_t position = 0;
  NameId last{};  // most rows repeat the text of the row above
};

const char* expectation(const Column& column) {
  switch (column.field) {
    case Field::gpus:
    case Field::nodes:
    case Field::attempts:
      return "a whole number of 0 or more";
    case Field::gpu_share:
      return "a number above 0 and up to 1";
    case Field::cpus:
    case Field::memory_gb:
      return "a number of 0 or more";
    case Field::submit_s:
    case Field::start_s:
    case Field::end_s:
    case Field::deadline_s:
      if (column.unit == Unit::date) return "a time as YYYY-MM-DD hh:mm:ss";
      if (column.unit == Unit::any) return "a time as YYYY-MM-DD hh:mm:ss, or seconds";
      return "a time as a number";
    case Field::predicted_s:
      return "a number";
    case Field::run_s:
    case Field::wait_s:
    case Field::time_limit_s:
      if (column.unit == Unit::clock) return "a time as [D-]HH:MM:SS";
      return "a number of 0 or more";
    case Field::state:
      return "a job state";
    default:
      return "a text";
  }
}

/// Reads the rows of one table.
class TableReader {
 public:
  TableReader(const TableFormat& format, table::CsvReader csv, Intake& intake)
      : format_(format), csv_(std::move(csv)), intake_(intake) {}

  Result<void> bind();
  Result<void> read();

 private:
  std::string row(Draft& draft);
  std::string missing(Field field) const;
  std::string set(Bound& bound, std::string_view text, Draft& draft);
  std::string set_number(const Column& column, std::string_view text, Draft& draft);
  std::string set_time(const Column& column, std::string_view text, Draft& draft);
  std::string set_length(const Column& column, std::string_view text, Draft& draft);
  std::string bad(const Column& column, std::string_view text) const;
  std::string complete(Draft& draft);

  const TableFormat& format_;
  table::CsvReader csv_;
  Intake& intake_;
  std::vector<Bound> bound_;
  std::vector<std::optional<std::size_t>> extra_positions_;
  std::vector<std::string_view> extras_;
  TimeStyle style_;
};

/// Finds the columns in the header.
Result<void> TableReader::bind() {
  const auto& columns = format_.map.columns;
  const auto is_bound = [&](Field field) {
    return std::any_of(bound_.begin(), bound_.end(),
                       [&](const Bound& b) { return b.column->field == field; });
  };
  for (const Column& column : columns) {
    const auto position = csv_.find(column.name);
    if (position && !is_bound(column.field)) bound_.push_back({&column, *position, {}});
  }
  for (const Column& column : columns) {
    const bool is_known =
        is_bound(column.field) || format_.map.constants.contains(column.field) ||
        (column.field == Field::run_s && is_bound(Field::start_s) && is_bound(Field::end_s));
    if (column.required && !is_known) {
      return fail(Code::invalid,
                  fmt::format("the column \"{}\" is missing ({} format): the header has {}",
                              column.name, format_.name, fmt::join(csv_.header(), ", ")),
                  csv_.where(), text::did_you_mean(column.name, csv_.header()));
    }
  }
  for (const std::string& name : format_.extras) extra_positions_.push_back(csv_.find(name));
  extras_.resize(format_.extras.size());
  const auto needed = std::span(extra_positions_).first(format_.needed_extras);
  if (!needed.empty() && std::none_of(needed.begin(), needed.end(),
                                      [](const auto& position) { return position.has_value(); })) {
    return fail(Code::invalid,
                fmt::format("the column \"{}\" is missing ({} format): the header has {}",
                            fmt::join(std::span(format_.extras).first(needed.size()), "\" or \""),
                            format_.name, fmt::join(csv_.header(), ", ")),
                csv_.where());
  }
  return {};
}

Result<void> TableReader::read() {
  std::int64_t row_number = 0;
  for (;;) {
    const auto more = csv_.next();
    if (!more) {
      if (auto dropped = intake_.refuse(more.error()); !dropped) return dropped;
      continue;
    }
    if (!*more) break;
    Draft draft;
    draft.row = ++row_number;
    std::string message = row(draft);
    if (!message.empty()) {
      auto dropped = intake_.refuse({Code::invalid, std::move(message), csv_.where()});
      if (!dropped) return dropped;
    } else if (draft.is_job) {
      if (auto added = intake_.add(draft.job, csv_.line()); !added) return added;
    }
  }
  if (format_.conclude) format_.conclude(intake_);
  return {};
}

/// Fills `draft` from the row; says what is wrong with it, if anything.
std::string TableReader::row(Draft& draft) {
  draft.job.outcome.run = kNoDuration;
  draft.job.request.submit = kNoTime;
  draft.job.request.gpus = -1;
  for (Bound& bound : bound_) {
    const std::string_view text = csv_[bound.position];
    if (text.empty()) continue;
    if (std::string message = set(bound, text, draft); !message.empty()) return message;
  }
  for (const auto& [field, text] : format_.map.constants) {
    Column column{.field = field, .name = std::string(to_string(field))};
    Bound constant{&column, 0, {}};
    if (std::string message = set(constant, text, draft); !message.empty()) return message;
  }
  for (std::size_t i = 0; i < extras_.size(); ++i) {
    extras_[i] = extra_positions_[i] ? csv_[*extra_positions_[i]] : std::string_view();
  }
  draft.extras = extras_;
  if (format_.finish) {
    if (std::string message = format_.finish(draft, intake_); !message.empty()) return message;
    if (!draft.is_job) return {};
  }
  return complete(draft);
}

/// Derives what the row leaves out and checks that nothing needed is missing.
std::string TableReader::complete(Draft& draft) {
  Job& job = draft.job;
  Outcome& outcome = job.outcome;
  if (job.request.submit == kNoTime) return missing(Field::submit_s);
  if (job.request.gpus < 0) return missing(Field::gpus);
  if (outcome.start == kNoTime && draft.wait != kNoDuration) {
    outcome.start = job.request.submit + draft.wait;
  }
  if (outcome.run == kNoDuration) {
    if (outcome.start == kNoTime || outcome.end == kNoTime) return missing(Field::run_s);
    outcome.run = outcome.end - outcome.start;
    if (outcome.run < Duration::zero()) outcome.run = Duration::zero();  // the intake refuses it
  }
  if (!draft.has_id) {
    if (!format_.numbers_rows) return missing(Field::job_id);
    job.id = JobKey{static_cast<std::uint64_t>(draft.row)};
  }
  return {};
}

std::string TableReader::missing(Field field) const {
  const Column* const column = format_.map.find(field);
  return fmt::format("{} must not be empty", column ? column->name : to_string(field));
}

std::string TableReader::bad(const Column& column, std::string_view text) const {
  constexpr std::size_t kShown = 60;
  return fmt::format("{} must be {}: \"{}\"", column.name, expectation(column),
                     text.substr(0, kShown));
}

std::string TableReader::set(Bound& bound, std::string_view text, Draft& draft) {
  const Column& column = *bound.column;
  Request& request = draft.job.request;
  Trace& trace = intake_.trace();
  const auto intern = [&](NameId& target) {
    if (trace.names[bound.last] != text) bound.last = trace.names.intern(text);
    target = bound.last;
    return std::string();
  };
  switch (column.field) {
    case Field::job_id:
      draft.job.id = trace.key(text);
      draft.has_id = true;
      return {};
    case Field::after:
      request.after = trace.key(text);
      return {};
    case Field::name:
      return intern(request.name);
    case Field::user:
      return intern(request.user);
    case Field::vc:
      return intern(request.vc);
    case Field::kind:
      return intern(request.kind);
    case Field::gpu_type:
      return intern(request.gpu_type);
    case Field::model:
      return intern(request.model);
    case Field::qos:
      return intern(request.qos);
    case Field::gpus:
    case Field::nodes:
    case Field::attempts:
    case Field::gpu_share:
    case Field::cpus:
    case Field::memory_gb:
      return set_number(column, text, draft);
    case Field::submit_s:
    case Field::start_s:
    case Field::end_s:
    case Field::deadline_s:
      return set_time(column, text, draft);
    case Field::run_s:
    case Field::wait_s:
    case Field::time_limit_s:
    case Field::predicted_s:
      return set_length(column, text, draft);
    case Field::state: {
      if (const auto own = format_.map.states.find(text); own != format_.map.states.end()) {
        draft.job.outcome.state = own->second;
      } else if (const auto state = parse_state(text)) {
        draft.job.outcome.state = *state;
      } else if (!is_missing(text)) {
        return bad(column, text);
      }
      return {};
    }
  }
  return {};
}

std::string TableReader::set_number(const Column& column, std::string_view text, Draft& draft) {
  Request& request = draft.job.request;
  const bool is_whole = column.field == Field::gpus || column.field == Field::nodes ||
                        column.field == Field::attempts;
  if (is_whole && column.scale == 1) {
    const auto value = text::parse_whole(text);
    if (!value) return is_missing(text) ? std::string() : bad(column, text);
    if (*value < 0 || *value > kMostGpus) return bad(column, text);
    const auto count = static_cast<std::int32_t>(*value);
    (column.field == Field::gpus    ? request.gpus
     : column.field == Field::nodes ? request.nodes
                                    : draft.job.outcome.attempts) = count;
    return {};
  }
  auto value = text::parse_decimal(text);
  if (!value) return is_missing(text) ? std::string() : bad(column, text);
  *value *= column.scale;
  if (*value < 0 || *value > std::numeric_limits<float>::max()) return bad(column, text);
  if (is_whole) {
    const double nearest = std::round(*value);
    if (std::abs(nearest - *value) > 1e-6 || nearest > static_cast<double>(kMostGpus)) {
      return bad(column, text);
    }
    (column.field == Field::gpus    ? request.gpus
     : column.field == Field::nodes ? request.nodes
                                    : draft.job.outcome.attempts) =
        static_cast<std::int32_t>(nearest);
  } else if (column.field == Field::gpu_share) {
    request.gpu_share = static_cast<float>(*value);
    if (request.gpu_share <= 0 || request.gpu_share > 1) return bad(column, text);
  } else {
    (column.field == Field::cpus ? request.cpus : request.memory_gb) = static_cast<float>(*value);
  }
  return {};
}

std::string TableReader::set_time(const Column& column, std::string_view text, Draft& draft) {
  Outcome& outcome = draft.job.outcome;
  Time& target = column.field == Field::submit_s  ? draft.job.request.submit
                 : column.field == Field::start_s ? outcome.start
                 : column.field == Field::end_s   ? outcome.end
                                                  : draft.job.request.deadline;
  Unit unit = column.unit == Unit::any ? style_.unit : column.unit;
  std::optional<Time> time;
  const auto as_number = [&](Unit in) -> std::optional<Time> {
    const auto count = parse_count(text, in);
    if (!count) return std::nullopt;
    return Time(Duration(*count));
  };
  if (unit == Unit::any) {  // the first free time of the table
    unit = Unit::date;
    time = text::parse_datetime(text);
    if (!time) {
      unit = Unit::s;
      time = as_number(unit);
    }
    if (time) style_ = {unit, csv_.line()};
  } else {
    time = unit == Unit::date ? text::parse_datetime(text) : as_number(unit);
  }
  if (time) {
    target = *time;
    return {};
  }
  if (is_missing(text)) return {};
  const bool is_other_style =
      column.unit == Unit::any && style_.unit != Unit::any &&
      (style_.unit == Unit::date ? as_number(Unit::s) : text::parse_datetime(text)).has_value();
  if (!is_other_style) return bad(column, text);
  return fmt::format("{} must not mix time formats: \"{}\", but line {} has {}", column.name, text,
                     style_.line, style_.unit == Unit::date ? "a date and time" : "seconds");
}

std::string TableReader::set_length(const Column& column, std::string_view text, Draft& draft) {
  std::optional<Duration> length;
  if (column.unit == Unit::clock) {
    length = text::parse_duration(text);
  } else if (const auto count = parse_count(text, column.unit)) {
    length = Duration(*count);
  }
  if (!length) return is_missing(text) ? std::string() : bad(column, text);
  if (*length < Duration::zero() && column.field != Field::predicted_s) return bad(column, text);
  if (*length == text::kUnlimited) length = kNoDuration;  // no limit is no limit known
  Request& request = draft.job.request;
  (column.field == Field::run_s          ? draft.job.outcome.run
   : column.field == Field::wait_s       ? draft.wait
   : column.field == Field::time_limit_s ? request.time_limit
                                         : request.predicted) = *length;
  return {};
}

}  // namespace

double likeness(const TableFormat& format, const Head& head) {
  const auto columns = head.columns(format.map.delimiter);
  const auto is_known = [&](std::string_view name) {
    const auto is_it = [&](const std::string& known) { return known == name; };
    return std::any_of(format.map.columns.begin(), format.map.columns.end(),
                       [&](const Column& column) { return column.name == name; }) ||
           std::any_of(format.extras.begin(), format.extras.end(), is_it) ||
           std::any_of(format.ignored.begin(), format.ignored.end(), is_it);
  };
  constexpr std::ptrdiff_t kFewest = 3;  // two names in common are chance
  const auto known = std::count_if(columns.begin(), columns.end(), is_known);
  if (known < kFewest) return 0;
  return static_cast<double>(known) / static_cast<double>(columns.size());
}

Result<void> read_table(const TableFormat& format, const std::string& path, Intake& intake) {
  auto csv = table::CsvReader::open(path, format.map.delimiter);
  if (!csv) return tl::unexpected(std::move(csv.error()));
  TableReader reader(format, std::move(*csv), intake);
  if (auto bound = reader.bind(); !bound) return bound;
  return reader.read();
}

Format as_format(TableFormat format) {
  const auto shared = std::make_shared<const TableFormat>(std::move(format));
  return {.name = shared->name,
          .summary = shared->summary,
          .likeness = [shared](const Head& head) { return likeness(*shared, head); },
          .read = [shared](const std::string& path,
                           Intake& intake) { return read_table(*shared, path, intake); }};
}

}  // namespace almanac::trace
