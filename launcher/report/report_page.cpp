#include "launcher/report/report_page.h"

#include <duktape.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "launcher/process/run_program.h"
#include "launcher/process/unfinished_directory.h"
#include "launcher/report/report_parts.h"

namespace ut::launcher {
namespace {

/// JSON that can stand inside a script element: no text of a run can end that element.
std::string json_text(const nlohmann::ordered_json& report) {
  std::string text;
  for (const char c : base::json_line(report))
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

using Heap = std::unique_ptr<duk_context, decltype(&duk_destroy_heap)>;

void push(duk_context* heap, std::string_view text) { duk_push_lstring(heap, text.data(), text.size()); }

/// The drawing throws plain text if options ask for what is not there.
[[noreturn]] void fail_to_draw(duk_context* heap) {
  if (duk_is_string(heap, -1) != 0) throw base::BadInput(duk_get_string(heap, -1));
  throw std::runtime_error(fmt::format("report/draw: {}", duk_safe_to_string(heap, -1)));
}

}  // namespace

std::string report_page(const nlohmann::ordered_json& report) {
  const std::array<std::pair<std::string_view, std::string>, 5> parts{
      {{"{{picture.css}}", std::string(report_picture_css)},
       {"{{page.css}}", std::string(report_page_css)},
       {"{{report}}", json_text(report)},
       {"{{draw}}", std::string(report_draw_js)},
       {"{{page.js}}", std::string(report_page_js)}}};
  std::string page;
  std::string_view rest = report_page_html;
  for (const auto& [mark, text] : parts) {
    const auto place = rest.find(mark);
    page.append(rest.substr(0, place)).append(text);
    rest.remove_prefix(place + mark.size());
  }
  return page.append(rest);
}

std::string report_picture(const nlohmann::ordered_json& report, const std::string& name) {
  const Heap heap(duk_create_heap_default(), &duk_destroy_heap);
  if (!heap) throw std::bad_alloc();
  if (duk_peval_lstring(heap.get(), report_draw_js.data(), report_draw_js.size()) != 0) fail_to_draw(heap.get());
  duk_get_global_string(heap.get(), "draw_alone");
  push(heap.get(), json_text(report));
  push(heap.get(), name);
  push(heap.get(), report_picture_css);
  if (duk_pcall(heap.get(), 3) != DUK_EXEC_SUCCESS) fail_to_draw(heap.get());
  duk_size_t size = 0;
  const char* text = duk_get_lstring(heap.get(), -1, &size);
  return {text, size};
}

void write_png(const std::string& svg, const std::string& path) {
  const UnfinishedDirectory parts(path, UnfinishedDirectory::Whole::may_be_replaced);
  const std::filesystem::path drawing = parts / "svg";
  const std::filesystem::path made = parts / "png";
  base::write_file_whole(drawing, svg);
  const ProgramEnd end = run_program({"rsvg-convert", "--zoom", "2", "--format=png", "--output", made, drawing});
  if (end.not_started == ENOENT)
    throw base::BadInput("--png: needs the program rsvg-convert (Debian's librsvg2-bin); or take --svg");
  if (end.not_started != 0) throw std::runtime_error(fmt::format("rsvg-convert: {}", std::strerror(end.not_started)));
  if (!end.is_well()) throw std::runtime_error(fmt::format("{}: rsvg-convert could not write it", path));
  std::filesystem::rename(made, path);
}

}  // namespace ut::launcher
