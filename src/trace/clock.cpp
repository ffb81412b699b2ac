// SPDX-License-Identifier: Apache-2.0
#include "trace/clock.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "text/human.h"
#include "trace/eligible.h"

namespace almanac::trace {
namespace {

using text::Moments;
using text::TimeZone;

/// One zone of each rule by which clocks are changed, those with most clusters first.
constexpr std::array kRules{"Europe/Berlin",     "America/New_York",    "Europe/London",
                            "Europe/Helsinki",   "Australia/Sydney",    "Pacific/Auckland",
                            "America/Santiago",  "Asia/Jerusalem",      "Africa/Cairo",
                            "America/Sao_Paulo", "America/Mexico_City", "Asia/Tehran",
                            "Asia/Beirut",       "America/Asuncion",    "Europe/Chisinau",
                            "Atlantic/Azores",   "America/Havana",      "Australia/Lord_Howe"};
// Rows that show a change; more would not make it surer.
constexpr std::size_t kMostEvidence = 2000;

/// The times of a job.
struct Times {
  Time submit = kNoTime;
  Time start = kNoTime;
  Time end = kNoTime;
};

Times times_of(const Job& job) { return {job.request.submit, job.outcome.start, job.outcome.end}; }

/// How little a reading fits the job, the best first: it ended before it had run as long as it did,
/// it took longer than that (it may have been suspended), it began before it was submitted.
std::tuple<bool, Duration, bool> misfit(const Times& times, Duration run) {
  Duration excess{};
  if (times.start != kNoTime && times.end != kNoTime) excess = times.end - times.start - run;
  const bool early = times.start != kNoTime && times.start < times.submit;
  return {excess < Duration::zero(), std::max(excess, -excess), early};
}

bool is_consistent(const Times& times, Duration run) {
  return misfit(times, run) == std::tuple(false, Duration::zero(), false);
}

std::array<Time, 2> readings(const TimeZone& zone, Time wall) {
  if (wall == kNoTime) return {wall, wall};
  const Moments moments = zone.moments_of(wall);
  return {moments.first, moments.last};
}

/// Which of two readings the ids speak for.
enum class Reading : std::uint8_t { any, first, last };

/// The best reading of `wall`; among equals the one of `submission`, that is not submitted before
/// `earliest`, then that of the shorter wait.
Times read_in(const TimeZone& zone, const Times& wall, Duration run, Reading submission,
              Time earliest) {
  const auto submits = readings(zone, wall.submit);
  const auto starts = readings(zone, wall.start);
  const auto ends = readings(zone, wall.end);
  Times best;
  std::optional<std::tuple<std::tuple<bool, Duration, bool>, bool, Duration>> least;
  for (const std::size_t submit : {0U, 1U}) {
    for (const std::size_t start : {0U, 1U}) {
      for (const std::size_t end : {0U, 1U}) {
        const Times times{submits[submit], starts[start], ends[end]};
        const bool is_other = submission == (submit == 0 ? Reading::last : Reading::first) ||
                              (times.submit != kNoTime && times.submit < earliest);
        const Duration wait =
            times.start == kNoTime ? Duration::zero() : times.start - times.submit;
        const auto cost = std::tuple(misfit(times, run), is_other, wait);
        if (!least || cost < *least) {
          least = cost;
          best = times;
        }
      }
    }
  }
  return best;
}

/// Decides by the ids which of two equal clock hours a submission belongs to. In the second hour,
/// earlier ids with later times come before; in the first, later ids with earlier times follow. An
/// id with several rows decides nothing, because a requeued job is submitted again.
std::vector<Reading> readings_by_id(const Trace& trace, const TimeZone& zone) {
  struct Submission {
    std::uint64_t id = 0;
    std::size_t job = 0;
    std::size_t minute = 0;
  };
  constexpr std::size_t kMinutes = 24 * 60;
  std::map<std::int64_t, std::vector<Submission>> by_day;
  std::map<JobKey, int> rows;
  const auto comes_twice = [&](const Job& job) {
    const Moments moments = zone.moments_of(submission(job.request));
    return moments.first != moments.last;
  };
  for (const Job& job : trace.jobs) {
    if (comes_twice(job)) rows.emplace(job.id, 0);
  }
  for (const Job& job : trace.jobs) {
    if (const auto row = rows.find(job.id); row != rows.end()) ++row->second;
  }
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    if (!comes_twice(trace.jobs[i]) || rows[trace.jobs[i].id] > 1) continue;
    const Time wall = submission(trace.jobs[i].request);
    const auto minute = std::chrono::floor<std::chrono::minutes>(wall.time_since_epoch()).count();
    const std::string id = trace.id(trace.jobs[i].id);
    by_day[minute / static_cast<std::int64_t>(kMinutes)].push_back(
        {std::strtoull(id.c_str(), nullptr, 10), i, static_cast<std::size_t>(minute) % kMinutes});
  }
  std::vector<Reading> found(trace.jobs.size());
  for (auto& [day, submissions] : by_day) {
    std::stable_sort(submissions.begin(), submissions.end(),
                     [](const Submission& a, const Submission& b) { return a.id < b.id; });
    std::vector<std::int64_t> before(kMinutes);
    std::vector<std::int64_t> behind(kMinutes);
    for (const Submission& each : submissions) ++behind[each.minute];
    for (const Submission& each : submissions) {
      --behind[each.minute];
      std::int64_t later = 0;
      std::int64_t earlier = 0;
      for (std::size_t minute = 0; minute < kMinutes; ++minute) {
        if (minute > each.minute) later += before[minute];
        if (minute < each.minute) earlier += behind[minute];
      }
      found[each.job] = later > earlier   ? Reading::last
                        : earlier > later ? Reading::first
                                          : Reading::any;
      ++before[each.minute];
    }
  }
  return found;
}

struct Guess {
  TimeZone zone;
  std::int64_t shown = 0;  // jobs whose times it explains
};

/// Whether the times of a job may be those of a clock that was changed meanwhile: clocks are
/// changed by half hours.
bool may_show_change(const Job& job) {
  const auto [ended_early, excess, started_early] = misfit(times_of(job), job.outcome.run);
  constexpr Duration kStep = 30min;
  return started_early || (excess != Duration::zero() && excess % kStep == Duration::zero());
}

/// The rule that explains most of the jobs whose times make no sense as written.
std::optional<Guess> guess_zone(const Trace& trace) {
  std::vector<const Job*> odd;
  for (const Job& job : trace.jobs) {
    if (odd.size() == kMostEvidence) break;
    if (may_show_change(job)) odd.push_back(&job);
  }
  if (odd.empty()) return std::nullopt;
  const auto explains = [&](const TimeZone& zone, const Job& job) {
    return is_consistent(read_in(zone, times_of(job), job.outcome.run, Reading::any, Time::min()),
                         job.outcome.run);
  };
  std::optional<Guess> best;
  for (const char* const name : kRules) {
    auto zone = TimeZone::find(name);
    if (!zone) continue;  // a system without the database
    const auto shown = std::count_if(odd.begin(), odd.end(),
                                     [&](const Job* job) { return explains(*zone, *job); });
    if (shown > (best ? best->shown : 0)) best = Guess{std::move(*zone), shown};
  }
  if (!best) return std::nullopt;
  const auto contradicting =
      std::count_if(trace.jobs.begin(), trace.jobs.end(), [&](const Job& job) {
        return is_consistent(times_of(job), job.outcome.run) && !explains(best->zone, job);
      });
  return contradicting < best->shown ? best : std::nullopt;
}

void shift(Time& time, Duration by) {
  if (time != kNoTime) time += by;
}

}  // namespace

