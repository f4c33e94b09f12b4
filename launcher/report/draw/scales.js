// From values to positions in a picture.

function can_be_shown(value, log) { return is_number(value) && (!log || value > 0); }

// Whether two values differ by so little that the numbers along an axis could not tell.
function is_flat(low, high) { return !(high - low > 1e-5 * Math.max(Math.abs(low), Math.abs(high))); }

// About `count` round values from low to high.
function ticks(low, high, count) {
  if (is_flat(low, high)) return [low];
  var rough = (high - low) / count;
  var size = Math.pow(10, Math.floor(Math.log(rough) / Math.LN10));
  var step = [1, 2, 5, 10].filter(function (times) { return times * size >= rough * 0.999; })[0] * size;
  var values = [];
  for (var at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; ++at)
    values.push(Number((at * step).toPrecision(12)));
  return values;
}

function log_ticks(low, high) {
  var values = [];
  var decades = Math.log(high / low) / Math.LN10;
  var every = Math.ceil(decades / 6);
  for (var power = Math.floor(Math.log(low) / Math.LN10); power <= Math.log(high) / Math.LN10; ++power)
    (decades < 1.2 ? [1, 2, 3, 5, 7] : decades < 2.5 ? [1, 2, 5] : [1]).forEach(function (times) {
      var value = Number((times * Math.pow(10, power)).toPrecision(12));
      if (value >= low * 0.999 && value <= high * 1.001 && power % every === 0) values.push(value);
    });
  return values.length > 1 ? values : ticks(low, high, 4);
}

// A function from values in [low, high] to positions in [from, to]; linear, or logarithmic if `log`.
function scale(low, high, from, to, log) {
  var transformed = log ? Math.log : function (value) { return value; };
  var begin = transformed(low);
  var range = transformed(high) - begin || 1;
  return function (value) { return from + (transformed(value) - begin) / range * (to - from); };
}

// The exponential moving average, over points however far apart. Dividing by the sum of the weights makes up for the
// mean's start at 0.
function smoothed(points, weight) {
  if (!weight) return points;
  var mean = 0;
  var sum_of_weights = 0;
  return points.map(function (point) {
    if (!is_number(point[1])) return point;
    mean = weight * mean + (1 - weight) * point[1];
    sum_of_weights = weight * sum_of_weights + 1 - weight;
    return [point[0], mean / sum_of_weights];
  });
}

// The range of both axes: of all that is drawn, with the axes' floor and ceiling and some margin.
function extent(spec) {
  var range = {x0: Infinity, x1: -Infinity, y0: Infinity, y1: -Infinity};
  function include(x, y) {
    range.x0 = Math.min(range.x0, x);
    range.x1 = Math.max(range.x1, x);
    if (!can_be_shown(y, spec.log)) return;
    range.y0 = Math.min(range.y0, y);
    range.y1 = Math.max(range.y1, y);
  }
  spec.series.forEach(function (series) {
    series.points.forEach(function (point) { include(point[0], point[1]); });
    (series.band || []).forEach(function (point) {
      include(point[0], Math.max(point[1], is_number(spec.floor) ? spec.floor : -Infinity));
      include(point[0], point[2]);
    });
  });
  (spec.marks || []).forEach(function (mark) { include(mark[0], NaN); });
  if (!isFinite(range.y0)) { range.y0 = spec.log ? 1 : 0; range.y1 = spec.log ? 10 : 1; }
  if (!spec.log) {
    if (is_number(spec.floor)) range.y0 = Math.min(range.y0, spec.floor);
    if (is_number(spec.ceiling)) range.y1 = Math.max(range.y1, spec.ceiling);
    var margin = is_flat(range.y0, range.y1) ? 0 : (range.y1 - range.y0) * 0.04;
    if (range.y0 !== spec.floor && range.y0 !== 0) range.y0 -= margin || Math.abs(range.y0) * 0.1;
    if (range.y1 !== spec.ceiling) range.y1 += margin || Math.abs(range.y1) * 0.1 || 1;
  } else if (is_flat(range.y0, range.y1)) {
    range.y0 /= 2;
    range.y1 *= 2;
  }
  if (range.x0 === range.x1) { range.x0 -= spec.log_x ? range.x0 / 2 : 1; range.x1 += 1; }
  return range;
}
