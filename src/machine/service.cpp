// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/wall_clock.h"
#include "machine/core.h"
#include "machine/foresight.h"
#include "machine/inquest.h"
#include "machine/local_service.h"
#include "machine/log.h"
#include "machine/policies.h"
#include "machine/shadow.h"
#include "machine/vitals.h"
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

}  // namespace

std::string_view to_string(Switch how) {
  switch (how) {
    case Switch::off:
      return "off";
    case Switch::dry:
      return "dry";
    case Switch::on:
      return "on";
  }
  return "";
}

void Counters::count_round(double length_s) {
  ++rounds;
  last_round_s = length_s;
  const auto us = static_cast<std::uint64_t>(length_s * 1e6);
  ++round_us[std::min<std::size_t>(std::bit_width(us), round_us.size() - 1)];
}

Result<void> add_ended(const store::Store& store, const Sought& sought,
                       std::map<JobNumber, JobView> ended, std::vector<JobView>& into) {
  // Page by page, the smallest numbers first: there may be millions.
  constexpr std::int64_t kPage = 10'000;
  JobNumber last = sought.above;
  for (bool has_more = sought.ended_since.has_value(); has_more && ended.size() < sought.most;) {
    auto page = store.jobs({.ended_since = *sought.ended_since, .above = last, .limit = kPage});
    if (!page) return tl::unexpected(page.error());
    has_more = std::ssize(*page) == kPage;
    for (store::Job& job : *page) {
      last = job.number;
      if (!sought.wanted || sought.wanted(job)) {
        ended.try_emplace(last, JobView{.job = std::move(job)});
      }
      if (ended.size() >= sought.most) break;
    }
  }
  for (auto each = ended.rbegin(); each != ended.rend(); ++each) {
    into.push_back(std::move(each->second));
  }
  return {};
}

Result<void> only_for_operators(const Caller& caller) {
  if (caller.may_all) return {};
  return fail(Code::conflict, "only root and whoever runs the service may do that");
}

Result<store::Job> kept_job(const store::Store& store, JobNumber number) {
  auto kept = store.job(number);
  if (!kept) return tl::unexpected(kept.error());
  if (*kept) return **std::move(kept);
  return fail(Code::not_found, fmt::format("there is no job {}", number));
}

void tell_of_copy(const store::Store& store) {
  const std::string& kept = store.copy_of_before();
  if (kept.empty()) return;
  log_info(
      fmt::format("an earlier Almanac wrote the store, which has today's tables now; {} is as "
                  "it was",
                  kept));
}

namespace {

tl::unexpected<Error> of_its_manager() {
  return fail(Code::unsupported, "this cluster's manager has maintenance of its own", {},
              "scontrol create reservation Flags=maint");
}

}  // namespace

Result<std::int64_t> Service::announce(const Window&, const Caller&) { return of_its_manager(); }
Result<void> Service::call_off(std::int64_t, const Caller&) { return of_its_manager(); }

Result<void> Service::update(const std::vector<JobNumber>&, const store::Amended&, const Caller&) {
  return fail(Code::unsupported, "the jobs of this cluster are changed by its manager's commands",
              {}, "scontrol update");
}

namespace {

/// What decides, and beside it what looks on from threads of its own.
class LocalService final : public Core {
 public:
  static Result<std::unique_ptr<Service>> open(Config config);
  ~LocalService() override { tell_of_failures({}); }

  Result<void> set_policy(const std::string& policy, const Caller& caller) override {
    return watched(Core::set_policy(policy, caller));
  }
  Result<void> set_shadow(const std::string& policy, const Caller& caller) override {
    return watched(Core::set_shadow(policy, caller));
  }
  std::optional<Comparison> shadow() const override { return shadow_->last(); }
  Result<std::vector<JobView>> jobs(const Sought& sought) const override;
  Result<JobView> job(JobNumber number) const override;
  std::vector<NodeView> nodes() const override;
  std::optional<Expected> expect(JobNumber number, Duration patience) const override {
    return foresight_ ? foresight_->ask(number, patience) : std::nullopt;
  }
  Result<std::optional<Expected>> foresee(const store::Submission& asked) const override {
    if (!foresight_) return fail(Code::unsupported, "this service makes no forecasts");
    return foresight_->would(asked);
  }

