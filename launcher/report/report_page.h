#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ut::launcher {

/// A page for a browser that shows `report`, all in one file, in need of nothing else.
std::string report_page(const nlohmann::ordered_json& report);

/// One picture of `report` as SVG, for light paper; empty where the report has nothing of that. `report` says in
/// "chosen" what of it: {"stack", "step", "layer", "head"}, each empty or 0 where nothing was asked for. Throws
/// base::BadInput where that is not there.
std::string report_picture(const nlohmann::ordered_json& report, const std::string& name);

/// Turns SVG into PNG, twice as fine as the SVG's own size. Throws base::BadInput where rsvg-convert is missing,
/// std::runtime_error where it fails.
void write_png(const std::string& svg, const std::string& path);

}  // namespace ut::launcher
