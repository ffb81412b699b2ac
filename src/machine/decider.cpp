// SPDX-License-Identifier: Apache-2.0
#include "machine/decider.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "machine/shares.h"

namespace almanac::machine {

void Decider::decide() {
  queue_.fire_timers();
  for (auto begun = state_.clock.monotonic(); queue_.run_round();
       begun = state_.clock.monotonic()) {
    pin_jobs(state_, queue_);
    state_.counters.count_round(state_.clock.seconds_since(begun));
    state_.has_changed = true;
  }
  // Also if there was nothing to decide.
  state_.counters.last_round = state_.now;
}

void Decider::start(JobId id) {
  Entry& entry = queue_.entry_of(id);
  if (entry.moves) return mover_.give_gpus(entry);
  const auto held = queue_.round().grants(id);
  lifecycle_.apply(entry, life::Started{std::vector<cluster::Grant>(held.begin(), held.end())});
  entry.batch = queue_.round().config(id).batch;
  state_.deeds.pin.push_back(id);
  state_.deeds.start.push_back(entry.job.number);
}

void Decider::stop(JobId id) {
  lifecycle_.apply(queue_.entry_of(id), life::Stopped{queue_.round().progress(id).attained});
}

void Decider::vacate(JobId id) {
  if (!mover_.vacate(queue_.entry_of(id))) stop(id);
}

void Decider::end(JobId id, bool) { dismiss(id, kEndedByPolicy); }

void Decider::decline(JobId id) { dismiss(id, kDeclinedByPolicy); }

void Decider::dismiss(JobId id, const char* why) {
  Entry& entry = queue_.entry_of(id);
  lifecycle_.apply(entry, life::Dismissed{why, queue_.round().progress(id).attained});
  // While its process is there, no other job begins on its GPUs.
  queue_.forget(entry);
}

void Decider::resize(JobId id) {
  Entry& entry = queue_.entry_of(id);
  const auto held = queue_.round().grants(id);
  const Share before = share_of(entry.job.held_gpus);
  entry.job.held_gpus.assign(held.begin(), held.end());
  const std::string change = change_text(before, share_of(entry.job.held_gpus));
  if (!change.empty()) {
    const auto use = entry.of_runs->gpu_use.mean();
    const std::string seen =
        use ? fmt::format("; its GPUs were {:.0f} % busy", 100 * *use) : std::string();
    state_.note(entry.job, kResized, change + seen);
  }
  state_.mark(entry);
  mover_.set_batch(entry);
  state_.deeds.pin.push_back(id);
  if (entry.is_starting()) return;
  entry.of_runs.change().gpu_use.change(state_.now);
  queue_.measured().change(state_.now);
  state_.deeds.resize.push_back(entry.job.number);
}

void Decider::sleep(NodeId) { ALMANAC_CHECK(false, "there is only this machine"); }

void Decider::boot(NodeId) { ALMANAC_CHECK(false, "there is only this machine"); }

}  // namespace almanac::machine
