// Puts the report and the pictures of draw/ on the page, and makes them interactive. The files of this folder, in the
// order of CMakeLists.txt, are one script. This file has what its parts share.
'use strict';
const report = JSON.parse(document.getElementById('report').textContent);
const display = {hidden: {}, smooth: 0, log: {}, hours: false};

// An element with children: texts and elements. An attribute that is a function listens to the event of that name.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? '' : value);
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

const section = name => document.getElementById(name);
const quiet = (...words) => make('p', {class: 'quiet'}, ...words);
const cards = (...inside) => make('div', {class: 'cards'}, ...inside);
const make_plot = name => make('div', {class: 'plot', 'data-picture': name});
const plural = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;
const last = list => list[list.length - 1];

function card(size, title, plot, ...controls) {
  return make('div', {class: `card ${size}`}, make('div', {class: 'head'}, make('h3', {}, title), ...controls), plot);
}

// heads: elements of the first row. rows: a list of elements for each row.
function table(heads, rows) {
  return make('div', {class: 'table'}, make('table', {},
    make('thead', {}, make('tr', {}, ...heads)),
    make('tbody', {}, ...rows.map(cells => make('tr', {}, ...cells)))));
}

// A swatch with a run's colour and shape.
function run_mark(index) {
  const swatch = make('span', {class: 'picture dot'});
  swatch.innerHTML = `<svg width="12" height="12">${draw.mark(index, 6, 6, 4.6)}</svg>`;
  return swatch;
}
