// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/views.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "cluster/read_toml.h"
#include "kube/snapshot.h"
#include "steer_kube/alarm.h"
#include "text/human.h"
#include "text/moment.h"

namespace almanac::steer_kube {

using service::JobView;

namespace {

bool is_known(Time start) { return start != kNoTime && start != kNever; }

std::optional<service::Expected> expected_of(const kube::Outlook& outlook, Time at) {
  if (!is_known(outlook.start_by) || !is_known(outlook.start_to)) return std::nullopt;
  return service::Expected{.at = at,
                           .start_from = outlook.start_from,
                           .start_to = outlook.start_to,
                           .start_by = outlook.start_by};
}

/// The start that half and nine tenths of the futures reach: "expected start: now (50 %), ...".
std::string expected_start(const kube::Outlook& outlook, Time now) {
  const auto words = [&](Time start) -> std::string {
    if (start == kNoTime) return "unknown";
    if (start == kNever) return "not in the next 30 days";
    return start <= now ? "now" : text::moment(start) + " UTC";
  };
  return fmt::format("expected start: {} (50 %), {} (90 %){}", words(outlook.start_half),
                     words(outlook.start_by),
                     outlook.start_by == kNoTime
                         ? "; a running workload has no time limit, and no known run lasted as long"
                         : "");
}

/// Says which workloads request more GPUs than jobs can have; "" if none does.
std::string note_of_large(const kube::Picture& picture) {
  std::string first;
  std::uint64_t count = 0;
  for (const kube::Workload& each : picture.workloads) {
    if (each.stage == kube::Stage::finished || each.gpus() <= kube::kMostGpus) continue;
    if (count++ == 0) first = each.full_name();
  }
  if (count == 0) return "";
  return fmt::format("{} with more than {} GPUs, such as {}: lists and metrics show {}",
                     text::counted(count, "workload"), kube::kMostGpus, first, kube::kMostGpus);
}

std::string why_it_waits(const kube::Outlook* outlook) {
  if (outlook == nullptr) return "has just been submitted";
  if (!outlook->obstacle.empty()) return outlook->obstacle;
  if (!outlook->shortages.empty()) return kueue::to_string(outlook->shortages.front());
  if (outlook->blocker.empty()) return "it fits, and waits for its turn";
  return fmt::format("it fits, but its ClusterQueue is StrictFIFO and {} goes first",
                     outlook->blocker);
}

}  // namespace

struct Views::Index {
  std::shared_ptr<const Forecast> forecast;
  std::unordered_map<std::string_view, const kube::Workload*> workloads;
  struct Spot {
    const Line* line = nullptr;
    std::size_t place = 0;  ///< From 0.
  };
  std::unordered_map<std::string_view, Spot> spots;

