// SPDX-License-Identifier: Apache-2.0
#include "steer/decision.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "policy/registry.h"
#include "schedule/hosts.h"
#include "schedule/past_use.h"
#include "steer/occupancy.h"
#include "steer/record.h"
#include "steer/tenants.h"

namespace almanac::steer {

using policy::EventKind;
using policy::Phase;
using slurm::JobNumber;

namespace {

/// So often a round is planned, until all that starts is where Slurm would start it.
constexpr int kPlans = 5;
/// A time that no job runs for, and that no policy is told to let a move cost.
constexpr float kNeverS = 1e12F;

std::uint32_t subject(JobId job) { return static_cast<std::uint32_t>(index(job)); }

}  // namespace

const slurm::Job* Decision::find(JobNumber job, const Mirror& mirror) const {
  if (const slurm::Job* const known = mirror.find(job)) return known;
  const auto told = std::find_if(announced.begin(), announced.end(),
                                 [&](const slurm::Job& each) { return each.number == job; });
  return told == announced.end() ? nullptr : &*told;
}

Decider::Decider(Chosen policy, trace::Trace lessons, std::uint64_t seed,
                 std::shared_ptr<const perf::Catalogue> speeds)
    : chosen_(std::move(policy)),
      seed_(seed),
      trace_(std::move(lessons)),
      beliefs_(chosen_.composition, trace_),
      catalogue_(std::move(speeds)) {
  for (const trace::Job& job : trace_.jobs) {
    schedule::add_past_use(job.request, kNoTenant, job.outcome.start, job.outcome.end,
                           job.outcome.run, learned_use_);
    type_speeds_->learn(job, trace_.names);
  }
  trace_.jobs = {};
}

std::optional<Time> Decider::instant(Time now) const {
  const Duration lease = policy::registry().lease(chosen_.composition);
  if (lease == Duration{0}) return now;
  const Time begun{now.time_since_epoch() / lease * lease};
  if (decision_.at != kNoTime && begun <= decision_.at) return std::nullopt;
  return begun;
}

const Decision& Decider::decide(const Mirror& mirror, std::shared_ptr<const World> world,
                                const Exempt& exempt, std::span<const slurm::Job> announced,
                                const std::set<JobNumber>& in_vain) {
  const auto at = instant(mirror.at());
  if (!at) return decision_;
  pinned_.clear();
  elsewhere_.clear();
  suitable_.emplace(mirror, *world);
  if (chosen_.only_moves) freedom_.emplace(mirror, *world);
  past_use_ = past_use(mirror, *world);
  const auto to_start_since = std::exchange(decision_.to_start_since, {});
  for (int tries = 1;; ++tries) {
    begin(*at, world);
    quotas_.emplace(mirror);
    if (!quotas_->empty()) round_->keep(quotas_->book());
    // What runs stays on nodes where nothing may start any more.
    take_running(mirror, exempt);
    take_nodes(mirror);
    take_pinned(mirror);
    take_waiting(mirror, exempt, in_vain);
    take_announced(announced);
    num_shown_ = numbers_.size();
    look_who_may_share(mirror, exempt);
    run();
    if (!move_misplaced(mirror, tries == kPlans)) break;
  }
  suitable_.reset();
  freedom_.reset();
  note_quotas(mirror);
  read_plan();
  note_starts(to_start_since);
  rank_limited(mirror);
  find_clashes();
  return decision_;
}

void Decider::begin(Time at, std::shared_ptr<const World> world) {
  round_.reset();
  decision_ = Decision{.at = at, .world = std::move(world)};
  trace_.jobs.clear();
  numbers_.clear();
  events_.clear();
  started_.clear();
  off_.clear();
  shown_.clear();
  places_.clear();
  speeds_.reset();
  policy_ = schedule::make_policy(
      chosen_.composition,
      schedule::RealHost{
          .estimator = beliefs_.for_round(numbers_),
          .past_use = past_use_,
          .past_reports = {},  // jobs of a Slurm report no metrics
          .type_speeds = type_speeds_,
          .may_share = [this](JobId host, JobId guest) { return may_share(host, guest); },
          .is_on = [this](NodeId node) { return !off_.contains(node); }},
      schedule::kNoSiteRules);
  round_ = std::make_unique<schedule::Round>(decision_.world->cluster, trace_, *policy_, *this,
                                             kNoRestartCost, seed_, chosen_.composition.name);
}

bool Decider::lets_share() const {
  return policy::registry().traits(chosen_.composition).has(policy::Trait::shares_gpus);
}

/// To a policy that lets jobs share, a job that asks shards asks whole GPUs: it is the policy that
/// says with which jobs it shares them.
trace::Request Decider::request_of(const slurm::Job& job, const World& world) {
  trace::Request made = to_request(job, world, trace_.names);
  if (lets_share() && asks_shards(job) && made.gpus > 0) {
    made.gpus = std::max(made.gpus, job.nodes);
    made.gpu_share = 1;
  }
  return made;
}

schedule::Past Decider::past_of(const slurm::Job& job, Time since) const {
  return {.since = since,
          .tenant = tenant_of(decision_.world->tenants, job.account, job.user, job.partition)};
}

std::shared_ptr<const std::vector<policy::PastUse>> Decider::past_use(const Mirror& mirror,
                                                                      const World& world) {
  if (!world.tenants.empty()) {
    return std::make_shared<const std::vector<policy::PastUse>>(
        past_use_of(mirror.associations(), world.tenants, mirror.at()));
  }
  auto made = std::make_shared<std::vector<policy::PastUse>>(learned_use_);
  for (const slurm::Job* const job : running_jobs(mirror)) {
    if (job->start == kNoTime) continue;
    schedule::add_past_use(request_of(*job, world), kNoTenant, job->start, mirror.at(),
                           mirror.at() - job->start, *made);
  }
  return made;
}

JobId Decider::add(const slurm::Job& job) {
  const JobId id{static_cast<std::uint32_t>(trace_.jobs.size())};
  trace::Job& record = trace_.jobs.emplace_back();
  record.id = trace::JobKey{static_cast<std::uint64_t>(job.number)};
  const World& world = *decision_.world;
  record.request = request_of(job, world);
  numbers_.push_back(job.number);
  if (owns_nodes(world.grouping) || world.cluster.takes_every_job) return id;
  // What is believed of it hangs on whose it is, where it may run on its partition.
  beliefs_.of(job.number, record.request);
  record.request.vc = trace_.names.intern(owner_of_nodes(job, world));
  return id;
}

void Decider::take_nodes(const Mirror& mirror) {
  for (const auto& [name, id] : decision_.world->nodes) {
    const auto found = mirror.nodes().find(name);
    const bool known = found != mirror.nodes().end();
    round_->set_drained(id, !known || is_out(found->second));
    if (!known || found->second.power != slurm::Power::on) off_.insert(id);
  }
}

void Decider::say_loss(const slurm::Job& job, const Exempt& exempt) {
  if (!freedom_) return;
  trace::Request& request = trace_.jobs.back().request;
  request.restart_s = 0;
  request.checkpoint_s = kNeverS;
  const bool was_moved = job.restarts > 0;
  if (was_moved || is_exempt(job, exempt) || !freedom_->may_move(job)) request.restart_s = kNeverS;
}

void Decider::take_running(const Mirror& mirror, const Exempt& exempt) {
  const std::vector<const slurm::Job*> running = running_jobs(mirror);
  const std::vector<Occupied> occupied = count_out(*decision_.world, running, lets_share());
  std::map<NodeId, cluster::GpuMask> out;
  for (std::size_t at = 0; at < running.size(); ++at) {
    for (const cluster::Grant& grant : occupied[at].stray) out[grant.node] |= grant.gpus;
    if (occupied[at].held.empty()) continue;
    const slurm::Job& job = *running[at];
    const JobId id = add(job);
    say_loss(job, exempt);
    quotas_->put(id, job);
    const Time since = job.start == kNoTime ? decision_.at : std::min(job.start, decision_.at);
    schedule::Past past = past_of(job, since);
    past.start = since;
    if (!round_->adopt(id, occupied[at].held, past)) {
      events_.push_back({EventKind::job_adopted, subject(id)});
      quotas_->hand_over(job);
      continue;
    }
    for (const cluster::Grant& grant : occupied[at].held) out[grant.node] |= grant.gpus;
  }
  num_running_ = trace_.jobs.size();
  for (const auto& [node, gpus] : out) round_->set_out(node, gpus);
}

std::int64_t Decider::tasks_to_show(const slurm::Job& job, const trace::Request& request,
                                    const Mirror& mirror) const {
  if (job.tasks.empty()) return 1;
  const Tasks tasks = count_tasks(job.tasks);
  std::int64_t most = tasks.count;
  if (tasks.at_once > 0) {
    const JobNumber array = job.array == JobNumber{} ? job.number : job.array;
    const auto running = std::count_if(
        mirror.jobs().begin(), mirror.jobs().end(),
        [&](const auto& each) { return each.second.array == array && holds_nodes(each.second); });
    most = std::min<std::int64_t>(most, tasks.at_once - running);
  }
  // No more than could run if nothing else did.
  const VcId vc = decision_.world->vc_of(job.partition);
  if (vc != kNoVc) {
    const int gpus = decision_.world->cluster.gpus(vc);
    const int room = std::max(1, request.gpus > 0 ? gpus / request.gpus : gpus);
    most = std::min<std::int64_t>(most, room);
  }
  return std::max<std::int64_t>(1, most);
}

void Decider::take_waiting(const Mirror& mirror, const Exempt& exempt,
                           const std::set<JobNumber>& in_vain) {
  std::map<JobNumber, std::int64_t> pinned;
  for (const auto& [number, held] : pinned_) ++pinned[number];
  std::vector<const slurm::Job*> waiting;
  for (const auto& [number, job] : mirror.jobs()) {
    if (!waits(job) || (pinned.contains(number) && job.tasks.empty())) continue;
    Aside why = aside(job, mirror, exempt, mirror.at());
    if (why == Aside::no && in_vain.contains(number)) why = Aside::in_vain;
    if (why == Aside::no && !can_be_placed(job)) why = Aside::elsewhere;
    if (why == Aside::no || (why == Aside::limited && quotas_->is_at(job))) {
      waiting.push_back(&job);
    } else {
      decision_.aside.emplace(number, why);
    }
  }
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const slurm::Job* a, const slurm::Job* b) { return a->submit < b->submit; });
  for (const slurm::Job* const job : waiting) {
    const JobId first = add(*job);
    quotas_->put(first, *job);
    const schedule::Past past = past_of(*job, std::min(job->submit, decision_.at));
    if (const auto never = round_->admit(first, past)) {
      decision_.never.emplace(job->number, *never);
      continue;
    }
    shown_.emplace(job->number, first);
    events_.push_back({EventKind::job_arrived, subject(first)});
    const trace::Request request = trace_.jobs[index(first)].request;
    const std::int64_t tasks = tasks_to_show(*job, request, mirror) - pinned[job->number];
    for (std::int64_t more = tasks; more > 1; --more) {
      const JobId id = add(*job);
      quotas_->put(id, *job);
      round_->admit(id, past);
      events_.push_back({EventKind::job_arrived, subject(id)});
    }
  }
}

