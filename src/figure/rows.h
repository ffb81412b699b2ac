// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rows of an answer. Columns are declared once, each with a name, a label and a getter; the table,
/// the CSV and the JSON are printed from the same cells.
///
///   figure::Rows rows(jobs);
///   rows.add("job_id", "JOBID", &Job::id);
///   rows.add("submit_s", "SUBMIT", [&](const Job& job) {
///         return figure::Cell(job.submit, clock_text(job.submit, now));
///       }).detail();
///   fmt::print("{}", rows.table({.width = 80}));
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "table/output_file.h"

namespace almanac::figure {

/// A value of one type, and optionally how tables show it. Files carry the value: times and
/// durations in seconds, nothing as an empty field or null.
class Cell {
 public:
  using Value =
      std::variant<std::monostate, bool, std::int64_t, double, std::string, Time, Duration>;

  /// Unknown or missing.
  Cell() = default;
  static Cell nothing(std::string shown) {
    Cell made;
    made.shown_ = std::move(shown);
    return made;
  }
  Cell(bool value) : value_(value) {}
  template <std::integral T>
  Cell(T value) : value_(static_cast<std::int64_t>(value)) {}
  /// NaN is nothing.
  Cell(double value) {
    if (!std::isnan(value)) value_ = value;
  }
  Cell(std::string value) : value_(std::move(value)) {}
  Cell(std::string_view value) : value_(std::string(value)) {}
  Cell(const char* value) : value_(std::string(value)) {}
  /// kNoTime and kNoDuration are nothing.
  Cell(Time value) {
    if (value != kNoTime) value_ = value;
  }
  Cell(Duration value) {
    if (value != kNoDuration) value_ = value;
  }
  template <typename T>
  Cell(const std::optional<T>& value) {
    if (value) *this = Cell(*value);
  }
  /// Tables show `shown`.
  template <typename T>
  Cell(T&& value, std::string shown) : Cell(std::forward<T>(value)) {
    shown_ = std::move(shown);
  }

  const Value& value() const { return value_; }
  /// The text for a table: what was given, else the value as usual; "-" for nothing.
  std::string text() const;
  /// Whether tables print it bold if they can.
  bool is_strong() const { return is_strong_; }
  Cell& strong(bool is = true) {
    is_strong_ = is;
    return *this;
  }

 private:
  Value value_{};
  std::optional<std::string> shown_{};
  bool is_strong_ = false;
};

/// Formats a number with this many decimals and a unit, "12.5 GB"; "-" for NaN.
struct Decimals {
  int digits = 0;
  std::string_view unit{};
  std::string operator()(double value) const;
};
/// Formats a fraction as a percentage with this many decimals: 0.613 as "61.3 %".
struct Percents {
  int digits = 1;
  std::string operator()(double share) const;
};
/// Shows values as Cell::text() does.
struct Plain {};

/// How much a column matters in a table.
enum class Tier : std::uint8_t {
  key,     ///< Always there.
  usual,   ///< Left out when the keys and the rest do not fit.
  detail,  ///< Left out first.
  wide,    ///< Only in a wide table.
  data,    ///< Only in files, and when named.
};

struct TableForm {
  bool wide = false;  ///< All columns but those of files.
  bool header = true;
  bool colour = false;  ///< Strong cells are bold.
  /// Letters of a line. A table that is not wide leaves columns out, those that matter least and
  /// stand furthest right first; lines that are still too long are cut.
  std::size_t width = std::numeric_limits<std::size_t>::max();
};

/// Columns of equally many cells.
class Listing {
 public:
  /// A column; methods change it and return it.
  struct Column {
    std::string name{};   ///< "submit_s": in CSV, in JSON and on the command line.
    std::string label{};  ///< "SUBMIT": over a table.
    Tier tier = Tier::usual;
    bool is_file_column = true;      ///< False: only tables have it.
    std::optional<bool> is_right{};  ///< Nothing: by whether its values are numbers.
    int digits = 0;                  ///< Significant digits in CSV; 0 for all.
    std::vector<Cell> cells{};

    Column& in(Tier where) { return tier = where, *this; }
    Column& key() { return in(Tier::key); }
    Column& detail() { return in(Tier::detail); }
    Column& wide() { return in(Tier::wide); }
    Column& data() { return in(Tier::data); }
    Column& table_only() { return is_file_column = false, *this; }
    Column& left() { return is_right = false, *this; }
    Column& right() { return is_right = true, *this; }
    Column& significant(int most) { return digits = most, *this; }
  };

  /// Adds a column without cells.
  Column& column(Tier tier, std::string name, std::string label);
  std::size_t size() const { return columns_.empty() ? 0 : columns_.front().cells.size(); }

  /// Sorts rows by the column called `field`, descending for "-field"; rows without a value come
  /// last. Fails with usage for an unknown field.
  Result<void> sort(const std::string& field);
  /// Leaves the columns called `fields`, in this order, for tables and files alike. Fails with
  /// usage for an unknown field.
  Result<void> choose(const std::vector<std::string>& fields);
  /// Leaves the first `most` rows.
  void cut(std::size_t most);

  /// Lines with two spaces between columns and none at the end.
  std::string table(const TableForm& form = {}) const;
  /// A line on what table() leaves out of usual columns and cuts off; "" = nothing.
  std::string shortening(const TableForm& form) const;
  Result<void> write_csv(table::OutputFile file, bool header = true) const;
  /// An array of objects.
  std::string json() const;

  const std::vector<Column>& columns() const { return columns_; }

 private:
  struct Shown;
  struct Layout;

  Result<std::size_t> find(const std::string& field) const;
  std::vector<const Column*> shown(bool wide) const;
  Layout lay_out(const TableForm& form) const;

  std::vector<Column> columns_;
  bool is_chosen_ = false;
};

/// A listing that is filled from rows of one type, which must outlive the calls of add().
template <typename Row>
class Rows : public Listing {
 public:
  explicit Rows(const std::vector<Row>& rows) : rows_(rows) {}
  explicit Rows(std::span<const Row> rows) : rows_(rows) {}

  /// Adds a column of what `get` makes of each row: a Cell, or what a Cell is made of. Tables show
  /// what `show` makes of that.
  template <typename Get, typename Show = Plain>
  Column& add(Tier tier, std::string name, std::string label, const Get& get,
              const Show& show = {}) {
    Column& made = column(tier, std::move(name), std::move(label));
    made.cells.reserve(rows_.size());
    for (const Row& row : rows_) {
      if constexpr (std::is_same_v<Show, Plain>) {
        made.cells.push_back(Cell(std::invoke(get, row)));
      } else {
        const auto& value = std::invoke(get, row);
        made.cells.push_back(Cell(value, show(value)));
      }
    }
    return made;
  }
  /// Same with the name as the label.
  template <std::invocable<const Row&> Get, typename Show = Plain>
  Column& add(Tier tier, const std::string& name, const Get& get, const Show& show = {}) {
    return add(tier, name, name, get, show);
  }
  /// A usual column; the first is a key.
  template <typename... Rest>
  Column& add(std::string name, const Rest&... rest) {
    return add(columns().empty() ? Tier::key : Tier::usual, std::move(name), rest...);
  }

 private:
  std::span<const Row> rows_;
};

}  // namespace almanac::figure
