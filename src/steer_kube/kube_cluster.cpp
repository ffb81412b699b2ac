// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/kube_cluster.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/step_back.h"
#include "kube/left_alone.h"
#include "service/log.h"
#include "service/policies.h"
#include "steer_kube/alarm.h"

namespace almanac::steer_kube {
namespace {

/// Each look copies the picture.
constexpr Duration kBetweenLooks = 100ms;
constexpr Duration kBetweenWrites = Duration{1s} / OrderLever::kWritesPerSecond;
constexpr Duration kPoll = 1s;
/// Ages change the order, whatever happens.
constexpr Duration kStale = 10s;
constexpr Duration kBetweenSamples = 1min;
constexpr Duration kBetweenForgets = 1h;
/// A store that cannot be read is not read at each step.
constexpr Duration kBetweenRenewals = 1h;

}  // namespace

KubeCluster::KubeCluster(Known& known, kube::Client writer, std::string holder)
    : known_(known),
      writer_(std::move(writer)),
      lease_(known.config.settings.lease_space, "almanac", std::move(holder),
             known.config.settings.backfill),
      next_forget_(known.clock.monotonic() + kBetweenForgets),
      renewal_(known.bell) {}

Result<std::unique_ptr<RunTimes>> KubeCluster::taught(Time now) const {
  const auto past = known_.store.ended(now - service::kLesson, service::kLessons);
  if (!past) return tl::unexpected(past.error());
  auto made = std::make_unique<RunTimes>(known_.config.estimator);
  made->learn(*past);
  return made;
}

Result<void> KubeCluster::begin() {
  auto run_times = taught(known_.live->now());
  if (!run_times) return tl::unexpected(run_times.error());
  known_.run_times = std::move(**run_times);
  look();
  keep();
  {
    const std::lock_guard lock(known_.mutex);
    if (!known_.trouble.empty()) return fail(Code::unavailable, known_.trouble);
  }
  auto forecaster =
      Forecaster::start(known_.store, known_.live->now(), known_.config.settings.is_fair, [this] {
        ++known_.revision;
        known_.bell.ring();
      });
  if (!forecaster) return tl::unexpected(forecaster.error());
  known_.forecaster = std::move(*forecaster);
  known_.forecaster->look(known_.picture, false);
  decide();
  for (const std::string& each : notes_of(*known_.picture, known_.config.settings)) {
    service::log_info(each);
  }
  return {};
}

void KubeCluster::renew(bool) {
  const Time now = known_.clock.wall();
  if (!renewal_.is_under_way()) {
    if (!known_.run_times.is_worn() || !renewal_.may_begin(now)) return;
    const auto make = [this, until = known_.live->now()] {
      step_back();
      return taught(until);
    };
    if (!renewal_.begin(make, /*is_told=*/false)) renewal_.put_off(now + kBetweenRenewals);
    return;
  }
  auto done = renewal_.take();
  if (!done) return;
  if (!done->made) {
    renewal_.put_off(now + kBetweenRenewals);
    return service::log_error(to_string(done->made.error()));
  }
  std::unique_ptr<RunTimes> next = std::move(*done->made);
  // Without the lock, so that no query waits: only this thread changes what is read.
  next->take_over(known_.run_times, *known_.records, recent_);
  {
    const std::lock_guard lock(known_.mutex);
    std::swap(known_.run_times, *next);
  }
  renewal_.retire(std::move(next));
}

void KubeCluster::close() {
  lease_.release(writer_);
  const std::lock_guard lock(known_.mutex);
  for (const Line& line : known_.lines) {
    if (line.is_strict) service::log_warning(kube::left_alone(line.queue));
  }
}

bool KubeCluster::look() {
  const auto now = known_.clock.monotonic();
  if (const std::string trouble = known_.live->trouble(); trouble != logged_trouble_) {
    logged_trouble_ = trouble;
    if (trouble.empty()) {
      service::log_info("the cluster is seen again");
    } else {
      service::log_warning("the cluster is not seen: " + trouble);
    }
  }
  const std::uint64_t revision = known_.live->revision();
  if (revision == seen_ || now < next_look_) return true;
  seen_ = revision;
  next_look_ = now + kBetweenLooks;
  auto picture = std::make_shared<kube::Picture>(known_.live->picture());
  // After the picture, so that each workload is in one of them.
  std::ranges::move(known_.live->take_gone(), std::back_inserter(gone_));
  const std::lock_guard lock(known_.mutex);
  known_.news_s = known_.clock.seconds_since(now);
  known_.picture = picture;
  has_news_ = true;
  auto news = known_.records->look(*picture, gone_);
  if (!news) {
    unread_ = to_string(news.error());
    known_.trouble = unread_;
    seen_ = 0;
    return true;
  }
  gone_.clear();
  unread_.clear();
  known_.run_times.look(*picture, *known_.records, news->ended);
  recent_.insert(recent_.end(), news->ended.begin(), news->ended.end());
  for (const store::Job& job : news->started) {
    ++known_.counters.started;
    known_.counters.waits.add(job.asked->partition, job.asked->user, job.asked->gpus,
                              job.since - job.submit);
  }
  for (const store::Job& job : news->ended) ++known_.counters.ended[job.state];
  ended_ += std::ssize(news->ended);
  if (known_.forecaster) known_.forecaster->look(picture, !news->ended.empty());
  ++known_.revision;
  return true;
}

void KubeCluster::decide() {
  const auto begun = known_.clock.monotonic();
  const std::lock_guard lock(known_.mutex);
  known_.counters.last_round = known_.clock.wall();
  if (!has_news_ && begun < next_decision_) return;
  has_news_ = false;
  next_decision_ = begun + kStale;
  known_.decided_on = known_.picture;
  known_.lines = lines_of(*known_.picture, known_.run_times, known_.lever.claims(),
                          known_.lever.foreign(), known_.config.settings);
  known_.lever.look(*known_.picture, known_.lines, std::exchange(ended_, 0));
  known_.counters.count_round(known_.clock.seconds_since(begun));
  log_alarms();
}

void KubeCluster::log_alarms() {
  const std::vector<std::string> alarms =
      alarms_of(known_.lines, known_.config.settings, known_.lever.view().rests);
  if (alarms == logged_alarms_) return;
  logged_alarms_ = alarms;
  for (const std::string& each : alarms) service::log_warning(each);
}

void KubeCluster::keep() {
  const auto now = known_.clock.monotonic();
  if (now >= next_forget_) forget();
  std::unique_lock lock(known_.mutex);
  store::Store::Batch batch;
  if (now >= next_sample_) {
    next_sample_ = now + kBetweenSamples;
    store::Moment moment{.at = known_.clock.wall(), .gpu_use = std::nan("")};
    for (const kube::Node& node : known_.picture->nodes) {
      moment.gpus += node.is_ready ? static_cast<std::int32_t>(node.gpus()) : 0;
    }
    for (const kube::Workload& each : known_.picture->workloads) {
      if (each.stage == kube::Stage::pending) ++moment.jobs_waiting;
      if (each.stage != kube::Stage::admitted) continue;
      ++moment.jobs_running;
      moment.gpus_busy += static_cast<std::int32_t>(each.gpus());
    }
    batch.sample(moment);
  }
  known_.records->add_changes(batch);
  if (batch.empty()) {
    known_.trouble = unread_;
    if (!renewal_.is_under_way()) recent_.clear();
    return;
  }
  // A slow disk delays no query.
  lock.unlock();
  const auto begun = known_.clock.monotonic();
  const store::Commit saved = known_.store.commit(batch);
  lock.lock();
  known_.counters.commit_s += known_.clock.seconds_since(begun);
  if (saved) {
    known_.records->saved();
    if (!renewal_.is_under_way()) recent_.clear();
  } else {
    ++known_.counters.failed_commits;
    if (known_.trouble.empty()) service::log_error(to_string(saved.error()));
  }
  known_.trouble = saved ? unread_ : to_string(saved.error());
}

void KubeCluster::log_rest() {
  const std::string rests = known_.lever.view().rests;
  if (rests.empty() || rests == logged_rest_) return;
  logged_rest_ = rests;
  service::log_warning("lever order rests: " + rests);
}

void KubeCluster::forget() {
  next_forget_ = known_.clock.monotonic() + kBetweenForgets;
  const auto gone = known_.store.forget(known_.clock.wall() - known_.config.retention);
  if (!gone) service::log_error(to_string(gone.error()));
}

bool KubeCluster::act() {
  const auto now = known_.clock.monotonic();
  if (now < next_write_) return false;
  {
    const std::lock_guard lock(known_.mutex);
    if (!known_.lever.wants_lease()) return false;
  }
  const std::string not_ours = lease_.hold(writer_);
  const std::string blind = known_.live->trouble();
  std::optional<OrderLever::Next> next;
  std::string version;
  {
    const std::lock_guard lock(known_.mutex);
    known_.lever.rest(!blind.empty()      ? "the cluster is not seen: " + blind
                      : !not_ours.empty() ? "without the Lease: " + not_ours
                                          : "");
    log_rest();
    next = known_.lever.next(known_.clock.monotonic());
    has_more_ = next.has_value();
    if (!next) return false;
    if (const auto begun = known_.lever.begin(*next, known_.picture->at); !begun) return false;
    version = known_.picture->version;
  }
  const auto written = write_number(writer_, version, next->change, next->version);
  const auto answered = known_.clock.monotonic();
  next_write_ = answered + kBetweenWrites;
  const std::lock_guard lock(known_.mutex);
  known_.lever.end(*next,
                   written ? *written : Written{.status = 422, .message = written.error().message},
                   answered);
  if (written && written->status >= 200 && written->status < 300) logged_rest_.clear();
  log_rest();
  ++known_.revision;
  return false;
}

Duration KubeCluster::rest() const {
  if (known_.live->revision() != seen_) return kBetweenLooks;
  return has_more_ ? kBetweenWrites : kPoll;
}

}  // namespace almanac::steer_kube
