// SPDX-License-Identifier: Apache-2.0
#include "trace/format.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/nearest.h"
#include "text/utf8.h"

namespace almanac::trace {

void register_format(Formats& registry);  // generated

namespace {

/// `text` without bytes by which a file could control the terminal.
std::string printable(std::string_view text) {
  std::string made(text);
  std::replace_if(
      made.begin(), made.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return made;
}

// Less than this share of known columns, and a guess would only mislead.
constexpr double kLikely = 0.4;

std::vector<std::string> names_of(const std::vector<Format>& all) {
  std::vector<std::string> names;
  for (const Format& format : all) names.push_back(format.name);
  return names;
}

}  // namespace

std::string_view Head::first_line() const {
  std::string_view line = text;
  if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  // Blank lines before the header are nothing to a reader, so they are nothing here.
  const auto start = line.find_first_not_of("\r\n \t");
  line.remove_prefix(std::min(start, line.size()));
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string_view> Head::columns(char delimiter) const {
  std::vector<std::string_view> fields;
  std::string_view rest = first_line();
  for (bool last = false; !last;) {
    const auto end = rest.find(delimiter);
    last = end == std::string_view::npos;
    std::string_view field = rest.substr(0, end);
    while (!field.empty() && (field.front() == ' ' || field.front() == '"')) field.remove_prefix(1);
    while (!field.empty() && (field.back() == ' ' || field.back() == '"')) field.remove_suffix(1);
    fields.push_back(field);
    if (!last) rest.remove_prefix(end + 1);
  }
  return fields;
}

Result<const Format*> Formats::find(std::string_view name) const {
  for (const Format& format : formats_) {
    if (format.name == name) return &format;
  }
  const auto names = names_of(formats_);
  return fail(
      Code::usage, fmt::format("--format must be a job log format, found \"{}\"", name), {},
      fmt::format("{}; almanac help formats describes all", text::meant_or_known(name, names)));
}

Result<const Format*> Formats::detect(const Head& head) const {
  const Format* best = nullptr;
  double best_likeness = kLikely;
  for (const Format& format : formats_) {
    const double likeness = format.likeness(head);
    if (likeness > best_likeness) {
      best = &format;
      best_likeness = likeness;
    }
  }
  if (best != nullptr) return best;
  std::vector<std::string> alike;
  for (const Format& format : formats_) {
    if (format.resemblance && format.resemblance(head) > kLikely) alike.push_back(format.name);
  }
  constexpr std::size_t kShown = 60;
  if (!alike.empty()) {
    return fail(Code::invalid,
                fmt::format("unknown job log format: the columns resemble those of {}, but none is "
                            "unique to such logs",
                            fmt::join(alike, ", ")),
                {}, "give the format with --format, or map the columns with --columns");
  }
  const std::string_view line = head.first_line();
  if (line.find('\0') != std::string_view::npos || text::mend_utf8(line) != line) {
    return fail(Code::invalid, "a job log must be text in UTF-8, found other bytes", {},
                "unpack or convert the file; almanac help formats describes all formats");
  }
  return fail(Code::invalid,
              fmt::format("unknown job log format; the file begins with \"{}\"",
                          printable(line.substr(0, kShown))),
              {}, "give the format with --format, or map the columns with --columns");
}

const Formats& formats() {
  static const Formats all = [] {
    Formats made;
    register_format(made);
    return made;
  }();
  return all;
}

}  // namespace almanac::trace