 private:
  using Core::Core;
  void look_on();
  /// Of a forecast, with what tenants have used where the policy goes by that.
  Outlook outlook_with_use();
  void add(JobView& view) const;
  /// `set`, which the shadow hears of.
  Result<void> watched(Result<void> set);

  std::unique_ptr<Foresight> foresight_;  // null = no forecasts
  std::unique_ptr<Shadow> shadow_;
  std::unique_ptr<Vitals> vitals_;
  std::unique_ptr<Inquest> inquest_;
};

Result<std::unique_ptr<Service>> LocalService::open(Config config) {
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
    foresight_ = std::make_unique<Foresight>(
        known.machine.cluster, known.speeds,
        [this] { return store().log(wall_clock() - kLesson, kLessons); }, known.futures, known.seed,
        [this] { return outlook_with_use(); }, [this] { return revision(); },
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
  shadow_ = std::make_unique<Shadow>(past, known.machine.cluster, known.seed, known.age_cap);
  static_cast<void>(watched({}));
  vitals_ = std::make_unique<Vitals>(
      known.machine, owner_of(known.state), known.measuring.every, [this] { return patients(); },
      [this](NodeId node, int gpu, const std::string& trouble) { hear_of_gpu(node, gpu, trouble); },
      [this](const Sight& sight) {
        take_note(sight);
        send_letters();
      });
  inquest_ = std::make_unique<Inquest>(
      [this](JobNumber job, const std::string& why) { hear_why(job, why); });
  tell_of_failures([to = inquest_.get()](const store::Job& job) { to->hold(job); });
}

Outlook LocalService::outlook_with_use() {
  Outlook made = outlook();
  if (!goes_by_use(made.composition)) return made;
  if (const auto known = tenancy()) made.used = own_uses(*known, config().machine.cluster);
  return made;
}

Result<void> LocalService::watched(Result<void> set) {
  if (!set) return set;
  const Overview now = overview();
  const auto policy = compose(now.policy);
  std::optional<policy::Composition> shadow;
  if (auto made = compose(now.shadow); !now.shadow.empty() && made) shadow = std::move(*made);
  if (policy) shadow_->watch(*policy, std::move(shadow));
  return set;
}

Result<std::vector<JobView>> LocalService::jobs(const Sought& sought) const {
  auto made = Core::jobs(sought);
  if (!made) return made;
  for (JobView& view : *made) add(view);
  return made;
}

Result<JobView> LocalService::job(JobNumber number) const {
  auto made = Core::job(number);
  if (!made) return made;
  add(*made);
  if (made->job.state == trace::JobState::running && made->job.asked->gpu_share < 1) {
    made->limits_by += fmt::format("{}GPU memory: {}", made->limits_by.empty() ? "" : ", ",
                                   made->gpu_memory_gb >= 0 ? "watched" : "not held");
  }
  return made;
}

void LocalService::add(JobView& view) const {
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

std::vector<NodeView> LocalService::nodes() const {
  std::vector<NodeView> made = Core::nodes();
  for (std::size_t node = 0; node < made.size(); ++node) {
    for (GpuView& gpu : made[node].gpus) {
      const gpu::Sample sample = vitals_->of(NodeId{static_cast<std::uint32_t>(node)}, gpu.number);
      gpu.use = sample.use.value_or(-1);
      gpu.memory_gb = sample.memory_gb.value_or(-1);
      gpu.power_w = sample.power_w.value_or(-1);
    }
  }
  return made;
}

}  // namespace

Result<std::unique_ptr<Service>> open_local_service(Config config) {
  return LocalService::open(std::move(config));
}

}  // namespace almanac::machine
