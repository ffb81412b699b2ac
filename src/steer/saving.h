// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the service of a Slurm cluster keeps in its store: jobs that ended, notes on them, what
/// operators chose, and each minute how the cluster does.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "steer/known.h"
#include "store/store.h"

namespace almanac::steer {

class Saving {
 public:
  explicit Saving(Known& known) : known_(known) {}

  // Under the lock.
  void add(store::Job ended) { ended_.push_back(std::move(ended)); }
  void note(store::Note note) { notes_.push_back(std::move(note)); }
  void set(const char* key, std::string value) { values_.emplace_back(key, std::move(value)); }
  /// Why the disk takes nothing; "" = it does.
  const std::string& trouble() const { return trouble_; }
  void note_trouble(const Error& why) { trouble_ = to_string(why); }

  /// Whether a sample of the cluster is due.
  bool is_sample_due(Time now) const { return now >= next_sample_; }
  /// Writes what the store does not have yet, and a sample if one is due. Takes the lock, but for
  /// the time that the disk takes.
  void save(const std::optional<store::Moment>& sample);

 private:
  Known& known_;
  Time next_sample_{};  // of the thread that decides
  std::vector<store::Job> ended_;
  std::vector<store::Note> notes_;
  std::vector<std::pair<std::string, std::string>> values_;
  std::string trouble_;
};

}  // namespace almanac::steer
