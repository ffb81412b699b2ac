// SPDX-License-Identifier: Apache-2.0
#include "steer/slice.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace almanac::steer {
namespace {

/// A slice that takes longer ends early: there may be news.
constexpr Duration kLongestSlice = 2s;

Failure how_it_went(const Entry& entry, const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::done:
      return "";
    case Outcome::Kind::unknown:
      return std::nullopt;
    case Outcome::Kind::not_tried:
      return kNotTried;
    case Outcome::Kind::past:
      if (entry.lever == kUndo) return "";  // nothing is left to be taken back
      break;
    case Outcome::Kind::refused:
      break;
  }
  return to_string(outcome.why);
}

/// Returns `asked` outcomes. A change without an answer was not requested.
std::vector<Outcome> outcomes_of(std::vector<Result<void>> answers, std::size_t asked) {
  std::vector<Outcome> made;
  for (Result<void>& each : answers) made.push_back(outcome_of(std::move(each)));
  made.resize(asked);
  return made;
}

/// Executes the changes from `at` on that fit in one call.
std::vector<Outcome> execute_some(const std::vector<Entry>& entries, std::size_t at,
                                  manager::Link& link) {
  return std::visit(
      [&]<typename Kind>(const Kind&) {
        std::vector<const Kind*> several;
        for (; at < entries.size() && several.size() < Kind::kAtOnce; ++at) {
          const auto* const next = std::get_if<Kind>(&entries[at].what);
          if (next == nullptr) break;
          several.push_back(next);
        }
        return outcomes_of(Kind::execute(several, link), several.size());
      },
      entries[at].what);
}

/// Whether the controller answers, by the last of what it was asked.
bool answers(const std::vector<Outcome>& outcomes) {
  using Kind = Outcome::Kind;
  return !outcomes.empty() && outcomes.back().kind != Kind::unknown &&
         outcomes.back().kind != Kind::not_tried;
}

void renew(Slice& slice, manager::Link& link, const service::Clock& clock) {
  const auto until = clock.monotonic() + kLongestSlice;
  const std::span<const manager::JobChange> all = slice.renewals;
  bool goes_on = true;
  while (goes_on && slice.renewed.size() < all.size() && clock.monotonic() < until) {
    const auto left = all.subspan(slice.renewed.size());
    const auto some = left.first(std::min(left.size(), QueueChange::kAtOnce));
    auto outcomes = outcomes_of(link.change(some), some.size());
    goes_on = answers(outcomes);
    std::move(outcomes.begin(), outcomes.end(), std::back_inserter(slice.renewed));
  }
}

}  // namespace

void carry_out(Slice& slice, Journal& journal, manager::Link& link, const service::Clock& clock) {
  const auto begun = clock.monotonic();
  const auto took = [&] { return std::chrono::floor<Duration>(clock.monotonic() - begun); };
  renew(slice, link, clock);
  slice.took = took();
  if (const auto kept = journal.keep(slice.seen); !kept) slice.trouble = to_string(kept.error());
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
  std::vector<Outcome>& outcomes = slice.outcomes;
  bool goes_on = true;
  while (goes_on && outcomes.size() < slice.entries.size()) {
    auto some = execute_some(slice.entries, outcomes.size(), link);
    goes_on = answers(some) && took() < kLongestSlice;
    std::move(some.begin(), some.end(), std::back_inserter(outcomes));
  }
  slice.took = took();
  outcomes.resize(slice.entries.size());
  for (std::size_t at = 0; at < outcomes.size(); ++at) {
    slice.failures.push_back(how_it_went(slice.entries[at], outcomes[at]));
  }
  if (const auto written = journal.end(slice.failures); !written) {
    slice.trouble = to_string(written.error());
  }
}

}  // namespace almanac::steer
