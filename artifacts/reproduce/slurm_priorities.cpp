// SPDX-License-Identifier: Apache-2.0
#include "reproduce/slurm_priorities.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/slurm_changes.h"
#include "site/read.h"
#include "site/read_config.h"
#include "text/host_list.h"
#include "text/number.h"

namespace almanac::reproduce {
namespace {

using slurmctld::kNowhere;
using std::string_view;

std::uint32_t position(const auto& all, const auto* found) {
  return found == nullptr ? kNowhere : static_cast<std::uint32_t>(found - all.data());
}

std::int64_t count_of(const site::TresCounts& counts, site::TresIndex tres) {
  for (const site::TresCount& each : counts) {
    if (each.tres == tres) return each.count;
  }
  return 0;
}

}  // namespace

std::optional<File> find_table(const Bench& bench, const SlurmScenario& scenario,
                               string_view name) {
  const std::filesystem::path folder = std::filesystem::path(scenario.file.name).parent_path();
  return bench.find((folder / name).string());
}

PriorityReplay::PriorityReplay(const Bench& bench, const SlurmScenario& scenario)
    : scenario_(scenario),
      priorities_(std::make_unique<slurmctld::Priorities>(scenario.site)),
      array_eligible_() {
  // MinJobAge is longer than a scenario.
  priorities_->keep_ended_jobs();
  read_instants(bench);
  for (const SlurmRun& run : scenario_.runs) {
    if (!run.eligible) continue;
    const auto [at, is_new] = array_eligible_.emplace(run.array(), *run.eligible);
    if (!is_new) at->second = std::min(at->second, *run.eligible);
  }
  for (std::size_t index = 0; index < scenario_.runs.size(); ++index) schedule_run(index);
  for (std::size_t index = 0; index < computed_.size(); ++index) {
    if (!is_submission_[index]) events_.push_back({computed_[index].first, Kind::update, index});
  }
  for (std::size_t index = 0; index < plans_.size(); ++index) {
    events_.push_back({plans_[index].at, Kind::plan, index});
  }
  for (const Time each : passes_) events_.push_back({each, Kind::pass, 0});
  for (const Time each : scenario_.log.queues) events_.push_back({each, Kind::queue, 0});
  for (std::size_t index = 0; index < scenario_.log.judged.size(); ++index) {
    events_.push_back({scenario_.log.judged[index].first, Kind::judge, index});
  }
  schedule_changes();
  std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    return std::pair(a.at, a.kind) < std::pair(b.at, b.kind);
  });
}

void PriorityReplay::read_instants(const Bench& bench) {
  if (const auto file = find_table(bench, scenario_, "decay_passes.csv")) {
    Rows rows(file->path, {"epoch", "seconds"});
    while (rows.next()) {
      const Time at = parse_epoch(rows.text("epoch"));
      // The first pass has nothing to decay, and no row: only its second is known.
      if (passes_.empty()) {
        passes_.emplace_back(std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()) -
                             std::chrono::seconds(rows.whole("seconds")));
      }
      passes_.push_back(at);
    }
  }
  if (passes_.empty() && !scenario_.runs.empty()) {
    passes_.push_back(scenario_.runs.front().submit - 1s);
  }
  if (const auto file = find_table(bench, scenario_, "priority_log.csv")) {
    Rows rows(file->path, {"epoch", "job_id"});
    std::set<std::uint32_t> seen;
    while (rows.next()) {
      const Time at = parse_epoch(rows.text("epoch"));
      const auto number = static_cast<std::uint32_t>(rows.whole("job_id"));
      const bool in_pass = std::any_of(passes_.begin(), passes_.end(),
                                       [&](Time pass) { return at >= pass && at < pass + 1s; });
      if (seen.insert(number).second || !in_pass) computed_.emplace_back(at, number);
    }
    is_submission_.assign(computed_.size(), false);
  }
  if (const auto file = find_table(bench, scenario_, "plans.csv")) {
    Rows rows(file->path, {"epoch", "job_id", "nodes"});
    while (rows.next()) read_plan(rows);
  }
}

