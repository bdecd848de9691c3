import { existsSync } from 'node:fs';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where Chromium is; CHROMIUM names another place. Undefined where none is installed: tests in a browser are skipped. */
export const executablePath = process.env['CHROMIUM'] ?? PLACES.find((path) => existsSync(path));
if (executablePath === undefined) {
  process.stderr.write('No Chromium is installed (CHROMIUM may name one): tests in a browser are skipped.\n');
}
