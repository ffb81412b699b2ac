// SPDX-License-Identifier: Apache-2.0
#include "kube/record.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "kube/read_objects.h"
#include "kube/snapshot.h"
#include "table/stream.h"
#include "trace/read.h"

namespace almanac::kube {
namespace {

constexpr const char* kHeader =
    "job_id,submit_s,run_s,gpus,name,comment,user,vc,cpus,memory_gb,time_limit_s,start_s,end_s,"
    "state,attempts,qos,account,priority_tier\n";

std::string quoted_field(std::string_view text) {
  if (text.find_first_of(",\"\n\r ") == std::string_view::npos) return std::string(text);
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"') made += '"';
    made += c;
  }
  return made + "\"";
}

std::string row_of(const trace::Trace& log) {
  const trace::Job& job = log.jobs.front();
  const trace::Request& request = job.request;
  const auto name = [&](NameId id) { return quoted_field(log.names[id]); };
  const auto number = [](float value) {
    return std::isnan(value) ? std::string() : fmt::format("{}", value);
  };
  const auto whole = [](std::int64_t value) {
    return value == 0 ? std::string() : fmt::format("{}", value);
  };
  const std::string limit =
      request.time_limit == kNoDuration ? "" : fmt::format("{}", seconds(request.time_limit));
  const std::vector<std::string> fields{quoted_field(log.id(job.id)),
                                        fmt::format("{}", seconds(request.submit)),
                                        fmt::format("{}", seconds(job.outcome.run)),
                                        fmt::format("{}", request.gpus),
                                        name(request.name),
                                        name(request.comment),
                                        name(request.user),
                                        name(request.vc),
                                        number(request.cpus),
                                        number(request.memory_gb),
                                        limit,
                                        fmt::format("{}", seconds(job.outcome.start)),
                                        fmt::format("{}", seconds(job.outcome.end)),
                                        std::string(trace::to_string(job.outcome.state)),
                                        whole(job.outcome.attempts),
                                        name(request.qos),
                                        name(request.account),
                                        whole(request.priority_tier)};
  return fmt::format("{}\n", fmt::join(fields, ","));
}

tl::unexpected<Error> cannot_write(const std::string& path) {
  const bool lacks_folder = errno == ENOENT;
  return fail(Code::unavailable, fmt::format("cannot write: {}", std::strerror(errno)),
              {.file = path}, lacks_folder ? "create its folder first" : "");
}

/// Removes what follows the last line end, and writes the header of a new file. Refuses, and leaves
/// as it is, a file that begins with another line.
Result<void> repair(const process::Descriptor& file, const std::string& path) {
  std::error_code ignored;
  off_t whole = 0;
  if (std::filesystem::file_size(path, ignored) > 0) {
    const auto text = table::read_file(path);
    if (!text) return tl::unexpected(text.error());
    const std::string_view header = kHeader;
    if (!text->starts_with(header) && !header.starts_with(*text)) {
      return fail(Code::invalid, "expected a log of almanac kube record, found another first line",
                  {.file = path, .line = 1}, "give a new file");
    }
    const std::size_t end = text->rfind('\n');
    whole = static_cast<off_t>(end == std::string::npos ? 0 : end + 1);
  }
  if (::ftruncate(file.get(), whole) != 0) return cannot_write(path);
  const std::string_view header = kHeader;
  const auto size = static_cast<ssize_t>(header.size());
  if (whole == 0 && ::write(file.get(), header.data(), header.size()) != size) {
    return cannot_write(path);
  }
  return {};
}

}  // namespace

Result<Recorder> Recorder::open(const std::string& path, std::string user_label,
                                std::function<Time()> now) {
  std::error_code ignored;
  process::Descriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file) return cannot_write(path);
  if (auto done = repair(file, path); !done) return tl::unexpected(done.error());
  const auto log = trace::read_trace(path, {});
  const bool is_new = !log && std::filesystem::file_size(path, ignored) == std::strlen(kHeader);
  if (!log && !is_new) return tl::unexpected(log.error());
  Recorder made(std::move(file), std::move(user_label), std::move(now));
  if (log) {
    for (const trace::Job& job : log->jobs) {
      made.recorded_.emplace(log->names[job.request.comment]);
    }
  }
  return made;
}

void Recorder::end_list() {
  std::erase_if(running_, [&](const auto& entry) {
    const bool has_gone = !listed_.contains(entry.first);
    if (has_gone) ++lost_;
    return has_gone;
  });
}

void Recorder::put(const nlohmann::json& object) {
  auto read = read_workload(object, user_label_);
  if (!read) {
    trouble_ = read.error().message;
    return;
  }
  listed_.insert(read->uid);
  const auto known = running_.find(read->uid);
  if (read->stage == Stage::admitted) {
    running_.insert_or_assign(read->uid, std::move(*read));
  } else if (read->stage == Stage::finished) {
    if (read->admitted != kNoTime) write(*read, read->finished);
    running_.erase(read->uid);
  } else if (known != running_.end()) {
    running_.erase(known);  // evicted: it waits again
  }
}

void Recorder::remove(const nlohmann::json& object) {
  put(object);
  const auto read = read_workload(object, user_label_);
  if (!read) return;
  const auto found = running_.find(read->uid);
  if (found == running_.end()) return;
  Workload gone = std::move(found->second);
  running_.erase(found);
  gone.stage = Stage::finished;
  gone.finished = kNoTime;
  write(gone, now_());
}

void Recorder::write(const Workload& workload, Time end) {
  if (recorded_.contains(workload.uid)) return;
  trace::Trace log;
  add_job(log, workload, workload.cluster_queue, "", end);
  if (workload.finished == kNoTime) log.jobs.front().outcome.state = trace::JobState::cancelled;
  const std::string row = row_of(log);
  struct stat before {};
  ::fstat(file_.get(), &before);
  if (::write(file_.get(), row.data(), row.size()) != static_cast<ssize_t>(row.size()) ||
      ::fdatasync(file_.get()) != 0) {
    trouble_ = fmt::format("cannot write the job log: {}", std::strerror(errno));
    // A part of the row would join the next one.
    if (::ftruncate(file_.get(), before.st_size) != 0) trouble_ += ", nor repair it";
    return;
  }
  recorded_.insert(workload.uid);
}

}  // namespace almanac::kube
