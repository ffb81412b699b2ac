// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <concepts>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "slurm/wire.h"
#include "slurm/wire_fields.h"

namespace almanac::slurm {
namespace {

void append(std::string& out, bool value) { out += value ? "true" : "false"; }

void append(std::string& out, double value) {
  ALMANAC_CHECK(std::isfinite(value), "{} cannot be written as a JSON number", value);
  fmt::format_to(std::back_inserter(out), "{}", value);
}

void append(std::string& out, std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c < 127 && c != '"' && c != '\\';
  });
  if (plain) {
    out += '"';
    out += text;
    out += '"';
  } else {
    using Json = nlohmann::json;
    out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

void append(std::string& out, const std::string& text) { append(out, std::string_view(text)); }
void append(std::string& out, JobNumber number) {
  fmt::format_to(std::back_inserter(out), "{}", static_cast<std::uint32_t>(number));
}
void append(std::string& out, Time time) {
  fmt::format_to(std::back_inserter(out), "{}", time.time_since_epoch().count());
}
void append(std::string& out, Duration span) {
  fmt::format_to(std::back_inserter(out), "{}", span.count());
}

template <std::integral T>
void append(std::string& out, T value) {
  fmt::format_to(std::back_inserter(out), "{}", value);
}

template <Worded T>
void append(std::string& out, T value) {
  append(out, words(value)[static_cast<std::size_t>(value)]);
}

template <Record T>
void append(std::string& out, const T& record);
template <class T>
void append(std::string& out, const std::vector<T>& values);

template <class T>
void append(std::string& out, const std::optional<T>& value) {
  if (value) {
    append(out, *value);
  } else {
    out += "null";
  }
}

template <class T>
void append(std::string& out, const std::vector<T>& values) {
  out += '[';
  for (const T& value : values) {
    append(out, value);
    out += ',';
  }
  if (values.empty()) {
    out += ']';
  } else {
    out.back() = ']';
  }
}

void append(std::string& out, const std::map<std::string, std::string>& values) {
  out += '{';
  for (const auto& [key, value] : values) {
    append(out, key);
    out += ':';
    append(out, value);
    out += ',';
  }
  if (values.empty()) {
    out += '}';
  } else {
    out.back() = '}';
  }
}

// Whether a field can be left out: it is what a new record has.
template <class T>
bool is_usual(const T& value, const T& usual) {
  return value == usual;
}
template <class T>
bool is_usual(const std::optional<T>& value, const std::optional<T>&) {
  return !value;
}
template <class T>
bool is_usual(const std::vector<T>& value, const std::vector<T>&) {
  return value.empty();
}

template <Record T>
void append(std::string& out, const T& record) {
  static const T usual{};
  out += '{';
  bool first = true;
  fields(&record, [&](std::string_view name, auto member) {
    // Both sides always look at the protocol, whatever it is.
    if (name != "v" && is_usual(record.*member, usual.*member)) return;
    if (!first) out += ',';
    first = false;
    out += '"';
    out += name;
    out += "\":";
    append(out, record.*member);
  });
  out += '}';
}

template <class T>
std::string line_of(const T& record) {
  std::string line;
  append(line, record);
  line += '\n';
  return line;
}

}  // namespace

std::string to_line(const Request& request) { return line_of(request); }
std::string to_line(const Answer& answer) { return line_of(answer); }

Fault to_fault(const Error& error) { return {error.code, error.message, error.hint}; }

tl::unexpected<Error> to_failure(const Fault& fault) {
  return fail(fault.code, fault.message, {}, fault.hint);
}

}  // namespace almanac::slurm
