// SPDX-License-Identifier: Apache-2.0
#include "machine/local_service.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/wall_clock.h"
#include "machine/core.h"
#include "machine/vitals.h"
#include "service/foresight.h"
#include "service/inquest.h"
#include "service/log.h"
#include "service/policies.h"
#include "service/shadow.h"
#include "store/log.h"

namespace almanac::machine {

using store::JobNumber;

namespace {

/// The state folder tells the services of a machine apart: each has one of its own.
std::string owner_of(const std::string& state) {
  struct stat about {};
  static_cast<void>(::stat(state.c_str(), &about));  // it is there: the store is open in it
  return fmt::format("serve.{:x}.{:x}", about.st_dev, about.st_ino);
}

/// What decides, and beside it what looks on from threads of its own.
class LocalService final : public Core {
 public:
  static Result<std::unique_ptr<service::Service>> open(Config config);
  ~LocalService() override { tell_of_failures({}); }

  Result<void> set_policy(const std::string& policy, const service::Caller& caller) override {
    return watched(Core::set_policy(policy, caller));
  }
  Result<void> set_shadow(const std::string& policy, const service::Caller& caller) override {
    return watched(Core::set_shadow(policy, caller));
  }
  std::optional<service::Comparison> shadow() const override { return shadow_->last(); }
  Result<std::vector<service::JobView>> jobs(const service::Sought& sought) const override;
  Result<service::JobView> job(JobNumber number) const override;
  std::vector<service::NodeView> nodes() const override;
  std::optional<service::Expected> expect(JobNumber number, Duration patience) const override {
    return foresight_ ? foresight_->ask(number, patience) : std::nullopt;
  }
  Result<std::optional<service::Expected>> foresee(const store::Submission& asked) const override {
    if (!foresight_) return fail(Code::unsupported, "this service makes no forecasts");
    return foresight_->would(asked);
  }

 private:
  using Core::Core;
  void look_on();
  /// Of a forecast, with what tenants have used where the policy goes by that.
  service::Outlook outlook_with_use();
  void add(service::JobView& view) const;
  /// `set`, which the shadow hears of.
  Result<void> watched(Result<void> set);

  std::unique_ptr<service::Foresight> foresight_;  // null = no forecasts
  std::unique_ptr<service::Shadow> shadow_;
  std::unique_ptr<Vitals> vitals_;
  std::unique_ptr<service::Inquest> inquest_;
};

Result<std::unique_ptr<service::Service>> LocalService::open(Config config) {
  auto opened = Core::open(std::move(config));
  if (!opened) return tl::unexpected(opened.error());
  std::vector<store::Job> unfinished = opened->unfinished;
  std::unique_ptr<LocalService> made(new LocalService(*std::move(opened)));
  if (auto recovered = made->recover(std::move(unfinished)); !recovered) {
    return tl::unexpected(recovered.error());
  }
  made->look_on();
  return made;
}

void LocalService::look_on() {
  const Config& known = config();
  if (known.futures > 0) {
    foresight_ = std::make_unique<service::Foresight>(
        known.machine.cluster, known.speeds,
        [this] { return store().log(wall_clock() - service::kLesson, service::kLessons); },
        known.futures, known.seed, [this] { return outlook_with_use(); },
        [this] { return revision(); },
        [this](std::vector<store::Told> told) { keep(std::move(told)); });
  }
  const auto past = [this] {
    return store().ended(Time{}).map([](const std::vector<store::Job>& jobs) {
      experiment::Past played{.log = store::log_of(jobs, "the store")};
      for (std::size_t at = 0; at < jobs.size(); ++at) {
        if (jobs[at].asked->kept) played.kept.insert(played.log.jobs[at].id);
      }
      return played;
    });
  };
  shadow_ =
      std::make_unique<service::Shadow>(past, known.machine.cluster, known.seed, known.age_cap);
  static_cast<void>(watched({}));
  vitals_ = std::make_unique<Vitals>(
      known.machine, owner_of(known.state), known.measuring.every, [this] { return patients(); },
      [this](NodeId node, int gpu, const std::string& trouble) { hear_of_gpu(node, gpu, trouble); },
      [this](const Sight& sight) {
        take_note(sight);
        send_letters();
      });
  inquest_ = std::make_unique<service::Inquest>(
      [this](JobNumber job, const std::string& why) { hear_why(job, why); });
  tell_of_failures([to = inquest_.get()](const store::Job& job) { to->hold(job); });
}

service::Outlook LocalService::outlook_with_use() {
  service::Outlook made = outlook();
  if (!service::goes_by_use(made.composition)) return made;
  if (const auto known = tenancy()) made.used = service::own_uses(*known, config().machine.cluster);
  return made;
}

Result<void> LocalService::watched(Result<void> set) {
  if (!set) return set;
  const service::Overview now = overview();
  const auto policy = service::compose(now.policy);
  std::optional<policy::Composition> shadow;
  if (auto made = service::compose(now.shadow); !now.shadow.empty() && made)
    shadow = std::move(*made);
  if (policy) shadow_->watch(*policy, std::move(shadow));
  return set;
}

Result<std::vector<service::JobView>> LocalService::jobs(const service::Sought& sought) const {
  auto made = Core::jobs(sought);
  if (!made) return made;
  for (service::JobView& view : *made) add(view);
  return made;
}

Result<service::JobView> LocalService::job(JobNumber number) const {
  auto made = Core::job(number);
  if (!made) return made;
  add(*made);
  if (made->job.state == trace::JobState::running && made->job.asked->gpu_share < 1) {
    made->limits_by += fmt::format("{}GPU memory: {}", made->limits_by.empty() ? "" : ", ",
                                   made->gpu_memory_gb >= 0 ? "watched" : "not held");
  }
  return made;
}

void LocalService::add(service::JobView& view) const {
  const bool runs = view.job.state == trace::JobState::running;
  if (foresight_ && (runs || !view.why.empty())) {
    view.expected = foresight_->of(view.job.number);
    if (view.expected && runs) {
      // Worked out while it waited, maybe.
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

std::vector<service::NodeView> LocalService::nodes() const {
  std::vector<service::NodeView> made = Core::nodes();
  for (std::size_t node = 0; node < made.size(); ++node) {
    for (service::GpuView& gpu : made[node].gpus) {
      const gpu::Sample sample = vitals_->of(NodeId{static_cast<std::uint32_t>(node)}, gpu.number);
      gpu.use = sample.use.value_or(-1);
      gpu.memory_gb = sample.memory_gb.value_or(-1);
      gpu.power_w = sample.power_w.value_or(-1);
    }
  }
  return made;
}

}  // namespace

Result<std::unique_ptr<service::Service>> open_local_service(Config config) {
  return LocalService::open(std::move(config));
}

}  // namespace almanac::machine
