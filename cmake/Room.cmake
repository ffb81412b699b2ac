# The whole build language of this project: rooms, and folders that are registries.

set_property(GLOBAL PROPERTY ALMANAC_ROOMS "")

# The headers that most sources read, parsed once: `precompiled` for rooms, `precompiled_tests` for test
# programs. They stand in for no #include: each header of ours must compile without them, and each
# source does so in the preset `clang`.
function(add_precompiled_headers name)
  cmake_parse_arguments(PARSE_ARGV 1 PRE "" "" "LIBS;HEADERS")
  file(CONFIGURE OUTPUT ${name}.cpp CONTENT "// Compiled for its precompiled headers only.\n")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE ${PRE_LIBS} almanac::flags)
  target_precompile_headers(${name} PRIVATE ${PRE_HEADERS})
endfunction()

set(common_headers
  <algorithm> <array> <bit> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstring> <deque>
  <filesystem> <functional> <limits> <map> <memory> <optional> <set> <span> <string> <string_view>
  <unordered_map> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h> <tl/expected.hpp>)
add_precompiled_headers(precompiled LIBS fmt::fmt tl::expected HEADERS ${common_headers})

# A release compiles rooms that are not HOT for size (docs/decisions/0033-small-where-not-hot.md).
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_precompiled_headers(precompiled_small LIBS fmt::fmt tl::expected HEADERS ${common_headers})
  target_compile_options(precompiled_small PRIVATE -Os)
endif()
if(ALMANAC_TESTS)
  add_precompiled_headers(precompiled_tests LIBS fmt::fmt tl::expected almanac::test_support
    HEADERS ${common_headers} <gmock/gmock.h> <gtest/gtest.h> <rapidcheck/gtest.h>)
endif()

