// SPDX-License-Identifier: Apache-2.0
#include "trace/cell.h"

#include <cmath>
#include <limits>
#include <optional>

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

constexpr std::int64_t kMostGpus = 1'000'000;       // more in one job is a wrong column
constexpr std::int64_t kMostBatch = 1'000'000'000;  // tokens, as some count
constexpr std::int64_t kMostSteps = 1'000'000'000'000;
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

const char* expectation(const Column& column) {
  switch (column.field) {
    case Field::gpus:
    case Field::nodes:
    case Field::shards:
    case Field::mps:
    case Field::attempts:
    case Field::max_gpus:
    case Field::min_gpus:
    case Field::batch:
    case Field::steps:
      return "a whole number of 0 or more";
    case Field::gpu_share:
      return "a number above 0 and up to 1";
    case Field::cpus:
    case Field::memory_gb:
    case Field::gpu_memory_gb:
    case Field::data_gb:
    case Field::bandwidth_gbs:
    case Field::network_s:
    case Field::network_gbps:
    case Field::read_gbs:
    case Field::value:
    case Field::restart_s:
    case Field::checkpoint_s:
      return "a number of 0 or more";
    case Field::reference_cpus:
    case Field::reference_memory_gb:
      return "a number above 0, or inf";
    case Field::step_s:
      return "a number above 0";
    case Field::submit_s:
    case Field::eligible_s:
    case Field::start_s:
    case Field::end_s:
    case Field::deadline_s:
    case Field::worthless_at_s:
      if (column.unit == Unit::date) return "a time as YYYY-MM-DD hh:mm:ss";
      if (column.unit == Unit::any) return "a time as YYYY-MM-DD hh:mm:ss, or seconds";
      return "a time as a number";
    case Field::predicted_s:
      return "a number";
    case Field::gap_s:
    case Field::run_s:
    case Field::span_s:
    case Field::wait_s:
    case Field::time_limit_s:
      if (column.unit == Unit::clock) return "a time as [D-]HH:MM:SS";
      return "a number of 0 or more";
    case Field::state:
      return "a job state";
    case Field::metric:
      return "what the job reports after so many steps, such as 10:0.52|40:0.61";
    case Field::reference_profile:
      return "gpu, or a MIG profile of a known board, such as 2g.20gb";
    case Field::gpu_profile:
      return "a MIG profile of a known board, such as 2g.20gb";
    case Field::node_list:
      return "the names of nodes, such as g[01-04,7],x1";
    case Field::alternatives:
      return "what the job would take instead, such as gpu:v100:4@0.8|cpu:32@0.1";
    default:
      return "a text";
  }
}

std::string bad(const Column& column, std::string_view text) {
  constexpr std::size_t kShown = 60;
  return fmt::format("{} must be {}: \"{}\"", column.name, expectation(column),
                     text.substr(0, kShown));
}

/// Where a field that is no whole number is kept.
float& amount(Field field, Draft& draft) {
  Request& request = draft.job.request;
  Outcome& outcome = draft.job.outcome;
  switch (field) {
    case Field::gpu_share:
      return request.gpu_share;
    case Field::gpu_memory_gb:
      return request.gpu_memory_gb;
    case Field::value:
      return request.value;
    case Field::restart_s:
      return request.restart_s;
    case Field::checkpoint_s:
      return request.checkpoint_s;
    case Field::cpus:
      return request.cpus;
    case Field::memory_gb:
      return request.memory_gb;
    case Field::reference_cpus:
      return outcome.reference_cpus;
    case Field::reference_memory_gb:
      return outcome.reference_memory_gb;
    case Field::data_gb:
      return request.data_gb;
    case Field::bandwidth_gbs:
      return outcome.bandwidth_gbs;
    case Field::network_s:
      return outcome.network_s;
    case Field::network_gbps:
      return outcome.network_gbps;
    case Field::read_gbs:
      return outcome.read_gbs;
    default:
      return outcome.step_s;
  }
}

