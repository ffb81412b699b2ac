// SPDX-License-Identifier: Apache-2.0

/// \file
/// A checksum at the end of a store's file. SQLite reads its pages and passes over what comes
/// behind them; a program that writes the file by SQLite drops the seal.
#pragma once

#include <string>

#include "process/descriptor.h"

namespace almanac::store {

/// Holds the file open. Closing any other descriptor of a file that SQLite has open drops SQLite's
/// locks, so the seal of an open store must outlive its connections.
class Seal {
 public:
  /// Throws (failure.h) if the file cannot be opened.
  explicit Seal(const std::string& path);
  /// Returns whether the file has a seal. Throws if the seal does not match, because the file is
  /// damaged.
  bool verify() const;
  /// Appends the SHA-256 of all that the file has, and puts it on the disk. Throws.
  void put();
  /// Removes the seal, and syncs that to disk. Does nothing if there is none. Throws.
  void take_off();

 private:
  std::string path_;
  process::Descriptor file_;
};

}  // namespace almanac::store
