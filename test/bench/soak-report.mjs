/* What the soak prints. */

const COLUMNS = [
  'phase',
  'operations',
  'data',
  'error',
  'unanswered',
  'p50 ms',
  'p99 ms',
  'calls/req.',
  'retries',
  'back ms',
];

/** The table: a line for each phase, in the order in which they came. */
export function table(phases) {
  const rows = phases.map(({ name, records, upstreamCalls, retries, backMs }) => {
    const count = (...outcomes) => records.filter(({ outcome }) => outcomes.includes(outcome)).length;
    const ms = records.map((record) => record.ms).sort((a, b) => a - b);
    return [
      name,
      records.length,
      count('data'),
      count('error'),
      count('unanswered', 'unclean'),
      quantile(ms, 0.5),
      quantile(ms, 0.99),
      callsPerRequest({ records, upstreamCalls }).toFixed(2),
      retries,
      backMs === undefined ? '' : backMs.toFixed(0),
    ].map(String);
  });
  const widths = COLUMNS.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at].length)));
  const line = (cells) =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join('  ');
  return [line(COLUMNS), ...rows.map(line)].join('\n');
}

/** The codes that clients were told, for each phase in which there were errors. */
export function codes(phases) {
  return phases
    .map(({ name, records }) => ({ name, counts: Object.entries(countBy(records, ({ code }) => code)) }))
    .filter(({ counts }) => counts.length > 0)
    .map(({ name, counts }) => `  ${name}: ${counts.map(([code, count]) => `${code} ${count}`).join(', ')}`)
    .join('\n');
}

function countBy(records, keyOf) {
  const counts = {};
  for (const record of records) {
    const key = keyOf(record);
    if (key !== undefined) counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** How many requests reached the upstream for each REST call that the operations of a phase needed. */
export function callsPerRequest({ records, upstreamCalls }) {
  return upstreamCalls / records.reduce((sum, { calls }) => sum + calls, 0);
}

function quantile(sorted, share) {
  return (sorted[Math.ceil(sorted.length * share) - 1] ?? 0).toFixed(sorted.at(-1) < 10 ? 1 : 0);
}

/**
 * Compares acknowledged writes with the upstream's ledger. A deletion may be sent again, which changes nothing; events and
 * upserts may not, and are never found twice even when they were not acknowledged.
 */
export function audit(records, ledger) {
  const acknowledged = records.filter(({ written, outcome }) => written && outcome === 'data');
  return {
    acknowledged: acknowledged.length,
    missing: acknowledged.filter(({ written }) => !ledger.has(written)).length,
    doubled: [...ledger].filter(([written, times]) => times > 1 && !written.startsWith('delete')).length,
  };
}

/** A figure that was asked for, and whether it was met. */
export function verdict(name, value, isMet) {
  return `  ${isMet ? 'met    ' : 'NOT met'}  ${name}: ${value}`;
}
