// SPDX-License-Identifier: Apache-2.0
#include "replicas/call.h"

#include <algorithm>

#include <httplib.h>

namespace almanac::replicas {
namespace {

/// Pieces that a replica may be ahead of its client.
constexpr std::size_t kAhead = 64;

/// Of one connection, and so not passed on.
bool is_of_connection(const std::string& name) {
  static const char* const kNames[] = {
      "Connection",  "Keep-Alive",  "Transfer-Encoding", "Content-Length", "Upgrade",
      "TE",          "Trailer",     "Accept-Encoding",   "Host",           "Proxy-Connection",
      "REMOTE_ADDR", "REMOTE_PORT", "LOCAL_ADDR",        "LOCAL_PORT",     "Expect"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](const char* each) { return ::strcasecmp(each, name.c_str()) == 0; });
}

}  // namespace

Call::Call(Asked asked, int port, Duration silence)
    : thread_([this, asked = std::move(asked), port, silence] { ask(asked, port, silence); }) {}

Call::~Call() {
  {
    const std::lock_guard lock(mutex_);
    left_ = true;
  }
  news_.notify_all();
  thread_.join();
}

void Call::ask(const Asked& asked, int port, Duration silence) {
  httplib::Client http("127.0.0.1", port);
  http.set_connection_timeout(std::chrono::seconds(5));
  http.set_read_timeout(silence);
  http.set_write_timeout(silence);
  http.set_decompress(false);
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
  const bool whole = http.send(request, response, error);
  const std::lock_guard lock(mutex_);
  over_ = true;
  whole_ = whole;
  news_.notify_all();
}

std::optional<Call::Head> Call::begun() {
  std::unique_lock lock(mutex_);
  news_.wait(lock, [&] { return over_ || !pieces_.empty(); });
  // An answer without a body is over as soon as it has begun.
  if (pieces_.empty() && !whole_) return std::nullopt;
  return head_;
}

std::optional<std::string> Call::next() {
  std::unique_lock lock(mutex_);
  news_.wait(lock, [&] { return over_ || !pieces_.empty(); });
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
