import * as z from 'zod';

const FIGURES = z.object({
  machine: z.string(),
  unit: z.string(),
  servers: z.array(z.string()),
  /** For each workload a figure of each server. */
  workloads: z.record(z.string(), z.array(z.number().positive())),
});

const COLOURS = ['#3d36c4', '#2f7d5b', '#b3541e', '#7a8194'];
/** Readable on white and on black. */
const TEXT = '#767c8c';
const [LEFT, BAR, WIDTH, ROW] = [220, 400, 720, 18];

/** An SVG of horizontal bars. Each workload has a scale of its own: its longest bar is its largest figure. */
export function chart(json: string): string {
  const { machine, unit, servers, workloads } = FIGURES.parse(JSON.parse(json));
  const parts: string[] = [];
  let y = 24;
  const text = (x: number, what: string, more = '') => parts.push(`<text x="${x}" y="${y}"${more}>${what}</text>`);
  text(0, `${unit}, ${machine}; shorter is better`);
  for (const [workload, figures] of Object.entries(workloads)) {
    y += 34;
    text(0, workload, ' font-weight="bold"');
    for (const [at, figure] of figures.entries()) {
      y += ROW;
      const width = Math.round((BAR * figure) / Math.max(...figures));
      text(0, servers[at] ?? '');
      parts.push(`<rect x="${LEFT}" y="${y - 11}" width="${width}" height="13" fill="${COLOURS[at]}"/>`);
      text(LEFT + width + 8, figure.toLocaleString('en-US'));
    }
  }
  const box = `width="${WIDTH}" height="${y + 12}" viewBox="0 0 ${WIDTH} ${y + 12}"`;
  const font = `font-family="system-ui, sans-serif" font-size="13" fill="${TEXT}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box} role="img" aria-label="${unit}" ${font}>\n${parts.join('\n')}\n</svg>\n`;
}
