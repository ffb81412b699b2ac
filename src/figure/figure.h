// SPDX-License-Identifier: Apache-2.0

/// \file
/// A report consists of figures: a table, and charts that say how its columns are drawn. The
/// numbers exist once; CSV, JSON and the page all use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "table/output_file.h"

namespace almanac::figure {

/// The unit of a column's numbers, which determines how the page shows them.
enum class Unit : std::uint8_t {
  none,
  seconds,   ///< Lengths of time.
  fraction,  ///< 0 to 1.
  percent,   ///< 0 to 100.
  points,    ///< A difference of two fractions: 0.01 is one percentage point.
  jobs,
  gpus,
  gpu_seconds,
  cpu_seconds,
  users,
  nodes,
  ratio,
};

/// Returns the spelling in documents: "s", "fraction", "gpu_s"; "" without a unit.
std::string to_string(Unit unit);

enum class Type : std::uint8_t { number, text, time };

/// A column; its name carries the unit, as in every file of ours.
struct Column {
  std::string name{};   ///< "duration_s": in CSV and JSON.
  std::string label{};  ///< "Run time": on the page.
  Unit unit = Unit::none;
  Type type = Type::number;
  /// A text column with the unit of each row instead; "" for none.
  std::string units{};
  std::string better{};              ///< Whether "less" or "more" is better; "" for neither.
  bool detail = false;               ///< Shown on request only.
  std::vector<double> numbers{};     ///< Of a number or time column (s since the epoch); NaN if
                                     ///< missing.
  std::vector<std::string> texts{};  ///< Of a text column.

  Column& add(double value) {
    numbers.push_back(value);
    return *this;
  }
  Column& add(std::string value) {
    texts.push_back(std::move(value));
    return *this;
  }
  std::size_t size() const { return type == Type::text ? texts.size() : numbers.size(); }
};

/// A published curve, drawn next to ours: facts with a source.
struct Reference {
  std::string name{};
  std::vector<double> x{};
  std::vector<double> y{};
};

/// How columns become a picture; docs/guide/report.md describes every member.
struct Chart {
  /// Columns that bound an interval of `y`.
  struct Band {
    std::string low{}, high{};
  };
  /// Box columns of a box chart.
  struct Box {
    std::string low{}, q1{}, median{}, q3{}, high{}, mean{};
  };
  /// "line", "step", "bar", "points", "interval", "box", "heatmap", "gantt".
  std::string kind{};
  std::string title{};
  std::string x{};
  std::vector<std::string> y{};
  std::string by{};                   ///< A text column: one series for each of its values.
  std::vector<std::string> choose{};  ///< Text columns: the reader picks one of their values.
  bool stacked = false;
  bool sorted = false;  ///< Bars rise with the first of `y`.
  std::string x_scale = "linear";
  std::string y_scale = "linear";
  std::vector<std::string> right{};  ///< Drawn against an axis on the right.
  std::string labels{};
  /// For points: a text column; rows with a text are drawn hollow.
  std::string hollow{};
  std::string zeros{};  ///< Name of values of 0 on a logarithmic `x`: "Jobs that did not wait".
  std::optional<Box> box{};
  std::optional<Band> band{};
  std::string value{};  ///< Of a heat map's cell.
  std::string end{};    ///< Of a Gantt chart's bar.
  std::vector<Reference> references{};
};

/// Columns are added first and filled row by row; references to them stay valid.
struct Figure {
  std::string id{};  ///< "helios_fig1a": its files are called so.
  std::string title{};
  std::string caption{};            ///< What is shown, of which jobs, by which definition.
  std::string source{};             ///< "Hu et al., SC'21, Figure 1(a)"; "" for our own.
  std::optional<std::int64_t> n{};  ///< Jobs (or samples) behind it.
  /// Text column whose rows are compared, so that the reader may pin one; "" for none.
  std::string compared{};
  std::deque<Column> columns{};
  std::vector<Chart> charts{};

  Column& number(std::string name, std::string label, Unit unit = Unit::none);
  Column& text(std::string name, std::string label);
  Column& time(std::string name, std::string label);
  std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
  /// The column called `name`, which must be there.
  const Column& operator[](std::string_view name) const;
};

/// A sentence with a number in it, and what to do about it.
struct Finding {
  std::string headline{};
  std::string detail{};
  std::string figure{};  ///< Id of the figure that shows it; "" for none.
  std::string advice{};  ///< "" for none.
  /// Result of published studies; "" for none. Studies list it separately.
  std::string published{};
};

/// Writes the columns as CSV to `file` and commits it. Columns must be of one length.
Result<void> write_csv(table::OutputFile file, const Figure& figure);

/// Writes `<folder>/<id>.csv` and `<folder>/<id>.json`, each wholly or not at all. Columns must be
/// of one length.
Result<void> write_figure(const std::string& folder, const Figure& figure);

}  // namespace almanac::figure
