// SPDX-License-Identifier: Apache-2.0

/// \file
/// A connection to a controller by slurmrestd: over a Unix socket with the rights of the user who
/// runs it, or over TCP with a token (`scontrol token`).
///
/// It cannot power nodes, requeue jobs or report slurm.conf, nor, until 22.05, set the nodes of a
/// job. Shares and usage are available from 23.11; earlier, slurmdbd reports shares without usage,
/// which is not enough to compute fair share, so none are returned. Each news() queries everything
/// and returns the differences. Requests contain the token in clear text: use TCP only on the local
/// machine, or through a proxy that encrypts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "slurm/differences.h"
#include "slurm/types.h"

namespace almanac::slurm {

struct HttpAnswer {
  int status = 0;
  std::string body{};
};

/// Sends method ("GET", "POST"), path and body. Fails with `unavailable` without an answer.
using AskRest = std::function<Result<HttpAnswer>(const std::string& method, const std::string& path,
                                                 const std::string& body)>;

/// Connects to `place`: "unix:/run/slurmrestd.sock" or "http://127.0.0.1:6820". `user` and `token`
/// identify the user; "" over a Unix socket. Fails with `usage` for any other place.
Result<AskRest> rest_at(const std::string& place, const std::string& user,
                        const std::string& token);

class RestLink final : public Link {
 public:
  /// With the rights of `uid`.
  RestLink(AskRest ask, std::uint32_t uid) : ask_(std::move(ask)), uid_(uid) {}

  Abilities can() const override { return {}; }
  std::string_view way() const override { return "slurmrestd"; }
  Result<Site> site() override;
  Result<News> news() override;
  std::vector<Result<void>> change(std::span<const JobChange> changes) override;
  Result<void> end(JobNumber job, Fate fate) override;
  Result<void> power(std::span<const std::string> nodes, bool on) override;
  Result<void> weigh(std::span<const std::string> nodes, std::uint32_t weight) override;
  Result<void> ended(Time from, Time until, const TakeEnded& take) override;
  std::int64_t unread_rows() const override { return unread_rows_; }

 private:
  /// Finds out which version it speaks, the first time.
  Result<void> greet();
  /// Returns the body of a successful answer.
  Result<std::string> ask(const std::string& method, const std::string& path,
                          const std::string& body = {});
  Result<std::string> content_of(HttpAnswer&& answer, const std::string& path);
  Result<Picture> picture();
  void renew_associations();
  Result<void> change_one(const JobChange& change);

  AskRest ask_;
  std::uint32_t uid_;
  std::string version_;  ///< "v0.0.38"
  std::string release_;
  Differences differences_;
  std::vector<Association> associations_;  ///< From the last answer.
  Time associations_seen_ = kNoTime;
  std::int64_t unread_rows_ = 0;
  bool silent_ = false;  ///< No controller, or no slurmrestd, answered the last question.
};

}  // namespace almanac::slurm
