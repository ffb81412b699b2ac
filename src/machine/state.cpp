// SPDX-License-Identifier: Apache-2.0
#include "machine/state.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "machine/life.h"
#include "store/asked_gpus.h"

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

void State::add_wait(service::Waits& to, const Entry& entry, Time start) const {
  const bool is_known =
      entry.eligible != kNoTime && entry.eligible != kNever && start != kNoTime && start != kNever;
  if (!is_known) return;
  const store::Submission& asked = entry.job.asked;
  const auto& vcs = config.machine.cluster.vcs;
  const std::string& partition = vcs.size() == 1 ? vcs.front().name : asked.vc;
  to.add(partition, asked.user, static_cast<int>(std::ceil(store::gpus_of(asked))),
         start - entry.eligible);
}

std::string State::folder_of(const store::Job& job) const {
  return fmt::format("{}/runs/{}.{}", config.state, job.number, job.attempts);
}

}  // namespace almanac::machine
