// SPDX-License-Identifier: Apache-2.0
#include "slurm/lines.h"

namespace almanac::slurm {

std::optional<Lines::Line> Lines::next() {
  for (;;) {
    const std::size_t newline = bytes_.find('\n', searched_);
    if (newline == std::string::npos) {
      bytes_.erase(0, taken_);
      taken_ = 0;
      if (!passing_over_ && bytes_.size() <= longest_) {
        searched_ = bytes_.size();
        return std::nullopt;
      }
      const bool is_new = !passing_over_;
      passing_over_ = true;
      bytes_.clear();
      searched_ = 0;
      if (!is_new) return std::nullopt;
      return Line{.too_long = true};
    }
    const std::string_view text = std::string_view(bytes_).substr(taken_, newline - taken_);
    taken_ = searched_ = newline + 1;
    // This is the rest of a line that was too long.
    if (passing_over_) {
      passing_over_ = false;
      continue;
    }
    if (text.size() > longest_) return Line{.too_long = true};
    return Line{.text = text};
  }
}

}  // namespace almanac::slurm
