import * as z from 'zod';

/** What `npm run bench` writes, as far as it is drawn. */
const FIGURES = z.object({
  machine: z.string(),
  node: z.string(),
  rows: z.array(z.object({ workload: z.string(), system: z.string(), cpuMicros: z.number().positive() })),
});

/** The names of the servers in the chart, and their colours for readers of light and of dark pages. */
const SERVERS: Record<string, [name: string, light: string, dark: string]> = {
  ours: ['ours', '#3d36c4', '#a7a2ff'],
  'mercurius-promises': ['mercurius, same promises', '#1f857a', '#4fc3b4'],
  'mercurius-equal': ['mercurius, same work', '#2f7d5b', '#63bd90'],
  mercurius: ['mercurius', '#8a6d1f', '#cfa93f'],
  'apollo-naive': ['Apollo Server + RESTDataSource', '#b3541e', '#e88d5a'],
  floor: ['no GraphQL', '#6d7488', '#9aa2b5'],
};

/** With a background of its own: a forge can show a dark page in a browser that prefers light ones. */
const STYLE = `<style>
${palette('#ffffff', '#424858', 1)}
@media (prefers-color-scheme: dark) {
${palette('#0d1117', '#c3c9d6', 2)}
}
</style>
<rect class="page" width="100%" height="100%"/>`;

function palette(page: string, text: string, index: 1 | 2): string {
  const bars = Object.entries(SERVERS).map(([system, colours]) => `.${system} { fill: ${colours[index]} }`);
  return [`.page { fill: ${page} }`, `text { fill: ${text} }`, ...bars].join('\n');
}

const [MARGIN, LEFT, BAR, WIDTH, ROW] = [12, 232, 400, 744, 18];

/** An SVG of horizontal bars. Each workload has a scale of its own: its longest bar is its largest figure. */
export function chart(json: string): string {
  const { machine, node, rows } = FIGURES.parse(JSON.parse(json));
  const parts: string[] = [];
  let y = 24;
  const text = (x: number, what: string, more = '') => parts.push(`<text x="${x}" y="${y}"${more}>${what}</text>`);
  text(MARGIN, `CPU µs per request, ${machine}, Node ${node.replace('v', '')}; shorter is better`);
  for (const workload of new Set(rows.map((row) => row.workload))) {
    const figures = rows.filter((row) => row.workload === workload);
    const longest = Math.max(...figures.map(({ cpuMicros }) => cpuMicros));
    y += 34;
    text(MARGIN, workload, ' font-weight="bold"');
    for (const [system, [name]] of Object.entries(SERVERS)) {
      const figure = figures.find((row) => row.system === system)?.cpuMicros;
      if (figure === undefined) continue;
      y += ROW;
      const width = Math.round((BAR * figure) / longest);
      text(MARGIN, name);
      parts.push(`<rect class="${system}" x="${LEFT}" y="${y - 11}" width="${width}" height="13"/>`);
      text(LEFT + width + 8, figure.toLocaleString('en-US'));
    }
  }
  const box = `width="${WIDTH}" height="${y + 12}" viewBox="0 0 ${WIDTH} ${y + 12}"`;
  const font = 'font-family="system-ui, sans-serif" font-size="13"';
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box} role="img" aria-label="CPU time of one request" ${font}>\n${STYLE}\n${parts.join('\n')}\n</svg>\n`;
}
