# embed_presets(room): compiles the files of presets/ into a room, as presets() of
# trace/workload_preset.h, so that an installed program finds them from anywhere.
function(embed_presets room)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/presets/*.toml)
  list(SORT files)
  set(entries "")
  foreach(file IN LISTS files)
    file(READ ${file} text)
    cmake_path(GET file STEM stem)
    string(APPEND entries "    {\"${stem}\", R\"preset(${text})preset\"},\n")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  file(CONFIGURE OUTPUT presets.gen.cpp CONTENT [[
// Generated from presets/*.toml by cmake/Presets.cmake.
#include "trace/workload_preset.h"
namespace almanac::trace {
std::span<const Preset> presets() {
  static constexpr Preset kPresets[] = {
@entries@  };
  return kPresets;
}
}  // namespace almanac::trace
]] @ONLY)
  target_sources(${room} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/presets.gen.cpp)
endfunction()
