// SPDX-License-Identifier: Apache-2.0

/// \file
/// A connection to a controller by the program almanac-slurm-gateway, which uses libslurm.
///
/// The program starts when it is first needed, and again after it has ended. It outlives us while
/// it must release our holds.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "slurm/gateway_program.h"
#include "slurm/types.h"
#include "slurm/wire.h"

namespace almanac::slurm {

struct GatewaySetup {
  std::string program{};    ///< "" for almanac-slurm-gateway in its usual place.
  Duration patience = 20s;  ///< A question without an answer for this time has failed.
};

/// Failures of the program itself are `unavailable`, with its last message; but `not_found` if it
/// does not exist, and `unsupported` if it has another version.
class GatewayLink final : public Link {
 public:
  explicit GatewayLink(GatewaySetup setup = {}) : setup_(std::move(setup)) {}

  Abilities can() const override {
    return {.site_factor = true, .requeue = true, .power = true, .begins = true};
  }
  std::string_view way() const override { return "gateway"; }
  Result<Site> site() override;
  Result<News> news() override;
  std::vector<Result<void>> change(std::span<const JobChange> changes) override;
  Result<void> end(JobNumber job, Fate fate) override;
  Result<void> power(std::span<const std::string> nodes, bool on) override;
  Result<void> weigh(std::span<const std::string> nodes, std::uint32_t weight) override;
  Result<void> ended(Time from, Time until, const TakeEnded& take) override;

  /// Returns the running gateway; -1 if there is none.
  pid_t process() const { return program_ ? program_->process() : -1; }

 private:
  using Take = std::function<Result<void>(Answer&&)>;

  /// Asks, and waits for all answers.
  Result<void> ask(Request&& request, const Take& take);
  /// Sends a request for as many nodes at once as the program accepts.
  Result<void> ask_of(std::span<const std::string> nodes, const Request& what);
  Result<void> exchange(Request&& request, const Take& take);
  Result<void> start();
  /// Waits for the next answer to `id`; those to earlier questions are dropped.
  Result<Answer> answer_to(std::uint64_t id);
  Result<std::vector<Result<void>>> change_some(std::span<const JobChange> changes);

  GatewaySetup setup_;
  std::unique_ptr<GatewayProgram> program_;
  std::uint64_t last_id_ = 0;
  std::uint64_t unanswered_ = 0;  ///< 0 if none; the program then listens.
  bool whole_ = true;             ///< Whether the next news must be complete.
};

}  // namespace almanac::slurm
