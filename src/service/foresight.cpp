// SPDX-License-Identifier: Apache-2.0
#include "service/foresight.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/step_back.h"
#include "forecast/other_gpus.h"
#include "schedule/speed_book.h"
#include "service/log.h"
#include "service/pace.h"
#include "service/policies.h"
#include "store/log.h"
#include "submission/validate.h"

namespace almanac::service {

using store::JobNumber;

namespace {

/// That every stretch is said with.
constexpr double kSaid = 0.9;
/// How often it looks whether something has changed.
constexpr std::chrono::milliseconds kGlance{50};
constexpr int kRestPerWork = 4;
/// Of so many jobs other numbers of GPUs are tried, for so long after somebody asked.
constexpr std::size_t kMostAsked = 4;
constexpr std::chrono::minutes kAsked{1};
/// Of jobs that nobody has submitted.
constexpr std::size_t kMostQuestions = 32;
/// A forecast holds so long at least while nothing changes, and at most.
constexpr Duration kFresh = 15s;
constexpr Duration kOld = 24h;
/// Later a job that runs is past being told when it ends.
constexpr Duration kNew = 1min;
/// After so many jobs it learns anew from the store, and forgets what of them no lesson needs.
constexpr std::uint32_t kAnew = 20'000;

/// What `made` says of a job that waits, or runs, as far as anybody can know: what lies further
/// away than that is the sum of very many guesses.
Expected expected_of(const forecast::Forecast& made, bool waits, Time deadline) {
  constexpr Duration kFarthest = 24h * 365;
  const auto known = [&](Time at) { return at > made.at() + kFarthest ? kNever : at; };
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
                     Tell tell)
    : cluster_(cluster),
      speeds_(std::move(speeds)),
      models_(speeds_ ? std::optional<perf::SpeedModels>(*speeds_) : std::nullopt),
      recall_(std::move(recall)),
      futures_(futures),
      seed_(seed),
      look_(std::move(look)),
      revision_(std::move(revision)),
      tell_(std::move(tell)),
      thread_([this] { work(); }) {}

Foresight::~Foresight() {
  stop_ = true;
  news_.notify_all();
  thread_.join();
}

std::optional<Expected> Foresight::of(JobNumber number) const {
  const std::lock_guard lock(mutex_);
  const auto found = expected_.find(number);
  if (found == expected_.end()) return std::nullopt;
  return found->second;
}

std::optional<Expected> Foresight::ask(JobNumber number, Duration patience) {
  std::unique_lock lock(mutex_);
  asked_[number] = Clock::now();
  if (asked_.size() > kMostAsked) {
    asked_.erase(std::min_element(asked_.begin(), asked_.end(), [](const auto& a, const auto& b) {
      return a.second < b.second;
    }));
  }
  const auto is_known = [&] {
    const auto found = expected_.find(number);
    return found != expected_.end() && found->second.other_gpus.has_value();
  };
  news_.wait_for(lock, patience, [&] { return is_known() || stop_; });
  if (!is_known()) return std::nullopt;
  return expected_.at(number);
}

Result<std::optional<Expected>> Foresight::would(const store::Submission& asked) {
  if (auto valid = submission::validate(asked); !valid) return tl::unexpected(valid.error());
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  std::erase_if(questions_, [&](const Question& each) { return now - each.when > kAsked; });
  for (Question& each : questions_) {
    if (each.asked != asked) continue;
    each.when = now;
    return each.answer;
  }
  if (questions_.size() == kMostQuestions) questions_.erase(questions_.begin());
  questions_.push_back({.asked = asked, .when = now});
  return std::optional<Expected>();
}

bool Foresight::somebody_waits() const {
  const std::lock_guard lock(mutex_);
  const bool any_question = std::any_of(questions_.begin(), questions_.end(),
                                        [](const Question& each) { return !each.answer; });
  if (any_question) return true;
  return std::any_of(asked_.begin(), asked_.end(), [&](const auto& each) {
    const auto found = expected_.find(each.first);
    return found != expected_.end() && !found->second.other_gpus;
  });
}

void Foresight::work() {
  // Whoever decides, and the jobs, go first.
  step_back();
  std::uint64_t seen = 0;
  auto next = Clock::now();
  auto stale = next;
  while (!stop_) {
    {
      std::unique_lock lock(mutex_);
      news_.wait_for(lock, kGlance, [&] { return stop_.load(); });
    }
    const auto begun = Clock::now();
    const bool holds = revision_() == seen && begun < stale;
    if (stop_ || begun < next || (holds && !somebody_waits())) continue;
    Outlook outlook = look_();
    const std::uint64_t revision = outlook.revision;
    if (foresee(std::move(outlook))) {
      seen = revision;
      stale = begun + holds_for_;
    }
    const auto ended = Clock::now();
    next = ended + kRestPerWork * (ended - begun);
  }
}

void Foresight::learn_anew(const policy::Composition& composition) {
  auto log = recall_();
  if (!log) log_warning(fmt::format("forecasts know no past: {}", to_string(log.error())));
  // What knows the names goes before them.
  likely_.reset();
  own_.reset();
  lessons_ = log ? std::move(*log) : trace::Trace{};
  estimate_ = composition.estimate;
  likely_ = taught_estimator({.estimate = "learned"}, lessons_, lessons_.jobs);
  own_ = taught_estimator(composition, lessons_, lessons_.jobs);
  ended_of_.clear();
  for (const trace::Job& job : lessons_.jobs) {
    if (job.outcome.start != kNoTime) count_ended(job.request);
  }
  lessons_.jobs = {};
  num_lessons_ = 0;
  seen_.clear();
  beliefs_.clear();
}

void Foresight::count_ended(const trace::Request& request) {
  ++ended_of_[{request.user, kNoName}];
  ++ended_of_[{request.user, request.name}];
}

bool Foresight::knows_end(const store::Job& job) {
  // Of jobs that are nothing like it no run time follows.
  constexpr int kAlike = 1;
  constexpr int kOfUser = 20;
  if (job.asked->endless) return false;
  if (job.asked->time_limit != kNoDuration) return true;
  const auto ended = [&](NameId name) {
    const auto found = ended_of_.find({lessons_.names.intern(job.asked->user), name});
    return found == ended_of_.end() ? 0 : found->second;
  };
  return ended(lessons_.names.intern(job.asked->name)) >= kAlike || ended(kNoName) >= kOfUser;
}

const Foresight::Lesson& Foresight::lesson_of(const store::Job& job) {
  const auto [found, is_new] = seen_.try_emplace(job.number);
  if (is_new) {
    found->second = {.id = JobId{num_lessons_++},
                     .request = store::record_of(job, lessons_.names).request};
  }
  return found->second;
}

void Foresight::learn(const std::vector<store::Job>& ended) {
  for (const store::Job& job : ended) {
    beliefs_.erase(job.number);
    // One that came and ended between two looks is a lesson too.
    const Lesson lesson = lesson_of(job);
    seen_.erase(job.number);
    if (job.start == kNoTime) continue;
    const predict::Ended end{.at = job.end, .ran = job.attained, .state = job.state};
    count_ended(lesson.request);
    likely_->learn(lesson.id, lesson.request, end);
    own_->learn(lesson.id, lesson.request, end);
  }
}

forecast::Belief& Foresight::belief_of(const store::Job& job) {
  const auto found = beliefs_.find(job.number);
  if (found != beliefs_.end()) return found->second;
  const Lesson& lesson = lesson_of(job);
  forecast::Belief made{.likely = likely_->estimate(lesson.id, lesson.request),
                        .policys_own = own_->estimate(lesson.id, lesson.request).run};
  if (job.asked->time_limit != kNoDuration) made.most = job.asked->time_limit;
  return beliefs_.emplace(job.number, std::move(made)).first->second;
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
    made.beliefs.emplace(id, std::move(belief_of(one.job)));
    made.trace.jobs.push_back(store::record_of(one.job, made.trace.names));
    if (one.job.asked->kept) made.kept.insert(id);
    // A policy that goes by submission then keeps them as they stand.
    if (outlook.in_line && !one.runs) {
      const auto behind = static_cast<std::int64_t>(outlook.jobs.size() - index(id));
      made.trace.jobs.back().request.submit = outlook.at - Duration(behind);
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
  return {.trace = scene.trace,
          .cluster = cluster_,
          .composition = outlook.composition,
          .options = {.seed = seed_,
                      .quotas = outlook.quotas.empty() ? nullptr : &outlook.quotas,
                      .watch = {.stop = &stop_}},
          .kept = scene.kept,
          .age_cap = outlook.age_cap};
}

bool Foresight::foresee(Outlook outlook) {
  const bool is_other = !own_ || estimate_ != outlook.composition.estimate;
  if (is_other || num_lessons_ >= kAnew) {
    learn_anew(outlook.composition);  // also from those that have just ended
  } else {
    learn(outlook.ended);
  }
  Scene scene = scene_of(outlook);
  std::vector<forecast::Forecast> made;
  if (!outlook.jobs.empty()) {
    made = forecast::play_queue(setting(outlook, scene), scene.present, scene.beliefs, futures_,
                                seed_);
  }
  const bool all = made.size() == outlook.jobs.size();
  if (all) {
    publish(outlook, scene, made);
    answer(outlook, scene);
    answer_questions(outlook, scene);
  }
  for (std::size_t at = 0; at < outlook.jobs.size(); ++at) {
    beliefs_.at(outlook.jobs[at].job.number) =
        std::move(scene.beliefs.at(JobId{static_cast<std::uint32_t>(at)}));
  }
  return all;
}

void Foresight::publish(const Outlook& outlook, const Scene& scene,
                        const std::vector<forecast::Forecast>& made) {
  std::map<JobNumber, Expected> expected;
  std::vector<store::Told> first;
  holds_for_ = kOld;
  for (std::size_t at = 0; at < made.size(); ++at) {
    const bool waits = at < scene.present.waiting.size();
    const sim::Present::Job& played =
        waits ? scene.present.waiting[at]
              : scene.present.running[at - scene.present.waiting.size()];
    const store::Job& job = outlook.jobs[index(played.job)].job;
    Expected one = expected_of(made[at], waits, job.asked->deadline);
    if (!knows_end(job)) one.end_from = one.end_to = one.end_by = kNever;
    if (!waits || !knows_scaling(job)) one.other_gpus.emplace();
    if (!waits) holds_for_ = std::clamp(made[at].end(kSaid).to - outlook.at, kFresh, holds_for_);
    // One that never waited is told when it has started.
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
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(first, [&](const store::Told& told) { return expected_.contains(told.job); });
    std::erase_if(asked_, [](const auto& each) { return Clock::now() - each.second > kAsked; });
    // What was said before stands until it is worked out anew.
    for (const auto& [number, when] : asked_) {
      const auto before = expected_.find(number);
      const auto now = expected.find(number);
      if (before == expected_.end() || now == expected.end() || now->second.other_gpus) continue;
      now->second.other_gpus = before->second.other_gpus;
    }
    expected_ = std::move(expected);
  }
  news_.notify_all();
  if (!first.empty()) tell_(std::move(first));
}

bool Foresight::knows_scaling(const store::Job& job) {
  if (!models_ || job.asked->gpus == 0 || job.start != kNoTime) return false;
  return !model_of(job, *models_).empty();
}

void Foresight::answer(const Outlook& outlook, const Scene& scene) {
  std::map<JobNumber, Clock::time_point> asked;
  {
    const std::lock_guard lock(mutex_);
    asked = asked_;
  }
  std::unique_ptr<const schedule::SpeedBook> speeds;
  for (const sim::Present::Job& waiting : scene.present.waiting) {
    const store::Job& job = outlook.jobs[index(waiting.job)].job;
    if (!asked.contains(job.number) || !knows_scaling(job) || stop_) continue;
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
    {
      const std::lock_guard lock(mutex_);
      expected_.at(job.number).other_gpus = std::move(made);
    }
    news_.notify_all();
  }
}

void Foresight::answer_questions(const Outlook& outlook, Scene& scene) {
  std::vector<store::Submission> asked;
  {
    const std::lock_guard lock(mutex_);
    for (const Question& each : questions_) {
      if (!each.answer) asked.push_back(each.asked);
    }
  }
  for (const store::Submission& each : asked) {
    if (stop_) return;
    const Expected found = try_out(each, outlook, scene);
    const std::lock_guard lock(mutex_);
    for (Question& question : questions_) {
      if (question.asked == each) question.answer = found;
    }
  }
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
    const trace::Request request = store::record_of(job, lessons_.names).request;
    const JobId lesson{num_lessons_++};
    forecast::Belief belief{.likely = likely_->estimate(lesson, request),
                            .policys_own = own_->estimate(lesson, request).run};
    if (asked.time_limit != kNoDuration) belief.most = asked.time_limit;
    scene.beliefs.emplace(id, std::move(belief));
    scene.present.waiting.push_back({.job = id, .past = {.since = outlook.at}});
    if (asked.kept) scene.kept.insert(id);
    const forecast::Forecast forecast = forecast::play_futures(
        setting(outlook, scene), scene.present, scene.beliefs, id, futures_, seed_);
    scene.present.waiting.pop_back();
    scene.beliefs.erase(id);
    scene.kept.erase(id);
    made = expected_of(forecast, true, asked.deadline);
  }
  scene.trace.jobs.pop_back();
  made.other_gpus.emplace();
  return made;
}

}  // namespace almanac::service
