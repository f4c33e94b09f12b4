// Puts the page together: its head, its theme and its sections.

const redraw_curves = () => curve_redraws.forEach(redraw => redraw());
const redraw_all = () => [...curve_redraws, ...other_redraws].forEach(redraw => redraw());

function show_head() {
  const runs = report.runs;
  const title = runs.length === 1 ? runs[0].name : runs.length ? plural(runs.length, 'run') : 'Scaling';
  document.title = `${title}: ut report`;
  document.getElementById('title').textContent = title;
  const directories = runs.length > 3 ? [] : runs.map(run => run.directory); // the runs' buttons have them as tooltips
  document.getElementById('subtitle').textContent = [...directories, report.build].join(' · ');
  if (!runs.length) return document.querySelector('nav').remove();
  document.getElementById('runs').append(...runs.map(run_button));
  if (has_curves()) show_curve_controls();
  else document.querySelectorAll('#over, nav .slider').forEach(control => control.remove());
}

// What the curves are over, and how smooth they are.
function show_curve_controls() {
  document.getElementById('over').append(...choice_buttons(['updates', 'hours'], 0, index => {
    display.hours = index === 1;
    redraw_curves();
  }));
  const smooth = document.getElementById('smooth');
  smooth.addEventListener('input', () => {
    display.smooth = Number(smooth.value);
    document.getElementById('smooth-value').textContent = String(display.smooth);
    redraw_curves();
  });
}

// Hides a run's curves, or shows them again.
function run_button(run, index) {
  const button = make('button', {type: 'button', 'aria-pressed': 'true', title: run.directory, click: () => {
    display.hidden[index] = !display.hidden[index];
    button.setAttribute('aria-pressed', String(!display.hidden[index]));
    redraw_curves();
  }}, run_mark(index), run.name);
  return button;
}

function show_theme() {
  const button = document.getElementById('theme');
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let chosen = null;
  const apply = () => {
    const theme = chosen || (dark.matches ? 'dark' : 'light');
    document.documentElement.setAttribute('data-theme', theme);
    button.textContent = theme === 'dark' ? 'light' : 'dark';
  };
  button.addEventListener('click', () => { chosen = button.textContent; apply(); });
  dark.addEventListener('change', apply);
  addEventListener('beforeprint', () => document.documentElement.setAttribute('data-theme', 'light'));
  addEventListener('afterprint', apply);
  apply();
}

// A file that was changed by hand may lack what a section needs: the others are shown.
function show_sections(sections) {
  for (const [name, show] of Object.entries(sections))
    try {
      show();
    } catch (error) {
      section(name).append(make('p', {class: 'note'}, `Not all of "${name}" can be shown: ${error.message}`));
    }
}

show_theme();
show_head();
show_sections({summary: show_summary, evaluations: show_evaluations, curves: show_curves, ponder: show_ponder,
  inside: show_inside, scaling: show_scaling, settings: show_settings});
redraw_all();
let pending_frame = 0;
let drawn_width = innerWidth;
addEventListener('resize', () => {
  if (innerWidth === drawn_width) return; // a telephone's address bar comes and goes
  drawn_width = innerWidth;
  cancelAnimationFrame(pending_frame);
  pending_frame = requestAnimationFrame(redraw_all);
});
