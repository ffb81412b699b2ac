// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads bytes from a file, and decompresses gzip and zstd, which it recognizes by their magic
/// numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"

namespace almanac::table {

/// Thrown through parsers of other libraries that read from a Stream. The functions and readers of
/// this room catch it and return the Error.
struct StreamFailure {
  Error error;
};

/// Returns the bytes that this process has read through open_stream() so far, as stored on disk;
/// for progress bars.
std::uint64_t bytes_taken();

/// A source of decompressed bytes.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Reads up to `size` bytes; 0 = the end. Throws StreamFailure if the file is damaged.
  virtual std::size_t read(char* buffer, std::size_t size) = 0;
};

/// Opens the regular file `path`. Fails with not_found, or corrupt for an empty file.
Result<std::unique_ptr<Stream>> open_stream(const std::string& path);

/// The same for a file that must be text; a NUL byte is an error that names its line.
Result<std::unique_ptr<Stream>> open_text(const std::string& path);

/// Returns the whole file, decompressed.
Result<std::string> read_file(const std::string& path);

/// Returns the whole text file, decompressed.
Result<std::string> read_text_file(const std::string& path);

/// Returns the first `size` bytes of the decompressed file, fewer if it is shorter.
Result<std::string> read_head(const std::string& path, std::size_t size);

}  // namespace almanac::table
