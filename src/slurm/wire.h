// SPDX-License-Identifier: Apache-2.0

/// \file
/// The protocol between us and almanac-slurm-gateway: one JSON object per line, in both directions.
///
/// Fields with their usual value are left out; unknown ones are ignored. Invalid UTF-8 becomes
/// U+FFFD. Times are in ms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "slurm/types.h"

namespace almanac::slurm {

/// Two that speak different ones do not talk.
inline constexpr int kProtocol = 3;

/// Longer lines are no lines of ours.
inline constexpr std::size_t kLongestRequest = std::size_t{4} << 20U;
inline constexpr std::size_t kLongestAnswer = std::size_t{64} << 20U;

enum class Ask : std::uint8_t { hello, site, news, change, end, power, weigh, ended };

struct Request {
  int v = kProtocol;
  std::uint64_t id = 0;
  Ask ask = Ask::hello;
  bool whole = false;                ///< news: complete, whatever was reported before.
  std::vector<JobChange> changes{};  ///< change.
  JobNumber job{};                   ///< end.
  Fate fate = Fate::requeue;         ///< end.
  std::vector<std::string> nodes{};  ///< power, weigh.
  bool on = false;                   ///< power.
  std::uint32_t weight = 0;          ///< weigh.
  Time from{};                       ///< ended.
  Time until{};                      ///< ended.
};

/// An Error without its place.
struct Fault {
  Code code = Code::usage;
  std::string message{};
  std::string hint{};
};

struct Hello {
  std::string version{};  ///< Of Almanac.
  std::string library{};  ///< Of libslurm: "22.05.8".
};

/// Has `error`, or the result. Several may answer one request.
struct Answer {
  int v = kProtocol;
  std::uint64_t id = 0;  ///< 0 for a line without an id.
  bool more = false;     ///< Another follows.
  std::optional<Fault> error{};
  std::optional<Hello> hello{};
  std::optional<Site> site{};
  std::optional<News> news{};
  std::vector<std::optional<Fault>> done{};  ///< change: of each; nothing = done.
  std::vector<Job> ended{};
};

/// With the newline.
std::string to_line(const Request& request);
std::string to_line(const Answer& answer);

/// Without the newline. Fails with `unsupported` for another protocol, otherwise with `invalid`.
Result<Request> read_request(std::string_view line);
Result<Answer> read_answer(std::string_view line);
/// Returns the id of a line, even if it is not a valid request or answer; 0 if there is none.
std::uint64_t id_of(std::string_view line);

Fault to_fault(const Error& error);
tl::unexpected<Error> to_failure(const Fault& fault);

}  // namespace almanac::slurm
