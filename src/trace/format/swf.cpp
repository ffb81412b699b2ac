// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the Standard Workload Format 2.2: 18 numbers per line, -1 = unknown; ';' starts the
/// header.
///
/// SWF has processors instead of GPUs; they are read as GPUs (requested, otherwise allocated). A
/// queue is a class of jobs and becomes the QoS. A partition is a part of the machine; it becomes
/// the VC if jobs name several or the header names it. Both have the header's name, if there is
/// one. The number of the application becomes the job's name. UnixStartTime, or StartTime in a
/// zone, makes times absolute. MaxNodes and MaxProcs are the machine. Lines of status 2 to 4 are
/// parts of a checkpointed job, which has a line of its own, and are left out.
///
/// Source   Chapin et al., JSSPP'99; cs.huji.ac.il/labs/parallel/workload/swf.html.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "table/lines.h"
#include "text/number.h"
#include "trace/format.h"
#include "trace/swf_header.h"

namespace almanac::trace {

void register_swf(Formats& registry);

namespace {

enum SwfItem {
  kNumber,
  kSubmit,
  kWait,
  kRun,
  kAllocated,
  kCpuTime,
  kMemory,
  kRequested,
  kRequestedTime,
  kRequestedMemory,
  kStatus,
  kUser,
  kGroup,
  kApplication,
  kQueue,
  kPartition,
  kAfter,
  kThink,
  kSwfItems,
};
constexpr std::array<const char*, kSwfItems> kNames{"job number",
                                                    "submit time",
                                                    "wait time",
                                                    "run time",
                                                    "allocated processors",
                                                    "CPU time",
                                                    "used memory",
                                                    "requested processors",
                                                    "requested time",
                                                    "requested memory",
                                                    "status",
                                                    "user",
                                                    "group",
                                                    "application",
                                                    "queue",
                                                    "partition",
                                                    "preceding job",
                                                    "think time"};
constexpr double kLargestValue = 1e12;  // seconds: sums must fit into milliseconds of 64 bits
constexpr double kMostProcessors = 1e6;
constexpr double kKbPerGb = 1024.0 * 1024.0;

using SwfItems = std::array<double, kSwfItems>;

Duration length(double secs) { return Duration(std::llround(secs * 1000)); }

/// Splits a line at blanks; says what is wrong with it, if anything.
std::string split(std::string_view line, SwfItems& items) {
  constexpr std::string_view kBlank = " \t\r";
  std::size_t count = 0;
  for (auto at = line.find_first_not_of(kBlank); at != std::string_view::npos;
       at = line.find_first_not_of(kBlank)) {
    line.remove_prefix(at);
    const std::string_view word = line.substr(0, line.find_first_of(kBlank));
    line.remove_prefix(word.size());
    if (count < kSwfItems) {
      const auto value = text::parse_decimal(word);
      if (!value || std::abs(*value) > kLargestValue) {
        return fmt::format("{} must be a number, found \"{}\"", kNames[count], word.substr(0, 60));
      }
      items[count] = *value;
    }
    ++count;
  }
  if (count == kSwfItems) return {};
  return fmt::format("a line must have {} numbers, found {}", static_cast<int>(kSwfItems), count);
}

class SwfReader {
 public:
  explicit SwfReader(Intake& intake) : intake_(intake) {}

  Result<void> read(table::Lines lines) {
    for (;;) {
      const auto line = lines.next();
      if (!line) return tl::unexpected(line.error());
      if (*line == nullptr) break;
      std::string_view text = *line;
      text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
      if (text.empty()) continue;
      std::string message;
      if (text.front() == ';') {
        message = header_.read(text.substr(1));
      } else {
        SwfItems items{};
        message = split(text, items);
        if (message.empty()) {
          if (auto done = take(items, lines.line(), message); !done) return done;
        }
      }
      if (message.empty()) continue;
      auto dropped =
          intake_.refuse({Code::invalid, std::move(message), intake_.where(lines.line())});
      if (!dropped) return dropped;
    }
    header_.conclude(intake_.trace(), intake_.zone());
    return {};
  }

