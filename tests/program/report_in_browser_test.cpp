// `ut report`: the page in a browser.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/program/reported_runs.h"

namespace ut::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

class ReportInBrowser : public Report {
 protected:
  void SetUp() override {
    if (!is_there("chromium")) GTEST_SKIP() << "no chromium here";
  }

  /// What `script`, a function's body that runs at the page's end, returns in a browser, which must report no error.
  json in_browser(const std::string& page, const std::string& script) const {
    std::string text = base::read_file(page);
    text = replaced(text, "<title>",
                    "<script>var problems = []; addEventListener('error', e => problems.push(e.message)); "
                    "addEventListener('securitypolicyviolation', e => problems.push(e.blockedURI)); "
                    "console.error = console.warn = text => problems.push(String(text));</script><title>");
    text = replaced(text, "</body>",
                    "<script>{ let found; try { found = (() => {" + script +
                        "})(); } catch (error) { problems.push(String(error.stack)); } const outcome = "
                        "document.createElement('pre'); outcome.id = 'outcome'; outcome.textContent = "
                        "encodeURIComponent(JSON.stringify({found, problems})); document.body.append(outcome); "
                        "}</script></body>");
    const auto copy = directory_.write("browsed.html", text);
    const Outcome seen = run_shell(
        "timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --enable-logging=stderr "
        "--user-data-dir={} --window-size=1300,900 --virtual-time-budget=3000 --dump-dom file://{}",
        directory_ / "browser", copy.string());
    EXPECT_EQ(seen.exit_code, 0) << seen.errors;
    EXPECT_THAT(seen.errors, testing::Not(HasSubstr(":CONSOLE")));
    const std::string begin = "<pre id=\"outcome\">";
    const auto place = seen.output.find(begin);
    if (place == std::string::npos) throw std::runtime_error("the page did not get to its end: " + seen.errors);
    const auto end = seen.output.find("</pre>", place);
    const json outcome = json::parse(decoded(seen.output.substr(place + begin.size(), end - place - begin.size())));
    EXPECT_EQ(outcome.at("problems"), json::array());
    return outcome.value("found", json());
  }

  static std::string decoded(const std::string& text) {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at)
      if (text[at] == '%') {
        result += static_cast<char>(std::stoi(text.substr(at + 1, 2), nullptr, 16));
        at += 2;
      } else {
        result += text[at];
      }
    return result;
  }
};

const std::string page_helpers = R"(
  const plot = name => document.querySelector(`[data-picture=${name}]`);
  const count = (name, what) => plot(name) ? plot(name).querySelectorAll(what).length : 0;
  const move = (id, value) => { const slider = document.getElementById(id); slider.value = value; slider.dispatchEvent(new Event('input')); };
  const point = (target, x, y) => target.dispatchEvent(new PointerEvent('pointermove', {clientX: x, clientY: y, bubbles: true}));
  const tip = () => document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent;
  const changes = (name, act) => { const before = plot(name).innerHTML; act(); return plot(name).innerHTML !== before; };
)";

TEST_F(ReportInBrowser, ShowsTheScoresOfEvaluate) {
  train_reverse("evaluated");
  write_run("bare", "{\"update\":1,\"loss\":1}\n");
  for (const char* how : {"--split validation --beam 3 --decode-extra 0", "--teacher-forced", "--teacher-forced",
                          "--checkpoint latest", "--evaluation-length 5 --evaluation-limit 7"})
    ASSERT_EQ(run_ut("evaluate --run-dir {} {}", directory_ / "evaluated", how).exit_code, 0);
  write_run("tasks", "{\"update\":1,\"loss\":1}\n");
  directory_.write(
      "tasks/evaluations.jsonl",
      R"({"split":"test","updates":[9],"encoder_steps":3,"accuracy":0.5,"sequences":8,"groups":{"task 1":{"accuracy":1,)"
      R"("sequences":3,"ponder":{"encoder":{"mean":2.25,"sd":0.5}}},"task 2":{"accuracy":0.2,"sequences":5}},)"
      R"("options":{"facts":"5"}})"
      "\n");
  const std::string page = directory_ / "page.html";
  const Outcome made = run_ut("report --no-model {} {} {} --out {}", directory_ / "bare", directory_ / "evaluated",
                              directory_ / "tasks", page);
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const json tables = in_browser(page, page_helpers + R"(
    return [...document.querySelectorAll('#evaluations table')].map(
      table => [...table.querySelectorAll('tr')].map(row => row.textContent));)");
  ASSERT_EQ(tables.size(), 2U);
  const json& rows = tables[0];
  const json& groups = tables[1];
  ASSERT_EQ(rows.size(), 6U) << "the same twice is once there";
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].get<std::string>(),
            "runsplitcheckpoint of updatestepschanged optionsgroupexamplesaccuracyponder time");
  EXPECT_EQ(groups[1].get<std::string>(), "taskstest93facts 5task 13100 %2.25 ± 0.5 encoder");
  EXPECT_EQ(groups[2].get<std::string>(), "taskstest93facts 5task 2520 %");
  EXPECT_THAT(rows[0].get<std::string>(),
              HasSubstr("runsplitcheckpoint of updatestepsscoringchanged optionsexamplesaccuracywhole sequences"));
  EXPECT_THAT(rows[3].get<std::string>(), HasSubstr("evaluatedtest103decoded greedily20"));
  EXPECT_THAT(rows[2].get<std::string>(), HasSubstr("evaluatedtest103teacher-forced20"));
  EXPECT_THAT(rows[4].get<std::string>(),
              HasSubstr("evaluatedtest103decoded greedily, evaluation-limit 7evaluation-length 57"));
  EXPECT_THAT(rows[1].get<std::string>(),
              HasSubstr("evaluatedvalidation103beam 3, length penalty 0.6, decode-extra 020"));
}

