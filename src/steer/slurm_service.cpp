// SPDX-License-Identifier: Apache-2.0
#include "steer/slurm_service.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "service/inquest.h"
#include "service/log.h"
#include "service/notify.h"
#include "slurm/quotas.h"
#include "steer/record.h"
#include "steer/slimming_lever.h"
#include "steer/watching.h"
#include "text/duration.h"

namespace almanac::steer {

namespace {

/// A decision is made anew so often, whatever happens: orders change as time goes by.
constexpr Duration kStale = 10s;
constexpr Duration kLongestPause = 30s;
constexpr Duration kMoment = 1min;
constexpr Duration kStatus = 2s;

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace

void SlurmService::run(const std::atomic<bool>& stop) {
  while (!stop) {
    while (!stop && step()) watchdog_.alive();
    watchdog_.alive();
    sleep_until_news(stop);
  }
  say_status();
  wishes_.close();
}

void SlurmService::wake() { bell_.ring(); }

void SlurmService::reload() {
  reload_ = true;
  wake();
}

Duration SlurmService::pause() const {
  const std::lock_guard lock(mutex_);
  if (!trouble_.empty()) return std::min(kLongestPause, 5 * config_.settings.poll);
  // A controller that takes long to answer is asked less often.
  const auto took = Duration{std::llround(news_s_ * 1e3)};
  return std::clamp<Duration>(4 * took, config_.settings.poll, kLongestPause);
}

void SlurmService::sleep_until_news(const std::atomic<bool>& stop) {
  if (stop) return;
  pollfd source{bell_.get(), POLLIN, 0};
  ::poll(&source, 1, static_cast<int>(pause().count()));
  bell_.hush();
}

bool SlurmService::step() {
  const bool has_come = past_ && past_->has_come();
  renew_ = reload_.exchange(false) || has_come || renew_;
  renew_decider();
  take_wishes();
  take_controls();
  auto news = ask_news();
  bool more = false;
  if (news) {
    if (take_news(std::move(*news))) look_on();
    const bool decided = decide();
    slim();
    heed_canary();
    more = turn_levers();
    if (decided || more) ++revision_;
  }
  save();
  if (wall_clock() >= next_status_) say_status();
  return more;
}

void SlurmService::wait_for(const Stage& stage, const std::function<void()>& act) {
  bool is_said = false;
  steer::wait_for(stage, act, std::min<Duration>(watchdog_.patience(), 1s), [&](bool is_late) {
    if (!is_late) {
      watchdog_.alive();
    } else if (!std::exchange(is_said, true)) {
      const std::lock_guard lock(mutex_);
      trouble_ =
          fmt::format("{} has taken {} already", stage.doing, text::format_duration(stage.longest));
      service::log_error(trouble_);
    }
    if (wall_clock() >= next_status_) say_status();
  });
}

void SlurmService::take_wishes() {
  for (auto& request : wishes_.take_all()) {
    wait_for(kGranting, [&] { request.answer.set_value(request.asked(*link_)); });
  }
}

Result<slurm::News> SlurmService::ask_news() {
  const auto begun = std::chrono::steady_clock::now();
  Result<slurm::News> news;
  {
    const std::lock_guard lock(mutex_);
    asked_at_ = begun;
  }
  wait_for(kAsking, [&] { news = link_->news(); });
  const std::lock_guard lock(mutex_);
  asked_at_.reset();
  news_s_ = seconds_since(begun);
  if (news) {
    if (!trouble_.empty()) service::log_info("the controller answers again");
    trouble_.clear();
    return news;
  }
  if (trouble_.empty()) {
    service::log_warning(fmt::format("the controller does not answer, all levers rest: {}",
                                     to_string(news.error())));
    ++revision_;
  }
  trouble_ = to_string(news.error());
  return news;
}

bool SlurmService::take_news(slurm::News news) {
  const std::lock_guard lock(mutex_);
  if (news.limits && !slurm::enforces_limits(site_)) news.limits->quotas.clear();
  Difference made = mirror_.take(std::move(news));
  look_again_ = look_again_ || made.anything;
  counters_.submitted += made.came;
  counters_.started += made.started;
  counters_.preempted += made.requeued;
  counters_.ended += made.ended.size();
  const bool is_other = hardware_ != mirror_.hardware();
  if (is_other) {
    hardware_ = mirror_.hardware();
    world_ = make_world(mirror_, config_.settings.virtual_clusters);
    look_again_ = true;
  }
  for (const slurm::JobNumber each : announced_.look(mirror_, made.ended)) decider_->forget(each);
  canary_.note_ended(made.ended, *world_);
  for (const slurm::Job& job : made.ended) {
    decider_->learn(job, *world_);
    if (job.outcome == trace::JobState::unknown) continue;
    ended_.push_back(to_stored(job, *world_));
    if (const JobUse* const use = slimmer_->use(job.number)) ended_.back().used = use->used();
    taught_.push_back(ended_.back());
    if (job.outcome == trace::JobState::failed && !job.out.empty()) inquest_->hold(ended_.back());
  }
  return is_other;
}

void SlurmService::hear_why(store::JobNumber job, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    notes_.push_back({.at = mirror_.at(), .job = job, .what = service::kJudged, .detail = why});
  }
  wake();
}

bool SlurmService::decide() {
  const std::lock_guard lock(mutex_);
  const Time now = mirror_.at();
  const Decision& last = decider_->last();
  const bool is_stale = last.at == kNoTime || now >= last.wake || now - last.at >= kStale;
  counters_.last_round = wall_clock();
  if (!look_again_ && !is_stale) return false;
  look_again_ = false;
  const auto begun = std::chrono::steady_clock::now();
  // No job is stopped for one that may have been refused.
  const std::vector<slurm::Job> none;
  decider_->decide(mirror_, world_, config_.settings.exempt,
                   moves("preemption") ? none : announced_.jobs(), driver_.in_vain(scene()));
  counters_.count_round(seconds_since(begun));
  return true;
}

void SlurmService::slim() {
  if (!agents_) return;
  const auto reports = agents_->take_reports();
  const std::lock_guard lock(mutex_);
  slimmer_->look(mirror_, world_, reports, config_.settings);
}

Scene SlurmService::scene() const {
  return {.settings = config_.settings,
          .site = site_,
          .can = link_->can(),
          .mirror = mirror_,
          .decision = decider_->last(),
          .policy = decider_->policy()};
}

bool SlurmService::turn_levers() {
  Slice slice;
  {
    const std::lock_guard lock(mutex_);
    if (decider_->last().world == nullptr) return false;
    slice = driver_.plan(scene(), steady());
  }
  wait_for(kActing, [&] { driver_.carry_out(slice, *link_); });
  const auto kept = keep_switches();
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    if (!kept) switch_trouble_ = to_string(kept.error());
    changed = driver_.settle(slice, mirror_);
  }
  tell_agents();
  return changed;
}

