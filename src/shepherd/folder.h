// SPDX-License-Identifier: Apache-2.0

/// \file
/// The files in the folder of a run, and how to write them so that none is ever incomplete.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "process/descriptor.h"

namespace almanac::shepherd {

inline constexpr const char* kSpecFile = "/spec.json";  ///< What to run; from the daemon.
inline constexpr const char* kLockFile = "/lock";       ///< Held as long as the shepherd lives.
inline constexpr const char* kStartedFile = "/started.json";  ///< Before the command runs.
inline constexpr const char* kExitFile = "/exit.json";        ///< When nothing of it runs any more.
inline constexpr const char* kLimitsFile = "/limits.json";    ///< New limits; from the daemon.
inline constexpr const char* kScriptFile = "/script";

/// The descriptor that a shepherd inherits its lock by.
inline constexpr int kLockDescriptor = 3;

/// Result of a look at a file. `absent` is certain (only ENOENT means it). `unreadable` leaves the
/// answer open, and a later look may succeed: descriptors or memory are short, or the disk has a
/// fault.
enum class There { present, absent, unreadable };
There is_there(const std::string& path);
/// Fails with not_found when it is absent, with unavailable when it is unreadable.
Result<std::string> read_file(const std::string& path);

/// Puts the names of a folder's files on the disk.
Result<void> sync_folder(const std::string& path);

/// A file in the making.
class NewFile {
 public:
  /// Creates it under a temporary name next to `path`, with `reserve` bytes of space.
  static Result<NewFile> create(const std::string& path, std::size_t reserve = 0);
  /// Puts it in its place, wholly or not at all, also when the power fails meanwhile. Fails with
  /// unavailable; may be tried again.
  Result<void> commit(std::string_view content);

 private:
  friend Result<void> write_file(const std::string& path, std::string_view content);
  friend Result<void> write_public_file(const std::string& path, std::string_view content);
  Result<void> put(std::string_view content, bool sync);

  std::string path_;
  process::Descriptor file_;
};

/// Writes a file wholly or not at all; when the power fails it may be empty.
Result<void> write_file(const std::string& path, std::string_view content);
/// Same, readable by all users.
Result<void> write_public_file(const std::string& path, std::string_view content);

}  // namespace almanac::shepherd