/// The select plugin's test of a job sets the CPUs it counts: whole nodes for --exclusive. For any
/// other job these are what it gets when it starts.
void PriorityReplay::read_plan(const Rows& rows) {
  const std::string_view id = rows.text("job_id");  // "18_*" is an array
  const auto number = text::parse_whole(id.substr(0, id.find('_')));
  const auto run = std::find_if(scenario_.runs.begin(), scenario_.runs.end(),
                                [&](const SlurmRun& each) { return each.number == number; });
  if (run == scenario_.runs.end()) return;
  std::int64_t cpus = count_of(run->held, site::kCpu);
  if (run->is_exclusive()) {
    cpus = 0;
    for (const std::string& name : value_or_throw(text::expand_hosts(rows.text("nodes")))) {
      const site::Node* const node = scenario_.site.find_node(name);
      rows.require(node != nullptr, fmt::format("no node is called {}", name));
      cpus += node->effective_cpus;
    }
  }
  if (cpus == 0) return;
  plans_.push_back(
      {parse_epoch(rows.text("epoch")), run->number, static_cast<std::uint32_t>(cpus)});
}

void PriorityReplay::schedule_run(std::size_t index) {
  const SlurmRun& run = scenario_.runs[index];
  Time submitted =
      SlurmLog::find(scenario_.log.submitted, run.number, run.submit).value_or(run.submit);
  // A run that was requeued has ended before, in the same second.
  const auto before = left_.find(run.number);
  if (before != left_.end()) submitted = std::max(submitted, before->second);
  // A held job has no priority until it is released. An array is one job until its tasks start.
  const bool is_held = run.is_held_at_submission();
  std::optional<Time> released;
  const auto array = text::parse_whole(run.array());
  for (std::size_t at = 0; at < computed_.size(); ++at) {
    const auto& [when, number] = computed_[at];
    if ((number != run.number && number != array) || when < run.submit) continue;
    if (is_held ? when > run.start.value_or(kNever) : when >= run.submit + 2s) continue;
    is_submission_[at] = true;
    (is_held ? released.emplace() : submitted) = when;
    break;
  }
  events_.push_back({submitted, Kind::submit, index});
  if (run.start) {
    const auto start = SlurmLog::find(scenario_.log.started, run.number, *run.start);
    events_.push_back({std::max(start.value_or(*run.start), submitted), Kind::start, index});
  }
  if (is_held && (released || run.eligible)) {
    events_.push_back(
        {std::max(released ? *released : *run.eligible, submitted), Kind::release, index});
  }
  if (run.end) {
    const auto end = SlurmLog::find(scenario_.log.ended, run.number, *run.end);
    left_[run.number] = std::max(end.value_or(*run.end), submitted);
    events_.push_back({left_[run.number], Kind::end, index});
  }
}

void PriorityReplay::schedule_changes() {
  std::map<std::string, std::string> changed;
  site::Site now = scenario_.site;
  for (const SlurmCommand& each : scenario_.commands) {
    if (each.is_refused) continue;
    if (const auto setting = changed_setting(each.text)) {
      changed[setting->first] = setting->second;
      const site::Config config = value_or_throw(site::with_settings(scenario_.site, changed));
      events_.push_back({each.at, Kind::configure, settings_.size()});
      settings_.push_back(config.priority);
    }
    if (apply_sacctmgr(each.text, now)) {
      events_.push_back({each.at, Kind::accounts, sites_.size()});
      sites_.push_back(now);
    }
  }
}

Time PriorityReplay::eligible(const SlurmRun& run) const {
  return array_eligible_.find(run.array())->second;
}

