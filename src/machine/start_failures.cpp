// SPDX-License-Identifier: Apache-2.0
#include "machine/start_failures.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "service/log.h"

namespace almanac::machine {

using store::JobNumber;
using trace::JobState;

void StartFailures::delay_all(JobNumber number, const std::string& why) {
  const auto pause = starter_.failed(number, why, state_.now);
  if (!pause) return;
  service::log_warning(fmt::format("{}; next try in {} s", starter_.trouble(), *pause / 1s));
  state_.has_changed = true;
}

void StartFailures::put_off(Entry& entry, const std::string& why) {
  const JobStarts::Next next = starter_.jobs.failed(entry.job.number, why, true, state_.now);
  service::log_warning(fmt::format("job {} cannot be started: {}", entry.job.number, why));
  lifecycle_.apply(entry,
                   life::NotStarted{.why = why, .again_at = next.again, .gives_up = next.gives_up});
}

life::NotStarted StartFailures::judge(Entry& entry, const shepherd::Outcome& how) {
  const JobNumber number = entry.job.number;
  if (how.is_account) {
    close_account(entry, how.why);
    return {.why = how.why};
  }
  if (awaits_its_end(entry.job)) return {.why = how.why};  // the job is not tried again
  // A job that had to be killed waited for its own user's files: others may start.
  const JobStarts::Next next = starter_.jobs.failed(number, how.why, entry.is_overdue, state_.now);
  if (!entry.is_overdue && (starter_.is_failing() || starter_.jobs.are_several())) {
    delay_all(number, how.why);
  }
  return {.why = how.why, .again_at = next.again, .gives_up = next.gives_up};
}

void StartFailures::forget(const store::Job& job) {
  starter_.jobs.worked(job.number);
  accounts_.worked(job.asked->uid);
  if (starter_.is_tried(job.number)) end_backoff();
}

void StartFailures::close_account(Entry& entry, const std::string& why) {
  const std::uint32_t uid = entry.job.asked->uid;
  if (!accounts_.failed(uid, entry.job.asked->user, why, state_.now)) return;
  service::log_warning(fmt::format("jobs of {} cannot be started: {}", entry.job.asked->user, why));
  // Once for all of them: later tries only ask for the user, and take no GPU.
  for (auto& [number, each] : state_.book.all()) {
    if (each.job.asked->uid != uid || &each == &entry) continue;
    if (queue_.is_waiting(each)) {
      queue_.withdraw(each);
      state_.book.look_again(each);
    } else if (each.is_starting() && !each.run) {
      lifecycle_.apply(each, life::NotStarted{.why = why});
    }
  }
}

void StartFailures::look_for_accounts() {
  const Accounts::News news = accounts_.look(state_.now);
  for (const std::uint32_t uid : news.open) {
    service::log_info(fmt::format("user {} is known again: the user's jobs may start", uid));
    state_.book.open({WaitsFor::What::account, uid});
    state_.has_changed = true;
  }
  for (const auto& [uid, why] : news.given_up) {
    const std::set<JobNumber> all = state_.book.anteroom().in({WaitsFor::What::account, uid});
    service::log_warning(
        fmt::format("{}: {} jobs that waited for this user have failed", why, all.size()));
    for (const JobNumber number : all) {
      lifecycle_.apply(*state_.book.find(number),
                       life::Ended{JobState::failed, fmt::format("cannot start: {}", why)});
    }
    state_.has_changed = true;
  }
}

bool StartFailures::may_start() {
  if (!starter_.is_failing()) return true;
  if (starter_.rests()) return false;
  const auto number = starter_.tried();
  const Entry* const tried = number ? state_.book.find(*number) : nullptr;
  if (tried == nullptr || !tried->run) return true;
  if (!starter_.has_begun(tried->run->process() >= 0, state_.now)) return false;
  end_backoff();
  return true;
}

void StartFailures::end_backoff() {
  starter_.works();
  service::log_info("jobs can be started again");
  state_.has_changed = true;
}

}  // namespace almanac::machine
