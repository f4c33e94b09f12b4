// Scores over the number of steps: how a model does with fewer or more steps than it was trained with.

// Evaluations with the same key are one curve.
function key_without_steps(evaluation) {
  return JSON.stringify(['split', 'updates', 'scoring', 'beam', 'length_penalty', 'decode_extra', 'evaluation_limit',
    'options'].map(function (key) { return evaluation[key]; }));
}

function steps_of(evaluation) {
  return Math.max(evaluation.encoder_steps || 0, evaluation.decoder_steps || 0);
}

// Lists of a run's evaluations that differ in nothing but steps, sorted by these; only lists with at least two numbers
// of steps.
function lists_by_steps(run) {
  var lists = {};
  run.evaluations.forEach(function (evaluation) {
    var key = key_without_steps(evaluation);
    (lists[key] = lists[key] || []).push(evaluation);
  });
  return Object.keys(lists).map(function (key) {
    return lists[key].sort(function (a, b) { return steps_of(a) - steps_of(b); });
  }).filter(function (list) { return steps_of(list[0]) < steps_of(list[list.length - 1]); });
}

function scores_by_steps(list, key, divisor) {
  return list.map(function (evaluation) { return [steps_of(evaluation), evaluation[key] / divisor]; })
    .filter(function (point) { return is_number(point[1]); });
}

// Words that tell the lists of one run apart.
function distinguishing_words(evaluation) {
  var changed = Object.keys(evaluation.options || {});
  return [evaluation.split, evaluation.scoring, evaluation.beam > 1 ? 'beam ' + evaluation.beam : '']
    .concat(changed.map(function (name) { return name + ' ' + evaluation.options[name]; })).filter(Boolean);
}

function series_by_steps(list, name, color) {
  var series = is_number(list[0].bleu) ?
    [{name: name + ', BLEU / 100', points: scores_by_steps(list, 'bleu', 100)}] :
    [{name: name, points: scores_by_steps(list, 'accuracy', 1)}];
  if (list[0].scoring === 'decoded')
    series.push({name: name + ', whole sequences', dash: true,
      points: scores_by_steps(list, 'sequence_accuracy', 1)});
  series.forEach(function (one) { one.color = color; one.dots = true; });
  return series.filter(function (one) { return one.points.length > 1; });
}

function steps_in_training(run) { return Number(run.settings['max-steps']) || Number(run.settings.steps); }

function steps_spec(report, options) {
  var series = [];
  var marks = [];
  report.runs.forEach(function (run, index) {
    if (options.hidden && options.hidden[index]) return;
    var lists = lists_by_steps(run);
    lists.forEach(function (list) {
      var name = [run.name].concat(lists.length > 1 ? distinguishing_words(list[0]) : []).join(', ');
      series = series.concat(series_by_steps(list, name, index));
    });
    if (lists.length) marks.push(steps_in_training(run));
  });
  var steps = [];
  series.forEach(function (one) {
    one.points.forEach(function (point) { if (steps.indexOf(point[0]) < 0) steps.push(point[0]); });
  });
  return {label: 'Score by number of steps', width: options.width, height: options.height, x: 'steps in evaluation',
    y: 'share correct', floor: 0, series: series, legend: options.legend,
    x_ticks: steps.length < 16 ? steps : undefined,
    marks: marks.filter(function (mark, index) { return mark && marks.indexOf(mark) === index; })
      .map(function (mark) { return [mark, 'in training']; }),
    caption: 'Solid: symbols. Dashed: whole sequences.'};
}
