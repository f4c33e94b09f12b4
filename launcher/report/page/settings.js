// The settings of the runs.

// Runs or settings are its rows, whichever are more.
function settings_table(names) {
  const value = (run, name) =>
    make('td', {}, make('code', {}, run.settings[name] === undefined ? '—' : run.settings[name]));
  if (report.runs.length > names.length)
    return table([make('th', {}, 'run'), ...names.map(name => make('th', {}, name))],
      report.runs.map((run, index) =>
        [make('td', {}, run_mark(index), ' ', run.name), ...names.map(name => value(run, name))]));
  return table(
    [make('th', {}, 'setting'), ...report.runs.map((run, index) => make('th', {}, run_mark(index), ' ', run.name))],
    names.map(name => [make('td', {}, name), ...report.runs.map(run => value(run, name))]));
}

function show_settings() {
  if (!report.runs.length) return;
  const names = [...new Set(report.runs.flatMap(run => Object.keys(run.settings)))];
  const different = names.filter(name => new Set(report.runs.map(run => run.settings[name])).size > 1);
  section('settings').append(make('h2', {}, 'Settings'));
  if (different.length)
    section('settings').append(quiet('Settings in which the runs differ:'), settings_table(different));
  else if (report.runs.length > 1)
    section('settings').append(quiet('The runs have the same settings.'));
  section('settings').append(
    make('details', {}, make('summary', {}, `all ${names.length} settings`), settings_table(names)));
}
