// SPDX-License-Identifier: Apache-2.0
#include "kube_replay/replay.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "kube/api_server.h"
#include "kube/objects.h"
#include "kube_replay/stepped_service.h"
#include "kueue/scheduler.h"
#include "service/clock.h"

namespace almanac::replay {
namespace {

using kube::Json;

constexpr const char* kQueue = "all";
constexpr const char* kGpu = "nvidia.com/gpu";
/// 2026-01-01: a virtual time of zero would make every pause of the service a long time ago.
constexpr Time kBegin{std::chrono::seconds{1'767'225'600}};

class VirtualClock final : public service::Clock {
 public:
  Time wall() const override { return Time{Duration{now_ms_.load()}}; }
  Instant monotonic() const override { return Instant{std::chrono::milliseconds{now_ms_.load()}}; }
  Duration since_boot() const override { return Duration{now_ms_.load()}; }
  void set(Time now) { now_ms_ = now.time_since_epoch().count(); }

 private:
  std::atomic<std::int64_t> now_ms_{kBegin.time_since_epoch().count()};
};

std::string text_of(Time time) {
  const auto s = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(s)));
}

std::string uid_of(std::size_t job) { return fmt::format("{:08}", job); }

class Replay {
 public:
  Replay(const trace::Trace& log, const Course& course)
      : log_(log),
        course_(course),
        scheduler_(kueue::Scheduler::make(setup_of(course)).value()),
        starts_(log.jobs.size(), kNoTime) {
    begin_ = log.jobs.front().request.submit;
  }

  Result<Outcome> run(const std::string& folder) {
    const auto begun = std::chrono::steady_clock::now();
    if (course_.has_lever) {
      if (auto opened = open(folder); !opened) return tl::unexpected(opened.error());
    }
    while (next_ < log_.jobs.size() || !ends_.empty()) {
      const Time event = next_event();
      if (is_idle_ || event <= next_step_) {
        clock_.set(event);
        take_events(event);
        next_step_ = event;
        is_idle_ = service_ == nullptr;
      } else {
        clock_.set(next_step_);
        step();
      }
    }
    return Outcome{starts_, writes_,
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count()};
  }

 private:
  static kueue::Setup setup_of(const Course& course) {
    kueue::Setup setup;
    setup.flavors.push_back({.name = "default"});
    kueue::ClusterQueue& queue = setup.queues.emplace_back();
    queue.name = kQueue;
    queue.is_strict = course.is_strict;
    queue.groups.emplace_back().flavors.push_back({"default", {{kGpu, {course.quota}}}});
    return setup;
  }

  Result<void> open(const std::string& folder) {
    // The header Date would be real.
    server_ = std::make_unique<kube::ApiServer>();
    server_->create(kube::kKueueApi + "/resourceflavors", kube::flavor("default"));
    Json queue = kube::cluster_queue(kQueue, course_.quota);
    if (course_.is_strict) queue["spec"]["queueingStrategy"] = "StrictFIFO";
    server_->create(kube::kKueueApi + "/clusterqueues", queue);
    server_->create(kube::in_namespace("a", "localqueues"), kube::local_queue("main", kQueue));
    server_->after_patch = [this](const Json& object) {
      const std::lock_guard lock(mutex_);
      patched_.emplace_back(object["metadata"]["uid"], object["spec"]["priority"]);
    };
    steer_kube::Config config{.state = folder};
    config.settings.order = service::Switch::on;
    config.settings.user_label = "user";
    if (course_.is_strict) config.settings.backfill = {kQueue};
    config.connect = [url = server_->url()] {
      return kube::Client::to({.server = url, .from = url});
    };
    if (course_.estimator) config.estimator = course_.estimator;
    config.clock = &clock_;
    auto opened = SteppedService::open(std::move(config));
    if (!opened) return tl::unexpected(opened.error());
    service_ = std::move(*opened);
    heard_ = service_->known.live->revision();
    return {};
  }

  Time virtual_time(Time of_log) const { return kBegin + (of_log - begin_); }

  Time next_event() const {
    const Time arrival =
        next_ < log_.jobs.size() ? virtual_time(log_.jobs[next_].request.submit) : kNever;
    return ends_.empty() ? arrival : std::min(arrival, std::get<Time>(ends_.top()));
  }

  void take_events(Time now) {
    while (!ends_.empty() && std::get<Time>(ends_.top()) == now) {
      const std::size_t job = std::get<std::size_t>(ends_.top());
      ends_.pop();
      scheduler_.remove(uid_of(job));
      if (!service_) continue;
      const int gpus = log_.jobs[job].request.gpus;
      server_->patch(path_of(job),
                     kube::finished(kQueue, gpus, text_of(virtual_starts_.at(job)), text_of(now)));
      server_->remove(path_of(job));
      heard_ += 2;
      virtual_starts_.erase(job);
    }
    for (; next_ < log_.jobs.size() && virtual_time(log_.jobs[next_].request.submit) == now;
         ++next_) {
      submit(next_, now);
    }
    run_cycles(now);
  }

