import { createSecretKey, type KeyObject } from 'node:crypto';

/** A key or password that cannot be shown by accident: Node prints its type alone, and JSON has nothing of it. */
export type Secret = KeyObject;

export const secretOf = (value: string): Secret => createSecretKey(value, 'utf8');

/** The value of a secret. Call this only where the value is used. Never log it or store it in an object. */
export const reveal = (secret: Secret): string => secret.export().toString();
