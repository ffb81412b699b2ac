// SPDX-License-Identifier: Apache-2.0

/// \file
/// All changes that Almanac ever made to a managed cluster, in a file that only grows: a line of
/// JSON before each change, and a line with the results after each slice. Both are on the disk
/// before anything else happens, so changes can be undone after any crash.
///
/// {"n":17,"at_s":1e9,"lever":"order","job":12,"submitted_s":9e8,"restarts":0,
/// "was":{"site_factor":0},"becomes":{"site_factor":500},
/// "why":"place 1 of 9 in v100 under qssf"}
/// {"done":17,"to":40,"failed":{"19":"job 14 does not wait any more","20":null}}
///
/// null: unknown, because the controller did not answer and may have done it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "service/line_file.h"
#include "steer/action/action.h"

namespace almanac::steer {

/// The lever that undoes what others did.
inline constexpr std::string_view kUndo = "undo";

/// A change that was made.
struct Entry {
  Time at{};  ///< By the controller's clock.
  std::string lever{};
  Change what{};
  std::string why{};
};

/// "job 12: site_factor 0 -> 500; place 1 of 9 in v100 under qssf"
std::string to_words(const Entry& entry);

/// Why a change failed; "" if it did not; nothing if that is unknown.
using Failure = std::optional<std::string>;
/// The failure of a planned change that was not made.
inline constexpr const char* kNotTried = "was not tried";

/// Not thread-safe.
class Journal {
 public:
  /// Opens or creates the file, and removes a last line that a crash cut off. Fails with
  /// unavailable.
  static Result<Journal> open(const std::string& path);

  /// Gets all entries of a journal in order, with their results.
  using Take = std::function<void(const Entry&, const Failure& failed)>;
  /// Fails with corrupt at a line that Almanac did not write.
  static Result<void> read(const std::string& path, const Take& take);

  /// Call before they are carried out.
  Result<void> begin(const std::vector<Entry>& entries);
  /// Writes the results of the entries that began last.
  Result<void> end(const std::vector<Failure>& failures);
  /// Writes entries that are done or need no action.
  Result<void> keep(const std::vector<Entry>& entries);
  /// Starts a new file with `standing`, the changes of the old one that are still in effect. Keeps
  /// the old file as ".old", replacing an earlier one.
  Result<void> begin_anew(const std::vector<Entry>& standing);
  /// In bytes.
  std::int64_t size() const { return file_.size(); }

 private:
  Journal(service::LineFile file, std::int64_t next);

  service::LineFile file_;
  std::int64_t next_ = 1;   // number of the next entry
  std::int64_t begun_ = 1;  // of the first of those that began last
};

}  // namespace almanac::steer
