// SPDX-License-Identifier: Apache-2.0

/// \file
/// Counts how the requests of a service ended.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

namespace almanac::replicas {

/// How an accepted request ended.
enum class Fate : std::uint8_t {
  answered,     ///< The client received the replica's whole answer.
  refused,      ///< No replica answered it; its client received an error.
  broken,       ///< Its replica failed during the answer; its client got an error if possible.
  client_left,  ///< Its client left before the end of the answer.
};

/// Thread-safe. Each accepted request has exactly one fate once it has ended.
class Tally {
 public:
  /// Longest seconds until the first bytes, and between events; infinite = no objective.
  struct Objective {
    double first_s, each_s;
  };
  /// Counts since the service began; times, in seconds, of the last 4096 answered requests.
  struct Seen {
    std::uint64_t accepted = 0;
    std::array<std::uint64_t, 4> fates{};  ///< By Fate.
    std::uint64_t tried_again = 0;         ///< Times that another replica received a request.
    std::uint64_t attained = 0;            ///< Answered requests that met the objective.
    std::vector<double> first_s{}, each_s{};
    std::uint64_t in_hand() const { return accepted - fates[0] - fates[1] - fates[2] - fates[3]; }
  };
  explicit Tally(Objective objective) : objective_(objective) {}

  void accept();
  void try_again();
  void end(Fate fate);
  /// Adds the times of an answered request: to its first bytes, and between two events of a stream.
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
