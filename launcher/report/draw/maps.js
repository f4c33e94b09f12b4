// Maps of attention: a single one, large or as a thumbnail.

var hatch = '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" ' +
  'patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>';

// The cells of one map. spec: {queries: [text], keys: [text], ran: [rows that ran in this step], weights: [ran][key]
// in 1/10000, max_weight: the darkest, color}
function map_cells(spec, left, top, size) {
  var parts = [rectangle(left, top, size * spec.keys.length, size * spec.queries.length, 'paper')];
  var index_of_row = {};
  spec.ran.forEach(function (row, index) { index_of_row[row] = index; });
  spec.queries.forEach(function (unused, row) {
    var y = top + row * size;
    if (!(row in index_of_row)) {
      parts.push(rectangle(left, y, size * spec.keys.length, size, 'left', ' fill="url(#hatch)"'));
      return;
    }
    var css_class = 'cell f' + spec.color % colours;
    spec.weights[index_of_row[row]].forEach(function (weight, key) {
      var shade = Math.min(1, weight / spec.max_weight);
      if (shade >= 0.004)
        parts.push(rectangle(left + key * size, y, size, size, css_class, ' fill-opacity="' + shade.toFixed(3) + '"'));
    });
  });
  parts.push(rectangle(left, top, size * spec.keys.length, size * spec.queries.length, 'edge'));
  return parts.join('');  // outside a browser, each += would copy all that was drawn so far
}

function shade_legend(spec, left, y) {
  var body = text(left, y + 9, '0', 'start', 'class="number"');
  for (var part = 0; part < 20; ++part)
    body += rectangle(left + 12 + part * 6, y, 6, 10, 'cell f' + spec.color % colours,
      ' fill-opacity="' + (part / 19).toFixed(3) + '"');
  body += text(left + 138, y + 9, (spec.max_weight / 10000).toFixed(2), 'start', 'class="number"');
  return !spec.halts ? body : body + rectangle(left + 190, y, 18, 10, 'left', ' fill="url(#hatch)"') +
    text(left + 213, y + 9, 'has halted', 'start', 'class="number"');
}

var longest_word = 40; // letters; longer ones are cut

function greatest_width(names) {
  var widths = names.map(function (name) { return text_width(truncated(name, longest_word)); });
  return Math.max.apply(null, widths.concat([6]));
}

// Whether the names of neighbouring columns fit side by side.
function are_narrow(names) { return greatest_width(names) < 18; }

function key_label(words, x, y, is_horizontal, halted, attributes) {
  var with_class = 'class="word' + (halted ? ' halted' : '') + '"' + attributes;
  if (is_horizontal) return text(x - 2, y, words, 'middle', with_class);
  return text(x, y, truncated(words, longest_word), 'start',
    with_class + ' transform="rotate(-55 ' + x.toFixed(1) + ' ' + y.toFixed(1) + ')"');
}

// One map with its words. spec: that of map_cells(), and {label, width, x, y: names of the axes, halted: {key: true}:
// rows that others see in their final state}. Sets spec.frame.
function attention_map(spec) {
  var left = Math.max(greatest_width(spec.queries), text_width(spec.y + ' ↓')) + 14;
  var is_horizontal = are_narrow(spec.keys);
  var key_width = greatest_width(spec.keys);
  var top = key_width * 0.82 + 34;
  var size = Math.max(12, Math.min(42, (spec.width - left - key_width * 0.58 - 12) / spec.keys.length));
  var font_size = ' font-size="' + Math.min(11.5, 0.9 * size).toFixed(1) + '"';
  spec.frame = {left: left, top: top, size: size};
  var right = left + size * spec.keys.length;
  var bottom = top + size * spec.queries.length;
  var body = hatch + map_cells(spec, left, top, size);
  spec.queries.forEach(function (name, row) {
    body += text(left - 7, top + (row + 0.5) * size + 4, truncated(name, longest_word), 'end',
      'class="word' + (spec.ran.indexOf(row) < 0 ? ' halted' : '') + '"' + font_size);
  });
  spec.keys.forEach(function (name, key) {
    body += key_label(name, left + (key + 0.5) * size + 2, top - 6, is_horizontal, spec.halted[key], font_size);
  });
  body += text(left, 14, spec.x + ' →', 'start', 'class="name"') +
    text(left - 7, top - 7, spec.y + ' ↓', 'end', 'class="name"') + shade_legend(spec, left, bottom + 9);
  return svg(Math.max(right + key_width * 0.58 + 12, left + 330), bottom + 32, spec.label, body);
}

// A map without words, on the button that selects it.
function thumbnail(spec) {
  var size = Math.max(1.5, Math.min(12, 132 / Math.max(spec.keys.length, spec.queries.length)));
  return svg(size * spec.keys.length + 2, size * spec.queries.length + 2, spec.label, map_cells(spec, 1, 1, size));
}

// The names of a stack's rows: in the encoder what each reads, in the decoder what it says next. A language model's
// are what each reads, because few of its rows are asked to say anything.
function row_names(example, stack) {
  if (stack === 'encoder') return example.source;
  return example.source.length ? example.wanted : example.given;
}

// The spec of an example's map; head -1: the mean over heads.
function map_spec(example, name, step, layer, head, options) {
  var seen = example.maps[name].filter(function (one) { return one.step === step && one.layer === layer; })[0];
  if (!seen) return null;
  var heads = seen.weights.length;
  var weights = head >= 0 ? seen.weights[head] : seen.queries.map(function (unused, query) {
    return seen.weights[0][query].map(function (zero, key) {
      var sum = 0;
      for (var h = 0; h < heads; ++h) sum += seen.weights[h][query][key];
      return sum / heads;
    });
  });
  var keys = name === 'decoder' ? example.given : example.source;
  var queries = row_names(example, name);
  var halts = example.maps[name].some(function (one) { return one.queries.length < queries.length; });
  var halted = {};
  if (name !== 'source')
    keys.forEach(function (unused, key) { if (seen.queries.indexOf(key) < 0) halted[key] = true; });
  return {label: 'attention, step ' + step, queries: queries, keys: keys, ran: seen.queries, weights: weights,
    halted: halted, halts: halts, causal: name === 'decoder',
    max_weight: options.max_weight, color: options.color, width: options.width,
    x: name === 'decoder' ? 'keys: the symbol that each row was given' : 'keys',
    y: queries === example.wanted ? 'says next' : 'queries'};
}

// The largest weight of all steps and heads.
function max_weight_of(example, name) {
  var largest = 1;
  example.maps[name].forEach(function (seen) {
    seen.weights.forEach(function (head) {
      head.forEach(function (query) { largest = Math.max(largest, Math.max.apply(null, query)); });
    });
  });
  return largest;
}
