// SPDX-License-Identifier: Apache-2.0
#include "text/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace almanac::text {
namespace {

/// Names are short, but input may not be.
constexpr std::size_t kMostRead = 64;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// A longer list of names would hide the error that it explains.
constexpr std::size_t kMostListed = 12;

/// Names that are less like the word are not listed as similar.
constexpr double kLeastAlike = 2.0 / 3;

/// The edits that turn one word into the other, per letter of the longer one; 1 = nothing in
/// common.
double unlikeness(std::string_view word, std::string_view name) {
  const std::string asked = lower(word.substr(0, kMostRead));
  const std::size_t longer = std::max<std::size_t>({1, asked.size(), name.size()});
  return static_cast<double>(edit_distance(asked, lower(name))) / static_cast<double>(longer);
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
  const std::string asked = lower(word.substr(0, kMostRead));
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
  if (!meant.empty()) return meant;
  if (known.empty()) return "none are known";
  if (known.size() <= kMostListed) return fmt::format("known: {}", fmt::join(known, ", "));
  std::vector<std::pair<double, std::string_view>> by_likeness;
  for (const std::string& name : known) by_likeness.emplace_back(unlikeness(word, name), name);
  std::stable_sort(by_likeness.begin(), by_likeness.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> likest;
  for (std::size_t at = 0; at < kMostListed && by_likeness[at].first <= kLeastAlike; ++at) {
    likest.push_back(by_likeness[at].second);
  }
  if (likest.empty()) {
    const auto first = known.first(kMostListed);
    return fmt::format("{} names are known, the first: {}", known.size(), fmt::join(first, ", "));
  }
  return fmt::format("the most similar of {} names: {}", known.size(), fmt::join(likest, ", "));
}

}  // namespace almanac::text
