// SPDX-License-Identifier: Apache-2.0
#include "steer/saving.h"

#include "service/log.h"

namespace almanac::steer {

void Saving::save(const std::optional<store::Moment>& sample) {
  constexpr Duration kBetweenSamples = 1min;
  store::Store::Batch batch;
  // Others may come while these are written. Jobs come from the thread that decides alone.
  std::ptrdiff_t num_values = 0;
  std::ptrdiff_t num_notes = 0;
  {
    const std::lock_guard lock(known_.mutex);
    for (const store::Job& job : ended_) batch.put(job);
    for (const store::Note& note : notes_) batch.note(note);
    for (const auto& [key, value] : values_) batch.set(key, value);
    num_values = std::ssize(values_);
    num_notes = std::ssize(notes_);
  }
  if (sample) {
    next_sample_ = sample->at + kBetweenSamples;
    batch.sample(*sample);
  }
  if (batch.empty()) return;
  const auto begun = known_.clock.monotonic();
  const auto saved = known_.store.commit(batch);
  const std::lock_guard lock(known_.mutex);
  known_.counters.commit_s += known_.clock.seconds_since(begun);
  if (!saved) {
    ++known_.counters.failed_commits;
    if (trouble_.empty()) service::log_error(to_string(saved.error()));
    trouble_ = to_string(saved.error());
    return;
  }
  trouble_.clear();
  ended_.clear();
  values_.erase(values_.begin(), values_.begin() + num_values);
  notes_.erase(notes_.begin(), notes_.begin() + num_notes);
}

}  // namespace almanac::steer