void SlurmService::tell_agents() {
  if (!agents_) return;
  const std::lock_guard lock(mutex_);
  agents_->order(orders_of(driver_.claims()));
}

void SlurmService::save() {
  store::Store::Batch batch;
  std::ptrdiff_t num_values = 0;  // others may come while these are written
  std::ptrdiff_t num_notes = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const store::Job& job : ended_) batch.put(job);
    for (const store::Note& note : notes_) batch.note(note);
    for (const auto& [key, value] : values_) batch.set(key, value);
    num_values = std::ssize(values_);
    num_notes = std::ssize(notes_);
  }
  const Time now = wall_clock();
  if (now >= next_moment_) {
    next_moment_ = now + kMoment;
    const service::Overview seen = overview();
    batch.sample({.at = now,
                  .gpus = seen.gpus,
                  .gpus_busy = seen.gpus_busy,
                  .jobs_running = static_cast<std::int32_t>(seen.running),
                  .jobs_waiting = static_cast<std::int32_t>(seen.waiting),
                  .gpu_use = std::nan("")});
  }
  if (batch.empty()) return;
  const auto begun = std::chrono::steady_clock::now();
  const auto saved = store_.commit(batch);
  const std::lock_guard lock(mutex_);
  counters_.commit_s += seconds_since(begun);
  if (!saved) {
    ++counters_.failed_commits;
    if (store_trouble_.empty()) service::log_error(to_string(saved.error()));
    store_trouble_ = to_string(saved.error());
    return;
  }
  store_trouble_.clear();
  ended_.clear();
  values_.erase(values_.begin(), values_.begin() + num_values);
  notes_.erase(notes_.begin(), notes_.begin() + num_notes);
}

void SlurmService::say_status() {
  next_status_ = wall_clock() + kStatus;
  if (const auto written = write_status(config_.state, status()); !written) {
    const std::lock_guard lock(mutex_);
    store_trouble_ = to_string(written.error());
  }
}

}  // namespace almanac::steer
