import { badUserInput } from '../errors.ts';

/** Cursors are opaque to clients. They contain the number of a row of the list, counted from 0. */
const FORM = /^row:(\d{1,9})$/;

export function cursorAt(row: number): string {
  return Buffer.from(`row:${row}`).toString('base64url');
}

/** The row after a cursor, or the first row without a cursor. Throws BAD_USER_INPUT for an invalid cursor. */
export function rowAfter(cursor: string | null | undefined): number {
  if (cursor == null) return 0;
  const [, row] = (cursor.length < 40 && FORM.exec(Buffer.from(cursor, 'base64url').toString())) || [];
  if (row === undefined) throw badUserInput('after', 'must be a cursor from an earlier answer');
  return Number(row) + 1;
}
