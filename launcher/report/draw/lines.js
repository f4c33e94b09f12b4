// Curves with their axes.

function path(points, frame, log) {
  function is_drawn(index) { return index in points && can_be_shown(points[index][1], log); }
  var commands = '';
  points.forEach(function (point, index) {
    if (!is_drawn(index)) return;
    commands += (is_drawn(index - 1) ? 'L' : 'M') + frame.x(point[0]).toFixed(1) + ' ' + frame.y(point[1]).toFixed(1);
    if (!is_drawn(index - 1) && !is_drawn(index + 1)) commands += 'h0'; // a dot, since ends of lines are round
  });
  return commands;
}

// The end of a name that is too long: runs in different directories often differ there.
function fitting(name, width) {
  var kept = name;
  for (var begin = 1; text_width(kept) > width && begin < name.length; ++begin) kept = '…' + name.slice(begin);
  return kept;
}

function legend(series, left, top, width) {
  var body = '';
  var x = left;
  var y = top;
  series.forEach(function (one) {
    var name = fitting(one.name, width - 34);
    var space = 34 + text_width(name);
    if (x > left && x + space > left + width) { x = left; y += 18; }
    body += line(x, y - 4, x + 18, y - 4, 'line c' + one.color % colours + (one.dash ? ' dash' : '')) +
      (one.color < colours ? '' : mark(one.color, x + 16, y - 4, 3.5)) + text(x + 23, y, name, 'start');
    x += space + 10;
  });
  return {body: body, bottom: y + 6};
}

function axis_ticks(low, high, count, log) { return log ? log_ticks(low, high) : ticks(low, high, count); }

// As many significant digits as tell neighbours apart, `least` or more.
function digits_of(values, least) {
  if (values.length < 2) return least;
  var largest = Math.max(Math.abs(values[0]), Math.abs(values[values.length - 1]));
  return Math.max(least, Math.ceil(Math.log(largest / (values[1] - values[0])) / Math.LN10) + 1);
}

function axes(spec, frame, range) {
  var body = '';
  var y_ticks = axis_ticks(range.y0, range.y1, Math.max(3, spec.height / 55), spec.log);
  var y_digits = digits_of(y_ticks, 3);
  y_ticks.forEach(function (value) {
    body += line(frame.left, frame.y(value), frame.right, frame.y(value), 'grid') +
      text(frame.left - 8, frame.y(value) + 4, format_number(value, y_digits), 'end');
  });
  var x_ticks = spec.x_ticks || axis_ticks(range.x0, range.x1, Math.max(3, spec.width / 110), spec.log_x);
  var x_digits = digits_of(x_ticks, 4);
  var taken = -Infinity;  // up to here by the number before
  x_ticks.forEach(function (value) {
    var number = format_number(value, x_digits);
    var half_width = text_width(number) / 2;
    body += line(frame.x(value), frame.bottom, frame.x(value), frame.bottom + 4, 'axis');
    if (frame.x(value) - half_width < taken) return;
    body += text(frame.x(value), frame.bottom + 17, number);
    taken = frame.x(value) + half_width + 4;
  });
  body += line(frame.left, frame.bottom, frame.right, frame.bottom, 'axis');
  body += text(frame.right, frame.bottom + 33, spec.x, 'end', 'class="name"');
  return body + text(frame.left, frame.top - 9, spec.y, 'start', 'class="name"');
}

// The points of a curve that have a mark: all of them if `dots` is set and they are few, or if there is only one. On
// other curves, only runs beyond the eighth, whose colours repeat, have marks: on the last point and some before it.
function marked_points(series, spec, frame) {
  var points = series.drawn.filter(function (point) { return can_be_shown(point[1], spec.log); });
  if ((series.dots && points.length <= 80) || series.points.length === 1) return points;
  if (series.color < colours) return [];
  var next = Infinity;
  return points.reverse().filter(function (point) {
    var x = frame.x(point[0]);
    if (x > next) return false;
    next = x - 80;
    return true;
  });
}

function curve(series, spec, frame) {
  var colour = ' c' + series.color % colours;
  var body = '';
  if (series.band && series.band.length > 1) {
    var low = series.band.map(function (p) { return [p[0], Math.max(p[1], spec.floor || 0)]; });
    var high = series.band.map(function (p) { return [p[0], p[2]]; }).reverse();
    body += '<path class="band f' + series.color % colours + '" d="' + path(low, frame) +
      path(high, frame).replace('M', 'L') + 'Z"/>';
  }
  series.drawn = smoothed(series.points, series.dots ? 0 : spec.smooth);
  var css_class = 'line' + colour + (series.dash ? ' dash' : '');
  if (series.drawn !== series.points)
    body += '<path class="' + css_class + ' raw" d="' + path(series.points, frame, spec.log) + '"/>';
  body += '<path class="' + css_class + '" d="' + path(series.drawn, frame, spec.log) + '"/>';
  marked_points(series, spec, frame).forEach(function (point) {
    body += mark(series.color, frame.x(point[0]), frame.y(point[1]), series.color < colours ? 2.6 : 3.5);
  });
  return body;
}

// spec: {label, width, height, x, y: names of the axes, log, log_x: whether they are logarithmic, smooth: 0 to 1,
// floor, ceiling: values that the y axis must include, series: [{name, color, points: [[x, y or null]], dash, dots,
// band: [[x, low, high]]}], legend, marks: [[x, label]] of vertical lines, caption: text that the page shows if a
// curve is dashed}.
// Sets spec.frame, the borders and scales, and `drawn` of each series, its smoothed points.
function line_chart(spec) {
  var range = extent(spec);
  var frame = spec.frame = {left: 58, right: spec.width - 14, top: 26, bottom: spec.height - 40};
  frame.x = scale(range.x0, range.x1, frame.left, frame.right, spec.log_x);
  frame.y = scale(range.y0, range.y1, frame.bottom, frame.top, spec.log);
  var body = axes(spec, frame, range);
  (spec.marks || []).forEach(function (mark) {
    body += line(frame.x(mark[0]), frame.top, frame.x(mark[0]), frame.bottom, 'axis dash') +
      text(frame.x(mark[0]) + 5, frame.bottom - 8, mark[1], 'start', 'class="name"');
  });
  spec.series.forEach(function (series) { body += curve(series, spec, frame); });
  var height = spec.height;
  if (spec.legend) {
    var names = legend(spec.series, frame.left, spec.height + 12, frame.right - frame.left);
    body += names.body;
    height = names.bottom;
  }
  return svg(spec.width, height, spec.label, body);
}
