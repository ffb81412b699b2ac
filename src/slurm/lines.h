// SPDX-License-Identifier: Apache-2.0

/// \file
/// Cuts what comes by a socket into lines.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace almanac::slurm {

class Lines {
 public:
  struct Line {
    bool too_long = false;    ///< Lines beyond the limit are skipped; their text is lost.
    std::string_view text{};  ///< Without the newline; until the next call.
  };

  explicit Lines(std::size_t longest) : longest_(longest) {}

  void add(std::string_view bytes) { bytes_ += bytes; }
  /// The next that has come in whole.
  std::optional<Line> next();

 private:
  std::size_t longest_;
  std::string bytes_{};
  std::size_t taken_ = 0;     ///< Up to here they have been given.
  std::size_t searched_ = 0;  ///< Up to here there is no newline.
  bool passing_over_ = false;
};

}  // namespace almanac::slurm