TEST_F(ReportInBrowser, EveryPictureIsDrawnAndInteractive) {
  train_stories("one");
  train_stories("two", "--seed 2 --learning-rate 0.002");
  train_reverse("three");
  for (const int steps : {2, 3})
    EXPECT_EQ(run_ut("evaluate --run-dir {} --steps {}", directory_ / "three", steps).exit_code, 0);
  const std::string page = directory_ / "page.html";
  const std::string table = write_scaling_table();
  const Outcome made = run_ut("report {} {} {} --scaling {} --out {}", directory_ / "one", directory_ / "two",
                              directory_ / "three", table, page);
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const json found = in_browser(page, page_helpers + R"(
    const result = {};
    result.shapes = {};
    for (const name of ['loss', 'score', 'learning-rate', 'gradient-norm', 'rows-per-second', 'ponder', 'steps', 'scaling'])
      result.shapes[name] = count(name, 'path.line');
    for (const name of ['ponder-histogram', 'running', 'ponder-words']) result.shapes[name] = count(name, 'rect.bar');
    result.cells = count('attention', 'rect.cell');
    result.steps = Number(document.getElementById('step').max);
    result.step_moves = changes('attention', () => move('step', 2));
    result.said = document.getElementById('step').parentElement.textContent;
    const second_head = document.querySelectorAll('.heads button')[1];
    second_head.focus();
    result.head_changes = changes('attention', () => second_head.click()) && document.activeElement === second_head;
    result.smoothing = changes('loss', () => move('smooth', 0.8)) && count('loss', 'path.raw') === 3;
    result.log = changes('loss', () => plot('loss').parentElement.querySelector('button').click());
    result.ponder_moves = changes('ponder-histogram', () => move('ponder-update', 0));

    const box = plot('loss').getBoundingClientRect();
    point(plot('loss'), box.left + box.width / 2, box.top + 100);
    result.curve_tip = tip();
    point(plot('running').querySelector('.catch'), 5, 5);
    result.bar_tip = tip();
    document.querySelectorAll('.heads button')[0].click();
    const spec = plot('attention').spec;
    const map = plot('attention').firstElementChild.getBoundingClientRect();
    const row = spec.ran[0];
    point(plot('attention'), map.left + spec.frame.left + 1.5 * spec.frame.size, map.top + spec.frame.top + (row + 0.5) * spec.frame.size);
    result.map_tip = tip();
    result.map_weight = (spec.weights[0][1] / 10000).toFixed(4);

    document.querySelector('#runs button').click();
    result.after_hiding = count('loss', 'path.line:not(.raw)');
    const ground = () => getComputedStyle(document.body).backgroundColor;
    const before = ground();
    document.getElementById('theme').click();
    result.theme = before !== ground();
    const pick = document.getElementById('model-of');
    pick.value = 2;
    pick.dispatchEvent(new Event('change'));
    result.maps = [...plot('attention').closest('.card').querySelectorAll('.head button')].map(button => {
      button.click();
      return [button.textContent, count('attention', 'rect.cell') > 0];
    });
    result.different = document.querySelector('#settings table').textContent;
    result.captions = ['loss', 'score', 'ponder'].map(name => plot(name).textContent.includes('Dashed: '));
    result.heads = document.querySelector('#summary tr').textContent;
    return result;
  )");
  for (const auto& [name, shapes] : found.at("shapes").items()) EXPECT_GT(shapes.get<int>(), 1) << name;
  EXPECT_GT(found.at("cells").get<int>(), 20);
  EXPECT_GE(found.at("steps").get<int>(), 2);
  for (const char* what : {"step_moves", "head_changes", "smoothing", "log", "ponder_moves", "theme"})
    EXPECT_EQ(found.at(what), true) << what;
  EXPECT_THAT(found.at("said").get<std::string>(), testing::StartsWith("step 2 of "));
  EXPECT_THAT(found.at("curve_tip").get<std::string>(), testing::AllOf(HasSubstr("update "), HasSubstr("smoothed")));
  EXPECT_EQ(found.at("bar_tip"), "step 1: 100 % run");
  EXPECT_THAT(found.at("map_tip").get<std::string>(), testing::StartsWith(found.at("map_weight").get<std::string>()));
  EXPECT_LT(found.at("after_hiding").get<int>(), found.at("shapes").at("loss").get<int>());
  EXPECT_EQ(found.at("maps"), json::parse(R"([["encoder self-attention",true],["decoder self-attention",true],
                                              ["encoder-decoder attention",true]])"));
  EXPECT_THAT(found.at("different").get<std::string>(),
              testing::AllOf(HasSubstr("learning-rate"), HasSubstr("seed"), testing::Not(HasSubstr("d-model"))));
  EXPECT_EQ(found.at("captions"), json({true, true, false}));
  EXPECT_THAT(found.at("heads").get<std::string>(), HasSubstr("test accuracy\n(symbols, teacher-forced)"));
}

