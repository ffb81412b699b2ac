// SPDX-License-Identifier: Apache-2.0
#include "serve/connection.h"

#include <array>
#include <cerrno>
#include <utility>

#include <sys/socket.h>

#include "serve/answers.h"
#include "serve/exchange.h"

namespace almanac::serve {
namespace {

/// How long a client that was refused may take to read why, and how much it may still send.
constexpr Duration kFarewell = 2s;
constexpr std::size_t kFarewellBytes = 4 << 20;

bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Connection::Connection(process::Descriptor socket, const Peer& peer, const Limits& limits,
                       Instant now, std::unique_ptr<TlsSession> tls)
    : socket_(std::move(socket)),
      tls_(std::move(tls)),
      peer_(peer),
      limits_(limits),
      deadline_(now + (tls_ ? limits.request_in : limits.idle)) {}

ssize_t Connection::take(char* bytes, std::size_t size) {
  return tls_ ? tls_->receive(bytes, size) : ::recv(socket_.get(), bytes, size, 0);
}

ssize_t Connection::give(const char* bytes, std::size_t size) {
  return tls_ ? tls_->send(bytes, size) : ::send(socket_.get(), bytes, size, MSG_NOSIGNAL);
}

void Connection::enter(Phase phase, Duration patience, Instant now) {
  phase_ = phase;
  deadline_ = now + patience;
}

void Connection::receive(Instant now) {
  std::array<char, 1 << 16> bytes;
  for (;;) {
    const ssize_t got = take(bytes.data(), bytes.size());
    if (got < 0 && would_wait()) return;
    if (got <= 0) return drop();
    if (phase_ == Phase::closing) {
      dropped_ += static_cast<std::size_t>(got);
      // What comes in as fast as it is read would keep all others waiting.
      if (dropped_ > kFarewellBytes) return drop();
      continue;
    }
    in_.append(bytes.data(), static_cast<std::size_t>(got));
    look(now);
    if (phase_ != Phase::receiving || is_whole_) return;
  }
}

void Connection::look(Instant now) {
  if (in_.empty()) return;
  if (phase_ == Phase::idle) enter(Phase::receiving, limits_.request_in, now);
  switch (frame_.look(in_, limits_)) {
    case Frame::State::refused:
      return refuse(frame_.status(), frame_.message(), now);
    case Frame::State::whole:
      is_whole_ = true;
      return;
    case Frame::State::more:
      if (frame_.wants_continue()) {
        constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
        // A socket that has just been read from has room for so little; if not, it is not sent.
        static_cast<void>(give(kContinue.data(), kContinue.size()));
      }
  }
}

std::string Connection::take_request(std::size_t& head_size) {
  head_size = frame_.head_size();
  std::string request = in_.substr(0, frame_.size());
  in_.erase(0, frame_.size());
  frame_.clear();
  is_whole_ = false;
  phase_ = Phase::answering;
  deadline_ = Instant::max();
  return request;
}

void Connection::answer(std::string bytes, bool closes, Instant now) {
  out_ = std::move(bytes);
  sent_ = 0;
  closes_ = closes;
  enter(Phase::sending, limits_.answer_out, now);
  send(now);
}

void Connection::refuse(int status, const std::string& message, Instant now) {
  in_.clear();
  answer(Exchange::refusal(problem(status, message), true), true, now);
}

void Connection::send(Instant now) {
  while (sent_ < out_.size()) {
    const ssize_t gone = give(out_.data() + sent_, out_.size() - sent_);
    if (gone < 0 && would_wait()) return;
    if (gone < 0) return drop();
    sent_ += static_cast<std::size_t>(gone);
    deadline_ = now + limits_.answer_out;
  }
  out_.clear();
  out_.shrink_to_fit();
  if (closes_) {
    if (tls_) tls_->end();
    // Closing with bytes unread would reset the connection, and the answer with it.
    ::shutdown(socket_.get(), SHUT_WR);
    return enter(Phase::closing, kFarewell, now);
  }
  enter(Phase::idle, limits_.idle, now);
  look(now);  // the next request may be here already
}

void Connection::give_up(Instant now) {
  if (phase_ == Phase::receiving) {
    return refuse(408, "the request took too long to arrive", now);
  }
  drop();
}

}  // namespace almanac::serve
