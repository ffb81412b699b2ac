// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the components of the service of one machine share: its jobs, the decisions of the current
/// step, and what is not on disk yet.
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

/// The deciding thread's lock on State::mutex. The thread releases it while it waits for the disk.
using Lock = std::unique_lock<FairMutex>;

/// The contents of the folder of a service.
struct Opened {
  Config config;
  store::Store store;
  policy::Composition composition{};
  std::vector<store::Job> unfinished{};
};

struct State {
  /// The service's time is never earlier than `floor`. `clock` must outlive it.
  State(Config config, store::Store store, Time floor, const service::Clock& clock);

  /// Policy, shadow and standing instances change, under the lock.
  Config config;
  store::Store store;
  const service::Clock& clock;

  mutable FairMutex mutex{};  ///< Guards everything below except `revision` and `bell`.
  service::ServiceTime time;
  Time now{};      ///< Of the current step.
  Time started{};  ///< Start of the service.
  EndedJobs ended{store, clock};
  Book book{[this](store::JobNumber number) { return ended.ended_well(number); }};
  std::set<store::JobNumber> processes{};  ///< Jobs that have a process.
  service::Outbox outbox{config.state};
  Deeds deeds{};
  service::Counters counters{};
  bool has_changed = false;  ///< Whether this step changed anything that others must see.

  std::atomic<std::uint64_t> revision = 1;
  process::Bell bell{};  ///< Wakes the deciding thread.

  /// Writes a note on a job with the next save.
  void note(const store::Job& job, std::string what, std::string detail = {});
  /// Counts and writes a record that has changed.
  void mark(Entry& entry);
  /// Adds the wait of a job until `start`; nothing if that, or when it was eligible, is unknown.
  void add_wait(service::Waits& to, const Entry& entry, Time start) const;
  /// Writes the metrics that a job has reported.
  void keep_reports(store::JobNumber job, const std::vector<perf::OwnProgress::Metric>& reported);
  /// Returns the folder of the current run of a job.
  std::string folder_of(const store::Job& job) const;
};

}  // namespace almanac::machine
