// SPDX-License-Identifier: Apache-2.0

/// \file
/// Writes and reads the fields of a record as JSON from one list of them, so that what is written
/// can be read and what is unknown is known to be. Private to this room, for its header is heavy.
///
///   void list(auto& fields, Is<Pace> auto& of) {
///     fields.field("model", of.model);       // always written
///     fields.sparse("parts", of.parts);      // left out while missing; a record that has a list
///     fields.formerly("pieces", of.parts);   // its name in the release before, only read
///     fields.deprecated("bits", of.parts);   // the same, still written for clients that use it
///   }
///
/// A list is found by the namespace of `fields`, so it is in no namespace without a name.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "base/time.h"
#include "text/nearest.h"
#include "trace/job.h"

namespace almanac::serve {

using Json = nlohmann::ordered_json;

/// Text that is not UTF-8 is mended: a job's name may be anything.
inline std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A record, to be written or read.
template <typename Of, typename Record>
concept Is = std::same_as<std::remove_const_t<Of>, Record>;

/// Thrown by Reader, turned into a Result by read_object().
struct Refused {
  Error error;
};

inline Json seconds_json(std::int64_t ms) {
  return ms % 1000 == 0 ? Json(ms / 1000) : Json(static_cast<double>(ms) / 1e3);
}

template <typename T>
bool is_missing(const T& value) {
  if constexpr (std::is_same_v<T, Time>) {
    return value == kNoTime || value == kNever;
  } else if constexpr (std::is_same_v<T, Duration>) {
    return value == kNoDuration;
  } else if constexpr (std::is_same_v<T, double>) {
    return std::isnan(value);
  } else if constexpr (requires { value->empty(); }) {
    return !value.has_value() || value->empty();
  } else if constexpr (requires { value.has_value(); }) {
    return !value.has_value();
  } else if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else {
    return value == T{};
  }
}

class Writer {
 public:
  template <typename T>
  void field(const char* name, const T& value) {
    if (!is_lacking(value)) out_[name] = to_json(value);
  }
  template <typename T>
  void sparse(const char* name, const T& value) {
    if (!is_missing(value)) out_[name] = to_json(value);
  }
  /// Nothing: the old name of a field is only read.
  template <typename T>
  void formerly(const char*, const T&) {}
  /// An empty text is left out, as by sparse().
  template <typename T>
  void deprecated(const char* name, const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      sparse(name, value);
    } else {
      field(name, value);
    }
  }
  /// A number that is never negative; -1 if it was not measured.
  void measured(const char* name, double value) {
    if (value >= 0) out_[name] = value;
  }
  Json take() { return std::move(out_); }

 private:
  /// Whether there is no JSON that says it.
  template <typename T>
  static bool is_lacking(const T& value) {
    if constexpr (std::is_same_v<T, Time> || std::is_same_v<T, Duration> ||
                  std::is_same_v<T, double> || requires { value.has_value(); }) {
      return is_missing(value);
    } else {
      return false;
    }
  }
  template <typename T>
  static Json to_json(const T& value) {
    if constexpr (std::is_same_v<T, Time>) {
      return seconds_json(value.time_since_epoch().count());
    } else if constexpr (std::is_same_v<T, Duration>) {
      return seconds_json(value.count());
    } else if constexpr (std::is_same_v<T, trace::Requeue>) {
      return value == trace::Requeue::yes;
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<std::underlying_type_t<T>>(value);
    } else if constexpr (requires { value.has_value(); }) {
      return to_json(*value);
    } else if constexpr (!std::is_same_v<T, std::string> && requires { value.begin(); }) {
      Json list = Json::array();
      for (const auto& each : value) list.push_back(to_json(each));
      return list;
    } else if constexpr (requires(Writer writer) { list(writer, value); }) {
      Writer writer;
      list(writer, value);
      return writer.take();
    } else {
      return value;
    }
  }

  Json out_ = Json::object();
};

class Reader {
 public:
  explicit Reader(const Json& in) : in_(in) {
    if (!in.is_object()) refuse(fmt::format("expected an object, not {}", in.type_name()));
  }

  template <typename T>
  void field(const char* name, T& value) {
    known_.emplace_back(name);
    const auto found = in_.find(name);
    if (found != in_.end()) from_json(name, *found, value);
  }
  template <typename T>
  void sparse(const char* name, T& value) {
    field(name, value);
  }
  /// The name of a field in the release before.
  template <typename T>
  void formerly(const char* name, T& value) {
    field(name, value);
  }
  template <typename T>
  void deprecated(const char* name, T& value) {
    field(name, value);
  }
  void measured(const char* name, double& value) { field(name, value); }
  /// Refuses unknown fields.
  void end() const {
    for (const auto& [name, value] : in_.items()) {
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      refuse(fmt::format("unknown field {}", name), text::meant_or_known(name, known_));
    }
  }

