// Maps of attention: one, large or as a thumbnail.

var hatch = '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" ' +
  'patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>';

// The cells of one map: which query looks at which key. spec: {queries: [text], keys: [text], ran: [rows that ran in
// this step], weights: [ran][key] in 1/10000, most: the darkest weight, color}
function cells(spec, left, top, size) {
  var parts = [rectangle(left, top, size * spec.keys.length, size * spec.queries.length, 'paper')];
  var place = {};
  spec.ran.forEach(function (row, index) { place[row] = index; });
  spec.queries.forEach(function (unused, row) {
    var y = top + row * size;
    if (!(row in place)) {
      parts.push(rectangle(left, y, size * spec.keys.length, size, 'left', ' fill="url(#hatch)"'));
      return;
    }
    var colour = 'cell f' + spec.color % colours;
    spec.weights[place[row]].forEach(function (weight, key) {
      var shade = Math.min(1, weight / spec.most);
      if (shade >= 0.004)
        parts.push(rectangle(left + key * size, y, size, size, colour, ' fill-opacity="' + shade.toFixed(3) + '"'));
    });
  });
  parts.push(rectangle(left, top, size * spec.keys.length, size * spec.queries.length, 'edge'));
  return parts.join('');  // outside a browser each += would copy all that was drawn so far
}

// What the shades mean.
function shades(spec, left, y) {
  var body = text(left, y + 9, '0', 'start', 'class="number"');
  for (var part = 0; part < 20; ++part)
    body += rectangle(left + 12 + part * 6, y, 6, 10, 'cell f' + spec.color % colours,
      ' fill-opacity="' + (part / 19).toFixed(3) + '"');
  body += text(left + 138, y + 9, (spec.most / 10000).toFixed(2), 'start', 'class="number"');
  return !spec.halts ? body : body + rectangle(left + 190, y, 18, 10, 'left', ' fill="url(#hatch)"') +
    text(left + 213, y + 9, 'has halted', 'start', 'class="number"');
}

function longest_of(names) {
  return Math.max.apply(null, names.map(function (name) { return Math.min(40, name.length); }).concat([1]));
}

// `level`: all of a map's words are short enough to lie.
function key_label(words, x, y, level, halted, more) {
  var kind = 'class="word' + (halted ? ' halted' : '') + '"' + more;
  if (level) return text(x - 2, y, words, 'middle', kind);
  return text(x, y, cut(words, 40), 'start',
    kind + ' transform="rotate(-55 ' + x.toFixed(1) + ' ' + y.toFixed(1) + ')"');
}

// One map with its words. spec: as cells(), and {label, width, halted: {key: true}: those that others see as they
// ended, x, y: names of the axes}. Leaves spec.frame.
function map(spec) {
  var left = Math.max(longest_of(spec.queries), spec.y.length + 2) * letter + 14;
  var level = longest_of(spec.keys) <= 2;
  var slope = longest_of(spec.keys) * letter;
  var top = slope * 0.82 + 34;
  var size = Math.max(12, Math.min(42, (spec.width - left - slope * 0.58 - 12) / spec.keys.length));
  var letters = ' font-size="' + Math.min(11.5, 0.9 * size).toFixed(1) + '"';
  spec.frame = {left: left, top: top, size: size};
  var right = left + size * spec.keys.length;
  var bottom = top + size * spec.queries.length;
  var body = hatch + cells(spec, left, top, size);
  spec.queries.forEach(function (name, row) {
    body += text(left - 7, top + (row + 0.5) * size + 4, cut(name, 40), 'end',
      'class="word' + (spec.ran.indexOf(row) < 0 ? ' halted' : '') + '"' + letters);
  });
  spec.keys.forEach(function (name, key) {
    body += key_label(name, left + (key + 0.5) * size + 2, top - 6, level, spec.halted[key], letters);
  });
  body += text(left, 14, spec.x + ' →', 'start', 'class="name"') +
    text(left - 7, top - 7, spec.y + ' ↓', 'end', 'class="name"') + shades(spec, left, bottom + 9);
  return svg(Math.max(right + slope * 0.58 + 12, left + 330), bottom + 32, spec.label, body);
}

// A map without words, to choose by.
function thumbnail(spec) {
  var size = Math.max(1.5, Math.min(12, 132 / Math.max(spec.keys.length, spec.queries.length)));
  return svg(size * spec.keys.length + 2, size * spec.queries.length + 2, spec.label, cells(spec, 1, 1, size));
}

// What stands beside a stack's rows: in the encoder what each reads, in the decoder what it says next; but in a
// language model what it reads, as few of its rows are asked to say anything.
function names_of_rows(example, stack) {
  if (stack === 'encoder') return example.source;
  return example.source.length ? example.wanted : example.given;
}

// A map of an example as cells() takes it; head -1: the mean over heads.
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
  var queries = names_of_rows(example, name);
  var halts = example.maps[name].some(function (one) { return one.queries.length < queries.length; });
  var halted = {};
  if (name !== 'source')
    keys.forEach(function (unused, key) { if (seen.queries.indexOf(key) < 0) halted[key] = true; });
  return {label: 'attention, step ' + step, queries: queries, keys: keys, ran: seen.queries, weights: weights,
    halted: halted, halts: halts, causal: name === 'decoder',
    most: options.most, color: options.color, width: options.width,
    x: name === 'decoder' ? 'is looked at: the symbol that the row was given' : 'is looked at',
    y: queries === example.wanted ? 'says next' : 'looks'};
}

// The largest weight of all steps and heads, which is the darkest.
function darkest(example, name) {
  var most = 1;
  example.maps[name].forEach(function (seen) {
    seen.weights.forEach(function (head) {
      head.forEach(function (query) { most = Math.max(most, Math.max.apply(null, query)); });
    });
  });
  return most;
}
