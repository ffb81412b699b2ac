// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads a value of Slurm's JSON whichever release wrote it: until 22.05 a number is a number, and
/// a missing one null or one of two reserved numbers; from 23.02 on it is {"set", "infinite",
/// "number"}. States and flags are words, later lists of words.
///
/// Only for .cpp files that read JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "base/time.h"

namespace almanac::site::json {

using Value = simdjson::dom::element;

/// Thrown if a record has an unexpected form; readers turn it into an Error.
struct BadShape {
  std::string message;
};

/// Returns the value at `path` ("time/limit"); nothing if it is absent or null.
std::optional<Value> find(Value from, std::string_view path);
/// Missing, unlimited and Slurm's reserved numbers (NO_VAL, INFINITE) are nothing.
std::optional<double> number(Value from, std::string_view path);
/// The words of a list with commas between; "" when absent.
std::string text(Value from, std::string_view path);
/// The words of a text, split at ',' and '+', in upper case.
std::vector<std::string> words(Value from, std::string_view path);
bool truth(Value from, std::string_view path);
/// The time that seconds since 1970 stand for; 0 is missing.
Time moment(Value from, std::string_view path);
/// Returns the records below `key`. Throws BadShape if there is no such list.
simdjson::dom::array records(Value from, std::string_view key);

bool has(const std::vector<std::string>& words, std::string_view word);

}  // namespace almanac::site::json
