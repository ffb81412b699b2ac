// SPDX-License-Identifier: Apache-2.0
#include "steer/planned_round.h"

#include <algorithm>
#include <utility>

#include "steer/record.h"

namespace almanac::steer {

using manager::JobNumber;
using policy::EventKind;
using policy::Phase;

namespace {

/// Longer than any job runs, and more than any policy lets a move cost.
constexpr float kNeverS = 1e12F;

std::uint32_t subject(JobId job) { return static_cast<std::uint32_t>(index(job)); }

}  // namespace

PlannedRound::PlannedRound(const Basis& basis, Placing& placing, Experience& experience,
                           Decision& decision)
    : policy_(basis.policy),
      experience_(experience),
      decision_(decision),
      jobs_(experience, *decision.world),
      quotas_(basis.mirror),
      sharing_(basis.speeds) {
  mind_ = schedule::make_policy(
      policy_.composition,
      schedule::RealHost{
          .estimator = jobs_.estimator(),
          .past_use = basis.past_use,
          .past_reports = {},  // jobs of a managed cluster report no metrics
          .type_speeds = experience_.type_speeds(),
          .may_share = [this](JobId host, JobId guest) { return sharing_.may_share(host, guest); },
          .is_on = [this](NodeId node) { return !off_.contains(node); },
          .site = {}},
      schedule::kNoSiteRules);
  round_ =
      std::make_unique<schedule::Round>(decision_.world->cluster, experience_.log(), *mind_, *this,
                                        kNoRestartCost, basis.seed, policy_.composition.name);
  if (!quotas_.empty()) round_->keep(quotas_.book());
  // Running jobs stay on nodes where nothing may start any more.
  take_running(basis);
  take_nodes(basis.mirror);
  take_pinned(basis.mirror, placing);
  take_waiting(basis, placing);
  take_announced(basis.announced);
  jobs_.end_shown();
  let_jobs_share(basis);
  run();
}

void PlannedRound::take_running(const Basis& basis) {
  const std::vector<Roll::Member*>& running = basis.roll.running();
  const Occupation occupied = basis.roll.count_out(experience_.lets_share());
  std::vector<cluster::GpuMask> out(decision_.world->cluster.nodes.size());
  const auto keep_out = [&](std::span<const cluster::Grant> grants) {
    for (const cluster::Grant& grant : grants) out[index(grant.node)] |= grant.gpus;
  };
  experience_.log().jobs.reserve(running.size() + basis.roll.waiting().size());
  for (std::size_t at = 0; at < running.size(); ++at) {
    keep_out(occupied.stray(at));
    const auto held = occupied.held(at);
    if (held.empty()) continue;
    const manager::Job& job = *running[at]->job;
    const JobId id = jobs_.add(*running[at]);
    set_loss(id, job, basis);
    quotas_.put(id, job);
    const Time start = running[at]->start;
    const Time since = start == kNoTime ? decision_.at : std::min(start, decision_.at);
    schedule::Past past = jobs_.past_of(job, since);
    past.start = since;
    if (!round_->adopt(id, held, past)) {
      events_.push_back({EventKind::job_adopted, subject(id)});
      quotas_.hand_over(job);
      continue;
    }
    keep_out(held);
  }
  jobs_.end_running();
  for (std::size_t at = 0; at < out.size(); ++at) {
    if (out[at] != 0) round_->set_out(NodeId{static_cast<std::uint32_t>(at)}, out[at]);
  }
}

void PlannedRound::set_loss(JobId id, const manager::Job& job, const Basis& basis) {
  if (basis.freedom == nullptr) return;
  trace::Request& request = jobs_.request(id);
  request.restart_s = 0;
  request.checkpoint_s = kNeverS;
  const bool was_moved = job.restarts > 0;
  if (was_moved || is_exempt(job, basis.exempt) || !basis.freedom->may_move(job)) {
    request.restart_s = kNeverS;
  }
}

void PlannedRound::take_nodes(const Mirror& mirror) {
  for (const auto& [name, id] : decision_.world->nodes) {
    const auto found = mirror.nodes().find(name);
    const bool known = found != mirror.nodes().end();
    round_->set_drained(id, !known || is_out(found->second));
    if (!known || found->second.power != manager::Power::on) off_.insert(id);
  }
}

void PlannedRound::take_pinned(const Mirror& mirror, const Placing& placing) {
  for (const auto& [number, held] : placing.pinned()) {
    const manager::Job& job = *mirror.find(number);
    const JobId id = jobs_.add(job);
    quotas_.put(id, job);
    if (round_->adopt(id, held, jobs_.past_of(job, decision_.at))) continue;
    events_.push_back({EventKind::job_adopted, subject(id)});
    started_.push_back(id);
  }
}

std::int64_t PlannedRound::tasks_to_show(const manager::Job& job, JobId first,
                                         const Mirror& mirror) {
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
    const int asked = jobs_.request(first).gpus;
    const int room = std::max(1, asked > 0 ? gpus / asked : gpus);
    most = std::min<std::int64_t>(most, room);
  }
  return std::max<std::int64_t>(1, most);
}

