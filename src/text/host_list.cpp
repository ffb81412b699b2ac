// SPDX-License-Identifier: Apache-2.0
#include "text/host_list.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace almanac::text {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kMostDigits = 18;

std::optional<std::uint64_t> parse_digits(std::string_view text) {
  std::uint64_t value = 0;
  if (text.empty() || text.size() > kMostDigits) return std::nullopt;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Adds the numbers of "001-004" or "7" as they are spelled; false when it is neither.
bool add_range(std::string_view range, Names& numbers) {
  const auto dash = range.find('-');
  const std::string_view low = range.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : range.substr(dash + 1);
  const auto from = parse_digits(low);
  const auto to = parse_digits(high);
  if (!from || !to || *to < *from || *to - *from >= kMostHosts - numbers.size()) return false;
  for (std::uint64_t number = *from; number <= *to; ++number) {
    numbers.push_back(fmt::format("{:0{}}", number, low.size()));
  }
  return true;
}

/// All of `heads` with all of `tails` behind; false when they are too many.
bool multiply(Names& heads, const Names& tails) {
  if (heads.size() * tails.size() > kMostHosts) return false;
  Names made;
  made.reserve(heads.size() * tails.size());
  for (const std::string& head : heads) {
    for (const std::string& tail : tails) made.push_back(head + tail);
  }
  heads = std::move(made);
  return true;
}

/// One item of the list, brackets and all; false when it is not one.
bool expand_item(std::string_view item, Names& names) {
  Names made{""};
  while (!item.empty()) {
    const std::string_view plain = item.substr(0, item.find('['));
    if (plain.find(']') != std::string_view::npos) return false;
    for (std::string& name : made) name += plain;
    item.remove_prefix(plain.size());
    if (item.empty()) break;
    const auto close = item.find(']');
    if (close == std::string_view::npos) return false;
    Names numbers;
    std::string_view ranges = item.substr(1, close - 1);
    for (bool more = true; more;) {
      const std::string_view range = ranges.substr(0, ranges.find(','));
      if (!add_range(range, numbers)) return false;
      more = range.size() < ranges.size();
      ranges.remove_prefix(more ? range.size() + 1 : range.size());
    }
    if (!multiply(made, numbers)) return false;
    item.remove_prefix(close + 1);
  }
  if (made.size() > kMostHosts - names.size()) return false;
  std::move(made.begin(), made.end(), std::back_inserter(names));
  return true;
}

}  // namespace

Result<Names> expand_hosts(std::string_view list) {
  Names names;
  if (list.empty()) return names;
  std::size_t from = 0;
  int depth = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    if (at < list.size()) {
      depth += list[at] == '[' ? 1 : list[at] == ']' ? -1 : 0;
      if (list[at] != ',' || depth > 0) continue;
    }
    if (at == from || !expand_item(list.substr(from, at - from), names)) {
      return fail(
          Code::invalid,
          fmt::format("nodes must be a list like g[001-004,7],x1 of at most {}, found \"{}\"",
                      kMostHosts, list.substr(0, 80)));
    }
    from = at + 1;
  }
  return names;
}

std::string join_hosts(std::span<const std::string> names) {
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace almanac::text
