// SPDX-License-Identifier: Apache-2.0
#include "replicas/call.h"

#include <algorithm>

#include <httplib.h>

namespace almanac::replicas {
namespace {

/// Pieces that a replica may be ahead of its client.
constexpr std::size_t kAhead = 64;

/// Whether a header belongs to one connection and so is not passed on.
bool is_of_connection(const std::string& name) {
  static const char* const kNames[] = {
      "Connection",  "Keep-Alive",  "Transfer-Encoding", "Content-Length", "Upgrade",
      "TE",          "Trailer",     "Accept-Encoding",   "Host",           "Proxy-Connection",
      "REMOTE_ADDR", "REMOTE_PORT", "LOCAL_ADDR",        "LOCAL_PORT",     "Expect"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](const char* each) { return ::strcasecmp(each, name.c_str()) == 0; });
}

}  // namespace

/// How often a waiting request looks whether its client is still there.
constexpr std::chrono::milliseconds kLook{100};

struct Call::Line {
  explicit Line(int port, Duration silence) : http("127.0.0.1", port) {
    http.set_connection_timeout(std::chrono::seconds(5));
    http.set_read_timeout(silence);
    http.set_write_timeout(silence);
    http.set_decompress(false);
  }
  httplib::Client http;
};

Call::Call(std::shared_ptr<const Asked> asked, int port, Duration silence)
    : line_(std::make_unique<Line>(port, silence)),
      thread_([this, asked = std::move(asked)] { ask(*asked); }) {}

Call::~Call() {
  {
    std::unique_lock lock(mutex_);
    left_ = true;
    news_.notify_all();
    // Again and again: a connection that is only being made cannot be shut yet.
    while (!over_) {
      line_->http.stop();
      news_.wait_for(lock, kLook, [&] { return over_; });
    }
  }
  thread_.join();
}

void Call::ask(const Asked& asked) {
  httplib::Request request;
  request.method = asked.method;
  request.path = asked.target;
  request.body = asked.body;
  for (const auto& [name, value] : asked.headers) {
    if (!is_of_connection(name)) request.headers.emplace(name, value);
  }
  request.response_handler = [this](const httplib::Response& response) {
    Head head{.status = response.status};
    for (const auto& [name, value] : response.headers) {
      if (!is_of_connection(name)) head.headers.emplace_back(name, value);
    }
    const std::lock_guard lock(mutex_);
    head_ = std::move(head);
    return !left_;
  };
  request.content_receiver = [this](const char* bytes, std::size_t size, std::uint64_t,
                                    std::uint64_t) {
    std::unique_lock lock(mutex_);
    news_.wait(lock, [&] { return left_ || pieces_.size() < kAhead; });
    if (left_) return false;
    pieces_.emplace_back(bytes, size);
    news_.notify_all();
    return true;
  };
  httplib::Response response;
  httplib::Error error{};
  const bool whole = line_->http.send(request, response, error);
  const std::lock_guard lock(mutex_);
  over_ = true;
  whole_ = whole;
  news_.notify_all();
}

Call::Begin Call::begin(std::chrono::steady_clock::time_point deadline,
                        const Gone& has_client_left) {
  std::unique_lock lock(mutex_);
  while (!over_ && pieces_.empty()) {
    if (has_client_left()) return Begin::client_left;
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return Begin::late;
    news_.wait_until(lock, std::min(deadline, now + kLook));
  }
  // An answer without a body is over as soon as it has begun.
  return pieces_.empty() && !whole_ ? Begin::failed : Begin::answered;
}

std::optional<std::string> Call::next(const Gone& has_client_left) {
  std::unique_lock lock(mutex_);
  while (!over_ && pieces_.empty()) {
    if (has_client_left()) return std::nullopt;
    news_.wait_for(lock, kLook);
  }
  if (pieces_.empty()) return std::nullopt;
  std::string piece = std::move(pieces_.front());
  pieces_.pop_front();
  news_.notify_all();
  return piece;
}

bool Call::is_whole() const {
  const std::lock_guard lock(mutex_);
  return whole_;
}

}  // namespace almanac::replicas
