// SPDX-License-Identifier: Apache-2.0

/// \file
/// Asks a service: by its Unix socket, or by TCP with a token.
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

/// Where a service is looked for. All empty: $ALMANAC_SOCKET; else the user's own service, else
/// that of the machine.
struct Place {
  std::string socket{};
  std::string url{};    ///< "http://127.0.0.1:PORT", "https://HOST:PORT".
  std::string token{};  ///< With `url`; "" = $ALMANAC_TOKEN.
  std::string ca{};     ///< PEM of the authorities of the service; "" = $ALMANAC_CA, else the
                        ///< system's.
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
    std::int64_t next_offset = 0;  ///< Of a log.
    std::int64_t size = 0;         ///< Likewise.
  };
  /// Fails as the service does; with unavailable where none answers.
  Result<Said> get(const std::string& path, const Query& query = {});
  Result<Said> post(const std::string& path, const std::string& json = {});
  Result<Said> put(const std::string& path, const std::string& json);

  /// Whether submit() would be taken now; fails as it would.
  Result<void> judge(const store::Submission& submission);
  /// POST /v1/jobs. With a key, made up where there is none, so that what was asked again because
  /// its answer was lost is submitted once.
  Result<std::vector<store::JobNumber>> submit(const store::Submission& submission);

  struct Changed {
    std::vector<store::JobNumber> numbers{};
    std::vector<RefusedJob> refused{};
  };
  /// POST /v1/jobs/`verb`: cancel, hold, release, requeue. One request, however many are meant.
  Result<Changed> change(const std::string& verb, const Which& which);

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Where state folders are if nothing else is said: root's /var/lib/almanac, a user's own in
/// $XDG_STATE_HOME or ~/.local/state.
std::string default_state();

}  // namespace almanac::serve
