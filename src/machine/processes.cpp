// SPDX-License-Identifier: Apache-2.0
#include "machine/processes.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "machine/shares.h"
#include "service/log.h"
#include "shepherd/record.h"

namespace almanac::machine {

using store::JobNumber;

namespace {

namespace fs = std::filesystem;

/// A shepherd may be late by this many times the patience: its command may begin late.
constexpr int kHangs = 30;

/// Renames the folder of a run whose last word is damaged, so that people can look at it.
void keep_damaged(const std::string& folder, const std::string& why) {
  const fs::path here(folder);
  const fs::path kept = here.parent_path() / ("damaged-" + here.filename().string());
  std::error_code error;
  fs::rename(here, kept, error);
  service::log_error(
      fmt::format("{}; its folder is kept as {}", why, error ? folder : kept.string()));
}

}  // namespace

std::optional<Duration> deadline_of(const Entry& entry, const State& state) {
  const Duration limit = entry.job.asked->time_limit;
  if (limit == kNoDuration) return std::nullopt;
  // Its shepherd ends it by then, or hangs on a file system that does not answer.
  constexpr Duration kLongest = 24h * 36'500;
  // Time since boot, because the wall clock may have been set since the job or the service began.
  const Duration begun = entry.run->begun().value_or(state.clock.since_boot());
  return begun + std::min(limit, kLongest) +
         std::min(entry.job.asked->grace, state.config.max_grace) + kHangs * state.config.patience;
}

void Processes::adopt(Entry& entry, shepherd::Run run) {
  entry.run = std::make_unique<shepherd::Run>(std::move(run));
  state_.processes.insert(entry.job.number);
  entry.moves = false;
  entry.too_much_gpu = false;
  entry.is_overdue = false;
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
  own.obey_by = deadline_of(entry, state_);
  own.gpu_use = perf::SteadyUse(state_.config.measuring);
  own.gpu_use.start(state_.now);
  own.bandwidth_gbs.reset();
  queue_.measured().change(state_.now);
}

void Processes::look() {
  std::vector<pollfd> sources;
  std::vector<JobNumber> whose;
  for (const JobNumber number : state_.processes) {
    sources.push_back({state_.book.find(number)->run->news(), POLLIN, 0});
    whose.push_back(number);
  }
  if (sources.empty()) return;
  ::poll(sources.data(), sources.size(), 0);
  for (std::size_t at = 0; at < sources.size(); ++at) {
    using Kind = shepherd::Outcome::Kind;
    const bool has_news = sources[at].revents != 0;
    Entry& entry = *state_.book.find(whose[at]);
    const bool is_due = entry.of_runs->look_again == kNever
                            ? has_news || sources[at].fd < 0
                            : entry.of_runs->look_again <= state_.now;
    if (!is_due) continue;
    const shepherd::Outcome how = entry.run->exited();
    if (how.kind == Kind::unreadable || (how.kind == Kind::lives && has_news)) {
      look_later(entry, how);
    } else if (how.kind == Kind::lives) {
      entry.of_runs.change().look_again = kNever;
    } else {
      finish(entry, how);
    }
  }
}

void Processes::look_later(Entry& entry, const shepherd::Outcome& how) const {
  constexpr Duration kAtFirst = 10ms;
  constexpr Duration kAtMost = 10s;
  OfRuns& own = entry.of_runs.change();
  const bool is_first = own.look_again == kNever;
  own.look_pause = is_first ? kAtFirst : std::min(2 * own.look_pause, kAtMost);
  own.look_again = state_.now + own.look_pause;
  if (is_first && how.kind == shepherd::Outcome::Kind::unreadable) {
    service::log_warning(fmt::format("{} now; kept unchanged and checked again later", how.why));
  }
}

void Processes::finish(Entry& entry, const shepherd::Outcome& how) {
  store::Job& job = entry.job;
  const Time at =
      how.exit ? ended_at(*how.exit, job.since, state_.now, state_.clock.wall()) : state_.now;
  // How long a lost process ran is not known: the machine may have been off.
  if (how.exit) meter_.count_energy(entry, at);
  state_.keep_reports(job.number, word_of(*entry.run, state_.now).reported());
  const bool never_started = how.kind == shepherd::Outcome::Kind::never_started;
  auto becomes =
      next(job, entry.process(),
           life::Gone{.how = how,
                      .at = at,
                      .is_late = entry.is_overdue,
                      .retry_pause = state_.config.retry_pause,
                      .trouble = never_started ? failures_.judge(entry, how) : life::NotStarted{}},
           state_.now);
  if (how.kind == shepherd::Outcome::Kind::corrupt) {
    keep_damaged(entry.run->folder(), how.why);
  } else {
    state_.outbox.discard(entry.run->folder());
  }
  entry.run.reset();
  entry.makes_room = false;
  entry.moves = false;
  entry.of_runs.change().moved_by.reset();
  entry.of_runs.change().look_again = kNever;
  if (!never_started) failures_.forget(job);
  state_.processes.erase(job.number);
  queue_.measured().change(state_.now);
  state_.has_changed = true;
  lifecycle_.become(entry, std::move(*becomes));
}

void Processes::enforce_deadlines() {
  const Duration now = state_.clock.since_boot();
  for (const JobNumber number : state_.processes) {
    Entry& entry = *state_.book.find(number);
    if (entry.of_runs->moved_by && now >= *entry.of_runs->moved_by) {
      mover_.restart(entry, "it did not confirm in time that it uses them");
    }
    if (!entry.of_runs->obey_by || now < *entry.of_runs->obey_by) continue;
    entry.of_runs.change().obey_by = now + state_.config.patience;
    if (std::exchange(entry.is_overdue, true)) {
      // The shepherd hangs, or its user has stopped it. There may be no news of its end.
      entry.run->kill();
      entry.of_runs.change().look_again = state_.now;
      continue;
    }
    service::log_warning(
        fmt::format("job {} did not end within its grace period; killing it", number));
    entry.run->end_now();
  }
}

void Processes::take_excesses() {
  for (const GpuExcess& each : std::exchange(excesses_, {})) {
    Entry* const entry = state_.book.find(each.job);
    const bool is_same_run = entry != nullptr && entry->run && entry->run->folder() == each.folder;
    if (!is_same_run || std::exchange(entry->too_much_gpu, true)) continue;
    state_.note(
        entry->job, kTooMuchGpu,
        fmt::format("used {:.1f} GB of GPU {} of {}, but its share is {:.1f}", each.held_gb,
                    each.gpu, state_.config.machine.cluster.node_label(each.node), each.part_gb));
    state_.deeds.kill.push_back(each.job);
  }
}

void Processes::act() {
  for (const JobNumber number : std::exchange(state_.deeds.stop, {})) {
    Entry* const entry = state_.book.find(number);
    if (entry != nullptr && entry->run) end(*entry);
  }
  for (const JobNumber number : std::exchange(state_.deeds.kill, {})) {
    Entry* const entry = state_.book.find(number);
    if (entry != nullptr && entry->run && entry->too_much_gpu) entry->run->end_for_memory();
  }
  for (const JobNumber number : std::exchange(state_.deeds.resize, {})) {
    Entry* const entry = state_.book.find(number);
    if (entry != nullptr && entry->process() == Process::own) resize(*entry);
  }
}

void Processes::end(Entry& entry) const {
  const bool at_once = entry.job.intent == store::Intent::end_at_once;
  const Duration grace =
      at_once ? Duration{0} : std::min(entry.job.asked->grace, state_.config.max_grace);
  const Duration by = state_.clock.since_boot() + grace + state_.config.patience;
  entry.of_runs.change().obey_by = std::min(entry.of_runs->obey_by.value_or(by), by);
  if (at_once) {
    entry.run->end_now();
  } else if (!awaits_its_end(entry.job) && entry.job.asked->warn_signal != 0) {
    entry.run->make_room();
  } else {
    entry.run->end();
  }
}

void Processes::resize(Entry& entry) const {
  const Share share = share_of(entry.job.held_gpus);
  const auto limit = [](double value) { return value > 0 ? std::optional(value) : std::nullopt; };
  // A job that is not pinned any more may use all.
  const std::vector<int>& cores =
      entry.job.cores.empty() && !entry.job.held_gpus.empty()
          ? cores_of(state_.config.machine, entry.job.held_gpus.front().node)
          : entry.job.cores;
  const auto resized = entry.run->resize(cores, limit(share.cpus), limit(share.memory_gb),
                                         entry.job.asked->time_limit);
  if (!resized) {
    service::log_warning(fmt::format("job {}: {}", entry.job.number, to_string(resized.error())));
  }
}

Time Processes::next_look() const {
  Time next = kNever;
  for (const JobNumber number : state_.processes) {
    const Entry& entry = *state_.book.find(number);
    const Runs& own = entry.of_runs;
    const bool has_no_news = entry.run->news() < 0 && own->look_again == kNever;
    next = std::min(next, has_no_news ? state_.now : own->look_again);
    for (const auto& deadline : {own->moved_by, own->obey_by}) {
      if (!deadline) continue;
      const Duration left = std::max<Duration>(*deadline - state_.clock.since_boot(), 0ms);
      next = std::min(next, state_.now + left);
    }
  }
  return next;
}

std::vector<int> Processes::sources() const {
  std::vector<int> made;
  for (const JobNumber number : state_.processes) {
    const Entry& entry = *state_.book.find(number);
    if (entry.of_runs->look_again == kNever) made.push_back(entry.run->news());
  }
  return made;
}

Patients Processes::patients() const {
  const std::lock_guard lock(state_.mutex);
  Patients made{.now = state_.time.now(), .all = {}};
  for (const JobNumber number : state_.processes) {
    const Entry& entry = *state_.book.find(number);
    made.all.push_back({.job = number,
                        .shepherd = entry.run->shepherd(),
                        .folder = entry.run->folder(),
                        .held = entry.job.held_gpus,
                        .asks_part = entry.job.asked->gpu_share < 1});
  }
  return made;
}

}  // namespace almanac::machine
