// SPDX-License-Identifier: Apache-2.0
#include "trace/cell.h"

#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "cluster/slices/board.h"
#include "text/datetime.h"
#include "text/duration.h"
#include "text/number.h"
#include "trace/alternative.h"
#include "trace/metric.h"
#include "trace/node_list.h"

namespace almanac::trace {
namespace {

constexpr std::int64_t kLongest = 1'000'000'000'000'000;  // ms, 31,700 years; sums must fit

bool is_missing(std::string_view text) {
  for (const std::string_view word :
       {"", "NA", "N/A", "nan", "NaN", "None", "null", "NULL", "Unknown", "unknown", "-", "\\N"}) {
    if (text == word) return true;
  }
  return false;
}

/// What Slurm writes for a job without a limit of its own, in minutes too.
bool is_no_limit(std::string_view text) {
  return text == "UNLIMITED" || text == "Partition_Limit" || text == "INVALID";
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

/// What a field of the type must be, where its notation does not say it.
template <typename T>
const char* usual(Unit unit) {
  if constexpr (std::is_integral_v<T>) return "a whole number of 0 or more";
  if constexpr (std::is_same_v<T, float>) return "a number of 0 or more";
  if constexpr (std::is_same_v<T, JobState>) return "a job state";
  if constexpr (std::is_same_v<T, Requeue>) return "yes or no";
  if constexpr (std::is_same_v<T, Duration>) {
    return unit == Unit::clock ? "a time as [D-]HH:MM:SS" : "a number of 0 or more";
  }
  if constexpr (std::is_same_v<T, Time>) {
    if (unit == Unit::date) return "a time as YYYY-MM-DD hh:mm:ss";
    return unit == Unit::any ? "a time as YYYY-MM-DD hh:mm:ss, or seconds" : "a time as a number";
  }
  return "a text";
}

const char* expectation(const Column& column) {
  switch (column.field.spec().notation) {
    case Notation::usual:
      return std::visit([&]<typename T>(const Member<T>&) { return usual<T>(column.unit); },
                        column.field.spec().member);
    case Notation::part:
      return "a number above 0 and up to 1";
    case Notation::above_0:
      return "a number above 0";
    case Notation::above_0_or_inf:
      return "a number above 0, or inf";
    case Notation::any_sign:
      return "a number";
    case Notation::alternatives:
      return "what the job would accept instead, such as gpu:v100:4@0.8|cpu:32@0.1";
    case Notation::metric:
      return "the job's reported metric after a number of steps, such as 10:0.52|40:0.61";
    case Notation::node_list:
      return "the names of nodes, such as g[01-04,7],x1";
    case Notation::gpu_profile:
      return "a MIG profile of a known board, such as 2g.20gb";
    case Notation::profile_or_gpu:
      return "gpu, or a MIG profile of a known board, such as 2g.20gb";
  }
  return "";
}

std::string bad(const Column& column, std::string_view text) {
  constexpr std::size_t kShown = 60;
  return fmt::format("{} must be {}, found \"{}\"", column.name, expectation(column),
                     text.substr(0, kShown));
}

/// Returns what bad() returns; "" if `text` only says that the value is not known.
std::string unread(const Column& column, std::string_view text) {
  return is_missing(text) ? std::string() : bad(column, text);
}

bool is_as(Notation notation, std::string_view text) {
  switch (notation) {
    case Notation::alternatives:
      return parse_alternatives(text).has_value();
    case Notation::metric:
      return parse_metric(text).has_value();
    case Notation::node_list:
      return is_node_list(text);
    case Notation::gpu_profile:
      return slices::profile_id(text).has_value();
    case Notation::profile_or_gpu:
      return text == kWholeBoard || slices::profile_id(text).has_value();
    default:
      return true;
  }
}

/// Whether a finite number of 0 or more is as the notation has it.
bool is_as(Notation notation, float number) {
  return notation == Notation::usual || (number > 0 && (notation != Notation::part || number <= 1));
}

}  // namespace

std::string CellReader::read(const Column& column, std::string_view text, NameId& last,
                             Draft& draft, double factor) {
  const Cell cell{column, text, last, draft, factor * column.scale};
  return std::visit([&](const auto& member) { return read(member, cell); },
                    column.field.spec().member);
}

std::string CellReader::read(const Member<JobKey>& member, const Cell& cell) {
  member.of(cell.draft) = trace_.key(cell.text);
  cell.draft.has_id = cell.draft.has_id || cell.column.field == "job_id";
  return {};
}

std::string CellReader::read(const Member<NameId>& member, const Cell& cell) {
  if (trace_.names[cell.last] != cell.text) {
    const Notation notation = cell.column.field.spec().notation;
    if (!is_as(notation, cell.text)) return unread(cell.column, cell.text);
    cell.last = trace_.names.intern(cell.text);
  }
  member.of(cell.draft) = cell.last;
  return {};
}

std::string CellReader::read(const Member<JobState>& member, const Cell& cell) {
  const auto own = map_.states.find(cell.text);
  const auto state = own == map_.states.end() ? parse_state(cell.text) : std::optional(own->second);
  if (!state) return unread(cell.column, cell.text);
  member.of(cell.draft) = *state;
  return {};
}

std::string CellReader::read(const Member<Requeue>& member, const Cell& cell) {
  const auto said = parse_requeue(cell.text);
  if (!said) return unread(cell.column, cell.text);
  member.of(cell.draft) = *said;
  return {};
}

template <typename Whole>
std::string CellReader::read(const Member<Whole>& member, const Cell& cell) {
  const auto& [column, text, last, draft, factor] = cell;
  if (column.field == "nodes") {
    if (const int named = nodes_in(text); named > 0) {  // their names tell how many
      draft.job.request.nodes = named;
      return read(Member(&Outcome::node_list), cell);
    }
  }
  const std::int64_t most = column.field.spec().most;
  const bool may_be_negative = column.field.spec().notation == Notation::any_sign;
  std::int64_t number = 0;
  if (factor == 1) {
    const auto value = text::parse_whole(text);
    if (!value) return unread(column, text);
    if (*value > most) {
      return fmt::format("{} must be {} or less, found \"{}\"", column.name, most, text);
    }
    number = *value;
  } else {
    const auto value = text::parse_decimal(text);
    if (!value) return unread(column, text);
    const double nearest = std::round(*value * factor);
    if (std::abs(nearest - *value * factor) > 1e-6 || nearest > static_cast<double>(most)) {
      return bad(column, text);
    }
    number = static_cast<std::int64_t>(nearest);
  }
  if (number < (may_be_negative ? -most : 0)) return bad(column, text);
  member.of(draft) = static_cast<Whole>(number);
  return {};
}

std::string CellReader::read(const Member<float>& member, const Cell& cell) {
  const auto& [column, text, last, draft, factor] = cell;
  const Notation notation = column.field.spec().notation;
  if (text == "inf" && notation == Notation::above_0_or_inf) {
    member.of(draft) = std::numeric_limits<float>::infinity();
    return {};
  }
  auto value = text::parse_decimal(text);
  if (!value) return unread(column, text);
  *value *= factor;
  if (*value < 0 || *value > std::numeric_limits<float>::max()) return bad(column, text);
  const auto number = static_cast<float>(*value);
  if (!is_as(notation, number)) return bad(column, text);
  member.of(draft) = number;
  return {};
}

std::string CellReader::read(const Member<Time>& member, const Cell& cell) {
  const Column& column = cell.column;
  const std::string_view text = cell.text;
  Unit unit = column.unit == Unit::any ? style_ : column.unit;
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
    if (time) style_ = unit, style_line_ = line_;
  } else {
    time = unit == Unit::date ? text::parse_datetime(text) : as_number(unit);
  }
  if (time) {
    member.of(cell.draft) = *time;
    if (unit == Unit::date && !text::has_zone(text)) trace_.local_times = true;
    return {};
  }
  if (is_missing(text)) {
    cell.draft.never_eligible = cell.draft.never_eligible || column.field == "eligible_s";
    return {};
  }
  const bool is_other_style =
      column.unit == Unit::any && style_ != Unit::any &&
      (style_ == Unit::date ? as_number(Unit::s) : text::parse_datetime(text)).has_value();
  if (!is_other_style) return bad(column, text);
  return fmt::format("{} must not mix time formats: \"{}\", but line {} has {}", column.name, text,
                     style_line_, style_ == Unit::date ? "a date and time" : "seconds");
}

std::string CellReader::read(const Member<Duration>& member, const Cell& cell) {
  const auto& [column, text, last, draft, factor] = cell;
  std::optional<Duration> length;
  if (column.unit == Unit::clock) {
    length = text::parse_duration(text);
  } else if (const auto count = parse_count(text, column.unit)) {
    const double scaled = static_cast<double>(*count) * factor;
    if (std::abs(scaled) > static_cast<double>(kLongest)) return bad(column, text);
    length = factor == 1 ? Duration(*count) : Duration(std::llround(scaled));
  }
  if (!length && column.field == "time_limit_s" && is_no_limit(text)) return {};
  if (!length) return unread(column, text);
  const bool may_be_negative = column.field.spec().notation == Notation::any_sign;
  if (*length < Duration::zero() && !may_be_negative) return bad(column, text);
  // No limit is no limit known. As in Slurm, a time limit of 0 is none.
  const bool is_zero_limit = column.field == "time_limit_s" && *length == Duration::zero();
  if (*length == text::kUnlimited || is_zero_limit) length = kNoDuration;
  member.of(draft) = *length;
  return {};
}

}  // namespace almanac::trace
