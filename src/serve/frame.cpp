// SPDX-License-Identifier: Apache-2.0
#include "serve/frame.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace almanac::serve {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";

/// What decides who asks, and from where: of two it would be anybody's guess which one counts
/// (RFC 9112 §3.2 refuses a second Host).
constexpr std::array<std::string_view, 5> kOnce{"Host", "Authorization", "Origin", "Sec-Fetch-Site",
                                                "Content-Type"};

/// RFC 9110 §5.6.2.
bool is_token(std::string_view word) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

bool is_same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [&](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

bool has_control(std::string_view line) {
  return std::any_of(line.begin(), line.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

}  // namespace

Frame::State Frame::refuse(int status, std::string message) {
  status_ = status;
  message_ = std::move(message);
  return State::refused;
}

bool Frame::wants_continue() { return std::exchange(wants_continue_, false); }

Frame::State Frame::look(std::string_view bytes, const Limits& limits) {
  if (head_ == 0) {
    const std::size_t from = seen_ < kHeadEnd.size() ? 0 : seen_ - kHeadEnd.size();
    const std::size_t end = bytes.find(kHeadEnd, from);
    seen_ = bytes.size();
    if (std::min(end, bytes.size()) > limits.head_bytes) {
      return refuse(431,
                    fmt::format("the request's head is longer than {} bytes", limits.head_bytes));
    }
    if (end == std::string_view::npos) {
      if (bytes.substr(0, limits.target_bytes + 1).find('\n') == std::string_view::npos &&
          bytes.size() > limits.target_bytes) {
        return refuse(414,
                      fmt::format("the request line is longer than {} bytes", limits.target_bytes));
      }
      return State::more;
    }
    if (read_head(bytes.substr(0, end), limits) == State::refused) return State::refused;
    head_ = end + kHeadEnd.size();
    if (bytes.size() > head_) wants_continue_ = false;  // it did not wait
  }
  return bytes.size() < size() ? State::more : State::whole;
}

Frame::State Frame::read_head(std::string_view head, const Limits& limits) {
  const std::string_view request = head.substr(0, head.find(kLineEnd));
  if (request.size() > limits.target_bytes) {
    return refuse(414,
                  fmt::format("the request line is longer than {} bytes", limits.target_bytes));
  }
  if (has_control(request)) return refuse(400, "the request line has a control character");
  std::optional<std::size_t> length;
  std::array<bool, kOnce.size()> is_there{};
  while (head.find(kLineEnd) != std::string_view::npos) {
    head.remove_prefix(head.find(kLineEnd) + kLineEnd.size());
    const std::string_view line = head.substr(0, head.find(kLineEnd));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) || has_control(line)) {
      return refuse(400, "a header must be \"Name: value\"");
    }
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = trimmed(line.substr(colon + 1));
    for (std::size_t at = 0; at < kOnce.size(); ++at) {
      if (!is_same_word(name, kOnce[at])) continue;
      if (std::exchange(is_there[at], true)) {
        return refuse(400, fmt::format("the header {} occurs twice", kOnce[at]));
      }
    }
    if (is_same_word(name, "Content-Length")) {
      std::size_t size = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), size);
      if (length || value.empty() || error != std::errc() || end != value.data() + value.size()) {
        return refuse(400, "Content-Length must be one whole number");
      }
      length = size;
    } else if (is_same_word(name, "Transfer-Encoding")) {
      return refuse(411, "a body requires a Content-Length; chunked bodies are not supported");
    } else if (is_same_word(name, "Content-Encoding") && !is_same_word(value, "identity")) {
      return refuse(415, fmt::format("bodies with Content-Encoding {} are not supported", value));
    } else if (is_same_word(name, "Range")) {
      return refuse(416, "ranges are not supported; a log takes ?offset= and ?limit=");
    } else if (is_same_word(name, "Expect")) {
      if (!is_same_word(value, "100-continue")) return refuse(417, "Expect must be 100-continue");
      wants_continue_ = true;
    }
  }
  body_ = length.value_or(0);
  if (body_ > limits.body_bytes) {
    return refuse(413,
                  fmt::format("the body has {} bytes; the limit is {}", body_, limits.body_bytes));
  }
  return State::more;
}

}  // namespace almanac::serve
