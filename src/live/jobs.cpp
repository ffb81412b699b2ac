// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>

#include <fmt/format.h>
#include <unistd.h>

#include "base/check.h"
#include "base/wall_clock.h"
#include "live/core.h"
#include "live/ends.h"
#include "live/environment.h"
#include "live/log.h"
#include "process/resource_limits.h"
#include "shepherd/record.h"
#include "store/log.h"
#include "text/duration.h"

namespace almanac::live {

using policy::EventKind;
using policy::Phase;
using store::JobNumber;
using trace::JobState;

namespace {

/// Whether some text has a byte of zero, which neither a program nor the store can be given.
bool has_zero(const store::Submission& asked) {
  const auto bad = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  return std::any_of(asked.argv.begin(), asked.argv.end(), bad) ||
         std::any_of(asked.environment.begin(), asked.environment.end(), bad) ||
         bad(asked.script) || bad(asked.directory) || bad(asked.out) || bad(asked.err) ||
         bad(asked.name) || bad(asked.user) || bad(asked.vc) || bad(asked.qos) ||
         bad(asked.model) || bad(asked.group) || bad(asked.gpu_type) ||
         std::any_of(asked.parameters.begin(), asked.parameters.end(), bad);
}

/// So many times the patience a shepherd may be late: its command may begin late.
constexpr int kHangs = 30;

std::int64_t number_of(const store::Job& job) { return static_cast<std::int64_t>(job.number); }

}  // namespace

std::string LocalService::Core::folder_of(const store::Job& job) const {
  return fmt::format("{}/runs/{}.{}", config_.state, number_of(job), job.attempts);
}

void LocalService::Core::note(const store::Job& job, std::string what, std::string detail) {
  notes_.push_back(note_of(job, now_, std::move(what), std::move(detail)));
}

std::optional<std::string> LocalService::Core::never(const store::Job& job) {
  const trace::Job record = store::record_of(job, trace_->names);
  const VcId vc = admission_->vc(record.request);
  const DemandId demand = admission_->demand(record.request, vc);
  const auto reason = admission_->never(vc, demand);
  if (!reason) return std::nullopt;
  const std::string said = policy::to_string(*reason, "");
  constexpr std::string_view kNever = "never: ";  // as the caller says itself
  return said.starts_with(kNever) ? said.substr(kNever.size()) : said;
}

Result<std::vector<store::Job>> LocalService::Core::enlist(const store::Submission& asked) {
  if (asked.argv.empty() && asked.script.empty()) {
    return fail(Code::usage, "there is no command to run");
  }
  if (has_zero(asked)) return fail(Code::usage, "there is a byte of zero in its text");
  const auto ours = static_cast<std::uint32_t>(::geteuid());
  if (ours != 0 && asked.uid != ours) {
    return fail(
        Code::unsupported,
        fmt::format("the service runs as user {}, not as root: it can run jobs of that user "
                    "only",
                    ours));
  }
  if (asked.gpus < 0 || asked.gpu_share <= 0 || asked.gpu_share > 1) {
    return fail(Code::usage, fmt::format("expected GPUs of 0 or more and a share in (0, 1], found "
                                         "{} and {}",
                                         asked.gpus, asked.gpu_share));
  }
  // Of less than a thousandth nothing would be counted, or held.
  constexpr double kLeast = 0.001;
  if (asked.cpus.value_or(1) < kLeast || asked.memory_gb.value_or(1) < kLeast ||
      asked.gpu_share < kLeast) {
    return fail(
        Code::usage,
        fmt::format("expected {0} or more of cores, memory (GB) and GPU share, "
                    "found {1:g}, {2:g} and {3:g}",
                    kLeast, asked.cpus.value_or(1), asked.memory_gb.value_or(1), asked.gpu_share));
  }
  if (asked.grace > config_.max_grace) {
    return fail(
        Code::usage,
        fmt::format("grace is at most {} here, not {}", text::format_duration(config_.max_grace),
                    text::format_duration(asked.grace)),
        {}, "serve --max-grace says how much");
  }
  if (const auto limits = process::read_resource_limits(asked.resource_limits); !limits) {
    return fail(Code::usage, limits.error().message);
  }
  for (const auto* const list : {&asked.after, &asked.after_ok, &asked.after_not_ok}) {
    for (const JobNumber before : *list) {
      if (book_.find(before) != nullptr) continue;
      const auto known = store_.ended_well(before);
      if (!known) return tl::unexpected(known.error());
      if (!*known) {
        return fail(Code::not_found, fmt::format("it is to follow job {}, which there is not",
                                                 static_cast<std::int64_t>(before)));
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

void LocalService::Core::join(Entry& entry) {
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
  if (never) return finish(entry, JobState::failed, policy::to_string(*never, ""));
  events_.push_back({EventKind::job_arrived, static_cast<std::uint32_t>(index(entry.id))});
}

void LocalService::Core::leave_queue(Entry& entry) {
  round_->withdraw(now_, entry.id);
  events_.push_back({EventKind::job_withdrawn, static_cast<std::uint32_t>(index(entry.id))});
  book_.count_task(entry.job, -1);
  entry.id = kNoJob;
  look_aside_ = true;  // another task of its array
}

void LocalService::Core::end_process(Entry& entry) {
  to_stop_.push_back(entry.job.number);
  touch(entry);
}

void LocalService::Core::tell_to_end(Entry& entry) {
  const Duration grace =
      entry.at_once ? Duration{0} : std::min(entry.job.asked->grace, config_.max_grace);
  const Duration by = shepherd::since_boot() + grace + config_.patience;
  entry.of_runs.change().obey_by = std::min(entry.of_runs->obey_by.value_or(by), by);
  const bool makes_room = entry.makes_room && entry.to_end.empty() && !entry.again;
  if (entry.at_once) {
    entry.run->end_now();
  } else if (makes_room && entry.job.asked->warn_signal != 0) {
    entry.run->make_room();
  } else {
    entry.run->end();
  }
}

void LocalService::Core::press() {
  const Duration now = shepherd::since_boot();
  for (const JobNumber number : processes_) {
    Entry& entry = *book_.find(number);
    if (entry.of_runs->moved_by && now >= *entry.of_runs->moved_by) {
      move_by_restart(entry, "it did not say in time that it uses them");
    }
    if (!entry.of_runs->obey_by || now < *entry.of_runs->obey_by) continue;
    entry.of_runs.change().obey_by = now + config_.patience;
    if (std::exchange(entry.is_pressed, true)) {
      // It hangs, or its user has stopped what it waits for.
      entry.run->kill();
      continue;
    }
    log_warning(fmt::format("job {} has not ended in time; it is killed",
                            static_cast<std::int64_t>(number)));
    entry.run->end_now();
  }
}

void LocalService::Core::start(JobId id) {
  Entry& entry = entry_of(id);
  if (entry.moves) return go_on(entry);
  store::Job& job = entry.job;
  const auto held = round_->grants(id);
  job.state = JobState::running;
  job.since = now_;
  if (job.start == kNoTime) job.start = now_;
  job.held_gpus.assign(held.begin(), held.end());
  entry.starting = true;
  entry.batch = round_->config(id).batch;
  ++job.attempts;
  job.cores.clear();
  to_pin_.push_back(id);
  to_start_.push_back(job.number);
  touch(entry);
}

void LocalService::Core::stop(JobId id) {
  Entry& entry = entry_of(id);
  store::Job& job = entry.job;
  job.state = JobState::pending;
  job.attained = round_->progress(id).attained;
  job.since = now_;
  ++job.preemptions;
  if (entry.starting) {
    --job.attempts;
  } else {
    lets_go(entry);
    end_process(entry);
  }
  entry.starting = false;
  ++counters_.preempted;
  note(job, "preempted");
  touch(entry);
}

void LocalService::Core::end(JobId id, bool runs) {
  Entry& entry = entry_of(id);
  entry.job.attained = round_->progress(id).attained;
  if (runs && entry.starting) --entry.job.attempts;
  leave_for_good(entry, runs && !entry.starting, kEndedByPolicy);
}

void LocalService::Core::decline(JobId id) {
  leave_for_good(entry_of(id), false, kDeclinedByPolicy);
}

void LocalService::Core::leave_for_good(Entry& entry, bool makes_room, const std::string& why) {
  store::Job& job = entry.job;
  entry.starting = false;
  if (!entry.run) return finish(entry, JobState::cancelled, why, now_);
  // Its GPUs are free for the policy, and no other job begins there before its process has gone.
  if (makes_room) lets_go(entry);
  job.state = JobState::pending;
  job.since = now_;
  if (entry.to_end.empty()) entry.to_end = why;  // else its user has ended it already
  job.reason = entry.to_end;
  entry.again = false;
  book_.count_task(job, -1);
  entry.id = kNoJob;
  look_aside_ = true;
  note(job, "told to end", job.reason);
  end_process(entry);
}

void LocalService::Core::sleep(NodeId) { ALMANAC_CHECK(false, "this machine is the only one"); }

void LocalService::Core::boot(NodeId) { ALMANAC_CHECK(false, "this machine is the only one"); }

bool LocalService::Core::is_free_of_others(const Entry& entry) const {
  return !entry.run && not_left(entry).empty();
}

void LocalService::Core::start_process(Entry& entry, const store::Job& whole) {
  store::Job& job = entry.job;
  if (failed_starts_ > 0) {
    probe_ = job.number;
    probed_ = now_;
  }
  shepherd::Spec spec = spec_of(job, whole.asked, config_.machine, entry.batch, folder_of(job));
  spec.open_files = config_.open_files;
  spec.grace = std::min(spec.grace, config_.max_grace);
  auto run = shepherd::Run::start(folder_of(job), spec);
  if (!run && run.error().code != Code::invalid) {
    // No process to be had, or the shepherd's program is just being replaced: not the job's fault.
    to_start_.push_back(job.number);
    return start_failed(job.number, to_string(run.error()));
  }
  entry.starting = false;
  if (!run) {
    round_->end(now_, entry.id);
    events_.push_back({EventKind::job_ended, static_cast<std::uint32_t>(index(entry.id))});
    return finish(entry, JobState::node_fail,
                  fmt::format("cannot start: {}", to_string(run.error())));
  }
  has_process(entry, std::move(*run));
  if (failed_starts_ > 0) {
    constexpr Duration kLook = 100ms;
    start_again_ = now_ + kLook;
  }
  job.energy.counted_to = now_;
  touch(entry);
  ++counters_.started;
  note(job, "started", where_text(job, config_.machine));
}

void LocalService::Core::start_failed(JobNumber number, const std::string& why) {
  constexpr Duration kAtMost = 1min;
  constexpr int kDoublings = 6;
  // Of those that were started together one failure counts.
  if (failed_starts_ > 0 && probe_ != number) return;
  const Duration pause =
      std::min(Duration{1s} * (1 << std::min(failed_starts_, kDoublings)), kAtMost);
  ++failed_starts_;
  probe_.reset();
  start_again_ = now_ + pause;
  start_trouble_ = fmt::format("jobs cannot be started, after {} tries: {}", failed_starts_, why);
  log_warning(fmt::format("{}; tried again in {} s", start_trouble_, pause / 1s));
  changed_ = true;
}

bool LocalService::Core::may_start() {
  if (failed_starts_ == 0) return true;
  if (start_again_ != kNever) return false;
  constexpr Duration kPatience = 5s;
  const Entry* const tried = probe_ ? book_.find(*probe_) : nullptr;
  if (tried != nullptr && tried->run) {
    // What lives so long has begun, whatever holds it up.
    if (tried->run->process() < 0 && now_ < probed_ + kPatience) {
      start_again_ = now_ + 100ms;
      return false;
    }
    start_works();
    return true;
  }
  return true;
}

void LocalService::Core::start_works() {
  failed_starts_ = 0;
  probe_.reset();
  start_trouble_.clear();
  log_info("jobs can be started again");
  changed_ = true;
}

void LocalService::Core::has_process(Entry& entry, shepherd::Run run) {
  entry.run = std::make_unique<shepherd::Run>(std::move(run));
  processes_.insert(entry.job.number);
  entry.moves = false;
  entry.too_much_gpu = false;
  entry.at_once = false;
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
  own.gpu_use = measure::SteadyUse(config_.measuring);
  own.gpu_use.start(now_);
  own.bandwidth_gbs.reset();
  measured_.change(now_);
}

std::optional<Duration> LocalService::Core::limit_of(const Entry& entry) const {
  const Duration limit = entry.job.asked->time_limit;
  if (limit == kNoDuration) return std::nullopt;
  // Its shepherd ends it by then; or hangs, on a file system that does not answer.
  constexpr Duration kLongest = 24h * 36'500;
  return shepherd::since_boot() - (now_ - entry.job.since) + std::min(limit, kLongest) +
         std::min(entry.job.asked->grace, config_.max_grace) + kHangs * config_.patience;
}

void LocalService::Core::process_gone(Entry& entry, const shepherd::Outcome& how) {
  store::Job& job = entry.job;
  const Time at = how.exit ? ended_at(*how.exit, job.since, now_, wall_clock()) : now_;
  // Nobody knows for how long one ran that is lost: the machine may have been off.
  if (how.exit) count_energy(entry, at);
  hear_last_word(entry);
  old_folders_.push_back(entry.run->folder());
  entry.run.reset();
  entry.moves = false;
  entry.of_runs.change().moved_by.reset();
  entry.of_runs.change().look_again = kNever;
  if (how.kind == shepherd::Outcome::Kind::never_started) {
    --job.attempts;
    start_failed(job.number, how.why);
  } else if (failed_starts_ > 0 && probe_ == job.number) {
    start_works();
  }
  processes_.erase(job.number);
  measured_.change(now_);
  const Next what = next({.has_ended = has_ended(job),
                          .makes_room = std::exchange(entry.makes_room, false),
                          .to_end = std::exchange(entry.to_end, {}),
                          .again = entry.again,
                          .is_late = entry.is_pressed,
                          .may_run_again = job.asked->requeue,
                          .retries = job.asked->retries - job.failures},
                         how);
  changed_ = true;
  if (what.kind == Next::Kind::nothing) return touch(entry);
  if (what.kind == Next::Kind::waits) {
    note(job, what.why);
    return touch(entry);
  }
  if (in_round(entry, Phase::running)) {
    round_->end(at, entry.id);
    events_.push_back({EventKind::job_ended, static_cast<std::uint32_t>(index(entry.id))});
    job.attained = round_->progress(entry.id).attained;
  } else if (in_round(entry, Phase::waiting)) {
    leave_queue(entry);  // stopped, and ended by itself before it was
  }
  entry.starting = false;
  if (what.kind == Next::Kind::tries_again) {
    ++job.failures;
    job.again_at = now_ + pause_after(job.failures, config_.retry_pause);
    return begin_again(
        entry, fmt::format("retry {} of {}: {}", job.failures, job.asked->retries, what.why));
  }
  if (what.kind == Next::Kind::begins_again) return begin_again(entry, what.why);
  if (how.exit && what.state != JobState::node_fail) {
    job.exit_status = how.exit->ending.status;
    job.signal = how.exit->ending.signal;
  }
  finish(entry, what.state, what.why, at);
}

void LocalService::Core::finish(Entry& entry, JobState state, const std::string& reason, Time at) {
  entry.job = ended(std::move(entry.job), state, reason, at);
  notes_.push_back(note_of_end(entry.job, now_));
  if (state == JobState::failed && entry.job.start != kNoTime && tell_of_failure_) {
    tell_of_failure_(entry.job);
  }
  settle(entry);
}

void LocalService::Core::tell_of_failures(std::function<void(const store::Job&)> tell) {
  const std::lock_guard lock(mutex_);
  tell_of_failure_ = std::move(tell);
}

void LocalService::Core::hear_why(JobNumber job, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    notes_.push_back({.at = clock_.now(), .job = job, .what = kJudged, .detail = why});
  }
  wake();
}

void LocalService::Core::settle(Entry& entry) {
  store::Job& job = entry.job;
  if (entry.id != kNoJob) {
    trace::Job& record = trace_->jobs[index(entry.id)];
    record.outcome = store::record_of(job, trace_->names).outcome;
    book_.count_task(job, -1);
    entry.id = kNoJob;
  }
  ++counters_.ended;
  if (config_.futures > 0) ended_.push_back(job);
  aside_.erase(job.number);
  look_aside_ = true;
  changed_ = true;
  touch(entry);
}

void LocalService::Core::begin_again(Entry& entry, const std::string& why) {
  entry.job = begun_again(std::move(entry.job), now_);
  note(entry.job, "requeued", why);
  waits_anew(entry);
}

void LocalService::Core::waits_anew(Entry& entry) {
  if (entry.id != kNoJob) {
    trace::Job& record = trace_->jobs[index(entry.id)];
    record.outcome.state = JobState::node_fail;
    book_.count_task(entry.job, -1);
    entry.id = kNoJob;
  }
  entry.again = false;
  entry.of_runs = {};
  aside_.insert(entry.job.number);
  look_aside_ = true;
  changed_ = true;
  touch(entry);
}

}  // namespace almanac::live
