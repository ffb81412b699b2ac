// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads from an API server and writes to it: one connection for each request, with the identity of
/// the moment.
///
/// Source   Kubernetes API conventions, "Response Status Kind" and "HTTP Status codes".
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "kube/access.h"

namespace almanac::kube {

/// An answer, whatever its status.
struct Answer {
  int status = 0;
  std::string body{};
  Duration retry_after = kNoDuration;  ///< As the server asks.

  bool good() const { return status >= 200 && status < 300; }
};

/// One thread at a time uses it.
class Client {
 public:
  /// Fails with usage for a server that is no URL. Does not connect yet.
  static Result<Client> to(Access access);
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  /// Sends GET, or POST with a JSON `body` if there is one. `path` begins with "/". A rejected
  /// identity (401) is renewed once. Fails with `unavailable` if no server answers completely
  /// within 30 s, or if it cannot prove who it is, and like Credential::identity().
  Result<Answer> ask(const std::string& path, const std::string& body = {});
  /// Sends a JSON `body` with POST or PUT, or as a merge patch with PATCH. Fails like ask().
  Result<Answer> send(std::string_view method, const std::string& path, const std::string& body);
  /// Returns the body of a good answer. Fails like ask(), and with what the server says: not_found,
  /// conflict (no right), `unavailable` or `invalid`.
  Result<std::string> get(const std::string& path);
  Result<std::string> post(const std::string& path, const std::string& body);

  /// Passes each line of the answer to `take` as it arrives, until the server ends it, `take`
  /// returns false, `stop` is set or `patience` has passed. An answer that is not good
  /// has its body, and no line is passed; `begun` is called once for a good one. Fails with
  /// `unavailable` if the connection breaks, and with `invalid` for a line of more than 4 MiB.
  Result<Answer> stream(const std::string& path, Duration patience,
                        const std::function<bool(std::string_view line)>& take,
                        const std::atomic<bool>* stop = nullptr,
                        const std::function<void()>& begun = {});

  /// The server's clock minus ours, as of the last answer with a date; whole seconds.
  std::optional<Duration> skew() const;
  /// Whom it asks, for messages.
  const std::string& from() const;

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// What an answer that is not good means: the message of its Status, or its text.
Error refusal(const Answer& answer, const std::string& path);

}  // namespace almanac::kube
