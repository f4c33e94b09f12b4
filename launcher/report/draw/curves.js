// What the curves are made of: [part, key, dashed, dotted]; and what tells solid from dashed ones.
var curves = {
  'loss': {title: 'Loss', y: 'loss a label',
    caption: 'Solid: training: the cross entropy of smoothed labels, less their entropy, and ponder weight times ' +
      'ponder time. Dashed: validation: the cross entropy alone.',
    parts: [['training', 'loss', false, false], ['validation', 'validation_loss', true, true]]},
  'score': {title: 'Score on the validation split', y: 'share that is right', floor: 0, ceiling: 1,
    caption: 'Solid: symbols, each after the right ones or, with --evaluation-scoring decoded, after one another. ' +
      'Dashed: whole sequences.',
    parts: [['validation', 'accuracy', false, true], ['validation', 'sequence_accuracy', true, true]]},
  'perplexity': {title: 'Perplexity on the validation split', y: 'perplexity', floor: 1,
    parts: [['validation', 'perplexity', false, true]]},
  'bleu': {title: 'BLEU on the validation split', y: 'BLEU', floor: 0, parts: [['validation', 'bleu', false, true]]},
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
