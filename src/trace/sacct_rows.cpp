// SPDX-License-Identifier: Apache-2.0
#include "trace/sacct_rows.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trace/sacct_states.h"

namespace almanac::trace {
namespace {

using Fit = SacctLayout::Fit;

// A record that is longer, or has more lines, is none: something was cut off.
constexpr std::size_t kLongestRecord = std::size_t{1} << 18;
constexpr std::size_t kMostLines = 2000;
constexpr std::size_t kFewestKnown = 3;  // three names in common are chance

bool is_known(std::string_view name) { return sacct_column(name).name.data() != name.data(); }

bool is_letter(unsigned char c) { return std::isalnum(c) != 0; }

std::vector<std::string> split_names(std::string_view line, std::string_view delimiter) {
  std::vector<std::string> names;
  for (std::size_t at = 0;;) {
    const auto end = line.find(delimiter, at);
    std::string_view name = line.substr(at, end == std::string_view::npos ? end : end - at);
    while (name.ends_with(' ')) name.remove_suffix(1);
    while (name.starts_with(' ')) name.remove_prefix(1);
    names.emplace_back(sacct_column(name).name);
    if (end == std::string_view::npos) return names;
    at = end + delimiter.size();
  }
}

bool is_row_without_header(std::string_view line) {
  const auto names = split_names(line, "|");
  const auto has = [&](SacctKind kind) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& cell) {
      return !cell.empty() && cell != "Unknown" && fits(kind, cell);
    });
  };
  return names.size() > kFewestKnown && fits(SacctKind::id, names.front()) &&
         (has(SacctKind::time) || has(SacctKind::tres));
}

}  // namespace

std::optional<SacctHeader> sacct_header(std::string_view first_line) {
  const auto first = std::find_if_not(first_line.begin(), first_line.end(), is_letter);
  const auto second = std::find_if(first, first_line.end(), is_letter);
  SacctHeader header;
  header.delimiter = std::string(first, second);
  if (header.delimiter.size() > 1 && header.delimiter.front() == '|') header.delimiter = "|";
  if (header.delimiter.empty() || first == first_line.begin()) return std::nullopt;
  const bool is_padded = std::all_of(header.delimiter.begin(), header.delimiter.end(),
                                     [](char c) { return c == ' '; });
  header.names = split_names(first_line, is_padded ? " " : header.delimiter);
  if (is_padded) std::erase(header.names, "");
  const bool has_id = std::any_of(header.names.begin(), header.names.end(), [](const auto& name) {
    return name == "JobID" || name == "JobIDRaw";
  });
  const auto known = std::count_if(header.names.begin(), header.names.end(), [](const auto& name) {
    return !name.empty() && is_known(name);
  });
  // With other delimiters any table may have columns called so.
  const bool is_likely = static_cast<std::size_t>(known) > kFewestKnown &&
                         first_line.find("JobID") != std::string_view::npos;
  if (has_id && (header.delimiter == "|" || is_likely)) {
    if (is_padded) {
      header.trouble =
          "this is sacct's padded table, which cuts values to the width of their columns";
    } else if (header.delimiter == ",") {
      header.trouble =
          "commas separate the columns of this sacct log, and its values contain commas too";
    }
    return header;
  }
  if (is_row_without_header(first_line)) {
    header.trouble = "the header line of sacct is missing";
    return header;
  }
  return std::nullopt;
}

Result<std::unique_ptr<SacctRows>> SacctRows::open(const std::string& path,
                                                   const std::vector<std::string>& used, bool steps,
                                                   std::string command) {
  auto lines = table::Lines::open(path);
  if (!lines) return tl::unexpected(std::move(lines.error()));
  std::string first;
  do {
    const auto line = lines->next();
    if (!line) return tl::unexpected(line.error());
    if (*line == nullptr) return fail(Code::corrupt, "the file is empty", {path});
    first = *line;
  } while (first.find_first_not_of(" \t\r") == std::string::npos);
  const Where where{path, lines->line()};
  const std::size_t indent = first.find_first_not_of(' ');
  auto header = sacct_header(std::string_view(first).substr(indent));
  if (!header) {
    constexpr std::size_t kShown = 60;
    return fail(Code::invalid,
                fmt::format("not a header of sacct -P: \"{}\"", first.substr(0, kShown)), where,
                "print it with " + command);
  }
  if (!header->trouble.empty()) {
    return fail(Code::invalid, header->trouble, where, "print it with " + command);
  }
  auto sorted = header->names;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end() && !twice->empty()) {
    return fail(Code::invalid, fmt::format("the header names a column twice: \"{}\"", *twice),
                where);
  }
  std::unique_ptr<SacctRows> rows(
      new SacctRows(path, std::move(*lines), std::move(*header), used, steps, std::move(command)));
  rows->header_line_ = std::move(first);
  rows->line_ = where.line;
  return rows;
}

