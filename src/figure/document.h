// SPDX-License-Identifier: Apache-2.0

/// \file
/// A report before it is drawn: findings, sections of figures, and where all of it came from. The
/// same shape for a study, a run, a sweep and a comparison of traces; docs/guide/report.md
/// describes it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "figure/figure.h"

namespace almanac::figure {

/// A number that a report leads with.
struct Tile {
  std::string label{};   ///< "Best deployable policy"
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
  std::string filter{};    ///< "" = every job.
  std::int64_t jobs = -1;  ///< Below 0: it was not made of jobs.
  std::string hash{};      ///< Of all that decides the content.
  std::string version{};
  std::string command{};
};

/// Policies that figures show beside each other. The page draws the named ones until the reader
/// picks others.
struct Compared {
  struct Policy {
    std::string name{};
    std::string caution{};  ///< What keeps it from being chosen; "" = nothing.
  };
  std::vector<Policy> policies{};
  std::string baseline{};
  std::string best{};         ///< Of all that came to their end; "" = none.
  std::string best_choice{};  ///< Of those without a caution; "" = none.
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
