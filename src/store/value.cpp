// SPDX-License-Identifier: Apache-2.0
#include "store/value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/failure.h"

namespace almanac::store {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const SQLite::Column& column, std::string_view expected) {
  throw Refused{damaged(fmt::format("column {} must be {}: found {}", column.getName(), expected,
                                    column.getString()))};
}

/// A whole number of the range of `T`.
template <typename T>
T whole(const SQLite::Column& column) {
  const std::int64_t value = column.getInt64();
  if (!column.isInteger() || !std::in_range<T>(value)) refuse(column, "a whole number that fits");
  return static_cast<T>(value);
}

/// What `make` makes of a JSON list; nothing of NULL.
template <typename T, typename Make>
void read_list(const SQLite::Column& column, std::vector<T>& values, Make&& make) {
  values.clear();
  if (column.isNull()) return;
  try {
    for (const Json& each : Json::parse(column.getString())) values.push_back(make(each));
  } catch (const Json::exception&) {
    refuse(column, "a list of numbers");
  }
}

void bind_list(SQLite::Statement& statement, int at, const Json& list) {
  list.empty() ? statement.bind(at) : statement.bind(at, list.dump());
}

constexpr std::array<std::string_view, 4> kIntents{"", "end", "end at once", "run again"};

}  // namespace

std::string_view to_string(Intent intent) { return kIntents.at(static_cast<std::size_t>(intent)); }

std::string packed(const std::vector<std::string>& words) {
  std::string bytes;
  for (const std::string& word : words) {
    if (word.find('\0') != std::string::npos) {
      throw Refused{{Code::invalid, "an argument or environment variable contains a zero byte"}};
    }
    bytes += word;
    bytes += '\0';
  }
  return bytes;
}

std::vector<std::string> unpacked(const std::string& bytes) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\0', at), bytes.size());
    words.push_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

void bind(SQLite::Statement& statement, int at, bool value) { statement.bind(at, int{value}); }
void bind(SQLite::Statement& statement, int at, std::int32_t value) { statement.bind(at, value); }
void bind(SQLite::Statement& statement, int at, std::uint32_t value) { statement.bind(at, value); }
void bind(SQLite::Statement& statement, int at, std::int64_t value) { statement.bind(at, value); }
void bind(SQLite::Statement& statement, int at, double value) {
  std::isnan(value) ? statement.bind(at) : statement.bind(at, value);
}
void bind(SQLite::Statement& statement, int at, const std::string& value) {
  statement.bindNoCopy(at, value);
}
void bind(SQLite::Statement& statement, int at, JobNumber value) {
  statement.bind(at, static_cast<std::int64_t>(value));
}
void bind(SQLite::Statement& statement, int at, Time value) {
  value == kNoTime ? statement.bind(at) : statement.bind(at, value.time_since_epoch().count());
}
void bind(SQLite::Statement& statement, int at, Duration value) {
  value == kNoDuration ? statement.bind(at) : statement.bind(at, value.count());
}
void bind(SQLite::Statement& statement, int at, trace::JobState value) {
  statement.bind(at, std::string(to_string(value)));
}
void bind(SQLite::Statement& statement, int at, trace::Requeue value) {
  statement.bind(at, int{static_cast<std::uint8_t>(value)});
}
void bind(SQLite::Statement& statement, int at, Intent value) {
  statement.bind(at, std::string(to_string(value)));
}
void bind(SQLite::Statement& statement, int at, const std::vector<std::string>& words) {
  const std::string bytes = packed(words);
  statement.bind(at, bytes.data(), static_cast<int>(bytes.size()));
}
void bind(SQLite::Statement& statement, int at, const std::vector<int>& numbers) {
  bind_list(statement, at, numbers);
}
void bind(SQLite::Statement& statement, int at, const std::vector<JobNumber>& numbers) {
  Json list = Json::array();
  for (const JobNumber number : numbers) list.push_back(static_cast<std::int64_t>(number));
  bind_list(statement, at, list);
}
void bind(SQLite::Statement& statement, int at, const std::vector<cluster::Grant>& grants) {
  Json list = Json::array();
  for (const cluster::Grant& grant : grants) {
    Json each = Json::array(
        {index(grant.node), grant.gpu_milli, grant.gpus, grant.cpu_milli, grant.memory_mb});
    // By name: numbers of profiles change with the boards that are known.
    if (grant.gpu_memory_mb > 0 || grant.profile != slices::kNoProfile) {
      each.insert(each.end(),
                  {grant.gpu_memory_mb, slices::profile_name(grant.profile), grant.slice});
    }
    list.push_back(std::move(each));
  }
  bind_list(statement, at, list);
}