void Decider::take_announced(std::span<const slurm::Job> announced) {
  decision_.announced.assign(announced.begin(), announced.end());
  for (const slurm::Job& job : announced) {
    const JobId id = add(job);
    quotas_->put(id, job);
    if (round_->admit(id, past_of(job, std::min(job.submit, decision_.at)))) continue;
    events_.push_back({EventKind::job_arrived, subject(id)});
  }
}

void Decider::run() {
  while (true) {
    round_->run(decision_.at, std::exchange(events_, {}));
    bool again = false;
    for (const Time wake : round_->wakes()) {
      if (wake > decision_.at) decision_.wake = std::min(decision_.wake, wake);
      again = again || wake <= decision_.at;
    }
    if (!again) return;
    events_.push_back({EventKind::timer, 0});
  }
}

void Decider::start(JobId job) { started_.push_back(job); }

void Decider::stop(JobId job) { std::erase(started_, job); }

void Decider::read_plan() {
  const cluster::Cluster& cluster = decision_.world->cluster;
  for (std::uint32_t vc = 0; vc < cluster.vcs.size(); ++vc) {
    decision_.lines.push_back({.vc = VcId{vc}});
  }
  const auto join = [&](JobId job) {
    if (index(job) < num_running_) return;  // it was stopped
    const JobNumber number = numbers_[index(job)];
    const VcId vc = round_->progress(job).vc;
    std::vector<JobNumber>& line = decision_.lines[index(vc)].jobs;
    const Spot next{vc, static_cast<std::int64_t>(line.size()) + 1};
    if (places_.try_emplace(number, next).second) line.push_back(number);
  };
  for (const JobId job : started_) {
    const auto held = round_->grants(job);
    if (index(job) >= num_running_) {
      decision_.starts.push_back({numbers_[index(job)], {held.begin(), held.end()}});
    }
    join(job);
  }
  for (std::size_t at = 0; at < num_running_; ++at) {
    const JobId job{static_cast<std::uint32_t>(at)};
    const bool moved = std::find(started_.begin(), started_.end(), job) != started_.end();
    if (round_->progress(job).phase == Phase::waiting || moved) {
      decision_.stops.push_back(numbers_[at]);
    }
  }
  std::vector<JobId> line;
  round_->line_up(line);
  for (const JobId job : line) join(job);
}

