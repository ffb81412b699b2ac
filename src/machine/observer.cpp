// SPDX-License-Identifier: Apache-2.0
#include "machine/observer.h"

#include <cmath>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "service/log.h"
#include "text/duration.h"

namespace almanac::machine {

using store::JobNumber;

void Observer::take(const Sight& sight) {
  constexpr Duration kOften = 1min;
  const std::lock_guard lock(state_.mutex);
  const bool has_news = pass_on(parts_.queue.measured().take(sight));
  for (const Sight::OfJob& each : sight.jobs) {
    const Entry* const entry = state_.book.find(each.job);
    if (entry != nullptr && entry->run) state_.keep_reports(each.job, each.reported);
  }
  parts_.mover.release_left();
  parts_.meter.count_use(sight);
  watch_idle(sight);
  parts_.meter.look(sight);
  const Time now = state_.time.now();
  parts_.meter.skip_clock_jump();
  for (const JobNumber number : state_.processes) {
    Entry& entry = *state_.book.find(number);
    const bool ended_unseen = entry.run->shepherd() < 0;
    if (!ended_unseen) parts_.meter.count_energy(entry, now);
  }
  parts_.processes.set_excesses(sight.excesses);
  const bool is_sample_due = now >= next_sample_;
  if (is_sample_due) {
    next_sample_ = now + kOften;
    for (const JobNumber number : state_.processes) state_.outbox.mark(number);
    state_.outbox.sample(sample(now));
  }
  const bool is_step_due =
      is_sample_due || has_news || state_.outbox.has_reports() || !sight.excesses.empty();
  if (is_step_due) state_.bell.ring();
}

store::Moment Observer::sample(Time now) const {
  const Counts& counts = state_.book.counts();
  return {.at = now,
          .gpus = state_.config.machine.cluster.gpus(),
          .gpus_busy = parts_.views.gpus_busy(),
          .jobs_running = static_cast<std::int32_t>(counts.running),
          .jobs_waiting = static_cast<std::int32_t>(counts.waiting + counts.held),
          .gpu_use = parts_.meter.gpu_use().value_or(std::nan("")),
          .power_w = parts_.meter.draw_w(),
          .power_is_measured = parts_.meter.is_measured()};
}

bool Observer::pass_on(const std::vector<Report>& reported) {
  bool any = false;
  for (const Report& each : reported) any = parts_.queue.report(each) || any;
  return any;
}

void Observer::watch_idle(const Sight& sight) {
  if (idle_.rule().mode == service::IdleMode::off) return;
  idle_.keep_only(state_.processes);
  for (const Sight::OfJob& each : sight.jobs) {
    const Entry* const entry = state_.book.find(each.job);
    if (entry == nullptr || !entry->run || !each.gpu_use || entry->job.asked->gpus == 0) continue;
    if (!idle_.rule().is_for(entry->job.asked->user)) continue;
    apply_idle_step(*entry, idle_.take(each.job, entry->job.attempts, *each.gpu_use));
  }
}

void Observer::apply_idle_step(const Entry& entry, service::IdleStep step) {
  if (step == service::IdleStep::nothing) return;
  const service::IdleRule& rule = idle_.rule();
  const store::Job& job = entry.job;
  const std::string after = text::format_duration(rule.after);
  const bool goes =
      rule.mode == service::IdleMode::requeue && job.asked->requeue == trace::Requeue::yes;
  std::string text;
  if (step == service::IdleStep::busy_again) {
    text = "its GPUs are busy again";
  } else if (step == service::IdleStep::warn) {
    text = fmt::format("its GPUs have been idle for {}", after);
    if (goes)
      text += fmt::format("; it will be requeued in {} unless that changes",
                          text::format_duration(rule.grace));
    if (rule.mode != service::IdleMode::dry)
      letters_.push_back({job.asked->user, job.number, text});
  } else if (goes) {
    text = "requeued: its GPUs were idle";
    letters_.push_back({job.asked->user, job.number, text});
    parts_.requests.post(Request{{.what = service::Wish::What::requeue, .jobs = {job.number}},
                                 {.uid = 0, .may_all = true}});
  } else {
    return;
  }
  if (rule.mode == service::IdleMode::dry) text += " (dry: no one is notified)";
  service::log_info(fmt::format("job {} of {}: {}", job.number, job.asked->user, text));
  state_.outbox.note({.at = state_.time.now(), .job = job.number, .what = kIdle, .detail = text});
  state_.bell.ring();
}

void Observer::send_letters() {
  std::vector<service::IdleLetter> letters;
  {
    const std::lock_guard lock(state_.mutex);
    letters.swap(letters_);
  }
  for (const service::IdleLetter& each : letters) {
    if (const auto sent = service::send(idle_.rule(), each, &ends_); !sent)
      service::log_error(to_string(sent.error()));
  }
}

}  // namespace almanac::machine
