/* What the soak prints. */

/** The rows of the table, one for each phase, in the order in which they came. */
export function rows(phases) {
  return phases.map(({ name, records, upstreamCalls, retries, backMs }) => {
    const count = (...outcomes) => records.filter(({ outcome }) => outcomes.includes(outcome)).length;
    const ms = records.map((record) => record.ms).sort((a, b) => a - b);
    return {
      phase: name,
      operations: records.length,
      data: count('data'),
      error: count('error'),
      unanswered: count('unanswered', 'unclean'),
      'p50 ms': quantile(ms, 0.5),
      'p99 ms': quantile(ms, 0.99),
      'calls/req.': rounded(callsPerRequest({ records, upstreamCalls }), 2),
      retries,
      'back ms': backMs && rounded(backMs),
    };
  });
}

/** How often each text occurs. */
export function countOf(texts) {
  const counts = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}

/** The codes that clients were told, for each phase in which there were errors. */
export function codes(phases) {
  return phases
    .map(({ name, records }) => [name, Object.entries(countOf(records.flatMap(({ code }) => code ?? [])))])
    .filter(([, counts]) => counts.length > 0)
    .map(([name, counts]) => `  ${name}: ${counts.map(([code, count]) => `${code} ${count}`).join(', ')}`)
    .join('\n');
}

/** How many requests reached the upstream for each REST call that the operations of a phase needed. */
export function callsPerRequest({ records, upstreamCalls }) {
  return upstreamCalls / records.reduce((sum, { calls }) => sum + calls, 0);
}

const rounded = (value, digits = 0) => Number(value.toFixed(digits));
const quantile = (sorted, share) => rounded(sorted[Math.ceil(sorted.length * share) - 1] ?? 0, 1);

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

/** Prints a figure that was asked for, and whether it was met. */
export const verdict = (name, value, isMet) => console.log(`  ${isMet ? 'met    ' : 'NOT met'}  ${name}: ${value}`);