# add_room(name LAYER n [HOT] [DEPS room...] [LIBS target...] [PUBLIC_LIBS target...])
#
# Makes the library almanac::<name> of every .cpp in the current folder and below, and the test
# program <name>_test (label "unit;<name>") of every *_test.cpp. A dependency that is unknown or not of
# a lower layer stops the configuration. A release compiles HOT rooms for speed, all others for size: a
# room is HOT if simulations, policies or readers of logs spend their time in it.
function(add_room name)
  cmake_parse_arguments(PARSE_ARGV 1 ROOM "HOT" "LAYER" "DEPS;LIBS;PUBLIC_LIBS")
  set(hot_rooms "")
  foreach(dep IN LISTS ROOM_DEPS)
    get_property(dep_layer GLOBAL PROPERTY ALMANAC_LAYER_${dep})
    if(dep_layer STREQUAL "")
      message(FATAL_ERROR "room ${name}: no room is called ${dep}")
    elseif(NOT dep_layer LESS ROOM_LAYER)
      message(FATAL_ERROR
        "room ${name} (layer ${ROOM_LAYER}) must not depend on ${dep} (layer ${dep_layer})")
    endif()
    get_property(hot_rooms_of_dep GLOBAL PROPERTY ALMANAC_HOT_ROOMS_OF_${dep})
    list(APPEND hot_rooms ${hot_rooms_of_dep})
  endforeach()
  if(ROOM_HOT)
    list(APPEND hot_rooms ${name})
  endif()
  list(REMOVE_DUPLICATES hot_rooms)
  set_property(GLOBAL PROPERTY ALMANAC_HOT_ROOMS_OF_${name} ${hot_rooms})
  set_property(GLOBAL PROPERTY ALMANAC_LAYER_${name} ${ROOM_LAYER})
  set_property(GLOBAL APPEND PROPERTY ALMANAC_ROOMS ${name})

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")

  if(NOT sources)
    file(CONFIGURE OUTPUT ${name}.empty.cpp CONTENT "// ${name} is headers only.\n")
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/${name}.empty.cpp)
  endif()
  add_library(${name} STATIC ${sources})
  add_library(almanac::${name} ALIAS ${name})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH base)
  target_include_directories(${name} PUBLIC ${base})
  list(TRANSFORM ROOM_DEPS PREPEND almanac::)
  target_link_libraries(${name} PUBLIC ${ROOM_DEPS} ${ROOM_PUBLIC_LIBS} almanac::flags
                                PRIVATE ${ROOM_LIBS})
  if(TARGET precompiled_small AND NOT ROOM_HOT)
    # With less inlining g++ takes values that are always set for values that may be unset.
    target_compile_options(${name} PRIVATE -Os $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_precompile_headers(${name} REUSE_FROM precompiled_small)
  else()
    target_precompile_headers(${name} REUSE_FROM precompiled)
  endif()

  if(tests AND ALMANAC_TESTS)
    add_almanac_test(${name}_test LABEL "unit;${name}" SOURCES ${tests} ROOMS ${name})
  endif()
endfunction()

# link_hot_rooms_first(program room): rooms often compile the same template, and the linker keeps the first
# copy. In `program`, which links `room`, this is the copy of a HOT room, if there is one.
function(link_hot_rooms_first program room)
  get_property(hot_rooms GLOBAL PROPERTY ALMANAC_HOT_ROOMS_OF_${room})
  foreach(hot_room IN LISTS hot_rooms)
    target_sources(${program} PRIVATE $<TARGET_OBJECTS:${hot_room}>)
  endforeach()
endfunction()

# add_almanac_test(name LABEL label... SOURCES file... ROOMS room... [LIBS target...] [SHARDS n])
#
# Compiles eight sources as one, because the shared headers take most of the time: fewer than in a room,
# because tests are edited more often.
#
# Random cases (RapidCheck) are the same in every run; another RC_PARAMS asks for others. With SHARDS
# the tests of the program are dealt to n ctest entries (<name>_1 ...), which may run at the same time;
# set_almanac_test_properties() sets properties of all of them.
function(add_almanac_test name)
  cmake_parse_arguments(PARSE_ARGV 1 TEST "" "LABEL;SHARDS" "SOURCES;ROOMS;LIBS")
  list(TRANSFORM TEST_ROOMS PREPEND almanac::)
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_ROOMS} ${TEST_LIBS} almanac::test_support)
  target_precompile_headers(${name} REUSE_FROM precompiled_tests)
  set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 8)
  set(entries ${name})
  if(TEST_SHARDS)
    set(entries "")
    foreach(shard RANGE 1 ${TEST_SHARDS})
      list(APPEND entries ${name}_${shard})
    endforeach()
  endif()
  set_property(GLOBAL PROPERTY ALMANAC_TESTS_OF_${name} ${entries})
  set(shard 0)
  foreach(entry IN LISTS entries)
    add_test(NAME ${entry} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${entry} PROPERTIES LABELS "${TEST_LABEL}"
      ENVIRONMENT "ALMANAC_SOURCE_DIR=${PROJECT_SOURCE_DIR};ALMANAC_PROGRAM=$<TARGET_FILE:almanac>;ALMANAC_SHEPHERD=$<TARGET_FILE:almanac-shepherd>;RC_PARAMS=seed=1;TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp")
    if(TEST_SHARDS)
      set_property(TEST ${entry} APPEND PROPERTY ENVIRONMENT
        "GTEST_TOTAL_SHARDS=${TEST_SHARDS};GTEST_SHARD_INDEX=${shard}")
    endif()
    math(EXPR shard "${shard} + 1")
  endforeach()
endfunction()

# set_almanac_test_properties(name property value ...): of each ctest entry of add_almanac_test(name).
function(set_almanac_test_properties name)
  get_property(entries GLOBAL PROPERTY ALMANAC_TESTS_OF_${name})
  set_tests_properties(${entries} PROPERTIES ${ARGN})
endfunction()

# register_folder(room folder NAMESPACE ns REGISTRY type HEADER header)
#
# A folder is a registry: each folder/<stem>.cpp defines `void register_<stem>(type&)`, and this
# generates `void register_<folder>(type&)`, which calls them all in sorted order. A file that
# forgets its function is a link error that names it.
function(register_folder room folder)
  cmake_parse_arguments(PARSE_ARGV 2 REG "" "NAMESPACE;REGISTRY;HEADER" "")
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.cpp)
  list(FILTER files EXCLUDE REGEX "_test\\.cpp$")
  list(SORT files)
  set(declarations "")
  set(calls "")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM stem)
    string(APPEND declarations "void register_${stem}(${REG_REGISTRY}& registry);\n")
    string(APPEND calls "  register_${stem}(registry);\n")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}.gen.cpp CONTENT [[
// Generated from the files of @folder@/ by cmake/Room.cmake.
#include "@REG_HEADER@"
namespace @REG_NAMESPACE@ {
@declarations@
void register_@folder@(@REG_REGISTRY@& registry);
void register_@folder@(@REG_REGISTRY@& registry) {
@calls@}
}  // namespace @REG_NAMESPACE@
]] @ONLY)
  target_sources(${room} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${folder}.gen.cpp)
endfunction()
