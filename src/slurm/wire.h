// SPDX-License-Identifier: Apache-2.0

/// \file
/// What we and almanac-slurm-gateway say to each other: one JSON object a line, each way.
///
/// What has its usual value is left out; what is not known is passed over. Text that is no UTF-8
/// comes through with U+FFFD in place of what is wrong. Times are in ms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "slurm/job.h"
#include "slurm/link.h"
#include "slurm/node.h"

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
  bool whole = false;                ///< news: whatever was told before.
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

/// Has `error`, or what was asked for. Several may answer one request.
struct Answer {
  int v = kProtocol;
  std::uint64_t id = 0;  ///< 0 = to a line that told none.
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
/// A job as it stands in a line: what two records share exactly when they are the same.
std::string to_json(const Job& job);
std::string to_json(const Node& node);

/// Without the newline. Fails with unsupported for another protocol, else with invalid.
Result<Request> read_request(std::string_view line);
Result<Answer> read_answer(std::string_view line);
/// The id that a line tells, though it is no request or answer of ours; 0 = none.
std::uint64_t id_of(std::string_view line);

Fault to_fault(const Error& error);
tl::unexpected<Error> to_failure(const Fault& fault);

}  // namespace almanac::slurm