void Decider::note_starts(const std::map<JobNumber, Time>& before) {
  for (const auto& [job, since] : before) {
    const auto found = decision_.aside.find(job);
    if (found != decision_.aside.end() && found->second == Aside::in_vain) {
      decision_.to_start_since.emplace(job, since);
    }
  }
  for (const Decision::Start& each : decision_.starts) {
    const auto known = before.find(each.job);
    decision_.to_start_since.emplace(each.job,
                                     known == before.end() ? decision_.at : known->second);
  }
}

std::optional<policy::Reason> Decider::why(JobNumber job) {
  const auto found = shown_.find(job);
  if (found == shown_.end()) return std::nullopt;
  if (round_->progress(found->second).phase != Phase::waiting) return std::nullopt;
  return round_->why_waiting(decision_.at, found->second);
}

Decider::Place Decider::place(JobNumber job) const {
  const auto found = places_.find(job);
  if (found == places_.end()) return {};
  const std::vector<JobNumber>& line = decision_.lines[index(found->second.vc)].jobs;
  return {found->second.number, static_cast<std::int64_t>(line.size())};
}

std::vector<JobNumber> Decider::line_with(const slurm::Job& newcomer) {
  if (round_ == nullptr) return {};
  const JobId id = add(newcomer);
  if (round_->admit(id, past_of(newcomer, decision_.at))) return {};
  events_.push_back({EventKind::job_arrived, subject(id)});
  run();
  std::vector<JobNumber> line;
  const VcId vc = round_->progress(id).vc;
  const auto join = [&](JobId job) {
    if (index(job) < num_running_ || round_->progress(job).vc != vc) return;
    const JobNumber number = numbers_[index(job)];
    if (line.empty() || line.back() != number) line.push_back(number);  // tasks of one array
  };
  std::vector<JobId> waiting;
  round_->line_up(waiting);
  for (const JobId job : started_) join(job);
  for (const JobId job : waiting) join(job);
  return line;
}

Duration Decider::believed(const slurm::Job& job, const World& world) {
  return beliefs_.of(job.number, request_of(job, world));
}

void Decider::learn(const slurm::Job& ended, const World& world) {
  if (ended.start == kNoTime || ended.end == kNoTime || ended.end < ended.start) {
    return beliefs_.forget(ended.number);
  }
  ++learned_;
  trace::Job lesson;
  lesson.request = request_of(ended, world);
  lesson.outcome.run = ended.end - ended.start;
  lesson.outcome.state = ended.outcome;
  schedule::add_past_use(lesson.request, kNoTenant, ended.start, ended.end, lesson.outcome.run,
                         learned_use_);
  type_speeds_->learn(lesson, trace_.names);
  beliefs_.learn(ended.number, lesson.request,
                 {.at = ended.end, .ran = lesson.outcome.run, .state = ended.outcome});
}

}  // namespace almanac::steer