TEST_F(ReportInBrowser, ARunWithoutMetricsHasNoCurves) {
  directory_.write("run/options.conf", "task = copy\n");
  directory_.write("run/evaluations.jsonl", "{\"accuracy\":0.25,\"sequences\":4}\n");
  const std::string page = directory_ / "page.html";
  ASSERT_EQ(run_ut("report --no-model {} --out {}", directory_ / "run", page).exit_code, 0);
  const json found = in_browser(page, R"(
    return ['nav', '#curves', '#evaluations h2'].map(part => document.querySelector(part).innerText.trim());)");
  EXPECT_EQ(found, json({"run", "", "Evaluations"})) << "no controls of curves, no empty section";
}

TEST_F(ReportInBrowser, ALanguageModelHasItsWords) {
  train_language_model("run");
  const std::string page = directory_ / "page.html";
  ASSERT_EQ(run_ut("report {} --out {}", directory_ / "run", page).exit_code, 0);
  const json found = in_browser(page, page_helpers + R"(
    return {read: document.querySelector('.given').textContent, queries: plot('attention').spec.queries,
            perplexity: count('perplexity', 'path.line')};
  )");
  EXPECT_EQ(found.at("read"), "the owl saw the cat and the");
  EXPECT_EQ(found.at("perplexity"), 1);
  EXPECT_EQ(found.at("queries"), json({"<start>", "the", "owl", "saw", "the", "cat", "and", "the"}));
}

TEST_F(ReportInBrowser, ALineThatLacksSomethingCostsItsSectionOnly) {
  write_run("run", "{\"update\":1,\"loss\":2.5,\"flops_per_update\":7}\n");
  directory_.write("run/evaluations.jsonl", "{\"split\":\"test\",\"updates\":5,\"accuracy\":0.5}\n");
  const std::string page = directory_ / "page.html";
  ASSERT_EQ(run_ut("report --no-model {} --out {}", directory_ / "run", page).exit_code, 0);
  const json found = in_browser(page, page_helpers + R"(
    return {notes: [...document.querySelectorAll('.note')].map(note => note.parentElement.id), loss: count('loss', '.mark')};)");
  EXPECT_EQ(found, json({{"notes", {"summary", "evaluations"}}, {"loss", 1}}));
}

TEST_F(ReportInBrowser, ScalingNeedsNoRun) {
  const std::string page = directory_ / "page.html";
  const Outcome made = run_ut("report --scaling {} --out {}", write_scaling_table(), page);
  EXPECT_THAT(made.output, testing::StartsWith(page + ": scaling, "));
  EXPECT_EQ(in_browser(page, page_helpers + "return count('scaling', 'path.line');"), 2);
}

