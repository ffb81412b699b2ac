// SPDX-License-Identifier: Apache-2.0
#include "trace/swf_header.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "text/number.h"
#include "trace/swf_start.h"

namespace almanac::trace {
namespace {

constexpr double kLatestStart = 1e12;  // seconds: sums must fit into milliseconds of 64 bits
constexpr std::int64_t kMostProcessors = 100'000'000;
constexpr const char* kBlank = " \t\r";

std::string_view trim(std::string_view part) {
  const auto first = part.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return part.substr(first, part.find_last_not_of(kBlank) - first + 1);
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(kBlank));
}

/// Load of a job log: the largest job, and the fraction of the time in which more processors than
/// `processors` ran at once.
struct Load {
  std::int32_t largest = 0;
  std::int64_t jobs_beyond = 0;
  std::int64_t most = 0;
  double share_beyond = 0;
};

Load load_of(const Trace& trace, std::int64_t processors) {
  Load made;
  std::vector<std::pair<Time, std::int64_t>> edges;
  for (const Job& job : trace.jobs) {
    made.largest = std::max(made.largest, job.request.gpus);
    made.jobs_beyond += job.request.gpus > processors ? 1 : 0;
    if (job.outcome.start == kNoTime || job.outcome.end == kNoTime) continue;
    edges.emplace_back(job.outcome.start, job.request.gpus);
    edges.emplace_back(job.outcome.end, -job.request.gpus);
  }
  std::sort(edges.begin(), edges.end());
  std::int64_t now = 0;
  double busy_s = 0, beyond_s = 0;
  for (std::size_t at = 0; at < edges.size(); ++at) {
    now += edges[at].second;
    made.most = std::max(made.most, now);
    if (at + 1 == edges.size() || now == 0) continue;
    const double length_s = seconds(edges[at + 1].first - edges[at].first);
    busy_s += length_s;
    if (now > processors) beyond_s += length_s;
  }
  made.share_beyond = busy_s > 0 ? beyond_s / busy_s : 0;
  return made;
}

}  // namespace

std::string SwfHeader::read(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view key = trim(text.substr(0, colon));
  const std::string_view value = trim(text.substr(colon + 1));
  if (key == "UnixStartTime") {
    const auto start_s = text::parse_whole(first_word(value));
    if (!start_s || std::abs(static_cast<double>(*start_s)) > kLatestStart) {
      return fmt::format("UnixStartTime must be a number, found \"{}\"", value.substr(0, 60));
    }
    if (*start_s > 0) unix_start_ = Time(std::chrono::seconds(*start_s));  // 0, -1 = unknown
  } else if (key == "StartTime") {
    start_ = value;
  } else if (key == "TimeZoneString") {
    zone_ = value;
  } else if (key == "MaxProcs" || key == "MaxNodes") {
    sizes_.emplace(key, value);
  } else if (key == "Queue" || key == "Partition") {
    const auto blank = value.find_first_of(kBlank);
    const auto number = text::parse_whole(value.substr(0, blank));
    if (!number || blank == std::string_view::npos) return {};
    (key == "Queue" ? queues_ : partitions_)[static_cast<double>(*number)] =
        first_word(trim(value.substr(blank)));
  }
  return {};
}

NameId SwfHeader::named(const NamesOf& known, double number, Names& names) {
  if (number < 0) return kNoName;
  const auto found = known.find(number);
  return names.intern(found == known.end() ? fmt::format("{}", number) : found->second);
}

void SwfHeader::conclude(Trace& trace, const std::optional<text::TimeZone>& zone) const {
  std::set<NameId> partitions;
  for (const Job& job : trace.jobs) partitions.insert(job.request.vc);
  if (partitions.size() == 1 && partitions_.empty()) {
    for (Job& job : trace.jobs) job.request.vc = kNoName;
  }
  if (const Time zero = start(trace, zone); zero != kNoTime) {
    for (Job& job : trace.jobs) {
      job.request.submit += zero.time_since_epoch();
      if (job.outcome.start == kNoTime) continue;
      job.outcome.start += zero.time_since_epoch();
      job.outcome.end += zero.time_since_epoch();
    }
  }
  judge_machine(trace);
}

Time SwfHeader::start(Trace& trace, const std::optional<text::TimeZone>& zone) const {
  if (unix_start_ != kNoTime) {
    if (!zone_.empty() && zone_ != "UTC" && zone_ != "GMT") {
      trace.notes.push_back(
          fmt::format("times are printed in UTC; the cluster's clock is that of {}", zone_));
    }
    return unix_start_;
  }
  const auto wall = parse_swf_start(start_);
  if (!wall) {
    trace.notes.push_back(fmt::format(
        "the header has no UnixStartTime and {}: times count from the start of the log, so days "
        "and hours of the day are unknown",
        start_.empty() ? "no StartTime" : fmt::format("no date in StartTime (\"{}\")", start_)));
    return kNoTime;
  }
  if (wall->has_zone) return wall->time;
  trace.local_times = true;
  if (zone) {
    trace.time_zone = zone->name();
    return zone->moments_of(wall->time).first;
  }
  if (const auto named = text::TimeZone::find(zone_)) {
    trace.time_zone = named->name();
    return named->moments_of(wall->time).first;
  }
  trace.notes.push_back(fmt::format(
      "the header has no UnixStartTime, and StartTime (\"{}\") is read as UTC (name the "
      "zone of the cluster with --time-zone)",
      start_));
  return wall->time;
}

void SwfHeader::judge_machine(Trace& trace) const {
  const auto size = [&](const char* key) -> std::optional<std::int64_t> {
    const auto found = sizes_.find(key);
    if (found == sizes_.end()) return std::nullopt;
    const auto number = text::parse_whole(first_word(found->second));
    return number && *number <= kMostProcessors ? *number : 0;
  };
  const auto processors = size("MaxProcs");
  const auto nodes = size("MaxNodes");
  constexpr const char* kInferred = "the size of the machine is inferred from the jobs";
  if (!processors && !nodes) {
    trace.notes.push_back(fmt::format("the header has no MaxProcs: {}", kInferred));
    return;
  }
  // Without MaxProcs a node counts as one processor.
  const char* const key = processors ? "MaxProcs" : "MaxNodes";
  const std::int64_t most = processors ? *processors : *nodes;
  if (most <= 0) {
    trace.notes.push_back(
        fmt::format("{} in the header is {}: {}", key, sizes_.find(key)->second, kInferred));
    return;
  }
  const Load load = load_of(trace, most);
  if (load.jobs_beyond > 0) {
    trace.notes.push_back(
        fmt::format("{} in the header is {}, but {} of {} jobs request more, up to {}: {}", key,
                    most, load.jobs_beyond, trace.jobs.size(), load.largest, kInferred));
    return;
  }
  constexpr double kRounding = 0.01;  // times are whole seconds, so jobs overlap a little
  if (load.share_beyond > kRounding) {
    trace.notes.push_back(
        fmt::format("{} in the header is {}, but up to {} processors were in use at once: {}", key,
                    most, load.most, kInferred));
    return;
  }
  trace.machine.gpus = static_cast<std::int32_t>(most);
  if (nodes && *nodes > 0 && *nodes <= most && most % *nodes == 0) {
    trace.machine.nodes = static_cast<std::int32_t>(*nodes);
  } else if (nodes && processors) {
    trace.notes.push_back(fmt::format(
        "MaxNodes in the header is {}, which does not divide MaxProcs {}: it is not used",
        sizes_.find("MaxNodes")->second, most));
  }
}

}  // namespace almanac::trace
