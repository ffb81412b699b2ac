// SPDX-License-Identifier: Apache-2.0

/// \file
/// Writes to the store of a managed cluster: ended jobs, notes on them, the choices of operators,
/// and a sample of the cluster each minute.
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
  /// Why nothing can be written; "" if it can.
  const std::string& trouble() const { return trouble_; }
  void note_trouble(const Error& why) { trouble_ = to_string(why); }

  /// Whether a sample of the cluster is due.
  bool is_sample_due(Time now) const { return now >= next_sample_; }
  /// Writes what the store does not have yet, and a sample if one is due. Takes the lock, but not
  /// while the disk works.
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
