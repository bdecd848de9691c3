/*
 * Every gateway that a test starts is watched for leaks: what it answered, and, when it is closed, all it wrote to its log
 * and its metrics. So the whole suite looks for secrets, whatever a test is about.
 */
import { API_KEY, SECRET_KEY } from './upstream.ts';

/** The keys of the REST service, and whatever looks like a JWT with its signature. */
const SECRET = new RegExp(`${API_KEY}|${SECRET_KEY}|eyJ[\\w-]{10,}\\.[\\w-]{10,}\\.[\\w-]{10,}`);
/** E-mail addresses and telephone numbers. Answers may hold them, the log and the metrics may not. */
const PERSONAL = /[\w.+-]@[\w-]{1,63}(?:\.[\w-]{1,63}){0,5}\.[a-z]{2}|\+\d{9}/i;

/** Throws when an answer, or another text, holds a key or a token. */
export function assertNoSecret(text: string, pattern = SECRET): void {
  const found = pattern.exec(text);
  if (!found) return;
  const around = text.slice(Math.max(0, found.index - 300), found.index + 100);
  throw new Error(`A text that tests watch must not hold "${found[0]}":\n${around}`);
}

/** Throws when a log or a page of metrics holds a key, a token or personal data. */
export function assertNoLeak(text: string): void {
  assertNoSecret(text);
  assertNoSecret(text, PERSONAL);
}
