// SPDX-License-Identifier: Apache-2.0
#include "trace/held_nodes.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "text/host_list.h"

namespace almanac::trace {
namespace {

bool is_decimal(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Logs round the end, the start and the run time each on its own.
constexpr Duration kRoundedApart = 2s;

}  // namespace

bool comes_before(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_decimal(a[i]) || !is_decimal(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto number = [](std::string_view text, std::size_t& at) {
      while (at + 1 < text.size() && text[at] == '0' && is_decimal(text[at + 1])) ++at;
      const std::size_t from = at;
      while (at < text.size() && is_decimal(text[at])) ++at;
      return text.substr(from, at - from);
    };
    const std::string_view one = number(a, i);
    const std::string_view other = number(b, j);
    if (one.size() != other.size()) return one.size() < other.size();
    if (one != other) return one < other;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

HeldNodes::HeldNodes(const Trace& trace) {
  std::unordered_map<std::string, std::uint32_t> numbers;
  const auto number_of = [&](std::string_view name) {
    const auto [found, is_new] =
        numbers.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.emplace_back(name);
    return found->second;
  };
  struct Range {
    std::uint32_t first;
    std::uint32_t count;
  };
  std::unordered_map<NameId, Range> lists;
  const auto list_of = [&](NameId name) {
    if (const auto known = lists.find(name); known != lists.end()) return known->second;
    Range made{static_cast<std::uint32_t>(held_.size()), 0};
    if (const auto hosts = text::expand_hosts(trace.names[name])) {
      for (const std::string& host : *hosts) held_.push_back({.node = number_of(host)});
      made.count = static_cast<std::uint32_t>(hosts->size());
    }
    lists.emplace(name, made);
    return made;
  };

  std::vector<bool> by_attempts(trace.attempts.empty() ? 0 : trace.jobs.size());
  for (const Attempt& attempt : trace.attempts) {
    Stay stay{.job = attempt.job,
              .from = attempt.start,
              .to = attempt.end,
              .first = static_cast<std::uint32_t>(held_.size())};
    for (std::uint32_t at = 0; at < attempt.num_pieces; ++at) {
      const Piece& piece = trace.pieces[attempt.first_piece + at];
      if (piece.machine == kNoName) continue;
      held_.push_back({number_of(trace.names[piece.machine]), piece.gpus});
      ++stay.count;
    }
    if (stay.count > 0) by_attempts[attempt.job] = true;
    // A try whose end is not recorded may have ended at once.
    if (stay.count > 0 && stay.from != kNoTime && stay.to != kNoTime && stay.to > stay.from) {
      stays_.push_back(stay);
    }
  }
  for (std::uint32_t at = 0; at < trace.jobs.size(); ++at) {
    const Job& job = trace.jobs[at];
    const Outcome& outcome = job.outcome;
    if (outcome.run <= Duration::zero()) continue;
    const bool is_told = outcome.node_list != kNoName || (!by_attempts.empty() && by_attempts[at]);
    ++counts_.ran;
    counts_.told += is_told ? 1 : 0;
    counts_.gpu_ran += job.request.gpus > 0 ? 1 : 0;
    counts_.gpu_told += job.request.gpus > 0 && is_told ? 1 : 0;
    if (outcome.node_list == kNoName || outcome.start == kNoTime) continue;
    if (!by_attempts.empty() && by_attempts[at]) continue;
    const Range list = list_of(outcome.node_list);
    if (list.count == 0) continue;
    const Time to = outcome.end != kNoTime ? outcome.end : outcome.start + outcome.run;
    stays_.push_back({.job = at,
                      .from = outcome.start,
                      .to = to,
                      .first = list.first,
                      .count = list.count,
                      .steady = to - outcome.start <= outcome.run + kRoundedApart});
  }
  std::stable_sort(stays_.begin(), stays_.end(),
                   [](const Stay& a, const Stay& b) { return a.from < b.from; });
  sort_names();
}

void HeldNodes::sort_names() {
  std::vector<std::uint32_t> order(names_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return comes_before(names_[a], names_[b]); });
  std::vector<std::uint32_t> place(names_.size());
  std::vector<std::string> sorted(names_.size());
  for (std::uint32_t at = 0; at < order.size(); ++at) {
    place[order[at]] = at;
    sorted[at] = std::move(names_[order[at]]);
  }
  names_ = std::move(sorted);
  for (Held& held : held_) held.node = place[held.node];
}

std::string stem_of(std::string_view node) {
  std::string made;
  for (const char c : node) {
    if (!is_decimal(c)) made += c;
  }
  return made;
}

int sure_gpus(const Request& request, const Stay& stay, const Held& held) {
  if (held.gpus >= 0) return held.gpus;
  const auto named = static_cast<std::int32_t>(stay.count);
  if (request.nodes > 0 && request.nodes != named) return 0;
  return request.gpus / named;
}

}  // namespace almanac::trace
