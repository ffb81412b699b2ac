// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds the end of a request, so that it is processed only once it is complete: a slow client
/// costs a buffer, not a thread.
///
/// Source   RFC 9112 §2, §6.
/// Differs  strict where the RFC may be lenient: no bare line feeds, no folded lines, no two
///          lengths. Bodies have a Content-Length; chunked and encoded ones, and ranges, are
///          refused. Every reader therefore interprets an accepted request in the same way.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "serve/limits.h"

namespace almanac::serve {

class Frame {
 public:
  enum class State { more, whole, refused };

  /// Looks at all that has come since the last request ended. Call again with more at the end.
  State look(std::string_view bytes, const Limits& limits);
  /// The next request.
  void clear() { *this = Frame(); }

  /// The sizes of a request that is whole.
  std::size_t head_size() const { return head_; }
  std::size_t size() const { return head_ + body_; }
  /// Returns true once if the client waits for permission to send its body.
  bool wants_continue();

  /// The answer to a request that is refused.
  int status() const { return status_; }
  const std::string& message() const { return message_; }

 private:
  State refuse(int status, std::string message);
  State read_head(std::string_view head, const Limits& limits);

  std::size_t seen_ = 0;  // bytes in which the head does not end
  std::size_t head_ = 0;  // 0 until it is complete
  std::size_t body_ = 0;
  bool wants_continue_ = false;
  int status_ = 0;
  std::string message_;
};

}  // namespace almanac::serve
