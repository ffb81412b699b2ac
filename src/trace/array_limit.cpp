// SPDX-License-Identifier: Apache-2.0
#include "trace/array_limit.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "text/number.h"

namespace almanac::trace {
namespace {

constexpr std::int64_t kMostTasks = 4'000'001;  // Slurm's largest MaxArraySize

/// Removes and returns the first word of `line`; "" at its end.
std::string_view take_option(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

/// Ids of tasks contain "_", so they are names in the pool of names.
bool may_be_task(JobKey key) { return static_cast<std::uint64_t>(key) >> 63 != 0; }

}  // namespace

std::string_view array_of_task(std::string_view id) {
  const std::size_t under = id.find('_');
  return under == std::string_view::npos ? std::string_view() : id.substr(0, under);
}

std::int32_t array_limit_of_tasks(std::string_view tasks) {
  const std::size_t percent = tasks.find('%');
  if (percent == std::string_view::npos) return 0;
  std::string_view number = tasks.substr(percent + 1);
  if (number.ends_with(']')) number.remove_suffix(1);
  const auto most = text::parse_whole(number);
  return most && *most > 0 && *most <= kMostTasks ? static_cast<std::int32_t>(*most) : 0;
}

std::int32_t array_limit_of_line(std::string_view line) {
  constexpr std::string_view kLong = "--array";
  constexpr std::string_view kShort = "-a";
  while (!line.empty()) {
    const std::string_view word = take_option(line);
    if (word == kLong || word == kShort) return array_limit_of_tasks(take_option(line));
    const bool is_long = word.starts_with(kLong) && word.substr(kLong.size()).starts_with('=');
    if (is_long || word.starts_with(kShort)) return array_limit_of_tasks(word);
  }
  return 0;
}

void find_array_limits(Trace& trace) {
  struct Stated {
    std::int32_t by_pending = 0;
    std::int32_t by_field = 0;
    std::int32_t by_line = 0;
  };
  std::map<std::string, Stated, std::less<>> arrays;
  std::unordered_map<NameId, std::int32_t> lines;
  for (const Job& job : trace.jobs) {
    if (!may_be_task(job.id)) continue;
    const std::string id = trace.id(job.id);
    const std::string_view array = array_of_task(id);
    if (array.empty()) continue;
    Stated& stated = arrays[std::string(array)];
    if (const std::int32_t own = array_limit_of_tasks(id); own > 0) stated.by_pending = own;
    if (job.request.array_limit > 0) stated.by_field = job.request.array_limit;
    if (job.request.submit_line == kNoName || stated.by_line > 0) continue;
    const auto [line, is_new] = lines.try_emplace(job.request.submit_line);
    if (is_new) line->second = array_limit_of_line(trace.names[job.request.submit_line]);
    stated.by_line = line->second;
  }
  if (arrays.empty()) return;
  for (Job& job : trace.jobs) {
    if (!may_be_task(job.id)) continue;
    const std::string id = trace.id(job.id);
    const auto found = arrays.find(array_of_task(id));
    if (found == arrays.end()) continue;
    const Stated& stated = found->second;
    job.request.array_limit = stated.by_pending > 0 ? stated.by_pending
                              : stated.by_field > 0 ? stated.by_field
                                                    : stated.by_line;
  }
}

}  // namespace almanac::trace
