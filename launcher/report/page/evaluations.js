// Results of `ut evaluate`.

function search_of({scoring, beam, length_penalty: penalty}) {
  if (scoring === 'teacher-forced') return scoring;
  if (!scoring) return '';
  return beam > 1 ? `beam ${beam}, length penalty ${penalty}` : 'decoded greedily';
}

function scoring_of(evaluation) {
  const {decode_extra: extra, evaluation_limit: limit} = evaluation;
  return [search_of(evaluation), extra === undefined ? '' : `decode-extra ${extra}`,
    limit === undefined ? '' : `evaluation-limit ${limit}`].filter(Boolean).join(', ');
}

function steps_of({encoder_steps: encoder, decoder_steps: decoder}) {
  if (encoder === undefined || decoder === undefined || encoder === decoder) return String(encoder || decoder || '');
  return `${encoder}, decoder ${decoder}`;
}

function ponder_of({ponder}) {
  return Object.entries(ponder || {}).map(
    ([stack, {mean, sd}]) => `${draw.format_number(mean, 3)} ± ${draw.format_number(sd, 2)} ${stack}`).join(', ');
}

// [name, its text for an evaluation, whether it is aligned right]
const evaluation_columns = [
  ['split', one => one.split || '', false],
  ['checkpoint of update', one => (one.updates || []).join(', '), true],
  ['steps', steps_of, true],
  ['scoring', scoring_of, false],
  ['changed options', one => Object.entries(one.options || {}).map(change => change.join(' ')).join(', '), false],
  ['examples', one => number_text(one.sequences, 7), true],
  ['accuracy', one => percent_text(one.accuracy), true],
  ['whole sequences', one => one.scoring ? percent_text(one.sequence_accuracy) : '', true],
  ['BLEU', one => number_text(one.bleu, 4), true],
  ['BLEU, tokenised and split', one => number_text(one.bleu_tokenised_split, 4), true],
  ['perplexity', one => number_text(one.perplexity, 4), true],
  ['mean error of tasks', one => percent_text(one.mean_error), true],
  ['failed tasks', one => one.failed_tasks === undefined ? '' : String(one.failed_tasks), true],
  ['ponder time', ponder_of, true]
];

// The same for an evaluation's groups, such as tasks, numbers of attractors or test sets.
const group_columns = [
  ...evaluation_columns.slice(0, evaluation_columns.findIndex(([name]) => name === 'examples'))
    .map(([name, value, right]) => [name, ({evaluation}) => value(evaluation), right]),
  ['group', ({group}) => group, false],
  ...['examples', 'accuracy', 'BLEU', 'ponder time'].map(wanted => {
    const [name, value, right] = evaluation_columns.find(([name]) => name === wanted);
    return [name, ({result}) => value(result), right];
  })
];

function steps_card() {
  const plot = make_plot('steps');
  curve_redraws.push(() => show_lines(plot,
    draw.steps_spec(report, {width: width_of(plot), height: 330, hidden: display.hidden, legend: true})));
  return card('whole', 'Score by number of steps', plot);
}

function show_evaluations() {
  const all = report.runs.flatMap(run => run.evaluations.map(evaluation => ({run, evaluation})));
  if (!all.length) return;
  const groups = all.flatMap(({run, evaluation}) => Object.entries(evaluation.groups || {}).map(
    ([group, result]) => ({run, evaluation, group, result})));
  section('evaluations').append(make('h2', {}, 'Evaluations'), quiet('Results of ut evaluate.'),
    table_of_runs(all, evaluation_columns.map(
      ([name, value, right]) => [name, ({evaluation}) => value(evaluation), right])));
  if (draw.steps_spec(report, {}).series.length) section('evaluations').append(cards(steps_card()));
  if (groups.length) section('evaluations').append(make('h3', {}, 'By group'), table_of_runs(groups, group_columns));
}
