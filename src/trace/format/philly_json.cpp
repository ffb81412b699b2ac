// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads Philly's `cluster_job_log`: a JSON array of jobs with their attempts, and for each attempt
/// the GPUs that it held on each machine.
///
/// - The run time is the end of the last attempt minus the start of the first that has a start. If
///   one of both is missing (null, "None", "", or no attempts at all), it is unknown and becomes
///   0 s.
/// - GPUs are those of the first attempt that names any; a job without attempts has 0.
/// - Pass is COMPLETED, Killed is CANCELLED, Failed is FAILED; Unsuccessful is FAILED, with a note.
/// - Times are UTC: the log names no zone (the authors' is that of the US West Coast, whose clocks
///   went back on 5 November 2017).
///
/// Source   Jeon et al., ATC'19; github.com/msr-fiddle/philly-traces.
#include <fmt/format.h>

#include "text/datetime.h"
#include "text/number.h"
#include "trace/format.h"
#include "trace/json_records.h"

namespace almanac::trace {

void register_philly_json(Formats& registry);

namespace {

Time time_of(JsonObject& record, const char* key) {
  const std::string_view text = text_of(record, key);
  if (text.empty() || text == "None") return kNoTime;
  const auto time = text::parse_datetime(text);
  if (!time) {
    throw BadRecord{fmt::format("{} must be a time as YYYY-MM-DD hh:mm:ss, found \"{}\"", key,
                                text.substr(0, 60))};
  }
  return *time;
}

/// The bit of "gpu5"; 0 for a name that is none.
std::uint64_t bit_of(simdjson::simdjson_result<JsonValue> gpu) {
  std::string_view name;
  if (gpu.get_string().get(name) != simdjson::SUCCESS || !name.starts_with("gpu")) return 0;
  const auto number = text::parse_whole(name.substr(3));
  return number && *number >= 0 && *number < 64 ? std::uint64_t{1} << *number : 0;
}

class PhillyReader {
 public:
  explicit PhillyReader(Intake& intake) : intake_(intake), trace_(intake.trace()) {}

  Result<void> take(JsonObject& record, std::int64_t line) {
    const std::size_t jobs = trace_.jobs.size();
    const std::size_t attempts = trace_.attempts.size();
    const std::size_t pieces = trace_.pieces.size();
    const auto undo = [&] {
      trace_.attempts.resize(attempts);
      trace_.pieces.resize(pieces);
    };
    try {
      const Job job = read(record);
      auto added = intake_.add(job, line);
      if (trace_.jobs.size() == jobs) undo();
      return added;
    } catch (const BadRecord&) {
      undo();
      throw;
    }
  }

 private:
  Job read(JsonObject& record) {
    Job job;
    const std::string_view id = text_of(record, "jobid");
    if (id.empty()) throw BadRecord{"jobid must not be empty"};
    job.id = trace_.key(id);
    job.request.submit = time_of(record, "submitted_time");
    if (job.request.submit == kNoTime) throw BadRecord{"submitted_time must not be empty"};
    job.request.user = trace_.names.intern(text_of(record, "user"));
    job.request.vc = trace_.names.intern(text_of(record, "vc"));
    job.outcome.state = read_state(text_of(record, "status"));
    read_attempts(record, job);
    return job;
  }

  JobState read_state(std::string_view word) {
    if (word == "Unsuccessful") {
      ++trace_.unsuccessful;
      intake_.remark(
          "jobs that are Unsuccessful (killed or failed, unknown which; treated as FAILED)");
      return JobState::failed;
    }
    const auto state = parse_state(word);
    if (!state) {
      throw BadRecord{fmt::format("status must be Pass, Killed or Failed, found \"{}\"", word)};
    }
    return *state;
  }

  void read_attempts(JsonObject& record, Job& job) {
    Request& request = job.request;
    Outcome& outcome = job.outcome;
    if (auto list = array_of(record, "attempts")) {
      for (auto element : *list) {
        JsonObject attempt;
        if (element.get_object().get(attempt) != simdjson::SUCCESS) {
          throw BadRecord{"attempts must be a list of objects"};
        }
        const Attempt& read = read_attempt(attempt);
        if (outcome.start == kNoTime) outcome.start = read.start;
        outcome.end = read.end;
        ++outcome.attempts;
        if (request.gpus > 0) continue;
        for (std::uint32_t i = 0; i < read.num_pieces; ++i) {
          request.gpus += trace_.pieces[read.first_piece + i].gpus;
        }
        request.nodes = static_cast<std::int32_t>(read.num_pieces);
      }
    }
    if (outcome.start != kNoTime && outcome.end != kNoTime) {
      outcome.run = outcome.end - outcome.start;
    } else if (outcome.attempts == 0) {
      intake_.remark("jobs without attempts (treated as a run of 0 s on 0 GPUs)");
    } else {
      intake_.remark(
          "jobs whose first start or last end is not recorded (treated as a run of 0 s)");
    }
  }

  const Attempt& read_attempt(JsonObject& record) {
    Attempt attempt;
    attempt.job = static_cast<std::uint32_t>(trace_.jobs.size());
    attempt.start = time_of(record, "start_time");
    attempt.end = time_of(record, "end_time");
    attempt.first_piece = static_cast<std::uint32_t>(trace_.pieces.size());
    if (auto detail = array_of(record, "detail")) {
      for (auto element : *detail) {
        JsonObject machine;
        if (element.get_object().get(machine) != simdjson::SUCCESS) {
          throw BadRecord{"detail must be a list of objects"};
        }
        Piece piece;
        piece.machine = trace_.names.intern(text_of(machine, "ip"));
        if (auto gpus = array_of(machine, "gpus")) {
          for (auto gpu : *gpus) {
            ++piece.gpus;
            piece.gpu_mask |= bit_of(gpu);
          }
        }
        trace_.pieces.push_back(piece);
        ++attempt.num_pieces;
      }
    }
    trace_.attempts.push_back(attempt);
    return trace_.attempts.back();
  }

  Intake& intake_;
  Trace& trace_;
};

}  // namespace

void register_philly_json(Formats& registry) {
  Format format;
  format.name = "philly";
  format.summary = "Philly cluster_job_log, JSON with attempts (Microsoft, ATC'19)";
  format.likeness = [](const Head& head) {
    const auto line = head.first_line();
    return line.starts_with('[') && (head.contains("\"jobid\"") || head.contains("\"attempts\""))
               ? 1.0
               : 0.0;
  };
  format.read = [](const std::string& path, Intake& intake) {
    PhillyReader reader(intake);
    return read_records(path, "", intake, [&](JsonObject& record, std::int64_t line) {
      return reader.take(record, line);
    });
  };
  registry.add(std::move(format));
}

}  // namespace almanac::trace
