// SPDX-License-Identifier: Apache-2.0
#include "policy/parameters.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "text/human.h"
#include "text/nearest.h"
#include "text/number.h"

namespace almanac::policy {
namespace {

std::vector<std::string> names_of(const std::vector<Parameter>& known) {
  std::vector<std::string> names;
  for (const Parameter& each : known) names.push_back(each.name);
  return names;
}

/// "queues_gpu_s" is also "queues", "lease_s" also "lease".
std::string_view without_unit(std::string_view name) {
  for (const std::string_view unit : {"_gpu_s", "_s"}) {
    if (name.ends_with(unit)) return name.substr(0, name.size() - unit.size());
  }
  return name;
}

/// "1,000,000", "0.5", "0.000000001": never "1e+06".
std::string plain(double value) {
  constexpr double kMostExact = 9e15;
  if (value == std::floor(value) && std::abs(value) < kMostExact)
    return text::grouped(static_cast<std::int64_t>(value));
  std::string made = fmt::format("{:.12f}", value);
  return made.substr(0, made.find_last_not_of('0') + 1);
}

/// `found` is what was given instead, as it was written.
tl::unexpected<Error> wrong_value(const Parameter& parameter, std::string_view found) {
  return fail(Code::usage, fmt::format("{} must be {}, found \"{}\"", parameter.name,
                                       parameter.expected(), found));
}

Result<double> read_value(const Parameter& parameter, std::string_view text) {
  if (parameter.words.empty()) {
    if (const auto value = text::parse_decimal(text)) return *value;
  } else {
    const auto found = std::find(parameter.words.begin(), parameter.words.end(), text);
    if (found != parameter.words.end()) {
      return static_cast<double>(found - parameter.words.begin());
    }
  }
  return wrong_value(parameter, text);
}

std::string value_text(const Parameter& parameter, double value) {
  const bool is_word = value >= 0 && value < static_cast<double>(parameter.words.size());
  return is_word ? parameter.words[static_cast<std::size_t>(value)] : fmt::format("{}", value);
}

}  // namespace

std::string Parameter::expected() const {
  if (!words.empty()) return fmt::format("one of {}", fmt::join(words, ", "));
  return fmt::format("{} from {} to {}",
                     is_list    ? "numbers in ascending order, each"
                     : is_whole ? "a whole number"
                                : "a number",
                     plain(least), plain(most));
}

Parameter number(std::string name, std::string summary, double usual, double least, double most) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .usual = {usual},
          .least = least,
          .most = most};
}

Parameter whole_number(std::string name, std::string summary, double usual, double least,
                       double most) {
  Parameter made = number(std::move(name), std::move(summary), usual, least, most);
  made.is_whole = true;
  return made;
}

Parameter numbers(std::string name, std::string summary, Values usual, double least, double most) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .usual = std::move(usual),
          .least = least,
          .most = most,
          .is_list = true};
}

Parameter word(std::string name, std::string summary, std::vector<std::string> words) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .usual = {0},
          .words = std::move(words)};
}

Parameters::Parameters(const std::vector<Parameter>& known, const Choice& choice) : known_(known) {
  for (const Parameter& each : known) values_.emplace(each.name, each.usual);
  for (const auto& [name, values] : choice.told) {
    const auto found = values_.find(name);
    ALMANAC_CHECK(found != values_.end(), "{} has no parameter {}", choice.name, name);
    found->second = values;
  }
}

const Values& Parameters::values(std::string_view name) const {
  const auto found = values_.find(name);
  ALMANAC_CHECK(found != values_.end(), "no parameter {} was declared", name);
  return found->second;
}

int Parameters::whole(std::string_view name) const { return static_cast<int>(number(name)); }

Duration Parameters::duration(std::string_view name) const {
  return Duration{std::llround(number(name) * 1e3)};
}

const std::string& Parameters::word(std::string_view name) const {
  return find_parameter(known_, name)->words[static_cast<std::size_t>(number(name))];
}

