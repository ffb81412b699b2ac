// SPDX-License-Identifier: Apache-2.0

/// \file
/// Imports the manager's accounting into the store, week by week. Its database may take minutes for
/// a week, so the import has its own connection and thread, and no decision waits for it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "accounting/import.h"
#include "base/time.h"
#include "manager/link.h"
#include "service/clock.h"
#include "store/store.h"

namespace almanac::steer {

class Past {
 public:
  /// Starts at once, and goes back to `back_to`. `clock` and `store` must outlive it.
  Past(const service::Clock& clock, store::Store& store, std::unique_ptr<manager::Link> link,
       Time back_to, accounting::VcFrom vc);

  /// True once when everything that accounting had at the start is in the store.
  bool has_come() { return has_come_.exchange(false); }
  /// "" if accounting answers, or may still answer (stage.h).
  std::string trouble() const;

 private:
  void follow(const std::stop_token& stop);

  const service::Clock& clock_;
  std::unique_ptr<manager::Link> link_;
  accounting::Import import_;
  std::atomic<bool> has_come_ = false;
  mutable std::mutex mutex_;  // of the two below
  std::string trouble_;
  std::optional<service::Clock::Instant> asked_;  // nothing = it rests
  std::jthread thread_;                           // the last: it uses all of the above
};

}  // namespace almanac::steer