void read(const SQLite::Column& column, bool& value) { value = whole<std::int32_t>(column) != 0; }
void read(const SQLite::Column& column, std::int32_t& value) {
  value = whole<std::int32_t>(column);
}
void read(const SQLite::Column& column, std::uint32_t& value) {
  value = whole<std::uint32_t>(column);
}
void read(const SQLite::Column& column, std::int64_t& value) {
  value = whole<std::int64_t>(column);
}
void read(const SQLite::Column& column, double& value) {
  value = column.isNull() ? std::numeric_limits<double>::quiet_NaN() : column.getDouble();
}
void read(const SQLite::Column& column, std::string& value) { value = column.getString(); }
void read(const SQLite::Column& column, JobNumber& value) {
  value = JobNumber{whole<std::int64_t>(column)};
}
void read(const SQLite::Column& column, Time& value) {
  value = column.isNull() ? kNoTime : Time(Duration(whole<std::int64_t>(column)));
}
void read(const SQLite::Column& column, Duration& value) {
  value = column.isNull() ? kNoDuration : Duration(whole<std::int64_t>(column));
}
void read(const SQLite::Column& column, trace::JobState& value) {
  const auto state = trace::parse_state(column.getString());
  if (!state) refuse(column, "a job's state");
  value = *state;
}
void read(const SQLite::Column& column, trace::Requeue& value) {
  const auto number = whole<std::uint8_t>(column);
  if (number > static_cast<std::uint8_t>(trace::Requeue::no)) refuse(column, "0, 1 or 2");
  value = trace::Requeue{number};
}
void read(const SQLite::Column& column, Intent& value) {
  const auto found = std::find(kIntents.begin(), kIntents.end(), column.getString());
  if (found == kIntents.end()) refuse(column, "an intent for a job's process");
  value = static_cast<Intent>(found - kIntents.begin());
}
void read(const SQLite::Column& column, std::vector<std::string>& words) {
  words = unpacked(column.getString());
}
void read(const SQLite::Column& column, std::vector<int>& numbers) {
  read_list(column, numbers, [](const Json& each) { return each.get<int>(); });
}
void read(const SQLite::Column& column, std::vector<JobNumber>& numbers) {
  read_list(column, numbers, [](const Json& each) { return JobNumber{each.get<std::int64_t>()}; });
}
void read(const SQLite::Column& column, std::vector<cluster::Grant>& grants) {
  read_list(column, grants, [](const Json& each) {
    cluster::Grant grant{.node = NodeId{each.at(0).get<std::uint32_t>()},
                         .gpu_milli = each.at(1).get<std::int32_t>(),
                         .gpus = each.at(2).get<cluster::GpuMask>(),
                         .cpu_milli = each.at(3).get<std::int32_t>(),
                         .memory_mb = each.at(4).get<std::int32_t>()};
    if (each.size() > 5) {
      grant.gpu_memory_mb = each.at(5).get<std::int32_t>();
      grant.profile =
          slices::profile_id(each.at(6).get<std::string>()).value_or(slices::kNoProfile);
      grant.slice = each.at(7).get<std::int8_t>();
    }
    return grant;
  });
}

}  // namespace almanac::store
