// SPDX-License-Identifier: Apache-2.0
#include "agent/cpu_list.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include <fmt/format.h>

namespace almanac::agent {
namespace {

constexpr int kMostCpus = 65536;

std::optional<int> read_number(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value >= 0 && value < kMostCpus ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::vector<int>> read_cpus(std::string_view list) {
  std::vector<int> made;
  while (!list.empty() && list.back() == '\n') list.remove_suffix(1);
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(part.size() + 1, list.size()));
    const std::size_t dash = part.find('-');
    const auto first = read_number(part.substr(0, dash));
    const auto last = dash == part.npos ? first : read_number(part.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) made.push_back(cpu);
  }
  std::sort(made.begin(), made.end());
  made.erase(std::unique(made.begin(), made.end()), made.end());
  return made;
}

std::string to_list(const std::vector<int>& cpus) {
  std::string made;
  for (std::size_t at = 0; at < cpus.size();) {
    std::size_t end = at + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    made += fmt::format("{}{}", made.empty() ? "" : ",", cpus[at]);
    if (end > at + 1) made += fmt::format("-{}", cpus[end - 1]);
    at = end;
  }
  return made;
}

}  // namespace almanac::agent
