// SPDX-License-Identifier: Apache-2.0

/// \file
/// What became of the requests of a service.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

namespace almanac::replicas {

/// How a request ended that came through the door.
enum class Fate : std::uint8_t {
  answered,     ///< Wholly, as the replica answered it.
  refused,      ///< No replica took it; its client was told so.
  broken,       ///< Its replica went while it answered; its client was told so.
  client_left,  ///< Its client went before it was answered.
};

/// Thread-safe. All that is accepted is in exactly one fate once it is over.
class Tally {
 public:
  /// Objective, seconds; infinite = any.
  struct Objective {
    double first_s, each_s;
  };
  /// Since the service began; times are of the last requests that were answered, seconds.
  struct Seen {
    std::uint64_t accepted = 0;
    std::array<std::uint64_t, 4> fates{};  ///< By Fate.
    std::uint64_t tried_again = 0;         ///< Times that a request was given to another replica.
    std::uint64_t attained = 0;            ///< Answered, and the objective met.
    std::vector<double> first_s{}, each_s{};
    std::uint64_t in_hand() const { return accepted - fates[0] - fates[1] - fates[2] - fates[3]; }
  };
  explicit Tally(Objective objective) : objective_(objective) {}

  void accept();
  void try_again();
  void end(Fate fate);
  /// Of one that was answered: seconds to its first bytes, and between two events of a stream.
  void time(double first_s, double each_s);
  Seen seen() const;
  std::uint64_t in_hand() const;

 private:
  static constexpr std::size_t kKept = 4096;
  Objective objective_;
  mutable std::mutex mutex_;
  Seen seen_;
  std::size_t next_ = 0;
};

}  // namespace almanac::replicas
