// SPDX-License-Identifier: Apache-2.0
#include "machine/watching.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "service/log.h"
#include "service/policies.h"
#include "service/tenancy.h"
#include "store/log.h"

namespace almanac::machine {

using store::JobNumber;

namespace {

/// A name by which the services of a machine differ: each has a state folder of its own.
std::string owner_of(const std::string& state) {
  struct stat about {};
  static_cast<void>(::stat(state.c_str(), &about));  // the folder exists: the store is open in it
  return fmt::format("serve.{:x}.{:x}", about.st_dev, about.st_ino);
}

}  // namespace

Watching::~Watching() {
  const std::lock_guard lock(state_.mutex);
  parts_.lifecycle.on_failure({});
}

void Watching::begin() {
  const Config& config = state_.config;
  if (config.futures > 0) begin_forecasts();
  begin_shadow();
  if (config.silent_boxes) begin_boxes();
  vitals_ = std::make_unique<Vitals>(
      config.machine, owner_of(config.state), config.measuring.every,
      [this] { return parts_.processes.patients(); },
      [this](NodeId node, int gpu, const std::string& trouble) {
        parts_.out_of_service.set_by_driver(node, gpu, trouble);
      },
      [this](const Sight& sight) {
        parts_.observer.take(sight);
        parts_.observer.send_letters();
      });
  inquest_ = std::make_unique<service::Inquest>(
      [this](JobNumber job, const std::string& why) { note_cause(job, why); });
  const std::lock_guard lock(state_.mutex);
  parts_.lifecycle.on_failure([to = inquest_.get()](const store::Job& job) { to->hold(job); });
}

void Watching::begin_forecasts() {
  const Config& config = state_.config;
  foresight_ = std::make_unique<service::Foresight>(
      config.machine.cluster, config.speeds,
      [this] {
        return state_.store.log(state_.clock.wall() - service::kLesson, service::kLessons);
      },
      config.futures, config.seed, [this] { return outlook(); },
      [this] { return state_.revision.load(); },
      [this](const std::vector<store::Told>& told) { keep(told); });
}

void Watching::begin_shadow() {
  const Config& config = state_.config;
  const auto past = [this] {
    return state_.store.ended(Time{}).map([](const std::vector<store::Job>& jobs) {
      experiment::Past played{.log = store::log_of(jobs, "the store")};
      for (std::size_t at = 0; at < jobs.size(); ++at) {
        if (jobs[at].asked->kept) played.kept.insert(played.log.jobs[at].id);
      }
      return played;
    });
  };
  shadow_ =
      std::make_unique<service::Shadow>(past, config.machine.cluster, config.seed, config.age_cap);
  static_cast<void>(watch({}));
}

void Watching::begin_boxes() {
  boxes_ = std::jthread([this](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wakes;
    std::unique_lock lock(mutex);
    const Config& own = state_.config;
    while (!stop.stop_requested()) {
      parts_.out_of_service.set_silent(own.silent_boxes(), own.gone_boxes());
      wakes.wait_for(lock, stop, 1s, [] { return false; });
    }
  });
}

Result<void> Watching::watch(Result<void> set) {
  if (!set) return set;
  const service::Overview now = parts_.cluster.overview();
  const auto policy = service::compose(now.policy);
  std::optional<policy::Composition> shadow;
  if (!now.shadow.empty()) {
    if (auto made = service::compose(now.shadow)) {
      shadow = std::move(*made);
    } else {
      service::log_warning(
          fmt::format("the shadow policy is left out: {}; almanac policy set "
                      "--shadow sets another one",
                      made.error().message));
    }
  }
  if (policy) shadow_->watch(*policy, std::move(shadow));
  return set;
}

service::Outlook Watching::outlook() {
  service::Outlook made = [this] {
    const std::lock_guard lock(state_.mutex);
    service::Outlook now = parts_.cluster.look();
    now.ended = parts_.lifecycle.take_ended();
    return now;
  }();
  if (!service::goes_by_use(made.composition)) return made;
  if (const auto known = parts_.jobs.tenancy()) {
    made.used = service::own_uses(*known, state_.config.machine.cluster);
  }
  return made;
}

void Watching::keep(const std::vector<store::Told>& told) {
  {
    const std::lock_guard lock(state_.mutex);
    // The store may know nothing of a job that is gone.
    for (const store::Told& each : told) {
      const Entry* const entry = state_.book.find(each.job);
      if (entry == nullptr) continue;
      state_.outbox.told(each);
      state_.add_wait(state_.counters.expected_waits, *entry, each.start_to);
    }
  }
  state_.bell.ring();
}

void Watching::note_cause(JobNumber job, const std::string& why) {
  {
    const std::lock_guard lock(state_.mutex);
    state_.outbox.note(
        {.at = state_.time.now(), .job = job, .what = service::kJudged, .detail = why});
  }
  state_.bell.ring();
}

std::optional<service::Expected> Watching::expect(JobNumber number, Duration patience) const {
  return foresight_ ? foresight_->ask(number, patience) : std::nullopt;
}

Result<std::optional<service::Expected>> Watching::foresee(const store::Submission& asked) const {
  if (!foresight_) return fail(Code::unsupported, "this service makes no forecasts");
  return foresight_->would(asked);
}

Result<std::optional<service::ChangedForecasts>> Watching::foresee(
    const std::vector<std::string>& changes) const {
  if (!foresight_) return fail(Code::unsupported, "this service makes no forecasts");
  return foresight_->would(changes);
}

Result<std::optional<service::StartsIf>> Watching::starts_if(JobNumber number) const {
  if (!foresight_) return fail(Code::unsupported, "this service makes no forecasts");
  return foresight_->starts_if(number);
}

Result<std::vector<service::JobView>> Watching::add_to(
    Result<std::vector<service::JobView>> views) const {
  if (!views) return views;
  for (service::JobView& view : *views) {
    add_to(view);
    const bool runs = view.job.state == trace::JobState::running;
    if (runs) view.job.lost_output += vitals_->of(view.job.number).lost_output;
  }
  return views;
}

Result<service::JobView> Watching::add_to(Result<service::JobView> view) const {
  if (!view) return view;
  add_to(*view);
  if (view->job.state == trace::JobState::running && view->job.asked->gpu_share < 1) {
    view->limits_by += fmt::format("{}GPU memory: {}", view->limits_by.empty() ? "" : ", ",
                                   view->gpu_memory_gb >= 0 ? "watched" : "not held");
  }
  return view;
}

void Watching::add_to(service::JobView& view) const {
  const bool runs = view.job.state == trace::JobState::running;
  if (foresight_ && (runs || !view.why.empty())) {
    view.expected = foresight_->of(view.job.number);
    if (view.expected && runs) {
      // The forecast may have been made while it waited.
      view.expected->start_from = view.expected->start_to = view.expected->start_by = kNoTime;
      view.expected->other_gpus.reset();
    }
  }
  if (!runs) return;
  const JobVitals vitals = vitals_->of(view.job.number);
  view.gpu_use = vitals.gpu_use.value_or(-1);
  view.cpu_use = vitals.cores_busy.value_or(-1);
  view.memory_gb = vitals.memory_gb.value_or(-1);
  view.gpu_memory_gb = vitals.gpu_memory_gb.value_or(-1);
}

std::vector<service::NodeView> Watching::add_to(std::vector<service::NodeView> nodes) const {
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    for (service::GpuView& gpu : nodes[node].gpus) {
      const gpu::Sample sample = vitals_->of(NodeId{static_cast<std::uint32_t>(node)}, gpu.number);
      gpu.use = sample.use.value_or(-1);
      gpu.memory_gb = sample.memory_gb.value_or(-1);
      gpu.power_w = sample.power_w.value_or(-1);
    }
  }
  return nodes;
}

}  // namespace almanac::machine
