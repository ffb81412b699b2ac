// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parameters of a choice: typed numbers and words with limits, read from TOML and from the command
/// line.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace almanac::policy {

/// Values of one parameter: one, or several if it is a list. A word is its position in
/// Parameter::words.
using Values = std::vector<double>;

/// A parameter of a choice, with its default.
struct Parameter {
  std::string name;  ///< Including its unit, as in "lease_s".
  std::string summary;
  Values usual;
  double least = 0;
  double most = 0;
  bool is_whole = false;
  bool is_list = false;
  std::vector<std::string> words{};  ///< Allowed words; empty for a number.
  std::string formerly{};  ///< Name in the release before, which is still read; empty for none.
  std::string needs{};     ///< Parameter without which this one has no effect if that is
                           ///< 0; empty for none.

  /// Returns, for example, "a number from 1 to 1,000".
  std::string expected() const;
};

Parameter number(std::string name, std::string summary, double usual, double least, double most);
Parameter whole_number(std::string name, std::string summary, double usual, double least,
                       double most);
/// A list in ascending order.
Parameter numbers(std::string name, std::string summary, Values usual, double least, double most);
/// The first word is the default.
Parameter word(std::string name, std::string summary, std::vector<std::string> words);

/// A choice for a slot as a user writes it: its name and its parameters.
struct Choice {
  std::string name{};
  std::map<std::string, Values> told{};

  Choice() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a name is a choice without parameters.
  Choice(const char* its_name) : name(its_name) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Choice(std::string its_name) : name(std::move(its_name)) {}
  Choice(std::string its_name, std::map<std::string, Values> values)
      : name(std::move(its_name)), told(std::move(values)) {}

  bool operator==(const Choice&) const = default;
  /// Whether it has that name, with any parameters.
  bool operator==(const char* other) const { return name == other; }
  bool operator==(const std::string& other) const { return name == other; }
};

/// The parameters of one choice, each with a value.
class Parameters {
 public:
  Parameters(const std::vector<Parameter>& known, const Choice& choice);

  double number(std::string_view name) const { return values(name).front(); }
  int whole(std::string_view name) const;
  /// Returns a parameter in seconds, to the millisecond.
  Duration duration(std::string_view name) const;
  const Values& numbers(std::string_view name) const { return values(name); }
  const std::string& word(std::string_view name) const;

 private:
  const Values& values(std::string_view name) const;

  const std::vector<Parameter>& known_;
  std::map<std::string, Values, std::less<>> values_;
};

/// Checks `values` against the limits of `parameter`. Fails with usage.
Result<void> check_values(const Parameter& parameter, const Values& values);

/// Reads "3250:7200" or "lease_s=60:phase_s=1" as values of `known`, in order or by name, with or
/// without the unit; a list takes all that follow. Fails with usage.
Result<std::map<std::string, Values>> read_values(const std::vector<Parameter>& known,
                                                  std::string_view text);

/// Returns the parameter called `name`, with or without its unit; null if there is none.
const Parameter* find_parameter(const std::vector<Parameter>& known, std::string_view name);

/// Returns "las:3250:7200", as read_values() reads it, or only the name without parameters.
std::string to_string(const Choice& choice, const std::vector<Parameter>& known);

}  // namespace almanac::policy
