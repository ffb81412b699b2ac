// SPDX-License-Identifier: Apache-2.0

/// \file
/// Where a recipe works: it takes files of the public data from the bench and lays rows on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace almanac::reproduce {

/// What a published number is.
enum class Kind : std::uint8_t {
  figure,       ///< From a paper: a figure, a table, a sentence.
  rerun,        ///< Output of the authors' program, theirs or from running it again.
  second,       ///< From an independent implementation of the rules.
  closed_form,  ///< From a formula.
  measured,     ///< Measured on real machines.
  baseline,     ///< Almanac's own, for lack of anything published.
};
/// "figure", "rerun", "second", "closed form", "measured" or "baseline".
std::string_view name_of(Kind kind);
/// "the authors' program, run again".
std::string_view describe(Kind kind);

/// Files of the public data that a recipe reads.
struct Need {
  /// "golden/ces/*_ces.csv": below the data's folder, `*` within a part of the path. Packed files
  /// (.gz, .zst) count as what is in them, and .jsonl as .json.
  std::string files{};
  std::string from{};  ///< Who published them, and where.
  /// Kind of the numbers published in them, if it is not that of the recipe.
  std::optional<Kind> kind{};
};

/// One number, as published and as we have it.
struct Row {
  std::string what{};  ///< Understood alone: begins with the table or the file that it is of.
  double published = 0;
  double ours = 0;       ///< NaN = there is no result.
  std::string unit{};    ///< "s", "jobs", "%", ""; both numbers are in it.
  std::string remark{};  ///< What to know of this row: "no result: ..." if there is none.
  /// Of the published number; Bench::add() sets it if it is not set.
  std::optional<Kind> kind{};

  double difference() const { return ours - published; }
};

/// What a recipe has made.
struct Outcome {
  std::vector<Row> rows{};
  std::vector<Row> findings{};       ///< Ours alone: nothing is published, which is NaN there.
  std::vector<std::string> notes{};  ///< What a reader of the rows should know, in sentences.
  std::vector<Need> absent{};        ///< What no file was there for.
  std::vector<Error> malformed{};    ///< One a file; it has no rows.
};

/// What is wrong with a file. The reader that throws it need not know its file and line: `each`
/// and the readers of reproduce/read.h add them.
struct Malformed {
  Error error;
};

/// The remark of a row without a result.
std::string no_result(const Error& error);

/// Throws Malformed unless `holds`.
void require(bool holds, std::string_view message);

/// What a parser says, without its own number of the fault: "type must be number, but is string".
std::string said(const std::exception& wrong);

/// A file of the public data.
struct File {
  std::string path;  ///< To open it.
  std::string name;  ///< "golden/ces/earth_ces.csv": below the data's folder.
  std::string stem;  ///< "earth_ces": without the endings.
};

class Bench {
 public:
  /// `folder` holds the public data, `data/` and `golden/`; `kind` is that of rows added outside of
  /// each(). `done`, if not null, receives the fraction of the needed files that has been read.
  Bench(std::string folder, std::vector<Need> needs, Kind kind,
        std::atomic<double>* done = nullptr);

  /// Calls `work` for each file of `pattern`, which must be one of the needs, sorted by name;
  /// READMEs are none. Rows that `work` adds are of the kind of that need. A malformed file is
  /// reported without rows, and the next one goes on. That there is none is reported too.
  void each(std::string_view pattern, const std::function<void(const File&)>& work);

  /// Returns the file `name` (packed or not) of the data's folder, "data/mig/profiles.csv"; nothing
  /// if it is not there.
  std::optional<File> find(std::string_view name) const;
  /// Returns the file `name` (packed or not) of the folder of `file`; throws Malformed if it is not
  /// there.
  File beside(const File& file, std::string_view name) const;

  /// Adds a row of the comparison. Without a published number it becomes a finding.
  void add(Row row);
  /// The same in order of what, published, ours, unit.
  void add(std::string what, double published, double ours, std::string unit = "");
  /// Adds the mean of many numbers, and the largest difference (published 0) between two of them.
  void add_column(const std::string& what, std::span<const double> published,
                  std::span<const double> ours, const std::string& unit);
  /// Adds how many of a kind differ (published 0).
  void add_mismatches(std::string what, std::size_t differ);
  void note(std::string sentence) { outcome_.notes.push_back(std::move(sentence)); }

  Outcome outcome() && { return std::move(outcome_); }

 private:
  std::vector<File> files(std::string_view pattern) const;

  std::string folder_;
  std::vector<Need> needs_;
  Kind kind_;  // of the rows to come
  std::atomic<double>* done_;
  double files_ = 0;  // that are needed
  double gone_through_ = 0;
  Outcome outcome_;
};

}  // namespace almanac::reproduce
