// SPDX-License-Identifier: Apache-2.0
#include "steer/journal.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace almanac::steer {
namespace {

using Json = nlohmann::json;

template <typename Value>
void put(Json& into, const char* name, const std::optional<Value>& value) {
  if (value) into[name] = *value;
}

template <typename Value>
void get(const Json& from, const char* name, std::optional<Value>& value) {
  if (const auto found = from.find(name); found != from.end()) value = found->get<Value>();
}

Json fields_of(const slurm::JobChange& change) {
  Json made = Json::object();
  put(made, "site_factor", change.site_factor);
  put(made, "priority", change.priority);
  put(made, "held", change.held);
  put(made, "required_nodes", change.required_nodes);
  put(made, "comment", change.comment);
  put(made, "shards", change.shards);
  return made;
}

slurm::JobChange change_of(slurm::JobNumber job, const Json& fields) {
  slurm::JobChange made{.job = job};
  get(fields, "site_factor", made.site_factor);
  get(fields, "priority", made.priority);
  get(fields, "held", made.held);
  get(fields, "required_nodes", made.required_nodes);
  get(fields, "comment", made.comment);
  get(fields, "shards", made.shards);
  return made;
}

Json json_of(const Entry& entry, std::int64_t number) {
  Json made{{"n", number}, {"at_s", seconds(entry.at)}, {"lever", entry.lever}};
  if (const auto* const job = std::get_if<OfJob>(&entry.what)) {
    made["job"] = static_cast<std::uint32_t>(job->becomes.job);
    made["was"] = fields_of(job->was);
    made["becomes"] = fields_of(job->becomes);
  } else if (const auto* const run = std::get_if<OfRun>(&entry.what)) {
    made["job"] = static_cast<std::uint32_t>(run->job);
    made["fate"] = to_string(run->fate);
  } else if (const auto* const held = std::get_if<OfCores>(&entry.what)) {
    made["job"] = static_cast<std::uint32_t>(held->job);
    made["cores"] = Json::object();
    for (const auto& [node, cores] : held->cores) made["cores"][node] = cores;
  } else if (const auto* const weighed = std::get_if<OfWeight>(&entry.what)) {
    made["nodes"] = weighed->nodes;
    made["weight"] = weighed->weight;
  } else {
    const auto& nodes = std::get<OfNodes>(entry.what);
    made["nodes"] = nodes.nodes;
    made["power"] = nodes.on ? "on" : "off";
  }
  made["why"] = entry.why;
  return made;
}

/// Fails as all that is read of JSON does where there is no such word.
slurm::Fate fate_of(const std::string& word) {
  Json places;
  for (const std::string_view each : slurm::kFateWords) places[std::string(each)] = places.size();
  return slurm::Fate{places.at(word).get<std::uint8_t>()};
}

Entry entry_of(const Json& json) {
  Entry made{.at = Time{Duration{std::llround(json.at("at_s").get<double>() * 1e3)}},
             .lever = json.at("lever"),
             .why = json.at("why")};
  if (json.contains("weight")) {
    made.what = OfWeight{json.at("nodes"), json.at("weight").get<std::uint32_t>()};
    return made;
  }
  if (json.contains("nodes")) {
    made.what = OfNodes{json.at("nodes"), json.at("power") == "on"};
    return made;
  }
  const slurm::JobNumber job{json.at("job").get<std::uint32_t>()};
  if (json.contains("cores")) {
    made.what = OfCores{job, json.at("cores").get<std::map<std::string, double>>()};
    return made;
  }
  if (json.contains("fate")) {
    made.what = OfRun{job, fate_of(json.at("fate"))};
    return made;
  }
  made.what = OfJob{change_of(job, json.at("was")), change_of(job, json.at("becomes"))};
  return made;
}

/// Gives entries on as soon as it is known how they went.
class Replay {
 public:
  explicit Replay(const Journal::Take& take) : take_(take) {}

  void line(const Json& json) {
    if (!json.contains("done")) {
      next_ = json.at("n").get<std::int64_t>() + 1;
      begun_.emplace_back(next_ - 1, entry_of(json));
      return;
    }
    const auto first = json.at("done").get<std::int64_t>();
    const auto last = json.at("to").get<std::int64_t>();
    const Json failed = json.value("failed", Json::object());
    while (!begun_.empty() && begun_.front().first <= last) {
      const auto& [number, entry] = begun_.front();
      take_(entry, number >= first ? failure_of(failed, number) : std::nullopt);
      begun_.pop_front();
    }
  }
  void end() {
    for (const auto& [number, entry] : begun_) take_(entry, std::nullopt);
  }
  std::int64_t next() const { return next_; }

