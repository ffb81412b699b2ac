// SPDX-License-Identifier: Apache-2.0

/// \file
/// Writes files completely or not at all.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace almanac::table {

/// A file that is being written. It has a temporary name in the same folder until commit() renames
/// it. Without commit() it is deleted, and an existing file stays as it was.
///
/// If the path is a symbolic link, the file that it points to is replaced. Names that end in ".gz"
/// or ".zst" are compressed; equal content gives equal bytes.
class OutputFile {
 public:
  /// Creates the folders of the path. Fails with unavailable if the file cannot be written.
  static Result<OutputFile> create(const std::string& path);
  /// The standard output, which commit() flushes.
  static OutputFile standard_output();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  ~OutputFile();

  /// Adds bytes. commit() returns errors, such as a full disk.
  void write(std::string_view bytes);
  /// Renames the file to its final name. Fails with unavailable and deletes the file.
  Result<void> commit();
  const std::string& path() const;

 private:
  struct State;
  explicit OutputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Writes `content` to `path` completely or not at all.
Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace almanac::table
