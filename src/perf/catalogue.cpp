// SPDX-License-Identifier: Apache-2.0
#include "perf/catalogue.h"

#include <algorithm>

namespace almanac::perf {
namespace {

template <typename List, typename Is>
auto find_in(const List& list, Is is) -> decltype(&list.front()) {
  const auto found = std::find_if(list.begin(), list.end(), is);
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

const Board* Model::find(std::string_view gpu_type) const {
  return find_in(boards, [&](const Board& board) { return board.gpu_type == gpu_type; });
}

const Model* Catalogue::find(std::string_view name) const {
  return find_in(models, [&](const Model& model) { return model.name == name; });
}

const GpuClass* Catalogue::find_gpu(std::string_view type) const {
  return find_in(gpus, [&](const GpuClass& gpu) { return gpu.type == type; });
}

}  // namespace almanac::perf
