// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is drawn, by the whole and by each job.
///
/// A job is charged for its GPUs while its process has them, idle or not: of those of which the
/// driver tells, what the board draws; else, by the model, what a GPU adds at full use and its
/// share of its node's idle draw. Of a GPU that is shared, its share. Between two looks a draw is
/// taken as it was at the later one. How far each run is counted is kept with the sum, so that a
/// service that begins again goes on from there: time in which nothing was looked at is the
/// model's.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "machine/core.h"
#include "machine/power.h"
#include "service/log.h"
#include "text/duration.h"

namespace almanac::machine {

using store::JobNumber;

double Core::draw_w() const {
  if (!gpu_w_.empty()) {
    double sum_w = 0;
    for (const auto& [gpu, watts] : gpu_w_) sum_w += watts;
    return sum_w;
  }
  if (!config_.power) return 0;
  std::vector<cluster::Grant> held;
  for (const Entry* const entry : holders()) {
    held.insert(held.end(), entry->job.held_gpus.begin(), entry->job.held_gpus.end());
  }
  return modelled_w(*config_.power, config_.machine.cluster, held);
}

void Core::count_energy(Entry& entry, Time to) {
  store::Energy& energy = entry.job.energy;
  if (!entry.run || to <= energy.counted_to) return;
  const Time looked_from = std::clamp(started_, energy.counted_to, to);
  const double unseen_s = seconds(looked_from - energy.counted_to);
  const double seen_s = seconds(to - looked_from);
  const cluster::Cluster& cluster = config_.machine.cluster;
  for (const cluster::Grant& grant : entry.of_runs->draws) {
    // It may hold what a cluster file of before had.
    if (index(grant.node) >= cluster.nodes.size()) continue;
    const double part = grant.gpu_milli / double{cluster::kWholeGpu};
    const double modelled_w =
        config_.power ? modelled_gpu_w(*config_.power, cluster, grant.node) : 0;
    for (int gpu = 0; gpu < cluster.gpus(grant.node); ++gpu) {
      if ((grant.gpus >> static_cast<unsigned>(gpu) & 1U) == 0) continue;
      const auto told = gpu_w_.find({grant.node, gpu});
      const bool is_told = told != gpu_w_.end();
      if (is_told) energy.measured_j += part * told->second * seen_s;
      energy.modelled_j += part * modelled_w * (is_told ? unseen_s : unseen_s + seen_s);
    }
  }
  energy.counted_to = to;
}

void Core::count_use(const Sight& sight) {
  for (const Sight::OfJob& each : sight.jobs) {
    Entry* const entry = book_.find(each.job);
    // A job that has ended meanwhile is written down.
    if (entry == nullptr || !entry->run) continue;
    store::Used& used = entry->job.used;
    used.most_memory_gb = std::max(used.most_memory_gb, each.memory_gb);
    if (each.cores_busy) {
      const double length_s = seconds(each.cores_busy->to - each.cores_busy->from);
      used.core_s += each.cores_busy->value * length_s;
      used.core_seen_s += length_s;
    }
    if (each.gpu_use) {
      const double length_s = seconds(each.gpu_use->to - each.gpu_use->from);
      used.gpu_s += each.gpu_use->value * length_s;
      used.gpu_seen_s += length_s;
    }
  }
}

void Core::heed_idle(const Sight& sight) {
  if (idle_.rule().mode == service::IdleMode::off) return;
  idle_.keep_only(processes_);
  for (const Sight::OfJob& each : sight.jobs) {
    Entry* const entry = book_.find(each.job);
    if (entry == nullptr || !entry->run || !each.gpu_use || entry->job.asked->gpus == 0) continue;
    if (!idle_.rule().is_for(entry->job.asked->user)) continue;
    heed_idle(*entry, idle_.take(each.job, entry->job.attempts, *each.gpu_use));
  }
}

void Core::heed_idle(Entry& entry, service::IdleStep step) {
  if (step == service::IdleStep::nothing) return;
  const service::IdleRule& rule = idle_.rule();
  const store::Job& job = entry.job;
  const std::string after = text::format_duration(rule.after);
  const bool goes = rule.mode == service::IdleMode::requeue && job.asked->requeue;
  std::string text;
  if (step == service::IdleStep::busy_again) {
    text = "its GPUs compute again";
  } else if (step == service::IdleStep::warn) {
    text = fmt::format("its GPUs have not computed for {}", after);
    if (goes)
      text +=
          fmt::format("; it is requeued in {} if that stays so", text::format_duration(rule.grace));
    if (rule.mode != service::IdleMode::dry)
      letters_.push_back({job.asked->user, job.number, text});
  } else if (goes) {
    text = "it is requeued: its GPUs did not compute";
    letters_.push_back({job.asked->user, job.number, text});
    wishes_.post(Request{{.what = service::Wish::What::requeue, .jobs = {job.number}},
                         {.uid = 0, .may_all = true}});
  } else {
    return;
  }
  if (rule.mode == service::IdleMode::dry) text += " (dry: no one is notified)";
  service::log_info(fmt::format("job {} of {}: {}", job.number, job.asked->user, text));
  outbox_.note({.at = clock_.now(), .job = job.number, .what = kIdle, .detail = text});
  wake();
}

void Core::send_letters() {
  std::vector<service::IdleLetter> letters;
  {
    const std::lock_guard lock(mutex_);
    letters.swap(letters_);
  }
  for (const service::IdleLetter& each : letters) {
    if (const auto sent = service::send(idle_.rule(), each, &ends_); !sent)
      service::log_error(to_string(sent.error()));
  }
}

void Core::heed_jump() {
  const Duration jump = clock_.take_jump();
  if (jump == Duration{0}) return;
  service::log_warning(fmt::format("the clock was set ahead by {}", text::format_duration(jump)));
  for (const JobNumber number : processes_) book_.find(number)->job.energy.counted_to += jump;
}

bool Core::hear_reports(const std::vector<Report>& reported) {
  bool any = false;
  for (const Report& each : reported) {
    const Entry& entry = *book_.find(each.job);
    if (!in_round(entry, policy::Phase::running)) continue;
    events_.push_back({policy::EventKind::job_reported, static_cast<std::uint32_t>(index(entry.id)),
                       each.metric});
    any = true;
  }
  return any;
}

void Core::keep_reports(JobNumber job, const std::vector<perf::OwnProgress::Metric>& reported) {
  for (const perf::OwnProgress::Metric& each : reported) {
    outbox_.report({.job = job, .step = each.step, .metric = each.value, .at = clock_.now()});
  }
}

void Core::hear_last_word(const Entry& entry) {
  keep_reports(entry.job.number, word_of(*entry.run, now_).reported());
}

void Core::take_note(const Sight& sight) {
  constexpr Duration kOften = 1min;
  {
    const std::lock_guard lock(mutex_);
    const bool has_news = hear_reports(measured_.take(sight));
    for (const Sight::OfJob& each : sight.jobs) {
      const Entry* const entry = book_.find(each.job);
      if (entry != nullptr && entry->run) keep_reports(each.job, each.reported);
    }
    take_words();
    count_use(sight);
    heed_idle(sight);
    gpu_use_ = sight.gpu_use;
    gpu_w_ = sight.gpu_w;
    const Time now = clock_.now();
    heed_jump();
    for (const JobNumber number : processes_) {
      Entry& entry = *book_.find(number);
      const bool ended_unseen = entry.run->shepherd() < 0;
      if (!ended_unseen) count_energy(entry, now);
    }
    excesses_ = sight.excesses;
    if (now < next_moment_) {
      if (has_news || outbox_.has_reports() || !excesses_.empty()) wake();
      return;
    }
    next_moment_ = now + kOften;
    for (const JobNumber number : processes_) outbox_.mark(number);
    store::Moment moment{.at = now,
                         .gpus = config_.machine.cluster.gpus(),
                         .gpus_busy = gpus_busy(),
                         .gpu_use = gpu_use_.value_or(std::nan("")),
                         .power_w = draw_w(),
                         .power_is_measured = !gpu_w_.empty()};
    const Counts& counts = book_.counts();
    moment.jobs_running = static_cast<std::int32_t>(counts.running);
    moment.jobs_waiting = static_cast<std::int32_t>(counts.waiting + counts.held);
    outbox_.sample(moment);
  }
  wake();
}

}  // namespace almanac::machine
