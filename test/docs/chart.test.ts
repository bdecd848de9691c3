import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const svg = readFileSync('docs/pictures/benchmarks.svg', 'utf8');
const [, light = '', dark = ''] =
  /<style>(.*?)@media \(prefers-color-scheme: dark\) \{(.*?)\}\s*<\/style>/s.exec(svg) ?? [];

/** By selector, the colour of a palette. */
const coloursOf = (css: string) =>
  new Map(
    [...css.matchAll(/(\S+) \{ fill: (#[0-9a-f]{6}) \}/g)].map(([, selector = '', colour = '']) => [selector, colour]),
  );

/** The contrast ratio of two colours, as WCAG 2.2 defines it. */
function contrast(...colours: [string, string]): number {
  const luminance = (colour: string) =>
    [0.2126, 0.7152, 0.0722].reduce((sum, weight, index) => {
      const value = Number.parseInt(colour.slice(1 + 2 * index, 3 + 2 * index), 16) / 255;
      return sum + weight * (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    }, 0);
  const [darker = 0, lighter = 0] = colours.map(luminance).sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

test('contrast is computed as WCAG does', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48);
});

test.each([
  ['light', '#ffffff', light],
  ['dark', '#0d1117', dark],
])('the chart can be read on a %s page: text 4.5, bars 3', (_scheme, page, css) => {
  const colours = coloursOf(css);
  expect(colours.get('.page')).toBe(page);
  expect(contrast(colours.get('text') ?? page, page)).toBeGreaterThanOrEqual(4.5);
  const drawn = new Set([...svg.matchAll(/<rect class="([\w-]+)" x/g)].map(([, system = '']) => system));
  expect(drawn.size).toBeGreaterThan(4);
  const tooPale = [...drawn].filter((system) => contrast(colours.get(`.${system}`) ?? page, page) < 3);
  expect(tooPale).toEqual([]);
  expect(svg).not.toMatch(/<(?:text|rect)[^>]* fill=/);
});
