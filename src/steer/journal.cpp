// SPDX-License-Identifier: Apache-2.0
#include "steer/journal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "steer/action/job_line.h"

namespace almanac::steer {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMostEntries = std::int64_t{1} << 53;

Json json_of(const Entry& entry, std::int64_t number) {
  Json made{{"n", number}, {"at_s", seconds(entry.at)}, {"lever", entry.lever}};
  std::visit([&](const auto& change) { change.record(made); }, entry.what);
  made["why"] = entry.why;
  return made;
}

/// Of the first kind that knows the line.
template <typename... Kinds>
Change change_of(const Json& line, const std::variant<Kinds...>*) {
  std::optional<Change> made;
  const auto try_kind = [&](auto read) {
    if (read) made = *std::move(read);
    return made.has_value();
  };
  if ((try_kind(Kinds::read(line)) || ...)) return *made;
  refuse("an unknown kind of change", line);
}

Entry entry_of(const Json& json) {
  return {.at = time_of(json.at("at_s")),
          .lever = json.at("lever"),
          .what = change_of(json, static_cast<const Change*>(nullptr)),
          .why = json.at("why")};
}

/// Gives entries on as soon as it is known how they went.
class Replay {
 public:
  explicit Replay(const Journal::Take& take) : take_(take) {}

  void line(const Json& json) {
    if (!json.contains("done")) {
      const auto number = whole<std::int64_t>(json.at("n"));
      if (number < 1 || number > kMostEntries) refuse("a number without an entry", json);
      next_ = number + 1;
      begun_.emplace_back(number, entry_of(json));
      return;
    }
    const auto first = whole<std::int64_t>(json.at("done"));
    const auto last = whole<std::int64_t>(json.at("to"));
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
      return fail(Code::corrupt, "expected a line of an Almanac journal",
                  {.file = path, .line = number},
                  "move the file away; Almanac cannot undo its changes then");
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

std::string to_words(const Entry& entry) {
  return std::visit([](const auto& change) { return change.describe(); }, entry.what) + "; " +
         entry.why;
}

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

Result<void> Journal::keep(const std::vector<Entry>& entries) {
  if (entries.empty()) return {};
  if (auto begun = begin(entries); !begun) return begun;
  return end(std::vector<Failure>(entries.size(), ""));
}

Result<void> Journal::begin_anew(const std::vector<Entry>& standing) {
  const std::string fresh = path_ + ".new";
  ::unlink(fresh.c_str());
  auto made = open(fresh);
  if (!made) return tl::unexpected(made.error());
  made->next_ = made->begun_ = next_;
  if (auto kept = made->keep(standing); !kept) return kept;
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
