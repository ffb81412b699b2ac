// SPDX-License-Identifier: Apache-2.0

/// \file
/// `{name}` within a word of a command. `{{name}}` stands for `{name}` itself; other braces, as of
/// JSON or of awk, are left alone.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace almanac::trials {

/// `{trial}` is the trial's number, a word `{flags}` all parameters: --lr=0.01 --batch=64.
bool is_reserved(std::string_view name);

/// The names in `word`, in order.
std::vector<std::string> placeholders(std::string_view word);
/// `word` with what `value` gives for each name.
std::string filled(std::string_view word,
                   const std::function<std::string(const std::string&)>& value);

}  // namespace almanac::trials
