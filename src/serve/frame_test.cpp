// SPDX-License-Identifier: Apache-2.0
#include "serve/frame.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::serve {
namespace {

Frame::State look(std::string_view bytes, int* status = nullptr) {
  Frame frame;
  const Frame::State state = frame.look(bytes, Limits{});
  if (status != nullptr) *status = frame.status();
  return state;
}

int status_of(std::string_view bytes) {
  int status = 0;
  EXPECT_EQ(look(bytes, &status), Frame::State::refused) << bytes;
  return status;
}

TEST(Frame, EndsWithTheHeadWhereThereIsNoBody) {
  Frame frame;
  const std::string_view request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_EQ(frame.look(std::string(request) + "GET", Limits{}), Frame::State::whole);
  EXPECT_EQ(frame.size(), request.size());
}

// However a request is cut, it is whole with its last byte and not before.
RC_GTEST_PROP(Frame, IsWholeWithItsLastByte, ()) {
  const auto body = *rc::gen::container<std::string>(rc::gen::inRange(' ', '~'));
  const std::string head =
      "POST /v1/jobs HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n";
  const std::string request = head + body;
  Frame frame;
  std::size_t sent = 0;
  while (sent < request.size()) {
    RC_ASSERT(frame.look(std::string_view(request).substr(0, sent), Limits{}) ==
              Frame::State::more);
    sent += *rc::gen::inRange<std::size_t>(1, request.size() - sent + 1);
  }
  RC_ASSERT(frame.look(request + "GET /", Limits{}) == Frame::State::whole);
  RC_ASSERT(frame.head_size() == head.size());
  RC_ASSERT(frame.size() == request.size());
}

TEST(Frame, RefusesWhatCanBeReadInTwoWays) {
  const std::string line = "POST / HTTP/1.1\r\n";
  EXPECT_EQ(status_of(line + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400);
  EXPECT_EQ(status_of(line + "Content-Length: 1, 1\r\n\r\n"), 400);
  EXPECT_EQ(status_of(line + "Content-Length: -1\r\n\r\n"), 400);
  EXPECT_EQ(status_of(line + "Content-Length: 99999999999999999999999\r\n\r\n"), 400);
  EXPECT_EQ(status_of(line + "Content-Length : 1\r\n\r\n"), 400);
  EXPECT_EQ(status_of(line + "Transfer-Encoding: chunked\r\n\r\n"), 411);
  EXPECT_EQ(status_of(line + "Host: a\r\nhost: b\r\n\r\n"), 400);
  EXPECT_EQ(status_of(line + "Host: a\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of(line + "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n"), 400);
  EXPECT_EQ(status_of(line + "Content-Encoding: gzip\r\n\r\n"), 415);
  EXPECT_EQ(status_of(line + "A: 1\r\n folded\r\n\r\n"), 400);
  EXPECT_EQ(status_of(line + "A: 1\nB: 2\r\n\r\n"), 400);
  EXPECT_EQ(status_of(line + "A\r\n\r\n"), 400);
  EXPECT_EQ(status_of(std::string("GET /\0 HTTP/1.1\r\n\r\n", 20)), 400);
}

TEST(Frame, RefusesWhatIsTooLarge) {
  const Limits limits;
  EXPECT_EQ(status_of("GET /" + std::string(limits.target_bytes, 'a')), 414);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nA: " + std::string(limits.head_bytes, 'a')), 431);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: " +
                      std::to_string(limits.body_bytes + 1) + "\r\n\r\n"),
            413);
}

TEST(Frame, SaysOnceThatTheClientWaitsToSendItsBody) {
  const std::string head = "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
  Frame frame;
  EXPECT_EQ(frame.look(head, Limits{}), Frame::State::more);
  EXPECT_TRUE(frame.wants_continue());
  EXPECT_FALSE(frame.wants_continue());
  EXPECT_EQ(frame.look(head + "ab", Limits{}), Frame::State::whole);
}

}  // namespace
}  // namespace almanac::serve
