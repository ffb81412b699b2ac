// SPDX-License-Identifier: Apache-2.0
#include <concepts>
#include <limits>
#include <map>
#include <type_traits>

#include <fmt/format.h>
#include <simdjson.h>

#include "slurm/wire.h"
#include "slurm/wire_fields.h"

namespace almanac::slurm {
namespace {

using simdjson::dom::element;

bool read(element from, bool& into) { return from.get(into) == simdjson::SUCCESS; }
bool read(element from, double& into) { return from.get(into) == simdjson::SUCCESS; }

bool read(element from, std::string& into) {
  std::string_view text;
  if (from.get(text) != simdjson::SUCCESS) return false;
  into = text;
  return true;
}

template <std::integral T>
bool read(element from, T& into) {
  if constexpr (std::is_unsigned_v<T>) {
    std::uint64_t value = 0;
    if (from.get(value) != simdjson::SUCCESS || value > std::numeric_limits<T>::max()) return false;
    into = static_cast<T>(value);
  } else {
    std::int64_t value = 0;
    if (from.get(value) != simdjson::SUCCESS || value < std::numeric_limits<T>::min() ||
        value > std::numeric_limits<T>::max()) {
      return false;
    }
    into = static_cast<T>(value);
  }
  return true;
}

bool read(element from, JobNumber& into) {
  std::uint32_t number = 0;
  if (!read(from, number)) return false;
  into = JobNumber{number};
  return true;
}

bool read(element from, Duration& into) {
  Duration::rep count = 0;
  if (!read(from, count)) return false;
  into = Duration(count);
  return true;
}

bool read(element from, Time& into) {
  Duration since_epoch{};
  if (!read(from, since_epoch)) return false;
  into = Time(since_epoch);
  return true;
}

template <Worded T>
bool read(element from, T& into) {
  static constexpr auto kWords = words(T{});
  std::string_view word;
  if (from.get(word) != simdjson::SUCCESS) return false;
  for (std::size_t at = 0; at < kWords.size(); ++at) {
    if (kWords[at] != word) continue;
    into = static_cast<T>(at);
    return true;
  }
  return false;
}

bool read(element from, std::map<std::string, std::string>& into) {
  simdjson::dom::object object;
  if (from.get(object) != simdjson::SUCCESS) return false;
  for (const auto& field : object) {
    if (!read(field.value, into[std::string(field.key)])) return false;
  }
  return true;
}

template <Record T>
bool read(element from, T& into);
template <class T>
bool read(element from, std::vector<T>& into);

template <class T>
bool read(element from, std::optional<T>& into) {
  if (from.is_null()) return true;
  return read(from, into.emplace());
}

template <class T>
bool read(element from, std::vector<T>& into) {
  simdjson::dom::array array;
  if (from.get(array) != simdjson::SUCCESS) return false;
  into.reserve(array.size());
  for (const element each : array) {
    if (!read(each, into.emplace_back())) return false;
  }
  return true;
}

// Where it went wrong, the innermost field that has a name; of the line that is being read.
thread_local std::string_view wrong_field;

/// Fields mostly come in the order of fields(): then each is found where it is looked for first.
template <Record T>
bool read(element from, T& into) {
  simdjson::dom::object object;
  if (from.get(object) != simdjson::SUCCESS) return false;
  bool fine = true;
  const auto take = [&](std::string_view name, element value, auto& member) {
    fine = read(value, member);
    if (!fine && wrong_field.empty()) wrong_field = name;
  };
  auto next = object.begin();
  fields(&into, [&](std::string_view name, auto member) {
    if (!fine || next == object.end() || next.key() != name) return;
    take(name, next.value(), into.*member);
    ++next;
  });
  if (!fine || next == object.end()) return fine;
  into = T{};
  fields(&into, [&](std::string_view name, auto member) {
    element value;
    if (!fine || object.at_key(name).get(value) != simdjson::SUCCESS) return;
    take(name, value, into.*member);
  });
  return fine;
}

simdjson::simdjson_result<element> parse(std::string_view line) {
  thread_local simdjson::dom::parser parser(2 * kLongestAnswer);
  return parser.parse(line.data(), line.size());
}

template <class T>
Result<T> read_line(std::string_view line, std::string_view what) {
  element document;
  if (const auto error = parse(line).get(document); error != simdjson::SUCCESS) {
    return fail(Code::invalid, fmt::format("{} must be one JSON object per line: {}", what,
                                           simdjson::error_message(error)));
  }
  int version = 0;
  element told;
  if (document["v"].get(told) != simdjson::SUCCESS || !read(told, version)) {
    return fail(Code::invalid,
                fmt::format("{} gives its protocol as \"v\"; this line does not", what));
  }
  if (version != kProtocol) {
    return fail(
        Code::unsupported,
        fmt::format("the message uses protocol {}; this program uses {}", version, kProtocol), {},
        "install almanac and almanac-slurm-gateway of the same version");
  }
  wrong_field = {};
  T record;
  if (!read(document, record)) {
    return fail(Code::invalid,
                fmt::format("the field '{}' of {} has the wrong type or value", wrong_field, what));
  }
  return record;
}

}  // namespace

Result<Request> read_request(std::string_view line) {
  return read_line<Request>(line, "a request");
}
Result<Answer> read_answer(std::string_view line) { return read_line<Answer>(line, "an answer"); }

std::uint64_t id_of(std::string_view line) {
  element document;
  element told;
  std::uint64_t id = 0;
  const bool found = parse(line).get(document) == simdjson::SUCCESS &&
                     document["id"].get(told) == simdjson::SUCCESS && read(told, id);
  return found ? id : 0;
}

}  // namespace almanac::slurm
