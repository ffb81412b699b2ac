// SPDX-License-Identifier: Apache-2.0
#include "machine/life.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "service/job.h"
#include "text/human.h"

namespace almanac::machine {

using store::Intent;
using trace::JobState;

namespace {

constexpr const char* kOverTime = "over its time limit";
constexpr const char* kByUser = "by a user";

std::string cannot_start(const std::string& why) { return fmt::format("cannot start: {}", why); }

bool is_to_end(const store::Job& job) {
  return job.intent == Intent::end || job.intent == Intent::end_at_once;
}

/// One event, on what `made` has of the job so far.
struct Turn {
  using Made = std::optional<Next>;

  Next made;
  Time now{};

  store::Job& job() { return made.job; }
  bool has_process() const { return made.process != Process::none; }

  Made noted(std::string what, std::string detail = {}) {
    made.what = std::move(what);
    made.detail = std::move(detail);
    return std::move(made);
  }
  Made told(std::string what = {}, std::string detail = {}) {
    made.is_told = true;
    return noted(std::move(what), std::move(detail));
  }
  /// What starts begins no run: it was no attempt.
  void cut_short() {
    if (!starts(made.job, made.process)) return;
    job().state = JobState::pending;
    --job().attempts;
    if (job().attempts > job().annulled) return;
    job().start = kNoTime;
    job().attained = Duration{0};
  }
  Made ends(JobState state, std::string why, Time at) {
    cut_short();
    job().state = state;
    job().intent = Intent::none;
    job().end = at;
    job().reason = std::move(why);
    const std::string_view word = to_string(state);
    return noted("ended", job().reason.empty() ? std::string(word)
                                               : fmt::format("{}: {}", word, job().reason));
  }
  /// How its earlier runs end is not asked any more.
  Made runs_again(std::string why) {
    cut_short();
    job().annulled = job().attempts;
    job().state = JobState::pending;
    job().intent = Intent::none;
    job().since = now;
    job().start = kNoTime;
    job().end = kNoTime;
    job().attained = Duration{0};
    job().exit_status.reset();
    job().signal = 0;
    job().reason.clear();
    made.is_anew = true;
    return noted("requeued", std::move(why));
  }

  Made operator()(const life::Cancelled& event) {
    if (service::has_ended(job())) return std::nullopt;
    if (!has_process()) return ends(JobState::cancelled, event.why, now);
    const bool at_once = event.at_once || job().intent == Intent::end_at_once;
    job().intent = at_once ? Intent::end_at_once : Intent::end;
    job().reason = event.why;
    return told(event.at_once ? "killed without a grace period" : "told to end", event.why);
  }
  Made operator()(const life::Held&) {
    if (job().state != JobState::pending) return std::nullopt;
    job().held = true;
    return noted("held");
  }
  Made operator()(const life::Released&) {
    if (service::has_ended(job()) || !job().held) return std::nullopt;
    job().held = false;
    return noted("released");
  }
  Made operator()(const life::Requeued& event) {
    if (service::has_ended(job())) {
      if (has_process()) return std::nullopt;
      job().failures = 0;
      job().again_at = kNoTime;
      return runs_again(event.by);
    }
    const bool waits = job().state == JobState::pending && !is_to_end(job());
    if (waits || job().intent == Intent::run_again) return std::nullopt;
    if (!has_process()) return runs_again(event.by);
    job().intent = Intent::run_again;
    job().reason.clear();
    return told();
  }
  Made operator()(const life::Started& event) {
    if (job().state != JobState::pending || made.process == Process::own) return std::nullopt;
    job().state = JobState::running;
    job().since = now;
    if (job().start == kNoTime) job().start = now;
    job().held_gpus = event.grants;
    job().cores.clear();
    ++job().attempts;
    return std::move(made);
  }
  Made operator()(const life::Stopped& event) {
    if (job().state != JobState::running) return std::nullopt;
    ++job().preemptions;
    stop(event.attained);
    return noted("preempted");
  }
  Made operator()(const life::Dismissed& event) {
    if (service::has_ended(job())) return std::nullopt;
    stop(event.attained);
    if (!has_process()) return ends(JobState::cancelled, event.why, now);
    if (!is_to_end(job())) {  // else its user has ended it already
      job().intent = Intent::end;
      job().reason = event.why;
    }
    return told("told to end", job().reason);
  }
  Made operator()(const life::Renewed& event) {
    if (job().state != JobState::running || made.process != Process::own) return std::nullopt;
    made.process = Process::former;
    ++job().attempts;
    ++job().preemptions;
    return told("preempted", fmt::format("restarting on its GPUs: {}", event.why));
  }
  Made operator()(const life::NotStarted& event) {
    if (!starts(job(), made.process) || is_to_end(job())) return std::nullopt;
    if (event.gives_up) return ends(JobState::failed, cannot_start(event.why), now);
    const Time again_at = event.again_at;
    Made again = runs_again(event.why);
    again->job.again_at = again_at;
    return again;
  }
  Made operator()(const life::Ended& event) {
    if (service::has_ended(job()) || made.process == Process::own) return std::nullopt;
    return ends(event.state, event.why, now);
  }
  Made operator()(const life::Gone& event);
  Made operator()(const life::TakenOver&) {
    if (service::has_ended(job())) return std::nullopt;
    const bool was_to_start = starts(job(), made.process);
    cut_short();
    if (has_process() && (awaits_its_end(job()) || made.process == Process::former)) return told();
    if (job().intent == Intent::run_again) return runs_again(kByUser);
    if (is_to_end(job())) return ends(JobState::cancelled, std::string(job().reason), now);
    return was_to_start ? Made(std::move(made)) : std::nullopt;
  }

