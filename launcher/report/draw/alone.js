// A picture without a page.

function first_example(report) {
  for (var index = 0; index < report.runs.length; ++index)
    if (report.runs[index].model) return report.runs[index].model.examples[0];
  return null;
}

function first_records(report) {
  for (var index = 0; index < report.runs.length; ++index) {
    var ponder = report.runs[index].ponder;
    if (Object.keys(ponder).length) return ponder[chosen(report, 'stack', Object.keys(ponder))[0]];
  }
  return [];
}

// A picture by its name, or nothing where the report has nothing of that.
function alone(report, name) {
  var options = {width: 640, height: 380, legend: true, color: 0};
  var example = first_example(report);
  var spec;
  if (curves[name]) {
    spec = curve_spec(report, name, options);
    return spec.series.length ? lines(spec) : '';
  }
  var whole = {ponder: ponder_spec, steps: steps_spec, scaling: scaling_spec}[name];
  if (whole) {
    spec = whole(report, options);
    return spec.series.length ? lines(spec) : '';
  }
  if (name === 'ponder-histogram' || name === 'running') {
    var records = first_records(report);
    if (!records.length) return '';
    return bars((name === 'running' ? running_spec : histogram_spec)(records[records.length - 1], options));
  }
  if (!example) return '';
  if (name === 'ponder-words') {
    var halting = ['encoder', 'decoder'].filter(function (stack) {
      return example.stacks[stack] && example.stacks[stack].halting;
    });
    return halting.length ? words(words_spec(example, chosen(report, 'stack', halting)[0], options)) : '';
  }
  var map_name = {'attention': 'encoder', 'attention-decoder': 'decoder', 'attention-source': 'source'}[name];
  return example.maps[map_name] ? attention_grid(report, example, map_name, options) : '';
}

return {short: short, percent: percent, is_number: is_number, curves: curves, mark: mark, lines: lines, bars: bars,
  words: words, map: map, thumbnail: thumbnail, curve_spec: curve_spec, ponder_spec: ponder_spec,
  histogram_spec: histogram_spec, running_spec: running_spec, scaling_spec: scaling_spec, steps_spec: steps_spec,
  words_spec: words_spec, map_spec: map_spec, darkest: darkest, alone: alone};
})();

// What `ut report --svg` calls: the report as JSON text, the picture's name, the text of picture.css.
function draw_alone(report, name, style) {
  'use strict';
  var picture = draw.alone(JSON.parse(report), name);
  if (!picture) return '';
  var head = picture.indexOf('>') + 1;
  return picture.slice(0, head) + '<style>' + style + '</style><rect width="100%" height="100%" fill="#fff"/>' +
    picture.slice(head).replace(/ data-tip="[^"]*"/g, '') + '\n';
}
