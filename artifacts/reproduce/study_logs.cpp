// SPDX-License-Identifier: Apache-2.0
#include "reproduce/study_logs.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "experiment/infer_cluster.h"
#include "study/figures.h"
#include "text/datetime.h"
#include "trace/read.h"

namespace almanac::reproduce {
namespace {

/// "Venus" of "helios_venus_gpu_2020-03_to_08", "Philly" of "philly_2017-08_to_11".
std::string cluster_of(const std::string& stem) {
  std::string_view rest = stem;
  if (rest.starts_with("helios_")) rest.remove_prefix(7);
  std::string name(rest.substr(0, rest.find('_')));
  if (!name.empty()) {
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  }
  return name;
}

}  // namespace

Need published_figures() {
  return {"golden/helios_figures/*.json",
          "data read off the vector figures of Hu et al., SC'21, and Jeon et al., ATC'19"};
}

Need helios_logs() {
  return {"data/traces/helios_*_gpu_*.csv",
          "the GPU jobs of github.com/S-Lab-System-Group/HeliosData"};
}

Need philly_logs() {
  return {"data/traces/philly_20*.csv", "the jobs of github.com/msr-fiddle/philly-traces"};
}

Json read_published_figures(Bench& bench) {
  Json all = Json::object();
  bench.each(published_figures().files, [&](const File& file) {
    const Json read = read_json(file);
    require(read.is_object(), "expected an object");
    all.update(read);
  });
  return all;
}

const Json& member(const Json& published, const std::string& key) {
  require(published.contains(key),
          fmt::format("{} is in none of {}", key, published_figures().files));
  return published[key];
}

figure::Figure StudiedLog::drawn(std::string_view id) const {
  const auto& all = study::figures().all();
  const auto recipe = std::find_if(all.begin(), all.end(),
                                   [&](const study::Recipe& each) { return each.id == id; });
  require(recipe != all.end(), fmt::format("there is no figure {}", id));
  for (const study::Need need : recipe->needs) {
    require(study.has(need), fmt::format("the log lacks {}", study::to_string(need)));
  }
  return recipe->draw(study).figure;
}

void each_log(Bench& bench, const Need& need, const trace::Sample& sample, const std::string& paper,
              const std::function<void(const StudiedLog&)>& work) {
  bench.each(need.files, [&](const File& file) {
    trace::Trace trace = value_or_throw(trace::read_trace(file.path));
    if (const auto kept = trace::keep_sample(trace, sample); !kept) throw Malformed{kept.error()};
    const cluster::Cluster cluster = value_or_throw(experiment::infer_cluster(trace));
    const study::Study study(trace, cluster);
    require(!study.gpu_jobs().empty(), "the log has no GPU jobs");
    const auto day = [&](std::uint32_t at) {
      return text::format_datetime(study.job(at).request.submit).substr(0, 10);
    };
    bench.note(fmt::format("{} has {} GPU jobs of {} to {}; {}", file.name, study.gpu_jobs().size(),
                           day(study.gpu_jobs().front()), day(study.gpu_jobs().back()), paper));
    work({file, cluster_of(file.stem), study});
  });
}

void compare_helios_logs(Bench& bench,
                         void (*compare)(Bench&, const StudiedLog&, const Json& published)) {
  const Json published = read_published_figures(bench);
  if (published.empty()) return;
  each_log(bench, helios_logs(), {}, "the figure is of April to September 2020",
           [&](const StudiedLog& log) { compare(bench, log, published); });
}

}  // namespace almanac::reproduce