SacctRows::SacctRows(std::string path, table::Lines lines, SacctHeader header,
                     const std::vector<std::string>& used, bool steps, std::string command)
    : path_(std::move(path)),
      lines_(std::move(lines)),
      layout_({}, {}, {}),
      command_(std::move(command)),
      steps_(steps) {
  header_ = std::move(header.names);
  std::vector<SacctColumn> columns;
  std::vector<bool> is_used;
  for (const std::string& name : header_) {
    columns.push_back(sacct_column(name));
    is_used.push_back(std::find(used.begin(), used.end(), name) != used.end());
  }
  layout_ = SacctLayout(std::move(columns), std::move(is_used), std::move(header.delimiter));
  // Tasks of arrays have numbers of their own there, which is as good.
  if (!find("JobID")) header_[find("JobIDRaw").value_or(0)] = "JobID";
  id_ = find("JobID").value_or(0);
  state_ = find("State");
  cluster_column_ = find("Cluster");
  scratch_.resize(header_.size());
}

/// The line so many behind the next one; nullptr behind the end.
Result<const SacctRows::Line*> SacctRows::peek(std::size_t ahead) {
  while (ahead_.size() <= ahead) {
    const auto line = lines_.next();
    if (!line) return tl::unexpected(line.error());
    if (*line == nullptr) return nullptr;
    ahead_.push_back({*line, lines_.line()});
  }
  return &ahead_[ahead];
}

/// Whether a line behind a record begins the next one: its cells up to the id are what they must
/// be.
bool SacctRows::begins_record(std::string_view line) const {
  if (line == header_line_) return true;
  std::vector<std::string_view> cells;
  if (layout_.split(line, cells) == Fit::good) return true;
  if (cells.size() <= std::max<std::size_t>(id_, 1)) return false;
  for (std::size_t i = 0; i <= id_; ++i) {
    if (!fits(layout_.columns()[i].kind, cells[i])) return false;
  }
  return true;
}

/// Fills record_ and fields_ from the next line and those behind it that belong to its texts. A
/// line that makes no record alone or with those behind it stands alone.
Result<Fit> SacctRows::read_record() {
  record_ = std::move(ahead_.front().text);
  line_ = ahead_.front().number;
  ahead_.pop_front();
  const auto is_whole = [](Fit fit) { return fit == Fit::good || fit == Fit::ambiguous; };
  const Fit alone = layout_.split(record_, fields_);
  const bool begins_in_text = layout_.columns().front().kind == SacctKind::text;
  const bool ends_in_text = layout_.columns().back().kind == SacctKind::text;
  if (is_whole(alone) && !ends_in_text) return alone;

  std::string text = record_;
  std::size_t taken = 0;
  std::size_t size = record_.size();
  bool whole = is_whole(alone);
  const bool has_delimiter = fields_.size() > 1;
  for (std::size_t i = 0; i < kMostLines && text.size() < kLongestRecord; ++i) {
    const auto line = peek(i);
    if (!line) return tl::unexpected(line.error());
    if (*line == nullptr) break;
    const bool begins = begins_record((*line)->text);
    // The first line of a name may stand before what looks like a record of its own.
    const bool is_name = begins_in_text && !has_delimiter;
    if (begins && (whole || !is_name || ends_in_text)) break;
    text += '\n';
    text += (*line)->text;
    const bool is_blank = (*line)->text.find_first_not_of(" \t\r") == std::string::npos;
    if (!is_blank && is_whole(layout_.split(text, fields_))) {
      whole = true;
      taken = i + 1;
      size = text.size();
    }
    if (begins || (whole && !ends_in_text)) break;
  }
  joined_ += taken > 0 ? 1 : 0;
  ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(taken));
  if (taken > 0) {
    text.resize(size);
    record_ = std::move(text);
  }
  return layout_.split(record_, fields_);
}

bool SacctRows::is_step_row() const {
  for (std::size_t i = 0; i < id_; ++i) {
    if (can_hold_delimiter(layout_.columns()[i].kind) && fields_.size() != header_.size()) {
      return false;
    }
  }
  return fields_.size() > id_ && fits(SacctKind::id, fields_[id_]) && is_step(fields_[id_]);
}

