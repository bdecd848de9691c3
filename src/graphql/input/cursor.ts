import { badUserInput } from '../../errors.ts';

/** A place in a list of referred friends. Cursors are opaque to clients. */
export interface Cursor {
  /** The row in the list, counted from 0, when the cursor was made. */
  row: number;
  /** The friend in that row. Undefined for one without an identifier. */
  friend?: string | undefined;
  /** How many friends the list had. */
  total?: number | undefined;
}

/** Longer identifiers are left out of cursors, which can be part of a URL. */
const MAX_FRIEND_LENGTH = 1_024;
/** The longest cursor: the longest identifier, with every character escaped. */
const MAX_LENGTH = 10_000;
const MAX_ROW = 999_999_999;

export function writeCursor({ row, friend, total }: Cursor): string {
  const shown = friend !== undefined && friend.length <= MAX_FRIEND_LENGTH ? friend : null;
  return Buffer.from(JSON.stringify([row, shown, ...(total === undefined ? [] : [total])])).toString('base64url');
}

/** Throws BAD_USER_INPUT for a text that is no cursor of ours. */
export function readCursor(text: string): Cursor {
  const [row, friend, total] = text.length <= MAX_LENGTH ? parse(Buffer.from(text, 'base64url').toString()) : [];
  const isCursor =
    isRow(row) && (friend === null || typeof friend === 'string') && (total === undefined || isRow(total));
  if (!isCursor) throw badUserInput('after', 'must be a cursor from an earlier response');
  return { row, friend: friend ?? undefined, total };
}

function parse(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function isRow(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_ROW;
}
