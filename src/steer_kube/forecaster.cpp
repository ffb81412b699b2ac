// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/forecaster.h"

#include <algorithm>
#include <utility>

#include "base/step_back.h"
#include "base/wall_clock.h"
#include "service/log.h"
#include "service/policies.h"
#include "store/log.h"

namespace almanac::steer_kube {
namespace {

constexpr Duration kShortestPause = 1s;
/// A forecast takes a quarter of a core at most.
constexpr int kPauses = 3;
constexpr Duration kBetweenLessons = 1min;

}  // namespace

Result<std::unique_ptr<Forecaster>> Forecaster::start(const store::Store& store, Time now,
                                                      bool is_fair, std::function<void()> on_done) {
  std::unique_ptr<Forecaster> made(new Forecaster(store, is_fair, std::move(on_done)));
  if (auto learned = made->learn(now); !learned) return tl::unexpected(learned.error());
  made->thread_ = std::jthread([&of = *made](const std::stop_token& stop) { of.run(stop); });
  return made;
}

Forecaster::~Forecaster() = default;

Result<void> Forecaster::learn(Time now) {
  const auto ended = store_.ended(now - service::kLesson, service::kLessons);
  if (!ended) return tl::unexpected(ended.error());
  trace::Trace log = store::log_of(*ended, "the store");
  // Logs of a store have no accounts, and run times differ by LocalQueue.
  for (std::size_t at = 0; at < log.jobs.size(); ++at) {
    log.jobs[at].request.account = log.names.intern((*ended)[at].asked->account);
  }
  auto made = std::make_shared<kube::Lifetimes>();
  made->learn(log);
  const std::lock_guard lock(mutex_);
  lifetimes_ = std::move(made);
  learned_ = now;
  return {};
}

void Forecaster::look(std::shared_ptr<const kube::Picture> picture, bool has_ended) {
  {
    const std::lock_guard lock(mutex_);
    next_ = std::move(picture);
    has_ended_ = has_ended_ || has_ended;
  }
  changed_.notify_all();
}

std::shared_ptr<const Forecast> Forecaster::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::shared_ptr<const kube::Lifetimes> Forecaster::lifetimes() const {
  const std::lock_guard lock(mutex_);
  return lifetimes_;
}

void Forecaster::run(const std::stop_token& stop) {
  step_back();
  while (!stop.stop_requested()) {
    std::shared_ptr<const kube::Picture> picture;
    bool is_lesson_due = false;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return next_ != nullptr; })) return;
      picture = std::exchange(next_, nullptr);
      is_lesson_due = has_ended_ && picture->at - learned_ >= kBetweenLessons;
      if (is_lesson_due) has_ended_ = false;
    }
    if (is_lesson_due) {
      if (const auto learned = learn(picture->at); !learned) {
        service::log_error(to_string(learned.error()));
      }
    }
    const Time begun = steady();
    auto made = std::make_shared<Forecast>();
    made->picture = picture;
    for (kube::Outlook& each : kube::outlook_of(*picture, *lifetimes(), is_fair_)) {
      made->of.emplace(picture->workloads[each.workload].uid, std::move(each));
    }
    const Duration took = steady() - begun;
    std::unique_lock lock(mutex_);
    last_ = std::move(made);
    lock.unlock();
    on_done_();
    lock.lock();
    changed_.wait_for(lock, stop, std::max(kShortestPause, took * kPauses), [] { return false; });
  }
}

}  // namespace almanac::steer_kube
