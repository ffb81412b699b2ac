// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads bytes from a file, unpacking gzip and zstd by their magic numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"

namespace almanac::table {

/// Thrown through third-party parsers that pull from a Stream; open functions and readers of this
/// room catch it and return the Error.
struct StreamFailure {
  Error error;
};

/// Bytes that this process has taken from files of open_stream() so far, as they lie on the disk:
/// for those who show how far reading has come.
std::uint64_t bytes_taken();

/// A source of plain bytes.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Fills up to `size` bytes; 0 = the end. Throws StreamFailure when the file is damaged.
  virtual std::size_t read(char* buffer, std::size_t size) = 0;
};

/// Opens the regular file `path`. Fails with not_found, or corrupt for an empty file.
Result<std::unique_ptr<Stream>> open_stream(const std::string& path);

/// The same for a file that must be text: a NUL byte fails with its line number.
Result<std::unique_ptr<Stream>> open_text(const std::string& path);

/// The whole unpacked file.
Result<std::string> read_file(const std::string& path);

/// The whole unpacked text file.
Result<std::string> read_text_file(const std::string& path);

/// The first `size` bytes of the unpacked file, fewer if it is shorter.
Result<std::string> read_head(const std::string& path, std::size_t size);

}  // namespace almanac::table
