// SPDX-License-Identifier: Apache-2.0
#include "cluster/conf_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cluster/slurm_words.h"
#include "table/stream.h"

namespace almanac::cluster {
namespace {

namespace fs = std::filesystem;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// A line without comment, and what it continues on.
struct ConfLine {
  std::string text{};
  Where where{};
};

std::vector<ConfLine> lines_of(std::string_view text, const std::string& path) {
  std::vector<ConfLine> made;
  bool goes_on = false;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    std::string_view line = take_line(text);
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (line[at] == '#' && (at == 0 || line[at - 1] != '\\')) line = line.substr(0, at);
    }
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    const bool continues = line.ends_with('\\');
    if (continues) line.remove_suffix(1);
    if (goes_on) {
      made.back().text.append(line);
    } else {
      made.push_back({std::string(line), {path, number}});
    }
    goes_on = continues;
  }
  std::erase_if(made, [](const ConfLine& line) {
    return std::all_of(line.text.begin(), line.text.end(), is_blank);
  });
  return made;
}

Result<ConfEntry> parse_line(const ConfLine& line) {
  ConfEntry entry{.where = line.where};
  const auto wrong = [&] {
    return fail(Code::invalid,
                fmt::format("a line must be Key=Value pairs separated by blanks, found \"{}\"",
                            line.text.substr(0, 60)),
                line.where);
  };
  const std::string& text = line.text;
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < text.size() && is_blank(text[at])) ++at;
  };
  for (skip(); at < text.size(); skip()) {
    const std::size_t from = at;
    while (at < text.size() && (is_word(text[at]) || text[at] == '.')) ++at;
    const std::string_view written = std::string_view(text).substr(from, at - from);
    std::string key = in_lower_case(written);
    skip();
    if (at < text.size() && std::string_view("+-*/").find(text[at]) != std::string_view::npos) ++at;
    if (key.empty() || at >= text.size() || text[at] != '=') return wrong();
    ++at;
    skip();
    std::string value;
    if (at < text.size() && text[at] == '"') {
      const auto close = text.find('"', at + 1);
      if (close == std::string::npos) return wrong();
      value = text.substr(at + 1, close - at - 1);
      at = close + 1;
    } else {
      while (at < text.size() && !is_blank(text[at])) value += text[at++];
    }
    if (entry.first.empty()) entry.first = key;
    if (key != written) entry.spelled[key] = written;
    entry.fields[std::move(key)] = std::move(value);
  }
  return entry;
}

/// Returns the entry of a setting that nothing else is on the line of, whatever its value looks
/// like; nothing for lines that must be Key=Value pairs.
std::optional<ConfEntry> whole_line(const ConfLine& line) {
  std::string_view text = without_blanks(line.text);
  const auto end = std::find_if_not(text.begin(), text.end(), is_word);
  const std::string_view written = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  std::string key = in_lower_case(written);
  text = without_blanks(text.substr(key.size()));
  const bool is_table = key == "nodename" || key == "partitionname" || key == "nodeset" ||
                        key == "name" || key == "switchname" || key == "blockname";
  if (key.empty() || !text.starts_with('=') || is_table) return std::nullopt;
  ConfEntry entry{.first = key, .where = line.where};
  if (key != written) entry.spelled[key] = written;
  entry.fields.emplace(std::move(key), without_blanks(text.substr(1)));
  return entry;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : folder_(fs::path(path).parent_path()) {}

  Result<void> read(std::string_view text, const std::string& path, int depth) {
    for (const ConfLine& line : lines_of(text, path)) {
      const std::string_view rest = without_blanks(line.text);
      const std::string lower = in_lower_case(rest.substr(0, 8));
      if (lower == "include " || lower == "include\t") {
        fs::path other(std::string{without_blanks(rest.substr(8))});
        if (other.is_relative()) other = folder_ / other;
        if (auto done = include(other, line.where, depth); !done) return done;
        continue;
      }
      auto entry = parse_line(line);
      if (entry) {
        entries_.push_back(std::move(*entry));
      } else if (auto other = whole_line(line)) {
        entries_.push_back(std::move(*other));
      } else {
        return tl::unexpected(entry.error());
      }
    }
    return {};
  }

  std::vector<ConfEntry> take() { return std::move(entries_); }

 private:
  Result<void> include(const fs::path& path, const Where& from, int depth) {
    constexpr int kDeepest = 10;
    auto text = table::read_text_file(path.string());
    // A copied folder: the file that was included by its full name is next to this one.
    if (!text) text = table::read_text_file((folder_ / path.filename()).string());
    if (!text) {
      return fail(Code::not_found,
                  fmt::format("the file {} that it includes cannot be read", path.string()), from,
                  "put that file there, or copy its lines into this file");
    }
    if (depth >= kDeepest) return fail(Code::invalid, "files include each other", from);
    return read(*text, path.string(), depth + 1);
  }

  fs::path folder_;
  std::vector<ConfEntry> entries_;
};

}  // namespace

Result<std::vector<ConfEntry>> read_conf_file(const std::string& path, std::string_view text) {
  Reader reader(path);
  if (auto done = reader.read(text, path, 0); !done) return tl::unexpected(done.error());
  return reader.take();
}

}  // namespace almanac::cluster