TEST_F(ReportInBrowser, RunsAreComparedByWorkAndTime) {
  const std::string sizes =
      R"({"update":0,"parameters":51520,"flops_per_update":[1e9,4e9],"flops_per_step":{"encoder":1e9,"decoder":0}})"
      "\n";
  const auto line = [](int update, double hours) {
    return fmt::format(R"({{"update":{},"loss":1,"hours":{},"ponder":{{"encoder":{{"mean":2.5,"sd":1}}}}}})"
                       "\n",
                       update, hours);
  };
  write_run("slow", sizes + line(10, 0.5) + line(20, 1), "halting = act\n");
  write_run("fast", sizes + line(10, 0.005) + line(20, 0.01), "halting = act-copy\n");
  const std::string page = directory_ / "page.html";
  ASSERT_EQ(run_ut("report --no-model {} {} --out {}", directory_ / "slow", directory_ / "fast", page).exit_code, 0);
  const json found = in_browser(page, page_helpers + R"(
    const last = () => plot('loss').spec.series.map(series => series.points[series.points.length - 1][0]);
    const updates = last();
    document.querySelectorAll('#over button')[1].click();
    return {updates, hours: last(), axis: plot('loss').spec.x, ponder: plot('ponder').spec.x,
            rows: [...document.querySelectorAll('#summary tr')].map(row => row.textContent)};
  )");
  EXPECT_EQ(found.at("updates"), json({20, 20}));
  EXPECT_EQ(found.at("hours"), json({1, 0.01}));
  EXPECT_EQ(found.at("axis"), "hours");
  EXPECT_EQ(found.at("ponder"), "hours");
  EXPECT_EQ(found.at("rows"), json({"runhaltingparametersFLOPs per updateupdateslast lossponder timetime",
                                    "slowact51.52k1 GFLOP to 4 GFLOP2012.5 encoder1 h",
                                    "fastact-copy51.52k2.5 GFLOP2012.5 encoder36 s"}));
}

TEST_F(ReportInBrowser, TheNinthRunHasAnotherMarkThanTheFirst) {
  std::string runs;
  for (int run = 1; run <= 9; ++run) {
    write_run(fmt::format("run-{}", run),
              fmt::format("{{\"update\":1,\"loss\":{0}}}\n{{\"update\":2,\"loss\":1}}\n", run));
    runs += directory_ / fmt::format("run-{} ", run);
  }
  const std::string page = directory_ / "page.html";
  ASSERT_EQ(run_ut("report --no-model {} --out {}", runs, page).exit_code, 0);
  const json found = in_browser(page, page_helpers + R"(
    const marks = [...document.querySelectorAll('#runs .mark')].map(mark => mark.getAttribute('d'));
    const drawn = [...plot('loss').querySelectorAll('.mark')].map(mark => mark.getAttribute('d'));
    return {same: marks[1] === marks[0], another: marks[8] !== marks[0], drawn: drawn.includes(marks[8]),
            heads: document.querySelector('#summary tr').textContent};
  )");
  EXPECT_EQ(found, json({{"same", true}, {"another", true}, {"drawn", true}, {"heads", "runupdateslast loss"}}));
}

TEST_F(ReportInBrowser, TextOfFilesIsShownLiterally) {
  const std::string evil = "</script><script>window.evil = 1</script><img src=x onerror=\"window.evil=1\"> & <!--";
  write_run("a<b>&c", "{\"update\":1,\"loss\":2.5}\n{\"update\":2,\"loss\":2}\n", "task = " + evil + "\n");
  const std::string table =
      directory_.write("scaling.csv", "kind,size,ranks,exchange,efficiency\n<img src=x onerror=evil()>,<b>,1,none,1\n")
          .string();
  const std::string page = directory_ / "page.html";
  ASSERT_EQ(run_ut("report '{}' --no-model --scaling {} --out {}", directory_ / "a<b>&c", table, page).exit_code, 0);
  const json found = in_browser(page, R"(
    return {evil: window.evil === undefined, name: document.querySelector('h1').textContent,
            value: document.querySelector('#settings code').textContent, images: document.images.length,
            bold: document.querySelectorAll('.picture b').length};
  )");
  EXPECT_EQ(found, json({{"evil", true}, {"name", "a<b>&c"}, {"value", evil}, {"images", 0}, {"bold", 0}}));
}

}  // namespace
}  // namespace ut::tests
