// SPDX-License-Identifier: Apache-2.0

/// \file
/// The known formats of job logs. Each file of trace/format/ defines `void
/// register_<stem>(Formats&)`; the build finds it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/intake.h"
#include "trace/reconcile.h"

namespace almanac::trace {

/// The beginning of a file, used to detect its format.
struct Head {
  std::string text;  ///< The first bytes, unpacked.
  std::string_view first_line() const;
  /// The fields of the first line, if it were a header with that delimiter.
  std::vector<std::string_view> columns(char delimiter) const;
  bool contains(std::string_view word) const { return text.find(word) != std::string::npos; }
};

/// A format of job logs.
struct Format {
  std::string name;     ///< Value of --format.
  std::string summary;  ///< One line: what it is and where it comes from.
  /// Returns how much the head looks like this format, from 0 to 1.
  std::function<double(const Head&)> likeness;
  /// Returns the same by column names alone, for a table without the marks of the format; null if
  /// unsupported.
  std::function<double(const Head&)> resemblance{};
  RunTimes run_times = RunTimes::recorded;
  /// Column with the time at which jobs became eligible; "" if such logs have none.
  std::string eligible_column{};
  /// Reads the file at `path`. Notes, order and ids are the intake's business.
  std::function<Result<void>(const std::string& path, Intake&)> read;
};

class Formats {
 public:
  void add(Format format) { formats_.push_back(std::move(format)); }
  const std::vector<Format>& all() const { return formats_; }
  /// The format called `name`; fails with usage, naming the known ones.
  Result<const Format*> find(std::string_view name) const;
  /// The format that `head` looks like most; fails with invalid when nothing fits.
  Result<const Format*> detect(const Head& head) const;

 private:
  std::vector<Format> formats_;
};

/// All of them, made at first use.
const Formats& formats();

}  // namespace almanac::trace
