// SPDX-License-Identifier: Apache-2.0

/// \file
/// A file of lines that only grows, and is on the disk before anything else happens: what the
/// journals of changes are written to.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "process/descriptor.h"

namespace almanac::service {

/// Not thread-safe.
class LineFile {
 public:
  /// Opens or creates the file, and removes a last line that a crash cut off. Only its owner can
  /// read it. Fails with unavailable, as do all others.
  static Result<LineFile> open(const std::string& path);

  /// Appends lines, each with its end, and returns when they are on the disk. Writes all or none.
  Result<void> append(const std::string& lines);
  /// Starts a new file with `lines`. Keeps the old file as ".old", replacing an earlier one.
  Result<void> begin_anew(const std::string& lines);
  /// In bytes.
  std::int64_t size() const { return size_; }

 private:
  LineFile(std::string path, process::Descriptor file, std::int64_t size)
      : path_(std::move(path)), file_(std::move(file)), size_(size) {}

  std::string path_;
  process::Descriptor file_;
  std::int64_t size_ = 0;
  bool has_half_line_ = false;  ///< Behind `size_`; it could not be removed.
};

}  // namespace almanac::service
