// Bars. spec: {label, width, height, x, y, names: [under each], values: [shares], tips: [of each], color}.
function bars(spec) {
  var most = Math.max.apply(null, spec.values.concat([1e-9]));
  var top_tick = ticks(0, most, 4).concat([most]).sort(function (a, b) { return b - a; })[0];
  var frame = {left: 50, right: spec.width - 10, top: 26, bottom: spec.height - 40};
  var y = scale(0, top_tick * 1.03, frame.bottom, frame.top);
  var each = (frame.right - frame.left) / Math.max(1, spec.values.length);
  var body = '';
  ticks(0, top_tick, 4).forEach(function (value) {
    body += line(frame.left, y(value), frame.right, y(value), 'grid') +
      text(frame.left - 8, y(value) + 4, percent(value), 'end');
  });
  var every = Math.ceil(26 / each);
  spec.values.forEach(function (value, index) {
    var x = frame.left + index * each;
    var wide = Math.min(each * 0.74, 56);
    body += rectangle(x + (each - wide) / 2, y(value), wide, frame.bottom - y(value),
      'bar f' + spec.color % colours, ' rx="2"') +
      rectangle(x, frame.top, each, frame.bottom - frame.top, 'catch', tip(spec.tips[index]));
    if (index % every === 0) body += text(x + each / 2, frame.bottom + 17, spec.names[index]);
  });
  body += line(frame.left, frame.bottom, frame.right, frame.bottom, 'axis') +
    text(frame.right, frame.bottom + 33, spec.x, 'end', 'class="name"') +
    text(frame.left, frame.top - 9, spec.y, 'start', 'class="name"');
  return svg(spec.width, spec.height, spec.label, body);
}