 private:
  Made gone(const life::Gone& event);
  /// Ends the run in the policy's view.
  void stop(Duration attained) {
    cut_short();
    if (job().state == JobState::running) {
      made.process = Process::former;
      made.is_told = true;
      job().attained = attained;
    }
    job().state = JobState::pending;
    job().since = now;
  }
};

Turn::Made Turn::operator()(const life::Gone& event) {
  Made after = gone(event);
  const std::int64_t lost = event.how.exit ? event.how.exit->log_dropped : 0;
  if (!after || lost == 0) return after;
  after->job.lost_output += lost;
  after->detail += fmt::format("{}{} bytes of output lost", after->detail.empty() ? "" : "; ",
                               text::grouped(lost));
  return after;
}

Turn::Made Turn::gone(const life::Gone& event) {
  using shepherd::Cause;
  if (!has_process()) return std::nullopt;
  const shepherd::Outcome& how = event.how;
  const bool untried = how.kind == shepherd::Outcome::Kind::never_started;
  const Process was = std::exchange(made.process, Process::none);
  if (untried) --job().attempts;
  if (service::has_ended(job())) return std::move(made);
  const bool by_order = !how.exit || how.exit->cause == Cause::told;
  if (was == Process::former && !awaits_its_end(job()) && by_order) return noted("stopped");
  if (was == Process::own) {  // its run is over, whatever follows
    job().state = JobState::pending;
    job().attained += event.at - job().since;
  }

  const bool again = job().intent == Intent::run_again;
  const bool reruns = job().asked->requeue == trace::Requeue::yes;
  if (!how.exit) {
    // Nothing of it runs any more, and that is what was wanted.
    if (is_to_end(job())) return ends(JobState::cancelled, std::string(job().reason), event.at);
    if (event.is_late && !again) return ends(JobState::timeout, kOverTime, event.at);
    if (untried && !again && event.trouble.gives_up) {
      return ends(JobState::failed, cannot_start(how.why), event.at);
    }
    // A job that ended in an unknown way may have finished its work.
    const bool is_known = how.kind != shepherd::Outcome::Kind::corrupt;
    if (untried || again || (is_known && reruns)) {
      Made anew = runs_again(how.why);
      if (untried) anew->job.again_at = event.trouble.again_at;
      return anew;
    }
    return ends(JobState::node_fail, how.why, event.at);
  }
  if (again) return runs_again(kByUser);
  if (by_order && !is_to_end(job())) {
    // Not by us: the machine was going down.
    constexpr const char* kOutside = "ended from outside";
    if (reruns) return runs_again(kOutside);
    return ends(JobState::node_fail, kOutside, event.at);
  }
  job().exit_status = how.exit->ending.status;
  job().signal = how.exit->ending.signal;
  const auto fails = [&](const std::string& why) {
    const std::int32_t retries = job().asked->retries;
    if (job().failures >= retries) return ends(JobState::failed, why, event.at);
    const std::int32_t failures = ++job().failures;
    job().again_at = now + pause_after(failures, event.retry_pause);
    return runs_again(fmt::format("retry {} of {}: {}", failures, retries, why));
  };
  switch (how.exit->cause) {
    case Cause::by_itself:
      return how.exit->ending.good() ? ends(JobState::completed, "", event.at)
                                     : fails(to_string(how.exit->ending));
    case Cause::told:
      return ends(JobState::cancelled, std::string(job().reason), event.at);
    case Cause::time_limit:
      return ends(JobState::timeout, kOverTime, event.at);
    case Cause::memory:
      return fails("out of memory");
    case Cause::cannot_start:
    case Cause::account:  // such a run never started
      return ends(JobState::failed, cannot_start(how.exit->message), event.at);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Next> next(const store::Job& job, Process process, const life::Event& event,
                         Time now) {
  return std::visit(Turn{{.job = job, .process = process}, now}, event);
}

bool starts(const store::Job& job, Process process) {
  return job.state == JobState::running && process != Process::own;
}

store::Job as_seen(const store::Job& job, Process process) {
  Turn turn{{.job = job, .process = process}, {}};
  turn.cut_short();
  return std::move(turn.made.job);
}

Time ended_at(const shepherd::Exit& exit, Time since, Time now, Time wall) {
  constexpr Duration kAtOnce = 1s;
  constexpr Duration kUnset = 1min;
  if (exit.end - exit.start - exit.ran > kUnset) return std::min(since + exit.ran, now);
  const Duration ago = wall - exit.end;
  return ago > kAtOnce ? std::max(since, now - ago) : now;
}

Duration pause_after(std::int32_t failures, Duration first) {
  constexpr Duration kAtMost = 1h;
  constexpr std::int32_t kDoublings = 16;
  return std::min(first * (1 << std::clamp(failures - 1, 0, kDoublings)), kAtMost);
}

store::Note note_of(const store::Job& job, Time now, std::string what, std::string detail) {
  return {.at = now, .job = job.number, .what = std::move(what), .detail = std::move(detail)};
}

}  // namespace almanac::machine
