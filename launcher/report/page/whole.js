// The whole page: its head, its theme, and everything in turn.

const redraw_curves = () => curve_cards.forEach(redraw => redraw());
const redraw_all = () => [...curve_cards, ...other_cards].forEach(redraw => redraw());

function show_head() {
  const runs = report.runs;
  const title = runs.length === 1 ? runs[0].name : runs.length ? plural(runs.length, 'run') : 'Scaling';
  document.title = `${title}: ut report`;
  document.getElementById('title').textContent = title;
  const directories = runs.length > 3 ? [] : runs.map(run => run.directory); // else the chips tell
  document.getElementById('subtitle').textContent = [...directories, report.build].join(' · ');
  if (!runs.length) return document.querySelector('nav').remove();
  document.getElementById('runs').append(...runs.map(chip_of));
  document.getElementById('over').append(...choose_one(['updates', 'hours'], 0, index => {
    shown.hours = index === 1;
    redraw_curves();
  }));
  const smooth = document.getElementById('smooth');
  smooth.addEventListener('input', () => {
    shown.smooth = Number(smooth.value);
    document.getElementById('smooth-value').textContent = String(shown.smooth);
    redraw_curves();
  });
}

// What a run is taken off the curves with.
function chip_of(run, index) {
  const chip = make('button', {type: 'button', 'aria-pressed': 'true', title: run.directory, click: () => {
    shown.hidden[index] = !shown.hidden[index];
    chip.setAttribute('aria-pressed', String(!shown.hidden[index]));
    redraw_curves();
  }}, dot(index), run.name);
  return chip;
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
  apply();
}

show_theme();
show_head();
show_summary();
show_evaluations();
show_curves();
show_ponder();
show_inside();
show_scaling();
show_settings();
redraw_all();
let resized = 0;
addEventListener('resize', () => { cancelAnimationFrame(resized); resized = requestAnimationFrame(redraw_all); });
