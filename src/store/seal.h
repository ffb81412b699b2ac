// SPDX-License-Identifier: Apache-2.0

/// \file
/// A checksum at the end of a store's file, as long as nobody writes it: of a copy, and of a store
/// whose service has ended in good order. SQLite reads its pages and passes over what comes behind
/// them; whoever writes the file by SQLite drops the seal.
#pragma once

#include <string>

namespace almanac::store {

/// Appends the SHA-256 of all that the file has, and puts it on the disk. Throws (failure.h).
void seal(const std::string& path);
/// Returns whether the file has a seal. Throws where the seal does not fit: the file is damaged.
bool is_sealed(const std::string& path);
/// The same, and takes the seal off. A file with a log beside it was written since; its seal goes
/// unread.
bool unseal(const std::string& path);

/// Takes the seal off a file that is to be written, and puts one on when all else has let go of it.
class Sealing {
 public:
  /// Throws where the file is damaged.
  explicit Sealing(std::string path);
  ~Sealing();
  Sealing(const Sealing&) = delete;
  Sealing& operator=(const Sealing&) = delete;
  /// The file is ours: it gets a seal, whether or not it had one.
  void begin() { is_wanted_ = true; }

 private:
  std::string path_;
  bool is_wanted_;
};

}  // namespace almanac::store
