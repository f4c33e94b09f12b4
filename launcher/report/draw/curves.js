// The pictures of curves. parts: [part, key, dashed, dotted].
var curve_kinds = {
  'loss': {title: 'Loss', y: 'loss per label',
    caption: 'Solid: training loss (cross entropy with smoothed labels, minus their entropy, plus ponder weight × ' +
      'ponder time). Dashed: validation loss (cross entropy alone).',
    parts: [['training', 'loss', false, false], ['validation', 'validation_loss', true, true]]},
  'score': {title: 'Score on the validation split', y: 'share correct', floor: 0, ceiling: 1,
    caption: 'Solid: symbols, each predicted after the right ones (teacher-forced) unless --evaluation-scoring ' +
      'decoded was given. Dashed: whole sequences.',
    parts: [['validation', 'accuracy', false, true], ['validation', 'sequence_accuracy', true, true]]},
  'perplexity': {title: 'Perplexity on the validation split', y: 'perplexity', floor: 1,
    parts: [['validation', 'perplexity', false, true]]},
  'bleu': {title: 'BLEU on the validation split', y: 'BLEU', floor: 0, parts: [['validation', 'bleu', false, true]]},
  'learning-rate': {title: 'Learning rate', y: 'learning rate', floor: 0,
    parts: [['training', 'learning_rate', false, false]]},
  'gradient-norm': {title: 'Gradient norm', y: 'norm before clipping',
    parts: [['training', 'gradient_norm', false, false]]},
  'rows-per-second': {title: 'Speed', y: 'rows per second, all ranks', floor: 0,
    parts: [['training', 'rows_per_s', false, false]]}
};
var part_names = {validation_loss: 'validation', sequence_accuracy: 'whole sequences'};

function same_curve(a, b) { return JSON.stringify(a) === JSON.stringify(b); }

// A function from an update to the hours of training until then, interpolated between recorded updates. It returns
// undefined if the run has recorded no hours. To be asked for ascending updates.
function hours_at(run) {
  var hours = (run.curves.training.hours || []).filter(function (point) { return is_number(point[1]); });
  var next = 0;
  return function (update) {
    while (next < hours.length && hours[next][0] < update) ++next;
    if (!hours.length) return undefined;
    var to = hours[Math.min(next, hours.length - 1)];
    var from = next > 0 ? hours[next - 1] : [0, 0];
    return to[0] === from[0] ? to[1] : from[1] + (to[1] - from[1]) * (update - from[0]) / (to[0] - from[0]);
  };
}

function over_hours(points, run) {
  var hours = hours_at(run);
  return points.map(function (point) { return [hours(point[0])].concat(point.slice(1)); })
    .filter(function (point) { return is_number(point[0]); });
}

// The series of a picture of curves. options: {hidden: {index of a run: true}, hours: whether x is hours}.
function curve_series(report, name, options) {
  var all = [];
  report.runs.forEach(function (run, index) {
    if (options.hidden && options.hidden[index]) return;
    var earlier = [];
    curve_kinds[name].parts.forEach(function (part) {
      var points = run.curves[part[0]][part[1]];
      if (!points || !points.length || earlier.some(function (other) { return same_curve(other, points); })) return;
      earlier.push(points);
      all.push({name: run.name + (part_names[part[1]] ? ', ' + part_names[part[1]] : ''), color: index,
        points: options.hours ? over_hours(points, run) : points, dash: part[2], dots: part[3]});
    });
  });
  return all;
}

function curve_spec(report, name, options) {
  var kind = curve_kinds[name];
  return {label: kind.title, width: options.width, height: options.height, x: options.hours ? 'hours' : 'updates',
    y: kind.y, log: options.log, smooth: options.smooth, floor: options.log ? undefined : kind.floor,
    ceiling: kind.ceiling, series: curve_series(report, name, options), legend: options.legend,
    caption: kind.caption};
}
