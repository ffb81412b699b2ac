// SPDX-License-Identifier: Apache-2.0

/// \file
/// One writer at a time: a Lease that its holder renews. Its annotation almanac/backfill names the
/// StrictFIFO queues that wait for the holder's order, so that others see when they are left alone.
///
/// Source   Kubernetes coordination/v1 (Lease); client-go, tools/leaderelection.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "kube/client.h"

namespace almanac::kube {

class Lease {
 public:
  static constexpr Duration kLasts = 15s;
  static constexpr Duration kRenewEvery = 2s;
  /// It counts as lost after this time without success, before another may take it.
  static constexpr Duration kGiveUp = 10s;

  /// `holder` names this process, and must be the same after a restart. `backfilled` are the
  /// queues of the annotation.
  Lease(std::string name_space, std::string name, std::string holder,
        std::set<std::string> backfilled = {})
      : name_space_(std::move(name_space)),
        name_(std::move(name)),
        holder_(std::move(holder)),
        backfilled_(std::move(backfilled)) {}

  /// Takes or renews it if that is due. Returns why it is not held; "" if it is. An expired one of
  /// another holder is taken over once it has not changed for its duration by our own clock.
  std::string hold(Client& client);
  /// Gives it up, if it is held, so that a successor need not wait until it expires. If the server
  /// does not answer, it expires.
  void release(Client& client);
  /// Whether it is held as of the last hold(), now.
  bool is_held() const;

 private:
  std::string path() const;
  /// Writes it with us as its holder. `version` is what it replaces; "" = it is new. `acquired` is
  /// since when we hold it; "" = from now on.
  std::string write(Client& client, const std::string& version, std::int64_t transitions,
                    const std::string& acquired);
  std::string lost(std::string why);

  std::string name_space_, name_, holder_;
  std::set<std::string> backfilled_;
  Time held_at_ = kNoTime;  ///< When the last success was asked for, by the steady clock.
  Time tried_at_ = kNoTime;
  std::string why_ = "has not been asked for";
  std::string seen_{};  ///< Holder and renewal of another.
  Time seen_at_ = kNoTime;
};

/// A Lease as the server has it.
struct LeaseState {
  std::string holder{};  ///< Safe to print; "" = none.
  Time until = kNoTime;  ///< When it expires, by the server's clock; kNoTime = unknown.
  Time now = kNoTime;    ///< By the server's clock.
  std::set<std::string> backfilled{};  ///< Of its annotation.

  /// Whether a service holds it. An expiry that cannot be read counts as one to come.
  bool is_live() const { return !holder.empty() && (until == kNoTime || now < until); }
};

/// Returns nothing if there is no such Lease. Fails like Client::get(), and with `invalid`.
Result<std::optional<LeaseState>> read_lease(Client& client, const std::string& name_space,
                                             const std::string& name = "almanac");

}  // namespace almanac::kube
