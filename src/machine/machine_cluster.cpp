// SPDX-License-Identifier: Apache-2.0
#include "machine/machine_cluster.h"

#include <algorithm>
#include <utility>

namespace almanac::machine {

void MachineCluster::renew(bool is_asked) {
  lock_.lock();
  state_.now = state_.time.now();
  parts_.meter.skip_clock_jump();
  parts_.maintenance.withdraw_jobs();
  parts_.succession.renew();
  if (is_asked) parts_.succession.read_policy_file();
  if (parts_.forgetting.go_on(state_.now, state_.clock.since_boot())) {
    state_.ended.forget_old_moves();
  }
}

void MachineCluster::take_requests() {
  parts_.submissions.take(lock_);
  // Submissions that came during a large change do not wait for what it leaves to be decided.
  if (parts_.requests.take(lock_)) parts_.submissions.take(lock_);
}

bool MachineCluster::look() {
  parts_.processes.look();
  parts_.processes.enforce_deadlines();
  parts_.processes.take_excesses();
  parts_.failures.look_for_accounts();
  parts_.admitter.admit_jobs();
  return true;
}

void MachineCluster::decide() { parts_.decider.decide(); }

void MachineCluster::keep() {
  parts_.saving.save(lock_);
  parts_.answers.answer_kept(lock_);
}

bool MachineCluster::act() {
  parts_.starter.look(state_.now);
  if (!state_.outbox.trouble().empty()) return false;
  parts_.processes.act();
  parts_.mover.tell_processes();
  parts_.launcher.start_jobs(lock_);
  return false;
}

void MachineCluster::finish() {
  if (std::exchange(state_.has_changed, false)) {
    ++state_.revision;
    parts_.line.invalidate();
  }
  lock_.unlock();
}

Time MachineCluster::next_step() const {
  Time next = std::min({parts_.queue.next_round(), state_.outbox.due(state_.now),
                        parts_.starter.again(), parts_.admitter.next_admission(),
                        parts_.accounts.due(state_.now), parts_.processes.next_look()});
  for (const service::Window& each : parts_.windows.windows()) next = std::min(next, each.to);
  return next;
}

Duration MachineCluster::rest() const {
  // An idle service shows at least so often that it does not hang.
  constexpr Duration kHeartbeat = 15s;
  const Lock lock(state_.mutex);
  const Time next = next_step();
  if (next == kNever) return kHeartbeat;
  return std::clamp<Duration>(next - state_.time.now() + 1ms, 0ms, kHeartbeat);
}

std::vector<int> MachineCluster::sources() const {
  const Lock lock(state_.mutex);
  return parts_.processes.sources();
}

void MachineCluster::close() {
  parts_.observer.close();
  parts_.submissions.close();
  parts_.requests.close();
  parts_.answers.answer_all();
}

}  // namespace almanac::machine