 private:
  Result<void> take(const SwfItems& items, std::int64_t line, std::string& message) {
    const double status = items[kStatus];
    if (status >= 2 && status <= 4) {
      intake_.skip("lines left out because they are parts of a checkpointed job");
      return {};
    }
    Trace& trace = intake_.trace();
    Job job;
    Request& request = job.request;
    Outcome& outcome = job.outcome;
    if (items[kNumber] < 0 || items[kNumber] != std::floor(items[kNumber])) {
      message =
          fmt::format("job number must be a whole number of 0 or more, found {}", items[kNumber]);
    } else if (items[kSubmit] < 0) {
      message = fmt::format("submit time must be 0 or more, found {}", items[kSubmit]);
    } else if (items[kRun] < 0 && items[kRun] != -1) {
      message = fmt::format("run time must be 0 or more, or -1, found {}", items[kRun]);
    }
    const double processors = items[kRequested] > 0 ? items[kRequested] : items[kAllocated];
    if (processors > kMostProcessors) {
      message = fmt::format("processors must be at most {}, found {}", kMostProcessors, processors);
    }
    if (!message.empty()) return {};

    job.id = JobKey{static_cast<std::uint64_t>(items[kNumber])};
    request.submit = Time(length(items[kSubmit]));
    request.gpus = static_cast<std::int32_t>(std::max(processors, 0.0));
    if (request.gpus == 0) intake_.remark("jobs of unknown size (treated as 0 GPUs)");
    if (items[kRequestedTime] > 0) request.time_limit = length(items[kRequestedTime]);
    const double memory = items[kRequestedMemory] > 0 ? items[kRequestedMemory] : items[kMemory];
    if (memory > 0) {
      request.memory_gb = static_cast<float>(memory * std::max(processors, 1.0) / kKbPerGb);
    }
    const auto intern = [&](double number) {
      return number < 0 ? kNoName : trace.names.intern(fmt::format("{}", number));
    };
    request.user = intern(items[kUser]);
    request.name = intern(items[kApplication]);
    request.qos = header_.queue(items[kQueue], trace.names);
    request.vc = header_.partition(items[kPartition], trace.names);
    if (items[kAfter] > 0) request.after = JobKey{static_cast<std::uint64_t>(items[kAfter])};

    if (items[kRun] < 0) intake_.remark("jobs of unknown run time (treated as 0 s)");
    outcome.run = length(std::max(items[kRun], 0.0));
    if (items[kWait] >= 0) {
      outcome.start = request.submit + length(items[kWait]);
      outcome.end = outcome.start + outcome.run;
    }
    outcome.state = status == 1   ? JobState::completed
                    : status == 0 ? JobState::failed
                    : status == 5 ? JobState::cancelled
                                  : JobState::unknown;
    return intake_.add(job, line);
  }

  Intake& intake_;
  SwfHeader header_;
};

/// Comments, then a line of 18 numbers.
double swf_likeness(const Head& head) {
  std::string_view rest = head.text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    SwfItems items{};
    if (line[first] != ';') return split(line, items).empty() ? 1 : 0;
  }
  return head.first_line().starts_with("; Version") ? 1 : 0;
}

}  // namespace

void register_swf(Formats& registry) {
  Format format;
  format.name = "swf";
  format.summary = "Standard Workload Format 2.2 (processors are treated as GPUs)";
  format.likeness = swf_likeness;
  format.read = [](const std::string& path, Intake& intake) -> Result<void> {
    auto lines = table::Lines::open(path);
    if (!lines) return tl::unexpected(std::move(lines.error()));
    intake.trace().notes.emplace_back("SWF has no GPUs: processors are treated as GPUs");
    return SwfReader(intake).read(std::move(*lines));
  };
  registry.add(std::move(format));
}

}  // namespace almanac::trace