bool is_whole(Field field) {
  return field == Field::gpus || field == Field::nodes || field == Field::attempts ||
         field == Field::max_gpus || field == Field::min_gpus || field == Field::batch ||
         field == Field::steps;
}

/// The most that a whole number can be.
std::int64_t most(Field field) {
  if (field == Field::batch) return kMostBatch;
  return field == Field::steps ? kMostSteps : kMostGpus;
}

void set_whole(Field field, std::int64_t number, Job& job) {
  if (field == Field::steps) {
    job.request.steps = number;
    return;
  }
  (field == Field::gpus       ? job.request.gpus
   : field == Field::nodes    ? job.request.nodes
   : field == Field::shards   ? job.request.shards
   : field == Field::mps      ? job.request.mps
   : field == Field::max_gpus ? job.request.max_gpus
   : field == Field::min_gpus ? job.request.min_gpus
   : field == Field::batch    ? job.request.batch
                              : job.outcome.attempts) = static_cast<std::int32_t>(number);
}

bool can_be_endless(Field field) {
  return field == Field::reference_cpus || field == Field::reference_memory_gb;
}

/// Whether a finite number of 0 or more may stand in the field.
bool suits(Field field, float number) {
  if (field == Field::gpu_share) return number > 0 && number <= 1;
  return number > 0 || !(can_be_endless(field) || field == Field::step_s);
}

}  // namespace

