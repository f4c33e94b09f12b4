// What `ut report` was asked for with --stack, --step, --layer or --head, of all `there`; all where with none.
function chosen(report, option, there) {
  var wanted = report.chosen && report.chosen[option];
  if (!wanted) return there;
  if (there.indexOf(wanted) >= 0) return [wanted];
  throw '--' + option + ' ' + wanted + ': not there, needs one of ' + there.join(', ');
}

// Each head in each step beside one another (the papers' figures 5 to 8); where it is one, large.
function attention_grid(report, example, name, options) {
  var layers = numbered(Math.max.apply(null, example.maps[name].map(function (one) { return one.layer; })) + 1);
  var layer = chosen(report, 'layer', layers)[0] - 1;
  var shown = example.maps[name].filter(function (one) { return one.layer === layer; });
  var steps = chosen(report, 'step', shown.map(function (one) { return one.step; }));
  var heads = chosen(report, 'head', numbered(shown[0].weights.length));
  options.most = darkest(example, name);
  var first = map_spec(example, name, steps[0], layer, heads[0] - 1, options);
  if (steps.length === 1 && heads.length === 1) return map(first);
  var size = Math.max(2, Math.min(13, 150 / first.keys.length));
  var most = 9 * Math.max(steps.length * first.keys.length, heads.length * first.queries.length);
  if (size < 9 && most <= 2000) size = 9; // so that there is room for words
  var wide = size * first.keys.length + 14;
  var high = size * first.queries.length + 14;
  var small = size < 9;
  var left = small ? 60 : longest_of(first.queries) * letter + 34;
  var level = longest_of(first.keys) <= 2;
  var slope = small ? 0 : longest_of(first.keys) * letter;
  var top = 30 + slope * 0.82;
  var body = hatch;
  var letters = ' font-size="' + Math.min(11.5, size).toFixed(1) + '"';
  heads.forEach(function (head, index) {
    var y = top + index * high;
    steps.forEach(function (step, column) {
      var spec = map_spec(example, name, step, layer, head - 1, options);
      body += cells(spec, left + column * wide, y, size);
      if (index === 0) body += text(left + column * wide, 14, 'step ' + step, 'start', 'class="name"');
      if (index === 0 && !small) spec.keys.forEach(function (word, key) {
        body += key_label(word, left + column * wide + (key + 0.5) * size + 2, top - 5, level, spec.halted[key],
          letters);
      });
    });
    body += text(14, y + (high - 14) / 2, 'head ' + head, 'middle', 'class="name" transform="rotate(-90 14 ' +
      (y + (high - 14) / 2).toFixed(1) + ')"');
    if (!small) first.queries.forEach(function (word, row) {
      body += text(left - 5, y + (row + 0.5) * size + 4, cut(word, 40), 'end', 'class="word"' + letters);
    });
  });
  body += shades(first, left, top + heads.length * high);
  return svg(Math.max(left + 330, left + steps.length * wide + slope * 0.58), top + heads.length * high + 18,
    'attention of heads in steps', body);
}
