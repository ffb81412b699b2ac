// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "fuzz/trace_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  almanac::fuzz::read_trace_bytes("acme", {reinterpret_cast<const char*>(data), size});
  return 0;
}
