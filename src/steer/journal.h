// SPDX-License-Identifier: Apache-2.0

/// \file
/// All that Almanac ever did to a Slurm, in a file that only grows: a line of JSON before it is
/// done, and one for each slice afterwards that says how it went. Both are on the disk before
/// anything else happens, so whatever crashes, what was done can be taken back.
///
///   {"n":17,"at_s":1e9,"lever":"order","job":12,"submitted_s":9e8,"restarts":0,
///    "was":{"site_factor":0},"becomes":{"site_factor":500},
///    "why":"place 1 of 9 in v100 under qssf"}
///   {"done":17,"to":40,"failed":{"19":"job 14 does not wait any more","20":null}}
///
/// null = not known: the controller did not answer, and may have done it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "process/descriptor.h"
#include "steer/action/action.h"

namespace almanac::steer {

/// The lever that takes back what others did.
inline constexpr std::string_view kUndo = "undo";

/// Something that was done.
struct Entry {
  Time at{};  ///< By the controller's clock.
  std::string lever{};
  Change what{};
  std::string why{};
};

/// "job 12: site_factor 0 -> 500; place 1 of 9 in v100 under qssf"
std::string to_words(const Entry& entry);

/// Why something failed; "" = it did not; nothing = that is not known.
using Failure = std::optional<std::string>;
/// Of one that was planned, and is as if it had not been.
inline constexpr const char* kNotTried = "was not tried";

/// Not thread-safe.
class Journal {
 public:
  /// Opens or makes the file. A last line that a crash cut off is cut away. Fails with unavailable.
  static Result<Journal> open(const std::string& path);

  /// Told of all entries of a journal in order, with how each went.
  using Take = std::function<void(const Entry&, const Failure& failed)>;
  /// Fails with corrupt at a line that is none of ours.
  static Result<void> read(const std::string& path, const Take& take);

  /// Before they are done.
  Result<void> begin(const std::vector<Entry>& entries);
  /// How those went that began last.
  Result<void> end(const std::vector<Failure>& failures);
  /// What needs no doing, or is done.
  Result<void> keep(const std::vector<Entry>& entries);
  /// Begins a new file with `standing`, all that the old one is still good for; that is kept beside
  /// it, as ".old", in place of the one before.
  Result<void> begin_anew(const std::vector<Entry>& standing);
  /// In bytes.
  std::int64_t size() const { return size_; }

 private:
  Journal(std::string path, process::Descriptor file, std::int64_t size, std::int64_t next);
  Result<void> write(const std::string& text);

  std::string path_;
  process::Descriptor file_;
  std::int64_t size_ = 0;
  std::int64_t next_ = 1;   // number of the next entry
  std::int64_t begun_ = 1;  // of the first of those that began last
};

}  // namespace almanac::steer
