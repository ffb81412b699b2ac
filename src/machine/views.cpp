// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/sockets.h"
#include "machine/core.h"
#include "machine/environment.h"
#include "machine/life.h"
#include "machine/slurm_word.h"
#include "service/inquest.h"
#include "service/job.h"
#include "service/pace.h"
#include "service/policies.h"
#include "service/tenancy.h"
#include "shepherd/terminal_words.h"
#include "text/datetime.h"
#include "text/duration.h"

namespace almanac::machine {

using policy::Phase;
using service::JobView;
using service::Outlook;
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

std::string Core::why_later(const Entry& entry, std::string& word) const {
  const store::Job& job = entry.job;
  if (job.again_at <= job.asked->not_before) {
    word = "BeginTime";
    return "is not to begin yet";
  }
  const std::string when = text::format_datetime(ceil<std::chrono::seconds>(job.again_at));
  if (const std::string* const why = starter_.jobs.why(job.number)) {
    word = "JobLaunchFailure";
    return starter_.trouble().empty()
               ? fmt::format("could not be started, and is tried again at {}: {}", when, *why)
               : starter_.trouble();
  }
  word = "BeginTime";
  return fmt::format("failed, and is tried again at {} (retry {} of {})", when, job.failures,
                     job.asked->retries);
}

std::string Core::why_aside(const Entry& entry, std::string& word) const {
  if (awaits_its_end(entry.job)) {
    word = "Completing";
    return fmt::format("is {}, and its process is about to go",
                       entry.job.reason.empty() ? "to run again" : entry.job.reason);
  }
  const WaitsFor room = waits_for(entry);
  switch (room.what) {
    case WaitsFor::What::release:
      word = "JobHeldUser";
      return "is held by a user";
    case WaitsFor::What::time:
      return why_later(entry, word);
    case WaitsFor::What::others:
      word = "Dependency";
      return "comes after a job that has not ended";
    case WaitsFor::What::namesake:
      word = "Dependency";
      return "comes after earlier jobs of its user and name (singleton)";
    case WaitsFor::What::array:
      word = "JobArrayTaskLimit";
      return "as many tasks of its array run as may at once";
    case WaitsFor::What::account:
      word = "JobLaunchFailure";
      return fmt::format("cannot be started: {}", accounts_.why(entry.job.asked->uid));
    case WaitsFor::What::maintenance:
    case WaitsFor::What::a_look:
    case WaitsFor::What::nothing:
      break;
  }
  if (holds_back_) {
    word = "Learning";
    return "waits until the policy has learned from the jobs that have ended";
  }
  if (const service::Window* const window = maintenance_.bars(entry.job.asked->time_limit, now_)) {
    word = "Maintenance";
    return fmt::format("{} before the maintenance {}",
                       entry.job.asked->time_limit == kNoDuration ? "has no time limit to end by"
                                                                  : "would not have ended",
                       to_words(*window));
  }
  word = "Starting";
  return "is about to join the queue";
}

std::int64_t Core::place_of(JobId job) const {
  const std::vector<std::int64_t>& all = places();
  return index(job) < all.size() ? all[index(job)] : 0;
}

const std::vector<std::int64_t>& Core::places() const {
  using Clock = std::chrono::steady_clock;
  // 300,000 take 5 ms, for which the deciding thread waits: a twentieth of the time at most.
  constexpr std::size_t kMany = 10'000;
  constexpr int kRest = 20;
  const bool may_be_old = numbers_.size() > kMany && Clock::now() < line_.good_until;
  if (!line_.has_changed || may_be_old) return line_.places;
  const auto begun = Clock::now();
  std::vector<JobId> line;
  if (!holds_back_) round_->line_up(line);
  line_.places.assign(numbers_.size(), 0);
  std::vector<std::int64_t> last(config_.machine.cluster.vcs.size());
  for (const JobId job : line) {
    line_.places[index(job)] = ++last[index(round_->progress(job).vc)];
  }
  line_.has_changed = false;
  line_.good_until = Clock::now() + kRest * (Clock::now() - begun);
  return line_.places;
}

std::vector<const Entry*> Core::holders() const {
  std::set<JobNumber> numbers = processes_;
  numbers.insert(deeds_.start.begin(), deeds_.start.end());
  std::vector<const Entry*> made;
  for (const JobNumber number : numbers) {
    const Entry* const entry = book_.find(number);
    const bool holds =
        entry != nullptr && (entry->job.state == JobState::running || entry->makes_room);
    if (holds) made.push_back(entry);
  }
  return made;
}

JobView Core::view_of(const Entry& entry) const {
  JobView made{.job = as_seen(entry.job, entry.process())};
  if (entry.of_runs->progress) made.step = entry.of_runs->progress->step;
  if (entry.of_runs->progress && entry.of_runs->progress->metric) {
    made.metric = entry.of_runs->progress->metric->value;
    made.metric_step = entry.of_runs->progress->metric->step;
  }
  if (entry.is_starting()) {
    made.why = !starter_.trouble().empty() ? starter_.trouble()
               : !not_left(entry).empty()  ? "has its GPUs once the job before has left them"
                                           : "has its GPUs, and is about to begin";
    made.why_word = starter_.trouble().empty() ? "Starting" : "JobLaunchFailure";
  }
  if (entry.job.state != JobState::pending) return made;
  if (!in_round(entry, Phase::waiting)) {
    made.why = why_aside(entry, made.why_word);
    return made;
  }
  const policy::Reason reason = round_->why_waiting(now_, entry.id);
  const std::string other =
      reason.other == kNoJob
          ? std::string()
          : std::to_string(static_cast<std::int64_t>(numbers_[index(reason.other)]));
  made.why = policy::to_string(reason, other);
  made.why_word = slurm_word(reason.kind);
  made.place = place_of(entry.id);
  return made;
}

void Core::look_at_all(JobNumber above,
                       const std::function<std::optional<int>(const Entry&)>& look) const {
  constexpr int kPart = 2000;
  for (bool has_more = true; has_more;) {
    const std::lock_guard lock(mutex_);
    auto at = book_.all().upper_bound(above);
    for (int left = kPart; at != book_.all().end() && left > 0; ++at) {
      const std::optional<int> cost = look(at->second);
      if (!cost) return;
      left -= *cost;
      above = at->first;
    }
    has_more = at != book_.all().end();
  }
}

Result<std::vector<JobView>> Core::jobs(const service::Sought& sought) const {
  std::vector<JobView> made;
  std::map<JobNumber, JobView> ended;  // some are here and in the store, for a moment
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
  if (auto added = service::add_ended(store_, sought, std::move(ended), made); !added) {
    return tl::unexpected(added.error());
  }
  return made;
}

Result<JobView> Core::job(JobNumber number) const {
  std::optional<JobView> known;
  std::string folder;  // of its run
  {
    const std::lock_guard lock(mutex_);
    if (const Entry* const entry = book_.find(number)) {
      known = view_of(*entry);
      if (entry->run) folder = entry->run->folder();
    }
  }
  // Only now: one that is not here any more is there as it ended.
  auto kept = service::kept_job(store_, number);
  if (!kept) return tl::unexpected(kept.error());
  if (!known) return JobView{.job = *std::move(kept)};
  known->job.asked = std::move(kept->asked);  // what it runs is there only
  if (config_.speeds && known->job.state == JobState::running) {
    known->pace = service::pace_of(number, beside(number),
                                   {.cluster = config_.machine.cluster,
                                    .speeds = *config_.speeds,
                                    .power = config_.power ? &*config_.power : nullptr});
  }
  if (folder.empty()) return *std::move(known);
  if (known->job.asked->pty) known->terminal = folder + shepherd::kTerminalFile;
  if (const auto means = shepherd::means_of(folder)) known->limits_by = to_string(*means);
  return *std::move(known);
}

std::vector<store::Job> Core::beside(JobNumber number) const {
  const std::lock_guard lock(mutex_);
  std::vector<store::Job> made;
  const Entry* const own = book_.find(number);
  if (own == nullptr || own->job.state != JobState::running) return made;
  for (const Entry* const entry : holders()) {
    const bool runs = entry->job.state == JobState::running;
    if (runs && (entry == own || service::share_a_gpu(own->job, entry->job)))
      made.push_back(entry->job);
  }
  return made;
}

Result<service::Tenancy> Core::tenancy() const {
  return tenancy_.get([this] { return tenancy_now(); });
}

Result<service::Tenancy> Core::tenancy_now() const {
  std::vector<store::Job> jobs;
  Time now{};
  Duration half_life{};
  {
    const std::lock_guard lock(mutex_);
    now = now_;
    half_life = service::half_life_of(composition_);
  }
  look_at_all({}, [&](const Entry& entry) -> std::optional<int> {
    if (entry.job.asked->gpus > 0) jobs.push_back(entry.job);
    return 2;
  });
  auto ended = store_.ended(now - service::kLesson, service::kLessons);
  if (!ended) return tl::unexpected(ended.error());
  std::set<JobNumber> known;  // what has just ended is here and in the store
  for (const store::Job& job : jobs) known.insert(job.number);
  for (store::Job& job : *ended) {
    if (!known.contains(job.number)) jobs.push_back(std::move(job));
  }
  const cluster::Cluster& cluster = config_.machine.cluster;
  return service::tenancy_of(
      jobs, cluster, [&](const store::Job& job) { return service::tenant_of(job, cluster); }, now,
      half_life);
}

service::Overview Core::overview() const {
  const std::lock_guard lock(mutex_);
  service::Overview made{.revision = revision_,
                         .now = now_,
                         .started = started_,
                         .policy = config_.policy,
                         .shadow = config_.shadow,
                         .waiting = book_.counts().waiting,
                         .held = book_.counts().held,
                         .running = book_.counts().running};
  const cluster::Ledger& ledger = round_->ledger();
  made.gpus = config_.machine.cluster.gpus() - static_cast<int>(out_.gpus.size());
  made.gpu_share_busy = static_cast<double>(ledger.busy_gpu_milli()) / cluster::kWholeGpu;
  made.gpus_busy = gpus_busy();
  made.power_w = draw_w();
  made.power_is_measured = !gpu_w_.empty();
  made.limits_by = config_.machine.limits_by;
  made.warnings = config_.machine.notes;
  for (const service::Window& each : maintenance_.windows()) {
    made.warnings.push_back(fmt::format("maintenance {}", to_words(each)));
  }
  made.trouble = outbox_.trouble();
  if (!made.trouble.empty()) made.warnings.push_back(made.trouble);
  if (!starter_.trouble().empty()) made.warnings.push_back(starter_.trouble());
  for (std::string& each : accounts_.warnings()) made.warnings.push_back(std::move(each));
  if (learns_ && !holds_back_) {
    made.warnings.push_back(
        "jobs start, though the policy has not learned yet from the jobs that have ended");
  }
  if (const auto& refused = outbox_.refused(); !refused.empty()) {
    made.warnings.push_back(
        fmt::format("the store does not take the record of job {}{}", *refused.begin(),
                    refused.size() == 1 ? "" : fmt::format(" and {} more", refused.size() - 1)));
  }
  const std::string& clock_trouble = forgetting_.clock_trouble();
  if (!clock_trouble.empty()) made.warnings.push_back(clock_trouble);
  return made;
}

service::Counters Core::counters() const {
  const std::lock_guard lock(mutex_);
  service::Counters made = counters_;
  made.records = trace_->jobs.size();
  return made;
}

std::vector<service::NodeView> Core::nodes() const {
  const std::lock_guard lock(mutex_);
  return nodes_now();
}

std::vector<service::NodeView> Core::nodes_now() const {
  const cluster::Cluster& cluster = config_.machine.cluster;
  std::vector<service::NodeView> made(cluster.nodes.size());
  for (std::size_t at = 0; at < made.size(); ++at) {
    const cluster::Node& node = cluster.nodes[at];
    const cluster::NodeClass& make = cluster.classes[node.node_class];
    const NodeId id{static_cast<std::uint32_t>(at)};
    made[at] = {.name = cluster.node_label(id),
                .vc = cluster.vcs[index(node.vc)].name,
                .drained = round_->ledger().drained(id),
                .cpus = make.cpus,
                .memory_gb = make.memory_gb,
                .connections = cluster::told_connections(make)};
    for (int gpu = 0; gpu < make.gpus; ++gpu) {
      service::GpuView& view = made[at].gpus.emplace_back();
      view.number = gpu;
      view.name = config_.machine.gpu_names[at][static_cast<std::size_t>(gpu)];
      const auto trouble = out_.gpus.find({id, gpu});
      view.in_service = trouble == out_.gpus.end();
      if (!view.in_service) view.trouble = trouble->second;
    }
  }
  for (const Standing& each : config_.machine.standing) {
    const cluster::Node& node = cluster.nodes[index(each.node)];
    const slices::Board& board = *cluster.classes[node.node_class].board;
    made[index(each.node)].gpus[static_cast<std::size_t>(each.gpu)].instances.push_back(
        fmt::format("{}@{}", board[each.place.profile].name, each.place.slice));
  }
  for (const Entry* const entry : holders()) {
    for (const cluster::Grant& grant : entry->job.held_gpus) {
      // What is to end may hold what a cluster file of before had.
      if (index(grant.node) >= made.size()) continue;
      service::NodeView& node = made[index(grant.node)];
      node.cpus_held += grant.cpu_milli / 1e3;
      node.memory_held_gb += grant.memory_mb / 1e3;
      for (service::GpuView& gpu : node.gpus) {
        if ((grant.gpus >> static_cast<unsigned>(gpu.number) & 1U) != 0)
          gpu.jobs.push_back(entry->job.number);
      }
    }
  }
  return made;
}

Patients Core::patients() {
  const std::lock_guard lock(mutex_);
  Patients made{.now = clock_.now(), .all = {}};
  for (const JobNumber number : processes_) {
    const Entry& entry = *book_.find(number);
    made.all.push_back({.job = number,
                        .shepherd = entry.run->shepherd(),
                        .folder = entry.run->folder(),
                        .held = entry.job.held_gpus,
                        .asks_part = entry.job.asked->gpu_share < 1});
  }
  return made;
}

int Core::gpus_busy() const {
  int busy = 0;
  for (const service::NodeView& node : nodes_now()) {
    for (const service::GpuView& gpu : node.gpus) busy += gpu.jobs.empty() ? 0 : 1;
  }
  return busy;
}

std::vector<const Entry*> Core::next_in_line() const {
  const std::vector<std::int64_t>& stands = places();
  std::vector<JobId> line;
  for (std::uint32_t id = 0; id < stands.size(); ++id) {
    if (stands[id] > 0) line.push_back(JobId{id});
  }
  if (line.size() > Outlook::kMostWaiting) {
    const auto last = line.begin() + Outlook::kMostWaiting;
    std::nth_element(line.begin(), last, line.end(), [&](JobId a, JobId b) {
      return std::pair(stands[index(a)], a) < std::pair(stands[index(b)], b);
    });
    line.erase(last, line.end());
  }
  std::vector<const Entry*> made;
  for (const JobId id : line) {
    const Entry* const entry = book_.find(numbers_[index(id)]);
    // Else it has left the line since that was looked up.
    if (entry != nullptr && in_round(*entry, Phase::waiting)) made.push_back(entry);
  }
  // Those that a limit leaves aside, and all of a policy without a line.
  for (const auto& [number, entry] : book_.all()) {
    if (made.size() >= Outlook::kMostWaiting) break;
    const bool is_in_line = index(entry.id) < stands.size() && stands[index(entry.id)] > 0;
    if (!is_in_line && in_round(entry, Phase::waiting)) made.push_back(&entry);
  }
  return made;
}

Outlook Core::present() const {
  const std::lock_guard lock(mutex_);
  return look();
}

Outlook Core::outlook() {
  const std::lock_guard lock(mutex_);
  Outlook made = look();
  made.ended = std::exchange(ended_, {});
  return made;
}

Outlook Core::look() const {
  Outlook made{.revision = revision_, .at = now_, .composition = composition_};
  made.age_cap = config_.age_cap;
  const auto add = [&](const Entry& entry) {
    const policy::Progress& state = round_->progress(entry.id);
    made.jobs.push_back({.job = entry.job,
                         .past = {.since = state.since,
                                  .start = state.start,
                                  .attained = state.attained,
                                  .charged = state.charged,
                                  .preemptions = state.preemptions},
                         .runs = state.phase == Phase::running});
  };
  for (const Entry* const entry : holders()) {
    if (in_round(*entry, Phase::running)) add(*entry);
  }
  for (const Entry* const entry : next_in_line()) add(*entry);
  std::sort(made.jobs.begin(), made.jobs.end(), [](const Outlook::One& a, const Outlook::One& b) {
    return std::pair(a.past.since, a.job.number) < std::pair(b.past.since, b.job.number);
  });
  for (std::uint32_t node = 0; node < config_.machine.cluster.nodes.size(); ++node) {
    if (round_->ledger().drained(NodeId{node})) made.drained.push_back(NodeId{node});
  }
  return made;
}

void Core::keep(std::vector<store::Told> told) {
  {
    const std::lock_guard lock(mutex_);
    // Of one that is gone the store may know nothing.
    for (const store::Told& each : told) {
      if (book_.find(each.job) != nullptr) outbox_.told(each);
    }
  }
  wake();
}

Result<std::string> Core::log_path(JobNumber number, bool err) const {
  return service::kept_job(store_, number).map([&](const store::Job& job) {
    return service::log_of(job, err);
  });
}

std::shared_ptr<const cluster::Cluster> Core::cluster() const {
  // It lives as long as this does.
  return {std::shared_ptr<void>(), &config_.machine.cluster};
}

std::string Core::beside_age_cap(JobNumber number) const {
  if (config_.age_cap == kNoDuration) return "";
  const std::lock_guard lock(mutex_);
  const Entry* const entry = book_.find(number);
  if (entry == nullptr || !in_round(*entry, Phase::waiting)) return "";
  const Duration waited = std::max(Duration{0}, now_ - round_->progress(entry->id).since);
  if (waited >= config_.age_cap) return "";
  return fmt::format(
      "it goes before all others once it has waited {} (the age cap); it has waited {}",
      text::format_duration(config_.age_cap), text::format_duration(waited / 1s * 1s));
}

Result<std::vector<std::string>> Core::explain(JobNumber number, service::Eyes eyes) const {
  const auto view = Core::job(number);
  if (!view) return tl::unexpected(view.error());
  const store::Job& job = view->job;
  std::vector<std::string> lines;
  const std::string shown = fmt::format("job {}", number);
  switch (job.state) {
    case JobState::pending:
      lines.push_back(fmt::format("{} waits under {}: {}", shown, config_.policy, view->why));
      if (const std::string line = beside_age_cap(number); !line.empty()) lines.push_back(line);
      break;
    case JobState::running:
      lines.push_back(fmt::format("{} runs on {}", shown, where_text(job, config_.machine)));
      if (awaits_its_end(job)) {
        lines.push_back(fmt::format("it was told to end: {}", job.reason));
      }
      break;
    default:
      lines.push_back(fmt::format("{} has ended: {}{}{}", shown, to_string(job.state),
                                  job.reason.empty() ? "" : ", ", job.reason));
  }
  std::vector<std::string> changes;
  if (job.state != JobState::pending) {
    const auto notes = store_.notes(number);
    if (!notes) return tl::unexpected(notes.error());
    changes = changes_of_last_run(*notes, eyes);
  }
  if (std::ssize(changes) > kChangesShown) {
    lines.push_back(
        fmt::format("{} earlier changes of its size", std::ssize(changes) - kChangesShown));
    changes.erase(changes.begin(), changes.end() - kChangesShown);
  }
  lines.insert(lines.end(), changes.begin(), changes.end());
  const cluster::Cluster& cluster = config_.machine.cluster;
  const TenantId tenant = service::tenant_of(job, cluster);
  if (tenant == kNoTenant) return lines;
  if (const auto known = tenancy()) {
    const std::string line = service::beside_its_due(*known, cluster.tenants[index(tenant)].name);
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

}  // namespace almanac::machine
