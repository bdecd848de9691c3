/* The page that tools/docs/dashboard.mjs takes a picture of. */

/** Draws each panel with uPlot, which the page has, and its legend. Runs in the page, so it uses nothing of this file. */
export function draw({ times, panels }) {
  const COLOURS = ['#2f6f4f', '#c2571a', '#2b5fa8', '#a8356f', '#8a7a10', '#5b4aa0', '#3f8f9f', '#777777'];
  const format = {
    s: (v) => (v < 1 ? `${+(v * 1_000).toPrecision(3)} ms` : `${+v.toPrecision(3)} s`),
    percentunit: (v) => `${+(v * 100).toPrecision(3)} %`,
    bytes: (v) => `${Math.round(v / 1e6)} MB`,
    ops: (v) => `${+v.toPrecision(3)}/s`,
    short: (v) => `${+v.toPrecision(3)}`,
  };
  for (const { title, unit, series } of panels) {
    const box = document.body.appendChild(document.createElement('section'));
    box.appendChild(document.createElement('h2')).textContent = title;
    const lines = series.map(({ label }, at) => ({
      label,
      stroke: COLOURS[at % COLOURS.length],
      width: 1.5,
      points: { show: false },
    }));
    const font = '11px sans-serif';
    const clock = (_, ticks) => ticks.map((time) => `${time} s`);
    const grid = { stroke: '#e6e6e6', width: 1 };
    const axes = [
      { font, grid, stroke: '#555', values: clock },
      { font, grid, stroke: '#555', size: 62, values: (_, ticks) => ticks.map((tick) => format[unit](tick)) },
    ];
    const scales = { x: { time: false }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } };
    new uPlot(
      {
        width: 384,
        height: 190,
        legend: { show: false },
        cursor: { show: false },
        axes,
        scales,
        series: [{}, ...lines],
      },
      [times.map((time) => time - times[0]), ...series.map(({ values }) => values)],
      box,
    );
    const legend = box.appendChild(document.createElement('p'));
    for (const { label, stroke } of lines) {
      const name = legend.appendChild(document.createElement('span'));
      name.textContent = label;
      name.style.setProperty('--colour', stroke);
    }
  }
}

export const STYLE = `
  body { margin: 0; padding: 12px; width: 1624px; display: grid; grid-template-columns: repeat(4, 1fr); gap: 12px; font: 12px sans-serif; color: #222; background: #f4f5f5; }
  section { background: #fff; border: 1px solid #ddd; border-radius: 3px; padding: 6px; overflow: hidden; }
  h2 { font-size: 13px; margin: 2px 4px 6px; font-weight: 600; }
  p { margin: 4px; display: flex; flex-wrap: wrap; gap: 2px 12px; font-size: 11px; }
  span::before { content: ''; display: inline-block; width: 12px; height: 3px; margin-right: 5px; vertical-align: middle; background: var(--colour); }`;
