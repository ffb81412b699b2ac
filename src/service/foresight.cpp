// SPDX-License-Identifier: Apache-2.0
#include "service/foresight.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/step_back.h"
#include "forecast/constraints.h"
#include "forecast/other_gpus.h"
#include "schedule/speed_book.h"
#include "service/job.h"
#include "service/pace.h"
#include "service/policies.h"
#include "service/policy_names.h"
#include "store/log.h"
#include "submission/validate.h"

namespace almanac::service {

using store::JobNumber;

namespace {

/// Confidence of every interval.
constexpr double kSaid = 0.9;
/// Pause between two looks whether something has changed.
constexpr std::chrono::milliseconds kGlance{50};
constexpr int kRestPerWork = 4;
/// While nothing changes, a forecast is valid for at least and at most so long.
constexpr Duration kFresh = 15s;
constexpr Duration kOld = 24h;
/// A job that has run for longer gets no first forecast any more.
constexpr Duration kNew = 1min;
/// Changes whose forecasts take longer are given up: all other forecasts wait for them.
constexpr std::chrono::seconds kLongest{30};

/// Ends simulations that take longer than kLongest, and at the end of the service.
class Deadline final : public sim::Listener {
 public:
  Deadline(const Clock& clock, const std::atomic<bool>& ends)
      : clock_(clock), ends_(ends), until_(clock.monotonic() + kLongest) {}

  void hear(Time, std::span<const policy::Event>, const schedule::Round&,
            const policy::Telemetry*) override {
    if (ends_ || clock_.monotonic() > until_) is_over = true;
  }

  std::atomic<bool> is_over = false;

