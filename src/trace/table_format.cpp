// SPDX-License-Identifier: Apache-2.0
#include "trace/table_format.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "table/csv_reader.h"
#include "text/nearest.h"
#include "text/number.h"
#include "trace/eligible.h"

namespace almanac::trace {
namespace {

/// A column of the map that the table has.
struct Bound {
  const Column* column = nullptr;
  std::size_t position = 0;
  NameId last{};                       // for CellReader
  std::vector<std::size_t> factors{};  // positions of Column::times
};

/// Reads the rows of one table.
class TableReader {
 public:
  TableReader(const TableFormat& format, table::Rows& csv, Intake& intake)
      : format_(format), csv_(csv), intake_(intake), cells_(format.map, intake.trace()) {}

  Result<void> bind();
  Result<void> read();

 private:
  Result<void> bind_factors(Bound& bound) const;
  std::string factor(const Bound& bound, double& product) const;
  void note_waits();
  std::string row(Draft& draft);
  std::string missing(Field field) const;
  std::string hint(const std::string& column) const;
  std::string complete(Draft& draft);

  const TableFormat& format_;
  table::Rows& csv_;
  Intake& intake_;
  std::vector<Bound> bound_;
  std::vector<std::optional<std::size_t>> extra_positions_;
  std::vector<std::string_view> extras_;
  std::vector<std::pair<Column, std::string>> constants_;
  CellReader cells_;
  Time last_submit_{};  // of the row before, where the table has gaps
  std::int64_t waits_ = 0, waits_off_ = 0;
};

/// How to have a column that is missing.
std::string TableReader::hint(const std::string& column) const {
  std::string meant = text::did_you_mean(column, csv_.header());
  if (!meant.empty()) return meant;
  if (!format_.command.empty()) return "all columns: " + format_.command;
  return "add it, or name the columns of this file in a column map; see almanac help formats";
}

/// Finds the columns in the header.
Result<void> TableReader::bind() {
  const auto& columns = format_.map.columns;
  const auto is_bound = [&](Field field) {
    return std::any_of(bound_.begin(), bound_.end(),
                       [&](const Bound& b) { return b.column->field == field; });
  };
  for (const Column& column : columns) {
    const auto position = csv_.find(column.name);
    if (position && !is_bound(column.field)) bound_.push_back({&column, *position, {}, {}});
  }
  for (Bound& bound : bound_) {
    if (auto done = bind_factors(bound); !done) return done;
  }
  std::stable_partition(bound_.begin(), bound_.end(),
                        [](const Bound& bound) { return bound.column->field == "gap_s"; });
  for (const Column& column : columns) {
    const bool is_known = is_bound(column.field) || format_.map.constants.contains(column.field) ||
                          (column.field == "run_s" && is_bound("start_s") && is_bound("end_s")) ||
                          (column.field == "submit_s" && is_bound("gap_s"));
    if (column.required && !is_known) {
      return fail(Code::invalid,
                  fmt::format("the column \"{}\" is missing ({} format): the header has {}",
                              column.name, format_.name, fmt::join(csv_.header(), ", ")),
                  csv_.where(), hint(column.name));
    }
  }
  if (is_bound("eligible_s")) intake_.trace().knows_eligible = true;
  for (const auto& [field, text] : format_.map.constants) {
    constants_.emplace_back(Column{.field = field, .name = std::string(field.name())}, text);
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
                csv_.where(), hint({}));
  }
  return {};
}

Result<void> TableReader::bind_factors(Bound& bound) const {
  for (const std::string& name : bound.column->times) {
    const auto position = csv_.find(name);
    if (!position) {
      return fail(
          Code::invalid,
          fmt::format("the column \"{}\", which multiplies {}, is missing: the header has {}", name,
                      bound.column->name, fmt::join(csv_.header(), ", ")),
          csv_.where(), hint(name));
    }
    bound.factors.push_back(*position);
  }
  return {};
}

/// Multiplies `product` by the cells of the column's factors.
std::string TableReader::factor(const Bound& bound, double& product) const {
  for (const std::size_t position : bound.factors) {
    const auto value = text::parse_decimal(csv_[position]);
    if (!value || *value < 0) {
      return fmt::format("{} must be a number of 0 or more, found \"{}\"", csv_.header()[position],
                         csv_[position].substr(0, 60));
    }
    product *= *value;
  }
  return {};
}

/// Notes a column of waits that is something else, such as the wait since a job was eligible.
void TableReader::note_waits() {
  constexpr double kNotable = 0.05;
  if (waits_off_ == 0 || static_cast<double>(waits_off_) < kNotable * static_cast<double>(waits_)) {
    return;
  }
  intake_.trace().notes.push_back(fmt::format(
      "the wait in the log is not start minus submission, which is used instead: {} of {} jobs",
      waits_off_, waits_));
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
  note_waits();
  return {};
}

/// Fills `draft` from the row; says what is wrong with it, if anything.
std::string TableReader::row(Draft& draft) {
  cells_.at_line(csv_.line());
  draft.job.outcome.run = kNoDuration;
  draft.job.request.submit = kNoTime;
  draft.job.request.gpus = -1;
  for (Bound& bound : bound_) {
    const std::string_view text = csv_[bound.position];
    if (text.empty()) continue;
    double product = 1;
    std::string message = factor(bound, product);
    if (message.empty()) {
      message = cells_.read(*bound.column, text, bound.last, draft, product);
    }
    if (!message.empty()) return message;
    // Rows that are refused later have a gap all the same.
    if (bound.column->field == "gap_s" && draft.gap != kNoDuration) last_submit_ += draft.gap;
  }
  for (const auto& [column, text] : constants_) {
    NameId last{};
    std::string message = cells_.read(column, text, last, draft);
    if (!message.empty()) return message;
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
  if (draft.gap != kNoDuration && job.request.submit == kNoTime) job.request.submit = last_submit_;
  if (job.request.submit == kNoTime) return missing("submit_s");
  if (job.request.gpus < 0) return missing("gpus");
  if (outcome.start == kNoTime && draft.wait != kNoDuration) {
    outcome.start = job.request.submit + draft.wait;
  }
  if (outcome.start != kNoTime && draft.wait != kNoDuration) {
    constexpr Duration kRounding = 2s;
    ++waits_;
    const Duration wait = outcome.start - job.request.submit;
    waits_off_ += std::chrono::abs(wait - draft.wait) > kRounding ? 1 : 0;
  }
  if (outcome.run == kNoDuration) {
    if (outcome.start == kNoTime || outcome.end == kNoTime) return missing("run_s");
    outcome.run = outcome.end - outcome.start;
    if (outcome.run < Duration::zero()) outcome.run = Duration::zero();  // the intake refuses it
  }
  join_queue(job, draft.never_eligible && never_ran(job) ? kNever : draft.eligible);
  if (!draft.has_id) {
    if (!format_.numbers_rows) return missing("job_id");
    job.id = JobKey{static_cast<std::uint64_t>(draft.row)};
  }
  return {};
}

std::string TableReader::missing(Field field) const {
  for (const Bound& bound : bound_) {
    if (bound.column->field != field) continue;
    const std::string_view text = csv_[bound.position];
    if (text.empty()) return fmt::format("{} must not be empty", bound.column->name);
    return fmt::format("{} must be known, found \"{}\"", bound.column->name, text);
  }
  const Column* const column = format_.map.find(field);
  return fmt::format("{} must not be empty", column ? column->name : field.name());
}

char delimiter_of(const TableFormat& format, const Head& head) {
  return format.map.delimiter == '\0' ? table::delimiter_of(head.first_line())
                                      : format.map.delimiter;
}

}  // namespace

double resemblance(const TableFormat& format, const Head& head) {
  const auto columns = head.columns(delimiter_of(format, head));
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

double likeness(const TableFormat& format, const Head& head) {
  const auto columns = head.columns(delimiter_of(format, head));
  const auto has = [&](const std::string& mark) {
    return std::find(columns.begin(), columns.end(), mark) != columns.end();
  };
  const bool is_marked =
      format.marks.empty() || std::any_of(format.marks.begin(), format.marks.end(), has);
  const double share = resemblance(format, head);
  return is_marked || (format.is_plain && share == 1) ? share : 0;
}

Result<void> read_table(const TableFormat& format, const std::string& path, Intake& intake) {
  const auto read = [&](table::Rows& rows) -> Result<void> {
    TableReader reader(format, rows, intake);
    if (auto bound = reader.bind(); !bound) return bound;
    return reader.read();
  };
  if (format.open) {
    const auto rows = format.open(path);
    return rows ? read(**rows) : tl::unexpected(rows.error());
  }
  auto csv = format.map.delimiter == '\0' ? table::CsvReader::open_any(path)
                                          : table::CsvReader::open(path, format.map.delimiter);
  return csv ? read(*csv) : tl::unexpected(std::move(csv.error()));
}

Format as_format(TableFormat format) {
  const auto shared = std::make_shared<const TableFormat>(std::move(format));
  const Column* const eligible = shared->map.find("eligible_s");
  return {.name = shared->name,
          .summary = shared->summary,
          .likeness = [shared](const Head& head) { return likeness(*shared, head); },
          .resemblance = [shared](const Head& head) { return resemblance(*shared, head); },
          .run_times = shared->run_times,
          .eligible_column = eligible == nullptr ? std::string() : eligible->name,
          .read = [shared](const std::string& path,
                           Intake& intake) { return read_table(*shared, path, intake); }};
}

}  // namespace almanac::trace
