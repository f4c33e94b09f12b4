#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ut::launcher {

/// A page for a browser that shows `report`, in one file that needs nothing else.
std::string report_page(const nlohmann::ordered_json& report);

/// One picture of `report` as SVG, for light paper; empty if the report has nothing to draw in it. `report` says in
/// "chosen" which part to draw: {"stack", "step", "layer", "head"}, each empty or 0 if nothing was asked for. Throws
/// base::BadInput if that part is not there.
std::string report_picture(const nlohmann::ordered_json& report, const std::string& name);

/// Turns SVG into PNG, twice as fine as the SVG's own size. Throws base::BadInput if rsvg-convert is missing or
/// another process is making this PNG, std::runtime_error if it fails.
void write_png(const std::string& svg, const std::string& path);

}  // namespace ut::launcher
