// What `ut evaluate` has found.

function how_made({scoring, beam, length_penalty: penalty}) {
  if (scoring === 'teacher-forced') return 'after the right ones';
  if (!scoring) return '';
  return beam > 1 ? `beam ${beam}, length penalty ${penalty}` : 'decoded greedily';
}

function steps_of({encoder_steps: encoder, decoder_steps: decoder}) {
  if (encoder === undefined || decoder === undefined || encoder === decoder) return String(encoder || decoder || '');
  return `${encoder}, decoder ${decoder}`;
}

function ponder_of({ponder}) {
  return Object.entries(ponder || {}).map(
    ([stack, {mean, sd}]) => `${draw.short(mean, 3)} ± ${draw.short(sd, 2)} ${stack}`).join(', ');
}

const evaluation_columns = [
  ['split', one => one.split || '', false],
  ['of updates', one => (one.updates || []).join(', '), true],
  ['steps', steps_of, true],
  ['symbols', how_made, false],
  ['other than the run', one => Object.entries(one.options || {}).map(change => change.join(' ')).join(', '), false],
  ['examples', one => number(one.sequences, 7), true],
  ['accuracy', one => percent(one.accuracy), true],
  ['whole sequences', one => one.scoring ? percent(one.sequence_accuracy) : '', true],
  ['BLEU', one => number(one.bleu, 4), true],
  ['BLEU, tokenised and split', one => number(one.bleu_tokenised_split, 4), true],
  ['perplexity', one => number(one.perplexity, 4), true],
  ['mean error of tasks', one => percent(one.mean_error), true],
  ['failed tasks', one => one.failed_tasks === undefined ? '' : String(one.failed_tasks), true],
  ['ponder time', ponder_of, true]
];

// Tasks, numbers of attractors, languages: of each what was found.
const group_columns = [
  ...evaluation_columns.slice(0, 4).map(([name, value, right]) => [name, ({evaluation}) => value(evaluation), right]),
  ['group', ({group}) => group, false],
  ...['examples', 'accuracy', 'BLEU', 'ponder time'].map(wanted => {
    const [name, value, right] = evaluation_columns.find(([name]) => name === wanted);
    return [name, ({result}) => value(result), right];
  })
];

function steps_card() {
  const plot = plot_of('steps');
  curve_cards.push(() => show_lines(plot,
    draw.steps_spec(report, {width: width_of(plot), height: 330, hidden: shown.hidden, legend: true})));
  return card('whole', 'Score by steps', plot);
}

function show_evaluations() {
  const all = report.runs.flatMap(run => run.evaluations.map(evaluation => ({run, evaluation})));
  if (!all.length) return;
  const groups = all.flatMap(({run, evaluation}) => Object.entries(evaluation.groups || {}).map(
    ([group, result]) => ({run, evaluation, group, result})));
  section('evaluations').append(make('h2', {}, 'Evaluations'), quiet('What ut evaluate found.'),
    table_of_runs(all, evaluation_columns.map(
      ([name, value, right]) => [name, ({evaluation}) => value(evaluation), right])));
  if (draw.steps_spec(report, {}).series.length) section('evaluations').append(cards(steps_card()));
  if (groups.length) section('evaluations').append(make('h3', {}, 'By group'), table_of_runs(groups, group_columns));
}
