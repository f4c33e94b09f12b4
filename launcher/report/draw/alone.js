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

// The picture of this name; empty if the report has nothing to draw in it.
function alone(report, name) {
  var options = {width: 640, height: 380, legend: true, color: 0};
  var example = first_example(report);
  var spec;
  if (curve_kinds[name]) {
    spec = curve_spec(report, name, options);
    return spec.series.length ? line_chart(spec) : '';
  }
  var make_spec = {ponder: ponder_spec, steps: steps_spec, scaling: scaling_spec}[name];
  if (make_spec) {
    spec = make_spec(report, options);
    return spec.series.length ? line_chart(spec) : '';
  }
  if (name === 'ponder-histogram' || name === 'running') {
    var records = first_records(report);
    if (!records.length) return '';
    return bar_chart((name === 'running' ? running_spec : histogram_spec)(records[records.length - 1], options));
  }
  if (!example) return '';
  if (name === 'ponder-words') {
    var halting = ['encoder', 'decoder'].filter(function (stack) {
      return example.stacks[stack] && example.stacks[stack].halting;
    });
    if (!halting.length) return '';
    return ponder_words(ponder_words_spec(example, chosen(report, 'stack', halting)[0], options));
  }
  var map_name = {'attention': 'encoder', 'attention-decoder': 'decoder', 'attention-source': 'source'}[name];
  return example.maps[map_name] ? attention_grid(report, example, map_name, options) : '';
}

return {format_number: format_number, format_percent: format_percent, is_number: is_number, curve_kinds: curve_kinds,
  mark: mark, line_chart: line_chart, bar_chart: bar_chart, ponder_words: ponder_words, attention_map: attention_map,
  thumbnail: thumbnail, curve_spec: curve_spec, ponder_spec: ponder_spec, histogram_spec: histogram_spec,
  running_spec: running_spec, scaling_spec: scaling_spec, steps_spec: steps_spec,
  ponder_words_spec: ponder_words_spec, map_spec: map_spec, max_weight_of: max_weight_of, alone: alone};
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