Result<void> check_values(const Parameter& parameter, const Values& values) {
  const bool in_order = std::is_sorted(values.begin(), values.end());
  const bool as_many = parameter.is_list ? !values.empty() && in_order : values.size() == 1;
  const double most =
      parameter.words.empty() ? parameter.most : static_cast<double>(parameter.words.size() - 1);
  const bool in_range = std::all_of(values.begin(), values.end(), [&](double value) {
    return value >= parameter.least && value <= most &&
           (!parameter.is_whole || value == std::floor(value));
  });
  if (as_many && in_range) return {};
  std::vector<std::string> found;
  for (const double value : values) found.push_back(value_text(parameter, value));
  return wrong_value(parameter, fmt::format("{}", fmt::join(found, ":")));
}

const Parameter* find_parameter(const std::vector<Parameter>& known, std::string_view name) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const Parameter& each) {
    return each.name == name || without_unit(each.name) == name ||
           (!name.empty() && each.formerly == name);
  });
  return found == known.end() ? nullptr : &*found;
}

Result<std::map<std::string, Values>> read_values(const std::vector<Parameter>& known,
                                                  std::string_view text) {
  std::map<std::string, Values> made;
  const Parameter* list = nullptr;  // takes what follows without a name
  std::size_t next = 0;
  if (text.ends_with(':')) {
    return fail(Code::usage, "a value must follow the last colon, found none", {},
                known.empty()
                    ? "it has no parameters"
                    : fmt::format("leave out the colon, or give one of its parameters: {}",
                                  fmt::join(names_of(known), ", ")));
  }
  while (!text.empty()) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    std::string_view value = text.substr(0, colon);
    text.remove_prefix(std::min(colon + 1, text.size()));
    const Parameter* parameter = list;
    if (const std::size_t equals = value.find('='); equals != std::string_view::npos) {
      const std::string_view name = value.substr(0, equals);
      parameter = find_parameter(known, name);
      if (parameter == nullptr) {
        return fail(Code::usage, fmt::format("no parameter is named {}", name), {},
                    text::meant_or_known(name, names_of(known)));
      }
      value.remove_prefix(equals + 1);
    } else if (parameter == nullptr) {
      if (next == known.size()) {
        return fail(Code::usage, fmt::format("{} is one value too many", value), {},
                    known.empty()
                        ? "it has no parameters"
                        : fmt::format("its parameters: {}", fmt::join(names_of(known), ", ")));
      }
      parameter = &known[next++];
    }
    list = parameter->is_list ? parameter : nullptr;
    const auto read = read_value(*parameter, value);
    if (!read) return tl::unexpected(read.error());
    made[parameter->name].push_back(*read);
  }
  for (const auto& [name, values] : made) {
    if (auto fine = check_values(*find_parameter(known, name), values); !fine) {
      return tl::unexpected(fine.error());
    }
  }
  const auto value_of = [&](const Parameter& parameter) {
    const auto found = made.find(parameter.name);
    return found == made.end() ? parameter.usual.front() : found->second.front();
  };
  const Parameter* const least = find_parameter(known, "least");
  const Parameter* const most = find_parameter(known, "most");
  if (least != nullptr && most != nullptr && value_of(*least) > value_of(*most)) {
    return fail(Code::usage, fmt::format("least ({}) must not be greater than most ({})",
                                         plain(value_of(*least)), plain(value_of(*most))));
  }
  for (const auto& [name, values] : made) {
    const Parameter* const needed = find_parameter(known, find_parameter(known, name)->needs);
    if (needed == nullptr || values.front() == 0 || value_of(*needed) != 0) continue;
    return fail(Code::usage,
                fmt::format("{} has no effect while {} is {}", name, needed->name,
                            needed->words.empty() ? "0" : needed->words.front()),
                {}, fmt::format("leave {} out, or give {} another value", name, needed->name));
  }
  return made;
}

std::string to_string(const Choice& choice, const std::vector<Parameter>& known) {
  std::string text = choice.name;
  bool in_order = true;  // nothing was left out so far
  for (const Parameter& each : known) {
    const auto told = choice.told.find(each.name);
    if (told == choice.told.end()) {
      in_order = false;
      continue;
    }
    for (const double value : told->second) {
      text += in_order ? ":" : fmt::format(":{}=", each.name);
      text += value_text(each, value);
    }
    // What follows a list in order would be taken for more of it.
    in_order = in_order && !each.is_list;
  }
  return text;
}

}  // namespace almanac::policy
