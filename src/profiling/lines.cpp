// SPDX-License-Identifier: Apache-2.0
#include "profiling/lines.h"

namespace almanac::profiling {

void LineCutter::feed(std::string_view bytes, const std::function<void(std::string_view)>& use) {
  for (const char c : bytes) {
    if (escape_ == Escape::begun) {
      escape_ = c == '[' ? Escape::sequence : Escape::none;
      continue;
    }
    if (escape_ == Escape::sequence) {
      if (c >= '@' && c <= '~') escape_ = Escape::none;
      if (c != '\n' && c != '\r') continue;
      escape_ = Escape::none;  // no sequence continues across a line end
    }
    if (c == '\x1b') {
      escape_ = Escape::begun;
    } else if (c == '\n' || c == '\r' || c == '\b') {
      if (!line_.empty()) use(line_);
      line_.clear();
    } else if (line_.size() < kLongest) {
      // A NUL or a bell says nothing, and would spoil a message.
      const bool shown = static_cast<unsigned char>(c) >= ' ' || c == '\t';
      line_ += shown ? c : ' ';
    }
  }
}

}  // namespace almanac::profiling
