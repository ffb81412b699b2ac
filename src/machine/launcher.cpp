// SPDX-License-Identifier: Apache-2.0
#include "machine/launcher.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "machine/environment.h"
#include "machine/holding.h"
#include "machine/instances.h"

namespace almanac::machine {

using store::JobNumber;
using trace::JobState;

Result<void> Launcher::open_driver() {
  if (!state_.config.machine.makes_instances) return {};
  auto driver = gpu::open_driver();
  if (!driver) return tl::unexpected(driver.error());
  driver_ = *std::move(driver);
  return {};
}

void Launcher::start_jobs(Lock& lock) {
  std::vector<JobNumber>& starts = state_.deeds.start;
  if (!failures_.may_start() || starts.empty()) return;
  std::vector<JobNumber> later;
  const std::vector<JobNumber> taken = starts;  // a copy: views see in `starts` what is about to
                                                // start
  for (const JobNumber number : taken) {
    const Entry* const entry = state_.book.find(number);
    if (entry == nullptr || !entry->is_starting()) continue;
    const bool is_free = !entry->run && not_released(state_, *entry).empty();
    if (starter_.rests() || state_.outbox.is_unsaved(number) || !is_free) {
      later.push_back(number);
      continue;
    }
    lock.unlock();
    const auto whole = state_.store.job(number);
    lock.lock();
    if (!whole && whole.error().code == Code::corrupt) {
      failures_.put_off(*state_.book.find(number), to_string(whole.error()));
      continue;
    }
    if (!whole || !*whole) {
      later.push_back(number);
      state_.outbox.try_again(state_.now);
      continue;
    }
    start(lock, *state_.book.find(number), **whole);
  }
  starts.erase(starts.begin(), starts.begin() + std::ssize(taken));
  starts.insert(starts.end(), later.begin(), later.end());
}

Result<void> Launcher::make_instances(Lock& lock, const Entry& entry) {
  if (!driver_) return {};
  std::vector<cluster::Grant> others;
  for (const Entry* const each : holders_of(state_)) {
    if (each == &entry) continue;
    for (const auto* const held : {&each->job.held_gpus, &each->of_runs->leaves}) {
      others.insert(others.end(), held->begin(), held->end());
    }
  }
  std::vector<Standing> standing = state_.config.machine.standing;
  lock.unlock();
  auto made = machine::make_instances(*driver_, state_.config.machine, entry.job.held_gpus, others,
                                      standing);
  lock.lock();
  state_.config.machine.standing = std::move(standing);
  return made;
}

void Launcher::start(Lock& lock, Entry& entry, const store::Job& whole) {
  store::Job& job = entry.job;
  starter_.begins(job.number, state_.now);
  if (auto made = make_instances(lock, entry); !made)
    return failures_.put_off(entry, made.error().message);
  const std::string folder = state_.folder_of(job);
  const Machine& machine = state_.config.machine;
  std::vector<shepherd::Part> parts =
      machine.boxes.empty()
          ? std::vector{shepherd::Part{"", spec_of(job, whole.asked, machine, entry.batch, folder)}}
          : parts_of(job, whole.asked, machine, entry.batch, folder);
  for (auto& [box, spec] : parts) {
    spec.open_files = state_.config.open_files;
    spec.processes = static_cast<std::uint64_t>(gate_.processes(job.asked));
    spec.grace = std::min(spec.grace, state_.config.max_grace);
  }
  auto run = machine.boxes.empty() ? shepherd::Run::start(folder, parts.front().spec)
                                   : shepherd::Run::start_on_boxes(folder, parts);
  using For = shepherd::NotStarted::For;
  if (!run && run.error().how_long == For::now) {
    state_.deeds.start.push_back(job.number);
    return failures_.delay_all(job.number, to_string(run.error()));
  }
  if (!run && run.error().how_long == For::job)
    return failures_.put_off(entry, to_string(run.error()));
  if (!run) {
    return lifecycle_.apply(
        entry,
        life::Ended{JobState::node_fail, fmt::format("cannot start: {}", to_string(run.error()))});
  }
  processes_.adopt(entry, std::move(*run));
  starter_.has_process(state_.now);
  job.energy.counted_to = state_.now;
  state_.mark(entry);
  ++state_.counters.started;
  // Waits after a preemption are not those of the queue.
  if (job.attempts - job.annulled == 1) state_.add_wait(state_.counters.waits, entry, job.start);
  state_.note(job, "started", where_text(job, state_.config.machine));
}

}  // namespace almanac::machine
