// The one value that --stack, --step, --layer or --head asks for, or all that are available if it is not given.
function chosen(report, option, available) {
  var wanted = report.chosen && report.chosen[option];
  if (!wanted) return available;
  if (available.indexOf(wanted) >= 0) return [wanted];
  throw '--' + option + ' ' + wanted + ': not there, needs one of ' + available.join(', ');
}

// A grid of maps, a row per head and a column per step (the papers' figures 5 to 8). A single map is drawn large.
function attention_grid(report, example, name, options) {
  var layers = numbers_to(Math.max.apply(null, example.maps[name].map(function (one) { return one.layer; })) + 1);
  var layer = chosen(report, 'layer', layers)[0] - 1;
  var shown = example.maps[name].filter(function (one) { return one.layer === layer; });
  var steps = chosen(report, 'step', shown.map(function (one) { return one.step; }));
  var heads = chosen(report, 'head', numbers_to(shown[0].weights.length));
  options.max_weight = max_weight_of(example, name);
  var first = map_spec(example, name, steps[0], layer, heads[0] - 1, options);
  if (steps.length === 1 && heads.length === 1) return attention_map(first);
  var size = Math.max(2, Math.min(13, 150 / first.keys.length));
  var readable_extent = 9 * Math.max(steps.length * first.keys.length, heads.length * first.queries.length);
  if (size < 9 && readable_extent <= 2000) size = 9; // that leaves room for words
  var map_width = size * first.keys.length + 14;
  var map_height = size * first.queries.length + 14;
  var has_words = size >= 9;
  var left = has_words ? greatest_width(first.queries) + 34 : 60;
  var is_horizontal = are_narrow(first.keys);
  var key_width = has_words ? greatest_width(first.keys) : 0;
  var top = 30 + key_width * 0.82;
  var body = hatch;
  var font_size = ' font-size="' + Math.min(11.5, size).toFixed(1) + '"';
  heads.forEach(function (head, index) {
    var y = top + index * map_height;
    steps.forEach(function (step, column) {
      var x = left + column * map_width;
      var spec = map_spec(example, name, step, layer, head - 1, options);
      body += map_cells(spec, x, y, size);
      if (index === 0) body += text(x, 14, 'step ' + step, 'start', 'class="name"');
      if (index === 0 && has_words) spec.keys.forEach(function (word, key) {
        body += key_label(word, x + (key + 0.5) * size + 2, top - 5, is_horizontal, spec.halted[key], font_size);
      });
    });
    var middle = y + (map_height - 14) / 2;
    body += text(14, middle, 'head ' + head, 'middle',
      'class="name" transform="rotate(-90 14 ' + middle.toFixed(1) + ')"');
    if (has_words) first.queries.forEach(function (word, row) {
      body += text(left - 5, y + (row + 0.5) * size + 4, truncated(word, longest_word), 'end',
        'class="word"' + font_size);
    });
  });
  body += shade_legend(first, left, top + heads.length * map_height);
  return svg(Math.max(left + 330, left + steps.length * map_width + key_width * 0.58),
    top + heads.length * map_height + 18, 'attention of each head in each step', body);
}
