// SPDX-License-Identifier: Apache-2.0
#include "table/csv_reader.h"

#define CSV_IO_NO_THREAD
#include <algorithm>
#include <cstring>
#include <utility>

#include <csv.h>
#include <fmt/format.h>

#include "table/stream.h"

namespace almanac::table {
namespace {

// Longer than this, a quote was forgotten rather than opened.
constexpr std::size_t kLongestRecord = std::size_t{1} << 20;

template <class Trim, class Quote>
void split(char* line, std::vector<std::string_view>& fields) {
  for (bool last = false; !last;) {
    char* begin = line;
    char* end = begin + (Quote::find_next_column_end(begin) - begin);
    last = *end == '\0';
    line = end + 1;
    Trim::trim(begin, end);
    Quote::unescape(begin, end);
    fields.emplace_back(begin, static_cast<std::size_t>(end - begin));
  }
}

template <char delimiter>
constexpr auto kQuoted = &split<io::trim_chars<' '>, io::double_quote_escape<delimiter, '"'>>;

bool is_blank(const char* line) { return line[std::strspn(line, " \t")] == '\0'; }

bool has_open_quote(const char* line) {
  bool open = false;
  for (const char* quote = line; (quote = std::strchr(quote, '"')) != nullptr; ++quote) {
    open = !open;
  }
  return open;
}

}  // namespace

char delimiter_of(std::string_view header) {
  char found = ',';
  std::ptrdiff_t most = 0;
  for (const char each : {',', ';', '\t', '|'}) {
    std::ptrdiff_t count = 0;
    bool quoted = false;
    for (const char letter : header) {
      if (letter == '"') quoted = !quoted;
      count += letter == each && !quoted ? 1 : 0;
    }
    if (count > most) {
      most = count;
      found = each;
    }
  }
  return found;
}

CsvReader::CsvReader(Lines lines, char delimiter) : lines_(std::move(lines)), quotes_(true) {
  switch (delimiter) {
    case ';':
      split_ = kQuoted<';'>;
      break;
    case '\t':
      split_ = kQuoted<'\t'>;
      break;
    case '|':
      split_ = &split<io::trim_chars<' '>, io::no_quote_escape<'|'>>;
      quotes_ = false;
      break;
    default:
      split_ = kQuoted<','>;
  }
}

Result<CsvReader> CsvReader::open(const std::string& path, char delimiter) {
  auto lines = Lines::open(path);
  if (!lines) return tl::unexpected(std::move(lines.error()));
  CsvReader reader(std::move(*lines), delimiter);
  const auto record = reader.next_record();
  if (!record) return tl::unexpected(record.error());
  if (*record == nullptr) return fail(Code::corrupt, "the file is empty", {path});
  reader.split_(*record, reader.fields_);
  reader.header_.assign(reader.fields_.begin(), reader.fields_.end());

  auto sorted = reader.header_;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end() && !twice->empty()) {
    return fail(Code::invalid, fmt::format("the header names a column twice: \"{}\"", *twice),
                reader.where());
  }
  return reader;
}

Result<CsvReader> CsvReader::open_any(const std::string& path) {
  constexpr std::size_t kLongestHeader = std::size_t{64} << 10;
  const auto head = read_head(path, kLongestHeader);
  if (!head) return tl::unexpected(head.error());
  std::string_view line = *head;
  line.remove_prefix(std::min(line.find_first_not_of("\r\n \t"), line.size()));
  return open(path, delimiter_of(line.substr(0, line.find('\n'))));
}

Result<bool> CsvReader::next() {
  const auto record = next_record();
  if (!record) return tl::unexpected(record.error());
  if (*record == nullptr) return false;
  fields_.clear();
  split_(*record, fields_);
  if (fields_.size() != header_.size()) {
    return fail(Code::invalid,
                fmt::format("a row must have as many fields as the header ({}), found {}",
                            header_.size(), fields_.size()),
                where());
  }
  return true;
}

/// The next line that is not blank, with those that its quotes reach into; nullptr at the end.
Result<char*> CsvReader::next_record() {
  Result<char*> line = nullptr;
  do {
    line = lines_.next();
    if (!line || *line == nullptr) return line;
  } while (is_blank(*line));
  line_ = lines_.line();
  if (!quotes_ || !has_open_quote(*line)) return line;

  joined_ = *line;
  while (joined_.size() < kLongestRecord) {
    line = lines_.next();
    if (!line) return line;
    if (*line == nullptr) break;
    const bool closes = has_open_quote(*line);
    joined_ += '\n';
    joined_ += *line;
    if (closes) return joined_.data();
  }
  return fail(Code::corrupt, "a quote is opened and never closed", where());
}

}  // namespace almanac::table
