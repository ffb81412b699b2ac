// SPDX-License-Identifier: Apache-2.0
#include "trace/sacct_states.h"

#include <algorithm>
#include <array>
#include <utility>

namespace almanac::trace {
namespace {

// Short words are those of squeue. What parse_state() of trace/job.h makes of them is theirs.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kStates{{
    {"RESIZING", "RS"},
    {"REQUEUED", "RQ"},
    {"COMPLETED", "CD"},
    {"CANCELLED", "CA"},
    {"FAILED", "F"},
    {"TIMEOUT", "TO"},
    {"NODE_FAIL", "NF"},
    {"PREEMPTED", "PR"},
    {"OUT_OF_MEMORY", "OOM"},
    {"BOOT_FAIL", "BF"},
    {"DEADLINE", "DL"},
    {"REVOKED", "RV"},
    {"RUNNING", "R"},
    {"SUSPENDED", "S"},
    {"PENDING", "PD"},
    {"CONFIGURING", "CF"},
    {"COMPLETING", "CG"},
}};

/// Position in kStates; its end if none.
std::size_t find_state(std::string_view word) {
  const bool is_cut = word.ends_with('+');
  if (is_cut) word.remove_suffix(1);
  for (std::size_t i = 0; i < kStates.size(); ++i) {
    if (word == kStates[i].first || word == kStates[i].second) return i;
  }
  std::size_t found = kStates.size();
  constexpr std::size_t kFewest = 4;  // letters that are left of a word
  if (!is_cut || word.size() < kFewest) return found;
  for (std::size_t i = 0; i < kStates.size(); ++i) {
    if (!kStates[i].first.starts_with(word)) continue;
    if (found != kStates.size()) return kStates.size();
    found = i;
  }
  return found;
}

}  // namespace

std::optional<std::string_view> sacct_state(std::string_view text) {
  text = text.substr(0, text.find(" by "));
  std::size_t best = kStates.size();
  while (!text.empty()) {
    auto end = std::min(text.find_first_of(", "), text.size());
    // "A+B" are two words, "A+" is one that was cut.
    if (const auto plus = text.find('+'); plus < end && plus + 1 < end) end = plus;
    best = std::min(best, find_state(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (best == kStates.size()) return std::nullopt;
  return kStates[best].first;
}

}  // namespace almanac::trace
