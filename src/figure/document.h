// SPDX-License-Identifier: Apache-2.0

/// \file
/// A report before it is drawn: findings, sections of figures, and where all of it came from. The
/// same shape for a study, a run, a sweep and a comparison of traces; docs/report.md describes it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "figure/figure.h"

namespace almanac::figure {

struct Section {
  std::string id{};
  std::string title{};
  std::string text{};
  std::vector<Figure> figures{};
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

struct Document {
  std::string kind{};  ///< "study", "run", "sweep", "traces", "prediction", "energy".
  std::string title{};
  std::string subtitle{};
  std::vector<std::pair<std::string, std::string>> facts{};  ///< Label and value.
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
