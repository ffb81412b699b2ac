// SPDX-License-Identifier: Apache-2.0
#include "steer/slimmer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "steer/aside.h"
#include "steer/occupancy.h"
#include "steer/scope.h"

namespace almanac::steer {

using manager::JobNumber;

namespace {

/// A job that is hurt for so long gets all back.
constexpr Duration kHurt = 5min;
/// After so many jobs a new round begins, because a round remembers all its jobs.
constexpr std::size_t kMostJobs = 50'000;

/// Whether the policy may have it: it runs on GPUs of its own, each of which is known.
bool is_plain(const manager::Job& job) {
  if (job.state != manager::State::running || job.het != JobNumber{} || job.shards > 0)
    return false;
  return !job.holds.empty() &&
         std::all_of(job.holds.begin(), job.holds.end(), [&](const manager::Held& held) {
           const bool known = std::popcount(held.gpus) == held.gpu_count;
           return held.shards == 0 && known && (job.gpus > 0) == (held.gpu_count > 0);
         });
}

/// Whether all that the manager says it holds could be counted out.
bool is_whole(const manager::Job& job, const Occupied& occupied) {
  int gpus = 0;
  for (const cluster::Grant& grant : occupied.held) gpus += grant.count();
  int told = 0;
  for (const manager::Held& held : job.holds) told += held.gpu_count;
  return occupied.stray.empty() && !occupied.held.empty() && gpus == told;
}

}  // namespace

Slimmer::Slimmer(Slimming policy, const perf::Measuring& measuring)
    : policy_(std::move(policy)), measuring_(measuring) {}

Slimmer::~Slimmer() = default;

void Slimmer::decide_by(Slimming policy) {
  policy_ = std::move(policy);
  world_.reset();
}

void Slimmer::look(const Mirror& mirror, std::shared_ptr<const World> world,
                   const std::vector<Agents::Told>& reports, const Settings& settings) {
  now_ = std::max(now_, mirror.at());
  if (world_ != world || round_->jobs() > kMostJobs) begin(std::move(world), settings);
  follow(mirror, settings);
  take(reports);
  if (slims()) {
    round_->decide(now_);
  } else {
    round_->discard_events();
  }
  note_wanted();
}

void Slimmer::begin(std::shared_ptr<const World> world, const Settings& settings) {
  world_ = std::move(world);
  running_.clear();
  round_ = std::make_unique<SlimmingRound>(policy_, world_, settings.slimming.bandwidth_gbs, *this);
}

void Slimmer::follow(const Mirror& mirror, const Settings& settings) {
  const std::vector<const manager::Job*> there = running_jobs(mirror);
  const std::vector<Occupied> occupied = count_out(*world_, there);
  std::map<JobNumber, std::size_t> here;
  for (std::size_t at = 0; at < there.size(); ++at) {
    const manager::Job& job = *there[at];
    if (!is_plain(job) || !is_whole(job, occupied[at])) continue;
    if (is_exempt(job, settings.exempt) || !is_in_scope(job, settings)) continue;
    here.emplace(job.number, at);
  }
  // Jobs that leave are told before jobs that join: they may have had the same cores.
  for (auto each = running_.begin(); each != running_.end();) {
    auto& [number, running] = *each;
    const auto found = here.find(number);
    const bool stays = found != here.end() && running.given == occupied[found->second].held;
    const bool hurt =
        running.use.hurt_since() != kNoTime && now_ - running.use.hurt_since() > kHurt;
    if (!stays || hurt || running.grew) leave(running);
    running.grew = false;
    running.is_left_alone = running.is_left_alone || hurt;
    each = stays ? std::next(each) : running_.erase(each);
  }
  for (const auto& [number, at] : here) {
    const auto [found, is_new] =
        running_.try_emplace(number, Running{.use = JobUse(*there[at], measuring_, now_)});
    Running& running = found->second;
    if (is_new) {
      running.given = occupied[at].held;
      touch(running);
    }
    if (is_new || (!running.is_in_round && running.id != kNoJob)) {
      running.id = round_->adopt(*there[at], running.given, now_);
      running.is_in_round = running.id != kNoJob;
    }
  }
}

void Slimmer::leave(Running& running) {
  if (!running.is_in_round) return;
  round_->end(running.id, now_);
  running.is_in_round = false;
  touch(running);
}

void Slimmer::touch(const Running& running) {
  for (const cluster::Grant& grant : running.given) {
    nodes_.note_change(round_->name(grant.node), now_);
  }
}

void Slimmer::take(const std::vector<Agents::Told>& reports) {
  for (const auto& [node, report] : reports) {
    nodes_.take(node, report, now_);
    for (const agent::JobReport& told : report.jobs) {
      const auto found = running_.find(told.job);
      if (found != running_.end()) found->second.use.take(node, report, told, now_);
    }
  }
  for (auto& [number, running] : running_) running.use.look(cores_held(running), now_);
}

Cores Slimmer::cores_held(const Running& running) const {
  Cores made;
  if (!running.is_in_round || running.is_left_alone) return made;
  const auto held = round_->grants(running.id);
  for (std::size_t at = 0; at < held.size(); ++at) {
    if (held[at].cpu_milli >= running.given[at].cpu_milli) continue;
    made[round_->name(held[at].node)] += held[at].cpu_milli / 1e3;
  }
  return made;
}

void Slimmer::note_wanted() {
  wanted_.clear();
  for (auto& [number, running] : running_) {
    Cores cores = cores_held(running);
    if (cores != running.cores) touch(running);
    running.cores = cores;
    if (!cores.empty()) wanted_.emplace(number, std::move(cores));
    if (!running.is_in_round) continue;
    const auto held = round_->grants(running.id);
    for (std::size_t at = 0; at < held.size(); ++at) {
      running.grew = running.grew || held[at].cpu_milli > running.given[at].cpu_milli;
    }
  }
}

const Slimmer::Running* Slimmer::running_of(JobId job) const {
  const auto found = running_.find(round_->number(job));
  return found == running_.end() || found->second.id != job ? nullptr : &found->second;
}

std::optional<double> Slimmer::gpu_use(JobId job) const {
  const Running* const running = running_of(job);
  if (running == nullptr || running->is_left_alone) return std::nullopt;
  return running->use.gpu_use();
}

std::optional<double> Slimmer::bandwidth_gbs(JobId job) const {
  const Running* const running = running_of(job);
  return running == nullptr ? std::nullopt : running->use.bandwidth_gbs(now_);
}

std::string Slimmer::why(JobNumber job) const {
  const auto found = running_.find(job);
  if (found == running_.end()) return "it starts with all its cores";
  const Running& running = found->second;
  if (running.is_left_alone)
    return "its GPUs were less busy with fewer cores, so it keeps all of them";
  const bool has_gpus = running.given.front().count() > 0;
  if (!wanted_.contains(job))
    return has_gpus ? "its GPUs need them" : "memory bandwidth is available again";
  if (!has_gpus) return "it uses memory bandwidth that GPU jobs need";
  const auto use = running.use.gpu_use();
  if (!use || running.use.has_all()) return "tests whether its GPUs stay as busy with fewer cores";
  return fmt::format("its GPUs are {:.0f} % as busy as with all its cores", 100 * *use);
}

const JobUse* Slimmer::use(JobNumber job) const {
  const auto found = running_.find(job);
  return found == running_.end() ? nullptr : &found->second.use;
}

std::vector<std::string> Slimmer::troubles() const {
  std::vector<std::string> made;
  for (const auto& [number, cores] : wanted_) {
    const std::string trouble = running_.at(number).use.trouble();
    if (trouble.empty()) continue;
    made.push_back(
        fmt::format("job {} could not be limited to fewer cores on {}", number, trouble));
  }
  return made;
}

}  // namespace almanac::steer