void read_times_in(Trace& trace, const TimeZone& zone) {
  const std::vector<Reading> submissions = readings_by_id(trace, zone);
  std::unordered_map<JobKey, Time> last_ends;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    Job& job = trace.jobs[i];
    // A job with several rows is submitted again at the end of a run.
    Time& earliest = last_ends.try_emplace(job.id, Time::min()).first->second;
    const bool was_eligible_at_once = job.request.submitted == kNoTime;
    const Times times = read_in(zone, times_of(job), job.outcome.run,
                                was_eligible_at_once ? submissions[i] : Reading::any, earliest);
    if (!was_eligible_at_once) {
      const auto both = readings(zone, job.request.submitted);
      job.request.submitted =
          submissions[i] != Reading::first && both[1] <= times.submit ? both[1] : both[0];
    }
    earliest = times.end == kNoTime ? Time::min() : times.end;
    job.request.submit = times.submit;
    job.outcome.start = times.start;
    job.outcome.end = times.end;
    job.request.deadline = readings(zone, job.request.deadline)[0];
    job.request.worthless_at = readings(zone, job.request.worthless_at)[0];
  }
  for (Attempt& attempt : trace.attempts) {
    attempt.start = readings(zone, attempt.start)[0];
    attempt.end = readings(zone, attempt.end)[0];
  }
}

void settle_sacct_clock(Intake& intake, const std::optional<TimeZone>& zone) {
  Trace& trace = intake.trace();
  if (zone && trace.local_times) {
    read_times_in(trace, *zone);
    trace.time_zone = zone->name();
  } else if (const auto guess = trace.local_times ? guess_zone(trace) : std::nullopt) {
    read_times_in(trace, guess->zone);
    const auto first = std::min_element(
        trace.jobs.begin(), trace.jobs.end(),
        [](const Job& a, const Job& b) { return a.request.submit < b.request.submit; });
    const Duration offset = guess->zone.offset_at(first->request.submit);
    for (Job& job : trace.jobs) {
      shift(job.request.submit, offset);
      shift(job.request.submitted, offset);
      shift(job.outcome.start, offset);
      shift(job.outcome.end, offset);
    }
    trace.notes.push_back(fmt::format(
        "the log's clock was changed as in {}, as the times of {} show: later times continue the "
        "clock of the first job (give the zone with --time-zone)",
        guess->zone.name(), text::counted(static_cast<std::uint64_t>(guess->shown), "job")));
  }
  for (Job& job : trace.jobs) {
    Outcome& outcome = job.outcome;
    if (outcome.start == kNoTime) continue;
    if (outcome.end != kNoTime && outcome.end - outcome.start < outcome.run) {
      outcome.end = outcome.start + outcome.run;
      intake.remark(
          "jobs whose end contradicts their run time (the end is computed from the run time)");
    }
    if (outcome.start < job.request.submit) {
      job.request.submit = outcome.start;
      if (job.request.submitted >= outcome.start) job.request.submitted = kNoTime;
      intake.remark(
          "jobs that started before they were submitted (treated as submitted at their start)");
    }
  }
}

}  // namespace almanac::trace
