// SPDX-License-Identifier: Apache-2.0
#include "site/records.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "cluster/slurm_words.h"

namespace almanac::site {
namespace {

using cluster::in_lower_case;
using cluster::take_line;
using cluster::without_blanks;

/// Adds the pairs of a line. A key begins with a capital; what follows a value belongs to it.
void add_fields(std::string_view line, Record& record, std::string*& last) {
  for (const std::string_view word : cluster::words_in(line)) {
    const auto equals = word.find('=');
    const bool is_key =
        equals != std::string_view::npos && equals > 0 &&
        std::isupper(static_cast<unsigned char>(word.front())) != 0 &&
        std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                    [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '/'; });
    if (is_key) {
      last = &record.fields[in_lower_case(word.substr(0, equals))];
      *last = word.substr(equals + 1);
    } else if (last != nullptr) {
      last->append(last->empty() ? "" : " ").append(word);
    }
  }
}

/// A column: its key, and where it is in a row that is not parted by bars.
struct Column {
  std::string key{};
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::string key_of(std::string_view header) {
  std::string made = in_lower_case(without_blanks(header));
  std::erase(made, ' ');
  return made;
}

bool is_of_dashes(std::string_view line) {
  return !without_blanks(line).empty() &&
         line.find_first_not_of("- \t\r") == std::string_view::npos &&
         line.find('-') != std::string_view::npos;
}

std::vector<std::string_view> parted(std::string_view line) {
  std::vector<std::string_view> made;
  for (;;) {
    const auto bar = line.find('|');
    made.push_back(line.substr(0, bar));
    if (bar == std::string_view::npos) return made;
    line.remove_prefix(bar + 1);
  }
}

std::string_view without_end(std::string_view text) {
  const auto end = text.find_last_not_of(" \t\r");
  return end == std::string_view::npos ? std::string_view{} : text.substr(0, end + 1);
}

class Table {
 public:
  /// The columns of a header, with the line of dashes below it; empty if they are parted by bars.
  Table(std::string_view header, std::string_view dashes) {
    if (dashes.empty()) {
      for (const std::string_view each : parted(without_end(header))) {
        columns_.push_back({key_of(each)});
      }
      return;
    }
    is_ruled_ = true;
    for (std::size_t at = dashes.find('-'); at != std::string_view::npos;) {
      const std::size_t end = std::min(dashes.find_first_not_of('-', at), dashes.size());
      columns_.push_back({"", at, end});
      at = dashes.find('-', end);
    }
    for (Column& each : columns_) {
      const std::size_t begin = std::min(each.begin, header.size());
      each.key = key_of(header.substr(begin, each.end - begin));
    }
  }

  Result<Record> row(std::string_view line, Where where) const {
    Record made{.where = std::move(where)};
    if (is_ruled_) {
      for (const Column& each : columns_) {
        const std::size_t begin = std::min(each.begin, line.size());
        made.fields[each.key] = without_end(line.substr(begin, each.end - begin));
      }
      // Leading blanks of an account are its depth; others are flush right.
      for (auto& [key, value] : made.fields) {
        if (key != "account") value = without_blanks(value);
      }
      return made;
    }
    std::vector<std::string_view> values = parted(without_end(line));
    // With -p a row ends with a bar.
    if (values.size() == columns_.size() + 1 && values.back().empty()) values.pop_back();
    // The text of a reason may have a bar.
    if (values.size() > columns_.size() && columns_.back().key == "reason") {
      const char* const begin = values[columns_.size() - 1].data();
      values.resize(columns_.size());
      values.back() = {begin, static_cast<std::size_t>(line.data() + line.size() - begin)};
    }
    // A header that ends with a bar has a column without a name.
    const std::size_t named = columns_.size() - (columns_.back().key.empty() ? 1 : 0);
    if (values.size() > columns_.size() || values.size() < named) {
      return fail(Code::invalid,
                  fmt::format("a row must have {} fields as the header has, found {}: \"{}\"",
                              columns_.size(), values.size(), line.substr(0, 60)),
                  made.where, "write the file again with -P");
    }
    for (std::size_t at = 0; at < values.size(); ++at) {
      made.fields[columns_[at].key] = without_end(values[at]);
    }
    return made;
  }

 private:
  std::vector<Column> columns_;
  bool is_ruled_ = false;
};

}  // namespace

std::vector<Record> scontrol_records(const std::string& path, std::string_view text,
                                     std::string_view key) {
  std::vector<Record> made;
  std::string* last = nullptr;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    const std::string_view trimmed = without_blanks(line);
    if (trimmed.starts_with(key) && trimmed.substr(key.size()).starts_with('=')) {
      made.push_back({.first = in_lower_case(key), .where = {path, number}});
      last = nullptr;
    }
    if (trimmed.empty()) last = nullptr;
    if (!made.empty()) add_fields(line, made.back(), last);
  }
  return made;
}

Result<std::vector<Record>> table_rows(const std::string& path, std::string_view text) {
  std::vector<std::pair<std::string_view, std::int64_t>> lines;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (!without_blanks(line).empty()) lines.emplace_back(line, number);
  }
  std::size_t header = 0;
  const auto is_ruled = [&] {
    return header + 1 < lines.size() && is_of_dashes(lines[header + 1].first);
  };
  while (header < lines.size() && !is_ruled() &&
         lines[header].first.find('|') == std::string_view::npos) {
    ++header;
  }
  if (header == lines.size()) {
    return fail(Code::invalid, "no line has the names of columns", {path, 1},
                "write the file again with -P and without -n");
  }
  const Table table(lines[header].first, is_ruled() ? lines[header + 1].first : "");
  std::vector<Record> made;
  for (std::size_t at = header + (is_ruled() ? 2 : 1); at < lines.size(); ++at) {
    auto row = table.row(lines[at].first, {path, lines[at].second});
    if (!row) return tl::unexpected(row.error());
    made.push_back(std::move(*row));
  }
  return made;
}

}  // namespace almanac::site
