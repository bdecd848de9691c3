/* The operations that are measured, and what wrk needs to send them. Each takes the player as `$id`. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const profile = 'playerUniqueId referralLink attributes { displayName firstName lastName email }';
const coupon =
  'code isUsed value currency couponType startAt endAt isExpired group { handle title } options { minOrderValue capping }';
const friend = 'playerUniqueId displayName email joinDate status';
const totals = 'total totalPending totalActive';
const player = (name, selection) => `query ${name}($id: ID!) { player(playerUniqueId: $id) { ${selection} } }`;

export const WORKLOADS = {
  'W1 profile': player('Profile', profile),
  'W2 round trip': player(
    'RoundTrip',
    `${profile} coupons { ${coupon} } referredFriends(limit: 50) { ${totals} nodes { ${friend} } }`,
  ),
  'W3 graph': player(
    'Graph',
    `${profile} referredFriends(limit: 20) { ${totals} nodes { ${friend} player { ${profile} coupons { ${coupon} } } } }`,
  ),
  'W4 200 friends': player(
    'Friends',
    `referredFriends(limit: 200) { count ${totals} nodes { ${friend} mobileNumber } }`,
  ),
};

/** What Apollo Client 4 sends. A benchmark without its `Accept` once measured a path that no real client took. */
export const headersOf = (token) => ({
  'content-type': 'application/json',
  accept: 'application/graphql-response+json,application/json;q=0.9',
  authorization: `Bearer ${token}`,
});

export const bodyOf = (query, id) => JSON.stringify({ query, variables: { id } });

/** Writes wrk's script for an operation: 10,000 players in turn. At its end it prints its figures as JSON. */
export async function writeScript(folder, name, query, headers) {
  const lines = Object.entries({ ...headers, 'accept-encoding': 'identity' }).map(
    ([header, value]) => `wrk.headers["${header}"] = "${value}"`,
  );
  const path = join(folder, `${name.split(' ')[0]}.lua`);
  await writeFile(
    path,
    `wrk.method = "POST"
${lines.join('\n')}
local body, number = [==[${bodyOf(query, 'PLAYER')}]==], 0
function request()
  number = (number + 1) % 10000
  return wrk.format(nil, nil, nil, (body:gsub("PLAYER", "p" .. number)))
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('\\n{"requests":%d,"bad":%d,"seconds":%f,"p99":%d}\\n', summary.requests,
    e.status + e.connect + e.read + e.write + e.timeout, summary.duration / 1e6, latency:percentile(99)))
end
`,
  );
  return path;
}