Result<bool> SacctRows::next() {
  for (;;) {
    const auto line = peek(0);
    if (!line) return tl::unexpected(line.error());
    if (*line == nullptr) return false;
    const bool is_header = (*line)->text == header_line_;  // of a log that was put behind another
    if (!is_header && (*line)->text.find_first_not_of(" \t\r") != std::string::npos) break;
    headers_ += is_header ? 1 : 0;
    ahead_.pop_front();
  }
  const auto read = read_record();
  if (!read) return tl::unexpected(read.error());
  Fit fit = *read;
  if (!steps_ && is_step_row()) {
    const std::string_view id = fields_[id_];
    fields_.assign(header_.size(), {});
    fields_[id_] = id;
    return true;
  }
  if (fit == Fit::ambiguous) {
    if (auto learned = learn(); !learned) return tl::unexpected(learned.error());
    fit = layout_.split(record_, *known_, fields_);
    if (fit == Fit::none) fit = Fit::ambiguous;
  }
  // The reader of an odd value reports it with a message of its own.
  if (fit != Fit::good && fit != Fit::odd) return tl::unexpected(refusal(fit));
  const auto delimiters = [&] {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = record_.find(layout_.delimiter(), at)) != std::string::npos;) {
      ++count;
      at += layout_.delimiter().size();
    }
    return count;
  };
  if (fit == Fit::good && delimiters() >= header_.size()) ++mended_;
  take_values();
  if (cluster_column_) {
    if (auto other = cluster_.check(fields_[*cluster_column_], where())) {
      return tl::unexpected(std::move(*other));
    }
  }
  return true;
}

/// Collects what columns have in the rows that read only one way.
Result<void> SacctRows::learn() {
  if (known_) return {};
  known_.emplace(header_.size());
  auto lines = table::Lines::open(path_);
  if (!lines) return tl::unexpected(std::move(lines.error()));
  std::vector<std::string_view> cells;
  for (;;) {
    const auto line = lines->next();
    if (!line) return tl::unexpected(line.error());
    if (*line == nullptr) return {};
    if (layout_.split(*line, cells) == Fit::good && !is_step(cells[id_])) {
      layout_.learn(cells, *known_);
    }
  }
}

Error SacctRows::refusal(Fit fit) const {
  const std::size_t found = fields_.size();
  if (fit == Fit::few || found <= header_.size()) {
    return {Code::invalid,
            fmt::format("a row must have as many fields as the header ({}), found {}",
                        header_.size(), found),
            where()};
  }
  if (fit == Fit::none) {
    return {Code::invalid,
            fmt::format("a row must fit the columns of the header ({}): {} fields do not",
                        header_.size(), found),
            where()};
  }
  return {Code::invalid,
          fmt::format("a row must have only one reading: it has {} \"{}\" too many, in {}; leave "
                      "out these columns or give sacct another --delimiter",
                      found - header_.size(), layout_.delimiter(),
                      fmt::join(layout_.suspects(), " or ")),
          where()};
}

void SacctRows::take_values() {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const SacctColumn& column = layout_.columns()[i];
    std::string_view& cell = fields_[i];
    if (cell.find('\n') != std::string_view::npos) {
      scratch_[i] = cell;
      std::replace(scratch_[i].begin(), scratch_[i].end(), '\n', ' ');
      cell = scratch_[i];
      cell = cell.substr(0, cell.find_last_not_of(' ') + 1);
    }
    cell = value_in(column, cell, scratch_[i]);
  }
  if (!state_ || fields_[*state_].empty()) return;
  std::string_view& state = fields_[*state_];
  if (const auto known = sacct_state(state)) {
    state = *known;
  } else if (fits(SacctKind::state, state)) {
    if (!is_step(fields_[id_])) {
      ++unknown_;
      unknown_states_.emplace(state);
    }
    state = {};
  }
}

std::vector<std::string> SacctRows::notes() const {
  std::vector<std::string> notes;
  const auto note = [&](const char* what, std::int64_t count) {
    if (count > 0) notes.push_back(fmt::format("{}: {}", what, count));
  };
  note("rows with a delimiter inside a text (repaired)", mended_);
  note("rows with a newline inside a text (joined)", joined_);
  note("repeated header lines (left out)", headers_);
  if (unknown_ > 0) {
    notes.push_back(
        fmt::format("jobs whose state does not say how they ended (treated as unknown): {} ({})",
                    unknown_, fmt::join(unknown_states_, ", ")));
  }
  return notes;
}

}  // namespace almanac::trace
