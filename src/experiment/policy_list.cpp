// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parses a list of policies: separated by commas, with braces around the parameters of one.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "experiment/experiment.h"
#include "text/number.h"

namespace almanac::experiment {
namespace {

/// The first comma, or closing brace, from `from` on that no brace within holds.
std::size_t find_outside(std::string_view text, std::string_view wanted, std::size_t from) {
  int depth = 0;
  for (std::size_t at = from; at < text.size(); ++at) {
    if (depth == 0 && wanted.find(text[at]) != std::string_view::npos) return at;
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && depth > 0) --depth;
  }
  return std::string_view::npos;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(find_outside(text, ",", from), text.size());
    if (comma > from) parts.emplace_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return parts;
}

/// The whole numbers of "1..4"; nothing for another text.
std::optional<std::vector<std::string>> count_up(std::string_view text) {
  constexpr std::int64_t kMost = 10'000;
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const auto from = text::parse_whole(text.substr(0, dots));
  const auto to = text::parse_whole(text.substr(dots + 2));
  if (!from || !to || *to < *from || *to - *from > kMost) return std::nullopt;
  std::vector<std::string> numbers;
  for (std::int64_t at = *from; at <= *to; ++at) numbers.push_back(std::to_string(at));
  return numbers;
}

/// What the first braces leave open is written out, then what the next ones do.
std::vector<std::string> expand(const std::string& text) {
  const std::size_t open = text.find('{');
  const std::size_t close = open == std::string::npos ? open : find_outside(text, "}", open + 1);
  if (close == std::string::npos) return {text};
  const std::string_view inside = std::string_view(text).substr(open + 1, close - open - 1);
  std::vector<std::string> all;
  for (const std::string& each : count_up(inside).value_or(split(inside))) {
    for (std::string& whole : expand(text.substr(0, open) + each + text.substr(close + 1))) {
      all.push_back(std::move(whole));
    }
  }
  return all;
}

}  // namespace

std::vector<std::string> parse_policies(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& part : split(text)) {
    for (std::string& name : expand(part)) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace almanac::experiment