 private:
  const Clock& clock_;
  const std::atomic<bool>& ends_;
  Clock::Instant until_;
};

/// What `made` says about a waiting or running job.
Expected expected_of(const forecast::Forecast& made, bool waits, Time deadline) {
  const auto known = [&](Time at) { return within_a_year(at, made.at()); };
  const auto start = waits ? made.start(kSaid) : forecast::Forecast::Stretch{kNoTime, kNoTime};
  const auto end = made.end(kSaid);
  Expected said{.at = made.at(),
                .start_from = known(start.from),
                .start_to = known(start.to),
                .start_by = waits ? known(made.started_by(kSaid)) : kNoTime,
                .end_from = known(end.from),
                .end_to = known(end.to),
                .end_by = known(made.ended_by(kSaid))};
  if (deadline != kNoTime) said.kept = made.chance_to_end_by(deadline);
  return said;
}

}  // namespace

Foresight::Foresight(const cluster::Cluster& cluster, std::shared_ptr<const perf::Catalogue> speeds,
                     Recall recall, int futures, std::uint64_t seed, Look look, Revision revision,
                     Tell tell, const Clock& clock)
    : cluster_(cluster),
      speeds_(std::move(speeds)),
      models_(speeds_ ? std::optional<perf::SpeedModels>(*speeds_) : std::nullopt),
      futures_(futures),
      seed_(seed),
      look_(std::move(look)),
      revision_(std::move(revision)),
      tell_(std::move(tell)),
      clock_(clock),
      recall_(std::move(recall)),
      beliefs_(recall_),
      answers_(clock),
      thread_([this] { work(); }) {}

Foresight::~Foresight() {
  answers_.end();
  thread_.join();
}

Result<std::optional<Expected>> Foresight::would(const store::Submission& asked) {
  if (auto valid = submission::validate(asked); !valid) return tl::unexpected(valid.error());
  return answers_.ask(asked, revision_());
}

Result<std::optional<ChangedForecasts>> Foresight::would(const std::vector<std::string>& changes) {
  constexpr std::size_t kMost = 32;
  if (changes.empty() || changes.size() > kMost) {
    return fail(Code::usage,
                fmt::format("1 to {} changes are needed, found {}", kMost, changes.size()));
  }
  Answers::Changes parsed;
  for (const std::string& each : changes) {
    auto change = forecast::parse_change(each);
    if (!change) return tl::unexpected(change.error());
    if (const auto fine = only_by_name(change->policy); !fine) return tl::unexpected(fine.error());
    parsed.push_back(std::move(*change));
  }
  auto found = answers_.ask(parsed, revision_());
  if (!found) return std::optional<ChangedForecasts>{};
  if (!*found) return tl::unexpected(found->error());
  return std::move(**found);
}

Result<std::optional<StartsIf>> Foresight::starts_if(JobNumber number) {
  auto found = answers_.ask_changes(number, revision_());
  if (!found) return std::optional<StartsIf>{};
  if (!*found) return tl::unexpected(found->error());
  return std::move(**found);
}

void Foresight::work() {
  // The deciding thread, and the jobs, go first.
  step_back();
  std::uint64_t seen = 0;
  auto next = clock_.monotonic();
  auto stale = next;
  while (!answers_.has_ended()) {
    answers_.sleep(kGlance);
    const auto begun = clock_.monotonic();
    const bool holds = revision_() == seen && begun < stale;
    if (answers_.has_ended() || begun < next || (holds && !answers_.is_question_open())) continue;
    Outlook outlook = look_();
    const std::uint64_t revision = outlook.revision;
    if (foresee(std::move(outlook))) {
      seen = revision;
      stale = begun + holds_for_;
    }
    const auto ended = clock_.monotonic();
    next = ended + kRestPerWork * (ended - begun);
  }
}

Foresight::Scene Foresight::scene_of(const Outlook& outlook) {
  Scene made;
  made.present.at = outlook.at;
  made.present.drained = outlook.drained;
  if (!outlook.used.empty()) {
    std::vector<policy::PastUse> uses;
    for (const OwnUse& each : outlook.used) {
      uses.push_back({.tenant = each.tenant,
                      .user = made.trace.names.intern(each.user),
                      .gpu_s = each.gpu_s,
                      .from = outlook.at,
                      .until = outlook.at});
    }
    made.present.past_use = std::make_shared<const std::vector<policy::PastUse>>(std::move(uses));
  }
  for (const Outlook::One& one : outlook.jobs) {
    const JobId id{static_cast<std::uint32_t>(made.trace.jobs.size())};
    made.beliefs.emplace(id, std::move(beliefs_.of(one.job)));
    made.trace.jobs.push_back(store::record_of(one.job, made.trace.names));
    made.trace.jobs.back().request.priority_tier = one.priority_tier;
    if (one.job.asked->kept) made.kept.insert(id);
    // A policy that orders by submission then keeps this order.
    if (outlook.in_line && !one.runs) {
      const auto behind = static_cast<std::int64_t>(outlook.jobs.size() - index(id));
      made.trace.jobs.back().request.submit = outlook.at - Duration(behind);
    }
    if (one.throttled) {
      made.present.throttled.push_back(id);
      continue;
    }
    const Duration ran = one.past.attained + (one.runs ? outlook.at - one.past.since : Duration{0});
    (one.runs ? made.present.running : made.present.waiting)
        .push_back({.job = id,
                    .past = one.past,
                    .worked = ran,
                    .held = one.runs ? one.job.held_gpus : std::vector<cluster::Grant>{}});
  }
  return made;
}

forecast::Setting Foresight::setting(const Outlook& outlook, const Scene& scene) const {
  std::vector<sim::Closure> closures = outlook.closed_nodes;
  for (const Window& each : outlook.windows) closures.push_back({.from = each.from, .to = each.to});
  return {.trace = scene.trace,
          .cluster = cluster_,
          .composition = outlook.composition,
          .options = {.seed = seed_,
                      .quotas = outlook.quotas.empty() ? nullptr : &outlook.quotas,
                      .closures = std::move(closures),
                      .watch = {.stop = &answers_.has_ended()}},
          .kept = scene.kept,
          .age_cap = outlook.age_cap};
}

bool Foresight::foresee(Outlook outlook) {
  beliefs_.catch_up(outlook.composition, outlook.ended);
  Scene scene = scene_of(outlook);
  std::vector<forecast::Forecast> made;
  if (!outlook.jobs.empty()) {
    made = forecast::play_queue(setting(outlook, scene), scene.present, scene.beliefs, futures_,
                                seed_);
  }
  const bool all = made.size() == outlook.jobs.size();
  if (all) {
    publish(outlook, scene, made);
    try_other_gpus(outlook, scene);
    answer_questions(outlook, scene);
  }
  for (std::size_t at = 0; at < outlook.jobs.size(); ++at) {
    beliefs_.of(outlook.jobs[at].job) =
        std::move(scene.beliefs.at(JobId{static_cast<std::uint32_t>(at)}));
  }
  return all;
}

void Foresight::publish(const Outlook& outlook, const Scene& scene,
                        const std::vector<forecast::Forecast>& made) {
  Answers::Forecasts expected;
  std::vector<store::Told> first;
  holds_for_ = kOld;
  std::vector<JobId> played;
  for (const sim::Present::Job& each : scene.present.waiting) played.push_back(each.job);
  for (const sim::Present::Job& each : scene.present.running) played.push_back(each.job);
  const std::vector<JobId>& throttled = scene.present.throttled;
  played.insert(played.end(), throttled.begin(), throttled.end());
  for (std::size_t at = 0; at < made.size(); ++at) {
    const bool waits = !outlook.jobs[index(played[at])].runs;
    const store::Job& job = outlook.jobs[index(played[at])].job;
    Expected one = expected_of(made[at], waits, job.asked->deadline);
    one.guessed = scene.beliefs.at(played[at]).guessed;
    if (!beliefs_.knows_end(job)) one.end_from = one.end_to = one.end_by = kNever;
    if (!waits || !knows_scaling(job)) one.other_gpus.emplace();
    if (!waits) holds_for_ = std::clamp(made[at].end(kSaid).to - outlook.at, kFresh, holds_for_);
    // A job that never waited gets its first forecast when it has started.
    const bool is_new =
        waits || (job.attempts <= 1 && job.start != kNoTime && outlook.at - job.start < kNew);
    if (!is_new) {
      expected.emplace(job.number, std::move(one));
      continue;
    }
    first.push_back({.at = one.at,
                     .job = job.number,
                     .policy = outlook.composition.name,
                     .start_from = one.start_from,
                     .start_to = one.start_to,
                     .end_from = one.end_from,
                     .end_to = one.end_to,
                     .share = kSaid,
                     .kept = one.kept});
    expected.emplace(job.number, std::move(one));
  }
  answers_.publish(std::move(expected), first);
  if (!first.empty()) tell_(std::move(first));
}

bool Foresight::knows_scaling(const store::Job& job) {
  if (!models_ || job.asked->gpus == 0 || job.start != kNoTime) return false;
  return !model_of(job, *models_).empty();
}

void Foresight::try_other_gpus(const Outlook& outlook, const Scene& scene) {
  const std::set<JobNumber> asked = answers_.jobs_asked();
  std::unique_ptr<const schedule::SpeedBook> speeds;
  for (const sim::Present::Job& waiting : scene.present.waiting) {
    const store::Job& job = outlook.jobs[index(waiting.job)].job;
    if (!asked.contains(job.number) || !knows_scaling(job) || answers_.has_ended()) continue;
    if (!speeds) speeds = std::make_unique<schedule::SpeedBook>(cluster_, scene.trace, *speeds_);
    std::vector<WithGpus> made;
    for (const forecast::OtherGpus& other :
         forecast::with_other_gpus(setting(outlook, scene), speeds.get(), scene.present,
                                   scene.beliefs, waiting.job, futures_, seed_)) {
      WithGpus& one = made.emplace_back();
      one = {.gpus = other.gpus, .end_by = other.forecast.ended_by(kSaid)};
      if (job.asked->deadline != kNoTime) {
        one.kept = other.forecast.chance_to_end_by(job.asked->deadline);
      }
    }
    answers_.answer(job.number, std::move(made));
  }
}

void Foresight::answer_questions(const Outlook& outlook, Scene& scene) {
  for (const store::Submission& each : answers_.open_questions()) {
    if (answers_.has_ended()) return;
    answers_.answer(each, outlook.revision, try_out(each, outlook, scene));
  }
  for (const Answers::Changes& each : answers_.open_changes()) {
    auto found = try_out(each, outlook, scene);
    if (answers_.has_ended()) return;
    answers_.answer(each, outlook.revision, std::move(found));
  }
  for (const JobNumber each : answers_.open_jobs()) {
    auto found = find_changes(each, outlook, scene);
    if (answers_.has_ended()) return;
    answers_.answer(each, outlook.revision, std::move(found));
  }
}

Result<StartsIf> Foresight::find_changes(JobNumber number, const Outlook& outlook, Scene& scene) {
  const auto found = std::find_if(outlook.jobs.begin(), outlook.jobs.end(), [&](const auto& each) {
    return each.job.number == number && !each.runs;
  });
  if (found == outlook.jobs.end()) {
    return fail(Code::not_found, fmt::format("job {} does not wait for GPUs", number), {},
                fmt::format("almanac explain {} says what it does", number));
  }
  const JobId job{static_cast<std::uint32_t>(found - outlook.jobs.begin())};
  const forecast::Setting as_is = setting(outlook, scene);
  const auto until = clock_.monotonic() + kLongest;
  const auto starts = [&](const forecast::Decision& decision) -> Result<bool> {
    if (clock_.monotonic() > until) {
      return fail(Code::unavailable,
                  fmt::format("trying each change takes longer than {} s", kLongest.count()), {},
                  "almanac explain JOB says why it waits");
    }
    forecast::Setting changed{.trace = scene.trace,
                              .cluster = decision.cluster,
                              .composition = outlook.composition,
                              .options = as_is.options,
                              .kept = scene.kept,
                              .age_cap = outlook.age_cap};
    if (!decision.with_quotas) changed.options.quotas = nullptr;
    if (!decision.with_closures) changed.options.closures.clear();
    return forecast::starts_at_once(changed, decision.present, scene.beliefs, job);
  };
  const auto constraints =
      forecast::find_constraints({.trace = scene.trace,
                                  .cluster = cluster_,
                                  .present = scene.present,
                                  .has_quotas = as_is.options.quotas != nullptr,
                                  .has_closures = !as_is.options.closures.empty(),
                                  .starts = starts},
                                 job);
  if (!constraints) return tl::unexpected(constraints.error());
  return StartsIf{.at = outlook.at,
                  .starts_now = constraints->starts_now,
                  .changes = forecast::in_words(*constraints, scene.trace, job, [&](JobId other) {
                    return job_id(outlook.jobs[index(other)].job);
                  })};
}

Result<ChangedForecasts> Foresight::try_out(const Answers::Changes& changes, const Outlook& outlook,
                                            Scene& scene) {
  const forecast::Known known{.jobs =
                                  [&](const std::string& name) {
                                    std::vector<JobId> made;
                                    for (std::uint32_t at = 0; at < outlook.jobs.size(); ++at) {
                                      if (forecast::names(name, job_id(outlook.jobs[at].job)))
                                        made.push_back(JobId{at});
                                    }
                                    return made;
                                  },
                              .policy = compose,
                              .own =
                                  [&](const policy::Composition& policy) {
                                    RunTimeBeliefs others(recall_);
                                    others.catch_up(policy, {});
                                    std::unordered_map<JobId, predict::Belief> made;
                                    for (std::size_t at = 0; at < outlook.jobs.size(); ++at) {
                                      made.emplace(JobId{static_cast<std::uint32_t>(at)},
                                                   std::move(others.of(outlook.jobs[at].job).own));
                                    }
                                    return made;
                                  }};
  Deadline deadline(clock_, answers_.has_ended());
  forecast::Setting limited = setting(outlook, scene);
  limited.options.watch = {.stop = &deadline.is_over, .listener = &deadline};
  auto shifts =
      forecast::compare(limited, scene.present, scene.beliefs, changes, known, futures_, seed_);
  if (!shifts) return tl::unexpected(shifts.error());
  if (deadline.is_over) {
    return fail(
        Code::unavailable,
        fmt::format("the forecasts after these changes take longer than {} s", kLongest.count()),
        {},
        "give fewer or smaller changes, or compare in a simulated run: "
        "almanac forecast RUN --at TIME --if CHANGE");
  }
  for (forecast::Shift& each : *shifts) {
    if (beliefs_.knows_end(outlook.jobs[index(each.job)].job)) continue;
    each.before.end_by = kNever;
    if (!each.cancelled) each.after.end_by = kNever;
  }
  return changed_forecasts(*shifts, outlook.at, [&](JobId id) {
    const store::Job& job = outlook.jobs[index(id)].job;
    return ChangedForecast{.id = job_id(job),
                           .name = job.asked->name,
                           .user = job.asked->user,
                           .gpus = job.asked->gpus};
  });
}

Expected Foresight::try_out(const store::Submission& asked, const Outlook& outlook, Scene& scene) {
  const store::Job job{.asked = asked, .submit = outlook.at, .since = outlook.at};
  const JobId id{static_cast<std::uint32_t>(scene.trace.jobs.size())};
  scene.trace.jobs.push_back(store::record_of(job, scene.trace.names));
  Expected made{.at = outlook.at,
                .start_from = kNever,
                .start_to = kNever,
                .start_by = kNever,
                .end_from = kNever,
                .end_to = kNever,
                .end_by = kNever};
  if (forecast::fits(scene.trace, cluster_, id)) {
    const double guessed =
        scene.beliefs.emplace(id, beliefs_.of_newcomer(job)).first->second.guessed;
    scene.present.waiting.push_back({.job = id, .past = {.since = outlook.at}});
    if (asked.kept) scene.kept.insert(id);
    const forecast::Forecast forecast = forecast::play_futures(
        setting(outlook, scene), scene.present, scene.beliefs, id, futures_, seed_);
    scene.present.waiting.pop_back();
    scene.beliefs.erase(id);
    scene.kept.erase(id);
    made = expected_of(forecast, true, asked.deadline);
    made.guessed = guessed;
  }
  scene.trace.jobs.pop_back();
  made.other_gpus.emplace();
  return made;
}

}  // namespace almanac::service
