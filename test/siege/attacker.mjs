/*
 * One attack, in a process of its own so that its work is not the victim's: `node attacker.mjs` is told over IPC which one,
 * says `begun`, and ends when it is told to, when its parent is gone, or after half a minute.
 */
import { attacks } from './attacks.mjs';

const LONGEST_MS = 30_000;

process.on('disconnect', () => process.exit());
setTimeout(() => process.exit(), LONGEST_MS);
process.once('message', async ({ name, target }) => {
  const attack = attacks[name];
  if (!attack) throw new Error(`There is no attack "${name}".`);
  // Whatever a connection suffers, the attack goes on.
  process.on('uncaughtException', (error) => {
    if (error.code === undefined) console.error(error);
  });
  const counts = {};
  const count = (what) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  process.on('message', () => process.send(counts));
  process.send('begun');
  await attack({ ...target, count });
});
