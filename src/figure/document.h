// SPDX-License-Identifier: Apache-2.0

/// \file
/// A report before it is drawn: findings, sections of figures, and their provenance. Studies, runs,
/// sweeps and comparisons of traces have the same form; docs/guide/report.md describes it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "figure/figure.h"

namespace almanac::figure {

/// A number that a report leads with.
struct Tile {
  std::string label{};   ///< "Recommended policy"
  std::string value{};   ///< "gittins"
  std::string detail{};  ///< One or two sentences.
};

struct Section {
  std::string id{};
  std::string title{};
  std::string text{};
  std::vector<Figure> figures{};
  bool leads = false;  ///< The page shows it before the findings.
};

/// A figure that the input does not allow, and what it lacks.
struct Absent {
  std::string id{};
  std::string title{};
  std::string needs{};
};

struct Provenance {
  std::string trace{};
  std::string sha256{};
  std::string filter{};    ///< "" for every job.
  std::int64_t jobs = -1;  ///< Below 0: it was not made of jobs.
  std::string hash{};      ///< Hash of everything that determines the content.
  std::string version{};
  std::string command{};
};

/// Policies that figures compare. The page draws the named ones until the reader picks others.
struct Compared {
  struct Policy {
    std::string name{};
    std::string caution{};  ///< Why it cannot be chosen; "" if it can.
  };
  std::vector<Policy> policies{};
  std::string baseline{};
  /// Best of all complete ones; "" for none.
  std::string best{};
  std::string best_choice{};  ///< The recommended policy; "" for none.
};

struct Document {
  /// "study", "run", "sweep", "runs", "traces", "prediction", "energy".
  std::string kind{};
  std::string title{};
  std::string subtitle{};
  std::vector<std::pair<std::string, std::string>> facts{};  ///< Label and value.
  Compared compared{};
  std::vector<Tile> tiles{};
  std::vector<Finding> findings{};
  std::vector<Section> sections{};
  std::vector<Absent> absent{};
  std::vector<std::string> notes{};
  Provenance provenance{};
};

/// The document as JSON, schema 1, on one line. Text that is not UTF-8 is mended.
std::string to_json(const Document& document);

/// The findings and the list of figures without their data, as JSON with indentation.
std::string contents_json(const Document& document);

}  // namespace almanac::figure