std::string CellReader::read(const Column& column, std::string_view text, NameId& last,
                             Draft& draft, double factor) {
  Request& request = draft.job.request;
  const auto intern = [&](NameId& target) {
    if (trace_.names[last] != text) last = trace_.names.intern(text);
    target = last;
    return std::string();
  };
  switch (column.field) {
    case Field::job_id:
      draft.job.id = trace_.key(text);
      draft.has_id = true;
      return {};
    case Field::after:
      request.after = trace_.key(text);
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
    case Field::group:
      return intern(request.group);
    case Field::data_set:
      return intern(request.data_set);
    case Field::node_list:
      if (trace_.names[last] != text && !is_node_list(text)) {
        return is_missing(text) ? "" : bad(column, text);
      }
      return intern(draft.job.outcome.node_list);
    case Field::gpu_profile:
      if (is_missing(text)) return {};
      return slices::profile_id(text) ? intern(request.gpu_profile) : bad(column, text);
    case Field::metric:
      if (is_missing(text)) return {};
      return parse_metric(text) ? intern(draft.job.outcome.metric) : bad(column, text);
    case Field::reference_profile:
      if (is_missing(text)) return {};
      return text == kWholeBoard || slices::profile_id(text)
                 ? intern(draft.job.outcome.reference_profile)
                 : bad(column, text);
    case Field::alternatives:
      if (is_missing(text)) return {};
      return parse_alternatives(text) ? intern(request.alternatives) : bad(column, text);
    case Field::nodes:
      if (const int named = nodes_in(text); named > 0) {  // their names tell how many
        request.nodes = named;
        return intern(draft.job.outcome.node_list);
      }
      return read_number(column, text, draft, factor);
    case Field::gpus:
    case Field::shards:
    case Field::mps:
    case Field::attempts:
    case Field::max_gpus:
    case Field::min_gpus:
    case Field::batch:
    case Field::steps:
    case Field::value:
    case Field::restart_s:
    case Field::checkpoint_s:
    case Field::gpu_share:
    case Field::gpu_memory_gb:
    case Field::cpus:
    case Field::memory_gb:
    case Field::reference_cpus:
    case Field::reference_memory_gb:
    case Field::data_gb:
    case Field::bandwidth_gbs:
    case Field::step_s:
    case Field::network_s:
    case Field::network_gbps:
    case Field::read_gbs:
      return read_number(column, text, draft, factor);
    case Field::submit_s:
    case Field::eligible_s:
    case Field::start_s:
    case Field::end_s:
    case Field::deadline_s:
    case Field::worthless_at_s:
      return read_time(column, text, draft);
    case Field::gap_s:
    case Field::run_s:
    case Field::span_s:
    case Field::wait_s:
    case Field::time_limit_s:
    case Field::predicted_s:
      return read_length(column, text, draft, factor);
    case Field::state: {
      if (const auto own = map_.states.find(text); own != map_.states.end()) {
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

std::string CellReader::read_number(const Column& column, std::string_view text, Draft& draft,
                                    double factor) {
  factor *= column.scale;
  if (is_whole(column.field) && factor == 1) {
    const auto value = text::parse_whole(text);
    if (!value) return is_missing(text) ? std::string() : bad(column, text);
    if (*value > most(column.field)) {
      return fmt::format("{} must be {} or less: \"{}\"", column.name, most(column.field), text);
    }
    if (*value < 0) return bad(column, text);
    set_whole(column.field, *value, draft.job);
    return {};
  }
  if (text == "inf" && can_be_endless(column.field)) {
    amount(column.field, draft) = std::numeric_limits<float>::infinity();
    return {};
  }
  auto value = text::parse_decimal(text);
  if (!value) return is_missing(text) ? std::string() : bad(column, text);
  *value *= factor;
  if (*value < 0 || *value > std::numeric_limits<float>::max()) return bad(column, text);
  if (is_whole(column.field)) {
    const double nearest = std::round(*value);
    if (std::abs(nearest - *value) > 1e-6 || nearest > static_cast<double>(most(column.field))) {
      return bad(column, text);
    }
    set_whole(column.field, static_cast<std::int64_t>(nearest), draft.job);
  } else {
    const auto number = static_cast<float>(*value);
    if (!suits(column.field, number)) return bad(column, text);
    amount(column.field, draft) = number;
  }
  return {};
}

std::string CellReader::read_time(const Column& column, std::string_view text, Draft& draft) {
  Outcome& outcome = draft.job.outcome;
  Time& target = column.field == Field::submit_s     ? draft.job.request.submit
                 : column.field == Field::eligible_s ? draft.eligible
                 : column.field == Field::start_s    ? outcome.start
                 : column.field == Field::end_s      ? outcome.end
                 : column.field == Field::deadline_s ? draft.job.request.deadline
                                                     : draft.job.request.worthless_at;
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
    target = *time;
    if (unit == Unit::date && !text::has_zone(text)) trace_.local_times = true;
    return {};
  }
  if (is_missing(text)) {
    draft.never_eligible = draft.never_eligible || column.field == Field::eligible_s;
    return {};
  }
  const bool is_other_style =
      column.unit == Unit::any && style_ != Unit::any &&
      (style_ == Unit::date ? as_number(Unit::s) : text::parse_datetime(text)).has_value();
  if (!is_other_style) return bad(column, text);
  return fmt::format("{} must not mix time formats: \"{}\", but line {} has {}", column.name, text,
                     style_line_, style_ == Unit::date ? "a date and time" : "seconds");
}

std::string CellReader::read_length(const Column& column, std::string_view text, Draft& draft,
                                    double factor) {
  factor *= column.scale;
  std::optional<Duration> length;
  if (column.unit == Unit::clock) {
    length = text::parse_duration(text);
  } else if (const auto count = parse_count(text, column.unit)) {
    const double scaled = static_cast<double>(*count) * factor;
    if (std::abs(scaled) > static_cast<double>(kLongest)) return bad(column, text);
    length = factor == 1 ? Duration(*count) : Duration(std::llround(scaled));
  }
  if (!length && column.field == Field::time_limit_s && is_no_limit(text)) return {};
  if (!length) return is_missing(text) ? std::string() : bad(column, text);
  if (*length < Duration::zero() && column.field != Field::predicted_s) return bad(column, text);
  if (*length == text::kUnlimited) length = kNoDuration;  // no limit is no limit known
  Request& request = draft.job.request;
  (column.field == Field::run_s          ? draft.job.outcome.run
   : column.field == Field::span_s       ? draft.job.outcome.span
   : column.field == Field::wait_s       ? draft.wait
   : column.field == Field::gap_s        ? draft.gap
   : column.field == Field::time_limit_s ? request.time_limit
                                         : request.predicted) = *length;
  return {};
}

}  // namespace almanac::trace
