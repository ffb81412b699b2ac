// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/wall_clock.h"
#include "live/core.h"
#include "live/environment.h"
#include "live/foresight.h"
#include "live/inquest.h"
#include "live/local_service.h"
#include "live/log.h"
#include "live/policies.h"
#include "live/shadow.h"
#include "live/vitals.h"
#include "store/log.h"

namespace almanac::live {

using store::JobNumber;

namespace {

/// The state folder tells the services of a machine apart: each has one of its own.
std::string owner_of(const std::string& state) {
  struct stat about {};
  static_cast<void>(::stat(state.c_str(), &about));  // it is there: the store is open in it
  return fmt::format("serve.{:x}.{:x}", about.st_dev, about.st_ino);
}

}  // namespace

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
  return fail(Code::not_found,
              fmt::format("there is no job {}", static_cast<std::int64_t>(number)));
}

void tell_of_copy(const store::Store& store) {
  const std::string& kept = store.copy_of_before();
  if (kept.empty()) return;
  log_info(
      fmt::format("an earlier Almanac wrote the store, which has today's tables now; {} is as "
                  "it was",
                  kept));
}

Result<void> Service::cancel_all(const std::vector<JobNumber>& numbers, const Caller& caller,
                                 bool now) {
  if (now) {
    return fail(Code::unsupported, "this cluster's manager has a grace of its own", {},
                "cancel without --now");
  }
  for (const JobNumber each : numbers) {
    if (auto done = cancel(each, caller); !done) return done;
  }
  return {};
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

LocalService::LocalService(std::unique_ptr<Core> core) : core_(std::move(core)) {}
LocalService::~LocalService() { core_->tell_of_failures({}); }

Result<std::unique_ptr<LocalService>> LocalService::open(Config config) {
  auto core = Core::open(std::move(config));
  if (!core) return tl::unexpected(core.error());
  std::unique_ptr<LocalService> made(new LocalService(std::move(*core)));
  made->begin_foresight();
  const Config& known = made->core_->config();
  const auto past = [&store = made->store()] {
    return store.ended(Time{}).map([](const std::vector<store::Job>& jobs) {
      sim::Past played{.log = store::log_of(jobs, "the store")};
      for (std::size_t at = 0; at < jobs.size(); ++at) {
        if (jobs[at].asked->kept) played.kept.insert(played.log.jobs[at].id);
      }
      return played;
    });
  };
  made->shadow_ = std::make_unique<Shadow>(past, known.machine.cluster, known.seed);
  made->watch_shadow();
  Core* const decides = made->core_.get();
  made->vitals_ = std::make_unique<Vitals>(
      known.machine, owner_of(known.state), known.measuring.every,
      [decides] { return decides->patients(); },
      [decides](NodeId node, int gpu, const std::string& trouble) {
        decides->hear_of_gpu(node, gpu, trouble);
      },
      [decides](const Sight& sight) {
        decides->take_note(sight);
        decides->send_letters();
      });
  made->inquest_ = std::make_unique<Inquest>(
      [decides](JobNumber job, const std::string& why) { decides->hear_why(job, why); });
  decides->tell_of_failures([to = made->inquest_.get()](const store::Job& job) { to->hold(job); });
  return made;
}

void LocalService::begin_foresight() {
  if (core_->config().futures == 0) return;
  foresight_ = std::make_unique<Foresight>(
      core_->config().machine.cluster, core_->config().speeds,
      [this] { return core_->store().log(wall_clock() - kLesson, kLessons); },
      core_->config().futures, core_->config().seed, [this] { return outlook(); },
      [this] { return core_->revision(); },
      [this](std::vector<store::Told> told) { core_->keep(std::move(told)); });
}

Outlook LocalService::outlook() const {
  Outlook made = core_->outlook();
  if (!goes_by_use(made.composition)) return made;
  if (const auto known = tenancy()) {
    made.used = own_uses(*known, core_->config().machine.cluster);
  }
  return made;
}

void LocalService::run(const std::atomic<bool>& stop) { core_->run(stop); }
void LocalService::wake() { core_->wake(); }
void LocalService::reload() { core_->reload(); }

Result<std::vector<JobNumber>> LocalService::submit(store::Submission submission) {
  return core_->submit(std::move(submission));
}
Result<void> LocalService::cancel(JobNumber number, const Caller& caller) {
  return core_->cancel({number}, caller, false);
}
Result<void> LocalService::cancel_all(const std::vector<JobNumber>& numbers, const Caller& caller,
                                      bool now) {
  return core_->cancel(numbers, caller, now);
}
Result<void> LocalService::update(const std::vector<JobNumber>& numbers,
                                  const store::Amended& wanted, const Caller& caller) {
  return core_->update(numbers, wanted, caller);
}
Result<void> LocalService::hold(const std::vector<JobNumber>& numbers, const Caller& caller) {
  return core_->hold(numbers, caller);
}
Result<void> LocalService::release(const std::vector<JobNumber>& numbers, const Caller& caller) {
  return core_->release(numbers, caller);
}
Result<void> LocalService::requeue(const std::vector<JobNumber>& numbers, const Caller& caller) {
  return core_->requeue(numbers, caller);
}

Result<void> LocalService::set_policy(const std::string& policy, const Caller& caller) {
  if (auto may = only_for_operators(caller); !may) return may;
  auto set = core_->set_policy(policy);
  if (set) watch_shadow();
  return set;
}

Result<std::int64_t> LocalService::announce(const Window& window, const Caller& caller) {
  if (auto may = only_for_operators(caller); !may) return tl::unexpected(may.error());
  return core_->announce(window);
}
Result<void> LocalService::call_off(std::int64_t number, const Caller& caller) {
  if (auto may = only_for_operators(caller); !may) return may;
  return core_->call_off(number);
}
std::vector<Window> LocalService::maintenance() const { return core_->maintenance(); }

Result<void> LocalService::set_shadow(const std::string& policy, const Caller& caller) {
  if (auto may = only_for_operators(caller); !may) return may;
  auto set = core_->set_shadow(policy);
  if (set) watch_shadow();
  return set;
}

void LocalService::watch_shadow() {
  const auto policy = compose(core_->overview().policy);
  const std::string name = core_->overview().shadow;
  std::optional<policy::Composition> shadow;
  if (auto made = compose(name); !name.empty() && made) shadow = std::move(*made);
  if (policy) shadow_->watch(*policy, std::move(shadow));
}

std::optional<Comparison> LocalService::shadow() const { return shadow_->last(); }

Result<void> LocalService::set_drained(const std::string& node, bool drained,
                                       const Caller& caller) {
  if (auto may = only_for_operators(caller); !may) return may;
  return core_->set_drained(node, drained);
}

Result<void> LocalService::set_gpu_trouble(const std::string& node, int gpu,
                                           const std::string& trouble, const Caller& caller) {
  if (auto may = only_for_operators(caller); !may) return may;
  return core_->set_gpu_trouble(node, gpu, trouble);
}

std::uint64_t LocalService::revision() const { return core_->revision(); }
Overview LocalService::overview() const { return core_->overview(); }
Counters LocalService::counters() const { return core_->counters(); }
Result<std::vector<JobView>> LocalService::jobs(const Sought& sought) const {
  auto made = core_->jobs(sought);
  if (!made) return made;
  for (JobView& view : *made) add(view);
  return made;
}

Result<JobView> LocalService::job(JobNumber number) const {
  auto made = core_->job(number);
  if (!made) return made;
  add(*made);
  if (made->job.state == trace::JobState::running && made->job.asked->gpu_share < 1) {
    made->limits_by += fmt::format("{}GPU memory: {}", made->limits_by.empty() ? "" : ", ",
                                   made->gpu_memory_gb >= 0 ? "watched" : "not held");
  }
  const Config& known = core_->config();
  if (known.speeds && made->job.state == trace::JobState::running) {
    made->pace = pace_of(number, core_->beside(number),
                         {.cluster = known.machine.cluster,
                          .speeds = *known.speeds,
                          .power = known.power ? &*known.power : nullptr});
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

std::optional<Expected> LocalService::expect(JobNumber number, Duration patience) const {
  return foresight_ ? foresight_->ask(number, patience) : std::nullopt;
}

Result<std::optional<Expected>> LocalService::foresee(const store::Submission& asked) const {
  if (!foresight_) return fail(Code::unsupported, "this service makes no forecasts");
  return foresight_->would(asked);
}

Result<Tenancy> LocalService::tenancy() const {
  return tenancy_.get([this] { return core_->tenancy(); });
}

Result<std::vector<std::string>> LocalService::explain(JobNumber number) const {
  auto lines = core_->explain(number);
  const cluster::Cluster& cluster = core_->config().machine.cluster;
  if (!lines || cluster.tenants.empty()) return lines;
  const auto view = core_->job(number);
  const auto known = tenancy();
  if (!view || !known) return lines;
  const TenantId tenant = tenant_of(view->job, cluster);
  if (tenant == kNoTenant) return lines;
  const std::string line = beside_its_due(*known, cluster.tenants[index(tenant)].name);
  if (!line.empty()) lines->push_back(line);
  return lines;
}

std::vector<NodeView> LocalService::nodes() const {
  std::vector<NodeView> made = core_->nodes();
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

Result<std::string> LocalService::log_path(JobNumber number, bool err) const {
  return kept_job(core_->store(), number).map([&](const store::Job& job) {
    return log_of(job, err);
  });
}

const store::Store& LocalService::store() const { return core_->store(); }
const std::string& LocalService::state() const { return core_->config().state; }
std::shared_ptr<const cluster::Cluster> LocalService::cluster() const {
  // It lives as long as this does.
  return {std::shared_ptr<void>(), &core_->config().machine.cluster};
}

}  // namespace almanac::live
