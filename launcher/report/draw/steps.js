// Scores by the steps taken: what a model does with fewer or more of them than it was trained with.

// What else an evaluation was: those that are alike make a curve.
function beside_steps(evaluation) {
  return JSON.stringify(['split', 'updates', 'scoring', 'beam', 'length_penalty', 'decode_extra', 'evaluation_limit',
    'options'].map(function (key) { return evaluation[key]; }));
}

function most_steps(evaluation) {
  return Math.max(evaluation.encoder_steps || 0, evaluation.decoder_steps || 0);
}

// Evaluations of a run with at least two numbers of steps: lists of those that are alike in all else, by steps.
function alike_but_for_steps(run) {
  var lists = {};
  run.evaluations.forEach(function (evaluation) {
    var way = beside_steps(evaluation);
    (lists[way] = lists[way] || []).push(evaluation);
  });
  return Object.keys(lists).map(function (way) {
    return lists[way].sort(function (a, b) { return most_steps(a) - most_steps(b); });
  }).filter(function (list) { return most_steps(list[0]) < most_steps(list[list.length - 1]); });
}

function scores_by_steps(list, key, whole) {
  return list.map(function (evaluation) { return [most_steps(evaluation), evaluation[key] / whole]; })
    .filter(function (point) { return is_number(point[1]); });
}

// What tells lists of one run apart.
function way_of(evaluation) {
  var changed = Object.keys(evaluation.options || {});
  return [evaluation.split, evaluation.scoring, evaluation.beam > 1 ? 'beam ' + evaluation.beam : '']
    .concat(changed.map(function (name) { return name + ' ' + evaluation.options[name]; })).filter(Boolean);
}

function curves_by_steps(list, name, color) {
  var scores = is_number(list[0].bleu) ?
    [{name: name + ', BLEU / 100', points: scores_by_steps(list, 'bleu', 100)}] :
    [{name: name, points: scores_by_steps(list, 'accuracy', 1)}];
  if (list[0].scoring === 'decoded')
    scores.push({name: name + ', whole sequences', dash: true,
      points: scores_by_steps(list, 'sequence_accuracy', 1)});
  scores.forEach(function (one) { one.color = color; one.dots = true; });
  return scores.filter(function (one) { return one.points.length > 1; });
}

function steps_in_training(run) { return Number(run.settings['max-steps']) || Number(run.settings.steps); }

function steps_spec(report, options) {
  var series = [];
  var marks = [];
  report.runs.forEach(function (run, index) {
    if (options.hidden && options.hidden[index]) return;
    var lists = alike_but_for_steps(run);
    lists.forEach(function (list) {
      var name = [run.name].concat(lists.length > 1 ? way_of(list[0]) : []).join(', ');
      series = series.concat(curves_by_steps(list, name, index));
    });
    if (lists.length) marks.push(steps_in_training(run));
  });
  var steps = [];
  series.forEach(function (one) {
    one.points.forEach(function (point) { if (steps.indexOf(point[0]) < 0) steps.push(point[0]); });
  });
  return {label: 'Score by steps', width: options.width, height: options.height, x: 'steps in evaluation',
    y: 'share that is right', floor: 0, series: series, legend: options.legend,
    x_ticks: steps.length < 16 ? steps : undefined,
    marks: marks.filter(function (mark, index) { return mark && marks.indexOf(mark) === index; })
      .map(function (mark) { return [mark, 'in training']; }),
    caption: 'Solid: symbols. Dashed: whole sequences.'};
}
