// SPDX-License-Identifier: Apache-2.0
#include "machine/maintenance_windows.h"

#include <utility>

namespace almanac::machine {

namespace {

constexpr const char* kWindowsKey = "maintenance";

}  // namespace

Result<std::int64_t> MaintenanceWindows::announce(const service::Window& window,
                                                  const service::Caller& caller) {
  if (auto may = service::only_for_operators(caller); !may) return tl::unexpected(may.error());
  std::int64_t number = 0;
  const auto done = requests_.change([this, &number, &window]() -> Result<Change> {
    Maintenance after = maintenance_;
    const auto added = after.add(window, state_.now);
    if (!added) return tl::unexpected(added.error());
    number = *added;
    Change change;
    change.kept.set(kWindowsKey, after.to_json());
    change.act = [this, after = std::move(after)] { maintenance_ = after; };
    return change;
  });
  if (!done) return tl::unexpected(done.error());
  return number;
}

Result<void> MaintenanceWindows::call_off(std::int64_t number, const service::Caller& caller) {
  if (auto may = service::only_for_operators(caller); !may) return may;
  return requests_.change([this, number]() -> Result<Change> {
    Maintenance after = maintenance_;
    if (auto removed = after.remove(number); !removed) return tl::unexpected(removed.error());
    Change change;
    change.kept.set(kWindowsKey, after.to_json());
    change.act = [this, after = std::move(after)] {
      maintenance_ = after;
      state_.book.open({WaitsFor::What::maintenance});
    };
    return change;
  });
}

Result<void> MaintenanceWindows::read() {
  const auto kept = state_.store.get(kWindowsKey);
  if (!kept) return tl::unexpected(kept.error());
  if (!*kept) return {};
  auto read = Maintenance::read(**kept);
  if (!read) return tl::unexpected(read.error());
  maintenance_ = *std::move(read);
  return {};
}

void MaintenanceWindows::withdraw_jobs() {
  if (maintenance_.windows().empty()) return;
  if (maintenance_.pass(state_.now)) {
    state_.outbox.set(kWindowsKey, maintenance_.to_json());
    state_.book.open({WaitsFor::What::maintenance});
  }
  for (auto& [number, entry] : state_.book.all()) {
    const bool waits = entry.job.state == trace::JobState::pending && queue_.is_waiting(entry);
    if (!waits || maintenance_.bars(entry.job.asked->time_limit, state_.now) == nullptr) continue;
    queue_.withdraw(entry);
    state_.book.look_again(entry);
  }
}

}  // namespace almanac::machine
