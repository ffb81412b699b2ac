// SPDX-License-Identifier: Apache-2.0
#include "site/shape.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "text/number.h"

namespace almanac::site::json {
namespace {

// INFINITE and NO_VAL of slurm.h, in 32 and 64 bits. Those in 16 bits are numbers of jobs too, and
// of the user `nobody`.
constexpr double kReserved[] = {4294967295.0, 4294967294.0, 1.8446744073709552e19};
constexpr double kLatest = 1e12;  // seconds; sums of such times fit

std::optional<double> plain_number(Value value) {
  double found = 0;
  if (value.get(found) == simdjson::SUCCESS) return found;
  std::string_view spelled;
  if (value.get(spelled) == simdjson::SUCCESS) return text::parse_decimal(spelled);
  return std::nullopt;
}

void add_words(std::string_view list, std::vector<std::string>& made) {
  while (!list.empty()) {
    const auto cut = list.find_first_of(",+");
    std::string word(list.substr(0, cut));
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (!word.empty()) made.push_back(std::move(word));
    if (cut == std::string_view::npos) break;
    list.remove_prefix(cut + 1);
  }
}

}  // namespace

std::optional<Value> find(Value from, std::string_view path) {
  Value at = from;
  while (!path.empty()) {
    const std::string_view key = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(key.size() + 1, path.size()));
    simdjson::dom::object object;
    if (at.get(object) != simdjson::SUCCESS || object.at_key(key).get(at) != simdjson::SUCCESS) {
      return std::nullopt;
    }
  }
  if (at.is_null()) return std::nullopt;
  return at;
}

std::optional<double> number(Value from, std::string_view path) {
  const auto value = find(from, path);
  if (!value) return std::nullopt;
  std::optional<double> found;
  if (value->is_object()) {
    const auto set = find(*value, "set");
    if (!set || !truth(*value, "set") || truth(*value, "infinite")) return std::nullopt;
    if (const auto inner = find(*value, "number")) found = plain_number(*inner);
  } else {
    found = plain_number(*value);
  }
  if (!found || !std::isfinite(*found) || *found < 0) return std::nullopt;
  for (const double reserved : kReserved) {
    if (*found == reserved) return std::nullopt;
  }
  return found;
}

std::string text(Value from, std::string_view path) {
  const auto value = find(from, path);
  if (!value) return {};
  std::string_view found;
  if (value->get(found) == simdjson::SUCCESS) return std::string(found);
  std::string made;
  simdjson::dom::array list;
  if (value->get(list) != simdjson::SUCCESS) return made;
  for (const Value each : list) {
    if (each.get(found) != simdjson::SUCCESS) continue;
    if (!made.empty()) made += ',';
    made += found;
  }
  return made;
}

std::vector<std::string> words(Value from, std::string_view path) {
  std::vector<std::string> made;
  add_words(text(from, path), made);
  return made;
}

bool truth(Value from, std::string_view path) {
  const auto value = find(from, path);
  bool found = false;
  return value && value->get(found) == simdjson::SUCCESS && found;
}

Time moment(Value from, std::string_view path) {
  const auto found = number(from, path);
  if (!found || *found <= 0 || *found > kLatest) return kNoTime;
  return Time(std::chrono::seconds(static_cast<std::int64_t>(*found)));
}

simdjson::dom::array records(Value from, std::string_view key) {
  const auto value = find(from, key);
  simdjson::dom::array list;
  if (!value || value->get(list) != simdjson::SUCCESS) {
    throw BadShape{fmt::format("the list \"{}\" is missing", key)};
  }
  return list;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace almanac::site::json