void PriorityReplay::submit(const SlurmRun& run, Time at) {
  if (priorities_->knows(run.number)) {
    priorities_->requeue(run.number, at);
    if (run.eligible) priorities_->set_eligible(run.number, *run.eligible);
    return;
  }
  const site::Site& site = scenario_.site;
  slurmctld::PriorityJob job;
  job.number = run.number;
  const std::string& in = run.partitions.empty() ? run.partition : run.partitions.front();
  const std::int32_t association = site.find_association(run.account, run.user, in);
  if (association >= 0) job.association = static_cast<std::uint32_t>(association);
  job.qos = position(site.qos, site.find_qos(run.qos));
  for (const std::string& each : run.partitions) {
    const site::Partition* const partition = site.find_partition(each);
    if (partition != nullptr) job.partitions.push_back(position(site.partitions, partition));
  }
  job.size = {.min_nodes = static_cast<std::uint32_t>(count_of(run.requested, site::kNode)),
              .cpus = static_cast<std::uint32_t>(count_of(run.requested, site::kCpu)),
              .limit_min = run.limit_min,
              .requested = run.requested};
  job.nice = run.nice;
  priorities_->submit(std::move(job), at);
  if (run.eligible) priorities_->set_eligible(run.number, eligible(run));
  if (run.is_held_at_submission()) priorities_->hold(run.number);
}

void PriorityReplay::play(const Event& event) {
  switch (event.kind) {
    case Kind::submit:
      submit(scenario_.runs[event.index], event.at);
      break;
    case Kind::start: {
      // A scheduler built its queue just before.
      if (scenario_.log.queues.empty()) priorities_->build_queue(event.at);
      const SlurmRun& run = scenario_.runs[event.index];
      const site::Partition* const partition = scenario_.site.find_partition(run.partition);
      require(partition != nullptr, fmt::format("no partition is called {}", run.partition));
      priorities_->start(run.number, *run.start, position(scenario_.site.partitions, partition),
                         run.held);
      break;
    }
    case Kind::end:
      priorities_->end(scenario_.runs[event.index].number, *scenario_.runs[event.index].end);
      break;
    case Kind::release: {
      const SlurmRun& run = scenario_.runs[event.index];
      priorities_->release(run.number, event.at);
      if (run.eligible) priorities_->set_eligible(run.number, eligible(run));
      break;
    }
    case Kind::update: {
      const std::uint32_t number = computed_[event.index].second;
      if (priorities_->knows(number)) priorities_->update(number, event.at);
      break;
    }
    case Kind::plan:
      if (priorities_->knows(plans_[event.index].number)) {
        priorities_->set_total_cpus(plans_[event.index].number, plans_[event.index].cpus);
      }
      break;
    case Kind::queue:
      priorities_->build_queue(event.at);
      break;
    case Kind::pass:
      if (scenario_.log.queues.empty()) priorities_->build_queue(event.at);
      priorities_->pass(event.at);
      break;
    case Kind::judge: {
      const auto& [account, user] = scenario_.log.judged[event.index].second;
      const std::int32_t at = scenario_.site.find_association(account, user, "");
      if (at >= 0) priorities_->judge_user(static_cast<std::uint32_t>(at));
      break;
    }
    case Kind::configure:
      priorities_->reconfigure(settings_[event.index]);
      break;
    case Kind::accounts:
      priorities_->change_accounts(sites_[event.index]);
      break;
  }
}

void PriorityReplay::advance(Time until) {
  while (next_ < events_.size() && events_[next_].at <= until) play(events_[next_++]);
}

void PriorityReplay::judge_users() {
  if (!scenario_.log.judged.empty()) return;
  for (slurmctld::AssociationAt at = 0; at < scenario_.site.associations.size(); ++at) {
    if (!scenario_.site.associations[at].is_account()) priorities_->judge_user(at);
  }
}

std::optional<Time> PriorityReplay::last_judged(Time from, Time until) const {
  std::optional<Time> last;
  for (const auto& [at, user] : scenario_.log.judged) {
    if (at > from && at <= until) last = at;
  }
  return last;
}

const slurmctld::Score* PriorityReplay::score(std::uint32_t number) const {
  return priorities_->knows(number) ? &priorities_->score(number) : nullptr;
}

}  // namespace almanac::reproduce
