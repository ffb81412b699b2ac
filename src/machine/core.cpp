// SPDX-License-Identifier: Apache-2.0
#include "machine/core.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <poll.h>

#include "base/check.h"
#include "machine/life.h"
#include "service/log.h"
#include "service/notify.h"
#include "shepherd/record.h"

namespace almanac::machine {

using policy::Event;
using policy::EventKind;
using policy::Phase;
using store::JobNumber;

namespace {

/// The longest sleep: what watches from outside knows an idle service from one that hangs.
constexpr Duration kHeartbeat = 15s;

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace

void Core::run(const std::atomic<bool>& stop) {
  service::Watchdog watchdog;
  while (!stop) {
    {
      Lock lock(mutex_);
      step(lock);
    }
    watchdog.alive();
    if (!stop) wait_for_news(watchdog.patience());
  }
  refuse_all();
}

void Core::go_on_forgetting() {
  const Duration now = shepherd::since_boot();
  if (!forgetting_.go_on(now_, now)) return;
  // Nobody who looked up so long ago is still to be answered.
  std::erase_if(moved_, [&](const auto& each) { return each.second < now - 10min; });
}

void Core::wake() { bell_.ring(); }

void Core::reload() {
  reload_ = true;
  wake();
}

void Core::step(Lock& lock) {
  now_ = clock_.now();
  heed_jump();
  heed_maintenance();
  renew_policy();
  go_on_forgetting();
  take_entrants(lock);
  std::optional<Answer> fulfilled = take_wish(lock);
  // Submissions that came during a large wish do not wait for what it leaves to be written.
  if (fulfilled) take_entrants(lock);
  take_exits();
  press();
  take_excesses();
  if (reload_.exchange(false)) take_policy_file();
  heed_accounts();
  let_in();
  decide();
  save(lock);
  if (fulfilled) fulfilled->set_value({});
  launch(lock);
  if (std::exchange(changed_, false)) {
    ++revision_;
    line_.has_changed = true;
  }
}

Time Core::next_alarm() const {
  const bool has_news = !events_.empty() && !holds_back_;
  if (has_news) return now_;
  Time next = std::min(outbox_.due(now_), starter_.again());
  for (const service::Window& each : maintenance_.windows()) next = std::min(next, each.to);
  if (!wakes_.empty()) next = std::min(next, *wakes_.begin());
  if (!holds_back_) {
    if (!book_.anteroom().in({WaitsFor::What::a_look}).empty()) return now_;
    next = std::min(next, book_.anteroom().next_time());
  }
  next = std::min(next, accounts_.due(now_));
  for (const JobNumber number : processes_) {
    const Entry& entry = *book_.find(number);
    const bool is_unheld = entry.run->news() < 0 && entry.of_runs->look_again == kNever;
    next = std::min(next, is_unheld ? now_ : entry.of_runs->look_again);
    if (entry.of_runs->moved_by) {
      next =
          std::min(next, now_ + std::max(*entry.of_runs->moved_by - shepherd::since_boot(), 0ms));
    }
    if (entry.of_runs->obey_by) {
      next = std::min(next, now_ + std::max(*entry.of_runs->obey_by - shepherd::since_boot(), 0ms));
    }
  }
  return next;
}

void Core::wait_for_news(Duration at_most) {
  std::vector<pollfd> sources{{bell_.get(), POLLIN, 0}};
  {
    const Lock lock(mutex_);
    for (const JobNumber number : processes_) {
      const Entry& entry = *book_.find(number);
      if (entry.of_runs->look_again == kNever) sources.push_back({entry.run->news(), POLLIN, 0});
    }
    const Time next = next_alarm();
    at_most = std::min(at_most, kHeartbeat);
    if (next != kNever) at_most = std::clamp<Duration>(next - clock_.now() + 1ms, 0ms, at_most);
  }
  const int timeout_ms = static_cast<int>(at_most.count());
  ::poll(sources.data(), sources.size(), timeout_ms);
  bell_.hush();
}

void Core::take_exits() {
  std::vector<pollfd> sources;
  std::vector<JobNumber> whose;
  for (const JobNumber number : processes_) {
    sources.push_back({book_.find(number)->run->news(), POLLIN, 0});
    whose.push_back(number);
  }
  if (sources.empty()) return;
  ::poll(sources.data(), sources.size(), 0);
  for (std::size_t at = 0; at < sources.size(); ++at) {
    using Kind = shepherd::Outcome::Kind;
    const bool has_news = sources[at].revents != 0;
    Entry& entry = *book_.find(whose[at]);
    const bool is_due = entry.of_runs->look_again == kNever ? has_news || sources[at].fd < 0
                                                            : entry.of_runs->look_again <= now_;
    if (!is_due) continue;
    const shepherd::Outcome how = entry.run->exited();
    if (how.kind == Kind::unreadable || (how.kind == Kind::lives && has_news)) {
      look_later(entry, how);
    } else if (how.kind == Kind::lives) {
      entry.of_runs.change().look_again = kNever;
    } else {
      process_gone(entry, how);
    }
  }
}

void Core::look_later(Entry& entry, const shepherd::Outcome& how) {
  constexpr Duration kAtFirst = 10ms;
  constexpr Duration kAtMost = 10s;
  OfRuns& own = entry.of_runs.change();
  const bool is_first = own.look_again == kNever;
  own.look_pause = is_first ? kAtFirst : std::min(2 * own.look_pause, kAtMost);
  own.look_again = now_ + own.look_pause;
  if (is_first && how.kind == shepherd::Outcome::Kind::unreadable) {
    service::log_warning(fmt::format("{} now; it is kept as it is, and looked at again", how.why));
  }
}

void Core::take_excesses() {
  for (const GpuExcess& each : std::exchange(excesses_, {})) {
    Entry* const entry = book_.find(each.job);
    const bool is_same_run = entry != nullptr && entry->run && entry->run->folder() == each.folder;
    if (!is_same_run || std::exchange(entry->too_much_gpu, true)) continue;
    note(entry->job, kTooMuchGpu,
         fmt::format("held {:.1f} GB of GPU {} of {}, its part is {:.1f}", each.held_gb, each.gpu,
                     config_.machine.cluster.node_label(each.node), each.part_gb));
    deeds_.kill.push_back(each.job);
  }
}

WaitsFor Core::waits_for(const Entry& entry) const {
  const WaitsFor made = book_.waits_for(entry, now_);
  if (made.what != WaitsFor::What::nothing) return made;
  if (accounts_.is_closed(entry.job.asked->uid)) {
    return {WaitsFor::What::account, entry.job.asked->uid};
  }
  if (maintenance_.bars(entry.job.asked->time_limit, now_) != nullptr) {
    return {WaitsFor::What::maintenance};
  }
  return {};
}

void Core::let_in() {
  if (holds_back_) return;
  book_.open_due(now_);
  // More than that come in the steps that follow, between which others are answered.
  constexpr int kAtOnce = 2000;
  const std::set<JobNumber>& next = book_.anteroom().in({WaitsFor::What::a_look});
  const std::vector<JobNumber> some(
      next.begin(), std::next(next.begin(), std::min<std::ptrdiff_t>(kAtOnce, std::ssize(next))));
  for (const JobNumber number : some) {
    Entry& entry = *book_.find(number);
    if (entry.waits.what != WaitsFor::What::a_look) continue;
    const WaitsFor room = waits_for(entry);
    book_.wait(entry, room);
    if (room.what == WaitsFor::What::nothing) {
      join(entry);
    } else if (room.what == WaitsFor::What::others && book_.is_hopeless(entry)) {
      happen(entry,
             life::Ended{trace::JobState::cancelled, "what it was to follow ended otherwise"});
    }
  }
}

void Core::decide() {
  for (; !wakes_.empty() && *wakes_.begin() <= now_; wakes_.erase(wakes_.begin())) {
    if (events_.empty() || events_.back().kind != EventKind::timer) {
      events_.push_back({EventKind::timer, 0});
    }
  }
  while (!events_.empty() && !holds_back_) {
    std::vector<Event> told = std::exchange(events_, {});
    std::stable_sort(told.begin(), told.end(),
                     [](const Event& a, const Event& b) { return a.kind < b.kind; });
    const auto begun = std::chrono::steady_clock::now();
    round_->run(now_, told);
    pin();
    counters_.count_round(seconds_since(begun));
    changed_ = true;
    for (const Time wake : round_->wakes()) {
      if (wake > now_) {
        wakes_.insert(wake);
      } else if (events_.empty()) {
        events_.push_back({EventKind::timer, 0});
      }
    }
  }
  // Also where there was nothing to decide.
  counters_.last_round = now_;
}

void Core::launch(Lock& lock) {
  starter_.look(now_);
  if (!outbox_.trouble().empty()) return;
  for (const JobNumber number : std::exchange(deeds_.stop, {})) {
    Entry* const entry = book_.find(number);
    if (entry != nullptr && entry->run) tell_to_end(*entry);
  }
  for (const JobNumber number : std::exchange(deeds_.kill, {})) {
    Entry* const entry = book_.find(number);
    if (entry != nullptr && entry->run && entry->too_much_gpu) entry->run->end_for_memory();
  }
  for (const JobNumber number : std::exchange(deeds_.resize, {})) {
    Entry* const entry = book_.find(number);
    if (entry != nullptr && entry->process() == Process::own) resize_process(*entry);
  }
  tell_moved();
  if (!may_start() || deeds_.start.empty()) return;
  std::vector<JobNumber> later;
  const std::vector<JobNumber> taken = deeds_.start;  // others see there what is about to start
  for (const JobNumber number : taken) {
    const Entry* const entry = book_.find(number);
    if (entry == nullptr || !entry->is_starting()) continue;
    if (starter_.rests() || outbox_.is_refused(number) || !is_free_of_others(*entry)) {
      later.push_back(number);
      continue;
    }
    lock.unlock();
    const auto whole = store_.job(number);
    lock.lock();
    if (!whole && whole.error().code == Code::corrupt) {
      put_off(*book_.find(number), to_string(whole.error()));
      continue;
    }
    if (!whole || !*whole) {
      later.push_back(number);
      outbox_.try_again(now_);
      continue;
    }
    start_process(lock, *book_.find(number), **whole);
  }
  deeds_.start.erase(deeds_.start.begin(), deeds_.start.begin() + std::ssize(taken));
  deeds_.start.insert(deeds_.start.end(), later.begin(), later.end());
}

}  // namespace almanac::machine
