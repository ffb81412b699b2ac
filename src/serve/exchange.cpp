// SPDX-License-Identifier: Apache-2.0
#include "serve/exchange.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <httplib.h>

#include "serve/answers.h"

namespace almanac::serve {
namespace {

/// What the library takes for a connection.
class Memory final : public httplib::Stream {
 public:
  explicit Memory(std::string_view in) : in_(in) {}

  bool is_readable() const override { return !in_.empty(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override {
    const std::size_t taken = std::min(size, in_.size());
    std::memcpy(to, in_.data(), taken);
    in_.remove_prefix(taken);
    return static_cast<ssize_t>(taken);
  }
  ssize_t write(const char* from, std::size_t size) override {
    out_.append(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return 0; }

  std::string take() { return std::move(out_); }

 private:
  std::string_view in_;
  std::string out_;
};

Ask to_ask(const httplib::Request& request, std::string_view body, const Peer& peer) {
  Ask ask{.method = request.method, .path = request.path, .body = std::string(body), .peer = peer};
  ask.query.insert(request.params.begin(), request.params.end());
  for (const auto& [name, value] : request.headers) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    ask.headers.emplace(std::move(lower), value);
  }
  return ask;
}

}  // namespace

class Exchange::Server final : public httplib::Server {
 public:
  explicit Server(serve::Handler handler) : handler_(std::move(handler)) {
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      write(handler_(to_ask(request, body_, peer_)), response);
      return HandlerResponse::Handled;
    });
    // What the library refuses by itself: a method that it does not know, a path that is none.
    set_error_handler([this](const httplib::Request&, httplib::Response& response) {
      if (!is_answered_) write(problem(response.status, "the request is not HTTP/1.1"), response);
    });
  }

  Reply answer(std::string_view head, std::string_view body, const Peer& peer, bool is_last) {
    body_ = body;
    peer_ = peer;
    is_answered_ = false;
    Memory memory(head);
    bool closes = is_last;
    const bool served = process_request(memory, is_last, closes, [](httplib::Request& request) {
      request.headers.erase("Accept-Encoding");  // all goes to this machine; packing costs more
    });
    std::string bytes = memory.take();
    // The loop has said so already, in time.
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    if (std::string_view(bytes).substr(0, kContinue.size()) == kContinue) {
      bytes.erase(0, kContinue.size());
    }
    return {std::move(bytes), closes || !served || !is_answered_};
  }

 private:
  void write(const Answer& answer, httplib::Response& response) {
    is_answered_ = true;
    response.status = answer.status;
    response.headers.clear();
    for (const auto& [name, value] : answer.headers) response.set_header(name, value);
    response.set_content(answer.body, answer.type);
  }

  serve::Handler handler_;
  std::string_view body_;
  Peer peer_;
  bool is_answered_ = false;
};

Exchange::Exchange(Handler handler) {
  // The library ignores SIGPIPE for the whole process, and jobs would inherit that.
  struct sigaction before {};
  ::sigaction(SIGPIPE, nullptr, &before);
  server_ = std::make_unique<Server>(std::move(handler));
  ::sigaction(SIGPIPE, &before, nullptr);
}
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;
Exchange::~Exchange() = default;

Exchange::Reply Exchange::answer(std::string_view head, std::string_view body, const Peer& peer,
                                 bool is_last) {
  return server_->answer(head, body, peer, is_last);
}

std::string Exchange::refusal(const Answer& answer, bool closes) {
  std::string out = fmt::format("HTTP/1.1 {} \r\n", answer.status);  // a reason is optional
  if (closes) out += "Connection: close\r\n";
  for (const auto& [name, value] : answer.headers) out += fmt::format("{}: {}\r\n", name, value);
  return out + fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n\r\n{}", answer.type,
                           answer.body.size(), answer.body);
}

}  // namespace almanac::serve
