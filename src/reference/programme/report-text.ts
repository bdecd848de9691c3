import type { PlayerReport } from './report.ts';

/** A player's report, for a person at a terminal. */
export function reportText(report: PlayerReport): string {
  const { referred } = report;
  return [
    `Player ${report.playerUniqueId}, created ${report.createdAt}`,
    `  service id ${report.serviceId}, referral code ${report.referralCode}`,
    ...section(
      'Contacts (keyed hashes; a mobile number has one for each way to write it)',
      report.contacts.map(({ kind, hash }) => `${kind} ${hash}`),
    ),
    'Referred by',
    `  ${referred.referrer === undefined ? 'nobody' : `${referred.referrer}: ${statusText(referred)}`}`,
    `  ${referred.why}`,
    ...section(
      'Contacts left at the link',
      report.contactsLeft.map(
        ({ kind, hash, leftAt, state, friend }) =>
          `${leftAt} ${kind} ${hash} ${state}${friend === undefined ? '' : ` for ${friend}`}`,
      ),
    ),
    ...section(
      `Friends: ${report.totals.pending} pending, ${report.totals.active} active`,
      report.friends.map((row) => `${row.friend}: ${statusText(row)}`),
    ),
    ...section(
      'Coupons',
      report.coupons.map(
        ({ code, group, issuedAt, why, uses, usesLeft, isExpired }) =>
          `${issuedAt} ${code} of ${group}: ${why}; used ${uses}, ${usesLeft ?? 'any number of'} uses left${isExpired ? ', expired' : ''}`,
      ),
    ),
    ...section(
      'Rewards not issued',
      report.rewardsNotIssued.map(({ group, why }) => `${group}: ${why}`),
    ),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): string[] {
  return [title, ...(lines.length > 0 ? lines : ['none']).map((line) => `  ${line}`)];
}

type StatusTimes = { [Name in 'status' | 'referredAt' | 'activeAt']?: string | undefined };

function statusText({ status, referredAt, activeAt }: StatusTimes) {
  return `${status}, referred ${referredAt}${activeAt === undefined ? '' : `, active ${activeAt}`}`;
}
