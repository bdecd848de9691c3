import * as z from 'zod';

/** What `npm run bench` writes, as far as it is drawn. */
const FIGURES = z.object({
  machine: z.string(),
  node: z.string(),
  rows: z.array(z.object({ workload: z.string(), system: z.string(), cpuMicros: z.number().positive() })),
});

/** The names of the servers in the chart, and their colours. */
const SERVERS: Record<string, [name: string, colour: string]> = {
  ours: ['ours', '#3d36c4'],
  'mercurius-promises': ['mercurius, same promises', '#2a9d8f'],
  'mercurius-equal': ['mercurius, same work', '#2f7d5b'],
  mercurius: ['mercurius', '#8a6d1f'],
  'apollo-naive': ['Apollo Server + RESTDataSource', '#b3541e'],
  floor: ['no GraphQL', '#7a8194'],
};

/** Readable on white and on black. */
const TEXT = '#767c8c';
const [LEFT, BAR, WIDTH, ROW] = [220, 400, 720, 18];

/** An SVG of horizontal bars. Each workload has a scale of its own: its longest bar is its largest figure. */
export function chart(json: string): string {
  const { machine, node, rows } = FIGURES.parse(JSON.parse(json));
  const parts: string[] = [];
  let y = 24;
  const text = (x: number, what: string, more = '') => parts.push(`<text x="${x}" y="${y}"${more}>${what}</text>`);
  text(0, `CPU µs per request, ${machine}, Node ${node.replace('v', '')}; shorter is better`);
  for (const workload of new Set(rows.map((row) => row.workload))) {
    const figures = rows.filter((row) => row.workload === workload);
    const longest = Math.max(...figures.map(({ cpuMicros }) => cpuMicros));
    y += 34;
    text(0, workload, ' font-weight="bold"');
    for (const [system, [name, colour]] of Object.entries(SERVERS)) {
      const figure = figures.find((row) => row.system === system)?.cpuMicros;
      if (figure === undefined) continue;
      y += ROW;
      const width = Math.round((BAR * figure) / longest);
      text(0, name);
      parts.push(`<rect x="${LEFT}" y="${y - 11}" width="${width}" height="13" fill="${colour}"/>`);
      text(LEFT + width + 8, figure.toLocaleString('en-US'));
    }
  }
  const box = `width="${WIDTH}" height="${y + 12}" viewBox="0 0 ${WIDTH} ${y + 12}"`;
  const font = `font-family="system-ui, sans-serif" font-size="13" fill="${TEXT}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box} role="img" aria-label="CPU time of one request" ${font}>\n${parts.join('\n')}\n</svg>\n`;
}
