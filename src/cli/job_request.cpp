// SPDX-License-Identifier: Apache-2.0
#include "cli/job_request.h"

#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace almanac::cli {
namespace {

template <typename Number>
std::optional<Number> parse(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// What stands before `mark`, which is taken off `text` with it; all of it where there is none.
std::string_view take_until(std::string_view& text, char mark) {
  const std::size_t end = text.find(mark);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

}  // namespace

Result<double> parse_memory(const std::string& option, const std::string& text) {
  std::string_view number = text;
  if (!number.empty() && (number.back() == 'B' || number.back() == 'b')) number.remove_suffix(1);
  double unit_gb = 0;
  switch (number.empty() ? '\0' : number.back()) {
    case 'T':
    case 't':
      unit_gb = 1000;
      break;
    case 'G':
    case 'g':
      unit_gb = 1;
      break;
    case 'M':
    case 'm':
      unit_gb = 0.001;
      break;
    default:
      break;
  }
  if (!number.empty()) number.remove_suffix(1);
  const auto value = parse<double>(number);
  if (unit_gb > 0 && value && *value > 0 && *value < 1e9) return *value * unit_gb;
  return fail(Code::usage,
              fmt::format("{} must be an amount with a unit like 32G or 512M: {}", option, text));
}

Result<Indices> parse_indices(const std::string& text) {
  constexpr std::int32_t kMost = 100'000;
  const auto refused = [&](const char* what) {
    return fail(Code::usage,
                fmt::format("--array must be like 0-9, 1,3,5 or 0-99:10%4: {}{}", text, what));
  };
  std::string_view rest = text;
  std::string_view list = take_until(rest, '%');
  Indices made;
  if (text.find('%') != std::string::npos) {
    const auto at_once = parse<std::int32_t>(rest);
    if (!at_once || *at_once < 1) return refused("");
    made.at_once = *at_once;
  }
  while (!list.empty()) {
    std::string_view item = take_until(list, ',');
    std::string_view range = take_until(item, ':');
    const auto step = item.empty() ? 1 : parse<std::int32_t>(item);
    const auto from = parse<std::int32_t>(take_until(range, '-'));
    const auto to = range.empty() ? from : parse<std::int32_t>(range);
    if (!from || !to || !step || *from < 0 || *to < *from || *step < 1) return refused("");
    if (*to > 100'000'000 || (*to - *from) / *step >= kMost) return refused(" (too many tasks)");
    for (std::int32_t index = *from; index <= *to; index += *step) made.list.push_back(index);
    if (made.list.size() > static_cast<std::size_t>(kMost)) return refused(" (too many tasks)");
  }
  if (made.list.empty()) return refused("");
  return made;
}

}  // namespace almanac::cli
