// SPDX-License-Identifier: Apache-2.0
#include "sim/throttles.h"

#include <algorithm>
#include <unordered_map>

#include "text/number.h"

namespace almanac::sim {
namespace {

constexpr std::int64_t kMostTasks = 4'000'001;  // Slurm's largest MaxArraySize

/// Removes and returns the first word of `line`; "" at its end.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace

std::string_view array_of(std::string_view id) {
  const std::size_t under = id.find('_');
  return under == std::string_view::npos ? std::string_view() : id.substr(0, under);
}

std::int32_t throttle_of_tasks(std::string_view tasks) {
  const std::size_t percent = tasks.find('%');
  if (percent == std::string_view::npos) return 0;
  std::string_view number = tasks.substr(percent + 1);
  if (number.ends_with(']')) number.remove_suffix(1);
  const auto most = text::parse_whole(number);
  return most && *most > 0 && *most <= kMostTasks ? static_cast<std::int32_t>(*most) : 0;
}

std::int32_t throttle_of_line(std::string_view line) {
  constexpr std::string_view kLong = "--array";
  constexpr std::string_view kShort = "-a";
  while (!line.empty()) {
    const std::string_view word = take_word(line);
    if (word == kLong || word == kShort) return throttle_of_tasks(take_word(line));
    const bool is_long = word.starts_with(kLong) && word.substr(kLong.size()).starts_with('=');
    if (is_long || word.starts_with(kShort)) return throttle_of_tasks(word);
  }
  return 0;
}

Throttles::Throttles(const trace::Trace& trace) {
  std::map<std::string, std::int32_t, std::less<>> submitted;
  std::unordered_map<NameId, std::int32_t> lines;
  for (const trace::Job& job : trace.jobs) {
    const std::string id = trace.id(job.id);
    const std::string_view array = array_of(id);
    if (array.empty()) continue;
    if (const std::int32_t own = throttle_of_tasks(id); own > 0) {
      arrays_.insert_or_assign(std::string(array), own);
    }
    if (job.request.submit_line == kNoName) continue;
    const auto [line, is_new] = lines.try_emplace(job.request.submit_line);
    if (is_new) line->second = throttle_of_line(trace.names[job.request.submit_line]);
    if (line->second > 0) submitted.emplace(array, line->second);
  }
  arrays_.merge(submitted);
}

std::int32_t Throttles::of(std::string_view id) const {
  if (arrays_.empty()) return 0;
  const auto found = arrays_.find(array_of(id));
  return found == arrays_.end() ? 0 : found->second;
}

}  // namespace almanac::sim
