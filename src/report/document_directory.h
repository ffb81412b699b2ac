// SPDX-License-Identifier: Apache-2.0

/// \file
/// Writes a report to disk: a page to read, and its numbers for other programs.
#pragma once

#include <string>

#include "base/result.h"
#include "figure/document.h"

namespace almanac::report {

/// Creates the folder, or removes an earlier report of this kind from it. `<kind>.json` lists the
/// files of that report; other files stay. Fails with conflict if the folder is not empty and has
/// no such report, and with unavailable if it cannot be created or cleared.
Result<void> open_document_directory(const std::string& folder, const std::string& kind);

/// Writes `<id>.csv` and `<id>.json` of each figure, report.html if this build has a page, and
/// finally `<kind>.json`, which lists findings and figures.
Result<void> write_document(const std::string& folder, const figure::Document& document);

/// Writes `<folder>/report.html`; does nothing if this build has no page.
Result<void> write_page(const std::string& folder, const figure::Document& document);

}  // namespace almanac::report
