#pragma once

#include <string_view>

namespace ut::launcher {

// The files of launcher/report/, as they were when the program was built.
extern const std::string_view report_page_html;
extern const std::string_view report_page_css;
extern const std::string_view report_page_js;
extern const std::string_view report_picture_css;
extern const std::string_view report_draw_js;

}  // namespace ut::launcher
