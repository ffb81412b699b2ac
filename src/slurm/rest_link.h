// SPDX-License-Identifier: Apache-2.0

/// \file
/// The way to a controller by slurmrestd: over a Unix socket with the rights of the user who runs
/// it, or over TCP with a token (`scontrol token`).
///
/// It has no way to power nodes, to requeue jobs, to tell slurm.conf, nor, until 22.05, to say on
/// which nodes a job is to run. Shares and use are told from 23.11 on; before, slurmdbd's part of
/// it tells shares without use, by which nobody's turn can be worked out: then none are told. Each
/// news() asks for everything and tells what differs. A token stands in clear in each request: TCP
/// is for this machine, or behind a proxy that encrypts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "slurm/differences.h"
#include "slurm/link.h"

namespace almanac::slurm {

struct HttpAnswer {
  int status = 0;
  std::string body{};
};

/// Method ("GET", "POST"), path, body. Fails with unavailable where there is no answer.
using AskRest = std::function<Result<HttpAnswer>(const std::string& method, const std::string& path,
                                                 const std::string& body)>;

/// Asks `place`: "unix:/run/slurmrestd.sock", "http://127.0.0.1:6820". `user` and `token` say which
/// user asks; "" over a Unix socket. Fails with usage for another place.
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
  /// The body of an answer that is none of refusal.
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
  std::vector<Association> associations_;  ///< As last told.
  Time associations_seen_ = kNoTime;
  std::int64_t unread_rows_ = 0;
  bool silent_ = false;  ///< No controller, or no slurmrestd, answered the last question.
};

}  // namespace almanac::slurm
