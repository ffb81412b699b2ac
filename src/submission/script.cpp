// SPDX-License-Identifier: Apache-2.0
#include "submission/script.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "submission/draft.h"
#include "submission/words.h"

namespace almanac::submission {
namespace {

constexpr std::string_view kOwn = "#ALMANAC";
constexpr std::string_view kSlurm = "#SBATCH";

/// What stands behind `mark` at the start of a line; nothing if it does not.
std::optional<std::string_view> behind(std::string_view mark, std::string_view line) {
  if (!line.starts_with(mark)) return std::nullopt;
  line.remove_prefix(mark.size());
  if (!line.empty() && !is_blank(line.front())) return std::nullopt;
  return line;
}

bool is_command(std::string_view line) {
  const auto first = line.find_first_not_of(" \t");
  return first != line.npos && line[first] != '#';
}

std::string place(const Where& where) { return fmt::format("{}:{}", where.file, where.line); }

struct Directive {
  Where where;
  std::vector<std::string> words;
};

struct Directives {
  std::vector<Directive> own;
  std::vector<Directive> slurm;
  std::vector<std::string> notes;
};

Result<Directives> find_directives(std::string_view text, const std::string& file) {
  Directives found;
  bool over = false;
  std::int64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const Where where{file, ++number};
    over = over || is_command(line);
    const auto own = behind(kOwn, line);
    const auto slurm = behind(kSlurm, line);
    if (!own && !slurm) continue;
    if (over) {
      found.notes.push_back(fmt::format("{}: after the first command {} is a comment", place(where),
                                        own ? kOwn : kSlurm));
      continue;
    }
    auto words = split_words(own ? *own : *slurm);
    if (!words) return fail(Code::invalid, std::move(words.error().message), where);
    (own ? found.own : found.slurm).push_back({where, *std::move(words)});
  }
  return found;
}

Result<void> apply_all(const std::vector<Directive>& directives, const std::vector<Option>& options,
                       Draft& draft, std::vector<std::string>& notes) {
  for (const Directive& directive : directives) {
    if (auto done = apply_words(directive.words, options, directive.where, draft); !done)
      return done;
    for (const std::string& note : draft.notes) {
      notes.push_back(fmt::format("{}: {}", place(directive.where), note));
    }
    draft.notes.clear();
  }
  return {};
}

}  // namespace

Result<Script> read_script(std::string_view text, const std::string& file, store::Submission base,
                           Time now) {
  if (text.find('\0') != text.npos) {
    return fail(Code::invalid, "a batch script must be text, found a zero byte", {file});
  }
  if (!text.starts_with("#!")) {
    return fail(Code::invalid, "a batch script must begin with #! and its interpreter", {file, 1},
                "write #!/bin/bash in the first line");
  }
  if (const auto end = text.find("\r\n"); end != text.npos) {
    return fail(Code::invalid, "a batch script must end its lines with \\n, found \\r\\n", {file},
                "convert it with dos2unix");
  }
  auto directives = find_directives(text, file);
  if (!directives) return tl::unexpected(std::move(directives.error()));
  Script script;
  Draft draft{.asked = std::move(base), .now = now};
  if (draft.asked.name.empty()) draft.asked.name = file.substr(file.find_last_of('/') + 1);
  auto done = apply_all(directives->slurm, slurm_options(), draft, script.notes);
  if (!directives->slurm.empty()) draft.tell_as_slurm();
  if (done) done = apply_all(directives->own, own_options(), draft, script.notes);
  if (!done) return tl::unexpected(std::move(done.error()));
  if (auto settled = draft.settle(); !settled) {
    return fail(Code::invalid, std::move(settled.error().message), {file});
  }
  script.notes.insert(script.notes.end(), directives->notes.begin(), directives->notes.end());
  script.nodes = draft.nodes.value_or(1);
  script.asked = std::move(draft.asked);
  script.asked.script = text;
  return script;
}

}  // namespace almanac::submission
