// SPDX-License-Identifier: Apache-2.0
#include "service/journal.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace almanac::service {

using nlohmann::json;
using store::JobNumber;

namespace {

using What = Wish::What;

constexpr std::array<std::string_view, 6> kNames{"submit",  "cancel",  "hold",
                                                 "release", "requeue", "update"};

/// First and last of each stretch of numbers that follow one another.
template <typename Number>
json to_stretches(const std::vector<Number>& numbers) {
  json made = json::array();
  for (std::size_t at = 0; at < numbers.size();) {
    const auto first = static_cast<std::int64_t>(numbers[at]);
    std::int64_t last = first;
    while (++at < numbers.size() && static_cast<std::int64_t>(numbers[at]) == last + 1) ++last;
    made.push_back(first);
    made.push_back(last);
  }
  return made;
}

template <typename Number>
std::vector<Number> from_stretches(const json& stretches) {
  std::vector<Number> made;
  for (std::size_t at = 0; at < stretches.size(); at += 2) {
    const auto last = stretches.at(at + 1).get<std::int64_t>();
    for (auto each = stretches.at(at).get<std::int64_t>(); each <= last; ++each) {
      made.push_back(Number(each));
    }
  }
  return made;
}

json to_json(const Wish& wish) {
  json made{{"what", kNames.at(static_cast<std::size_t>(wish.what))},
            {"uid", wish.uid},
            {"jobs", to_stretches(wish.jobs)}};
  if (wish.at_once) made["at_once"] = true;
  if (wish.amended.gpus) made["gpus"] = *wish.amended.gpus;
  if (wish.amended.time_limit != kNoDuration) {
    made["time_limit_ms"] = wish.amended.time_limit.count();
  }
  if (wish.amended.at_once) made["tasks_at_once"] = *wish.amended.at_once;
  if (wish.what == What::submit) {
    made["array"] = static_cast<std::int64_t>(wish.array);
    made["indices"] = to_stretches(wish.indices);
  }
  return made;
}

Wish wish_from(const json& said) {
  const auto name = said.at("what").get<std::string>();
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end())
    throw std::runtime_error(fmt::format("\"{}\" is not a kind of change", name));
  Wish made{.what = static_cast<What>(found - kNames.begin()),
            .uid = said.at("uid").get<std::uint32_t>(),
            .at_once = said.value("at_once", false),
            .jobs = from_stretches<JobNumber>(said.at("jobs"))};
  if (said.contains("gpus")) made.amended.gpus = said["gpus"].get<std::int32_t>();
  if (said.contains("time_limit_ms")) {
    made.amended.time_limit = Duration{said["time_limit_ms"].get<std::int64_t>()};
  }
  if (said.contains("tasks_at_once")) {
    made.amended.at_once = said["tasks_at_once"].get<std::int32_t>();
  }
  if (made.what != What::submit) return made;
  made.array = JobNumber{said.at("array").get<std::int64_t>()};
  made.indices = from_stretches<std::int32_t>(said.at("indices"));
  if (made.indices.size() != made.jobs.size()) {
    throw std::runtime_error("the indices of an array do not match its tasks");
  }
  return made;
}

}  // namespace

Journal::Number Journal::add(Wish wish) {
  open_.emplace(++last_, std::move(wish));
  return last_;
}

bool Journal::saved(const std::vector<JobNumber>& jobs) {
  const auto is_saved = [&](JobNumber job) {
    return std::binary_search(jobs.begin(), jobs.end(), job);
  };
  bool was_named = false;
  for (auto at = open_.begin(); at != open_.end();) {
    Wish& wish = at->second;
    std::size_t left = 0;
    for (std::size_t each = 0; each < wish.jobs.size(); ++each) {
      if (is_saved(wish.jobs[each])) continue;
      wish.jobs[left] = wish.jobs[each];
      if (!wish.indices.empty()) wish.indices[left] = wish.indices[each];
      ++left;
    }
    was_named = was_named || left < wish.jobs.size();
    wish.jobs.resize(left);
    if (!wish.indices.empty()) wish.indices.resize(left);
    at = left == 0 ? open_.erase(at) : std::next(at);
  }
  return was_named;
}

std::string Journal::to_json() const {
  json made = json::array();
  for (const auto& [number, wish] : open_) made.push_back(service::to_json(wish));
  return made.dump();
}

Result<Journal> Journal::read(const std::string& text) try {
  Journal made;
  for (const json& each : json::parse(text)) made.add(wish_from(each));
  return made;
} catch (const std::exception& error) {
  return fail(Code::corrupt,
              fmt::format("the journal of changes in the store is damaged: {}", error.what()));
}

}  // namespace almanac::service
