// spec: {label, width, height, x, y: names of the axes, names: [under each bar], values: [shares], tips: [of each
// bar], color}.
function bar_chart(spec) {
  var highest = Math.max.apply(null, spec.values.concat([1e-9]));
  var top_tick = ticks(0, highest, 4).concat([highest]).sort(function (a, b) { return b - a; })[0];
  var frame = {left: 50, right: spec.width - 10, top: 26, bottom: spec.height - 40};
  var y = scale(0, top_tick * 1.03, frame.bottom, frame.top);
  var space = (frame.right - frame.left) / Math.max(1, spec.values.length);
  var body = '';
  ticks(0, top_tick, 4).forEach(function (value) {
    body += line(frame.left, y(value), frame.right, y(value), 'grid') +
      text(frame.left - 8, y(value) + 4, format_percent(value), 'end');
  });
  var every = Math.ceil(26 / space);
  spec.values.forEach(function (value, index) {
    var x = frame.left + index * space;
    var width = Math.min(space * 0.74, 56);
    body += rectangle(x + (space - width) / 2, y(value), width, frame.bottom - y(value),
      'bar f' + spec.color % colours, ' rx="2"') +
      rectangle(x, frame.top, space, frame.bottom - frame.top, 'catch', tip_attribute(spec.tips[index]));
    if (index % every === 0) body += text(x + space / 2, frame.bottom + 17, spec.names[index]);
  });
  body += line(frame.left, frame.bottom, frame.right, frame.bottom, 'axis') +
    text(frame.right, frame.bottom + 33, spec.x, 'end', 'class="name"') +
    text(frame.left, frame.top - 9, spec.y, 'start', 'class="name"');
  return svg(spec.width, spec.height, spec.label, body);
}