  std::string path_of(std::size_t job) const {
    return kube::in_namespace("a", "workloads") + "/w-" + uid_of(job);
  }

  void submit(std::size_t job, Time now) {
    const trace::Request& request = log_.jobs[job].request;
    kueue::Submission asked{
        .name = uid_of(job),
        .queue = kQueue,
        .created = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count()};
    asked.pod_sets.push_back({.name = "main", .requests = {{kGpu, request.gpus}}});
    if (!scheduler_.submit(std::move(asked))) std::abort();
    if (!service_) return;
    Json object = kube::workload("w-" + uid_of(job), "main", request.gpus);
    Json& metadata = object["metadata"];
    metadata["uid"] = uid_of(job);
    metadata["creationTimestamp"] = text_of(now);
    const auto word = [&](NameId id) {
      return id == kNoName ? std::string() : std::string(log_.names[id]);
    };
    metadata["labels"] = {{"user", word(request.user)}};
    metadata["ownerReferences"] = {
        {{"kind", "Job"},
         {"name", request.name == kNoName ? "w-" + uid_of(job) : word(request.name)},
         {"controller", true}}};
    server_->create(kube::in_namespace("a", "workloads"), object);
    ++heard_;
  }

  /// Cycles until none admits a workload and no head is new.
  void run_cycles(Time now) {
    std::vector<std::string_view> heads = scheduler_.heads();
    while (!heads.empty()) {
      const kueue::Cycle cycle = scheduler_.cycle(0);
      for (const kueue::Admitted& each : cycle.admitted) start(each.workload, now);
      std::vector<std::string_view> next = scheduler_.heads();
      if (cycle.admitted.empty() && next == heads) return;
      heads = std::move(next);
    }
  }

  void start(const std::string& uid, Time now) {
    const std::size_t job = std::stoul(uid);
    starts_[job] = begin_ + (now - kBegin);
    ends_.emplace(now + log_.jobs[job].outcome.run, job);
    if (!service_) return;
    virtual_starts_[job] = now;
    server_->patch(path_of(job), kube::admitted(kQueue, log_.jobs[job].request.gpus, text_of(now)));
    ++heard_;
  }

  /// A step of the service, once it has heard of all that has happened.
  void step() {
    const Time now = clock_.wall();
    while (service_->known.live->revision() < heard_) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    service_->loop.step();
    std::vector<std::pair<std::string, std::int64_t>> patched;
    {
      const std::lock_guard lock(mutex_);
      patched = std::exchange(patched_, {});
    }
    for (const auto& [uid, priority] : patched) {
      ++writes_;
      ++heard_;
      scheduler_.set_priority(uid, priority);
      run_cycles(now);
    }
    const Duration rest = service_->cluster.rest();
    is_idle_ = patched.empty() && rest >= 1s;
    next_step_ = now + rest;
  }

  const trace::Trace& log_;
  const Course& course_;
  VirtualClock clock_{};
  kueue::Scheduler scheduler_;
  std::unique_ptr<kube::ApiServer> server_{};
  std::unique_ptr<SteppedService> service_{};
  std::vector<Time> starts_;
  std::map<std::size_t, Time> virtual_starts_{};  ///< Of jobs that run.
  std::priority_queue<std::tuple<Time, std::size_t>, std::vector<std::tuple<Time, std::size_t>>,
                      std::greater<>>
      ends_{};
  std::size_t next_ = 0;  ///< To be submitted.
  Time begin_{};
  Time next_step_ = kBegin;
  bool is_idle_ = true;
  std::uint64_t heard_ = 0;  ///< Revision of the live cluster once it has heard of everything.
  std::int64_t writes_ = 0;
  std::mutex mutex_{};
  std::vector<std::pair<std::string, std::int64_t>> patched_{};
};

}  // namespace

Result<Outcome> replay(const trace::Trace& log, const Course& course, const std::string& folder) {
  return Replay(log, course).run(folder);
}

double mean_wait_s(const trace::Trace& log, const std::vector<Time>& starts) {
  double sum = 0;
  for (std::size_t job = 0; job < log.jobs.size(); ++job) {
    sum += seconds(starts[job] - log.jobs[job].request.submit);
  }
  return sum / static_cast<double>(log.jobs.size());
}

}  // namespace almanac::replay
