// SPDX-License-Identifier: Apache-2.0
#include "text/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace almanac::text {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Whether exchanging two neighboring letters makes one word of the other.
bool is_swapped(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const auto [first, second] = std::mismatch(a.begin(), a.end(), b.begin());
  return a.end() - first >= 2 && first[0] == second[1] && first[1] == second[0] &&
         std::equal(first + 2, a.end(), second + 2);
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::string_view nearest(std::string_view word, std::span<const std::string> known) {
  const std::string asked = lower(word.substr(0, 64));  // names are short, input may not be
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, asked.size() / 3) + 1;
  for (const std::string& name : known) {
    const std::string to = lower(name);
    const std::size_t distance = is_swapped(asked, to) ? 1 : edit_distance(asked, to);
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::string_view name = nearest(word, known);
  return name.empty() ? std::string() : "did you mean " + std::string(name) + "?";
}

std::string meant_or_known(std::string_view word, std::span<const std::string> known) {
  const std::string meant = did_you_mean(word, known);
  return meant.empty() ? fmt::format("known: {}", fmt::join(known, ", ")) : meant;
}

}  // namespace almanac::text
