// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any bytes as what Slurm prints: records, or an error with a message. Names of nodes that come
/// out of a list go into one again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "slurm/gres.h"
#include "slurm/read_json.h"
#include "slurm/read_text.h"
#include "text/host_list.h"

namespace {

template <typename T>
void expect_message(const almanac::Result<T>& read) {
  ALMANAC_CHECK(read || !read.error().message.empty(), "an error without a message");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace almanac::slurm;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  expect_message(read_jobs(bytes));
  expect_message(read_nodes(bytes));
  expect_message(read_partitions(bytes));
  expect_message(read_reservations(bytes));
  expect_message(read_licences(bytes));
  expect_message(read_accounting(bytes));
  expect_message(read_release(bytes));
  expect_message(read_trouble(bytes));
  expect_message(partitions_in(bytes));
  expect_message(reservations_in(bytes));
  expect_message(licences_in(bytes));
  config_in(bytes);
  for (const std::string_view row : accounting_rows(bytes, "\x1f")) {
    expect_message(accounting_in(row, "\x1f"));
  }
  if (const auto gres = parse_gres(bytes)) {
    ALMANAC_CHECK(gres->gpus >= 0 && gres->shards >= 0, "{} GPUs, {} shards", gres->gpus,
                  gres->shards);
  }
  if (const auto names = almanac::text::expand_hosts(bytes)) {
    ALMANAC_CHECK(names->size() <= almanac::text::kMostHosts, "{} names", names->size());
    ALMANAC_CHECK(
        names->empty() || almanac::text::expand_hosts(almanac::text::join_hosts(*names)) == *names,
        "names changed");
  }
  return 0;
}
