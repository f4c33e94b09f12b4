// Ponder times of an example's rows (the papers' figure 3). spec: {label, width, names, updates, ponder, most,
// color}.
function words(spec) {
  var longest = Math.max.apply(null, spec.names.map(function (name) { return Math.min(46, name.length); }));
  var numbers = 4 + String(spec.names.length).length * 7;
  var left = numbers + 30 + longest * letter * 1.15; // some words are of wide letters
  var right = Math.max(left + 160, spec.width) - 52;
  var top = 24;
  var row = 21;
  var bottom = top + row * spec.names.length;
  var most = Math.max.apply(null, [1, spec.most].concat(spec.ponder || []));
  var x = scale(0, most, left, right);
  var body = '';
  ticks(0, most, Math.min(most, 8)).forEach(function (value) {
    body += line(x(value), top - 2, x(value), bottom, 'grid') + text(x(value), top - 8, short(value, 3));
  });
  spec.names.forEach(function (name, index) {
    var y = top + index * row;
    var whole = spec.ponder ? spec.ponder[index] : spec.updates[index];
    body += text(numbers, y + 14.5, String(index), 'end', 'class="number"') +
      text(left - 8, y + 14.5, cut(name, 46), 'end', 'class="word"') +
      rectangle(left, y + 4, x(whole) - left, row - 8, 'remainder f' + spec.color % colours, ' rx="2"') +
      rectangle(left, y + 4, x(spec.updates[index]) - left, row - 8, 'bar f' + spec.color % colours, ' rx="2"') +
      text(x(whole) + 6, y + 14.5, whole.toFixed(2), 'start', 'class="number"') +
      rectangle(0, y, spec.width, row, 'catch', tip('row ' + index + ': ' + name + '\n' + spec.updates[index] +
        ' steps' + (spec.ponder ? ' + remainder ' + short(whole - spec.updates[index], 3) + ' = ' +
        short(whole, 4) : '')));
  });
  body += line(left, top - 2, left, bottom, 'axis') +
    text(right, bottom + 16, 'steps (solid) + remainder (light)', 'end', 'class="name"');
  return svg(Math.max(spec.width, right + 52), bottom + 24, spec.label, body);
}

function words_spec(example, stack, options) {
  var ponder = example.stacks[stack];
  return {label: 'Ponder times of an example', names: names_of_rows(example, stack),
    updates: ponder.updates, ponder: ponder.ponder, most: ponder.most, color: options.color, width: options.width};
}
