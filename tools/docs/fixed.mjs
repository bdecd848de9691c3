// biome-ignore-all lint/style/noProcessEnv: every program that is started inherits the time.
/*
 * Loaded into the programs that tools/docs/pictures.mjs starts: with it, each run shows the same dates, codes, links and ids.
 * The time stands still, and what node:crypto gives as random follows from a seed. Intervals are measured with another clock,
 * so the durations in the IDE are real. For pictures alone: it makes secrets that everyone can guess.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const TIME = Date.parse(process.env.PICTURES_TIME);

globalThis.Date = class extends Date {
  constructor(...args) {
    super(...(args.length > 0 ? args : [TIME]));
  }

  static now() {
    return TIME;
  }
};

let drawn = 0;
/** The next bytes of the sequence. */
function bytes(size) {
  const parts = [];
  for (let made = 0; made < size; made += 32) {
    drawn += 1;
    parts.push(crypto.createHash('sha256').update(`pictures ${drawn}`).digest());
  }
  return Buffer.concat(parts).subarray(0, size);
}

crypto.randomBytes = bytes;
crypto.randomInt = (max) => bytes(6).readUIntBE(0, 6) % max;
crypto.randomUUID = () =>
  bytes(16)
    .toString('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-8$4-');
syncBuiltinESMExports();
