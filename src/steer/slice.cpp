// SPDX-License-Identifier: Apache-2.0
#include "steer/slice.h"

#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace almanac::steer {
namespace {

/// A slice that takes longer ends early: there may be news.
constexpr std::chrono::seconds kLongestSlice{2};
/// How long held jobs stay so without us.
constexpr Duration kPatience = 60s;

/// What is said of an action that was planned and not even tried.
constexpr const char* kNotTried = "was not tried";
Result<void> not_tried() { return fail(Code::unavailable, kNotTried); }

Failure how_it_went(const Entry& entry, const Result<void>& result) {
  if (result) return "";
  if (result.error().code == Code::unavailable) return std::nullopt;
  if (entry.lever == kUndo && is_past(result)) return "";  // nothing is left to be taken back
  return to_string(result.error());
}

/// Those from `at` on that can be made in one call, made.
std::vector<Result<void>> execute_some(const std::vector<Entry>& entries, std::size_t at,
                                       slurm::Link& link) {
  return std::visit(
      [&]<typename Kind>(const Kind&) {
        std::vector<const Kind*> several;
        for (; at < entries.size() && several.size() < Kind::kAtOnce; ++at) {
          const auto* const next = std::get_if<Kind>(&entries[at].what);
          if (next == nullptr) break;
          several.push_back(next);
        }
        std::vector<Result<void>> made = Kind::execute(several, link);
        made.resize(several.size(), not_tried());
        return made;
      },
      entries[at].what);
}

}  // namespace

bool is_past(const Result<void>& result) {
  return !result &&
         (result.error().code == Code::conflict || result.error().code == Code::not_found);
}

void carry_out(Slice& slice, Journal& journal, slurm::Link& link) {
  if (slice.watch) {
    if (const auto told = link.watch(*slice.watch, kPatience); !told) {
      slice.trouble = fmt::format("the jobs we hold are not watched over, nothing is changed: {}",
                                  to_string(told.error()));
      slice.watch.reset();
      slice.entries.clear();
    }
  }
  if (slice.entries.empty()) return;
  if (slice.standing) {
    if (const auto anew = journal.begin_anew(*slice.standing); !anew) {
      slice.trouble = to_string(anew.error());
    }
  }
  if (const auto written = journal.begin(slice.entries); !written) {
    slice.trouble = fmt::format("nothing is changed: {}", to_string(written.error()));
    slice.entries.clear();
    return;
  }
  const auto begun = std::chrono::steady_clock::now();
  std::vector<Result<void>>& results = slice.results;
  bool goes_on = true;
  while (goes_on && results.size() < slice.entries.size()) {
    auto some = execute_some(slice.entries, results.size(), link);
    std::move(some.begin(), some.end(), std::back_inserter(results));
    const bool answers = results.back() || results.back().error().code != Code::unavailable;
    goes_on = answers && std::chrono::steady_clock::now() - begun < kLongestSlice;
  }
  slice.tried = results.size();
  slice.took = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begun);
  for (std::size_t at = 0; at < slice.tried; ++at) {
    slice.failures.push_back(how_it_went(slice.entries[at], results[at]));
  }
  results.resize(slice.entries.size(), not_tried());
  slice.failures.resize(slice.entries.size(), kNotTried);
  if (const auto written = journal.end(slice.failures); !written) {
    slice.trouble = to_string(written.error());
  }
}

}  // namespace almanac::steer
