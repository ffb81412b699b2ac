// SPDX-License-Identifier: Apache-2.0
#include "forecast/first_instant.h"

#include <atomic>
#include <span>
#include <utility>

namespace almanac::forecast {
namespace {

/// Stops a simulation when a job starts, or when its first instant is over.
class FirstInstant final : public sim::Listener {
 public:
  FirstInstant(JobId job, Time at, std::atomic<bool>& stop) : job_(job), at_(at), stop_(stop) {}

  void hear(Time now, std::span<const policy::Event>, const schedule::Round&,
            const policy::Telemetry*) override {
    if (now > at_) stop_ = true;
  }
  void decided(Time now, const schedule::Round& round, const policy::Telemetry*) override {
    if (now > at_ || round.progress(job_).phase != policy::Phase::running) return;
    started = stop_ = true;
  }

  bool started = false;

 private:
  JobId job_;
  Time at_;
  std::atomic<bool>& stop_;
};

}  // namespace

bool starts_at_once(const trace::Trace& trace, const cluster::Cluster& cluster,
                    policy::Policy& policy, sim::Options options, const sim::Present& present,
                    JobId job) {
  std::atomic<bool> stop = false;
  FirstInstant first(job, present.at, stop);
  options.range.from = &present;
  options.range.last_arrival = present.at;
  options.watch.stop = &stop;
  options.watch.listener = &first;
  sim::simulate(trace, cluster, policy, options);
  return first.started;
}

}  // namespace almanac::forecast
