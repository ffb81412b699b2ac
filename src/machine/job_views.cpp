// SPDX-License-Identifier: Apache-2.0
#include "machine/job_views.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "machine/environment.h"
#include "machine/holding.h"
#include "machine/life.h"
#include "policy/contract/reason_words.h"
#include "service/inquest.h"
#include "service/job.h"
#include "service/pace.h"
#include "service/policies.h"
#include "shepherd/terminal_words.h"
#include "text/datetime.h"
#include "text/duration.h"
#include "text/human.h"

namespace almanac::machine {

using service::JobView;
using store::JobNumber;
using trace::JobState;

namespace {

constexpr std::ptrdiff_t kChangesShown = 12;

/// "after 00:01:30: 4 cores to 2", "after 00:02:10: held 44.0 GB of GPU 0 of box, its part
/// is 40.0".
std::vector<std::string> changes_of_last_run(const std::vector<store::Note>& notes,
                                             service::Eyes eyes) {
  std::vector<std::string> made;
  Time begun{};
  for (const store::Note& note : notes) {
    if (note.what == "started") {
      begun = note.at;
      made.clear();
    } else if (note.what == kResized || note.what == kTooMuchGpu || note.what == kIdle) {
      made.push_back(
          fmt::format("after {}: {}", text::format_duration(note.at - begun), note.detail));
    } else if (note.what == service::kJudged) {
      made.push_back(fmt::format("{}: {}", service::kJudged, service::detail_for(note, eyes)));
    }
  }
  return made;
}

}  // namespace

std::string JobViews::why_later(const Entry& entry, std::string& word) const {
  const store::Job& job = entry.job;
  if (job.again_at <= job.asked->not_before) {
    word = "BeginTime";
    return "its begin time has not come";
  }
  const std::string when = text::format_datetime(ceil<std::chrono::seconds>(job.again_at));
  if (const std::string* const why = parts_.starter.jobs.why(job.number)) {
    word = "JobLaunchFailure";
    return parts_.starter.trouble().empty()
               ? fmt::format("could not be started; next try at {}: {}", when, *why)
               : parts_.starter.trouble();
  }
  word = "BeginTime";
  return fmt::format("failed; next try at {} (retry {} of {})", when, job.failures,
                     job.asked->retries);
}

std::string JobViews::why_aside(const Entry& entry, std::string& word) const {
  if (awaits_its_end(entry.job)) {
    word = "Completing";
    return fmt::format("is {}, and its process is about to end",
                       entry.job.reason.empty() ? "to run again" : entry.job.reason);
  }
  const WaitsFor room = parts_.admitter.obstacle_of(entry);
  switch (room.what) {
    case WaitsFor::What::release:
      word = "JobHeldUser";
      return "is held by a user";
    case WaitsFor::What::time:
      return why_later(entry, word);
    case WaitsFor::What::others:
      word = "Dependency";
      return "depends on a job that has not finished";
    case WaitsFor::What::namesake:
      word = "Dependency";
      return "depends on earlier jobs with the same user and name (singleton)";
    case WaitsFor::What::array:
      word = "JobArrayTaskLimit";
      return "its array has reached its limit of running tasks";
    case WaitsFor::What::account:
      word = "JobLaunchFailure";
      return fmt::format("cannot be started: {}", parts_.accounts.why(entry.job.asked->uid));
    case WaitsFor::What::maintenance:
    case WaitsFor::What::a_look:
    case WaitsFor::What::nothing:
      break;
  }
  if (queue_.is_held_back()) {
    word = "Learning";
    return "the policy is still being trained on past jobs";
  }
  if (const service::Window* const window =
          parts_.maintenance.bars(entry.job.asked->time_limit, state_.now)) {
    word = "Maintenance";
    return fmt::format("{} the maintenance {}",
                       entry.job.asked->time_limit == kNoDuration
                           ? "has no time limit, so it might not end before"
                           : "might run into",
                       to_words(*window));
  }
  word = "Starting";
  return "is about to join the queue";
}

JobView JobViews::view_of(const Entry& entry) const {
  JobView made{.job = as_seen(entry.job, entry.process())};
  if (entry.of_runs->progress) made.step = entry.of_runs->progress->step;
  if (entry.of_runs->progress && entry.of_runs->progress->metric) {
    made.metric = entry.of_runs->progress->metric->value;
    made.metric_step = entry.of_runs->progress->metric->step;
  }
  if (entry.is_starting()) {
    made.why = !parts_.starter.trouble().empty() ? parts_.starter.trouble()
               : !not_released(state_, entry).empty()
                   ? "gets its GPUs once the previous job has released them"
                   : "has its GPUs, and is about to begin";
    made.why_word = parts_.starter.trouble().empty() ? "Starting" : "JobLaunchFailure";
  }
  if (entry.job.state != JobState::pending) return made;
  if (!queue_.is_waiting(entry)) {
    made.why = why_aside(entry, made.why_word);
    return made;
  }
  const policy::Reason reason = queue_.round().why_waiting(state_.now, entry.id);
  const std::string other =
      reason.other == kNoJob
          ? std::string()
          : std::to_string(static_cast<std::int64_t>(queue_.number_of(reason.other)));
  made.why = policy::to_string(reason, other);
  if (reason.kind == policy::ReasonKind::short_of_cores) {
    if (const std::string room = queue_.room_short(entry); !room.empty()) made.why += "; " + room;
  }
  using enum policy::ReasonKind;
  if (reason.kind == short_of_gpus || reason.kind == short_of_cores || reason.kind == fragmented ||
      reason.kind == nvlink_busy || reason.kind == short_of_gpu_part ||
      reason.kind == short_of_gpu_memory) {
    const Outage& outage = parts_.out_of_service.outage();
    for (const std::string& each :
         {outage.missing_text(), outage.drained_text(state_.config.machine.cluster)}) {
      if (!each.empty()) made.why += "; " + each;
    }
  }
  made.why_word = policy::slurm_word(reason.kind);
  made.place = parts_.line.place_of(entry.id);
  return made;
}

void JobViews::look_at_all(JobNumber above,
                           const std::function<std::optional<int>(const Entry&)>& look) const {
  constexpr int kPart = 2000;
  for (bool has_more = true; has_more;) {
    const std::lock_guard lock(state_.mutex);
    auto at = state_.book.all().upper_bound(above);
    for (int left = kPart; at != state_.book.all().end() && left > 0; ++at) {
      const std::optional<int> cost = look(at->second);
      if (!cost) return;
      left -= *cost;
      above = at->first;
    }
    has_more = at != state_.book.all().end();
  }
}

Result<std::vector<JobView>> JobViews::jobs(const service::Sought& sought) const {
  std::vector<JobView> made;
  std::map<JobNumber, JobView> ended;  // for a moment some are in the book and in the store
  look_at_all(sought.above, [&](const Entry& entry) -> std::optional<int> {
    constexpr int kLook = 1;
    constexpr int kView = 10;
    if (made.size() >= sought.most) return std::nullopt;
    const bool is_over = service::has_ended(entry.job);
    if (is_over && (!sought.ended_since || entry.job.end < *sought.ended_since)) return kLook;
    const bool is_wanted =
        !sought.wanted || (entry.is_starting() ? sought.wanted(as_seen(entry.job, entry.process()))
                                               : sought.wanted(entry.job));
    if (!is_wanted) return kLook;
    if (is_over) {
      ended.emplace(entry.job.number, view_of(entry));
    } else {
      made.push_back(view_of(entry));
    }
    return kView;
  });
  if (auto added = service::add_ended(state_.store, sought, std::move(ended), made); !added) {
    return tl::unexpected(added.error());
  }
  return made;
}

Result<JobView> JobViews::job(JobNumber number) const {
  std::optional<JobView> known;
  std::string folder;  // of its run
  {
    const std::lock_guard lock(state_.mutex);
    if (const Entry* const entry = state_.book.find(number)) {
      known = view_of(*entry);
      if (entry->run) folder = entry->run->folder();
    }
  }
  // Read only now: the store has a job as it ended that is not in the book any more.
  auto kept = service::kept_job(state_.store, number);
  if (!kept && known && known->job.task)
    kept = service::kept_job(state_.store, known->job.task->array);
  if (!kept) return tl::unexpected(kept.error());
  if (!known) return JobView{.job = *std::move(kept)};
  // Only the store has what the job runs; only the book may have what was changed last.
  store::Submission& whole = kept->asked.change();
  whole.gpus = known->job.asked->gpus;
  whole.time_limit = known->job.asked->time_limit;
  known->job.asked = std::move(kept->asked);
  if (state_.config.speeds && known->job.state == JobState::running) {
    known->pace =
        service::pace_of(number, sharers_of(number),
                         {.cluster = state_.config.machine.cluster,
                          .speeds = *state_.config.speeds,
                          .power = state_.config.power ? &*state_.config.power : nullptr});
  }
  if (folder.empty()) return *std::move(known);
  if (known->job.asked->pty) known->terminal = folder + shepherd::kTerminalFile;
  if (const auto means = shepherd::means_of(folder)) known->limits_by = to_string(*means);
  known->job.lost_output += shepherd::lost_output(folder);
  return *std::move(known);
}

std::vector<store::Job> JobViews::sharers_of(JobNumber number) const {
  const std::lock_guard lock(state_.mutex);
  std::vector<store::Job> made;
  const Entry* const own = state_.book.find(number);
  if (own == nullptr || own->job.state != JobState::running) return made;
  for (const Entry* const entry : holders_of(state_)) {
    const bool runs = entry->job.state == JobState::running;
    if (runs && (entry == own || service::share_a_gpu(own->job, entry->job)))
      made.push_back(entry->job);
  }
  return made;
}

Result<service::Tenancy> JobViews::tenancy() const {
  return tenancy_.get([this] { return tenancy_now(); });
}

Result<service::Tenancy> JobViews::tenancy_now() const {
  std::vector<store::Job> jobs;
  Time now{};
  Duration half_life{};
  {
    const std::lock_guard lock(state_.mutex);
    now = state_.now;
    half_life = service::half_life_of(queue_.composition());
  }
  look_at_all({}, [&](const Entry& entry) -> std::optional<int> {
    if (entry.job.asked->gpus > 0) jobs.push_back(entry.job);
    return 2;
  });
  auto ended = state_.store.ended(now - service::kLesson, service::kLessons);
  if (!ended) return tl::unexpected(ended.error());
  std::set<JobNumber> known;  // a job that has just ended is in the book and in the store
  for (const store::Job& job : jobs) known.insert(job.number);
  for (store::Job& job : *ended) {
    if (!known.contains(job.number)) jobs.push_back(std::move(job));
  }
  const cluster::Cluster& cluster = state_.config.machine.cluster;
  return service::tenancy_of(
      jobs, cluster, [&](const store::Job& job) { return service::tenant_of(job, cluster); }, now,
      half_life);
}

std::string JobViews::explain_age_cap(JobNumber number) const {
  if (state_.config.age_cap == kNoDuration) return "";
  const std::lock_guard lock(state_.mutex);
  const Entry* const entry = state_.book.find(number);
  if (entry == nullptr || !queue_.is_waiting(*entry)) return "";
  const Duration waited =
      std::max(Duration{0}, state_.now - queue_.round().progress(entry->id).since);
  if (waited >= state_.config.age_cap) return "";
  return fmt::format("it goes first once it has waited {} (the age cap); so far it has waited {}",
                     text::format_duration(state_.config.age_cap),
                     text::format_duration(waited / 1s * 1s));
}

Result<std::vector<std::string>> JobViews::explain(JobNumber number, service::Eyes eyes) const {
  const auto view = JobViews::job(number);
  if (!view) return tl::unexpected(view.error());
  const store::Job& job = view->job;
  std::vector<std::string> lines;
  const std::string shown = fmt::format("job {}", number);
  switch (job.state) {
    case JobState::pending:
      lines.push_back(fmt::format("{} waits under {}: {}", shown, state_.config.policy, view->why));
      if (const std::string line = explain_age_cap(number); !line.empty()) lines.push_back(line);
      break;
    case JobState::running:
      lines.push_back(fmt::format("{} runs on {}", shown, where_text(job, state_.config.machine)));
      if (awaits_its_end(job)) {
        lines.push_back(fmt::format("it is being stopped: {}", job.reason));
      }
      break;
    default:
      lines.push_back(fmt::format("{} has ended: {}{}{}", shown, to_string(job.state),
                                  job.reason.empty() ? "" : ", ", job.reason));
  }
  if (job.lost_output > 0) {
    lines.push_back(
        fmt::format("its log lacks {} bytes of output", text::grouped(job.lost_output)));
  }
  std::vector<std::string> changes;
  if (job.state != JobState::pending) {
    const auto notes = state_.store.notes(number);
    if (!notes) return tl::unexpected(notes.error());
    changes = changes_of_last_run(*notes, eyes);
  }
  if (std::ssize(changes) > kChangesShown) {
    lines.push_back(
        fmt::format("{} earlier changes of its size", std::ssize(changes) - kChangesShown));
    changes.erase(changes.begin(), changes.end() - kChangesShown);
  }
  lines.insert(lines.end(), changes.begin(), changes.end());
  const cluster::Cluster& cluster = state_.config.machine.cluster;
  const TenantId tenant = service::tenant_of(job, cluster);
  if (tenant == kNoTenant) return lines;
  if (const auto known = tenancy()) {
    const std::string line = service::beside_its_due(*known, cluster.tenants[index(tenant)].name);
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

}  // namespace almanac::machine
