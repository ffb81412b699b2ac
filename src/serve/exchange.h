// SPDX-License-Identifier: Apache-2.0

/// \file
/// Turns the bytes of one whole request into the bytes of its answer, by cpp-httplib.
///
/// The library reads and writes memory here, never a socket: the caller says which peer is at the
/// other end, and no header can claim otherwise.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "serve/message.h"

namespace almanac::serve {

/// Used by one thread at a time.
class Exchange {
 public:
  explicit Exchange(Handler handler);
  Exchange(Exchange&&) noexcept;
  Exchange& operator=(Exchange&&) noexcept;
  ~Exchange();

  struct Reply {
    std::string bytes;
    bool closes = false;  ///< The client wants the connection closed after it, or it has to be.
  };
  /// `request` is what a Frame found whole.
  Reply answer(std::string_view head, std::string_view body, const Peer& peer, bool is_last);

  /// An answer to what is not handed on, as bytes.
  static std::string refusal(const Answer& answer, bool closes);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace almanac::serve
