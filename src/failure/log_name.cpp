// SPDX-License-Identifier: Apache-2.0
#include "failure/log_name.h"

#include <algorithm>
#include <charconv>
#include <regex>

namespace almanac::failure {
namespace {

using Match = std::match_results<std::string_view::const_iterator>;

std::regex pattern(const char* text) {
  return std::regex(text, std::regex::ECMAScript | std::regex::icase | std::regex::optimize);
}

bool find(std::string_view text, Match& match, const std::regex& regex) {
  return std::regex_search(text.begin(), text.end(), match, regex);
}

std::optional<int> number(std::string_view digits) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::vector<std::string> components(std::string_view path) {
  std::vector<std::string> found;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) found.emplace_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return found;
}

/// Without packing and the endings of logs: "slurm-1.out.gz" is "slurm-1".
std::string without_ending(const std::string& name) {
  static const std::regex ending =
      pattern(R"(\.(gz|zst|log|txt|out|err|stdout|stderr|output|error)$)");
  std::string stem = name;
  for (std::string shorter = std::regex_replace(stem, ending, ""); shorter != stem;
       shorter = std::regex_replace(stem, ending, "")) {
    stem = shorter;
  }
  return stem;
}

/// Without what tells the logs of one attempt apart: "train-rank3.stderr" is "train".
std::string without_stream(const std::string& name) {
  static const std::regex stream = pattern(
      R"((^|[-_.])((std)?(out|err|error|output)|(global_?|local_?)?(rank|worker|task|proc|node|gpu)[-_.]?[0-9]+)(?=$|[-_.]))");
  std::string stem = without_ending(name);
  for (std::string shorter = std::regex_replace(stem, stream, ""); shorter != stem;
       shorter = std::regex_replace(stem, stream, "")) {
    stem = shorter;
  }
  // PBS and SGE: train.o4711 and train.e4711.
  static const std::regex letter = pattern(R"(\.[oe]([0-9]+))");
  return std::regex_replace(stem, letter, ".$1");
}

/// The job's id in a component that a scheduler named; "" where it did not.
std::string sure_id(const std::string& component) {
  static const std::regex application = pattern(R"(application_[0-9]+_[0-9]+)");
  static const std::regex container =
      pattern(R"((?:container_(?:e[0-9]+_)?|appattempt_)([0-9]+_[0-9]+)_[0-9]+)");
  // An array's task is written 123_4.
  static const std::regex slurm = pattern(R"(^(?:slurm|job)[-_.]?([0-9]+(?:_[0-9]+)?)(?![0-9]))");
  static const std::regex letter = pattern(R"(\.[oe]([0-9]+)(?:[.-]|$))");
  static const std::regex bare = pattern(R"(^([0-9]{2,}(?:_[0-9]+)?)$)");
  Match match;
  if (find(component, match, application)) return match.str(0);
  if (find(component, match, container)) return "application_" + match.str(1);
  if (find(component, match, letter)) return match.str(1);
  const std::string stem = without_stream(component);
  for (const std::regex* const form : {&slurm, &bare}) {
    if (find(stem, match, *form)) return match.str(1);
  }
  return "";
}

/// Adds what may be an id in one component, the likeliest first.
void add_ids(const std::string& component, std::vector<std::string>& ids) {
  const auto add = [&](std::string id) {
    if (!id.empty() && std::find(ids.begin(), ids.end(), id) == ids.end()) {
      ids.push_back(std::move(id));
    }
  };
  add(sure_id(component));
  const std::string whole = without_stream(component);
  add(whole);
  // Numbers of attempts and the like are no ids.
  static const std::regex counted =
      pattern(R"((attempt|try|retry|restart|epoch|step|part|version|v|r)[-_.=]?[0-9]+)");
  const std::string rest = std::regex_replace(whole, counted, "");
  static const std::regex array = pattern(R"([0-9]+_[0-9]+)");
  static const std::regex digits = pattern(R"([0-9]+)");
  static const std::regex word = pattern(R"([a-z0-9_]*[0-9][a-z0-9_]*)");
  for (const std::regex* const regex : {&array, &digits, &word}) {
    for (std::sregex_iterator at(rest.begin(), rest.end(), *regex), end; at != end; ++at) {
      add(at->str());
    }
  }
}

}  // namespace

LogName read_log_name(std::string_view path) {
  LogName read;
  const std::vector<std::string> parts = components(path);
  static const std::regex attempt =
      pattern(R"((?:attempt|retry|try|restart)[-_.=]?([0-9]{1,4})(?![0-9]))");
  static const std::regex container =
      pattern(R"((?:container_(?:e[0-9]+_)?|appattempt_)[0-9]+_[0-9]+_([0-9]{1,6}))");
  static const std::regex counter = pattern(R"(^[0-9]{1,3}$)");
  bool counted = false;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const bool folder = at + 1 < parts.size();
    const bool counts = folder && at > 0 && std::regex_match(parts[at], counter);
    Match match;
    if (counts && !counted) {
      // A folder that is a small number, below the job's: Philly's layout.
      read.attempt = number(parts[at]);
      counted = true;
    } else if (find(parts[at], match, container) || find(parts[at], match, attempt)) {
      read.attempt = number(match.str(1));
      counted = true;
    }
    read.stem += (at > 0 ? "/" : "") + (folder ? parts[at] : without_stream(parts[at]));
    if (read.stem.ends_with('/')) read.stem.pop_back();
  }
  // A file's own name is the likeliest to hold the id, then the folders from the inside out; but a
  // folder that counts attempts, or a name without digits, says nothing.
  for (std::size_t at = parts.size(); at-- > 0;) {
    const bool counts = at > 0 && at + 1 < parts.size() && std::regex_match(parts[at], counter);
    if (counts) continue;
    if (read.id.empty()) read.id = sure_id(parts[at]);
    add_ids(parts[at], read.ids);
  }
  return read;
}

}  // namespace almanac::failure
