// Ponder times of an example's rows (the papers' figure 3). spec: {label, width, names, updates, ponder: updates +
// remainder, max_steps, color}.
function ponder_words(spec) {
  var numbers = 4 + String(spec.names.length).length * 7;
  var left = numbers + 30 + greatest_width(spec.names);
  var right = Math.max(left + 160, spec.width) - 52;
  var top = 24;
  var row = 21;
  var bottom = top + row * spec.names.length;
  var highest = Math.max.apply(null, [1, spec.max_steps].concat(spec.ponder || []));
  var x = scale(0, highest, left, right);
  var body = '';
  ticks(0, highest, Math.min(highest, 8)).forEach(function (value) {
    body += line(x(value), top - 2, x(value), bottom, 'grid') + text(x(value), top - 8, format_number(value, 3));
  });
  spec.names.forEach(function (name, index) {
    var y = top + index * row;
    var updates = spec.updates[index];
    var ponder = spec.ponder ? spec.ponder[index] : updates;
    body += text(numbers, y + 14.5, String(index), 'end', 'class="number"') +
      text(left - 8, y + 14.5, truncated(name, longest_word), 'end', 'class="word"') +
      rectangle(left, y + 4, x(ponder) - left, row - 8, 'remainder f' + spec.color % colours, ' rx="2"') +
      rectangle(left, y + 4, x(updates) - left, row - 8, 'bar f' + spec.color % colours, ' rx="2"') +
      text(x(ponder) + 6, y + 14.5, ponder.toFixed(2), 'start', 'class="number"') +
      rectangle(0, y, spec.width, row, 'catch', tip_attribute('row ' + index + ': ' + name + '\n' + updates +
        (updates === 1 ? ' step' : ' steps') + (spec.ponder ? ' + remainder ' + format_number(ponder - updates, 3) +
        ' = ' + format_number(ponder, 4) : '')));
  });
  body += line(left, top - 2, left, bottom, 'axis') +
    text(right, bottom + 16, 'steps (solid) + remainder (light)', 'end', 'class="name"');
  return svg(Math.max(spec.width, right + 52), bottom + 24, spec.label, body);
}

function ponder_words_spec(example, stack, options) {
  var ponder = example.stacks[stack];
  return {label: 'Ponder times of an example', names: row_names(example, stack),
    updates: ponder.updates, ponder: ponder.ponder, max_steps: ponder.most, color: options.color,
    width: options.width};
}
