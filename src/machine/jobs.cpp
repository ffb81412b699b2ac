// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_set>

#include <fmt/format.h>
#include <unistd.h>

#include "base/check.h"
#include "base/wall_clock.h"
#include "machine/core.h"
#include "machine/environment.h"
#include "machine/instances.h"
#include "schedule/tenant_limits.h"
#include "service/inquest.h"
#include "service/job.h"
#include "service/log.h"
#include "shepherd/record.h"
#include "store/log.h"
#include "text/duration.h"

namespace almanac::machine {

using policy::EventKind;
using policy::Phase;
using store::JobNumber;
using trace::JobState;

namespace {

namespace fs = std::filesystem;

/// So many times the patience a shepherd may be late: its command may begin late.
constexpr int kHangs = 30;

}  // namespace

std::string Core::folder_of(const store::Job& job) const {
  return fmt::format("{}/runs/{}.{}", config_.state, job.number, job.attempts);
}

void Core::note(const store::Job& job, std::string what, std::string detail) {
  outbox_.note(note_of(job, now_, std::move(what), std::move(detail)));
}

std::optional<std::string> Core::never(const store::Job& job) {
  const trace::Job record = store::record_of(job, trace_->names);
  const VcId vc = admission_->vc(record.request);
  const DemandId demand = admission_->demand(record.request, vc);
  auto reason = admission_->never(vc, demand);
  if (!reason) {
    const cluster::Demand& asked = admission_->demands()[index(demand)];
    const int fewest = job.asked->max_gpus > 0 ? job.asked->min_gpus : asked.gpus;
    const schedule::TenantLimits limits(config_.machine.cluster);
    reason = limits.never(std::clamp(fewest, std::min(1, asked.gpus), asked.gpus), asked.gpu_milli,
                          admission_->tenant(record.request));
  }
  if (!reason) return std::nullopt;
  const std::string said = policy::to_string(*reason, "");
  constexpr std::string_view kNever = "never: ";  // as the caller says itself
  return said.starts_with(kNever) ? said.substr(kNever.size()) : said;
}

Result<std::vector<store::Job>> Core::enlist(const store::Submission& asked) {
  const auto ours = static_cast<std::uint32_t>(::geteuid());
  if (ours != 0 && asked.uid != ours) {
    return fail(
        Code::unsupported,
        fmt::format("the service runs as user {}, not as root: it can run jobs of that user "
                    "only",
                    ours));
  }
  if (asked.grace > config_.max_grace) {
    return fail(
        Code::usage,
        fmt::format("grace is at most {} here, not {}", text::format_duration(config_.max_grace),
                    text::format_duration(asked.grace)),
        {}, "serve --max-grace says how much");
  }
  for (const auto* const list :
       {&asked.after, &asked.after_ok, &asked.after_not_ok, &asked.after_start}) {
    for (const JobNumber before : *list) {
      if (book_.find(before) != nullptr) continue;
      if (looked_up_ != nullptr && looked_up_->well.contains(before)) continue;
      const auto known = store_.ended_well(before);
      if (!known) return tl::unexpected(known.error());
      if (!*known) {
        return fail(Code::not_found,
                    fmt::format("it is to follow job {}, which there is not", before));
      }
    }
  }
  store::Submission own = asked;
  own.indices.clear();
  own.time_limit = gate_.time_limit(asked);
  if (own.name.empty()) {
    const std::string& program = asked.argv.empty() ? "script" : asked.argv.front();
    own.name = program.substr(program.rfind('/') + 1);
  }
  store::Job job{.number = {}, .asked = std::move(own)};
  job.submit = now_;
  job.since = now_;
  job.held = asked.hold;
  if (const auto why = never(job)) {
    return fail(Code::usage, fmt::format("it can never run here: {}", *why), {},
                "almanac nodes shows what there is");
  }
  std::vector<store::Job> made;
  const JobNumber array{last_number_ + 1};
  for (const std::int32_t index : asked.indices) {
    store::Job& task = made.emplace_back(job);
    task.number = JobNumber{++last_number_};
    task.task = store::ArrayTask{.array = array, .index = index, .at_once = asked.at_once};
    forget_what_runs(job);  // the others are kept with what the first of them runs
  }
  if (made.empty()) {
    job.number = JobNumber{++last_number_};
    made.push_back(std::move(job));
  }
  return made;
}

void Core::join(Entry& entry) {
  store::Job& job = entry.job;
  entry.id = JobId{static_cast<std::uint32_t>(trace_->jobs.size())};
  trace_->jobs.push_back(as_policy_knows(job, trace_->names));
  numbers_.push_back(job.number);
  book_.count_task(job, +1);
  const auto never =
      round_->admit(entry.id, {.since = job.since,
                               .start = job.start,
                               .attained = job.attained,
                               .preemptions = static_cast<std::uint32_t>(job.preemptions)});
  if (never) return happen(entry, life::Ended{JobState::failed, policy::to_string(*never, "")});
  events_.push_back({EventKind::job_arrived, static_cast<std::uint32_t>(index(entry.id))});
}

void Core::happen(Entry& entry, const life::Event& event) {
  auto becomes = next(entry.job, entry.process(), event, now_);
  if (becomes) follow(entry, std::move(*becomes));
}

void Core::follow(Entry& entry, Next becomes) {
  const bool is_over = service::has_ended(becomes.job) && !service::has_ended(entry.job);
  const bool changes_hold = becomes.job.held != entry.job.held;
  if (is_over || becomes.is_anew) {
    leave_round(entry, is_over ? becomes.job.end : now_);
  } else if (becomes.job.held && in_round(entry, Phase::waiting)) {
    leave_queue(entry);
  }
  if (becomes.process == Process::former && !entry.makes_room) lets_go(entry);
  counters_.preempted +=
      static_cast<std::uint64_t>(becomes.job.preemptions - entry.job.preemptions);
  entry.job = std::move(becomes.job);
  if (becomes.is_told) deeds_.stop.push_back(entry.job.number);
  if (!becomes.what.empty()) note(entry.job, std::move(becomes.what), std::move(becomes.detail));
  if (is_over) settle(entry);
  if (becomes.is_anew) waits_anew(entry);
  if (changes_hold && (entry.job.held || entry.waits.what != WaitsFor::What::nothing)) {
    look_at(entry);
  }
  touch(entry);
}

void Core::leave_round(Entry& entry, Time at) {
  if (in_round(entry, Phase::running)) {
    round_->end(at, entry.id);
    events_.push_back({EventKind::job_ended, static_cast<std::uint32_t>(index(entry.id))});
  } else if (in_round(entry, Phase::waiting)) {
    leave_queue(entry);  // it was stopped, and has ended by itself before it was
  }
}

void Core::leave_queue(Entry& entry) {
  round_->withdraw(now_, entry.id);
  events_.push_back({EventKind::job_withdrawn, static_cast<std::uint32_t>(index(entry.id))});
  leave_policy(entry);
}

void Core::leave_policy(Entry& entry) {
  if (entry.id == kNoJob) return;
  book_.count_task(entry.job, -1);
  entry.id = kNoJob;
}

void Core::tell_to_end(Entry& entry) {
  const bool at_once = entry.job.intent == store::Intent::end_at_once;
  const Duration grace =
      at_once ? Duration{0} : std::min(entry.job.asked->grace, config_.max_grace);
  const Duration by = shepherd::since_boot() + grace + config_.patience;
  entry.of_runs.change().obey_by = std::min(entry.of_runs->obey_by.value_or(by), by);
  if (at_once) {
    entry.run->end_now();
  } else if (!awaits_its_end(entry.job) && entry.job.asked->warn_signal != 0) {
    entry.run->make_room();
  } else {
    entry.run->end();
  }
}

void Core::press() {
  const Duration now = shepherd::since_boot();
  for (const JobNumber number : processes_) {
    Entry& entry = *book_.find(number);
    if (entry.of_runs->moved_by && now >= *entry.of_runs->moved_by) {
      move_by_restart(entry, "it did not say in time that it uses them");
    }
    if (!entry.of_runs->obey_by || now < *entry.of_runs->obey_by) continue;
    entry.of_runs.change().obey_by = now + config_.patience;
    if (std::exchange(entry.is_pressed, true)) {
      // It hangs, or its user has stopped what it waits for. There may be no news of its end.
      entry.run->kill();
      entry.of_runs.change().look_again = now_;
      continue;
    }
    service::log_warning(fmt::format("job {} has not ended in time; it is killed", number));
    entry.run->end_now();
  }
}

void Core::start(JobId id) {
  Entry& entry = entry_of(id);
  if (entry.moves) return go_on(entry);
  const auto held = round_->grants(id);
  happen(entry, life::Started{std::vector<cluster::Grant>(held.begin(), held.end())});
  entry.batch = round_->config(id).batch;
  deeds_.pin.push_back(id);
  deeds_.start.push_back(entry.job.number);
}

void Core::stop(JobId id) { happen(entry_of(id), life::Stopped{round_->progress(id).attained}); }

void Core::end(JobId id, bool) { dismiss(id, kEndedByPolicy); }

void Core::decline(JobId id) { dismiss(id, kDeclinedByPolicy); }

void Core::dismiss(JobId id, const char* why) {
  Entry& entry = entry_of(id);
  happen(entry, life::Dismissed{why, round_->progress(id).attained});
  // Where its process is there, no other job begins on its GPUs before that has gone.
  leave_policy(entry);
}

void Core::sleep(NodeId) { ALMANAC_CHECK(false, "this machine is the only one"); }

void Core::boot(NodeId) { ALMANAC_CHECK(false, "this machine is the only one"); }

bool Core::is_free_of_others(const Entry& entry) const {
  return !entry.run && not_left(entry).empty();
}

Result<void> Core::make_instances(Lock& lock, const Entry& entry) {
  if (!cutter_) return {};
  std::vector<cluster::Grant> others;
  for (const Entry* const each : holders()) {
    if (each == &entry) continue;
    for (const auto* const held : {&each->job.held_gpus, &each->of_runs->leaves}) {
      others.insert(others.end(), held->begin(), held->end());
    }
  }
  std::vector<Standing> standing = config_.machine.standing;
  lock.unlock();
  auto made =
      machine::make_instances(*cutter_, config_.machine, entry.job.held_gpus, others, standing);
  lock.lock();
  config_.machine.standing = std::move(standing);
  return made;
}

void Core::start_process(Lock& lock, Entry& entry, const store::Job& whole) {
  store::Job& job = entry.job;
  starter_.begins(job.number, now_);
  if (auto made = make_instances(lock, entry); !made) return put_off(entry, made.error().message);
  shepherd::Spec spec = spec_of(job, whole.asked, config_.machine, entry.batch, folder_of(job));
  spec.open_files = config_.open_files;
  spec.processes = static_cast<std::uint64_t>(gate_.processes(job.asked));
  spec.grace = std::min(spec.grace, config_.max_grace);
  auto run = shepherd::Run::start(folder_of(job), spec);
  using For = shepherd::NotStarted::For;
  if (!run && run.error().how_long == For::now) {
    deeds_.start.push_back(job.number);
    return start_failed(job.number, to_string(run.error()));
  }
  if (!run && run.error().how_long == For::job) return put_off(entry, to_string(run.error()));
  if (!run) {
    return happen(entry, life::Ended{JobState::node_fail,
                                     fmt::format("cannot start: {}", to_string(run.error()))});
  }
  has_process(entry, std::move(*run));
  starter_.has_process(now_);
  job.energy.counted_to = now_;
  touch(entry);
  ++counters_.started;
  note(job, "started", where_text(job, config_.machine));
}

void Core::start_failed(JobNumber number, const std::string& why) {
  const auto pause = starter_.failed(number, why, now_);
  if (!pause) return;
  service::log_warning(fmt::format("{}; tried again in {} s", starter_.trouble(), *pause / 1s));
  changed_ = true;
}

void Core::put_off(Entry& entry, const std::string& why) {
  const JobStarts::Next next = starter_.jobs.failed(entry.job.number, why, true, now_);
  service::log_warning(fmt::format("job {} cannot be started: {}", entry.job.number, why));
  happen(entry, life::NotStarted{.why = why, .again_at = next.again, .gives_up = next.gives_up});
}

life::NotStarted Core::judge_start(Entry& entry, const shepherd::Outcome& how) {
  const JobNumber number = entry.job.number;
  if (how.is_account) {
    account_failed(entry, how.why);
    return {.why = how.why};
  }
  if (awaits_its_end(entry.job)) return {.why = how.why};  // it is to be tried no more
  // One that had to be killed waited for its own user's files: others may start.
  const JobStarts::Next next = starter_.jobs.failed(number, how.why, entry.is_pressed, now_);
  if (!entry.is_pressed && (starter_.is_failing() || starter_.jobs.are_several())) {
    start_failed(number, how.why);
  }
  return {.why = how.why, .again_at = next.again, .gives_up = next.gives_up};
}

void Core::account_failed(Entry& entry, const std::string& why) {
  const std::uint32_t uid = entry.job.asked->uid;
  if (!accounts_.failed(uid, entry.job.asked->user, why, now_)) return;
  service::log_warning(fmt::format("jobs of {} cannot be started: {}", entry.job.asked->user, why));
  // Once for all of them: what is tried again and again asks for the user alone, and takes no GPU.
  for (auto& [number, each] : book_.all()) {
    if (each.job.asked->uid != uid || &each == &entry) continue;
    if (in_round(each, Phase::waiting)) {
      leave_queue(each);
      look_at(each);
    } else if (each.is_starting() && !each.run) {
      happen(each, life::NotStarted{.why = why});
    }
  }
}

void Core::heed_accounts() {
  const Accounts::News news = accounts_.look(now_);
  for (const std::uint32_t uid : news.open) {
    service::log_info(fmt::format("user {} is known again: its jobs may start", uid));
    book_.open({WaitsFor::What::account, uid});
    changed_ = true;
  }
  for (const auto& [uid, why] : news.given_up) {
    const std::set<JobNumber> all = book_.anteroom().in({WaitsFor::What::account, uid});
    service::log_warning(
        fmt::format("{}: {} jobs that waited for it have failed", why, all.size()));
    for (const JobNumber number : all) {
      happen(*book_.find(number),
             life::Ended{JobState::failed, fmt::format("cannot start: {}", why)});
    }
    changed_ = true;
  }
}

bool Core::may_start() {
  if (!starter_.is_failing()) return true;
  if (starter_.rests()) return false;
  const auto number = starter_.tried();
  const Entry* const tried = number ? book_.find(*number) : nullptr;
  if (tried == nullptr || !tried->run) return true;
  if (!starter_.has_begun(tried->run->process() >= 0, now_)) return false;
  start_works();
  return true;
}

void Core::start_works() {
  starter_.works();
  service::log_info("jobs can be started again");
  changed_ = true;
}

void Core::has_process(Entry& entry, shepherd::Run run) {
  entry.run = std::make_unique<shepherd::Run>(std::move(run));
  processes_.insert(entry.job.number);
  entry.moves = false;
  entry.too_much_gpu = false;
  entry.is_pressed = false;
  OfRuns& own = entry.of_runs.change();
  own.draws = entry.job.held_gpus;
  own.moved_by.reset();
  own.move.reset();
  own.told_gpus.clear();
  own.said_before = 0;
  if (own.progress) {
    own.progress->gpus.clear();
    own.progress->pace.reset();
  }
  own.obey_by = limit_of(entry);
  own.gpu_use = perf::SteadyUse(config_.measuring);
  own.gpu_use.start(now_);
  own.bandwidth_gbs.reset();
  measured_.change(now_);
}

void Core::keep_damaged(const std::string& folder, const std::string& why) {
  const fs::path here(folder);
  const fs::path kept = here.parent_path() / ("damaged-" + here.filename().string());
  std::error_code error;
  fs::rename(here, kept, error);
  service::log_error(
      fmt::format("{}; its folder is kept as {}", why, error ? folder : kept.string()));
}

std::optional<Duration> Core::limit_of(const Entry& entry) const {
  const Duration limit = entry.job.asked->time_limit;
  if (limit == kNoDuration) return std::nullopt;
  // Its shepherd ends it by then; or hangs, on a file system that does not answer.
  constexpr Duration kLongest = 24h * 36'500;
  // By no clock that is set: the wall may have been another when the job began, or the service.
  const Duration begun = entry.run->begun().value_or(shepherd::since_boot());
  return begun + std::min(limit, kLongest) + std::min(entry.job.asked->grace, config_.max_grace) +
         kHangs * config_.patience;
}

void Core::process_gone(Entry& entry, const shepherd::Outcome& how) {
  store::Job& job = entry.job;
  const Time at = how.exit ? ended_at(*how.exit, job.since, now_, wall_clock()) : now_;
  // Nobody knows for how long one ran that is lost: the machine may have been off.
  if (how.exit) count_energy(entry, at);
  hear_last_word(entry);
  const bool never_started = how.kind == shepherd::Outcome::Kind::never_started;
  auto becomes =
      next(job, entry.process(),
           life::Gone{.how = how,
                      .at = at,
                      .is_late = entry.is_pressed,
                      .retry_pause = config_.retry_pause,
                      .trouble = never_started ? judge_start(entry, how) : life::NotStarted{}},
           now_);
  if (how.kind == shepherd::Outcome::Kind::corrupt) {
    keep_damaged(entry.run->folder(), how.why);
  } else {
    outbox_.discard(entry.run->folder());
  }
  entry.run.reset();
  entry.makes_room = false;
  entry.moves = false;
  entry.of_runs.change().moved_by.reset();
  entry.of_runs.change().look_again = kNever;
  if (!never_started) {
    starter_.jobs.worked(job.number);
    accounts_.worked(job.asked->uid);
    if (starter_.is_tried(job.number)) start_works();
  }
  processes_.erase(job.number);
  measured_.change(now_);
  changed_ = true;
  follow(entry, std::move(*becomes));
}

void Core::tell_of_failures(std::function<void(const store::Job&)> tell) {
  const std::lock_guard lock(mutex_);
  tell_of_failure_ = std::move(tell);
}

void Core::hear_why(JobNumber job, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    outbox_.note({.at = clock_.now(), .job = job, .what = service::kJudged, .detail = why});
  }
  wake();
}

void Core::settle(Entry& entry) {
  store::Job& job = entry.job;
  if (entry.id != kNoJob) {
    trace::Job& record = trace_->jobs[index(entry.id)];
    record.outcome = store::record_of(job, trace_->names).outcome;
  }
  leave_policy(entry);
  const bool has_failed = job.state == JobState::failed && job.start != kNoTime;
  if (has_failed && tell_of_failure_) tell_of_failure_(job);
  ++counters_.ended;
  if (config_.futures > 0) ended_.push_back(job);
  book_.wait(entry, {});
  starter_.jobs.forget(job.number);
  changed_ = true;
}

void Core::waits_anew(Entry& entry) {
  if (entry.id != kNoJob) {
    trace_->jobs[index(entry.id)].outcome.state = JobState::node_fail;
  }
  leave_policy(entry);
  entry.of_runs = {};
  look_at(entry);
  changed_ = true;
}

}  // namespace almanac::machine
