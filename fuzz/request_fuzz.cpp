// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whatever comes by a socket is a whole request, part of one, or refused; a whole one is answered
/// by one answer of HTTP. However it is cut, the same is found.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "serve/exchange.h"
#include "serve/frame.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace almanac::serve;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Limits limits;
  Frame at_once;
  const Frame::State state = at_once.look(bytes, limits);
  Frame by_halves;
  Frame::State later = by_halves.look(bytes.substr(0, size / 2), limits);
  if (later == Frame::State::more) later = by_halves.look(bytes, limits);
  ALMANAC_CHECK(later == state || later == Frame::State::whole, "cut, it is another");
  if (state != Frame::State::whole) return 0;
  ALMANAC_CHECK(at_once.size() <= size, "{} of {}", at_once.size(), size);
  static Exchange exchange([](const Ask& ask) { return Answer{.body = ask.path}; });
  const Exchange::Reply reply = exchange.answer(
      bytes.substr(0, at_once.head_size()),
      bytes.substr(at_once.head_size(), at_once.size() - at_once.head_size()), {}, false);
  ALMANAC_CHECK(reply.bytes.compare(0, 9, "HTTP/1.1 ") == 0, "{}", reply.bytes);
  return 0;
}
