// SPDX-License-Identifier: Apache-2.0

/// \file
/// Writes a file wholly or not at all.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace almanac::table {

/// A file in the making. It lies beside its place under another name until commit() renames it;
/// without commit() it goes away, and what was there before stays as it was.
///
/// Where its place is a symbolic link, what that points to is replaced. ".gz" and ".zst" at the end
/// of the name pack it; the same content gives the same bytes.
class OutputFile {
 public:
  /// Makes the folders that the path names. Fails with unavailable where that cannot be written.
  static Result<OutputFile> create(const std::string& path);
  /// The standard output: commit() flushes.
  static OutputFile standard_output();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  ~OutputFile();

  /// Adds bytes. An error (a full disk) is kept and given by commit().
  void write(std::string_view bytes);
  /// Puts the file in its place. Fails with unavailable; the file is then gone.
  Result<void> commit();
  const std::string& path() const;

 private:
  struct State;
  explicit OutputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Writes `content` to `path` wholly or not at all.
Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace almanac::table
