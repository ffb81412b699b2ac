// SPDX-License-Identifier: Apache-2.0
#include "steer/journal.h"

#include <deque>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

/// Returns the change of the first kind that can read the line.
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

}  // namespace

std::string to_words(const Entry& entry) {
  return std::visit([](const auto& change) { return change.describe(); }, entry.what) + "; " +
         entry.why;
}

Journal::Journal(service::LineFile file, std::int64_t next)
    : file_(std::move(file)), next_(next), begun_(next) {}

Result<Journal> Journal::open(const std::string& path) {
  const auto next = replay(path, [](const Entry&, const Failure&) {});
  if (!next) return tl::unexpected(next.error());
  auto file = service::LineFile::open(path);
  if (!file) return tl::unexpected(file.error());
  return Journal(std::move(*file), *next);
}

Result<void> Journal::read(const std::string& path, const Take& take) {
  const auto done = replay(path, take);
  if (!done) return tl::unexpected(done.error());
  return {};
}

namespace {

std::string lines_of(const std::vector<Entry>& entries, std::int64_t first) {
  std::string text;
  for (const Entry& entry : entries) {
    text += json_of(entry, first++).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  }
  return text;
}

std::string end_line(std::int64_t first, std::int64_t last, const std::vector<Failure>& failures) {
  Json line{{"done", first}, {"to", last}};
  for (std::size_t at = 0; at < failures.size(); ++at) {
    if (failures[at] == "") continue;
    Json& failed = line["failed"][std::to_string(first + static_cast<std::int64_t>(at))];
    if (failures[at]) failed = *failures[at];
  }
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

Result<void> Journal::begin(const std::vector<Entry>& entries) {
  if (auto wrote = file_.append(lines_of(entries, next_)); !wrote) return wrote;
  begun_ = std::exchange(next_, next_ + std::ssize(entries));
  return {};
}

Result<void> Journal::end(const std::vector<Failure>& failures) {
  return file_.append(end_line(begun_, next_ - 1, failures));
}

Result<void> Journal::keep(const std::vector<Entry>& entries) {
  if (entries.empty()) return {};
  if (auto begun = begin(entries); !begun) return begun;
  return end(std::vector<Failure>(entries.size(), ""));
}

Result<void> Journal::begin_anew(const std::vector<Entry>& standing) {
  std::string lines;
  const std::int64_t first = next_;
  if (!standing.empty()) {
    lines = lines_of(standing, first) + end_line(first, first + std::ssize(standing) - 1,
                                                 std::vector<Failure>(standing.size(), ""));
  }
  if (auto begun = file_.begin_anew(lines); !begun) return begun;
  begun_ = first;
  next_ = first + std::ssize(standing);
  return {};
}

}  // namespace almanac::steer
