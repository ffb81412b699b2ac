// SPDX-License-Identifier: Apache-2.0
#include "machine/state.h"

#include <utility>

#include <fmt/format.h>

#include "machine/life.h"

namespace almanac::machine {

State::State(Config made_with, store::Store opened, Time floor, const service::Clock& clocks)
    : config(std::move(made_with)),
      store(std::move(opened)),
      clock(clocks),
      time(clock, floor),
      now(time.now()),
      started(now) {}

void State::note(const store::Job& job, std::string what, std::string detail) {
  outbox.note(note_of(job, now, std::move(what), std::move(detail)));
}

void State::mark(Entry& entry) {
  book.recount(entry);
  outbox.mark(entry.job.number);
}

void State::keep_reports(store::JobNumber job,
                         const std::vector<perf::OwnProgress::Metric>& reported) {
  for (const perf::OwnProgress::Metric& each : reported) {
    outbox.report({.job = job, .step = each.step, .metric = each.value, .at = time.now()});
  }
}

std::string State::folder_of(const store::Job& job) const {
  return fmt::format("{}/runs/{}.{}", config.state, job.number, job.attempts);
}

}  // namespace almanac::machine
