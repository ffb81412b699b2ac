// SPDX-License-Identifier: Apache-2.0

/// \file
/// Placeholders `{name}` in the words of a command. `{{name}}` stands for the text `{name}`. Other
/// braces, as in JSON or awk, stay as they are.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace almanac::trials {

/// Whether Almanac defines the placeholder: `{trial}` is the trial's number; `{flags}`, a word of
/// its own, is all parameters, such as --lr=0.01 --batch=64.
bool is_reserved(std::string_view name);

/// Returns the names of the placeholders in `word`, in order.
std::vector<std::string> placeholders(std::string_view word);
/// Returns `word` with each placeholder replaced by the result of `value` for its name.
std::string filled(std::string_view word,
                   const std::function<std::string(const std::string&)>& value);

}  // namespace almanac::trials
