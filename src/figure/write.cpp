// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <utility>

#include "base/check.h"
#include "figure/figure.h"
#include "figure/json.h"
#include "table/csv_writer.h"
#include "table/output_file.h"

namespace almanac::figure {
Result<void> write_csv(table::OutputFile file, const Figure& figure) {
  for (const Column& column : figure.columns) {
    ALMANAC_CHECK(column.size() == figure.rows(), "{}: column {} has {} rows of {}", figure.id,
                  column.name, column.size(), figure.rows());
  }
  table::CsvWriter csv(file);
  for (const Column& column : figure.columns) csv.text(column.name);
  csv.end_row();
  for (std::size_t row = 0; row < figure.rows(); ++row) {
    for (const Column& column : figure.columns) {
      column.type == Type::text ? csv.text(column.texts[row]) : csv.decimal(column.numbers[row]);
    }
    csv.end_row();
  }
  csv.flush();
  return file.commit();
}

Result<void> write_figure(const std::string& folder, const Figure& figure) {
  const std::string stem = (std::filesystem::path(folder) / figure.id).string();
  auto file = table::OutputFile::create(stem + ".csv");
  if (!file) return tl::unexpected(file.error());
  if (auto written = write_csv(std::move(*file), figure); !written) return written;
  return table::write_file(stem + ".json", dumped(to_object(figure), 1) + "\n");
}

}  // namespace almanac::figure
