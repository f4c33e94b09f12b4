// What the page is made of. The files of this folder are one script, in CMakeLists.txt's order: what is shown of the
// report, and what moves. Pictures are those of draw/.
'use strict';
const report = JSON.parse(document.getElementById('report').textContent);
const shown = {hidden: {}, smooth: 0, log: {}, hours: false};

// An element with attributes, listeners (functions), text and other elements in it.
function make(kind, attributes, ...children) {
  const element = document.createElement(kind);
  for (const [name, value] of Object.entries(attributes || {}))
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? '' : value);
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

const section = name => document.getElementById(name);
const quiet = (...words) => make('p', {class: 'quiet'}, ...words);
const cards = (...inside) => make('div', {class: 'cards'}, ...inside);
const plot_of = name => make('div', {class: 'plot', 'data-picture': name});
const plural = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;
const last = list => list[list.length - 1];

function card(size, title, plot, ...controls) {
  return make('div', {class: `card ${size}`}, make('div', {class: 'head'}, make('h3', {}, title), ...controls), plot);
}

// heads: elements; rows: of each its elements.
function table(heads, rows) {
  return make('div', {class: 'table'}, make('table', {},
    make('thead', {}, make('tr', {}, ...heads)),
    make('tbody', {}, ...rows.map(cells => make('tr', {}, ...cells)))));
}

// A run's colour and mark.
function dot(index) {
  const swatch = make('span', {class: 'picture dot'});
  swatch.innerHTML = `<svg width="12" height="12">${draw.mark(index, 6, 6, 4.6)}</svg>`;
  return swatch;
}
