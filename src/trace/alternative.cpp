// SPDX-License-Identifier: Apache-2.0
#include "trace/alternative.h"

#include <algorithm>

#include "text/number.h"

namespace almanac::trace {
namespace {

constexpr double kMostUnits = 1e6;

/// Takes what stands before `mark` off `rest`, all of it where there is no mark.
std::string_view cut(std::string_view& rest, char mark) {
  const std::string_view taken = rest.substr(0, rest.find(mark));
  rest.remove_prefix(std::min(rest.size(), taken.size() + 1));
  return taken;
}

std::optional<double> positive(std::string_view text) {
  const auto number = text::parse_decimal(text);
  return number && *number > 0 && *number <= kMostUnits ? number : std::nullopt;
}

std::optional<Alternative> parse_one(std::string_view text) {
  Alternative made;
  std::string_view amount = cut(text, '@');
  if (!text.empty()) {
    const auto rate = positive(text);
    if (!rate) return std::nullopt;
    made.rate = *rate;
  }
  const std::string_view resource = cut(amount, ':');
  if (const auto colon = amount.find(':'); colon != std::string_view::npos) {
    made.gpu_type = cut(amount, ':');
    if (made.gpu_type.empty()) return std::nullopt;
  }
  if (resource == "cpu" && made.gpu_type.empty()) {
    const auto cpus = positive(amount);
    if (!cpus) return std::nullopt;
    made.cpus = static_cast<float>(*cpus);
    return made;
  }
  const auto gpus = positive(amount);
  if (resource != "gpu" || !gpus || *gpus != static_cast<int>(*gpus)) return std::nullopt;
  made.gpus = static_cast<int>(*gpus);
  return made;
}

}  // namespace

std::optional<std::vector<Alternative>> parse_alternatives(std::string_view text) {
  std::vector<Alternative> made;
  while (!text.empty()) {
    const auto alternative = parse_one(cut(text, '|'));
    if (!alternative) return std::nullopt;
    made.push_back(*alternative);
  }
  return made;
}

}  // namespace almanac::trace
