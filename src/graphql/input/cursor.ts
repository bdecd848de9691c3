import { badUserInput } from '../errors.ts';

/** A place in a list of referred friends. Cursors are opaque to clients. */
export interface Cursor {
  /** The row in the list, counted from 0, when the cursor was made. */
  row: number;
  /** The friend in that row. Undefined for a friend without an identifier, and in cursors of earlier versions. */
  friend?: string | undefined;
  /** How many friends the list had. */
  total?: number | undefined;
}

/** Longer identifiers are left out of cursors, which can be part of a URL. */
const MAX_FRIEND_LENGTH = 1_024;
/** The longest cursor: the longest identifier, with every character escaped. */
const MAX_LENGTH = 10_000;
const MAX_ROW = 999_999_999;
/** Only a row, as earlier versions wrote it. */
const ROW = /^row:(\d{1,9})$/;

export function writeCursor({ row, friend, total }: Cursor): string {
  const known = friend !== undefined && friend.length <= MAX_FRIEND_LENGTH;
  const text = known ? JSON.stringify(total === undefined ? [row, friend] : [row, friend, total]) : `row:${row}`;
  return Buffer.from(text).toString('base64url');
}

/** Throws BAD_USER_INPUT for a text that is no cursor of ours. */
export function readCursor(text: string): Cursor {
  const cursor = text.length <= MAX_LENGTH ? decode(Buffer.from(text, 'base64url').toString()) : undefined;
  if (!cursor) throw badUserInput('after', 'must be a cursor from an earlier answer');
  return cursor;
}

function decode(text: string): Cursor | undefined {
  const [, alone] = ROW.exec(text) ?? [];
  if (alone !== undefined) return { row: Number(alone) };
  const [row, friend, total] = parse(text);
  if (!isRow(row) || typeof friend !== 'string' || !(total === undefined || isRow(total))) return undefined;
  return { row, friend, total };
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