 private:
  [[noreturn]] static void refuse(std::string message, std::string hint = {}) {
    throw Refused{{Code::invalid, std::move(message), {}, std::move(hint)}};
  }
  [[noreturn]] static void expected(const char* name, const char* what, const Json& found) {
    const std::string text = dumped(found);
    refuse(fmt::format("{} must be {}, not {}{}", name, what, text.substr(0, 40),
                       text.size() > 40 ? "..." : ""));
  }
  static std::int64_t milliseconds(const char* name, const Json& in) {
    constexpr double kMost = 1e11;  // seconds: some 3,000 years; exact in a double as milliseconds
    if (!in.is_number() || std::abs(in.get<double>()) > kMost) {
      expected(name, "a number of seconds", in);
    }
    return std::llround(in.get<double>() * 1e3);
  }

  template <typename T>
  static void from_json(const char* name, const Json& in, T& value) {
    if constexpr (std::is_same_v<T, Time>) {
      value = Time(Duration(milliseconds(name, in)));
    } else if constexpr (std::is_same_v<T, Duration>) {
      value = Duration(milliseconds(name, in));
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!in.is_boolean()) expected(name, "true or false", in);
      value = in.get<bool>();
    } else if constexpr (std::is_same_v<T, trace::Requeue>) {
      bool yes{};
      from_json(name, in, yes);
      value = yes ? trace::Requeue::yes : trace::Requeue::no;
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      from_json(name, in, number);
      value = T{number};
    } else if constexpr (std::is_integral_v<T>) {
      whole(name, in, value);
    } else if constexpr (std::is_same_v<T, double>) {
      if (!in.is_number()) expected(name, "a number", in);
      value = in.get<double>();
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!in.is_string()) expected(name, "text", in);
      value = in.get<std::string>();
      if (value.find('\0') != std::string::npos) expected(name, "text without a zero byte", in);
    } else if constexpr (requires { value.has_value(); }) {
      from_json(name, in, value.emplace());
    } else if constexpr (requires(Reader reader) { list(reader, value); }) {
      Reader reader(in);
      list(reader, value);
    } else {
      if (!in.is_array()) expected(name, "a list", in);
      value.clear();
      for (const Json& each : in) from_json(name, each, value.emplace_back());
    }
  }
  template <typename T>
  static void whole(const char* name, const Json& in, T& value) {
    using Limits = std::numeric_limits<T>;
    bool fits = false;
    if (in.is_number_unsigned()) {
      fits = in.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max());
    } else if (in.is_number_integer()) {
      fits =
          std::is_signed_v<T> && in.get<std::int64_t>() >= static_cast<std::int64_t>(Limits::min());
    }
    if (!fits) expected(name, "a whole number in its range", in);
    value = in.get<T>();
  }

  const Json& in_;
  std::vector<std::string> known_;
};

template <typename Record>
Json written(const Record& record) {
  Writer writer;
  list(writer, record);
  return writer.take();
}
template <typename Value>
std::string written_as(const char* name, const Value& value) {
  Writer writer;
  writer.field(name, value);
  return dumped(writer.take());
}
template <typename Record>
Record read_record(const Json& json) {
  Record record;
  Reader reader(json);
  list(reader, record);
  return record;
}

/// Returns the result of `read` on JSON text, or `invalid` with what is wrong.
///
/// The library copies and writes nested lists recursively, so text that is nested deeper than any
/// of ours is refused before it exhausts the stack.
template <typename Read>
auto read_json(std::string_view text, Read&& read) -> Result<decltype(read(Json{}))> {
  static constexpr int kDeepest = 32;
  const auto is_shallow = [](int depth, Json::parse_event_t, const Json&) {
    if (depth > kDeepest)
      throw Refused{
          {Code::invalid, fmt::format("it is nested more than {} levels deep", kDeepest)}};
    return true;
  };
  try {
    return read(Json::parse(text, is_shallow));
  } catch (const Json::parse_error& error) {
    return fail(Code::invalid, fmt::format("this is not JSON (byte {})", error.byte));
  } catch (const Json::out_of_range&) {
    return fail(Code::invalid, "it contains a number that is too large");
  } catch (const Refused& refused) {
    return tl::unexpected(refused.error);
  }
}

/// The field `name` of an object that may have others.
template <typename Value>
Result<Value> read_field(std::string_view text, const char* name) {
  return read_json(text, [&](const Json& json) {
    Value value{};
    Reader(json).field(name, value);
    return value;
  });
}

}  // namespace almanac::serve
