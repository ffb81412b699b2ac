// SPDX-License-Identifier: Apache-2.0
#include "trace/sacct_layout.h"

#include <algorithm>
#include <utility>

namespace almanac::trace {
namespace {

using Cells = std::vector<std::string_view>;

// A record with more is refused: how many ways it reads in takes too long to find out.
constexpr std::size_t kMostSurplus = 500;

std::string_view trim(std::string_view cell) {
  while (!cell.empty() && cell.front() == ' ') cell.remove_prefix(1);
  while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\r')) cell.remove_suffix(1);
  return cell;
}

/// Names that the site gives; users are not among them.
bool is_site_name(const SacctColumn& column) {
  return column.kind == SacctKind::word && column.name != "User" && column.name != "Group";
}

}  // namespace

/// The ways to give the tokens of a record to its columns, one after the other: a column takes one
/// token, or several if it can hold the delimiter.
class SacctLayout::Search {
 public:
  using Needs = bool (*)(const SacctColumn&);

  /// With `known`, the columns that `needs` names must have a value of other rows.
  Search(const SacctLayout& layout, const Cells& tokens, const SacctVocabulary* known, Needs needs)
      : layout_(layout),
        tokens_(tokens),
        known_(known),
        needs_(needs),
        count_(layout.columns_.size()),
        surplus_(tokens.size() - count_),
        is_job_(layout.is_job(tokens)),
        from_left_(count_ + 1, std::vector<bool>(surplus_ + 1)),
        from_right_(count_ + 1, std::vector<bool>(surplus_ + 1)) {
    from_left_[0][0] = true;
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t used = 0; used <= surplus_; ++used) {
        if (!from_left_[i][used]) continue;
        for (std::size_t more = 0; used + more <= surplus_; ++more) {
          if (can_take(i, used, more)) from_left_[i + 1][used + more] = true;
        }
      }
    }
    from_right_[count_][surplus_] = true;
    for (std::size_t i = count_; i-- > 0;) {
      for (std::size_t used = 0; used <= surplus_; ++used) {
        for (std::size_t more = 0; used + more <= surplus_ && !from_right_[i][used]; ++more) {
          from_right_[i][used] = from_right_[i + 1][used + more] && can_take(i, used, more);
        }
      }
    }
  }

  Fit take(Cells& cells) const {
    if (!from_right_[0][0]) return Fit::none;
    Cells found;
    std::size_t used = 0;
    bool unique = true;
    for (std::size_t i = 0; i < count_; ++i) {
      std::size_t more = 0;
      while (!(from_right_[i + 1][used + more] && can_take(i, used, more))) ++more;
      found.push_back(cell(i, used, more));
      unique = unique && (!layout_.used_[i] || is_same_everywhere(i, found.back()));
      used += more;
    }
    if (!unique) return Fit::ambiguous;
    cells = std::move(found);
    return Fit::good;
  }

 private:
  std::string_view cell(std::size_t i, std::size_t used, std::size_t more) const {
    const std::string_view first = tokens_[i + used];
    const std::string_view last = tokens_[i + used + more];
    const auto size = static_cast<std::size_t>(last.data() + last.size() - first.data());
    return trim({first.data(), size});
  }

  /// Whether column `i` can take `more` tokens beyond one when `used` are taken to the left of it.
  bool can_take(std::size_t i, std::size_t used, std::size_t more) const {
    const SacctColumn& column = layout_.columns_[i];
    if (more > 0 && !can_hold_delimiter(column.kind)) return false;
    const std::string_view text = cell(i, used, more);
    if (!fits(column.kind, text)) return false;
    if (text.empty() && column.filled != SacctFilled::any &&
        (is_job_ || column.filled == SacctFilled::all)) {
      return false;
    }
    return known_ == nullptr || text.empty() || !needs_(column) || (*known_)[i].contains(text);
  }

  bool is_same_everywhere(std::size_t i, std::string_view text) const {
    for (std::size_t used = 0; used <= surplus_; ++used) {
      if (!from_left_[i][used]) continue;
      for (std::size_t more = 0; used + more <= surplus_; ++more) {
        if (from_right_[i + 1][used + more] && can_take(i, used, more) &&
            cell(i, used, more) != text) {
          return false;
        }
      }
    }
    return true;
  }

  const SacctLayout& layout_;
  const Cells& tokens_;
  const SacctVocabulary* known_;
  Needs needs_;
  std::size_t count_;
  std::size_t surplus_;
  bool is_job_;
  // For each column and count of surplus tokens before it: whether the columns on that side fit.
  std::vector<std::vector<bool>> from_left_;
  std::vector<std::vector<bool>> from_right_;
};

SacctLayout::SacctLayout(std::vector<SacctColumn> columns, std::vector<bool> used,
                         std::string delimiter)
    : columns_(std::move(columns)), used_(std::move(used)), delimiter_(std::move(delimiter)) {}

void SacctLayout::tokenize(std::string_view record, Cells& tokens) const {
  tokens.clear();
  for (std::size_t at = 0;;) {
    const auto end = record.find(delimiter_, at);
    tokens.push_back(trim(record.substr(at, end == std::string_view::npos ? end : end - at)));
    if (end == std::string_view::npos) return;
    at = end + delimiter_.size();
  }
}

SacctLayout::Fit SacctLayout::split(std::string_view record, Cells& cells) const {
  tokenize(record, cells);
  if (cells.size() < columns_.size()) return Fit::few;
  if (cells.size() == columns_.size()) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!fits(columns_[i].kind, cells[i])) return Fit::odd;
    }
    return Fit::good;
  }
  if (cells.size() - columns_.size() > kMostSurplus) return Fit::none;
  const Cells tokens = cells;
  return Search(*this, tokens, nullptr, nullptr).take(cells);
}

SacctLayout::Fit SacctLayout::split(std::string_view record, const SacctVocabulary& known,
                                    Cells& cells) const {
  tokenize(record, cells);
  const Cells tokens = cells;
  const auto search = [&](Search::Needs needs) {
    return Search(*this, tokens, &known, needs).take(cells);
  };
  const Fit by_names =
      search([](const SacctColumn& column) { return column.kind == SacctKind::word; });
  return by_names == Fit::none ? search(is_site_name) : by_names;
}

void SacctLayout::learn(const Cells& cells, SacctVocabulary& known) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].kind == SacctKind::word && !known[i].contains(cells[i]))
      known[i].emplace(cells[i]);
  }
}

/// Whether the row is that of a job rather than of a step; false where that is not sure.
bool SacctLayout::is_job(const Cells& tokens) const {
  for (std::size_t i = 0; i < columns_.size() && !can_hold_delimiter(columns_[i].kind); ++i) {
    if (columns_[i].kind == SacctKind::id) return !is_step(tokens[i]);
  }
  return false;
}

std::vector<std::string_view> SacctLayout::suspects() const {
  std::vector<std::string_view> names;
  for (const SacctColumn& column : columns_) {
    if (can_hold_delimiter(column.kind)) names.push_back(column.name);
  }
  return names;
}

}  // namespace almanac::trace