void PlannedRound::take_waiting(const Basis& basis, Placing& placing) {
  const Mirror& mirror = basis.mirror;
  std::map<JobNumber, std::int64_t> pinned;
  for (const auto& [number, held] : placing.pinned()) ++pinned[number];
  const auto is_pinned = [&](const manager::Job& job) {
    return !pinned.empty() && pinned.contains(job.number);
  };
  std::vector<Roll::Member*> waiting;
  for (Roll::Member* const member : basis.roll.waiting()) {
    const manager::Job& job = *member->job;
    if (is_pinned(job) && job.tasks.empty()) continue;
    Aside why = aside(job, mirror, basis.exempt, mirror.at());
    if (why == Aside::no && basis.in_vain.contains(job.number)) why = Aside::in_vain;
    if (why == Aside::no && !placing.can_be_placed(job, round_->ledger())) why = Aside::elsewhere;
    if (why == Aside::no || (why == Aside::limited && quotas_.is_at(job))) {
      waiting.push_back(member);
    } else {
      put_aside(job.number, why);
    }
  }
  std::stable_sort(
      waiting.begin(), waiting.end(),
      [](const Roll::Member* a, const Roll::Member* b) { return a->submit < b->submit; });
  for (Roll::Member* const member : waiting) {
    const manager::Job* const job = member->job;
    const JobId first = jobs_.add(*member);
    quotas_.put(first, *job);
    const schedule::Past past = jobs_.past_of(*job, std::min(job->submit, decision_.at));
    if (const auto never = round_->admit(first, past)) {
      decision_.never.emplace(job->number, *never);
      continue;
    }
    jobs_.show(job->number, first);
    events_.push_back({EventKind::job_arrived, subject(first)});
    std::int64_t tasks = tasks_to_show(*job, first, mirror);
    if (is_pinned(*job)) tasks -= pinned[job->number];
    for (std::int64_t more = tasks; more > 1; --more) {
      const JobId id = jobs_.add(*member);
      quotas_.put(id, *job);
      round_->admit(id, past);
      events_.push_back({EventKind::job_arrived, subject(id)});
    }
  }
}

void PlannedRound::take_announced(std::span<const manager::Job> announced) {
  decision_.announced.assign(announced.begin(), announced.end());
  for (const manager::Job& job : announced) {
    const JobId id = jobs_.add(job);
    quotas_.put(id, job);
    if (round_->admit(id, jobs_.past_of(job, std::min(job.submit, decision_.at)))) continue;
    events_.push_back({EventKind::job_arrived, subject(id)});
  }
}

void PlannedRound::let_jobs_share(const Basis& basis) {
  decision_.knows_speeds = sharing_.knows_speeds();
  if (!experience_.lets_share()) return;
  sharing_.look(basis.mirror, basis.exempt, jobs_);
  if (const auto* const speeds = sharing_.observe(decision_.world->cluster, experience_.log())) {
    round_->observe(speeds, nullptr);
  }
}

void PlannedRound::run() {
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

std::vector<Decision::Clash> PlannedRound::clashes() const {
  return sharing_.clashes(*round_, jobs_, policy_.composition);
}

std::optional<policy::Reason> PlannedRound::why(JobNumber job) {
  const auto id = jobs_.first_task(job);
  if (!id || round_->progress(*id).phase != Phase::waiting) return std::nullopt;
  return round_->why_waiting(decision_.at, *id);
}

std::vector<JobNumber> PlannedRound::line_with(const manager::Job& newcomer) {
  const JobId id = jobs_.add(newcomer);
  if (round_->admit(id, jobs_.past_of(newcomer, decision_.at))) return {};
  events_.push_back({EventKind::job_arrived, subject(id)});
  run();
  std::vector<JobNumber> line;
  const VcId vc = round_->progress(id).vc;
  const auto join = [&](JobId job) {
    if (jobs_.runs(job) || round_->progress(job).vc != vc) return;
    const JobNumber number = jobs_.number(job);
    if (line.empty() || line.back() != number) line.push_back(number);  // tasks of one array
  };
  std::vector<JobId> waiting;
  round_->line_up(waiting);
  for (const JobId job : started_) join(job);
  for (const JobId job : waiting) join(job);
  return line;
}

}  // namespace almanac::steer
