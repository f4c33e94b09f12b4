// A report's pictures, as SVG text. The page draws with this, and so does `ut report --svg`, outside a browser: in an
// interpreter that knows ECMAScript 5 and no document. Colours are picture.css's.
var draw = (function () {
  'use strict';

  var colours = 8;
  // A run's second mark, which tells the ninth from the first.
  var marks = ['M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0z', 'M-1-1h2v2h-2z', 'M0-1.25l1.25 2.1h-2.5z',
    'M0-1.25l1.25 1.25-1.25 1.25-1.25-1.25z', 'M-.4-1.2h.8v.8h.8v.8h-.8v.8h-.8v-.8h-.8v-.8h.8z'];
  var letter = 6.3; // width of one, at the size that pictures have

  function escape(text) {
    return String(text).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
  }

  function is_number(x) { return typeof x === 'number' && isFinite(x); }

  // A number as people like to read it, with so many digits.
  function short(x, digits) {
    if (!is_number(x)) return 'not a number';
    var size = Math.abs(x);
    if (size !== 0 && (size < 1e-4 || size >= 1e9)) return x.toExponential(Math.max(1, (digits || 4) - 2));
    if (size >= 1e6) return Number((x / 1e6).toPrecision(digits || 4)) + 'M';
    if (size >= 1e4) return Number((x / 1e3).toPrecision(digits || 4)) + 'k';
    return String(Number(x.toPrecision(digits || 4)));
  }

  function percent(share) { return Number((100 * share).toPrecision(3)) + ' %'; }

  function cut(text, most) { return text.length > most ? text.slice(0, most - 1) + '…' : text; }

  function text(x, y, words, anchor, more) {
    return '<text x="' + x.toFixed(1) + '" y="' + y.toFixed(1) + '" text-anchor="' + (anchor || 'middle') + '"' +
      (more ? ' ' + more : '') + '>' + escape(words) + '</text>';
  }

  function line(x1, y1, x2, y2, kind) {
    return '<line class="' + kind + '" x1="' + x1.toFixed(1) + '" y1="' + y1.toFixed(1) + '" x2="' + x2.toFixed(1) +
      '" y2="' + y2.toFixed(1) + '"/>';
  }

  function rectangle(x, y, width, height, kind, more) {
    return '<rect class="' + kind + '" x="' + x.toFixed(1) + '" y="' + y.toFixed(1) + '" width="' +
      Math.max(0, width).toFixed(1) + '" height="' + Math.max(0, height).toFixed(1) + '"' + (more || '') + '/>';
  }

  function mark(color, x, y, radius) {
    return '<path class="mark f' + color % colours + '" transform="translate(' + x.toFixed(1) + ' ' + y.toFixed(1) +
      ') scale(' + radius + ')" d="' + marks[Math.floor(color / colours) % marks.length] + '"/>';
  }

  function tip(words) { return ' data-tip="' + escape(words) + '"'; }

  function svg(width, height, label, body) {
    return '<svg xmlns="http://www.w3.org/2000/svg" class="picture" role="img" aria-label="' + escape(label) +
      '" width="' + Math.ceil(width) + '" height="' + Math.ceil(height) + '" viewBox="0 0 ' + Math.ceil(width) + ' ' +
      Math.ceil(height) + '">' + body + '</svg>';
  }

  // About so many round values from low to high.
  function ticks(low, high, about) {
    var rough = (high - low) / about;
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
    return values;
  }

  // A scale from values to places; `log`: of their logarithms.
  function scale(low, high, from, to, log) {
    var of = log ? Math.log : function (value) { return value; };
    var begin = of(low);
    var range = of(high) - begin || 1;
    return function (value) { return from + (of(value) - begin) / range * (to - from); };
  }

  // The exponential mean of what came so far, each point of a curve weighing the same.
  function smoothed(points, weight) {
    if (!weight) return points;
    var mean = 0;
    var all = 0;
    return points.map(function (point) {
      if (!is_number(point[1])) return point;
      mean = weight * mean + (1 - weight) * point[1];
      all = weight * all + 1 - weight;
      return [point[0], mean / all];
    });
  }

  function can_be_shown(value, log) { return is_number(value) && (!log || value > 0); }

  function path(points, frame, log) {
    var d = '';
    var on = false;
    points.forEach(function (point) {
      var fits = can_be_shown(point[1], log);
      if (fits) d += (on ? 'L' : 'M') + frame.x(point[0]).toFixed(1) + ' ' + frame.y(point[1]).toFixed(1);
      on = fits;
    });
    return d;
  }

  // The least and the most of both directions over all that is drawn.
  function extent(spec) {
    var range = {x0: Infinity, x1: -Infinity, y0: Infinity, y1: -Infinity};
    function take(x, y) {
      range.x0 = Math.min(range.x0, x);
      range.x1 = Math.max(range.x1, x);
      if (!can_be_shown(y, spec.log)) return;
      range.y0 = Math.min(range.y0, y);
      range.y1 = Math.max(range.y1, y);
    }
    spec.series.forEach(function (series) {
      series.points.forEach(function (point) { take(point[0], point[1]); });
      (series.band || []).forEach(function (point) {
        take(point[0], Math.max(point[1], is_number(spec.floor) ? spec.floor : -Infinity));
        take(point[0], point[2]);
      });
    });
    if (!isFinite(range.y0)) { range.y0 = spec.log ? 1 : 0; range.y1 = spec.log ? 10 : 1; }
    if (!spec.log) {
      if (is_number(spec.floor)) range.y0 = Math.min(range.y0, spec.floor);
      if (is_number(spec.ceiling)) range.y1 = Math.max(range.y1, spec.ceiling);
      var room = (range.y1 - range.y0) * 0.04;
      if (range.y0 !== spec.floor && range.y0 !== 0) range.y0 -= room || Math.abs(range.y0) * 0.1;
      if (range.y1 !== spec.ceiling) range.y1 += room || Math.abs(range.y1) * 0.1 || 1;
    } else if (range.y0 === range.y1) {
      range.y0 /= 2;
      range.y1 *= 2;
    }
    if (range.x0 === range.x1) { range.x0 -= 1; range.x1 += 1; }
    return range;
  }

  function legend(series, left, top, width) {
    var body = '';
    var x = left;
    var y = top;
    series.forEach(function (one) {
      var space = 34 + one.name.length * letter;
      if (x > left && x + space > left + width) { x = left; y += 18; }
      body += line(x, y - 4, x + 18, y - 4, 'line c' + one.color % colours + (one.dash ? ' dash' : '')) +
        (one.color < colours ? '' : mark(one.color, x + 16, y - 4, 3.5)) + text(x + 23, y, one.name, 'start');
      x += space + 10;
    });
    return {body: body, bottom: y + 6};
  }

  function axes(spec, frame, range) {
    var body = '';
    var y_ticks = spec.log ? log_ticks(range.y0, range.y1) : ticks(range.y0, range.y1, Math.max(3, spec.height / 55));
    y_ticks.forEach(function (value) {
      body += line(frame.left, frame.y(value), frame.right, frame.y(value), 'grid') +
        text(frame.left - 8, frame.y(value) + 4, short(value, 3), 'end');
    });
    (spec.x_ticks || ticks(range.x0, range.x1, Math.max(3, spec.width / 110))).forEach(function (value) {
      body += line(frame.x(value), frame.bottom, frame.x(value), frame.bottom + 4, 'axis') +
        text(frame.x(value), frame.bottom + 17, short(value, 4));
    });
    body += line(frame.left, frame.bottom, frame.right, frame.bottom, 'axis');
    body += text(frame.right, frame.bottom + 33, spec.x, 'end', 'class="name"');
    return body + text(frame.left, frame.top - 9, spec.y, 'start', 'class="name"');
  }

  // Points of a curve that are marked: all where they are dots and few; else, where another run has the same colour,
  // the last and some before it.
  function marked(series, spec, frame) {
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
    var kind = 'line' + colour + (series.dash ? ' dash' : '');
    if (series.drawn !== series.points)
      body += '<path class="' + kind + ' raw" d="' + path(series.points, frame, spec.log) + '"/>';
    body += '<path class="' + kind + '" d="' + path(series.drawn, frame, spec.log) + '"/>';
    marked(series, spec, frame).forEach(function (point) {
      body += mark(series.color, frame.x(point[0]), frame.y(point[1]), series.color < colours ? 2.6 : 3.5);
    });
    return body;
  }

  // Curves. spec: {label, width, height, x, y: names of the axes, log, smooth: 0 to 1, floor, ceiling: what the axis
  // reaches at least, series: [{name, color, points: [[x, y or null]], dash, dots, band: [[x, low, high]]}], legend,
  // caption: the page's, where a curve is dashed}.
  // Leaves spec.frame: where things are.
  function lines(spec) {
    var range = extent(spec);
    var frame = spec.frame = {left: 58, right: spec.width - 14, top: 26, bottom: spec.height - 40};
    frame.x = scale(range.x0, range.x1, frame.left, frame.right);
    frame.y = scale(range.y0, range.y1, frame.bottom, frame.top, spec.log);
    var body = axes(spec, frame, range);
    spec.series.forEach(function (series) { body += curve(series, spec, frame); });
    var height = spec.height;
    if (spec.legend) {
      var names = legend(spec.series, frame.left, spec.height + 12, frame.right - frame.left);
      body += names.body;
      height = names.bottom;
    }
    return svg(spec.width, height, spec.label, body);
  }

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

  // The cells of one map: which query looks at which key. spec: {queries: [text], keys: [text], ran: [rows that ran in
  // this step], weights: [ran][key] in 1/10000, most: the darkest weight, color}
  function cells(spec, left, top, size) {
    var body = rectangle(left, top, size * spec.keys.length, size * spec.queries.length, 'paper');
    var place = {};
    spec.ran.forEach(function (row, index) { place[row] = index; });
    spec.queries.forEach(function (unused, row) {
      var y = top + row * size;
      if (!(row in place)) {
        body += rectangle(left, y, size * spec.keys.length, size, 'left', ' fill="url(#hatch)"');
        return;
      }
      var colour = 'cell f' + spec.color % colours;
      spec.weights[place[row]].forEach(function (weight, key) {
        var shade = Math.min(1, weight / spec.most);
        if (shade >= 0.004)
          body += rectangle(left + key * size, y, size, size, colour, ' fill-opacity="' + shade.toFixed(3) + '"');
      });
    });
    return body + rectangle(left, top, size * spec.keys.length, size * spec.queries.length, 'edge');
  }

  var hatch = '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" ' +
    'patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>';

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

  // A map without words, to choose by.
  function thumbnail(spec) {
    var size = Math.max(1.5, Math.min(12, 132 / Math.max(spec.keys.length, spec.queries.length)));
    return svg(size * spec.keys.length + 2, size * spec.queries.length + 2, spec.label, cells(spec, 1, 1, size));
  }

  // What the curves are made of: [part, key, dashed, dotted]; and what tells solid from dashed ones.
  var curves = {
    'loss': {title: 'Loss', y: 'loss a label',
      caption: 'Solid: training: the cross entropy of smoothed labels, less their entropy, and ponder weight times ' +
        'ponder time. Dashed: validation: the cross entropy alone.',
      parts: [['training', 'loss', false, false], ['validation', 'validation_loss', true, true]]},
    'score': {title: 'Score on the validation split', y: 'share that is right', floor: 0, ceiling: 1,
      caption: 'Solid: symbols, each after the right ones. Dashed: whole sequences.',
      parts: [['validation', 'accuracy', false, true], ['validation', 'sequence_accuracy', true, true]]},
    'perplexity': {title: 'Perplexity on the validation split', y: 'perplexity', floor: 1,
      parts: [['validation', 'perplexity', false, true]]},
    'learning-rate': {title: 'Learning rate', y: 'learning rate', floor: 0,
      parts: [['training', 'learning_rate', false, false]]},
    'gradient-norm': {title: 'Gradient norm', y: 'before clipping',
      parts: [['training', 'gradient_norm', false, false]]},
    'rows-per-second': {title: 'Speed', y: 'rows a second, all ranks', floor: 0,
      parts: [['training', 'rows_per_s', false, false]]}
  };
  var part_names = {validation_loss: 'validation', sequence_accuracy: 'whole sequences'};

  function same_curve(a, b) { return JSON.stringify(a) === JSON.stringify(b); }

  // Hours that a run had taken by an update, or nothing where it does not say.
  function hours_by(run) {
    var hours = (run.curves.training.hours || []).filter(function (point) { return is_number(point[1]); });
    return function (update) {
      for (var next = 0; next < hours.length && hours[next][0] < update; ++next);
      if (!hours.length) return undefined;
      var to = hours[Math.min(next, hours.length - 1)];
      var from = next > 0 ? hours[next - 1] : [0, 0];
      return to[0] === from[0] ? to[1] : from[1] + (to[1] - from[1]) * (update - from[0]) / (to[0] - from[0]);
    };
  }

  function over_hours(points, run) {
    var hours = hours_by(run);
    return points.map(function (point) { return [hours(point[0])].concat(point.slice(1)); })
      .filter(function (point) { return is_number(point[0]); });
  }

  // The series of a curve picture, for the runs that are shown; options: {hidden, hours: whether over these}.
  function series_of(report, name, options) {
    var all = [];
    report.runs.forEach(function (run, index) {
      if (options.hidden && options.hidden[index]) return;
      var drawn = [];
      curves[name].parts.forEach(function (part) {
        var points = run.curves[part[0]][part[1]];
        if (!points || !points.length || drawn.some(function (other) { return same_curve(other, points); })) return;
        drawn.push(points);
        all.push({name: run.name + (part_names[part[1]] ? ', ' + part_names[part[1]] : ''), color: index,
          points: options.hours ? over_hours(points, run) : points, dash: part[2], dots: part[3]});
      });
    });
    return all;
  }

  function curve_spec(report, name, options) {
    var kind = curves[name];
    return {label: kind.title, width: options.width, height: options.height, x: options.hours ? 'hours' : 'updates',
      y: kind.y, log: options.log, smooth: options.smooth, floor: options.log ? undefined : kind.floor,
      ceiling: kind.ceiling, series: series_of(report, name, options), legend: options.legend, caption: kind.caption};
  }

  // Mean ponder time and its deviation over updates.
  function ponder_spec(report, options) {
    var series = [];
    report.runs.forEach(function (run, index) {
      if (options.hidden && options.hidden[index]) return;
      ['encoder', 'decoder'].forEach(function (stack) {
        var records = run.ponder[stack];
        if (!records) return;
        var points = records.map(function (r) { return [r.update, r.mean]; });
        var band = records.filter(function (r) { return is_number(r.mean) && is_number(r.sd); })
          .map(function (r) { return [r.update, r.mean - r.sd, r.mean + r.sd]; });
        series.push({name: run.name + ', ' + stack, color: index, dash: stack === 'decoder',
          points: options.hours ? over_hours(points, run) : points,
          band: options.hours ? over_hours(band, run) : band});
      });
    });
    return {label: 'Ponder time', width: options.width, height: options.height, x: options.hours ? 'hours' : 'updates',
      y: 'steps a position takes: mean ± deviation', floor: 0, series: series, legend: options.legend,
      caption: 'Solid: encoder. Dashed: decoder.'};
  }

  function numbered(count) {
    var numbers = [];
    while (numbers.length < count) numbers.push(numbers.length + 1);
    return numbers;
  }

  function histogram_spec(record, options) {
    var rows = (record.histogram || []).reduce(function (sum, count) { return sum + count; }, 0);
    var values = (record.histogram || []).map(function (count) { return rows ? count / rows : 0; });
    return {label: 'Ponder times', width: options.width, height: options.height, color: options.color,
      x: 'steps', y: 'share of positions', names: numbered(values.length), values: values,
      tips: values.map(function (share, index) {
        return (index + 1) + ' step' + (index ? 's' : '') + ': ' + record.histogram[index] + ' of ' + rows +
          ' positions, ' + percent(share);
      })};
  }

  function running_spec(record, options) {
    var values = record.running || [];
    return {label: 'Positions that run', width: options.width, height: options.height, color: options.color,
      x: 'step', y: 'share of positions that take the step', names: numbered(values.length), values: values,
      tips: values.map(function (share, index) { return 'step ' + (index + 1) + ': ' + percent(share) + ' run'; })};
  }

  function scaling_spec(report, options) {
    var series = [];
    var by_name = {};
    var most = 1;
    report.scaling.forEach(function (table) {
      table.rows.forEach(function (row) {
        if (!is_number(row.efficiency)) return;
        var of_kind = [row.kind, row.size].concat(row.exchange !== 'none' ? [row.exchange] : []).join(' ');
        var name = (row.curve || of_kind) + (report.scaling.length > 1 ? ', ' + table.file : '');
        if (!by_name[name])
          series.push(by_name[name] = {name: name, color: series.length, dots: true, points: [], rows: []});
        by_name[name].points.push([row.ranks, row.ranks * row.efficiency]);
        most = Math.max(most, row.ranks);
      });
    });
    series.forEach(function (one) { one.points.sort(function (a, b) { return a[0] - b[0]; }); });
    var ranks = [];
    series.forEach(function (one) {
      one.points.forEach(function (point) { if (ranks.indexOf(point[0]) < 0) ranks.push(point[0]); });
    });
    if (series.length)
      series.push({name: 'ideal', color: 7, dash: true, points: ranks.sort(function (a, b) { return a - b; })
        .map(function (count) { return [count, count]; })});
    return {label: 'Scaling', width: options.width, height: options.height, x: 'ranks',
      y: 'rows a second, against the fewest ranks', floor: 0, series: series, legend: options.legend,
      x_ticks: ranks.length < 12 ? ranks : undefined};
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

  function first_example(report) {
    for (var index = 0; index < report.runs.length; ++index)
      if (report.runs[index].model) return report.runs[index].model.examples[0];
    return null;
  }

  function first_records(report) {
    for (var index = 0; index < report.runs.length; ++index) {
      var ponder = report.runs[index].ponder;
      if (Object.keys(ponder).length) return ponder[chosen(report, 'stack', Object.keys(ponder))[0]];
    }
    return [];
  }

  function words_spec(example, stack, options) {
    var ponder = example.stacks[stack];
    return {label: 'Ponder times of an example', names: names_of_rows(example, stack),
      updates: ponder.updates, ponder: ponder.ponder, most: ponder.most, color: options.color, width: options.width};
  }

  // A picture by its name, or nothing where the report has nothing of that.
  function alone(report, name) {
    var options = {width: 640, height: 380, legend: true, color: 0};
    var example = first_example(report);
    var spec;
    if (curves[name]) {
      spec = curve_spec(report, name, options);
      return spec.series.length ? lines(spec) : '';
    }
    if (name === 'ponder' || name === 'scaling') {
      spec = name === 'ponder' ? ponder_spec(report, options) : scaling_spec(report, options);
      return spec.series.length ? lines(spec) : '';
    }
    if (name === 'ponder-histogram' || name === 'running') {
      var records = first_records(report);
      if (!records.length) return '';
      return bars((name === 'running' ? running_spec : histogram_spec)(records[records.length - 1], options));
    }
    if (!example) return '';
    if (name === 'ponder-words') {
      var halting = ['encoder', 'decoder'].filter(function (stack) {
        return example.stacks[stack] && example.stacks[stack].halting;
      });
      return halting.length ? words(words_spec(example, chosen(report, 'stack', halting)[0], options)) : '';
    }
    var map_name = {'attention': 'encoder', 'attention-decoder': 'decoder', 'attention-source': 'source'}[name];
    return example.maps[map_name] ? attention_grid(report, example, map_name, options) : '';
  }

  return {short: short, percent: percent, is_number: is_number, curves: curves, mark: mark, lines: lines, bars: bars,
    words: words, map: map, thumbnail: thumbnail, curve_spec: curve_spec, ponder_spec: ponder_spec,
    histogram_spec: histogram_spec, running_spec: running_spec, scaling_spec: scaling_spec, words_spec: words_spec,
    map_spec: map_spec, darkest: darkest, alone: alone};
})();

// What `ut report --svg` calls: the report as JSON text, the picture's name, the text of picture.css.
function draw_alone(report, name, style) {
  'use strict';
  var picture = draw.alone(JSON.parse(report), name);
  if (!picture) return '';
  var head = picture.indexOf('>') + 1;
  return picture.slice(0, head) + '<style>' + style + '</style><rect width="100%" height="100%" fill="#fff"/>' +
    picture.slice(head).replace(/ data-tip="[^"]*"/g, '') + '\n';
}
