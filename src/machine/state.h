// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the parts of the service of one machine share: its jobs, what the present step has decided,
/// and what the disk does not have yet.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/fair_mutex.h"
#include "machine/book.h"
#include "machine/deeds.h"
#include "machine/ended_jobs.h"
#include "machine/local_service.h"
#include "perf/own_word.h"
#include "process/bell.h"
#include "service/outbox.h"
#include "service/service.h"
#include "service/service_time.h"
#include "store/store.h"

namespace almanac::machine {

/// The deciding thread's hold on State::mutex. It lets go of it while it waits for the disk.
using Lock = std::unique_lock<FairMutex>;

/// What the folder of a service has.
struct Opened {
  Config config;
  store::Store store;
  policy::Composition composition{};
  std::vector<store::Job> unfinished{};
};

struct State {
  /// Its time is never earlier than `floor`. `clock` must outlive it.
  State(Config config, store::Store store, Time floor, const service::Clock& clock);

  Config config;  ///< Its policy, shadow and standing instances change, under the lock.
  store::Store store;
  const service::Clock& clock;

  mutable FairMutex mutex{};  ///< Guards all below, but for `revision` and `bell`.
  service::ServiceTime time;
  Time now{};      ///< Of the present step.
  Time started{};  ///< The service.
  EndedJobs ended{store, clock};
  Book book{[this](store::JobNumber number) { return ended.ended_well(number); }};
  std::set<store::JobNumber> processes{};  ///< Jobs that have a process.
  service::Outbox outbox{config.state};
  Deeds deeds{};
  service::Counters counters{};
  bool has_changed = false;  ///< In this step, so that others must look again.

  std::atomic<std::uint64_t> revision = 1;
  process::Bell bell{};  ///< Wakes the deciding thread.

  /// Writes a note on a job with the next save.
  void note(const store::Job& job, std::string what, std::string detail = {});
  /// Counts and writes a record that has changed.
  void mark(Entry& entry);
  /// Writes the metrics that a job has reported.
  void keep_reports(store::JobNumber job, const std::vector<perf::OwnProgress::Metric>& reported);
  /// The folder of the present run of a job.
  std::string folder_of(const store::Job& job) const;
};

}  // namespace almanac::machine