 private:
  static Failure failure_of(const Json& failed, std::int64_t number) {
    const auto found = failed.find(std::to_string(number));
    if (found == failed.end()) return "";
    return found->is_null() ? Failure() : found->get<std::string>();
  }

  const Journal::Take& take_;
  std::deque<std::pair<std::int64_t, Entry>> begun_;
  std::int64_t next_ = 1;
};

Result<std::int64_t> replay(const std::string& path, const Journal::Take& take) {
  std::ifstream file(path);
  Replay replay(take);
  std::string line;
  for (std::int64_t number = 1; std::getline(file, line); ++number) {
    if (file.eof()) break;  // cut off by a crash
    try {
      replay.line(Json::parse(line));
    } catch (const Json::exception&) {
      return fail(Code::corrupt, "expected a line of a journal of Almanac",
                  {.file = path, .line = number},
                  "move the file away; what stands in it cannot be undone by itself then");
    }
  }
  replay.end();
  return replay.next();
}

tl::unexpected<Error> cannot(const std::string& path) {
  return fail(Code::unavailable, std::strerror(errno), {.file = path});
}

/// A file that is new, or has a new name, may else be gone after a power cut.
Result<void> sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::absolute(path).parent_path();
  const process::Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened || ::fsync(opened.get()) != 0) return cannot(folder);
  return {};
}

}  // namespace

Journal::Journal(std::string path, process::Descriptor file, std::int64_t size, std::int64_t next)
    : path_(std::move(path)), file_(std::move(file)), size_(size), next_(next), begun_(next) {}

Result<Journal> Journal::open(const std::string& path) {
  const auto next = replay(path, [](const Entry&, const Failure&) {});
  if (!next) return tl::unexpected(next.error());
  constexpr int kOwnersOnly = 0600;
  process::Descriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kOwnersOnly));
  if (!file) return cannot(path);
  std::int64_t size = ::lseek(file.get(), 0, SEEK_END);
  for (char last = '\n'; size > 0; --size) {
    if (::pread(file.get(), &last, 1, size - 1) != 1) return cannot(path);
    if (last == '\n') break;
  }
  if (::ftruncate(file.get(), size) != 0) return cannot(path);
  if (auto synced = sync_folder_of(path); !synced) return tl::unexpected(synced.error());
  return Journal(path, std::move(file), size, *next);
}

Result<void> Journal::read(const std::string& path, const Take& take) {
  const auto done = replay(path, take);
  if (!done) return tl::unexpected(done.error());
  return {};
}

Result<void> Journal::write(const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t wrote = ::write(file_.get(), text.data() + at, text.size() - at);
    if (wrote < 0 && errno != EINTR) break;
    at += static_cast<std::size_t>(std::max<ssize_t>(0, wrote));
  }
  if (at < text.size() || ::fdatasync(file_.get()) != 0) {
    const auto failed = cannot(path_);
    static_cast<void>(::ftruncate(file_.get(), size_));  // half a line would hide the next one
    return failed;
  }
  size_ += static_cast<std::int64_t>(text.size());
  return {};
}

Result<void> Journal::begin(const std::vector<Entry>& entries) {
  std::string text;
  std::int64_t number = next_;
  for (const Entry& entry : entries) {
    text += json_of(entry, number++).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  }
  if (auto wrote = write(text); !wrote) return wrote;
  begun_ = std::exchange(next_, number);
  return {};
}

Result<void> Journal::end(const std::vector<Failure>& failures) {
  Json line{{"done", begun_}, {"to", next_ - 1}};
  for (std::size_t at = 0; at < failures.size(); ++at) {
    if (failures[at] == "") continue;
    Json& failed = line["failed"][std::to_string(begun_ + static_cast<std::int64_t>(at))];
    if (failures[at]) failed = *failures[at];
  }
  return write(line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n');
}

Result<void> Journal::begin_anew(const std::vector<Entry>& standing) {
  const std::string fresh = path_ + ".new";
  ::unlink(fresh.c_str());
  auto made = open(fresh);
  if (!made) return tl::unexpected(made.error());
  made->next_ = made->begun_ = next_;
  if (auto begun = made->begin(standing); !begun) return begun;
  const std::vector<Failure> all_well(standing.size(), "");
  if (auto ended = made->end(all_well); !ended) return ended;
  // At every moment there is a journal under its name.
  const std::string old = path_ + ".old";
  ::unlink(old.c_str());
  if (::link(path_.c_str(), old.c_str()) != 0 || std::rename(fresh.c_str(), path_.c_str()) != 0) {
    return cannot(path_);
  }
  file_ = std::move(made->file_);
  size_ = made->size_;
  next_ = made->next_;
  begun_ = made->begun_;
  return sync_folder_of(path_);
}

}  // namespace almanac::steer
