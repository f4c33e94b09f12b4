// Scores over the number of steps: how a model does with fewer or more steps than it was trained with.

// [key of an evaluation, the word for its value]: how evaluations on one curve are alike, besides options and steps.
var evaluation_words = [
  ['split', String],
  ['updates', function (list) { return (list.length > 1 ? 'mean of updates ' : 'update ') + list.join(', '); }],
  ['scoring', String],
  ['beam', function (beam) { return beam > 1 ? 'beam ' + beam : ''; }],
  ['length_penalty', function (penalty) { return 'length penalty ' + penalty; }],
  ['decode_extra', function (extra) { return 'decode-extra ' + extra; }],
  ['evaluation_limit', function (limit) { return 'evaluation-limit ' + limit; }],
  ['examples_digest', function (digest) { return 'examples ' + digest.slice(0, 6); }]
];

function key_without_steps(evaluation) {
  return JSON.stringify([evaluation.options].concat(
    evaluation_words.map(function (one) { return evaluation[one[0]]; })));
}

function stacks_of(evaluation) {
  return ['encoder', 'decoder'].filter(function (stack) { return evaluation[stack + '_steps']; });
}

// Whether the stacks, if there are two, take the same number of steps.
function is_even(evaluation) {
  return stacks_of(evaluation).length < 2 || evaluation.encoder_steps === evaluation.decoder_steps;
}

// The points that an evaluation can be, of curves over the steps of `stacks`: of all of them, or of one while the other
// keeps its steps, which `fixed` then tells.
function points_of(evaluation) {
  var stacks = stacks_of(evaluation);
  var points = is_even(evaluation) && stacks.length ?
    [{evaluation: evaluation, fixed: '', stacks: stacks, steps: evaluation[stacks[0] + '_steps']}] : [];
  if (stacks.length < 2) return points;
  return points.concat(stacks.map(function (stack, index) {
    var other = stacks[1 - index];
    return {evaluation: evaluation, fixed: other + ' steps ' + evaluation[other + '_steps'], stacks: [stack],
      steps: evaluation[stack + '_steps']};
  }));
}

// Lists of a run's points that differ in nothing but steps, sorted by these; only lists of at least two. Evaluations
// in which both stacks take the same steps have a curve of their own, so that they do not count where one is fixed.
function lists_by_steps(run) {
  var lists = {};
  run.evaluations.forEach(function (evaluation) {
    points_of(evaluation).forEach(function (point) {
      var key = point.fixed + key_without_steps(evaluation);
      (lists[key] = lists[key] || []).push(point);
    });
  });
  return Object.keys(lists).map(function (key) {
    return lists[key].sort(function (a, b) { return a.steps - b.steps; });
  }).filter(function (list) {
    return list.filter(function (point) { return !point.fixed || !is_even(point.evaluation); }).length > 1;
  });
}

function scores_by_steps(list, key, divisor) {
  return list.map(function (point) { return [point.steps, point.evaluation[key] / divisor]; })
    .filter(function (point) { return is_number(point[1]); });
}

// Words for what not all lists have alike: `own` of the run or, updates apart, `all` of the runs that are drawn.
function distinguishing_words(evaluation, own, all) {
  function differs(lists, value_of) {
    return lists.some(function (list) { return !same_curve(value_of(list[0].evaluation), value_of(evaluation)); });
  }
  var words = evaluation_words.map(function (one) {
    var is_told = evaluation[one[0]] !== undefined &&
      differs(one[0] === 'updates' ? own : all, function (other) { return other[one[0]]; });
    return is_told ? one[1](evaluation[one[0]]) : '';
  });
  var options = evaluation.options || {};
  return words.concat(Object.keys(options).map(function (name) {
    return differs(all, function (other) { return (other.options || {})[name]; }) ? name + ' ' + options[name] : '';
  }));
}

function series_by_steps(list, name, color) {
  var first = list[0].evaluation;
  var series = is_number(first.bleu) ?
    [{name: name + ', BLEU / 100', points: scores_by_steps(list, 'bleu', 100)}] :
    [{name: name, points: scores_by_steps(list, 'accuracy', 1)}];
  if (first.scoring === 'decoded')
    series.push({name: name + ', whole sequences', dash: true,
      points: scores_by_steps(list, 'sequence_accuracy', 1)});
  series.forEach(function (one) { one.color = color; one.dots = true; });
  return series.filter(function (one) { return one.points.length > 1; });
}

function steps_in_training(settings, stack) {
  var is_decoder = stack === 'decoder';
  var halting = (is_decoder && settings['decoder-halting']) || settings.halting || 'none';
  return (halting !== 'none' && Number(settings['max-steps'])) ||
    Number((is_decoder && settings['decoder-steps']) || settings.steps);
}

// A run's lists have its colour and, from the second on, marks of their own.
function series_of_run(run, index, all) {
  var series = [];
  lists_by_steps(run).forEach(function (list, number, own) {
    var words = distinguishing_words(list[0].evaluation, own, all).concat(list[0].fixed);
    series = series.concat(
      series_by_steps(list, [run.name].concat(words).filter(Boolean).join(', '), index + number * colours));
  });
  return series;
}

function marks_of_run(run) {
  var marks = [];
  lists_by_steps(run).forEach(function (list) {
    list[0].stacks.forEach(function (stack) { marks.push(steps_in_training(run.settings, stack)); });
  });
  return marks;
}

function steps_spec(report, options) {
  var series = [];
  var marks = [];
  function is_drawn(run, index) { return !(options.hidden && options.hidden[index]); }
  var all = [].concat.apply([], report.runs.filter(is_drawn).map(lists_by_steps));
  report.runs.forEach(function (run, index) {
    if (!is_drawn(run, index)) return;
    series = series.concat(series_of_run(run, index, all));
    marks = marks.concat(marks_of_run(run));
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
