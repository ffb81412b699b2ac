// SPDX-License-Identifier: Apache-2.0

/// \file
/// A client of the service: by its Unix socket, or by TCP with a token.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "serve/which.h"
#include "store/job.h"

namespace almanac::serve {

/// Where to look for a service. All empty: $ALMANAC_SOCKET; otherwise the user's own service,
/// otherwise that of the machine.
struct Place {
  std::string socket{};
  std::string url{};    ///< "http://127.0.0.1:PORT", "https://HOST:PORT".
  std::string token{};  ///< With `url`; "" for $ALMANAC_TOKEN.
  /// PEM of the certificate authorities; "" for $ALMANAC_CA, otherwise the system's.
  std::string ca{};
};

/// Its one connection is kept between questions; one thread at a time uses it.
class Client {
 public:
  /// Fails with usage. Does not connect yet.
  static Result<Client> to(const Place& place);
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  using Query = std::vector<std::pair<std::string, std::string>>;
  struct Said {
    int status = 0;
    std::string body{};
    std::int64_t next_offset = 0;  ///< For a log.
    std::int64_t size = 0;         ///< Likewise.
  };
  /// Fails like the service, and with `unavailable` if none answers.
  Result<Said> get(const std::string& path, const Query& query = {});
  Result<Said> post(const std::string& path, const std::string& json = {});
  Result<Said> put(const std::string& path, const std::string& json);

  /// Whether submit() would be taken now; fails as it would.
  Result<void> judge(const store::Submission& submission);
  struct Submitted {
    std::vector<store::JobNumber> numbers{};
    std::vector<std::string> notes{};  ///< What the submitter should know, one sentence each.
  };
  /// POST /v1/jobs. Uses a key, generated if there is none, so that a repeat after a lost answer
  /// does not submit twice.
  Result<Submitted> submit(const store::Submission& submission);

  struct Changed {
    std::vector<store::JobNumber> numbers{};
    std::vector<RefusedJob> refused{};
  };
  /// POST /v1/jobs/`verb`: cancel, hold, release, requeue. One request, however many jobs.
  Result<Changed> change(const std::string& verb, const Which& which);

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Returns the default place of state folders: root's /var/lib/almanac, a user's in $XDG_STATE_HOME
/// or ~/.local/state.
std::string default_state();

}  // namespace almanac::serve