  const kube::Outlook* outlook(const std::string& uid) const {
    const auto found = forecast->of.find(uid);
    return found == forecast->of.end() ? nullptr : &found->second;
  }
};

Views::Index Views::index() const {
  Index made;
  made.forecast = known_.forecaster->last();
  for (const kube::Workload& each : known_.picture->workloads) {
    made.workloads.emplace(each.uid, &each);
  }
  for (const Line& line : known_.lines) {
    for (std::size_t place = 0; place < line.places.size(); ++place) {
      const kube::Workload& workload = known_.decided_on->workloads[line.places[place].workload];
      made.spots.emplace(workload.uid, Index::Spot{&line, place});
    }
  }
  return made;
}

JobView Views::view_of(const store::Job& job, const std::string& uid, const Index& at) const {
  JobView made{.job = job};
  if (job.state != trace::JobState::pending) return made;
  const kube::Outlook* const outlook = at.outlook(uid);
  made.why = why_it_waits(outlook);
  if (const auto found = at.workloads.find(uid); found != at.workloads.end()) {
    made.why_word = found->second->reason;
    const Duration run = known_.run_times.expect(*found->second);
    if (run != kNoDuration && run != kube::Lifetimes::kForever) made.believed = run;
  }
  if (const auto spot = at.spots.find(uid); spot != at.spots.end()) {
    made.place = static_cast<std::int64_t>(spot->second.place) + 1;
  }
  if (outlook != nullptr) made.expected = expected_of(*outlook, at.forecast->picture->at);
  return made;
}

Result<std::vector<JobView>> Views::jobs(const service::Sought& sought) const {
  std::vector<JobView> made;
  std::map<store::JobNumber, JobView> ended;  // that the store may not have yet
  {
    const std::lock_guard lock(known_.mutex);
    const Index at = index();
    for (const auto& [number, uid] : known_.records->numbers()) {
      if (made.size() == sought.most) break;
      if (number <= sought.above) continue;
      const store::Job& job = *known_.records->find(uid);
      if (job.end != kNoTime) {
        ended.emplace(number, JobView{.job = job});
        continue;
      }
      if (!sought.wanted || sought.wanted(job)) made.push_back(view_of(job, uid, at));
    }
  }
  if (auto added = service::add_ended(known_.store, sought, std::move(ended), made); !added) {
    return tl::unexpected(added.error());
  }
  return made;
}

Result<JobView> Views::job(store::JobNumber number) const {
  {
    const std::lock_guard lock(known_.mutex);
    const auto found = known_.records->numbers().find(number);
    if (found != known_.records->numbers().end()) {
      return view_of(*known_.records->find(found->second), found->second, index());
    }
  }
  return service::kept_job(known_.store, number).map([](store::Job&& job) {
    return JobView{.job = std::move(job)};
  });
}

std::optional<service::Expected> Views::expected(store::JobNumber number) const {
  const auto view = job(number);
  return view ? view->expected : std::nullopt;
}

Result<std::vector<std::string>> Views::explain(store::JobNumber number) const {
  const auto view = job(number);
  if (!view) return tl::unexpected(view.error());
  const store::Job& job = view->job;
  const std::string shown = fmt::format("job {} ({})", number, job.asked->comment);
  if (job.state == trace::JobState::running) {
    return std::vector{fmt::format("{} runs in ClusterQueue {}", shown, job.asked->vc)};
  }
  if (job.state != trace::JobState::pending) {
    return std::vector{fmt::format("{} has ended: {}{}{}", shown, to_string(job.state),
                                   job.reason.empty() ? "" : ", ", job.reason)};
  }
  std::vector<std::string> lines{
      fmt::format("{} waits in ClusterQueue {}: {}", shown, job.asked->vc, view->why)};
  const std::lock_guard lock(known_.mutex);
  const Index at = index();
  const auto number_of_uid = known_.records->numbers().find(number);
  if (number_of_uid == known_.records->numbers().end()) return lines;
  const std::string& uid = number_of_uid->second;
  if (const kube::Outlook* const outlook = at.outlook(uid)) {
    for (std::size_t each = 1; each < outlook->shortages.size(); ++each) {
      lines.push_back(kueue::to_string(outlook->shortages[each]));
    }
    if (outlook->never_starts) {
      lines.emplace_back("it can never start under these quotas");
    } else if (outlook->obstacle.empty()) {
      lines.push_back(expected_start(*outlook, at.forecast->picture->at));
    }
  }
  if (const auto spot = at.spots.find(uid); spot != at.spots.end()) {
    std::string line = fmt::format("position {} of {} in Almanac's order", spot->second.place + 1,
                                   spot->second.line->places.size());
    if (view->believed) {
      line += ", expected run time " + text::human_time(seconds(*view->believed));
    }
    if (!spot->second.line->obstacle.empty()) {
      line += "; no rank is given here: " + spot->second.line->obstacle;
    }
    lines.push_back(std::move(line));
  }
  if (const auto found = at.workloads.find(uid); found != at.workloads.end()) {
    const kube::Workload& workload = *found->second;
    lines.push_back(fmt::format("Kueue says: {}, priority {}",
                                workload.reason.empty() ? "nothing" : workload.reason,
                                workload.priority));
  }
  return lines;
}

std::string Views::rests(const std::string& blind) const {
  return blind.empty() ? known_.lever.view().rests : blind;
}

std::vector<service::NodeView> Views::nodes() const {
  std::shared_ptr<const kube::Picture> picture;
  {
    const std::lock_guard lock(known_.mutex);
    picture = known_.picture;
  }
  std::vector<service::NodeView> made;
  for (const kube::Node& node : picture->nodes) {
    const std::int64_t gpus = std::min<std::int64_t>(node.gpus(), cluster::kMaxGpusPerNode);
    if (gpus == 0) continue;
    const auto amount = [&](const char* resource) {
      const auto found = node.allocatable.find(resource);
      return found == node.allocatable.end() ? 0.0 : static_cast<double>(found->second);
    };
    service::NodeView& view = made.emplace_back();
    view = {.name = node.name,
            .drained = !node.is_schedulable,
            .cpus = amount("cpu") / 1000,
            .memory_gb = amount("memory") / 1e9};
    for (int gpu = 0; gpu < gpus; ++gpu) {
      view.gpus.push_back({.number = gpu,
                           .name = node.product(),
                           .in_service = node.is_ready,
                           .trouble = node.is_ready ? "" : "its node is not ready"});
    }
  }
  return made;
}

service::Overview Views::overview() const {
  service::Overview made;
  for (const service::NodeView& node : nodes()) {
    for (const service::GpuView& gpu : node.gpus) {
      made.gpus += node.drained || !gpu.in_service ? 0 : 1;
    }
  }
  const std::string blind = known_.live->trouble();
  made.now = known_.live->now();
  made.started = known_.started;
  made.policy = kPolicy;
  made.manager = "kubernetes";
  const std::lock_guard lock(known_.mutex);
  made.revision = known_.revision;
  for (const kube::Workload& each : known_.picture->workloads) {
    if (each.holds_quota()) {
      ++made.running;
      made.gpus_busy += static_cast<int>(std::min(each.gpus(), kube::kMostGpus));
    } else if (each.stage == kube::Stage::pending) {
      ++(each.is_active && !each.is_gated ? made.waiting : made.held);
    }
  }
  made.gpu_share_busy = made.gpus_busy;
  if (!blind.empty()) {
    made.warnings.push_back("the API server does not answer, lever order rests: " + blind);
  }
  for (const auto* const notes : {&known_.picture->notes, &known_.picture->objects.not_modelled}) {
    made.warnings.insert(made.warnings.end(), notes->begin(), notes->end());
  }
  if (const std::string note = note_of_large(*known_.picture); !note.empty()) {
    made.warnings.push_back(note);
  }
  for (const std::string& each : known_.lever.warnings()) made.warnings.push_back(each);
  for (const std::string& each : alarms_of(known_.lines, known_.config.settings, rests(blind))) {
    made.warnings.push_back(each);
  }
  for (const Line& line : known_.lines) {
    if (line.obstacle.empty() || line.is_strict) continue;
    made.warnings.push_back(fmt::format("queue {} gets no ranks: {}", line.queue, line.obstacle));
  }
  made.trouble = known_.trouble;
  return made;
}

service::Counters Views::counters() const {
  const std::lock_guard lock(known_.mutex);
  service::Counters made = known_.counters;
  made.records = known_.records->numbers().size();
  return made;
}

service::Manager Views::manager() const {
  const std::string blind = known_.live->trouble();
  const std::lock_guard lock(known_.mutex);
  service::Manager made{.name = "kubernetes",
                        .version = known_.picture->version,
                        .way = "Kueue's API",
                        .trouble = blind,
                        .round_s = known_.counters.last_round_s,
                        .news_s = known_.news_s,
                        .changes_per_s = OrderLever::kWritesPerSecond,
                        .levers = {known_.lever.view()}};
  for (service::LeverView& each :
       backfill_views(known_.lines, known_.config.settings, rests(blind))) {
    made.levers.push_back(std::move(each));
  }
  for (const kube::Workload& each : known_.picture->workloads) {
    if (each.stage == kube::Stage::pending) ++made.excluded;
  }
  for (const Line& line : known_.lines) made.excluded -= std::ssize(line.places);
  made.excluded = std::max<std::int64_t>(0, made.excluded);
  return made;
}

std::shared_ptr<const cluster::Cluster> Views::cluster() const {
  std::shared_ptr<const kube::Picture> picture;
  {
    const std::lock_guard lock(known_.mutex);
    picture = known_.picture;
  }
  const std::string toml = kube::cluster_toml(*picture);
  auto read = cluster::parse_toml(toml, "the cluster");
  if (toml.empty() || !read) return std::make_shared<const cluster::Cluster>();
  return std::make_shared<const cluster::Cluster>(*std::move(read));
}

}  // namespace almanac::steer_kube
